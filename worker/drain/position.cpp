#include "worker/drain/position.hpp"

#include <string>

namespace sluice::worker {
namespace {

std::string number(std::uint64_t seq) {
    return std::to_string(seq);
}

Error older_queue(SequenceNumber applied, SequenceNumber given_out) {
    return {ErrorCode::kConflict,
            "the ledger has applied input " + number(applied.value) +
                ", but the queue has given out only " + number(given_out.value) +
                ": the queue is an older copy, or not the one of this ledger. Nothing was "
                "applied. Put the queue and the ledger back from the same backup"};
}

Error gap(SequenceNumber applied, SequenceNumber first) {
    return {ErrorCode::kConflict,
            "inputs " + number(applied.value + 1) + " to " + number(first.value - 1) +
                " are not in the queue any more and were never applied to this ledger: the ledger "
                "is an older copy, or not the one of this queue. Nothing was applied. Put back the "
                "newest ledger, or make it with `sluice ledger rebuild` from the archive"};
}

}  // namespace

Status check_position(const store::QueueFill& queue, SequenceNumber applied) {
    if (applied > queue.last_seq) {
        return older_queue(applied, queue.last_seq);
    }
    // An empty queue goes on behind what it gave out last.
    const SequenceNumber first =
        queue.rows == 0 ? SequenceNumber{queue.last_seq.value + 1} : queue.first_seq;
    return first.value > applied.value + 1 ? Status(gap(applied, first)) : Status::success();
}

}  // namespace sluice::worker
