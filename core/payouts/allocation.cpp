#include "core/payouts/allocation.hpp"

#include <algorithm>

#include "core/orders/anomaly.hpp"
#include "core/orders/post.hpp"
#include "core/payouts/items.hpp"
#include "core/positions/open_amounts.hpp"
#include "core/rules/soundness.hpp"

namespace sluice {
namespace {

LedgerFailure damaged(const Payout& payout, const PayoutItem& item) {
    return LedgerFailure(corrupt("ledger: an item of payout " + payout.payout_id + " names order " +
                                 item.order_id.str() + ", line " + item.line.str() +
                                 ", which has no such position"));
}

LineAccrual& accrual_row(Position& position, const Payout& payout, const PayoutItem& item) {
    for (LineAccrual& accrual : position.accruals) {
        if (accrual.line == item.line && accrual.currency == payout.currency) {
            return accrual;
        }
    }
    throw damaged(payout, item);
}

Position& position_of(OrderState& state, const Payout& payout, const PayoutItem& item) {
    const std::optional<std::uint32_t> index = find_position(state, item.program, payout.creator);
    if (!index) {
        throw damaged(payout, item);
    }
    return state.positions[*index];
}

/// Returns the position's row of the payout, and adds it for the first item.
PositionPayout& payout_row(Position& position, const Payout& payout) {
    for (PositionPayout& row : position.payouts) {
        if (row.payout_id == payout.payout_id) {
            return row;
        }
    }
    const Decimal zero = zero_amount(payout.currency);
    position.payouts.push_back({payout.payout_id, payout.currency, zero, zero, false, true});
    return position.payouts.back();
}

void allocate_item(OrderState& state, const Payout& payout, const PayoutItem& item) {
    Position& position = position_of(state, payout, item);
    accrual_row(position, payout, item).allocated += item.amount;
    PositionPayout& row = payout_row(position, payout);
    row.amount += item.amount;
    if (item.kind == ItemKind::kCommission) {
        row.commission += item.amount;
        row.has_commission = true;
    }
}

void release_item(OrderState& state, const Payout& payout, const PayoutItem& item) {
    Position& position = position_of(state, payout, item);
    accrual_row(position, payout, item).allocated -= item.amount;
    payout_row(position, payout).active = false;
}

}  // namespace

// ---- Credits ------------------------------------------------------------------------------------

/// The plan has checked a credit that is allocated.
void PayoutAllocation::change_credit(const Payout& payout, const PayoutItem& item, bool allocates) {
    MoneyCommand credit{.command_id = item.line.str()};
    const bool found =
        allocates ? txn_.load(credit) : credits_.load(std::string(credit.command_id), credit);
    if (!found) {
        throw damaged(payout, item);
    }
    const std::vector<OpenAmount> before = open_amounts(credit);
    if (allocates) {
        credit.allocated += item.amount;
        ++credit.active_items;
    } else {
        credit.allocated -= item.amount;
        --credit.active_items;
        credits_.released(payout.payout_id, credit.command_id);
    }
    txn_.put(credit);
    reindex_open(txn_, before, open_amounts(credit));
}

// ---- Orders -------------------------------------------------------------------------------------

/// Reads all credits of the account at once: those that name an order are few, and no payout
/// changes them.
bool PayoutAllocation::is_credited(const OrderKey& key) {
    if (settings_.row.open_credits == 0) {
        return false;
    }
    if (!credited_) {
        credited_.emplace();
        txn_.scan(CreditOfOrder{key.account, {}, {}, {}}, {1, 1}, [this](const CreditOfOrder& row) {
            credited_->emplace(row.shop_id, row.order_id);
        });
    }
    return credited_->contains({txn_.shop_id(key.shop), key.order_id});
}

void PayoutAllocation::finish(OrderState& state, const std::vector<OpenAmount>& before,
                              bool moved) {
    const auto shown = std::pair(state.anomalies_showing, state.anomalies_acknowledged);
    const std::uint64_t changes = state.changes_count;
    judge_anomalies(txn_, state, settings_, source_, {}, is_credited(state.key));
    if (moved || shown != std::pair(state.anomalies_showing, state.anomalies_acknowledged)) {
        reindex_open(txn_, before, open_amounts(state));
        changes == state.changes_count ? txn_.put_allocated(state) : txn_.put_order(state);
    }
}

void PayoutAllocation::allocate(const Payout& payout, std::span<const PayoutItem> items,
                                OrderState* order) {
    if (order == nullptr) {
        for (const PayoutItem& item : items) {
            change_credit(payout, item, true);
        }
        return;
    }
    const std::vector<OpenAmount> before = open_amounts(*order);
    for (const PayoutItem& item : items) {
        allocate_item(*order, payout, item);
    }
    finish(*order, before, true);
}

void PayoutAllocation::follow_order(const Payout& payout, std::span<const ItemOf> items) {
    const bool active = is_active(payout.state);
    const PayoutItem* of_order = nullptr;
    for (const auto& [of, item] : items) {
        if (item.kind != ItemKind::kCredit) {
            of_order = &item;
        } else if (!active) {
            change_credit(payout, item, false);
        }
    }
    if (of_order == nullptr) {
        return;
    }
    if (!load_sound_order(txn_, {payout.account, of_order->shop, of_order->order_id}, state_)) {
        throw damaged(payout, *of_order);
    }
    const std::vector<OpenAmount> before = open_amounts(state_);
    for (const auto& [of, item] : items) {
        if (item.kind != ItemKind::kCredit && !active) {
            release_item(state_, payout, item);
        }
    }
    finish(state_, before, !active);
}

void PayoutAllocation::follow_slice(const std::vector<ItemOf>& slice) {
    std::vector<OrderKey> keys;
    for (const auto& [payout, item] : slice) {
        if (item.kind != ItemKind::kCredit) {
            keys.push_back({payout->account, item.shop, item.order_id});
        }
    }
    txn_.expect_orders(keys);
    for (auto begin = slice.begin(); begin != slice.end();) {
        const auto end = std::find_if(begin + 1, slice.end(), [&begin](const ItemOf& other) {
            return !is_of_one_order(begin->second, other.second);
        });
        follow_order(*begin->first, {begin, end});
        begin = end;
    }
}

void PayoutAllocation::follow(std::span<const Payout> moved) {
    if (!moved.empty() && !is_active(moved.front().state)) {
        credits_.expect_release(moved);
    }
    ItemSlices slices(moved, txn_);
    for (std::vector<ItemOf> slice; slices.next(slice);) {
        follow_slice(slice);
    }
}

// ---- Journal ------------------------------------------------------------------------------------

JournalGroup PayoutAllocation::group_of_payout(const CreatorId& creator,
                                               const std::string& payout_id) const {
    JournalGroup group = group_of(source_, settings_.row.account, settings_.row.closed_until);
    group.creator = creator;
    group.payout_id = payout_id;
    return group;
}

void PayoutAllocation::post_parts(const Payout& payout, std::span<const PayoutPart> parts,
                                  JournalReason reason) {
    for (const PayoutPart& part : parts) {
        if (!part.amount.is_zero()) {
            JournalGroup group = group_of_payout(payout.creator, payout.payout_id);
            group.program = part.program;
            group.entries.push_back({LineItemId(), payout.currency, part.amount, reason, 0});
            post_group(txn_, std::move(group));
        }
    }
}

void PayoutAllocation::post_memo(const CreatorId& creator, const std::string& payout_id,
                                 JournalReason reason, std::string_view line) {
    JournalGroup group = group_of_payout(creator, payout_id);
    group.entries.push_back(memo_of(reason, line));
    post_group(txn_, std::move(group));
}

}  // namespace sluice
