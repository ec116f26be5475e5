// report trial-balance
#include <cstdio>
#include <map>

#include "core/statements/account_month.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

std::vector<Column> columns() {
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

/// The sums over all programs and ledger accounts of a currency.
struct Totals {
    Decimal opening, debit, credit, closing;

    void add(const BookMonth& book) {
        opening += book.opening;
        debit += book.debit;
        credit += book.credit;
        closing += book.closing;
    }
};

}  // namespace

void write_trial_balance(LedgerReader& ledger, const StatementsOf& of, Format format) {
    std::map<Currency, Totals> totals;
    Listing listing(format, columns());
    const AccountMonth months = read_account_month(ledger, of.account, of.month.from, of.month.to);
    for (const auto& [key, month] : months) {
        for (const auto& [name, book] :
             {std::pair("expense", &month.expense), std::pair("owed", &month.owed),
              std::pair("payout", &month.in_payout), std::pair("paid", &month.paid)}) {
            listing.add({of.account_id.str(), of.month.name, key.first.str(), key.second.code(),
                         name, book->opening.to_string(), book->debit.to_string(),
                         book->credit.to_string(), book->closing.to_string()});
            totals.try_emplace(key.second).first->second.add(*book);
        }
    }
    listing.finish();
    if (format != Format::kTable) {
        return;
    }
    for (const auto& [currency, sums] : totals) {
        std::printf("%s in all: opening %s, debit %s, credit %s, closing %s\n",
                    std::string(currency.code()).c_str(), sums.opening.to_string().c_str(),
                    sums.debit.to_string().c_str(), sums.credit.to_string().c_str(),
                    sums.closing.to_string().c_str());
    }
}

}  // namespace sluice::cli
