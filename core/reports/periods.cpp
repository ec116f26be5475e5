#include "core/reports/periods.hpp"

namespace sluice::reports {

std::vector<Column> period_columns() {
    return {{"account_id"}, {"until"}, {"closed_at"}, {"closed_by"}, {"command_id"}};
}

void write_periods(LedgerReader& ledger, AccountNumber account, const AccountId& account_id,
                   RowOutput& out) {
    Period first;
    first.account = account;
    ledger.scan(first, {1, 1}, [&](const Period& row) {
        out.add({account_id.str(), row.until.to_string(), row.closed_at.to_string(), row.closed_by,
                 row.command_id});
    });
}

std::vector<Column> period_sum_columns() {
    return {{"account_id"},
            {"until"},
            {"creator_id"},
            {"program_id"},
            {"currency"},
            {"opening_owed", Align::kRight},
            {"opening_in_payout", Align::kRight},
            {"opening_paid", Align::kRight},
            {"reasons"},
            {"closing_owed", Align::kRight},
            {"closing_in_payout", Align::kRight},
            {"closing_paid", Align::kRight},
            {"entries", Align::kRight},
            {"digest"}};
}

Row period_sum_row(const CreatorNames& names, const AccountId& account_id, const PeriodSum& row) {
    return {account_id.str(),
            row.until.to_string(),
            names.shown(row.account, row.creator).str(),
            row.program.str(),
            row.currency.code(),
            row.opening_owed.to_string(),
            row.opening_in_payout.to_string(),
            row.opening_paid.to_string(),
            row.reasons,
            row.closing_owed.to_string(),
            row.closing_in_payout.to_string(),
            row.closing_paid.to_string(),
            row.entries,
            to_hex(row.digest)};
}

}  // namespace sluice::reports
