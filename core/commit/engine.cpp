#include "core/commit/engine.hpp"

#include <algorithm>

#include "core/values/assert.hpp"

namespace sluice {

bool CommitEngine::arrived(Waiter& waiter, Actions& actions) noexcept {
    if (hangs(in_flight(), waiter.joined_ms)) {
        return false;
    }
    ++parked_;
    waiting_.push(waiter);
    if (announced_) {
        update_wait_timer(waiter.joined_ms, actions);
    } else {
        schedule(waiter.joined_ms, actions);
    }
    return true;
}

/// Arranges a commit for requests that no announced commit will take.
void CommitEngine::schedule(std::uint64_t now_ms, Actions& actions) noexcept {
    if (!in_flight()) {
        actions.add({Do::kRunAtIterationEnd});
        return;
    }
    update_wait_timer(now_ms, actions);
    if (pace_.overlaps()) {
        announce(now_ms, actions);
    }
}

void CommitEngine::iteration_ended(Now now, bool quitting, Actions& actions) noexcept {
    if (in_flight() || waiting_.empty()) {
        return;
    }
    if (!quitting && pace_.delays(waiting_.count(), now.us)) {
        update_wait_timer(now.ms, actions);
        actions.add({Do::kRunNextIteration});
        return;
    }
    pace_.began(waiting_.count());
    if (waiting_.count() > kBatchRequestsMax || waiting_.bytes() > kBatchBytesMax) {
        update_wait_timer(now.ms, actions);  // the rest waits behind a commit that may hang
    }
    announce(now.ms, actions);
}

/// Announces a commit, unless all batches are in use. The next batch that ends then does it.
void CommitEngine::announce(std::uint64_t now_ms, Actions& actions) noexcept {
    const auto free = std::find_if(batches_.begin(), batches_.end(),
                                   [](const Slot& slot) { return !slot.in_use; });
    if (free == batches_.end()) {
        return;
    }
    *free = {0, true};
    announced_ = true;
    if (in_flight_++ == 0) {
        progress_ms_ = now_ms;
    }
    actions.add({Do::kStart, static_cast<std::size_t>(free - batches_.begin())});
}

WaiterChain CommitEngine::take(std::size_t batch) noexcept {
    SLUICE_ASSERT(batches_[batch].in_use && announced_);
    announced_ = false;
    std::size_t requests = 0;
    std::uint64_t bytes = 0;
    const WaiterChain taken = waiting_.take([&](const Waiter& waiter) {
        if (requests == kBatchRequestsMax || bytes >= kBatchBytesMax) {
            return false;
        }
        ++requests;
        bytes += waiter.bytes;
        return true;
    });
    batches_[batch].requests = taken.count;
    return taken;
}

WaiterChain CommitEngine::not_started(std::size_t batch) noexcept {
    --in_flight_;
    return take(batch);
}

void CommitEngine::answered_unstored(std::size_t batch, Actions& actions) noexcept {
    parked_ -= batches_[batch].requests;
    batches_[batch] = {};
    if (!waiting_.empty()) {
        actions.add({Do::kRunAtIterationEnd});
    }
}

void CommitEngine::committed(std::size_t batch, std::uint64_t commit_us, Now now,
                             Actions& actions) noexcept {
    SLUICE_ASSERT(batches_[batch].in_use && in_flight_ > 0);
    --in_flight_;
    progress_ms_ = now.ms;
    if (batches_[batch].requests > 0) {
        pace_.committed(commit_us, parked_);
    }
    if (!waiting_.empty() && !announced_ && pace_.overlaps()) {
        announce(now.ms, actions);
    }
}

void CommitEngine::answered(std::size_t batch, std::uint64_t answer_us, Now now, bool quitting,
                            Actions& actions) noexcept {
    const std::size_t requests = batches_[batch].requests;
    batches_[batch] = {};
    parked_ -= requests;
    if (requests > 0) {  // all of an empty batch's requests timed out
        pace_.answered(answer_us, requests, now.us);
    }
    update_wait_timer(now.ms, actions);
    if (waiting_.empty() || announced_) {
        return;
    }
    if (in_flight()) {
        schedule(now.ms, actions);
    } else {
        iteration_ended(now, quitting, actions);
    }
}

WaiterChain CommitEngine::overdue(std::uint64_t now_ms, Actions& actions) noexcept {
    const WaiterChain late = BatchingEngine::overdue(now_ms, actions);
    parked_ -= late.count;
    return late;
}

}  // namespace sluice
