// Batch order: the order in which the nodes' batches were applied to a ledger (controls K9).
//
// A batch is one transaction of one node: inputs, or a slice of the work that an input left, or
// both. Batches of one node that follow one another share a row, so the rows do not depend on how
// inputs were cut into batches, and a replay in this order gives the same rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/values/ids.hpp"

namespace sluice {

struct AppliedBatch {
    std::uint64_t number = 0;            ///< 1, 2, 3 ... without gaps.
    std::string node;                    ///< UUID of the queue.
    SequenceNumber first_seq, last_seq;  ///< first_seq = last_seq + 1: work only.
    /// Slices of work performed after the last input. No value if none of its work is left.
    std::optional<std::uint64_t> slices;
};

/// The part of the log that one transaction has applied.
struct BatchStep {
    SequenceNumber before, last;  ///< The node's checkpoint before and after the step.
    bool leaves_work = false;     ///< Some of the node's work is not done yet.

    [[nodiscard]] bool has_inputs() const noexcept { return before < last; }
};

/// Returns the row that the step changes or adds.
/// @param latest  The row with the highest number, or nothing.
[[nodiscard]] inline AppliedBatch batch_after(const std::optional<AppliedBatch>& latest,
                                              const std::string& node, const BatchStep& step) {
    const bool goes_on = latest && latest->node == node && latest->last_seq == step.before;
    AppliedBatch row;
    if (goes_on) {
        row = *latest;
    } else {
        row.number = latest ? latest->number + 1 : 1;
        row.node = node;
        row.first_seq = {step.before.value + 1};
    }
    row.last_seq = step.last;
    if (!step.leaves_work) {
        row.slices.reset();
    } else {
        row.slices = step.has_inputs() ? 0 : row.slices.value_or(0) + 1;
    }
    return row;
}

}  // namespace sluice
