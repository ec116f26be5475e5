#include "core/exports/feed_check.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/journal/journal.hpp"
#include "core/json/member_reader.hpp"
#include "core/ledger/valid.hpp"
#include "core/lists/changes.hpp"
#include "core/protocol/signature.hpp"

namespace sluice::exports {
namespace {

using simdjson::dom::element;

/// Members that all entries of a change have in common.
constexpr std::array<const char*, 13> kCommon{
    "node",    "event_seq", "command_id", "account_id",  "program_id",      "creator_id",
    "shop_id", "order_id",  "payout_id",  "recorded_at", "accounting_date", "note",
    "actor"};

/// Returns a member's value of the type that is asked for. Throws Malformed if it has another.
template <class Value>
Value get(const MemberReader& object, const char* name) {
    Value value{};
    object(name, value);
    return value;
}

/// Returns an empty text for null.
std::string text_or_empty(const MemberReader& object, const char* name) {
    std::optional<std::string> text;
    object.or_null(name, text);
    return text.value_or("");
}

std::optional<JournalReason> parse_reason(std::string_view name) {
    for (unsigned number = 0; number <= 0xFF; ++number) {
        const auto reason = static_cast<JournalReason>(number);
        if (is_valid(reason) && to_string(reason) == name) {
            return reason;
        }
    }
    return std::nullopt;
}

JournalEntry entry_of(const MemberReader& row) {
    JournalEntry entry{.line = LineItemId(text_or_empty(row, "line_item_id"))};
    row("reason", entry.reason, parse_reason);
    if (!is_memo(entry.reason)) {
        row("currency", entry.currency, Currency::parse);
        row("amount", entry.amount, Decimal::parse_signed);
    } else if (!row.member("currency").is_null() || !row.member("amount").is_null()) {
        throw Malformed{};
    }
    std::optional<std::uint64_t> refers_to;
    row.or_null("refers_to", refers_to);
    entry.refers_to = refers_to.value_or(0);
    return entry;
}

struct ParsedChange {
    JournalGroup group;
    std::uint64_t first = 0;
    std::uint64_t entries = 0;  ///< Number of all, also of missing ones.
    Digest256 previous_hash{};
    std::string inconsistent;  ///< A member that differs from what the others say, or empty.
    bool is_masked = false;

    [[nodiscard]] bool is_cut() const noexcept { return group.entries.size() < entries; }
};

/// Compares an entry with the change and the change's first entry. Returns the member that
/// differs, or an empty text.
std::string difference(const MemberReader& row, const MemberReader& first_row,
                       const ParsedChange& change, std::size_t index) {
    const JournalGroup& group = change.group;
    for (const char* const name : kCommon) {
        if (simdjson::minify(row.member(name)) != simdjson::minify(first_row.member(name))) {
            return name;
        }
    }
    const DebitCredit accounts = debit_credit_of(group.entries[index].reason);
    if (text_or_empty(row, "debit_account") !=
        ledger_account_name(accounts.debit, group.payout_id)) {
        return "debit_account";
    }
    if (text_or_empty(row, "credit_account") !=
        ledger_account_name(accounts.credit, group.payout_id)) {
        return "credit_account";
    }
    if (get<std::uint64_t>(row, "entry") != group.first_entry + index) {
        return "entry";
    }
    if (get<std::uint64_t>(row, "first") != change.first) {
        return "first";
    }
    if (get<std::uint64_t>(row, "last") != group.last_change) {
        return "last";
    }
    const bool is_last = index + 1 == change.entries;
    return text_or_empty(row, "hash") == (is_last ? to_hex(group.hash) : std::string()) ? ""
                                                                                        : "hash";
}

void read_common(const MemberReader& row, JournalGroup& group) {
    row("entry", group.first_entry);
    row("event_seq", group.event_seq);
    group.command_id = text_or_empty(row, "command_id");
    group.order_id = OrderId(text_or_empty(row, "order_id"));
    group.program = ProgramId(text_or_empty(row, "program_id"));
    group.creator = CreatorId(text_or_empty(row, "creator_id"));
    group.payout_id = text_or_empty(row, "payout_id");
    row("recorded_at", group.recorded_at);
    row("accounting_date", group.accounting_date);
    group.note = text_or_empty(row, "note");
    group.actor = text_or_empty(row, "actor");
}

ParsedChange parse(const element& given) {
    const MemberReader change(given);
    ParsedChange parsed;
    JournalGroup& group = parsed.group;
    change("node", group.node);
    change("account_number", group.account.value);
    change("shop_number", group.shop.value);
    change("hash", group.hash, HexDigest());
    change("last", group.last_change);
    change("first", parsed.first);
    change("previous_hash", parsed.previous_hash, HexDigest());
    simdjson::dom::array rows;
    if (change.member("entries").get(rows) != simdjson::SUCCESS || rows.size() == 0 ||
        parsed.first == 0) {
        throw Malformed{};
    }
    parsed.entries = rows.size();
    if (element total; given["entries_total"].get(total) == simdjson::SUCCESS) {
        change("entries_total", parsed.entries);
    }
    const MemberReader first_row(rows.at(0).value());
    read_common(first_row, group);
    for (const element row : rows) {
        group.entries.push_back(entry_of(MemberReader(row)));
        parsed.is_masked =
            parsed.is_masked || group.entries.back().reason == JournalReason::kMemoPayeeChanged;
    }
    std::size_t index = 0;
    for (const element row : rows) {
        if (parsed.inconsistent.empty()) {
            parsed.inconsistent = difference(MemberReader(row), first_row, parsed, index++);
        }
    }
    if (get<std::string>(first_row, "node") != group.node) {
        parsed.inconsistent = "node";
    } else if (get<std::string>(change, "timestamp") != group.recorded_at.to_string()) {
        parsed.inconsistent = "timestamp";
    } else if (!parsed.is_cut() && get<std::string>(change, "type") != lists::change_type(group)) {
        parsed.inconsistent = "type";
    } else if (group.last_change + 1 != parsed.first + parsed.entries ||
               group.entries.size() > parsed.entries) {
        parsed.inconsistent = "last";
    }
    return parsed;
}

std::string place_of(const ParsedChange& change) {
    return "change " + std::to_string(change.first) + " of node " + change.group.node;
}

/// Returns why the change does not come next, or nothing.
std::optional<std::string> gap(const ParsedChange& change, const ChainHead& before) {
    if (change.first <= before.entries) {
        return "comes behind change " + std::to_string(before.entries) +
               ": changes were swapped or repeated";
    }
    if (change.first != before.entries + 1) {
        const std::uint64_t from = before.entries + 1, to = change.first - 1;
        return (from == to
                    ? "change " + std::to_string(from) + " is"
                    : "changes " + std::to_string(from) + " to " + std::to_string(to) + " are") +
               " missing before it: removed or swapped";
    }
    if (change.previous_hash != before.hash) {
        return "previous_hash is not the hash of the change before it: one of the two was altered";
    }
    return std::nullopt;
}

/// Returns how the change contradicts its own hash, or nothing.
std::optional<std::string> alteration(const ParsedChange& change) {
    if (!change.inconsistent.empty()) {
        return "altered: " + change.inconsistent + " does not fit the rest of the change";
    }
    ChainHead chain{change.previous_hash, change.first - 1, 0};
    if (!change.is_masked && !change.is_cut() && !verify_seal(change.group, chain)) {
        return "altered: its entries have another hash than it says";
    }
    return std::nullopt;
}

Error fault(const std::string& text) {
    return {ErrorCode::kConflict, text};
}

}  // namespace

Status FeedCheck::add(const element& given) {
    ParsedChange change;
    try {
        change = parse(given);
    } catch (const Malformed&) {
        return fault("is no change of the feed: a member is missing or has a wrong value");
    }
    auto known = chains_.find(change.group.node);
    if (known == chains_.end()) {
        if (change.first == 1 && change.previous_hash != Digest256{}) {
            return fault(place_of(change) +
                         ": altered: previous_hash of the first change is not 0");
        }
        known = chains_.try_emplace(change.group.node).first;
        known->second.first = change.first;
        known->second.head = {change.previous_hash, change.first - 1, 0};
    }
    Chain& chain = known->second;
    std::optional<std::string> wrong = gap(change, chain.head);
    wrong = wrong ? std::move(wrong) : alteration(change);
    if (wrong) {
        return fault(place_of(change) + ": " + *wrong);
    }
    chain.head = {change.group.hash, change.group.last_change, change.group.first_entry};
    ++chain.changes;
    chain.masked += change.is_masked ? 1U : 0U;
    chain.cut += change.is_cut() ? 1U : 0U;
    return Status::success();
}

}  // namespace sluice::exports
