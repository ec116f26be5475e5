// The tables of the journal: its entries, what they refer to, and the changes of the feed.
#include "core/journal/journal.hpp"

#include "core/exports/table_writer.hpp"
#include "core/lists/referred_nodes.hpp"

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
    const lists::ReferredNodes referred(ledger_);
    ledger_.scan_journal(1, [&](const JournalGroup& group) {
        add_group(group, [&](std::size_t index) { return referred.of(group, index); });
        return goes_on_;
    });
}

EntryOf TableWriter::entry_of(const JournalGroup& group, std::size_t index) const {
    const auto account = accounts_.find(group.account);
    const auto shop = shop_ids_.find(group.shop);
    return {group, index, account == accounts_.end() ? std::string_view() : account->second.view(),
            shop == shop_ids_.end() ? std::string_view() : shop->second.view()};
}

void TableWriter::add_entry(const JournalGroup& group, std::size_t index) {
    line(kJournal).add(journal_list(), entry_of(group, index));
    add(kJournal);
}

void TableWriter::add_reference(const JournalGroup& group, std::size_t index,
                                const std::string& node) {
    if (group.entries[index].refers_to != 0) {
        line(kJournalReferences).add(reference_list(), {entry_of(group, index), node});
        add(kJournalReferences);
    }
}

bool TableWriter::write_changes(const ChangesSince& since) {
    constexpr std::size_t kAtOnce = 1000;
    constexpr std::size_t kBytesAtOnce = std::size_t{4} << 20U;
    const std::size_t nodes = NodeNames(ledger_).count();
    lists::ChangeRows rows(ledger_, since.account, since.show_payee);
    lists::FeedPlace place = since.after;
    for (bool more = true; more && goes_on_;) {
        lists::Changes read =
            lists::changes_after(ledger_, since.account, place, kAtOnce, kBytesAtOnce);
        if (read.diverged || (read.more && read.changes.empty())) {
            throw LedgerFailure(
                {ErrorCode::kCorrupt, "ledger: a journal group of the account's chain is missing"});
        }
        for (const lists::Change& change : read.changes) {
            add_change(change, rows.json(change));
            add_group(change.group, [&](std::size_t index) {
                return lists::referred_node(ledger_, change.group, index, nodes);
            });
        }
        more = read.more;
        place = std::move(read.next);
    }
    return goes_on_;
}

void TableWriter::add_change(const lists::Change& change, Json json) {
    ExportLine& row = line(kChanges);
    for (const Column& column : change_columns()) {
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
