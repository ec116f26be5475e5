#include "core/orders/sums.hpp"

#include "core/journal/journal.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/positions/open_amounts.hpp"

namespace sluice {
namespace {

StatementAmounts zero_amounts(Currency currency) {
    const Decimal zero = zero_amount(currency);
    return {zero, zero, zero, zero};
}

DailySum daily_sum(LedgerTxn& txn, AccountNumber account, Timestamp at, Currency currency) {
    DailySum sum;
    static_cast<StatementAmounts&>(sum) = zero_amounts(currency);
    sum.account = account;
    sum.day = day_of(at);
    sum.currency = currency;
    sum.node = txn.head().number;
    return sum;
}

void add_amounts(LedgerTxn& txn, const JournalGroup& group, DailySum& daily) {
    if (daily.is_zero()) {
        return;
    }
    MonthlySum monthly;
    static_cast<StatementAmounts&>(monthly) = daily;
    monthly.account = group.account;
    monthly.month = month_of(group.accounting_date);
    monthly.creator = group.creator;
    monthly.program = group.program;
    monthly.currency = daily.currency;
    monthly.node = daily.node;
    txn.add_row(monthly);
}

/// Counts the memo entries of an attribution. Returns false if there are none.
bool count_memos(const JournalGroup& group, DailySum& daily) {
    for (const JournalEntry& entry : group.entries) {
        daily.attributed += entry.reason == JournalReason::kMemoAttributed ? 1U : 0U;
        daily.detached += entry.reason == JournalReason::kMemoDetached ? 1U : 0U;
    }
    return daily.attributed != 0 || daily.detached != 0;
}

Attention attention_row(const OrderKey& order, AttentionKind kind, Timestamp since) {
    return {order.account, kind, since, order.shop, order.order_id};
}

void count_attention(LedgerTxn& txn, AccountNumber account, AttentionKind kind, bool begins) {
    AttentionCount count{account, kind, txn.head().number};
    ++(begins ? count.begun : count.ended);
    txn.add_row(count);
}

}  // namespace

void count_order(LedgerTxn& txn, const OrderState& state, Timestamp accounting_date) {
    DailySum sum = daily_sum(txn, state.key.account, accounting_date, state.currency);
    sum.orders = 1;
    txn.add_row(sum);
}

std::int64_t minute_of(Timestamp at) noexcept {
    constexpr std::int64_t kSeconds = 60;
    return (at.seconds - (at.seconds % kSeconds + kSeconds) % kSeconds) / kSeconds;
}

void note_minute(LedgerTxn& txn, AccountNumber account, ShopNumber shop, Timestamp received_at) {
    constexpr std::int64_t kHour = 60, kDay = 24 * kHour;
    const std::int64_t minute = minute_of(received_at);
    const std::int64_t of_day = (minute % kDay + kDay) % kDay;
    const std::int64_t days = (minute - of_day) / kDay;
    ShopMinutes row;
    row.account = account;
    row.shop = shop;
    row.slot = static_cast<std::uint32_t>((days % kShopDays + kShopDays) % kShopDays);
    row.node = txn.head().number;
    row.day = day_of(received_at);
    row.hours[static_cast<std::size_t>(of_day / kHour)] = std::uint64_t{1} << (of_day % kHour);
    txn.add_row(row);
}

void add_to_sums(LedgerTxn& txn, const JournalGroup& group, std::optional<Currency> counted_in) {
    const auto& entries = group.entries;
    for (std::size_t i = 0; i < entries.size() && !is_memo(entries[i].reason);) {
        const Currency currency = entries[i].currency;
        DailySum daily = daily_sum(txn, group.account, group.accounting_date, currency);
        daily.program = group.program;
        for (; i < entries.size() && entries[i].currency == currency && !is_memo(entries[i].reason);
             ++i) {
            daily += statement_amounts(entries[i]);
        }
        add_amounts(txn, group, daily);
        const bool counts = counted_in == currency && count_memos(group, daily);
        if (counts) {
            counted_in.reset();
        }
        if (counts || !daily.is_zero()) {
            txn.add_row(daily);
        }
    }
    if (!counted_in) {
        return;
    }
    DailySum daily = daily_sum(txn, group.account, group.accounting_date, *counted_in);
    daily.program = group.program;
    if (count_memos(group, daily)) {
        txn.add_row(daily);
    }
}

void add_to_open_sums(LedgerTxn& txn, const OpenAmount& row) {
    OpenDaily sum = open_sum(row);
    sum.node = txn.head().number;
    txn.add_row(sum);
}

void take_from_open_sums(LedgerTxn& txn, const OpenAmount& row) {
    OpenDaily sum = taken(open_sum(row));
    sum.node = txn.head().number;
    txn.add_row(sum);
}

void list_attention(LedgerTxn& txn, const OrderKey& order, AttentionKind kind, Timestamp since,
                    bool begins) {
    const Attention row = attention_row(order, kind, since);
    begins ? txn.put(row) : txn.erase(row);
    count_attention(txn, order.account, kind, begins);
}

/// The memo entry of each hold has its time. Holds that ended have no row.
void end_hold(LedgerTxn& txn, const OrderState& state) {
    for (const JournalGroup& group : txn.order_journal(state)) {
        for (const JournalEntry& entry : group.entries) {
            if (entry.reason == JournalReason::kMemoHeld) {
                txn.erase(attention_row(state.key, AttentionKind::kHold, group.recorded_at));
            }
        }
    }
    count_attention(txn, state.key.account, AttentionKind::kHold, false);
}

}  // namespace sluice
