// Outbox: the changes of one destination that are not finished, and when each may be sent.
//
// Pure: callers state the time, in milliseconds since 1970 by the wall clock. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lmdb_store/destinations/rows.hpp"
#include "notify/schedule.hpp"

namespace sluice::notify {

/// Most requests under way at once, for one destination and for all of them.
inline constexpr unsigned kUnderWayMax = 8, kUnderWayOfAllMax = 64;
/// Changes that could be sent at once. More are not read.
inline constexpr std::size_t kDueAtOnceMax = 64;
/// Unfinished changes at which the destination reads no further.
inline constexpr std::size_t kUnfinishedMax = 10'000;
/// A destination without success for so long is disabled.
inline constexpr std::uint64_t kFailingMaxMs = std::uint64_t{3} * 86'400'000;

class Outbox {
public:
    /// @param pending   As stored.
    /// @param progress  Of the destination: last_success, failing_since.
    Outbox(const std::vector<store::PendingChange>& pending,
           const store::DestinationProgress& progress);

    /// Adds a change that was read, or that is to be sent again. Returns false if it is in the
    /// outbox already.
    bool add(const store::PendingChange& change);
    [[nodiscard]] bool may_read() const noexcept {
        return due_at_once_ < kDueAtOnceMax && changes_.size() < kUnfinishedMax;
    }

    /// Returns the change whose request may start now, and counts it as under way.
    [[nodiscard]] std::optional<store::PendingChange> take(std::uint64_t now);
    /// Returns the time from which take() may return a change, or nothing if that needs another
    /// call first.
    [[nodiscard]] std::optional<std::uint64_t> next_at(std::uint64_t now) const;

    // The end of a request. Requires: take() returned the change.

    void succeeded(const store::ChangeId& change, std::uint64_t now);
    struct Failure {
        store::AttemptOutcome outcome = store::AttemptOutcome::kRetry;
        std::uint64_t next_try = 0;  ///< Time of the next try after kRetry.
    };
    /// @param jitter   As of retry_delay().
    /// @param is_gone  The receiver answered 410.
    Failure failed(const store::ChangeId& change, std::uint64_t now, unsigned jitter,
                   std::optional<std::chrono::seconds> asked, bool is_gone);
    /// Returns a change whose request did not start.
    void put_back(const store::ChangeId& change);
    /// Removes a change that the ledger does not have.
    void drop(const store::ChangeId& change);

    /// Makes every change due at once, and forgets that the destination failed.
    void start_fresh();
    /// Removes every change that is not under way. Requires: start_fresh() follows.
    void clear();

    [[nodiscard]] unsigned under_way() const noexcept { return under_way_; }
    [[nodiscard]] std::size_t size() const noexcept { return changes_.size(); }
    [[nodiscard]] std::uint64_t last_success() const noexcept { return last_success_; }
    [[nodiscard]] std::uint64_t failing_since() const noexcept { return failing_since_; }

    /// Returns the rows that differ from the stored ones, and the stored rows that are to go, and
    /// counts both as stored.
    [[nodiscard]] std::pair<std::vector<store::PendingChange>, std::vector<store::ChangeId>>
    take_unstored();

private:
    struct Entry {
        store::PendingChange row;
        std::uint64_t number = 0;  ///< In the order of add().
        bool is_under_way = false;
        bool is_stored = false;
    };
    using Order = std::pair<std::uint32_t, std::string>;  ///< Shop and order id.
    /// Unfinished changes of one order, by their place in it.
    struct OrderChanges {
        std::set<std::pair<std::uint64_t, store::ChangeId>> changes;
        bool is_under_way = false;
    };
    using Ready = std::tuple<std::uint64_t, std::uint64_t, store::ChangeId>;  ///< due, number

    [[nodiscard]] static std::optional<Order> order_of(const store::PendingChange& row);
    /// Lists an order's first change as ready, unless one of them is under way.
    void list_order(const Order& order);
    void unlist_order(const Order& order);
    void list(const Entry& entry) {
        ready_.emplace(entry.row.due, entry.number, entry.row.change);
        due_at_once_ += entry.row.due == 0 ? 1 : 0;
    }
    void unlist(const Entry& entry) {
        ready_.erase({entry.row.due, entry.number, entry.row.change});
        due_at_once_ -= entry.row.due == 0 ? 1 : 0;
    }
    Entry& end_request(const store::ChangeId& change);
    void list_again(const Entry& entry);
    void finish(const store::ChangeId& change);

    std::map<store::ChangeId, Entry> changes_;
    std::map<Order, OrderChanges> orders_;
    std::set<Ready> ready_;
    std::set<store::ChangeId> unstored_;  ///< Entries whose rows differ from the stored ones.
    std::vector<store::ChangeId> to_erase_;
    Breaker breaker_;
    std::uint64_t next_number_ = 1;
    std::size_t due_at_once_ = 0;  ///< Entries of ready_ without a time.
    unsigned under_way_ = 0;
    std::uint64_t last_success_ = 0, failing_since_ = 0;
};

}  // namespace sluice::notify
