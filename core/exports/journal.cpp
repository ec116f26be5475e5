// The tables of the journal: its entries, what they refer to, and the changes of the feed.
#include "core/journal/journal.hpp"

#include "core/exports/table_writer.hpp"
#include "core/reports/referred_nodes.hpp"

namespace sluice::exports {

/// @param node_of  Returns the node that wrote what the entry with this index refers to.
template <class NodeOf>
void TableWriter::add_group(const JournalGroup& group, NodeOf&& node_of) {
    for (std::size_t i = 0; i < group.entries.size(); ++i) {
        add_reference(group, i, node_of(i));
        add_entry(group, i);
    }
}

void TableWriter::write_journal() {
    if (!goes_on_) {
        return;
    }
    const reports::ReferredNodes referred(ledger_);
    ledger_.scan_journal(1, [&](const JournalGroup& group) {
        add_group(group, [&](std::size_t index) { return referred.of(group, index); });
        return goes_on_;
    });
}

void TableWriter::add_entry(const JournalGroup& group, std::size_t index) {
    const JournalEntry& entry = group.entries[index];
    const DebitCredit accounts = debit_credit_of(entry.reason);
    const auto account = accounts_.find(group.account);
    const auto shop = shop_ids_.find(group.shop);
    ExportLine& row =
        line(kJournal)
            .text(group.node)
            .integer(group.first_entry + index)
            .integer(group.event_seq.value)
            .text_or_null(group.command_id)
            .text_or_null(account == accounts_.end() ? std::string_view() : account->second.view())
            .text_or_null(shop == shop_ids_.end() ? std::string_view() : shop->second.view())
            .text_or_null(group.order_id.view())
            .text_or_null(entry.line.view())
            .text_or_null(group.creator.view())
            .text_or_null(group.program.view());
    if (is_memo(entry.reason)) {
        row.null().null();
    } else {
        row.text(entry.currency.code()).amount(entry.amount);
    }
    row.text_or_null(ledger_account_name(accounts.debit, group.payout_id))
        .text_or_null(ledger_account_name(accounts.credit, group.payout_id))
        .text(to_string(entry.reason))
        .text_or_null(group.payout_id)
        .time(group.recorded_at)
        .time(group.accounting_date);
    (entry.refers_to == 0 ? row.null() : row.integer(entry.refers_to))
        .text_or_null(group.note)
        .text_or_null(group.actor);
    add(kJournal);
}

void TableWriter::add_reference(const JournalGroup& group, std::size_t index,
                                const std::string& node) {
    if (group.entries[index].refers_to != 0) {
        line(kJournalReferences)
            .text(group.node)
            .integer(group.first_entry + index)
            .integer(group.entries[index].refers_to)
            .text_or_null(node);
        add(kJournalReferences);
    }
}

bool TableWriter::write_changes(const ChangesSince& since) {
    constexpr std::size_t kAtOnce = 1000;
    constexpr std::size_t kBytesAtOnce = std::size_t{4} << 20U;
    const std::size_t nodes = NodeNames(ledger_).count();
    reports::ChangeRows rows(ledger_, since.account, since.show_payee);
    reports::FeedPlace place = since.after;
    for (bool more = true; more && goes_on_;) {
        reports::Changes read =
            reports::changes_after(ledger_, since.account, place, kAtOnce, kBytesAtOnce);
        if (read.diverged || (read.more && read.changes.empty())) {
            throw LedgerFailure({ErrorCode::kCorrupt,
                                 "ledger: a journal group of the account's chain is missing; see "
                                 "sluice doctor"});
        }
        for (const reports::Change& change : read.changes) {
            add_change(change, rows.json(change));
            add_group(change.group, [&](std::size_t index) {
                return reports::referred_node(ledger_, change.group, index, nodes);
            });
        }
        more = read.more;
        place = std::move(read.next);
    }
    return goes_on_;
}

void TableWriter::add_change(const reports::Change& change, reports::Json json) {
    ExportLine& row = line(kChanges);
    for (const ExportColumn& column : export_table(kChanges).columns) {
        const reports::Json& value = json[column.name];
        if (column.type == ColumnType::kTime) {
            row.time(change.group.recorded_at);  // CSV has no quotes around a time
        } else if (value.is_null()) {
            row.null();
        } else {
            row.from_json(value.compact());
        }
    }
    add(kChanges);
}

bool write_changes(LedgerReader& ledger, ExportFormat format, const ChangesSince& since,
                   ExportOutput& out) {
    return TableWriter(ledger, format, out).write_changes(since);
}

}  // namespace sluice::exports
