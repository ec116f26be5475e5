#include "notify/feed_reader.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <utility>

#include "core/values/payee_mask.hpp"
#include "notify/signing.hpp"

namespace sluice::notify {
namespace {

using lists::Change;

/// About the bytes of the changes that one read returns.
constexpr std::size_t kReadBytesMax = 1U << 20;

std::map<std::string, std::uint32_t> node_numbers(LedgerReader& ledger) {
    std::map<std::string, std::uint32_t> numbers;
    ledger.scan_heads([&numbers](const LedgerHead& head) { numbers[head.node] = head.number; });
    return numbers;
}

/// Returns whether an order's changes before this one were read. They may be on another node.
bool is_next(LedgerReader& ledger, const JournalGroup& group, const lists::FeedPlace& read) {
    OrderState order;
    if (group.order_change <= 1 ||
        !ledger.load_order({group.account, group.shop, group.order_id}, order)) {
        return true;
    }
    const auto groups = ledger.order_journal(order);
    return std::ranges::none_of(groups, [&](const JournalGroup& other) {
        const auto place = read.find(other.node);
        return other.order_change != 0 && other.order_change < group.order_change &&
               other.node != group.node &&
               (place == read.end() ? 0 : place->second.change) < other.last_change;
    });
}

Notice notice_of(const Change& change, std::uint32_t node, lists::ChangeRows& rows) {
    const JournalGroup& group = change.group;
    Notice notice;
    notice.change.change = {group.node, group.last_change};
    notice.change.shop = group.shop;
    notice.change.order_id = group.order_id;
    notice.change.order_change = group.order_change;
    notice.type = lists::change_type(group);
    notice.webhook_id =
        webhook_id(group.account.value, node, group.last_change, to_hex(group.hash));
    notice.body = rows.json(change, kBodyBytesMax).compact();
    return notice;
}

bool is_wanted(const FeedOrder& order, const JournalGroup& group) {
    constexpr std::int64_t kPerSecond = 1000;
    constexpr std::uint32_t kNanos = 1'000'000;
    const auto at = static_cast<std::uint64_t>(group.recorded_at.seconds * kPerSecond) +
                    group.recorded_at.nanos / kNanos;
    return takes(order.types, lists::change_type(group)) && at >= order.since;
}

void read_only(LedgerReader& ledger, FeedBatch& batch) {
    const auto numbers = node_numbers(ledger);
    lists::ChangeRows rows(ledger, batch.order.account, masked_payee);
    for (const store::ChangeId& id : batch.order.only) {
        lists::visit_changes(
            ledger, batch.order.account, id.node, id.last, [&](const Change& change) {
                if (change.group.last_change == id.last) {
                    batch.notices.push_back(notice_of(change, numbers.at(id.node), rows));
                }
                return false;
            });
    }
}

}  // namespace

bool takes(const std::vector<std::string>& types, std::string_view type) {
    return types.empty() || std::ranges::find(types, type) != types.end();
}

FeedBatch read_feed(LedgerReader& ledger, FeedOrder order) {
    FeedBatch batch;
    batch.order = std::move(order);
    if (!batch.order.only.empty()) {
        read_only(ledger, batch);
        return batch;
    }
    const auto numbers = node_numbers(ledger);
    lists::ChangeRows rows(ledger, batch.order.account, masked_payee);
    const bool has_nodes = numbers.size() > 1;
    batch.place = batch.order.after;
    std::set<std::string> held;  // nodes whose next change must wait for another node's
    bool moved = true;
    while (moved && batch.notices.empty()) {
        moved = false;
        const lists::Changes found = lists::changes_after(ledger, batch.order.account, batch.place,
                                                          batch.order.limit, kReadBytesMax, held);
        batch.entries = found.entries;
        batch.diverged = found.diverged;
        for (const Change& change : found.changes) {
            const JournalGroup& group = change.group;
            if (held.contains(group.node)) {
                continue;
            }
            if (has_nodes && !is_next(ledger, group, batch.place)) {
                moved = held.insert(group.node).second || moved;
                continue;
            }
            batch.place[group.node] = lists::place_of(group);
            if (is_wanted(batch.order, group)) {
                batch.notices.push_back(notice_of(change, numbers.at(group.node), rows));
            }
        }
        batch.more = found.more || !held.empty();
        moved = moved && batch.place == batch.order.after;
    }
    return batch;
}

void FeedReader::submit(FeedOrder order) {
    {
        const std::lock_guard lock(mutex_);
        orders_.push_back(std::move(order));
    }
    filled_.notify_all();
}

std::vector<FeedBatch> FeedReader::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(done_, {});
}

void FeedReader::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    for (;;) {
        filled_.wait(lock, stop, [this] { return !orders_.empty(); });
        if (stop.stop_requested()) {
            return;
        }
        FeedOrder order = std::move(orders_.front());
        orders_.pop_front();
        lock.unlock();
        FeedBatch batch = read(std::move(order));
        lock.lock();
        done_.push_back(std::move(batch));
        wake_();
    }
}

FeedBatch FeedReader::read(FeedOrder order) {
    FeedBatch failed;
    failed.order = order;
    failed.place = order.after;
    try {
        ledger_.refresh();
        return read_feed(*ledger_->snapshot({}), std::move(order));
    } catch (const LedgerFailure& failure) {
        failed.error = failure.error();
    } catch (const std::exception& failure) {
        failed.error = Error{ErrorCode::kInternal, failure.what()};
    }
    ledger_.close();
    return failed;
}

}  // namespace sluice::notify
