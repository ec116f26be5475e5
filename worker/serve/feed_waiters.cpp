#include "worker/serve/feed_waiters.hpp"

#include <chrono>
#include <utility>

namespace sluice::serve {

bool FeedWaiters::begin(AccountNumber account) {
    std::size_t& of_account = of_account_[account];
    if (count_ == kWaitsMax || of_account == kWaitsOfOneMax) {
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

/// A waiter may park again while it is woken.
template <class Ready>
void FeedWaiters::wake_if(Ready&& ready) {
    std::vector<Parked> left;
    for (Parked& waiter : std::exchange(parked_, {})) {
        if (ready(waiter)) {
            waiter.wake();
        } else {
            left.push_back(std::move(waiter));
        }
    }
    for (Parked& waiter : left) {
        parked_.push_back(std::move(waiter));
    }
}

void FeedWaiters::note(const ChainEntries& entries) {
    wake_if([&entries](const Parked& waiter) {
        const auto found = entries.find(waiter.account);
        return (found == entries.end() ? 0 : found->second) != waiter.entries;
    });
}

void FeedWaiters::expire(Clock::time_point now) {
    wake_if([now](const Parked& waiter) { return waiter.until <= now; });
    wake_revoked(now);
}

void FeedWaiters::wake_revoked(Clock::time_point now) {
    const std::chrono::milliseconds pause(parked_.size());
    wake_if([&](Parked& waiter) {
        if (now < waiter.checked + pause) {
            return false;
        }
        waiter.checked = now;
        return waiter.is_revoked();
    });
}

void FeedWaiters::wake_all() {
    wake_if([](const Parked&) { return true; });
}

}  // namespace sluice::serve
