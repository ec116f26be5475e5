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

const PlainList& period_sum_list() {
    using Of = const PlainRow&;
    static const PlainList list{
        .resource = "period",
        .resource_text = "Sums of one closed period by creator, program and currency",
        .exported_as = "period_sums",
        .table = &table_of<PeriodSum>(),
        .within = "account until",
        .cells = {{"account_id", kText, kLedger, [](Of of) -> Value { return of.account_id; }},
                  {"until", kTime, kLedger, cell<&PeriodSum::until>},
                  {"creator_id", kText, kLedger, shown_creator<PeriodSum>},
                  {"program_id", kText, kLedger, cell<&PeriodSum::program>},
                  {"currency", kText, kLedger, cell<&PeriodSum::currency>},
                  {"opening_owed", kAmount, kLedger, cell<&PeriodSum::opening_owed>},
                  {"opening_in_payout", kAmount, kLedger, cell<&PeriodSum::opening_in_payout>},
                  {"opening_paid", kAmount, kLedger, cell<&PeriodSum::opening_paid>},
                  {"reasons", kText, kLedger, cell<&PeriodSum::reasons>},
                  {"closing_owed", kAmount, kLedger, cell<&PeriodSum::closing_owed>},
                  {"closing_in_payout", kAmount, kLedger, cell<&PeriodSum::closing_in_payout>},
                  {"closing_paid", kAmount, kLedger, cell<&PeriodSum::closing_paid>},
                  {"entries", kInteger, kLedger, cell<&PeriodSum::entries>},
                  {"digest", kText, kLedger,
                   [](Of of) -> Value { return to_hex(of.as<PeriodSum>().digest); }}}};
    return list;
}

}  // namespace sluice::lists
