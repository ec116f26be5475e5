// Archive: every applied input, in applied order, so that the ledger can be rebuilt.
//
// The archive follows the ledger: an input is added after the transaction that applied it is
// durable, and the queue keeps the input until the archive is durable too. So a crash, or a disk
// that is full for a while, leaves the archive behind but never with a hole: it catches up from the
// queue. Segments are only ever appended to; damaged ones are left alone, and a new one is begun.
//
// One writer (the process that holds the worker's lock), any number of readers in other processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "lmdb_store/archive/format.hpp"

namespace sluice::store {

struct ArchiveOptions {
    std::uint64_t segment_bytes_max = 64U << 20;  ///< Then a new segment is begun.
    std::uint32_t block_bytes = 1U << 20;         ///< Raw bytes that are compressed together.
    std::uint32_t keep_days = 0;                  ///< 0: for ever.
    std::uint64_t keep_bytes = 0;                 ///< 0: without limit.
    int level = 1;                                ///< zstd.
};

/// Blocks for the disk. Not thread-safe. After an error the inputs behind durable_seq() are
/// forgotten: add() them again.
class ArchiveWriter {
public:
    /// kNotFound and kPermission name the folder; kCorrupt: the newest segment has no sound head.
    [[nodiscard]] static Result<std::unique_ptr<ArchiveWriter>> open(
        const std::filesystem::path& folder, const std::string& queue_uuid,
        const ArchiveOptions& options);
    ~ArchiveWriter();
    ArchiveWriter(const ArchiveWriter&) = delete;
    ArchiveWriter& operator=(const ArchiveWriter&) = delete;

    /// Of this queue; 0: none yet. last_seq() counts what is not durable yet.
    [[nodiscard]] SequenceNumber last_seq() const noexcept;
    [[nodiscard]] SequenceNumber durable_seq() const noexcept;

    /// Adds the next input; full blocks are written, not synced. An input that does not follow
    /// last_seq() begins a new segment, where readers see the gap.
    [[nodiscard]] Status add(const ArchivedInput& input, Timestamp now);
    /// Writes and syncs everything added: one fdatasync, none if there is nothing to do.
    [[nodiscard]] Status flush();
    /// Removes the oldest segments beyond `keep_days` and `keep_bytes`; never the newest one.
    /// @return how many were removed.
    [[nodiscard]] Result<std::uint64_t> apply_retention(Timestamp now);

private:
    struct State;
    explicit ArchiveWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

struct ArchivePlace {
    std::string_view queue_uuid;
    ArchivedInput input;
};

/// Reads an archive from its first input on. Not thread-safe; never writes.
class ArchiveReader {
public:
    [[nodiscard]] static Result<std::unique_ptr<ArchiveReader>> open(
        const std::filesystem::path& folder);
    ~ArchiveReader();
    ArchiveReader(const ArchiveReader&) = delete;
    ArchiveReader& operator=(const ArchiveReader&) = delete;

    /// The next input in applied order, valid until the next call; nothing at the end.
    /// kCorrupt: damage, or inputs are missing between two segments; the message says which.
    [[nodiscard]] Result<std::optional<ArchivePlace>> next();
    /// The input with this number, valid until the next call; nothing if it is not there (any
    /// more). next() goes on behind it.
    [[nodiscard]] Result<std::optional<ArchivePlace>> find(std::string_view queue_uuid,
                                                           SequenceNumber seq);

private:
    struct State;
    explicit ArchiveReader(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Gives the input to keep instead, or nothing to leave it as it is. The views of what it returns
/// must be valid until its next call.
using ArchiveEdit =
    std::function<std::optional<ArchivedInput>(std::string_view queue_uuid, const ArchivedInput&)>;

/// Shows every input to `edit` and rewrites the segments in which `edit` changes something, each
/// atomically (personal data is taken out this way). Requires: no writer is open, if anything is
/// changed. @return how many inputs were changed.
[[nodiscard]] Result<std::uint64_t> edit_archive(const std::filesystem::path& folder,
                                                 const ArchiveEdit& edit,
                                                 const ArchiveOptions& options);

/// The queues whose inputs are in the archive, by UUID.
[[nodiscard]] Result<std::vector<std::string>> archived_queues(const std::filesystem::path& folder);

}  // namespace sluice::store
