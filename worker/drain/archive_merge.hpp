// Archive merge: the inputs of one or several archives in the order in which a ledger applied them
// (controls K9).
//
// Each node archives its own queue, and with it the place of its batches among those of all nodes
// (lmdb_store/archive/order.hpp). One archive alone needs no order.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/values/result.hpp"
#include "lmdb_store/archive/archive.hpp"
#include "lmdb_store/archive/order.hpp"

namespace sluice::worker {

/// The last applied input of each queue.
using Positions = std::map<std::string, SequenceNumber, std::less<>>;

/// An input, or work that one of the queue's inputs had left.
struct MergedStep {
    std::string_view queue_uuid;
    const store::ArchivedInput* input = nullptr;  ///< nullptr for work alone.
    std::uint64_t batch = 0;                      ///< Number of its batch, or 0 without an order.
    /// Slices of work that the batch has done after its last input, if it left some.
    std::optional<std::uint64_t> slices;
};

/// The state of a ledger, as one snapshot shows it, at which a replay ends.
struct ReplayEnd {
    struct Node {
        SequenceNumber applied;
        std::uint64_t batch = 0;              ///< Number of the node's last batch, or 0.
        std::optional<std::uint64_t> slices;  ///< AppliedBatch::slices of that batch.
    };
    std::map<std::string, Node, std::less<>> nodes;
    std::uint64_t batch = 0;  ///< Number of the last batch of all nodes.
};

/// Returns true if the archives hold all inputs and batches of the nodes.
[[nodiscard]] Result<bool> archives_hold(const std::vector<std::filesystem::path>& folders,
                                         const ReplayEnd& end);

/// Not thread-safe; never writes.
class ArchiveMerge {
public:
    /// Requires: at least one folder. An error names the folder, if there are several.
    /// @param applied  Inputs up to these may be left out.
    /// @param batch    Work alone up to the batch of this number is left out.
    [[nodiscard]] static Result<std::unique_ptr<ArchiveMerge>> open(
        const std::vector<std::filesystem::path>& folders, const Positions& applied = {},
        std::uint64_t batch = 0);

    /// Returns the next step, valid until the next call, or nothing at the end. Returns kConflict
    /// if one of several archives does not say when its inputs were applied.
    [[nodiscard]] Result<std::optional<MergedStep>> next();

private:
    struct Source {
        std::filesystem::path folder;
        std::unique_ptr<store::ArchiveReader> reader;
        std::optional<store::ArchivePlace> place;  ///< The input that was read last.
        bool is_spent = true;                      ///< next() has returned `place`.
        std::string queue;
        std::optional<store::OrderReader> order;
        std::optional<AppliedBatch> batch, following;  ///< The batch of `place`, and the next one.
        bool has_work = false;                         ///< `batch` is work alone.
    };

    [[nodiscard]] Status seek(Source& source, const Positions& applied) const;
    [[nodiscard]] Status fill(Source& source) const;
    [[nodiscard]] Status enter_queue(Source& source, std::string_view queue) const;
    [[nodiscard]] Status enter_batch(Source& source) const;
    [[nodiscard]] Status next_batch(Source& source) const;
    [[nodiscard]] MergedStep take(Source& source) const;
    [[nodiscard]] Error named(const Source& source, const Error& error) const;

    std::vector<Source> sources_;
    std::uint64_t batch_done_ = 0;
};

}  // namespace sluice::worker
