#include "core/lists/periods.hpp"

namespace sluice::lists {

using enum ColumnType;
using enum Scope;

const List<PeriodOf>& period_list() {
    using Of = const PeriodOf&;
    static const List<PeriodOf> list{
        {"account_id", kText, kLedger, [](Of of) -> Value { return of.account_id; }},
        {"until", kTime, kLedger,
         [](Of of) { return of.period == nullptr ? Value() : Value(of.period->until); }},
        {"closed_at", kTime, kLedger,
         [](Of of) { return of.period == nullptr ? Value() : Value(of.period->closed_at); }},
        {"closed_by", kText, kLedger,
         [](Of of) { return of.period == nullptr ? Value() : Value(of.period->closed_by); }},
        {"command_id", kText, kLedger,
         [](Of of) { return of.period == nullptr ? Value() : Value(of.period->command_id); }}};
    return list;
}

void write_periods(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                   RowOutput& out) {
    Period first;
    first.account = account;
    ledger.scan(first, {1, 1}, [&](const Period& row) {
        out.add(period_list().row({account_id, &row}));
    });
}

const List<PeriodSumOf>& period_sum_list() {
    using Of = const PeriodSumOf&;
    static const List<PeriodSumOf> list{
        {"account_id", kText, kLedger, [](Of of) -> Value { return of.account_id; }},
        {"until", kTime, kLedger, [](Of of) -> Value { return of.sum.until; }},
        {"creator_id", kText, kLedger, [](Of of) -> Value { return of.creator; }},
        {"program_id", kText, kLedger, [](Of of) -> Value { return of.sum.program; }},
        {"currency", kText, kLedger, [](Of of) -> Value { return of.sum.currency.code(); }},
        {"opening_owed", kAmount, kLedger, [](Of of) -> Value { return of.sum.opening_owed; }},
        {"opening_in_payout", kAmount, kLedger,
         [](Of of) -> Value { return of.sum.opening_in_payout; }},
        {"opening_paid", kAmount, kLedger, [](Of of) -> Value { return of.sum.opening_paid; }},
        {"reasons", kText, kLedger, [](Of of) -> Value { return of.sum.reasons; }},
        {"closing_owed", kAmount, kLedger, [](Of of) -> Value { return of.sum.closing_owed; }},
        {"closing_in_payout", kAmount, kLedger,
         [](Of of) -> Value { return of.sum.closing_in_payout; }},
        {"closing_paid", kAmount, kLedger, [](Of of) -> Value { return of.sum.closing_paid; }},
        {"entries", kInteger, kLedger, [](Of of) -> Value { return of.sum.entries; }},
        {"digest", kText, kLedger, [](Of of) -> Value { return to_hex(of.sum.digest); }}};
    return list;
}

}  // namespace sluice::lists
