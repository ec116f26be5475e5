#include "core/orders/sums.hpp"

#include "core/journal/journal.hpp"
#include "core/positions/open_amounts.hpp"

namespace sluice {
namespace {

/// Returns zeros of the currency's digits, because amounts of equal digits are added fast.
DailySum empty_day(Currency currency) {
    const Decimal zero = zero_amount(currency);
    const Turnover none{zero, zero};
    DailySum daily;
    static_cast<StatementAmounts&>(daily) = {zero, zero, zero, zero};
    daily.expense = daily.owed = daily.in_payout = daily.paid = none;
    daily.currency = currency;
    return daily;
}

MonthlySum monthly_sum(const JournalGroup& group, const DailySum& daily) {
    MonthlySum monthly;
    static_cast<StatementAmounts&>(monthly) = daily;
    monthly.account = group.account;
    monthly.month = month_of(group.accounting_date);
    monthly.creator = group.creator;
    monthly.program = group.program;
    monthly.currency = daily.currency;
    monthly.node = daily.node;
    return monthly;
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

void count_order(LedgerTxn& txn, AccountNumber account, Timestamp sold_at, int sign,
                 bool attributed) {
    OrderDay day;
    day.account = account;
    day.day = day_of(sold_at);
    day.node = txn.head().number;
    day.orders = Decimal(sign, 0);
    day.attributed = attributed ? day.orders : Decimal();
    txn.add_row(day);
}

std::int64_t minute_of(Timestamp at) noexcept {
    constexpr std::int64_t kSeconds = 60;
    return (at.seconds - (at.seconds % kSeconds + kSeconds) % kSeconds) / kSeconds;
}

namespace {

constexpr std::int64_t kMinutesOfHour = 60, kMinutesOfDay = 24 * kMinutesOfHour;

/// Returns a row of the day, without what it counts.
template <class Row>
Row row_of_day(LedgerTxn& txn, AccountNumber account, ShopNumber shop, Timestamp received_at) {
    const std::int64_t minute = minute_of(received_at);
    const std::int64_t of_day = (minute % kMinutesOfDay + kMinutesOfDay) % kMinutesOfDay;
    const std::int64_t days = (minute - of_day) / kMinutesOfDay;
    Row row;
    row.account = account;
    row.shop = shop;
    row.slot = static_cast<std::uint32_t>((days % kShopDays + kShopDays) % kShopDays);
    row.node = txn.head().number;
    row.day = day_of(received_at);
    return row;
}

}  // namespace

void note_minute(LedgerTxn& txn, AccountNumber account, ShopNumber shop, Timestamp received_at) {
    auto row = row_of_day<ShopMinutes>(txn, account, shop, received_at);
    const std::int64_t of_day =
        (minute_of(received_at) % kMinutesOfDay + kMinutesOfDay) % kMinutesOfDay;
    row.hours[static_cast<std::size_t>(of_day / kMinutesOfHour)] = std::uint64_t{1}
                                                                   << (of_day % kMinutesOfHour);
    txn.add_row(row);
}

void note_new_order(LedgerTxn& txn, AccountNumber account, ShopNumber shop, Timestamp received_at,
                    bool has_device) {
    auto row = row_of_day<ShopDay>(txn, account, shop, received_at);
    row.orders = 1;
    row.with_device = has_device ? 1 : 0;
    txn.add_row(row);
}

void add_to_sums(LedgerTxn& txn, const JournalGroup& group) {
    const auto& entries = group.entries;
    for (std::size_t i = 0; i < entries.size() && !is_memo(entries[i].reason);) {
        DailySum daily = empty_day(entries[i].currency);
        for (; i < entries.size() && entries[i].currency == daily.currency &&
               !is_memo(entries[i].reason);
             ++i) {
            add_posting(daily, group, entries[i]);
        }
        daily.account = group.account;
        daily.day = day_of(group.accounting_date);
        daily.program = group.program;
        daily.node = txn.head().number;
        txn.add_row(daily);
        if (!daily.is_zero()) {
            txn.add_row(monthly_sum(group, daily));
        }
    }
}

namespace {

/// Adds the postings, in the words of a statement, to a row of each currency.
/// @param of  LinkDay or CodeDay, with what it is of.
template <class Day>
void add_postings(LedgerTxn& txn, const JournalGroup& group, Day of) {
    of.account = group.account;
    of.day = day_of(group.accounting_date);
    of.node = txn.head().number;
    const auto& entries = group.entries;
    for (std::size_t i = 0; i < entries.size() && !is_memo(entries[i].reason);) {
        of.currency = entries[i].currency;
        of.earned = of.adjusted = zero_amount(of.currency);
        for (; i < entries.size() && entries[i].currency == of.currency &&
               !is_memo(entries[i].reason);
             ++i) {
            const StatementAmounts amounts = statement_amounts(entries[i]);
            of.earned += amounts.earned;
            of.adjusted += amounts.adjusted;
        }
        txn.add_row(of);
    }
}

CodeDay code_day(const Coded& coded) {
    return CodeDay{.program = coded.program, .creator = coded.creator, .code = coded.code};
}

}  // namespace

void add_to_link(LedgerTxn& txn, const JournalGroup& group, const Landed& landed) {
    LinkDay day{.program = landed.program, .creator = landed.creator, .link = landed.link};
    add_postings(txn, group, std::move(day));
}

void add_to_code(LedgerTxn& txn, const JournalGroup& group, const Coded& coded) {
    add_postings(txn, group, code_day(coded));
}

void count_coded(LedgerTxn& txn, AccountNumber account, Timestamp sold_at, const Coded& coded,
                 int sign) {
    CodeDay day = code_day(coded);
    day.account = account;
    day.day = day_of(sold_at);
    day.orders = Decimal(sign, 0);
    day.earned = day.adjusted = zero_amount(coded.currency);
    day.currency = coded.currency;
    day.node = txn.head().number;
    txn.add_row(day);
}

void change_open_sums(LedgerTxn& txn, const OpenAmount& row, int sign) {
    OpenHours sum = open_hours(row, sign);
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
