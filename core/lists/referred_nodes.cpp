#include "core/lists/referred_nodes.hpp"

#include <algorithm>

namespace sluice::lists {

/// The earliest group with an entry of the same line under this number has written it.
std::string referred_node(LedgerReader& ledger, const JournalGroup& group, std::size_t index,
                          std::size_t nodes) {
    const JournalEntry& entry = group.entries[index];
    if (entry.refers_to == 0 || nodes == 1) {
        return entry.refers_to == 0 ? std::string() : group.node;
    }
    std::string node;
    Timestamp recorded_at;
    const auto examine = [&](const JournalGroup& one) {
        const std::uint64_t place = entry.refers_to - one.first_entry;
        const bool fits = one.shop == group.shop && one.order_id == group.order_id &&
                          one.program == group.program && one.creator == group.creator &&
                          place < one.entries.size() && one.entries[place].line == entry.line;
        if (fits && (node.empty() || one.recorded_at < recorded_at)) {
            node = one.node;
            recorded_at = one.recorded_at;
        }
    };
    OrderState order;
    if (ledger.load_order({group.account, group.shop, group.order_id}, order)) {
        const std::vector<JournalGroup> journal = ledger.order_journal(order);
        std::ranges::for_each(journal, examine);
    }
    if (node.empty()) {
        ledger.scan_creator_journal(group.account, group.creator, {},
                                    group.accounting_date.plus_seconds(1), examine);
    }
    return node;
}

ReferredNodes::ReferredNodes(LedgerReader& ledger) {
    std::size_t nodes = 0;
    ledger.scan_heads([&nodes](const LedgerHead&) { return ++nodes < 2; });
    has_many_nodes_ = nodes > 1;
    if (!has_many_nodes_) {
        return;
    }
    ledger.scan(MoneyCommand{}, {}, [this](const MoneyCommand& row) {
        if (row.is_credit() && !row.reversed_by.empty()) {
            reversed_.emplace(row.reversed_by, row.command_id);
        }
    });
    ledger.scan_journal(1, [this](const JournalGroup& group) {
        for (const JournalEntry& entry : group.entries) {
            if (entry.refers_to != 0) {
                writers_.try_emplace(key_of(group, entry, entry.refers_to));
            }
        }
    });
    if (!writers_.empty()) {
        find_writers(ledger);
        keep_first(ledger);
    }
}

ReferredNodes::Key ReferredNodes::key_of(const JournalGroup& group, const JournalEntry& entry,
                                         std::uint64_t number) const {
    const auto reversed = reversed_.find(group.command_id);
    const std::string credit = reversed != reversed_.end() ? reversed->second
                               : is_credit(entry.reason)   ? group.command_id
                                                           : std::string();
    return {group.account, group.shop,    group.order_id, credit,
            group.program, group.creator, entry.line,     number};
}

void ReferredNodes::find_writers(LedgerReader& ledger) {
    ledger.scan_journal(1, [this](const JournalGroup& group) {
        for (std::size_t i = 0; i < group.entries.size(); ++i) {
            const auto wanted =
                writers_.find(key_of(group, group.entries[i], group.first_entry + i));
            if (wanted != writers_.end()) {
                wanted->second.push_back({group.node, group.event_seq});
            }
        }
    });
}

/// Two nodes may have written an entry of the line under the same number. The first posting of the
/// line is the one that was applied first.
void ReferredNodes::keep_first(LedgerReader& ledger) {
    ledger.scan(AppliedBatch{}, {}, [this](const AppliedBatch& batch) {
        for (auto& [key, writers] : writers_) {
            for (Writer& writer : writers) {
                if (writers.size() > 1 && writer.batch == 0 && writer.node == batch.node &&
                    writer.seq <= batch.last_seq) {
                    writer.batch = batch.number;
                }
            }
        }
    });
    for (auto& [key, writers] : writers_) {
        std::ranges::sort(writers, {}, &Writer::batch);
    }
}

std::string ReferredNodes::of(const JournalGroup& group, std::size_t index) const {
    const JournalEntry& entry = group.entries[index];
    if (entry.refers_to == 0) {
        return {};
    }
    if (!has_many_nodes_) {
        return group.node;
    }
    const auto found = writers_.find(key_of(group, entry, entry.refers_to));
    return found == writers_.end() || found->second.empty() ? std::string()
                                                            : found->second.front().node;
}

}  // namespace sluice::lists
