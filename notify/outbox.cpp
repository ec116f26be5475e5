#include "notify/outbox.hpp"

#include <algorithm>

#include "core/values/assert.hpp"

namespace sluice::notify {
namespace {

/// No try is later than this after the one before. A later time means that the clock was set back.
constexpr std::uint64_t kLongestDelayMs = std::uint64_t{30} * 3'600'000;

Millis millis(std::uint64_t at) noexcept {
    return Millis(static_cast<Millis::rep>(at));
}

}  // namespace

Outbox::Outbox(const std::vector<store::PendingChange>& pending,
               const store::DestinationProgress& progress)
    : last_success_(progress.last_success), failing_since_(progress.failing_since) {
    for (const store::PendingChange& row : pending) {
        add(row);
        changes_.at(row.change).is_stored = true;
    }
    unstored_.clear();
}

std::optional<Outbox::Order> Outbox::order_of(const store::PendingChange& row) {
    return row.order_change == 0 ? std::nullopt
                                 : std::optional(Order{row.shop.value, row.order_id.str()});
}

bool Outbox::add(const store::PendingChange& change) {
    const auto [at, is_new] = changes_.try_emplace(change.change);
    if (!is_new) {
        return false;
    }
    Entry& entry = at->second;
    entry.row = change;
    entry.number = next_number_++;
    unstored_.insert(change.change);
    if (const auto order = order_of(change)) {
        unlist_order(*order);
        orders_[*order].changes.emplace(change.order_change, change.change);
        list_order(*order);
    } else {
        list(entry);
    }
    return true;
}

void Outbox::list_order(const Order& order) {
    const auto found = orders_.find(order);
    if (found == orders_.end()) {
        return;
    }
    if (found->second.changes.empty()) {
        orders_.erase(found);
    } else if (!found->second.is_under_way) {
        list(changes_.at(found->second.changes.begin()->second));
    }
}

void Outbox::unlist_order(const Order& order) {
    const auto found = orders_.find(order);
    if (found != orders_.end() && !found->second.is_under_way && !found->second.changes.empty()) {
        unlist(changes_.at(found->second.changes.begin()->second));
    }
}

std::optional<store::PendingChange> Outbox::take(std::uint64_t now) {
    if (ready_.empty() || under_way_ >= kUnderWayMax ||
        !breaker_.may_start(millis(now), under_way_)) {
        return std::nullopt;
    }
    const auto [due, number, change] = *ready_.begin();
    if (due > now && due <= now + kLongestDelayMs) {
        return std::nullopt;
    }
    Entry& entry = changes_.at(change);
    unlist(entry);
    entry.is_under_way = true;
    ++under_way_;
    if (const auto order = order_of(entry.row)) {
        orders_.at(*order).is_under_way = true;
    }
    return entry.row;
}

std::optional<std::uint64_t> Outbox::next_at(std::uint64_t now) const {
    if (ready_.empty() || under_way_ >= kUnderWayMax) {
        return std::nullopt;
    }
    std::uint64_t at = std::get<0>(*ready_.begin());
    at = at > now + kLongestDelayMs ? now : std::max(at, now);
    if (breaker_.is_open()) {
        if (under_way_ != 0) {
            return std::nullopt;
        }
        at = std::max(at, static_cast<std::uint64_t>(breaker_.probe_at(millis(now)).count()));
    }
    return at;
}

Outbox::Entry& Outbox::end_request(const store::ChangeId& change) {
    Entry& entry = changes_.at(change);
    SLUICE_ASSERT(entry.is_under_way);
    entry.is_under_way = false;
    --under_way_;
    if (const auto order = order_of(entry.row)) {
        orders_.at(*order).is_under_way = false;
    }
    return entry;
}

void Outbox::list_again(const Entry& entry) {
    if (const auto order = order_of(entry.row)) {
        list_order(*order);
    } else {
        list(entry);
    }
}

void Outbox::finish(const store::ChangeId& change) {
    const auto at = changes_.find(change);
    const Entry entry = std::move(at->second);
    changes_.erase(at);
    unstored_.erase(change);
    if (entry.is_stored) {
        to_erase_.push_back(change);
    }
    if (const auto order = order_of(entry.row)) {
        orders_.at(*order).changes.erase({entry.row.order_change, change});
        list_order(*order);
    }
}

void Outbox::succeeded(const store::ChangeId& change, std::uint64_t now) {
    end_request(change);
    finish(change);
    breaker_.succeeded();
    last_success_ = now;
    failing_since_ = 0;
}

Outbox::Failure Outbox::failed(const store::ChangeId& change, std::uint64_t now, unsigned jitter,
                               std::optional<std::chrono::seconds> asked, bool is_gone) {
    Entry& entry = end_request(change);
    store::PendingChange& row = entry.row;
    ++row.failures;
    row.first_failed = row.first_failed == 0 ? now : row.first_failed;
    failing_since_ = failing_since_ == 0 ? now : failing_since_;
    breaker_.failed(millis(now));
    if (row.failures > kRetries && last_success_ > row.first_failed) {
        finish(change);
        return {store::AttemptOutcome::kFailed, 0};
    }
    row.due = now + static_cast<std::uint64_t>(retry_delay(row.failures, jitter, asked).count());
    unstored_.insert(change);
    list_again(entry);
    const bool is_over = is_gone || now >= failing_since_ + kFailingMaxMs;
    return {is_over ? store::AttemptOutcome::kDisabled : store::AttemptOutcome::kRetry,
            is_over ? 0 : row.due};
}

void Outbox::put_back(const store::ChangeId& change) {
    list_again(end_request(change));
}

void Outbox::drop(const store::ChangeId& change) {
    end_request(change);
    finish(change);
}

void Outbox::start_fresh() {
    breaker_ = {};
    failing_since_ = 0;
    ready_.clear();
    due_at_once_ = 0;
    for (auto& [id, entry] : changes_) {
        if (!entry.is_under_way && entry.row.due != 0) {
            entry.row.due = 0;
            unstored_.insert(id);
        }
        if (!entry.is_under_way && !order_of(entry.row)) {
            list(entry);
        }
    }
    for (const auto& [order, changes] : orders_) {
        if (!changes.is_under_way && !changes.changes.empty()) {
            list(changes_.at(changes.changes.begin()->second));
        }
    }
}

void Outbox::clear() {
    for (auto at = changes_.begin(); at != changes_.end();) {
        const Entry& entry = at->second;
        if (entry.is_under_way) {
            ++at;
            continue;
        }
        if (entry.is_stored) {
            to_erase_.push_back(at->first);
        }
        unstored_.erase(at->first);
        if (const auto order = order_of(entry.row)) {
            orders_.at(*order).changes.erase({entry.row.order_change, at->first});
        }
        at = changes_.erase(at);
    }
    std::erase_if(orders_, [](const auto& order) { return order.second.changes.empty(); });
}

std::pair<std::vector<store::PendingChange>, std::vector<store::ChangeId>> Outbox::take_unstored() {
    std::pair<std::vector<store::PendingChange>, std::vector<store::ChangeId>> rows;
    for (const store::ChangeId& id : unstored_) {
        Entry& entry = changes_.at(id);
        entry.is_stored = true;
        rows.first.push_back(entry.row);
    }
    unstored_.clear();
    rows.second = std::exchange(to_erase_, {});
    return rows;
}

}  // namespace sluice::notify
