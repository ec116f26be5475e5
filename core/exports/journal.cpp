// The tables of the journal: its entries, what they refer to, and the changes of the feed.
#include "core/journal/journal.hpp"

#include "core/exports/lists.hpp"
#include "core/exports/table_writer.hpp"
#include "core/lists/referred_nodes.hpp"

namespace sluice::exports {

/// @param node_of  Returns the node that wrote what the entry with this index refers to.
template <class NodeOf>
void TableWriter::add_group(const JournalGroup& group, NodeOf&& node_of) {
    for (std::size_t i = 0; i < group.entries.size(); ++i) {
        add_entry(group, i, node_of(i));
    }
}

void TableWriter::add_entry(const JournalGroup& group, std::size_t index, const std::string& node) {
    const auto shop = shop_ids_.find(group.shop);
    const lists::JournalOf of{group,
                              index,
                              account_id(group.account),
                              shop == shop_ids_.end() ? std::string_view() : shop->second.view(),
                              group.entries[index].line.view(),
                              node};
    if (of.entry().refers_to != 0) {
        add(kJournalReferences, reference_list(), of);
    }
    add(kJournal, lists::exported_journal_list(), of);
}

void TableWriter::write_journal() {
    const lists::ReferredNodes referred(ledger_);
    ledger_.scan_journal(1, [&](const JournalGroup& group) {
        add_group(group, [&](std::size_t index) { return referred.of(group, index); });
        return wants_more_;
    });
}

bool TableWriter::write_changes(const ChangesSince& since) {
    constexpr std::size_t kAtOnce = 1000;
    constexpr std::size_t kBytesAtOnce = std::size_t{4} << 20U;
    const std::size_t nodes = NodeNames(ledger_).count();
    lists::ChangeRows rows(ledger_, since.account, since.show_payee);
    lists::FeedPlace place = since.after;
    for (bool more = true; more && wants_more_;) {
        lists::Changes read =
            lists::changes_after(ledger_, since.account, place, kAtOnce, kBytesAtOnce);
        if (read.diverged || (read.more && read.changes.empty())) {
            throw LedgerFailure(
                {ErrorCode::kCorrupt, "ledger: a journal group of the account's chain is missing"});
        }
        for (const lists::Change& change : read.changes) {
            if (!wants_more_) {
                return false;
            }
            add_change(change, rows);
            add_group(change.group, [&](std::size_t index) {
                return lists::referred_node(ledger_, change.group, index, nodes);
            });
        }
        more = read.more;
        place = std::move(read.next);
    }
    return wants_more_;
}

void TableWriter::add_change(const lists::Change& change, lists::ChangeRows& rows) {
    Json json = rows.json(change);
    ExportLine& row = line(kChanges);
    for (const Column& column : lists::change_columns()) {
        if (column.type == ColumnType::kTime) {
            row.add(change.group.recorded_at);  // CSV has no quotes around a time
        } else {
            row.add_json(json[column.name].compact());
        }
    }
    add(kChanges);
}

bool write_changes(LedgerReader& ledger, ExportFormat format, const ChangesSince& since,
                   ExportOutput& out) {
    return TableWriter(ledger, format, out).write_changes(since);
}

}  // namespace sluice::exports
