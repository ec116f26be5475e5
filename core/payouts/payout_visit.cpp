// Payouts of a plan: items, collected for as many creators as memory takes.
#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/payouts/payout_digest.hpp"
#include "core/payouts/payout_orders.hpp"
#include "core/payouts/payout_plan.hpp"

namespace sluice {
namespace {

/// Rows whose orders are read at once.
constexpr std::size_t kSliceRows = 4096;
/// Positions whose items are collected at once, but for a creator who has more.
constexpr std::uint64_t kUnitsAtOnce = 65'536;

auto key_of(const PayoutItem& item) {
    return std::tuple(item.program.view(), item.shop_id.view(), item.order_id.view(),
                      item.line.view(), item.kind);
}

}  // namespace

void PayoutPlan::visit(const std::function<void(const PlannedPayout&)>& take) {
    digest_bytes_.clear();
    std::vector<std::pair<Key, Decimal>> chunk;
    std::uint64_t units = 0;
    for (const auto& share : paid_) {
        const std::uint64_t more = shares_.at(share.first).units;
        if (!chunk.empty() && units + more > kUnitsAtOnce) {
            visit_chunk(chunk, take);
            chunk.clear();
            units = 0;
        }
        chunk.push_back(share);
        units += more;
    }
    if (!chunk.empty()) {
        visit_chunk(chunk, take);
    }
    digest_ = sha256(digest_bytes_);
}

void PayoutPlan::visit_chunk(const std::vector<std::pair<Key, Decimal>>& shares,
                             const std::function<void(const PlannedPayout&)>& take) {
    std::map<Key, PlannedPayout> payouts;
    for (const auto& [key, amount] : shares) {
        PlannedPayout& payout = payouts[key];
        payout.creator = key.first;
        payout.currency = key.second;
        payout.amount = amount;
    }
    std::vector<OpenAmount> rows;
    const auto collect = [&](const OpenAmount& row) {
        if (payouts.contains({row.creator, row.currency})) {
            rows.push_back(row);
        }
    };
    visit_index(collect);
    std::for_each(later_.begin(), later_.end(), collect);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i % kSliceRows == 0) {
            std::vector<OrderKey> keys;
            for (std::size_t k = i; k < rows.size() && k < i + kSliceRows; ++k) {
                if (rows[k].shop.value != 0) {
                    keys.push_back({rows[k].account, rows[k].shop, rows[k].order_id});
                }
            }
            ledger_.expect_orders(keys);
        }
        std::vector<PayoutItem> items = items_of(rows[i]);
        Decimal sum = zero_amount(rows[i].currency);
        for (const PayoutItem& item : items) {
            sum = sum + item.amount;
        }
        if (sum.is_zero() || block_of(rows[i], sum)) {
            continue;
        }
        PlannedPayout& payout = payouts.at({rows[i].creator, rows[i].currency});
        std::move(items.begin(), items.end(), std::back_inserter(payout.items));
    }
    std::size_t expected = 0;
    for (auto at = payouts.begin(); at != payouts.end(); ++at) {
        if (expected == 0) {
            expected = expect_payouts(at, payouts.end());
        }
        --expected;
        PlannedPayout& payout = at->second;
        finish(payout);
        take(payout);
        payout.items.clear();
        payout.items.shrink_to_fit();
    }
}

std::size_t PayoutPlan::expect_payouts(std::map<Key, PlannedPayout>::const_iterator at,
                                       std::map<Key, PlannedPayout>::const_iterator end) {
    std::set<OrderKey> keys;
    std::size_t count = 0;
    do {
        for (const PayoutItem& item : at->second.items) {
            if (item.kind != ItemKind::kCredit) {
                keys.insert({request_.account, item.shop, item.order_id});
            }
        }
        ++count;
        ++at;
    } while (at != end && keys.size() + at->second.items.size() <= kSliceRows);
    if (keys.size() <= kSliceRows) {  // a larger payout is read slice by slice as it is taken
        const std::vector<OrderKey> slice(keys.begin(), keys.end());
        ledger_.expect_orders(slice);
    }
    return count;
}

void PayoutPlan::finish(PlannedPayout& payout) {
    std::sort(payout.items.begin(), payout.items.end(),
              [](const PayoutItem& a, const PayoutItem& b) { return key_of(a) < key_of(b); });
    Decimal sum = zero_amount(payout.currency);
    for (const PayoutItem& item : payout.items) {
        sum = sum + item.amount;
    }
    payout.orders_count = orders_of(payout.items);
    if (sum != payout.amount) {
        throw LedgerFailure(
            {ErrorCode::kCorrupt, "ledger: open amounts of creator " + payout.creator.str() +
                                      " do not agree with the orders; run sluice doctor"});
    }
    payout.digest = items_digest(payout.items, payout.currency);
    append_payout(digest_bytes_, payout.creator, payout.currency, payout.amount, payout.digest);
}

}  // namespace sluice
