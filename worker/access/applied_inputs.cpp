#include "worker/access/applied_inputs.hpp"

#include <chrono>
#include <thread>

#include "lmdb_store/queue/queue.hpp"
#include "os/clock/clock.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/cli/output.hpp"
#include "worker/system/process.hpp"

namespace sluice::cli {
namespace {

constexpr std::chrono::milliseconds kPoll{50};
constexpr std::chrono::seconds kWaitMax{60};

/// The queue's last number, once the records of all lanes have numbers.
struct QueueEnd {
    std::string node;
    SequenceNumber last;
};

Result<QueueEnd> queue_end(const Frame& frame) {
    auto queue = store::Queue::open(frame.paths(), queue_options());
    if (!queue.ok()) {
        return queue.error();
    }
    if (Status recovered = (*queue)->recover_lanes(); !recovered.ok()) {
        return recovered.error();
    }
    if (Status moved = (*queue)->empty_lanes(); !moved.ok()) {
        return moved.error();
    }
    const auto fill = (*queue)->fill();
    if (!fill.ok()) {
        return fill.error();
    }
    return QueueEnd{(*queue)->uuid(), fill->last_seq};
}

}  // namespace

Status wait_for_inputs(const Frame& frame, const std::string& ledger_url) {
    const auto end = queue_end(frame);
    auto opener = ledger_for_reading(frame, ledger_url, ReadFrom::kPrimary);
    if (!end.ok() || !opener.ok()) {
        return end.ok() ? opener.error() : end.error();
    }
    const std::atomic<bool>& stop = catch_stop_signals();
    const Clock::time_point deadline = steady_now() + kWaitMax;
    try {
        const auto ledger = (*opener)();
        if (!ledger.ok()) {
            return ledger.error();
        }
        while (true) {
            const SequenceNumber applied = (*ledger)->snapshot(end->node)->head().applied_seq;
            if (applied >= end->last) {
                return Status::success();
            }
            if (stop || steady_now() >= deadline) {
                return Error{ErrorCode::kBusy, grouped(end->last.value - applied.value) +
                                                   " inputs are not applied yet: is a worker "
                                                   "running? --no-wait reads what is applied"};
            }
            std::this_thread::sleep_for(kPoll);
        }
    } catch (const LedgerFailure& failure) {
        return failure.error();
    }
}

}  // namespace sluice::cli
