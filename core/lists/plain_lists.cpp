#include "core/lists/plain_lists.hpp"

#include "core/ledger/account_rows.hpp"
#include "core/lists/creators.hpp"
#include "core/lists/payouts.hpp"

namespace sluice::lists {

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

const std::vector<const PlainList*>& plain_lists() {
    static const std::vector<const PlainList*> all{&payee_list(), &payout_item_list(),
                                                   &period_sum_list()};
    return all;
}

}  // namespace sluice::lists
