// The journal, newest first, and the change feed.
#include "core/journal/journal.hpp"

#include <map>

#include "core/ledger/paged_reads.hpp"
#include "core/lists/changes.hpp"
#include "core/lists/referred_nodes.hpp"
#include "core/lists/report.hpp"
#include "serve/read/cursor.hpp"
#include "serve/read/lists.hpp"
#include "serve/read/masks.hpp"

namespace sluice::serve {
namespace {

using enum lists::ColumnType;
using enum lists::Scope;

/// The account's groups of one node, the newest first, read a slice at a time.
class NodeJournal {
public:
    /// @param before  Entries from this place on are left: the first one may lie within a group.
    NodeJournal(Read& read, const LedgerHead& head, const JournalPlace& before)
        : read_(read), node_(head.node), number_(head.number), before_(before), next_(before) {}

    /// Returns the newest group that is left, or nullptr.
    [[nodiscard]] const JournalGroup* newest() {
        if (at_ == groups_.size() && !ended_) {
            constexpr std::size_t kAtOnce = 256;
            groups_ =
                paged(read_.ledger).chain_before(read_.grant.account, number_, next_, kAtOnce);
            at_ = 0;
            ended_ = groups_.size() < kAtOnce;
            next_ = groups_.empty()
                        ? next_
                        : JournalPlace{groups_.back().first_entry, groups_.back().last_change};
        }
        return at_ < groups_.size() ? &groups_[at_] : nullptr;
    }
    /// Passes over the newest group, down to the entry `number`.
    void pass_to(std::uint64_t number) {
        const JournalGroup& group = groups_[at_];
        const bool is_passed = group.first_entry == number;
        before_ = {number, group.last_change + (is_passed ? 0 : 1)};
        at_ += is_passed ? 1 : 0;
    }
    [[nodiscard]] const std::string& node() const noexcept { return node_; }
    [[nodiscard]] const JournalPlace& before() const noexcept { return before_; }

private:
    Read& read_;
    std::string node_;
    std::uint32_t number_;
    JournalPlace before_;  ///< Entries from here on were passed.
    JournalPlace next_;    ///< Where the next slice ends.
    std::vector<JournalGroup> groups_;
    std::size_t at_ = 0;
    bool ended_ = false;
};

/// The key has the place in each node's journal: node, entry, change, node, entry, change ...
std::vector<NodeJournal> journals_of(Read& read) {
    constexpr std::size_t kParts = 3;
    std::vector<LedgerHead> heads;
    read.ledger.scan_heads([&heads](const LedgerHead& head) { heads.push_back(head); });
    std::map<std::string, JournalPlace> places;
    if (read.after) {
        const auto key = split_key(*read.after);
        if (!key || key->empty() || key->size() % kParts != 0 ||
            key->size() > kParts * heads.size()) {
            refuse("cursor_invalid");
        }
        for (std::size_t i = 0; i < key->size(); i += kParts) {
            places[(*key)[i]] = {key_number((*key)[i + 1]), key_number((*key)[i + 2])};
        }
    }
    std::vector<NodeJournal> journals;
    for (const LedgerHead& head : heads) {
        const JournalPlace* const place = find_value(places, head.node);
        journals.emplace_back(read, head, place == nullptr ? JournalPlace() : *place);
    }
    return journals;
}

/// Returns the journal with the group that was received last, or nullptr after the last group.
NodeJournal* newest_of(std::vector<NodeJournal>& journals) {
    NodeJournal* newest = nullptr;
    for (NodeJournal& journal : journals) {
        const JournalGroup* const group = journal.newest();
        if (group != nullptr &&
            (newest == nullptr || newest->newest()->recorded_at < group->recorded_at)) {
            newest = &journal;
        }
    }
    return newest;
}

std::string key_of(const std::vector<NodeJournal>& journals) {
    std::vector<std::string> parts;
    for (const NodeJournal& journal : journals) {
        parts.push_back(journal.node());
        parts.push_back(std::to_string(journal.before().first_entry));
        parts.push_back(std::to_string(journal.before().last_change));
    }
    return join_key(parts);
}

Page list_journal(Read& read) {
    const lists::ReportFilter filter{.account = read.grant.account_id,
                                     .shop = read.arguments.id<ShopId>("shop"),
                                     .creator = creator_of(read),
                                     .from = read.arguments.time("from"),
                                     .to = read.arguments.time("to"),
                                     .by_receipt = read.arguments.is("by", "receipt")};
    if (filter.shop) {
        (void)shops_of(read);
    }
    const auto program = program_id_of(read);
    const auto reason = read.arguments.text("reason");
    const lists::JournalRows rows(read.ledger, read.grant.account, masked_payee);
    std::vector<NodeJournal> journals = journals_of(read);
    Page page;
    for (std::size_t rows_read = 0;; ++rows_read) {
        NodeJournal* const journal = newest_of(journals);
        if (journal == nullptr) {
            return page;
        }
        const JournalGroup group = *journal->newest();
        if (page.rows.size() >= read.limit() || rows_read >= kRowsReadMax) {
            page.next_key = key_of(journals);
            return page;
        }
        const bool covered = rows.covers(group, filter) && (!program || group.program == *program);
        for (std::size_t i = covered ? group.entries.size() : 0; i-- > 0;) {
            const std::uint64_t number = group.first_entry + i;
            if (number >= journal->before().first_entry) {
                continue;
            }
            if (page.rows.size() >= read.limit()) {
                page.next_key = key_of(journals);
                return page;
            }
            if (!reason || to_string(group.entries[i].reason) == *reason) {
                page.rows.push_back(rows.row(
                    group, i, lists::referred_node(read.ledger, group, i, journals.size())));
            }
            if (i != 0) {
                journal->pass_to(number);
            }
        }
        journal->pass_to(group.first_entry);
    }
}

/// Ends with the change that fills the answer. A change that alone fills it shows its first
/// entries.
Answer list_changes(Read& read) {
    constexpr std::size_t kBytes = kAnswerBytesMax / 2;
    const lists::FeedPlace after =
        read.after ? from_cursor(feed_place(*read.after)) : lists::FeedPlace{};
    const lists::Changes found =
        lists::changes_after(read.ledger, read.grant.account, after, read.limit(), kBytes);
    if (found.ended_before && paged(read.ledger).is_of_standby()) {
        refuse("ledger_unavailable",
               "a standby answers, which has not received the changes before `after` yet");
    }
    if (found.diverged) {
        refuse("cursor_diverged", "begin again without `after`");
    }
    lists::ChangeRows rows(read.ledger, read.grant.account, masked_payee);
    lists::FeedPlace next = after;
    std::size_t shown = 0;
    Answer answer{.body = "{\"changes\":["};
    for (; shown < found.changes.size() && answer.body.size() < kBytes; ++shown) {
        const lists::Change& change = found.changes[shown];
        answer.body += (shown == 0 ? "" : ",") + rows.json(change, kBytes / 2).compact();
        next[change.group.node] = lists::place_of(change.group);
    }
    const bool more = found.more || shown < found.changes.size();
    answer.body += "],\"next\":" + json_quoted(read.cursor_of(feed_key(next))) +
                   ",\"more\":" + (more ? "true" : "false") + "}";
    if (found.changes.empty()) {
        answer.waits_behind = found.entries;
    }
    return answer;
}

/// The entries of one change, in their order.
Page list_change(Read& read) {
    const std::uint64_t number = read.arguments.number("change", 0);
    const std::uint64_t first = read.after ? key_number(*read.after) : 0;
    lists::ChangeRows rows(read.ledger, read.grant.account, masked_payee);
    ReadLimit limit(read);
    Page page;
    const auto add = [&](const lists::Change& change) {
        if (lists::first_change(change.group) > number) {
            return false;
        }
        page.extras.emplace_back("change", rows.head(change));
        for (std::size_t i = first; i < change.group.entries.size(); ++i) {
            if (!limit.admits(std::to_string(i + 1), page)) {
                break;
            }
            page.rows.push_back(rows.row(change, i));
        }
        return false;
    };
    lists::visit_changes(read.ledger, read.grant.account, read.arguments.required("node"), number,
                         add);
    if (page.extras.empty()) {
        refuse("not_found");
    }
    return page;
}

Page list_balances(Read& read) {
    const lists::BalanceListing listing{read.grant.account, read.grant.account_id,
                                        program_id_of(read), creator_of(read)};
    std::optional<lists::BalancePlace> after;
    if (read.after) {
        const auto parts = key_parts(*read.after, 3);
        after = {ProgramId(parts[0]), CreatorId(parts[1]), parts[2]};
    }
    Page page;
    page.rows =
        lists::balances_after(read.ledger, listing, read.arguments.time("at").value_or(read.now),
                              after, read.limit() + 1);
    if (page.rows.size() > read.limit()) {
        page.rows.pop_back();
        const auto last = [&](std::string_view name) {
            return lists::balance_list().cell(page.rows.back(), name).cell();
        };
        page.next_key = join_key({last("program_id"), last("creator_id"), last("currency")});
    }
    return page;
}

Columns changes_members() {
    return {{"changes", kObjects, kLedger}, {"next", kText, kLedger}, {"more", kFlag, kLedger}};
}

}  // namespace

std::vector<Resource> journal_resources() {
    return {
        Resource("balances", kOfCreators, "Pending, blocked, payable, closed and paid amounts",
                 {program_parameter(),
                  creator_parameter(),
                  {"at", ValueKind::kFuture, "Time of the amounts, now or later (default: now)"}},
                 lists::balance_list().columns(), list_balances, kCsv),
        Resource("journal", kReadLedger, "Postings and memo entries, the newest first",
                 {shop_parameter(),
                  creator_parameter(),
                  program_parameter(),
                  {"reason", ValueKind::kId, "Reason, such as ACCRUAL"},
                  {"from", ValueKind::kTime, "Accounting date from this time on (RFC 3339)"},
                  {"to", ValueKind::kTime, "Accounting date before this time (RFC 3339)"},
                  word_parameter("by", "Date that from and to refer to (default: accounting)",
                                 {"accounting", "receipt"})},
                 lists::journal_list().columns(), list_journal, kCsv),
        Resource(
            "changes", kReadLedger, "Changes of the ledger, in the order of each node's chain",
            {{"wait", ValueKind::kSeconds, "Seconds to wait for a change, 0 to 30 (default: 0)"}},
            changes_members(), list_changes),
        Resource(
            "change", kReadLedger,
            "The entries of one change of the feed, which may be too many for it",
            {{"node", ValueKind::kId, "UUID of the node", true},
             {"change", ValueKind::kVersion, "Number of one of its entries in the chain", true}},
            lists::journal_list().columns(), list_change, kCsv, extra("change", kObject))};
}

}  // namespace sluice::serve
