// report journal
#include "core/journal/journal.hpp"

#include "core/ledger/account_rows.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/reports/changes.hpp"
#include "core/reports/referred_nodes.hpp"
#include "core/reports/report.hpp"
#include "core/reports/statement.hpp"

namespace sluice::reports {
namespace {

/// Shows a creator by its first id, which is the one that the hash covers.
Row journal_row(const JournalGroup& group, std::size_t index, const AccountId& account,
                const std::string& shop, const std::string& line, const std::string& referred) {
    const JournalEntry& entry = group.entries[index];
    const DebitCredit accounts = debit_credit_of(entry.reason);
    const bool memo = is_memo(entry.reason);
    const bool last = index + 1 == group.entries.size();
    return {group.node,
            group.first_entry + index,
            group.event_seq.value,
            text_or_null(group.command_id),
            account.str(),
            text_or_null(group.program.view()),
            text_or_null(group.creator.view()),
            text_or_null(shop),
            text_or_null(group.order_id.view()),
            text_or_null(line),
            memo ? Json() : Json(entry.currency.code()),
            memo ? Json() : Json(entry.amount.to_string()),
            text_or_null(ledger_account_name(accounts.debit, group.payout_id)),
            text_or_null(ledger_account_name(accounts.credit, group.payout_id)),
            to_string(entry.reason),
            text_or_null(group.payout_id),
            group.recorded_at.to_string(),
            group.accounting_date.to_string(),
            entry.refers_to == 0 ? Json() : Json(entry.refers_to),
            text_or_null(group.note),
            text_or_null(group.actor),
            last ? Json(to_hex(group.hash)) : Json(),
            text_or_null(referred),
            first_change(group),
            group.last_change};
}

}  // namespace

JournalRows::JournalRows(LedgerReader& ledger, const std::optional<AccountNumber>& only,
                         ShowPayee show_payee)
    : names_(ledger),
      accounts_(account_ids(ledger)),
      shops_(shop_names(ledger)),
      show_payee_(show_payee) {
    PayeeChange first;
    first.account = only.value_or(AccountNumber{});
    ledger.scan(first, {only ? 1U : 0U, only ? 1U : 0U}, [this](const PayeeChange& row) {
        for (const std::string* const payee : {&row.old_payee, &row.new_payee}) {
            std::string& known = payees_[{row.account, row.creator, to_hex(payee_digest(*payee))}];
            known = known.empty() || is_forgotten_payee(known) ? *payee : known;
        }
    });
}

bool JournalRows::covers(const JournalGroup& group, const ReportFilter& filter) const {
    const auto account = accounts_.find(group.account);
    return account != accounts_.end() && (!filter.account || *filter.account == account->second) &&
           (!filter.shop || filter.shop->str() == shop_of(group)) &&
           filter.covers(names_, group.account, group.creator) &&
           filter.covers(filter.by_receipt ? group.recorded_at : group.accounting_date);
}

Row JournalRows::row(const JournalGroup& group, std::size_t index,
                     const std::string& referred) const {
    return journal_row(group, index, accounts_.at(group.account), shop_of(group),
                       line_of(group, index), referred);
}

std::string JournalRows::shop_of(const JournalGroup& group) const {
    const auto shop = shops_.find(group.shop.value);
    return shop == shops_.end() ? std::string() : shop->second;
}

std::string JournalRows::line_of(const JournalGroup& group, std::size_t index) const {
    const JournalEntry& entry = group.entries[index];
    const std::string& text = entry.line.str();
    const std::size_t space = text.find(' ');
    if (entry.reason != JournalReason::kMemoPayeeChanged || space == std::string::npos) {
        return text;
    }
    return payee_of(group, text.substr(0, space)) + " -> " +
           payee_of(group, text.substr(space + 1));
}

/// An import may change a payee twice, and the ledger then keeps the first and the last one:
/// another is shown by its digest.
std::string JournalRows::payee_of(const JournalGroup& group, const std::string& digest) const {
    const auto known = payees_.find({group.account, group.creator, digest});
    const std::string payee = known == payees_.end() ? "sha256:" + digest : known->second;
    return show_payee_ == nullptr || payee.empty() ? payee : show_payee_(payee);
}

void write_journal(LedgerReader& ledger, const ReportFilter& filter, Timestamp /*now*/,
                   RowOutput& out) {
    const JournalRows rows(ledger, std::nullopt);
    const ReferredNodes referred(ledger);
    ledger.scan_journal(1, [&](const JournalGroup& group) {
        for (std::size_t i = 0; i < group.entries.size() && rows.covers(group, filter); ++i) {
            out.add(rows.row(group, i, referred.of(group, i)));
        }
    });
}

std::vector<Column> journal_columns() {
    return {{"node", Align::kLeft, false},
            {"entry", Align::kRight},
            {"event_seq", Align::kRight},
            {"command_id"},
            {"account_id", Align::kLeft, false},
            {"program_id"},
            {"creator_id"},
            {"shop_id"},
            {"order_id"},
            {"line_item_id"},
            {"currency"},
            {"amount", Align::kRight},
            {"debit_account", Align::kLeft, false},
            {"credit_account", Align::kLeft, false},
            {"reason"},
            {"payout_id"},
            {"recorded_at", Align::kLeft, false},
            {"accounting_date"},
            {"refers_to", Align::kRight, false},
            {"note", Align::kLeft, false},
            {"actor"},
            {"hash", Align::kLeft, false},
            {"refers_to_node", Align::kLeft, false},
            {"first", Align::kRight, false},
            {"last", Align::kRight, false}};
}

}  // namespace sluice::reports
