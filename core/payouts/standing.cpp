#include "core/payouts/standing.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kSliceRows = 4096;
constexpr unsigned kItemKeyColumns = 6;

bool is_of_one_order(const PayoutItem& a, const PayoutItem& b) {
    return !a.order_id.empty() &&
           std::tie(a.program, a.shop_id, a.order_id) == std::tie(b.program, b.shop_id, b.order_id);
}

LedgerFailure damaged(const Payout& payout, const PayoutItem& item) {
    return LedgerFailure({ErrorCode::kCorrupt, "ledger: an item of payout " + payout.payout_id +
                                                   " names order " + item.order_id.str() +
                                                   ", line " + item.line.str() +
                                                   ", which has no such position"});
}

using OrderItems = std::map<OrderKey, std::vector<const PayoutItem*>>;

LineDue& due_row(Position& position, const Payout& payout, const PayoutItem& item) {
    for (LineDue& due : position.dues) {
        if (due.line == item.line && due.currency == payout.currency) {
            return due;
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

/// The position's row of the payout; made for the first item.
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

void take_item(OrderState& state, const Payout& payout, const PayoutItem& item) {
    Position& position = position_of(state, payout, item);
    LineDue& due = due_row(position, payout, item);
    due.taken = due.taken + item.amount;
    PositionPayout& row = payout_row(position, payout);
    row.amount = row.amount + item.amount;
    if (item.kind == ItemKind::kCommission) {
        row.commission = row.commission + item.amount;
        row.has_commission = true;
    }
}

void let_item_go(OrderState& state, const Payout& payout, const PayoutItem& item) {
    Position& position = position_of(state, payout, item);
    LineDue& due = due_row(position, payout, item);
    due.taken = due.taken - item.amount;
    payout_row(position, payout).standing = false;
}

void move_credit(const Payout& payout, const PayoutItem& item, bool taken, LedgerTxn& txn) {
    MoneyCommand credit;
    credit.command_id = item.line.str();
    if (!txn.load(credit)) {
        throw damaged(payout, item);
    }
    const auto rows = [&credit] {
        const std::optional<OpenAmount> row = open_amount(credit);
        return row ? std::vector<OpenAmount>{*row} : std::vector<OpenAmount>{};
    };
    const std::vector<OpenAmount> before = rows();
    credit.taken = taken ? credit.taken + item.amount : credit.taken - item.amount;
    credit.standing_items += taken ? 1U : ~0U;
    txn.put(credit);
    reindex_open(txn, before, rows());
}

void expect_slice(OrderItems::const_iterator at, OrderItems::const_iterator end, LedgerTxn& txn) {
    std::vector<OrderKey> keys;
    for (; at != end && keys.size() < kSliceRows; ++at) {
        keys.push_back(at->first);
    }
    txn.expect_orders(keys);
}

/// Orders of the items, with their items, so that each is read and written once.
template <class Item>
void change_orders(const Payout& payout, const std::vector<PayoutItem>& items, const Source& source,
                   ProgramCache& programs, LedgerTxn& txn, Item change_item) {
    OrderItems orders;
    for (const PayoutItem& item : items) {
        if (item.kind != ItemKind::kCredit) {
            orders[{payout.account, item.shop, item.order_id}].push_back(&item);
        }
    }
    std::size_t done = 0;
    for (auto at = orders.begin(); at != orders.end(); ++at, ++done) {
        if (done % kSliceRows == 0) {
            expect_slice(at, orders.end(), txn);
        }
        const auto& [key, of_order] = *at;
        OrderChange change(txn, programs, source);
        if (!change.load(key)) {
            throw damaged(payout, *of_order.front());
        }
        for (const PayoutItem* item : of_order) {
            change_item(change.state(), *item);
        }
        change.finish();
    }
}

}  // namespace

void stand(const Payout& payout, const std::vector<PayoutItem>& items, const Source& source,
           ProgramCache& programs, LedgerTxn& txn) {
    change_orders(
        payout, items, source, programs, txn,
        [&payout](OrderState& state, const PayoutItem& item) { take_item(state, payout, item); });
    for (const PayoutItem& item : items) {
        if (item.kind == ItemKind::kCredit) {
            move_credit(payout, item, true, txn);
        }
    }
}

void follow_move(const Payout& payout, const Source& source, ProgramCache& programs,
                 LedgerTxn& txn) {
    const bool stands = is_standing(payout.state);
    PayoutItem last;
    last.payout_id = payout.payout_id;
    bool resumed = false;
    for (;;) {
        std::vector<PayoutItem> items;
        const auto same = [](const PayoutItem& a, const PayoutItem& b) {
            return std::tie(a.program, a.shop_id, a.order_id, a.line, a.kind) ==
                   std::tie(b.program, b.shop_id, b.order_id, b.line, b.kind);
        };
        // An order is changed whole: a slice never ends between two of its items.
        bool more = false;
        txn.scan(last, {1, resumed ? kItemKeyColumns : 1U}, [&](const PayoutItem& item) {
            more = items.size() >= kSliceRows && !is_of_one_order(item, items.back());
            if (!more && (!resumed || !same(item, last))) {
                items.push_back(item);
            }
            return !more;
        });
        change_orders(payout, items, source, programs, txn,
                      [&](OrderState& state, const PayoutItem& item) {
                          if (!stands) {
                              let_item_go(state, payout, item);
                          }
                      });
        for (const PayoutItem& item : items) {
            if (item.kind == ItemKind::kCredit && !stands) {
                move_credit(payout, item, false, txn);
            }
        }
        if (!more) {
            return;
        }
        last = items.back();
        resumed = true;
    }
}

}  // namespace sluice
