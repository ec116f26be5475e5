#include "core/reports/statement.hpp"
#include "core/statements/account_month.hpp"

namespace sluice::reports {

std::vector<Column> trial_balance_columns() {
    return {{"account_id", Align::kLeft, false},
            {"month", Align::kLeft, false},
            {"program_id"},
            {"currency"},
            {"ledger_account"},
            {"opening", Align::kRight},
            {"debit", Align::kRight},
            {"credit", Align::kRight},
            {"closing", Align::kRight}};
}

std::map<Currency, BookTotals> write_trial_balance(LedgerReader& ledger, const AccountMonthOf& of,
                                                   RowOutput& out) {
    std::map<Currency, BookTotals> totals;
    const AccountMonth months = read_account_month(ledger, of.account, of.month.from, of.month.to);
    for (const auto& [key, month] : months) {
        for (const auto& [name, book] :
             {std::pair("expense", &month.expense), std::pair("owed", &month.owed),
              std::pair("payout", &month.in_payout), std::pair("paid", &month.paid)}) {
            out.add({of.account_id.str(), of.month.name, key.first.str(), key.second.code(), name,
                     book->opening.to_string(), book->debit.to_string(), book->credit.to_string(),
                     book->closing.to_string()});
            BookTotals& sums = totals.try_emplace(key.second).first->second;
            sums.opening += book->opening;
            sums.debit += book->debit;
            sums.credit += book->credit;
            sums.closing += book->closing;
        }
    }
    return totals;
}

}  // namespace sluice::reports
