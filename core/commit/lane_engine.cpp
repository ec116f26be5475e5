#include "core/commit/lane_engine.hpp"

#include <algorithm>

#include "core/values/assert.hpp"

namespace sluice {

void LaneEngine::opened(std::uint64_t size, std::uint64_t end, std::uint64_t floor) noexcept {
    SLUICE_ASSERT(used_ == 0 && !open_);
    size_ = size;
    batch_bytes_max_ = lane_batch_bytes_max(size);
    floor_ = floor;
    end_ = durable_ = answered_ = moved_ = end;
    open_ = true;
    full_ = reopens_ = false;
}

void LaneEngine::close(Actions& actions) noexcept {
    open_ = false;
    reopens_ = false;
    // The offsets of the lane are not read any more. Other processes move what it holds.
    moved_ = durable_;
    full_ = false;
    if (!waiting_.empty()) {
        actions.add({Do::kRefuse});
    }
}

bool LaneEngine::arrived(Waiter& waiter, Actions& actions) noexcept {
    if (!open_ || hangs(writing().batches > 0, waiter.joined_ms)) {
        return false;
    }
    SLUICE_ASSERT(lane_batch_bytes(waiter.bytes, 1) <= batch_bytes_max_);
    waiting_.push(waiter);
    if (writing().batches > 0 || waiting_.count() > 1) {
        update_wait_timer(waiter.joined_ms, actions);
    }
    actions.add({Do::kRunAtIterationEnd});
    return true;
}

LaneEngine::Writing LaneEngine::writing() const noexcept {
    Writing found;
    for (std::size_t n = 0; n < used_; ++n) {
        const Slot& slot = slots_[(oldest_ + n) % kSlots];
        if (!slot.reported) {
            ++found.batches;
            found.requests += slot.requests.count;
        }
    }
    return found;
}

void LaneEngine::iteration_ended(Now now, Actions& actions) noexcept {
    if (open_ && !full_ && !waiting_.empty() && used_ < kSlots) {
        const Writing busy = writing();
        const bool is_full = waiting_.bytes() >= batch_bytes_max_;
        if (pace_.begins(waiting_.count(), busy.requests, busy.batches, is_full)) {
            begin(now, actions);
        }
    }
    update_wait_timer(now.ms, actions);
}

WaiterChain LaneEngine::take_batch(std::uint64_t& bytes) noexcept {
    const std::uint64_t room = floor_ + size_ - end_;
    const std::uint64_t most = std::min(batch_bytes_max_, room);
    std::uint64_t record_bytes = 0;
    std::uint64_t count = 0;
    const WaiterChain taken = waiting_.take([&](const Waiter& waiter) {
        if (count == kBatchRequestsMax ||
            lane_batch_bytes(record_bytes + waiter.bytes, count + 1) > most) {
            return false;
        }
        record_bytes += waiter.bytes;
        ++count;
        return true;
    });
    bytes = lane_batch_bytes(record_bytes, count);
    return taken;
}

void LaneEngine::begin(Now now, Actions& actions) noexcept {
    std::uint64_t bytes = 0;
    const WaiterChain taken = take_batch(bytes);
    if (taken.count == 0) {
        full_ = true;
        start_move(now.ms, actions);
        set_move_timer(now.ms, kFullCheckMs, actions);
        return;
    }
    const std::size_t slot = (oldest_ + used_++) % kSlots;
    Slot& batch = slots_[slot] = {};
    batch.requests = taken;
    batch.head.offset = end_;
    batch.head.stamp_ns = now.stamp_ns;
    batch.head.answered = answered_;
    batch.head.in_flight = kInFlightMax - 1;
    batch.head.bytes = static_cast<std::uint32_t>(bytes);
    end_ = batch.head.end();
    const Writing busy = writing();
    if (busy.batches == 1) {
        progress_ms_ = now.ms;
    }
    pace_.began(busy.requests + waiting_.count());
    actions.add({Do::kWrite, slot});
}

void LaneEngine::written(std::size_t slot, LaneWrite outcome, std::uint64_t write_us,
                         std::uint64_t now_ms, Actions& actions) noexcept {
    Slot& batch = slots_[slot];
    SLUICE_ASSERT(!batch.done && batch.requests.count > 0);
    batch.done = true;
    batch.outcome = outcome;
    progress_ms_ = now_ms;
    if (outcome == LaneWrite::kDurable) {
        pace_.written(write_us);
    } else if (open_) {
        open_ = false;
        reopens_ = outcome == LaneWrite::kNoRoom;
        if (!waiting_.empty()) {
            actions.add({Do::kRefuse});
        }
    }
    report(now_ms, actions);
    if (open_ && !waiting_.empty()) {
        actions.add({Do::kRunAtIterationEnd});
    }
}

/// Requests the answers of all finished batches before the first unfinished one. Every batch after
/// a failed one is in doubt, even if its own write succeeded.
void LaneEngine::report(std::uint64_t now_ms, Actions& actions) noexcept {
    const std::uint64_t before = durable_;
    std::array<std::size_t, kSlots> ready{};
    std::size_t count = 0;
    for (std::size_t n = 0; n < used_ && nth(n).done; ++n) {
        Slot& batch = nth(n);
        if (batch.reported) {
            continue;
        }
        batch.reported = true;
        if (batch.outcome == LaneWrite::kDurable && durable_ == batch.head.offset) {
            durable_ = batch.head.end();
        } else if (batch.outcome == LaneWrite::kDurable) {
            batch.outcome = LaneWrite::kFailed;
        }
        ready[count++] = (oldest_ + n) % kSlots;
    }
    if (durable_ != before) {
        actions.add({Do::kPublish, 0, durable_});
    }
    for (std::size_t i = 0; i < count; ++i) {
        actions.add({Do::kAnswer, ready[i]});
    }
    if (durable_ != before) {
        request_move(now_ms, actions);
    }
}

void LaneEngine::answered(std::size_t slot, std::uint64_t now_ms, Actions& actions) noexcept {
    SLUICE_ASSERT(used_ > 0 && slot == oldest_ && slots_[slot].reported);
    if (slots_[slot].outcome == LaneWrite::kDurable) {
        answered_ = slots_[slot].head.end();
    }
    slots_[slot] = {};
    oldest_ = (oldest_ + 1) % kSlots;
    --used_;
    update_wait_timer(now_ms, actions);
    if (open_ && !waiting_.empty()) {
        actions.add({Do::kRunAtIterationEnd});
    }
    reopen_if_idle(actions);
}

void LaneEngine::reopen_if_idle(Actions& actions) noexcept {
    if (reopens_ && used_ == 0) {
        reopens_ = false;
        actions.add({Do::kReopen});
    }
}

void LaneEngine::room(std::uint64_t floor, std::uint64_t moved) noexcept {
    // Ignore a cell that reports an offset beyond the last write.
    if (floor > floor_ && floor < moved && moved <= durable_) {
        floor_ = floor;
        moved_ = std::max(moved_, moved);
        full_ = false;
    }
}

/// Moves at once if the last move is old enough, so that a single event need not wait.
void LaneEngine::request_move(std::uint64_t now_ms, Actions& actions) noexcept {
    if (moving_ || moved_ == durable_) {
        return;
    }
    const std::uint64_t since_ms = ever_moved_ ? now_ms - move_started_ms_ : kMoveEveryMs;
    if (is_move_large() || since_ms >= kMoveEveryMs) {
        start_move(now_ms, actions);
    } else {
        set_move_timer(now_ms, kMoveEveryMs - since_ms, actions);
    }
}

/// A repeated request would not help while another process moves, or nothing can be moved.
bool LaneEngine::is_move_large() const noexcept {
    return durable_ - moved_ >= kMoveBytes && !move_was_empty_;
}

void LaneEngine::set_move_timer(std::uint64_t now_ms, std::uint64_t after_ms,
                                Actions& actions) noexcept {
    if (!move_timer_set_ || now_ms + after_ms < move_due_ms_) {
        move_timer_set_ = true;
        move_due_ms_ = now_ms + after_ms;
        actions.add({Do::kSetMoveTimer, 0, after_ms});
    }
}

void LaneEngine::start_move(std::uint64_t now_ms, Actions& actions) noexcept {
    if (!moving_) {
        moving_ = ever_moved_ = true;
        move_was_empty_ = false;
        moved_before_ = moved_;
        move_started_ms_ = now_ms;
        actions.add({Do::kMove});
    }
}

void LaneEngine::moved(std::uint64_t now_ms, Actions& actions) noexcept {
    moving_ = false;
    move_was_empty_ = moved_ == moved_before_;
    if (full_) {
        return;  // another process moves, or the queue is full; move_due() checks again
    }
    if (is_move_large()) {
        start_move(now_ms, actions);
    } else if (moved_ < durable_) {
        set_move_timer(now_ms, kMoveEveryMs, actions);
    }
    if (open_ && !waiting_.empty()) {
        actions.add({Do::kRunAtIterationEnd});
    }
}

void LaneEngine::move_due(std::uint64_t now_ms, Actions& actions) noexcept {
    move_timer_set_ = false;
    if (moved_ < durable_) {
        start_move(now_ms, actions);
    }
    if (full_) {
        set_move_timer(now_ms, kFullCheckMs, actions);
    } else if (open_ && !waiting_.empty()) {
        actions.add({Do::kRunAtIterationEnd});
    }
}

WaiterChain LaneEngine::refused(Actions& actions) noexcept {
    const WaiterChain all = waiting_.take([](const Waiter&) { return true; });
    update_wait_timer(0, actions);  // no request waits, so this clears the timer
    return all;
}

}  // namespace sluice
