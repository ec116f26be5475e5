#include "core/commit/engine.hpp"

#include <algorithm>

#include "core/values/assert.hpp"

namespace sluice {

bool CommitEngine::arrived(Waiter& waiter, Actions& actions) noexcept {
    if (in_flight() && waiter.joined_ms - started_ms_ >= kWaitMaxMs) {
        return false;
    }
    ++parked_;
    waiting_.push(waiter);
    if (announced_) {
        set_timer(waiter.joined_ms, actions);
    } else {
        go_on(waiter.joined_ms, actions);
    }
    return true;
}

/// A request waits, and no announced commit will take it.
void CommitEngine::go_on(std::uint64_t now_ms, Actions& actions) noexcept {
    if (!in_flight()) {
        actions.add({Do::kLookAtTurnEnd});
        return;
    }
    set_timer(now_ms, actions);
    if (pace_.overlaps()) {
        announce(now_ms, actions);
    }
}

void CommitEngine::turn_ended(Now now, bool quitting, Actions& actions) noexcept {
    begin_if_time(now, quitting, actions);
}

void CommitEngine::begin_if_time(Now now, bool quitting, Actions& actions) noexcept {
    if (in_flight() || waiting_.empty()) {
        return;
    }
    if (!quitting && pace_.holds_back(waiting_.count(), now.us)) {
        set_timer(now.ms, actions);
        actions.add({Do::kLookNextTurn});
        return;
    }
    pace_.began(waiting_.count());
    if (waiting_.count() > kBatchRequestsMax || waiting_.bytes() > kBatchBytesMax) {
        set_timer(now.ms, actions);  // some will be left over, behind a commit that may hang
    }
    announce(now.ms, actions);
}

/// Unless all batches are in use: then the next one that ends goes on.
void CommitEngine::announce(std::uint64_t now_ms, Actions& actions) noexcept {
    const auto free = std::find_if(batches_.begin(), batches_.end(),
                                   [](const Batch& batch) { return !batch.in_use; });
    if (free == batches_.end()) {
        return;
    }
    *free = {0, true};
    announced_ = true;
    if (in_flight_++ == 0) {
        started_ms_ = now_ms;
    }
    actions.add({Do::kStart, static_cast<std::size_t>(free - batches_.begin())});
}

WaiterChain CommitEngine::take_waiting(std::size_t batch) noexcept {
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

WaiterChain CommitEngine::take(std::size_t batch) noexcept {
    SLUICE_ASSERT(batches_[batch].in_use && announced_);
    return take_waiting(batch);
}

WaiterChain CommitEngine::not_started(std::size_t batch) noexcept {
    SLUICE_ASSERT(batches_[batch].in_use && announced_);
    --in_flight_;
    return take_waiting(batch);
}

void CommitEngine::answered_unstored(std::size_t batch, Actions& actions) noexcept {
    parked_ -= batches_[batch].requests;
    batches_[batch] = {};
    if (!waiting_.empty()) {
        actions.add({Do::kLookAtTurnEnd});
    }
}

void CommitEngine::committed(std::size_t batch, std::uint64_t commit_us, Now now,
                             Actions& actions) noexcept {
    SLUICE_ASSERT(batches_[batch].in_use && in_flight_ > 0);
    --in_flight_;
    started_ms_ = now.ms;
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
    if (requests > 0) {  // else who waited for it was told that it took too long
        pace_.answered(answer_us, requests, now.us);
    }
    set_timer(now.ms, actions);
    if (waiting_.empty() || announced_) {
        return;
    }
    if (in_flight()) {
        go_on(now.ms, actions);
    } else {
        begin_if_time(now, quitting, actions);
    }
}

WaiterChain CommitEngine::overdue(std::uint64_t now_ms, Actions& actions) noexcept {
    timer_set_ = false;
    const WaiterChain late = waiting_.take(
        [&](const Waiter& waiter) { return now_ms - waiter.joined_ms >= kWaitMaxMs; });
    parked_ -= late.count;
    set_timer(now_ms, actions);
    return late;
}

/// Set while a request waits. It may fire early for the oldest of them, and is then set again.
void CommitEngine::set_timer(std::uint64_t now_ms, Actions& actions) noexcept {
    if (timer_set_ == !waiting_.empty()) {
        return;
    }
    timer_set_ = !timer_set_;
    if (!timer_set_) {
        actions.add({Do::kClearTimer});
        return;
    }
    const std::uint64_t waited_ms = now_ms - waiting_.oldest()->joined_ms;
    actions.add({Do::kSetTimer, 0, waited_ms < kWaitMaxMs ? kWaitMaxMs - waited_ms : 1});
}

}  // namespace sluice
