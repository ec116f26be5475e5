// Feed waiters: requests for changes that wait until there is one, or until their time is over.
//
// One thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "core/values/ids.hpp"
#include "os/clock/clock.hpp"
#include "worker/access/chain_watch.hpp"

namespace sluice::serve {

using cli::ChainEntries;

class FeedWaiters {
public:
    /// Most waits at a time, and most of one account. Fewer than the server's connections, so that
    /// some are left for requests that do not wait.
    static constexpr std::size_t kWaitsMax = 900, kWaitsOfOneMax = 8;

    /// Counts a wait, which may be parked several times until it ends. Returns false if too many
    /// are counted.
    [[nodiscard]] bool begin(AccountNumber account);
    void end(AccountNumber account);
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    struct Parked {
        const void* owner = nullptr;  ///< Names it for leave().
        AccountNumber account;
        std::uint64_t entries = 0;  ///< The account's chains had so many.
        Clock::time_point until;
        std::function<void()> wake;
        std::function<bool()> is_revoked;  ///< Its caller may not read the account any more.
        Clock::time_point asked;       ///< The last look-up; the caller makes one before it parks.
        std::uint64_t generation = 0;  ///< The registry that is_revoked() read last, or older.
    };
    void park(Parked waiter) {
        waiter.generation = generation_;
        parked_.push_back(std::move(waiter));
    }
    [[nodiscard]] bool is_parked(const void* owner) const noexcept;
    /// Removes a parked waiter without waking it, because its client is gone. Returns false if none
    /// is parked. The caller calls end().
    [[nodiscard]] bool leave(const void* owner);
    [[nodiscard]] bool has_parked() const noexcept { return !parked_.empty(); }
    /// Wakes the waiters of accounts that have another number of entries than they saw.
    void note(const ChainEntries& entries);
    /// Wakes the waiters with a time at or before `now`, and those that are revoked. A waiter is
    /// asked after each change of the registry, and every kAskAnyway, because tokens expire
    /// without a change. Waiters are not asked again within as many milliseconds as there are
    /// waiters, so that 1000 cost no more than 1000 look-ups a second.
    /// @param generation  As Registry::generation() returns it.
    void expire(Clock::time_point now, std::uint64_t generation);
    void wake_all();

private:
    template <class Ready>
    void wake_if(Ready&& ready);

    static constexpr std::chrono::seconds kAskAnyway{10};

    std::map<AccountNumber, std::size_t> of_account_;
    std::size_t count_ = 0;
    std::vector<Parked> parked_;
    std::uint64_t generation_ = 0;  ///< The registry's, at the last expire().
};

}  // namespace sluice::serve
