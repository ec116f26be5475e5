// report payees
#include <map>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/command_rows.hpp"
#include "core/reports/creators.hpp"
#include "core/reports/report.hpp"

namespace sluice::reports {
namespace {

/// Returns the actor who approved the command, or null.
Json approver_of(LedgerReader& ledger, const PayeeChange& change) {
    PendingApproval row;
    row.account = change.account;
    row.command_id = change.command_id;
    return ledger.load(row) && row.state == ApprovalState::kApproved ? Json(row.ended_by) : Json();
}

}  // namespace

std::vector<Column> payee_columns(bool history) {
    if (!history) {
        return {{"account_id"}, {"creator_id"}, {"name"}, {"payee"}, {"payee_since"}};
    }
    return {{"account_id"}, {"creator_id"}, {"changed_at"}, {"old_payee"},  {"new_payee"},
            {"actor"},      {"reason"},     {"command_id"}, {"approved_by"}};
}

Row payee_row(const CreatorNames& names, const AccountId& account_id, const CreatorRow& row) {
    return {account_id.str(), names.shown(row.account, row.creator).str(), text_or_null(row.name),
            text_or_null(row.payee), row.payee_since};
}

Row payee_change_row(LedgerReader& ledger, const CreatorNames& names, const AccountId& account_id,
                     const PayeeChange& change) {
    return {account_id.str(),
            names.shown(change.account, change.creator).str(),
            change.changed_at.to_string(),
            text_or_null(change.old_payee),
            text_or_null(change.new_payee),
            change.actor,
            text_or_null(change.reason),
            change.command_id,
            approver_of(ledger, change)};
}

void write_payees(LedgerReader& ledger, const ReportFilter& filter, bool history, RowOutput& out) {
    const CreatorNames names(ledger);
    const auto accounts = account_ids(ledger);
    std::vector<PayeeChange> changes;
    for (const auto& entry : accounts) {
        const AccountNumber account = entry.first;
        const AccountId& account_id = entry.second;
        if (filter.account && *filter.account != account_id) {
            continue;
        }
        if (history) {
            ledger.scan(PayeeChange{account, {}, {}, {}, {}, {}, {}, {}}, {1, 1},
                        [&changes](const PayeeChange& change) { changes.push_back(change); });
            continue;
        }
        ledger.scan(CreatorRow{account, {}, {}, {}, {}}, {1, 1}, [&](const CreatorRow& row) {
            if (filter.covers(names, account, row.creator)) {
                out.add(payee_row(names, account_id, row));
            }
        });
    }
    for (const PayeeChange& change : changes) {
        if (filter.covers(names, change.account, change.creator)) {
            out.add(payee_change_row(ledger, names, accounts.at(change.account), change));
        }
    }
}

}  // namespace sluice::reports
