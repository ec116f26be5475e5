#include "serve/http/feed_waiters.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace sluice::serve {

bool FeedWaiters::begin(AccountNumber account) {
    if (count_ == kWaitsMax) {
        return false;
    }
    std::size_t& of_account = of_account_[account];
    if (of_account == kWaitsOfOneMax) {
        return false;
    }
    ++of_account;
    ++count_;
    return true;
}

void FeedWaiters::end(AccountNumber account) {
    --count_;
    if (--of_account_[account] == 0) {
        of_account_.erase(account);
    }
}

bool FeedWaiters::is_parked(const void* owner) const noexcept {
    return std::ranges::find(parked_, owner, &Parked::owner) != parked_.end();
}

bool FeedWaiters::leave(const void* owner) {
    const auto found = std::ranges::find(parked_, owner, &Parked::owner);
    if (found == parked_.end()) {
        return false;
    }
    const Parked left = std::move(*found);  // destroyed after the list is whole again
    parked_.erase(found);
    return true;
}

/// A waiter may park again while it is woken. Mostly none is ready, and then none is moved.
template <class Ready>
void FeedWaiters::wake_if(Ready&& ready) {
    const auto begin = std::stable_partition(parked_.begin(), parked_.end(),
                                             [&](Parked& waiter) { return !ready(waiter); });
    const std::vector<Parked> woken(std::make_move_iterator(begin),
                                    std::make_move_iterator(parked_.end()));
    parked_.erase(begin, parked_.end());
    for (const Parked& waiter : woken) {
        waiter.wake();
    }
}

void FeedWaiters::note(const ChainEntries& entries) {
    wake_if([&entries](const Parked& waiter) {
        const auto found = entries.find(waiter.account);
        return (found == entries.end() ? 0 : found->second) != waiter.entries;
    });
}

void FeedWaiters::expire(Clock::time_point now, std::uint64_t generation) {
    generation_ = generation;
    wake_if([now](const Parked& waiter) { return waiter.until <= now; });
    const std::chrono::milliseconds pause(parked_.size());
    wake_if([&](Parked& waiter) {
        const bool may_differ = generation_ == 0 || waiter.generation != generation_;
        if (now < waiter.asked + (may_differ ? pause : kAskAnyway)) {
            return false;
        }
        waiter.asked = now;
        waiter.generation = generation_;
        return waiter.is_revoked();
    });
}

void FeedWaiters::wake_all() {
    wake_if([](const Parked&) { return true; });
}

}  // namespace sluice::serve
