#include "core/orders/post.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/journal/journal.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/orders/clicks.hpp"
#include "core/orders/sums.hpp"
#include "core/positions/number_rows.hpp"
#include "core/values/lookup.hpp"

namespace sluice {
namespace {

bool same_sum(const OpenAmount& a, const OpenAmount& b) noexcept {
    return a.amount == b.amount && a.blocks == b.blocks;
}

bool same_value(const OpenAmount& a, const OpenAmount& b) noexcept {
    return same_sum(a, b) && a.last_posted == b.last_posted;
}

void reindex_waiting(LedgerTxn& txn, const OrderState& state, const IndexedBefore& before,
                     const std::vector<WaitKey>& after) {
    const OrderKey& order = state.key;
    const bool moved = before.ordered_at != state.ordered_at;
    for (const WaitKey& key : before.waiting) {
        if (moved || !std::binary_search(after.begin(), after.end(), key)) {
            txn.erase(WaitingOrder{key, before.ordered_at, order.shop, order.order_id});
        }
    }
    for (const WaitKey& key : after) {
        if (moved || !std::binary_search(before.waiting.begin(), before.waiting.end(), key)) {
            txn.put(WaitingOrder{key, state.ordered_at, order.shop, order.order_id});
        }
    }
}

CreatorId creator_of(const OrderState& state) {
    return state.live ? state.position()->attribution.creator : CreatorId();
}

std::optional<Landed> landed_of(const OrderState& state) {
    return state.live ? landed_by(state.position()->attribution) : std::nullopt;
}

std::optional<Coded> coded_of(const OrderState& state) {
    return state.live ? coded_by(state.position()->attribution, state.currency) : std::nullopt;
}

std::vector<std::uint64_t> code_numbers(const std::vector<std::string>& codes) {
    std::vector<std::uint64_t> numbers =
        mapped(codes, [](const std::string& code) { return code_number(code_digest(code)); });
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

void relist_codes(LedgerTxn& txn, const OrderState& state, const IndexedBefore& before) {
    const OrderKey& order = state.key;
    for (const std::uint64_t code : code_numbers(before.codes)) {
        txn.erase(OrderByCode{order.account, code, before.ordered_at, order.shop, order.order_id});
    }
    for (const std::uint64_t code : code_numbers(state.codes)) {
        txn.put(OrderByCode{order.account, code, state.ordered_at, order.shop, order.order_id});
    }
}

/// Counts the order by the day of its sale.
void recount(LedgerTxn& txn, const OrderState& state, const IndexedBefore& before,
             bool attributed) {
    const bool was_attributed = !before.creator.empty();
    if (before.exists) {
        if (was_attributed == attributed && day_of(before.ordered_at) == day_of(state.ordered_at)) {
            return;
        }
        count_order(txn, state.key.account, before.ordered_at, -1, was_attributed);
    }
    count_order(txn, state.key.account, state.ordered_at, 1, attributed);
}

/// Counts the order by the link or the code that it has now, no more by the one that it had.
template <class Of, class Count>
void recount_by(LedgerTxn& txn, const OrderState& state, Timestamp ordered_before,
                const std::optional<Of>& was, const std::optional<Of>& is, Count count) {
    if (is == was && day_of(ordered_before) == day_of(state.ordered_at)) {
        return;
    }
    if (was) {
        count(txn, state.key.account, ordered_before, *was, -1);
    }
    if (is) {
        count(txn, state.key.account, state.ordered_at, *is, 1);
    }
}

/// Most events change neither the time of the sale nor creator nor codes, and write nothing here.
void relist(LedgerTxn& txn, const OrderState& state, const IndexedBefore& before) {
    const OrderKey& order = state.key;
    const bool moved = !before.exists || before.ordered_at != state.ordered_at;
    if (moved && before.exists) {
        txn.erase(OrderByTime{order.account, before.ordered_at, order.shop, order.order_id});
    }
    if (moved) {
        txn.put(OrderByTime{order.account, state.ordered_at, order.shop, order.order_id});
    }
    const CreatorId creator = creator_of(state);
    if (moved || creator != before.creator) {
        recount(txn, state, before, !creator.empty());
        if (!before.creator.empty()) {
            txn.erase(OrderByCreator{order.account, before.creator, before.ordered_at, order.shop,
                                     order.order_id});
        }
        if (!creator.empty()) {
            txn.put(OrderByCreator{order.account, creator, state.ordered_at, order.shop,
                                   order.order_id});
        }
    }
    recount_by(txn, state, before.ordered_at, before.landed, landed_of(state), count_landed);
    recount_by(txn, state, before.ordered_at, before.coded, coded_of(state), count_coded);
    if (moved || before.codes != state.codes) {
        relist_codes(txn, state, before);
    }
    reindex_numbers(txn, state, before.numbers);
}

void fold_into_balances(LedgerTxn& txn, const JournalGroup& group) {
    for (std::size_t i = 0; i < group.entries.size();) {
        if (is_memo(group.entries[i].reason)) {
            return;
        }
        const Currency currency = group.entries[i].currency;
        Balance change{zero_books(currency),
                       {group.account, group.program, group.creator, currency}};
        for (; i < group.entries.size() && group.entries[i].currency == currency &&
               !is_memo(group.entries[i].reason);
             ++i) {
            change += change_by(group.entries[i]);
        }
        txn.add_to_balance(change);
    }
}

void append(LedgerTxn& txn, JournalGroup& group) {
    ChainHead& chain = txn.mutable_chain(group.account);
    const std::uint64_t before = chain.last_group;
    seal(group, chain);
    txn.append_journal(group);
    if (is_listed(group.first_entry, before)) {
        txn.put(ChainGroup{group.account, txn.head().number, group.last_change, group.first_entry});
    }
}

}  // namespace

IndexedBefore indexed(const OrderState& state) {
    return {open_amounts(state), wait_keys(state),  true,
            state.ordered_at,    creator_of(state), state.codes,
            all_numbers(state),  landed_of(state),  coded_of(state)};
}

void reindex_open(LedgerTxn& txn, const std::vector<OpenAmount>& before,
                  const std::vector<OpenAmount>& after) {
    for (const OpenAmount& old : before) {
        const bool stays = std::ranges::any_of(
            after, [&](const OpenAmount& row) { return is_same_row(row, old); });
        if (!stays) {
            txn.erase(old);
            change_open_sums(txn, old, -1);
        }
    }
    for (const OpenAmount& row : after) {
        const auto old = std::ranges::find_if(
            before, [&](const OpenAmount& other) { return is_same_row(row, other); });
        const bool is_new = old == before.end();
        if (is_new || !same_value(row, *old)) {
            txn.put(row);
        }
        if (is_new || !same_sum(row, *old)) {
            change_open_sums(txn, row, 1);
        }
        if (!is_new && !same_sum(row, *old)) {
            change_open_sums(txn, *old, -1);
        }
    }
}

void reindex(LedgerTxn& txn, const OrderState& state, const IndexedBefore& before) {
    reindex_open(txn, before.open, open_amounts(state));
    reindex_waiting(txn, state, before, wait_keys(state));
    relist(txn, state, before);
}

JournalGroup group_of(const Source& source, AccountNumber account,
                      const std::optional<Timestamp>& closed_until) {
    return JournalGroup{.event_seq = source.seq,
                        .command_id = source.command_id,
                        .account = account,
                        .recorded_at = source.received_at,
                        .accounting_date = accounting_date(source.received_at, closed_until),
                        .note = source.note,
                        .actor = source.actor};
}

JournalEntry memo_of(JournalReason reason, std::string_view line) {
    return JournalEntry{.line = LineItemId(line), .reason = reason};
}

std::uint64_t post_group(LedgerTxn& txn, JournalGroup group) {
    if (group.entries.empty()) {
        return 0;
    }
    LedgerHead& head = txn.mutable_head();
    group.node = head.node;
    group.first_entry = head.next_entry;
    head.next_entry += group.entries.size();
    head.totals.journal_entries += group.entries.size();
    fold_into_balances(txn, group);
    add_to_sums(txn, group);
    append(txn, group);
    return group.first_entry;
}

void post_order_memo(LedgerTxn& txn, OrderState& state, const Source& source,
                     const std::optional<Timestamp>& closed_until, JournalReason reason,
                     std::string_view line) {
    JournalGroup group = group_of(source, state.key.account, closed_until);
    group.shop = state.key.shop;
    group.order_id = state.key.order_id;
    group.entries.push_back(memo_of(reason, line));
    group.order_change = ++state.changes_count;
    state.other_groups.push_back(post_group(txn, std::move(group)));
}

std::uint64_t post_owed(LedgerTxn& txn, OrderState& state, Position& position, const Source& source,
                        const std::optional<Timestamp>& closed_until,
                        std::vector<JournalEntry> postings, std::vector<JournalEntry> memos) {
    JournalGroup group = group_of(source, state.key.account, closed_until);
    group.shop = state.key.shop;
    group.order_id = state.key.order_id;
    group.program = position.attribution.program;
    group.creator = position.attribution.creator;
    enter(
        position, postings,
        {txn.head().next_entry, group.accounting_date, is_late(source.received_at, closed_until)});
    group.entries = std::move(postings);
    if (const std::optional<Landed> landed = landed_by(position.attribution)) {
        add_to_link(txn, group, *landed);
    }
    if (const std::optional<Coded> coded = coded_by(position.attribution, {})) {
        add_to_code(txn, group, *coded);
    }
    std::move(memos.begin(), memos.end(), std::back_inserter(group.entries));
    group.order_change = group.entries.empty() ? 0 : ++state.changes_count;
    return post_group(txn, std::move(group));
}

}  // namespace sluice
