// Archive: every applied input, in the order of applying, so that the ledger can be rebuilt.
//
// The archive follows the ledger: an input is added after the transaction that applied it is
// durable, and the queue keeps the input until the archive is durable as well. After a crash, or
// while the disk is full, the archive lags but has no gaps, and catches up from the queue. Segments
// are only appended to. A damaged segment is left alone, and a new one begins.
//
// Processes: one writer, the holder of the worker lock, and any number of readers.
// Threads: one at a time for each object. Blocking: all functions wait for the disk.
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
    std::uint64_t segment_bytes_max = 64U << 20;  ///< A new segment begins above it.
    std::uint32_t block_bytes = 1U << 20;         ///< Uncompressed bytes of a block.
    std::uint32_t keep_days = 0;                  ///< 0 means for ever.
    std::uint64_t keep_bytes = 0;                 ///< 0 means no limit.
    int level = 1;                                ///< zstd level, 1 to 19.
};

/// After an error the inputs above durable_seq() are dropped, and must be added again.
class ArchiveWriter {
public:
    /// Opens an archive. kNotFound and kPermission name the folder. kCorrupt if the newest
    /// segment's head is damaged.
    [[nodiscard]] static Result<std::unique_ptr<ArchiveWriter>> open(
        const std::filesystem::path& folder, const std::string& queue_uuid,
        const ArchiveOptions& options);
    ~ArchiveWriter();
    ArchiveWriter(const ArchiveWriter&) = delete;
    ArchiveWriter& operator=(const ArchiveWriter&) = delete;

    /// Return the last input of this queue, or 0. last_seq() counts inputs that are not durable.
    [[nodiscard]] SequenceNumber last_seq() const noexcept;
    [[nodiscard]] SequenceNumber durable_seq() const noexcept;

    /// Returns the chain after last_seq().
    [[nodiscard]] const Digest256& chain() const noexcept;

    /// Adds the next input. Writes full blocks without a sync. An input that does not follow
    /// last_seq() begins a new segment, where readers find the gap.
    [[nodiscard]] Status add(const ArchivedInput& input, Timestamp now);
    /// Writes and syncs all inputs with one fdatasync, or none if all are durable.
    [[nodiscard]] Status flush();
    /// Removes the oldest segments beyond `keep_days` and `keep_bytes`, never the newest one, and
    /// none while the newest one has no durable input. Does nothing until a segment was begun since
    /// the last call that looked, or an hour has passed. Returns the number removed. An error
    /// leaves the writer usable.
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

/// Reads an archive from its first input on. Never writes.
class ArchiveReader {
public:
    [[nodiscard]] static Result<std::unique_ptr<ArchiveReader>> open(
        const std::filesystem::path& folder);
    ~ArchiveReader();
    ArchiveReader(const ArchiveReader&) = delete;
    ArchiveReader& operator=(const ArchiveReader&) = delete;

    /// Returns the next input, valid until the next call, or nullopt at the end. kCorrupt if a
    /// segment is damaged or inputs are missing between two segments; the message says which.
    [[nodiscard]] Result<std::optional<ArchivePlace>> next();
    /// Returns the input with this number, or that accepted a gap with it, valid until the next
    /// call, or nullopt if the archive has none. next() continues after it.
    [[nodiscard]] Result<std::optional<ArchivePlace>> find(std::string_view queue_uuid,
                                                           SequenceNumber seq);

private:
    struct State;
    explicit ArchiveReader(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Returns the input to store instead, or nullopt to keep the present one. The returned views must
/// be valid until the next call.
using ArchiveEdit =
    std::function<std::optional<ArchivedInput>(std::string_view queue_uuid, const ArchivedInput&)>;

/// Calls `edit` for every input, and rewrites the segments in which it changes an input, each
/// atomically. Removes personal data. Returns the number of inputs changed.
/// Requires: no writer is open, if `edit` changes an input.
[[nodiscard]] Result<std::uint64_t> edit_archive(const std::filesystem::path& folder,
                                                 const ArchiveEdit& edit,
                                                 const ArchiveOptions& options);

/// Returns the UUIDs of the queues whose inputs are in the archive.
[[nodiscard]] Result<std::vector<std::string>> archived_queues(const std::filesystem::path& folder);

}  // namespace sluice::store
