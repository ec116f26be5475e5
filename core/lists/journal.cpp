// report journal
#include "core/journal/journal.hpp"

#include "core/ledger/account_rows.hpp"
#include "core/lists/changes.hpp"
#include "core/lists/referred_nodes.hpp"
#include "core/lists/report.hpp"
#include "core/lists/statement.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/values/lookup.hpp"

namespace sluice::lists {

namespace {

/// Null for a memo entry.
Value account_name(LedgerAccount account, const JournalGroup& group) {
    std::string name = ledger_account_name(account, group.payout_id);
    return name.empty() ? Value() : Value(std::move(name));
}

}  // namespace

JournalRows::JournalRows(LedgerReader& ledger, const std::optional<AccountNumber>& only,
                         ShowPayee show_payee)
    : names_(ledger),
      accounts_(account_ids(ledger)),
      shops_(shop_names(ledger)),
      show_payee_(show_payee) {
    const PayeeChange first{.account = only.value_or(AccountNumber{})};
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
    return journal_list().row({group, index, accounts_.at(group.account).view(), shop_of(group),
                               line_of(group, index), referred});
}

std::string JournalRows::shop_of(const JournalGroup& group) const {
    return value_or(shops_, group.shop.value);
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
    const std::string payee =
        value_or(payees_, {group.account, group.creator, digest}, "sha256:" + digest);
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

/// A creator is shown by its first id, which is the one that the hash covers.
const List<JournalOf>& journal_list() {
    using Of = const JournalOf&;
    static const List<JournalOf> list{
        {"node", kText, kLedger, [](Of of) -> Value { return of.group.node; }, kInFilesOnly},
        {"entry", kInteger, kLedger, [](Of of) -> Value { return of.number(); }},
        {"event_seq", kInteger, kLedger, [](Of of) -> Value { return of.group.event_seq.value; }},
        {"command_id", kText, kLedger, [](Of of) { return or_null(of.group.command_id); }},
        {"account_id", kText, kLedger, [](Of of) { return or_null(of.account); }, kInFilesOnly},
        {"program_id", kText, kLedger, [](Of of) { return or_null(of.group.program); }},
        {"creator_id", kText, kLedger, [](Of of) { return or_null(of.group.creator); }},
        {"shop_id", kText, kLedger, [](Of of) { return or_null(of.shop); }},
        {"order_id", kText, kLedger, [](Of of) { return or_null(of.group.order_id); }},
        {"line_item_id", kText, kLedger, [](Of of) { return or_null(of.line); }},
        {"currency", kText, kLedger,
         [](Of of) { return of.is_memo() ? Value() : Value(of.entry().currency.code()); }},
        {"amount", kAmount, kLedger,
         [](Of of) { return of.is_memo() ? Value() : Value(of.entry().amount); }},
        {"debit_account", kText, kLedger,
         [](Of of) -> Value {
             return account_name(debit_credit_of(of.entry().reason).debit, of.group);
         },
         kInFilesOnly},
        {"credit_account", kText, kLedger,
         [](Of of) -> Value {
             return account_name(debit_credit_of(of.entry().reason).credit, of.group);
         },
         kInFilesOnly},
        {"reason", kText, kLedger, [](Of of) -> Value { return to_string(of.entry().reason); }},
        {"payout_id", kText, kLedger, [](Of of) { return or_null(of.group.payout_id); }},
        {"recorded_at", kTime, kLedger, [](Of of) -> Value { return of.group.recorded_at; },
         kInFilesOnly},
        {"accounting_date", kTime, kLedger,
         [](Of of) -> Value { return of.group.accounting_date; }},
        {"refers_to", kInteger, kLedger,
         [](Of of) -> Value {
             return of.entry().refers_to == 0 ? Value() : Value(of.entry().refers_to);
         },
         kInFilesOnly},
        {"note", kText, kLedger, [](Of of) { return or_null(of.group.note); }, kInFilesOnly},
        {"actor", kText, kLedger, [](Of of) { return or_null(of.group.actor); }},
        {"hash", kText, kLedger,
         [](Of of) -> Value { return of.is_last() ? Value(to_hex(of.group.hash)) : Value(); },
         kInFilesOnly},
        {"refers_to_node", kText, kLedger, [](Of of) { return or_null(of.referred); },
         kInFilesOnly},
        {"first", kInteger, kLedger, [](Of of) -> Value { return first_change(of.group); },
         kInFilesOnly},
        {"last", kInteger, kLedger, [](Of of) -> Value { return of.group.last_change; },
         kInFilesOnly}};
    return list;
}

const List<JournalOf>& exported_journal_list() {
    static const List<JournalOf> list = journal_list().only(
        "node entry event_seq command_id account_id shop_id order_id line_item_id creator_id "
        "program_id currency amount debit_account credit_account reason payout_id recorded_at "
        "accounting_date refers_to note actor");
    return list;
}

}  // namespace sluice::lists
