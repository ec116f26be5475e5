#include "core/apply/post.hpp"

#include <algorithm>
#include <utility>

#include "core/rules/commission.hpp"
#include "core/rules/journal.hpp"
#include "core/values/assert.hpp"

namespace sluice {
namespace {

bool same_row(const OpenAmount& a, const OpenAmount& b) noexcept {
    return a.adjustment == b.adjustment && a.ordered_at == b.ordered_at &&
           a.currency == b.currency && a.program == b.program;
}

void reindex_open(LedgerTxn& txn, const std::vector<OpenAmount>& before,
                  const std::vector<OpenAmount>& after) {
    for (const OpenAmount& old : before) {
        const bool stays = std::any_of(after.begin(), after.end(),
                                       [&](const OpenAmount& row) { return same_row(row, old); });
        if (!stays) {
            txn.erase(old);
        }
    }
    for (const OpenAmount& row : after) {
        const auto old = std::find_if(before.begin(), before.end(), [&](const OpenAmount& other) {
            return same_row(row, other);
        });
        if (old == before.end() || old->amount != row.amount) {
            txn.put(row);
        }
    }
}

void reindex_waiting(LedgerTxn& txn, const OrderKey& order, const std::vector<WaitKey>& before,
                     const std::vector<WaitKey>& after) {
    for (const WaitKey& key : before) {
        if (!std::binary_search(after.begin(), after.end(), key)) {
            txn.erase(WaitingOrder{key, order.shop, order.order_id});
        }
    }
    for (const WaitKey& key : after) {
        if (!std::binary_search(before.begin(), before.end(), key)) {
            txn.put(WaitingOrder{key, order.shop, order.order_id});
        }
    }
}

void fold_into_balances(LedgerTxn& txn, const OrderState& state,
                        const std::vector<JournalLine>& entries) {
    BalanceKey key{state.key.account, state.attribution->program, state.attribution->creator, {}};
    for (std::size_t i = 0; i < entries.size();) {
        key.currency = entries[i].currency;
        const Decimal zero = zero_amount(key.currency);
        Decimal sum = zero;
        for (; i < entries.size() && entries[i].currency == key.currency; ++i) {
            sum = sum + entries[i].amount;
        }
        txn.add_to_balance(key, sum, zero);
    }
}

/// The books of one order: what is due is what its lines earn and what was entered by hand.
void check_sums(const OrderState& state) {
    Decimal earned = zero_amount(state.currency);
    for (const OrderLine& line : state.lines) {
        earned = earned + line.commission;
    }
    bool found = false;
    for (const OrderDue& due : state.dues) {
        const bool own = due.currency == state.currency;
        found = found || own;
        SLUICE_ASSERT(due.due == due.manual + (own ? earned : Decimal()));
    }
    SLUICE_ASSERT(found || earned.is_zero());
}

}  // namespace

IndexedBefore indexed(const OrderState& state) {
    return {open_amounts(state), wait_keys(state)};
}

void reindex(LedgerTxn& txn, const OrderState& state, const IndexedBefore& before) {
    reindex_open(txn, before.open, open_amounts(state));
    reindex_waiting(txn, state.key, before.waiting, wait_keys(state));
}

std::uint64_t post_entries(LedgerTxn& txn, const OrderState& state, Posting posting,
                           std::vector<JournalLine> entries) {
    check_sums(state);
    if (entries.empty()) {
        return 0;
    }
    fold_into_balances(txn, state, entries);
    LedgerHead& head = txn.mutable_head();
    JournalGroup group;
    group.first_entry = head.next_entry;
    group.event_seq = posting.event_seq;
    group.order = state.key;
    group.program = state.attribution->program;
    group.creator = state.attribution->creator;
    group.recorded_at = posting.recorded_at;
    group.note = std::move(posting.note);
    group.actor = std::move(posting.actor);
    group.lines = std::move(entries);
    head.next_entry += group.lines.size();
    head.totals.journal_entries += group.lines.size();
    seal(group, txn.mutable_chain(state.key.account));
    txn.append_journal(group);
    return group.first_entry;
}

}  // namespace sluice
