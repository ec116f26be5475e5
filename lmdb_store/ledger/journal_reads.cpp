// Reads of the journal.
#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "core/ledger/list_rows.hpp"
#include "core/values/lookup.hpp"
#include "lmdb_store/ledger/reads.hpp"
#include "lmdb_store/rows/keys.hpp"

namespace sluice::store {
namespace {

/// Queues in the order of their UUIDs, as every ledger sorts them.
std::vector<std::pair<std::string, std::uint32_t>> by_uuid(
    const std::map<std::uint32_t, std::string>& nodes) {
    auto sorted =
        mapped(nodes, [](const auto& node) { return std::pair(node.second, node.first); });
    std::ranges::sort(sorted);
    return sorted;
}

}  // namespace

void Reads::decode_group(std::string_view key, std::string_view value, JournalGroup& group) {
    LedgerKeyParser parser(key);
    const auto node = nodes_.find(parser.u32());
    group.first_entry = parser.u64();
    rows_.check(parser.complete() && node != nodes_.end() && RowValue::decode(key, value, group),
                Table::kJournal, key);
    group.node = node->second;
}

bool Reads::find_group(std::uint32_t node, std::uint64_t entry, JournalGroup& group) {
    const LedgerKey key = journal_key(node, entry);
    const auto value = rows_.get(Table::kJournal, key.view());
    if (value) {
        decode_group(key.view(), *value, group);
    }
    return value.has_value();
}

/// The order names entries without their nodes. A group with the same number on another node
/// belongs to another order, or this order names it too.
std::vector<JournalGroup> Reads::order_journal(const OrderState& state) {
    std::vector<std::uint64_t> entries = state.other_groups;
    for (const EventTrace& event : state.events) {
        entries.push_back(event.first_entry);
    }
    if (state.events_count > state.events.size()) {
        scan_events(state.key,
                    [&](const EventTrace& event) { entries.push_back(event.first_entry); });
    }
    std::ranges::sort(entries);
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    std::vector<JournalGroup> groups;
    for (const std::uint64_t entry : entries) {
        bool found = entry == 0;  // the event posted nothing
        for (const auto& [node, uuid] : nodes_) {
            JournalGroup group;
            const bool is_there = entry != 0 && find_group(node, entry, group) &&
                                  group.account == state.key.account &&
                                  group.shop == state.key.shop &&
                                  group.order_id == state.key.order_id && !is_of_credit(group);
            if (is_there) {
                groups.push_back(std::move(group));
            }
            found = found || is_there;
        }
        rows_.check(found, Table::kJournal, journal_key(node_.node, entry).view(), state.key);
    }
    std::ranges::sort(groups, [](const JournalGroup& a, const JournalGroup& b) {
        return std::tie(a.node, a.first_entry) < std::tie(b.node, b.first_entry);
    });
    return groups;
}

std::optional<JournalGroup> Reads::journal_group(std::string_view node, std::uint64_t first_entry) {
    JournalGroup group;
    for (const auto& [number, uuid] : nodes_) {
        if (uuid == node && find_group(number, first_entry, group)) {
            return group;
        }
    }
    return std::nullopt;
}

bool Reads::visit_node(std::uint32_t node, std::uint64_t from_entry,
                       const Visitor<JournalGroup>& visit) {
    LedgerKey own;
    own.u32(node);
    JournalGroup group;
    RowCursor cursor(rows_, Table::kJournal);
    for (bool found = cursor.seek(journal_key(node, from_entry).view());
         found && cursor.key().starts_with(own.view()); found = cursor.next()) {
        decode_group(cursor.key(), cursor.value(), group);
        if (!visit(group)) {
            return false;
        }
    }
    return true;
}

void Reads::scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) {
    for (const auto& [uuid, node] : by_uuid(nodes_)) {
        if (!visit_node(node, from_entry, visit)) {
            return;
        }
    }
}

void Reads::scan_chain(AccountNumber account, std::uint32_t node, std::uint64_t from_entry,
                       const Visitor<JournalGroup>& visit) {
    (void)visit_node(node, from_entry, [&](const JournalGroup& group) {
        return group.account != account || visit(group);
    });
}

/// @param key  A key of the index.
bool Reads::visit_indexed(std::string_view key, const Visitor<JournalGroup>& visit) {
    LedgerKeyParser parser(key);
    const AccountNumber account{parser.u32()};
    const std::string_view creator = parser.text();
    const Timestamp at = parser.instant();
    const std::uint32_t node = parser.u32();
    const std::uint64_t entry = parser.u64();
    JournalGroup group;
    rows_.check(parser.complete() && find_group(node, entry, group) && group.account == account &&
                    group.creator.view() == creator && group.accounting_date == at,
                Table::kCreatorJournal, key);
    return visit(group);
}

/// Groups of one creator and accounting date, by node and entry.
/// Returns false if the visitor has seen enough.
bool Reads::visit_date(const LedgerKey& date, const Visitor<JournalGroup>& visit) {
    for (const auto& [uuid, node] : by_uuid(nodes_)) {
        LedgerKey own = date;
        own.u32(node);
        bool more = true;
        visit_prefix(rows_, Table::kCreatorJournal, own.view(),
                     [&](std::string_view key, std::string_view) {
                         more = visit_indexed(key, visit);
                         return more;
                     });
        if (!more) {
            return false;
        }
    }
    return true;
}

/// @param creator  Prefix of the creator's rows.
/// Returns false if the visitor has seen enough.
bool Reads::visit_dated(const LedgerKey& creator, Timestamp from, Timestamp to,
                        const Visitor<JournalGroup>& visit) {
    LedgerKey begin = creator;
    LedgerKey end = creator;
    begin.instant(from);
    end.instant(to);
    RowCursor cursor(rows_, Table::kCreatorJournal);
    bool found = cursor.seek(begin.view());
    while (found && cursor.key().starts_with(creator.view()) && cursor.key() < end.view()) {
        if (nodes_.size() == 1) {
            if (!visit_indexed(cursor.key(), visit)) {
                return false;
            }
            found = cursor.next();
            continue;
        }
        LedgerKeyParser parser(cursor.key().substr(creator.size()));
        LedgerKey date = creator;
        date.instant(parser.instant());
        rows_.check(parser.ok(), Table::kCreatorJournal, cursor.key());
        if (!visit_date(date, visit)) {
            return false;
        }
        found = cursor.seek(date.u32(std::numeric_limits<std::uint32_t>::max())
                                .u64(std::numeric_limits<std::uint64_t>::max())
                                .view());
    }
    return true;
}

/// Block by block, from the listed group with which the account's part of each begins.
std::vector<JournalGroup> Reads::chain_before(AccountNumber account, std::uint32_t node,
                                              const JournalPlace& before, std::size_t max) {
    std::vector<JournalGroup> groups;
    scan_back(ChainGroup{account, node, before.last_change, 0}, {2, 3}, [&](const ChainGroup& row) {
        std::vector<JournalGroup> block;
        (void)visit_node(node, row.first_entry, [&](const JournalGroup& group) {
            const bool is_within = group.first_entry < before.first_entry &&
                                   !is_listed(group.first_entry, row.first_entry);
            if (is_within && group.account == account) {
                block.push_back(group);
            }
            return is_within;
        });
        groups.insert(groups.end(), std::make_move_iterator(block.rbegin()),
                      std::make_move_iterator(block.rend()));
        return groups.size() < max;
    });
    groups.resize(std::min(groups.size(), max));
    return groups;
}

void Reads::scan_creator_journal(AccountNumber account, const CreatorId& creator, Timestamp from,
                                 Timestamp to, const Visitor<JournalGroup>& visit) {
    settle(Table::kCreatorJournal);
    (void)visit_dated(creator_prefix(account, creator), from, to, visit);
}

void Reads::scan_account_journal(AccountNumber account, Timestamp from, Timestamp to,
                                 const Visitor<JournalGroup>& visit) {
    settle(Table::kCreatorJournal);
    const LedgerKey prefix = account_prefix(account);
    RowCursor cursor(rows_, Table::kCreatorJournal);
    bool found = cursor.seek(prefix.view());
    while (found && cursor.key().starts_with(prefix.view())) {
        LedgerKeyParser parser(cursor.key().substr(prefix.size()));
        const CreatorId creator(parser.text());
        rows_.check(parser.ok(), Table::kCreatorJournal, cursor.key());
        if (!visit_dated(creator_prefix(account, creator), from, to, visit)) {
            return;
        }
        LedgerKey behind = prefix;
        found = cursor.seek(behind.bytes(creator.view()).u8(1).view());
    }
}

}  // namespace sluice::store
