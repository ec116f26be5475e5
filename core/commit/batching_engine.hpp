// BatchingEngine: the part that CommitEngine and LaneEngine share. Both are state machines: they
// receive events and return actions, and know no nginx, thread, file or clock.
//
// It keeps the requests that wait for a batch, the one timer that ends their wait, and the rule
// that refuses requests behind a write that hangs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/commit/waiting_list.hpp"
#include "core/values/assert.hpp"

namespace sluice {

/// The actions that one event asks its caller for, in their order. Allocates nothing.
/// @tparam N  The largest number of actions of one event.
template <class Action, std::size_t N>
class ActionList {
public:
    void add(const Action& action) noexcept {
        SLUICE_ASSERT(count_ < list_.size());
        list_[count_++] = action;
    }
    [[nodiscard]] const Action* begin() const noexcept { return list_.data(); }
    [[nodiscard]] const Action* end() const noexcept { return list_.data() + count_; }

private:
    std::array<Action, N> list_{};
    std::size_t count_ = 0;
};

/// @tparam Verb  The engine's actions; kSetWaitTimer and kClearWaitTimer among them.
/// @tparam kActionsMax  The largest number of actions of one event.
template <class Verb, std::size_t kActionsMax>
class BatchingEngine {
public:
    static constexpr std::size_t kBatchRequestsMax = 1024;
    /// Milliseconds that a request waits for a batch at most, and that a write may take before new
    /// requests are refused. Merchants' systems give up after about 5 s.
    static constexpr std::uint64_t kWaitMaxMs = 3000;

    using Do = Verb;
    struct Action {
        Do what{};
        std::size_t batch = 0;
        std::uint64_t value = 0;  ///< Milliseconds or a log offset, as the verb says.
    };
    using Actions = ActionList<Action, kActionsMax>;

    /// Returns the requests that timed out before any batch took them; none is stored.
    /// Requires: the wait timer fired.
    [[nodiscard]] WaiterChain overdue(std::uint64_t now_ms, Actions& actions) noexcept {
        wait_timer_set_ = false;
        const WaiterChain late = waiting_.take(
            [&](const Waiter& waiter) { return now_ms - waiter.joined_ms >= kWaitMaxMs; });
        update_wait_timer(now_ms, actions);
        return late;
    }
    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.count(); }

protected:
    /// Returns true if the oldest write has made no progress for too long.
    [[nodiscard]] bool hangs(bool is_writing, std::uint64_t now_ms) const noexcept {
        return is_writing && now_ms - progress_ms_ >= kWaitMaxMs;
    }
    /// Sets the timer while requests wait, and clears it otherwise. A batch may take the oldest
    /// request before the timer fires; overdue() then sets it for the next one.
    void update_wait_timer(std::uint64_t now_ms, Actions& actions) noexcept {
        if (wait_timer_set_ == !waiting_.empty()) {
            return;
        }
        wait_timer_set_ = !wait_timer_set_;
        if (!wait_timer_set_) {
            actions.add({Do::kClearWaitTimer});
            return;
        }
        const std::uint64_t waited_ms = now_ms - waiting_.oldest()->joined_ms;
        actions.add({Do::kSetWaitTimer, 0, waited_ms < kWaitMaxMs ? kWaitMaxMs - waited_ms : 1});
    }

    WaitingList waiting_;
    std::uint64_t progress_ms_ = 0;  ///< When the oldest write began, or could have begun.

private:
    bool wait_timer_set_ = false;
};

}  // namespace sluice
