#include "core/lists/changes.hpp"

#include <algorithm>
#include <utility>

#include "core/journal/journal.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/lists/referred_nodes.hpp"
#include "core/lists/row_output.hpp"

namespace sluice::lists {
namespace {

/// The type of a group with a mark: without, and with an order or a payout.
struct MarkType {
    JournalReason mark;
    std::string_view type, of_object;
};
constexpr std::array kMarkTypes{
    MarkType{JournalReason::kMemoAttributed, "order.attributed", "order.attributed"},
    MarkType{JournalReason::kMemoDetached, "order.detached", "order.detached"},
    MarkType{JournalReason::kMemoRejected, "order.rejected", "order.rejected"},
    MarkType{JournalReason::kMemoHeld, "creator.held", "order.held"},
    MarkType{JournalReason::kMemoReleased, "creator.released", "order.released"},
    MarkType{JournalReason::kMemoReset, "order.reset", "order.reset"},
    MarkType{JournalReason::kMemoAnomaly, "anomaly.recorded", "anomaly.recorded"},
    MarkType{JournalReason::kMemoAcknowledged, "anomaly.acknowledged", "anomaly.acknowledged"},
    MarkType{JournalReason::kMemoClosed, "payout.closed", "payout.closed"},
    MarkType{JournalReason::kMemoApproved, "command.approved", "payout.approved"},
    MarkType{JournalReason::kMemoSent, "payout.sent", "payout.sent"},
    MarkType{JournalReason::kMemoRepointed, "payout.repointed", "payout.repointed"},
    MarkType{JournalReason::kMemoPending, "command.waiting", "command.waiting"},
    MarkType{JournalReason::kMemoWithdrawn, "command.withdrawn", "command.withdrawn"},
    MarkType{JournalReason::kMemoRenamed, "creator.renamed", "creator.renamed"},
    MarkType{JournalReason::kMemoPayeeChanged, "creator.payee_changed", "creator.payee_changed"},
    MarkType{JournalReason::kMemoPeriodClosed, "period.closed", "period.closed"},
    MarkType{JournalReason::kMemoPolicyChanged, "policy.changed", "policy.changed"},
    MarkType{JournalReason::kMemoGapAccepted, "gap.accepted", "gap.accepted"},
    MarkType{JournalReason::kMemoDiscarded, "dead_letter.discarded", "dead_letter.discarded"},
};
/// Postings between ledger accounts other than `expense` and `owed`.
constexpr std::array kPayoutTypes{
    std::pair{JournalReason::kPayout, std::string_view("payout.taken")},
    std::pair{JournalReason::kSettle, std::string_view("payout.paid")},
    std::pair{JournalReason::kVoid, std::string_view("payout.void")},
    std::pair{JournalReason::kFailed, std::string_view("payout.failed")},
    std::pair{JournalReason::kReturned, std::string_view("payout.returned")},
};
constexpr std::string_view kCommission = "commission.changed";

using NodeChanges = std::vector<Change>;

ChainPlace place_of(std::uint64_t change, const Digest256& hash) {
    ChainPlace place{change};
    std::copy_n(hash.begin(), place.hash.size(), place.hash.begin());
    return place;
}

/// About the bytes of the group's JSON: those of its texts, and of names and numbers.
std::size_t bytes_of(const JournalGroup& group) {
    constexpr std::size_t kFixed = 700;
    return group.entries.size() *
           (kFixed + group.order_id.view().size() + group.note.size() + group.actor.size());
}

/// Returns the entry from which the chain's changes after `change` are read, or nothing if the
/// account has no group on this node.
std::optional<std::uint64_t> entry_before(LedgerReader& ledger, AccountNumber account,
                                          std::uint32_t node, std::uint64_t change) {
    std::optional<std::uint64_t> entry;
    const auto take = [&entry](const ChainGroup& row) {
        entry = row.first_entry;
        return false;
    };
    paged(ledger).scan_back(ChainGroup{account, node, change + 1, 0}, {2, 3}, take);
    if (!entry) {
        ledger.scan(ChainGroup{account, node, 0, 0}, {2, 2}, take);
    }
    return entry;
}

/// Appends at most `limit` changes of one node's chain that come after a place. Returns false if
/// the chain is not the one that the place was taken from.
bool read_chain(LedgerReader& ledger, AccountNumber account, const LedgerHead& node,
                const ChainHead& head, const ChainPlace& after, std::size_t limit,
                std::size_t bytes_max, NodeChanges& out) {
    if (after.change > head.entries) {
        return false;
    }
    if (after.change == head.entries) {
        return after.change == 0 || place_of(0, head.hash).hash == after.hash;
    }
    const std::optional<std::uint64_t> from =
        entry_before(ledger, account, node.number, after.change);
    bool is_known = after.change == 0;
    Digest256 hash{};
    std::size_t bytes = 0, count = 0;
    paged(ledger).scan_chain(
        account, node.number, from.value_or(0), [&](const JournalGroup& group) {
            if (group.last_change <= after.change) {
                hash = group.hash;
                is_known = is_known || (group.last_change == after.change &&
                                        place_of(0, hash).hash == after.hash);
                return true;
            }
            if (!is_known || count == limit || (count != 0 && bytes >= bytes_max)) {
                return false;
            }
            out.push_back({group, std::exchange(hash, group.hash)});
            bytes += bytes_of(group);
            ++count;
            return true;
        });
    return is_known;
}

/// Returns the node with the next change that was received first, or nullptr after the last one.
/// The changes of a node keep their order, whatever its clock did.
NodeChanges* first_received(std::vector<NodeChanges>& nodes, const std::vector<std::size_t>& at) {
    NodeChanges* first = nullptr;
    Timestamp received_at;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (at[i] == nodes[i].size()) {
            continue;
        }
        const Timestamp received = nodes[i][at[i]].group.recorded_at;
        if (first == nullptr || received < received_at) {
            first = &nodes[i];
            received_at = received;
        }
    }
    return first;
}

/// Moves as many changes as fit into `read`, and its place past them.
void merge(std::vector<NodeChanges>& nodes, std::size_t limit, std::size_t bytes_max,
           Changes& read) {
    std::vector<std::size_t> at(nodes.size());
    std::size_t bytes = 0;
    while (read.changes.size() < limit && bytes < bytes_max) {
        NodeChanges* const node = first_received(nodes, at);
        if (node == nullptr) {
            return;
        }
        Change& change = (*node)[at[static_cast<std::size_t>(node - nodes.data())]++];
        bytes += bytes_of(change.group);
        read.next[change.group.node] = place_of(change.group.last_change, change.group.hash);
        read.changes.push_back(std::move(change));
    }
}

}  // namespace

Changes changes_after(LedgerReader& ledger, AccountNumber account, const FeedPlace& after,
                      std::size_t limit, std::size_t bytes_max,
                      const std::set<std::string>& without) {
    std::vector<LedgerHead> heads;
    ledger.scan_heads([&heads](const LedgerHead& head) { heads.push_back(head); });
    std::map<std::string, ChainHead> chains;
    ledger.scan_chains([&](const NodeChain& chain) {
        if (chain.account == account) {
            chains.emplace(chain.node, chain.head);
        }
    });
    Changes read{.next = after};
    for (const auto& [node, place] : after) {
        const auto chain = chains.find(node);
        read.ended_before =
            read.ended_before || chain == chains.end() || chain->second.entries < place.change;
    }
    read.diverged = read.ended_before;
    std::vector<NodeChanges> nodes(heads.size());
    for (std::size_t i = 0; i < heads.size(); ++i) {
        if (without.contains(heads[i].node)) {
            continue;
        }
        const auto place = after.find(heads[i].node);
        const ChainPlace from = place == after.end() ? ChainPlace{} : place->second;
        read.diverged = !read_chain(ledger, account, heads[i], chains[heads[i].node], from, limit,
                                    bytes_max, nodes[i]) ||
                        read.diverged;
    }
    merge(nodes, limit, bytes_max, read);
    for (const auto& [node, chain] : chains) {
        read.entries += chain.entries;
        const auto place = read.next.find(node);
        read.more =
            read.more || (place == read.next.end() ? 0 : place->second.change) < chain.entries;
    }
    return read;
}

void visit_changes(LedgerReader& ledger, AccountNumber account, const std::string& node,
                   std::uint64_t from, const Visitor<Change>& visit) {
    std::uint32_t number = 0;
    ledger.scan_heads([&](const LedgerHead& head) {
        number = head.node == node ? head.number : number;
        return number == 0;
    });
    if (number == 0 || from == 0) {
        return;
    }
    Digest256 hash{};
    paged(ledger).scan_chain(account, number,
                             entry_before(ledger, account, number, from - 1).value_or(0),
                             [&](const JournalGroup& group) {
                                 const Change change{group, std::exchange(hash, group.hash)};
                                 return group.last_change < from || visit(change);
                             });
}

std::uint64_t first_change(const JournalGroup& group) noexcept {
    return group.last_change - group.entries.size() + 1;
}

ChainPlace place_of(const JournalGroup& group) {
    return place_of(group.last_change, group.hash);
}

std::map<AccountNumber, FeedPlace> ends_of_feeds(LedgerReader& ledger) {
    std::map<AccountNumber, FeedPlace> ends;
    ledger.scan_chains([&](const NodeChain& chain) {
        if (chain.head.entries != 0) {
            ends[chain.account][chain.node] = place_of(chain.head.entries, chain.head.hash);
        }
    });
    return ends;
}

FeedPlace end_of_feed(LedgerReader& ledger, AccountNumber account) {
    return ends_of_feeds(ledger)[account];
}

std::string_view change_type(const JournalGroup& group) {
    const bool has_object = !group.order_id.empty() || !group.payout_id.empty();
    for (const JournalEntry& entry : group.entries) {
        for (const MarkType& mark : kMarkTypes) {
            if (mark.mark == entry.reason) {
                return has_object ? mark.of_object : mark.type;
            }
        }
    }
    for (const auto& [reason, type] : kPayoutTypes) {
        if (group.entries.front().reason == reason) {
            return type;
        }
    }
    return kCommission;
}

const std::vector<std::string_view>& change_types() {
    static const std::vector<std::string_view> types = [] {
        std::vector<std::string_view> names{kCommission};
        for (const MarkType& mark : kMarkTypes) {
            names.insert(names.end(), {mark.type, mark.of_object});
        }
        for (const auto& [reason, type] : kPayoutTypes) {
            names.push_back(type);
        }
        std::ranges::sort(names);
        names.erase(std::unique(names.begin(), names.end()), names.end());
        return names;
    }();
    return types;
}

ChangeRows::ChangeRows(LedgerReader& ledger, AccountNumber account,
                       JournalRows::ShowPayee show_payee)
    : ledger_(ledger), rows_(ledger, account, show_payee), columns_(journal_list().columns()) {
    ledger.scan_heads([this](const LedgerHead& head) { nodes_[head.node] = head.number; });
}

Row ChangeRows::row(const Change& change, std::size_t index) const {
    const JournalGroup& group = change.group;
    return rows_.row(group, index, referred_node(ledger_, group, index, nodes_.size()));
}

const std::vector<Column>& change_columns() {
    static const std::vector<Column> columns{{"node", kText, kLedger},
                                             {"first", kInteger, kLedger},
                                             {"last", kInteger, kLedger},
                                             {"type", kText, kLedger},
                                             {"timestamp", kTime, kLedger},
                                             {"previous_hash", kText, kLedger},
                                             {"hash", kText, kLedger},
                                             {"trace", kText, kLedger},
                                             {"account_number", kInteger, kLedger},
                                             {"shop_number", kInteger, kLedger},
                                             {"order_change", kInteger, kLedger},
                                             {"entries", kJson, kLedger}};
    return columns;
}

Json ChangeRows::json(const Change& change, std::size_t bytes_max) {
    Json object = head(change);
    Json entries = Json::array();
    constexpr std::size_t kOfTotal = 64;  // for `entries_total` and the names
    std::size_t bytes = object.compact().size() + kOfTotal;
    const std::size_t total = change.group.entries.size();
    for (std::size_t i = 0; i < total; ++i) {
        Json entry = object_of(columns_, row(change, i));
        bytes += entry.compact().size() + 1;
        if (i != 0 && bytes > bytes_max) {
            object["entries_total"] = total;
            break;
        }
        entries.push_back(std::move(entry));
    }
    object["entries"] = std::move(entries);
    return object;
}

Json ChangeRows::head(const Change& change) {
    const JournalGroup& group = change.group;
    return {{"node", group.node},
            {"first", first_change(group)},
            {"last", group.last_change},
            {"type", change_type(group)},
            {"timestamp", group.recorded_at.to_string()},
            {"previous_hash", to_hex(change.previous_hash)},
            {"hash", to_hex(group.hash)},
            {"trace", trace_of(group)},
            {"account_number", group.account.value},
            {"shop_number", group.shop.value},
            {"order_change", group.order_change == 0 ? Json() : Json(group.order_change)}};
}

Json ChangeRows::trace_of(const JournalGroup& group) {
    if (group.order_id.empty() || !group.command_id.empty()) {
        return {};
    }
    const OrderKey key{group.account, group.shop, group.order_id};
    if (traced_ != key) {
        traced_ = key;
        traces_.clear();
        const auto note = [this](const EventTrace& event) {
            if (event.traceparent) {
                traces_.try_emplace({event.node, event.seq.value}, *event.traceparent);
            }
        };
        OrderState order;
        if (ledger_.load_order(key, order)) {
            std::ranges::for_each(order.events, note);
            if (order.events_count > order.events.size()) {
                ledger_.scan_events(key, note);
            }
        }
    }
    const auto found = traces_.find({nodes_[group.node], group.event_seq.value});
    return found == traces_.end() ? Json() : Json(to_traceparent(found->second));
}

}  // namespace sluice::lists
