#include "lmdb_store/ledger/row_text.hpp"

#include <array>
#include <type_traits>

#include "core/protocol/signature.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"
#include "lmdb_store/rows/keys.hpp"
#include "lmdb_store/rows/order_value.hpp"
#include "lmdb_store/rows/row_keys.hpp"
#include "lmdb_store/rows/row_value.hpp"

namespace sluice::store {
namespace {

/// Longer bytes are shown by their SHA-256.
constexpr std::size_t kBytesShownMax = 64;

// ---- Values -------------------------------------------------------------------------------------

/// Returns the text of a value by its type.
struct TextOf {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    template <class Number>
    requires std::is_integral_v<Number> || std::is_enum_v<Number> std::string operator()(
        Number value) const {
        return std::to_string(static_cast<std::uint64_t>(value));
    }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(const AnyTextId& id) const { return std::string(id.view()); }
    std::string operator()(const Currency& currency) const { return std::string(currency.code()); }
    std::string operator()(const Decimal& value) const { return value.to_string(); }
    std::string operator()(Timestamp at) const { return at.to_string(); }
    std::string operator()(SequenceNumber seq) const { return std::to_string(seq.value); }
    template <class Tag>
    std::string operator()(NumberId<Tag> id) const {
        return std::to_string(id.value);
    }
    template <std::size_t N>
    std::string operator()(const std::array<std::uint8_t, N>& digest) const {
        return to_hex(digest);
    }
};
constexpr TextOf text_of;

std::string bytes_text(std::string_view bytes) {
    if (bytes.size() > kBytesShownMax) {
        return std::to_string(bytes.size()) + " bytes, SHA-256 " + to_hex(sha256(bytes));
    }
    return to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

/// Collects the columns of a row.
class Columns {
public:
    explicit Columns(std::vector<ColumnText>& columns) : columns_(columns) {}

    template <class Value>
    Columns& operator()(const char* name, const Value& value) {
        columns_.push_back({name, text_of(value)});
        return *this;
    }
    template <class Value>
    Columns& operator()(const char* name, const std::optional<Value>& value) {
        columns_.push_back({name, value ? std::optional(text_of(*value)) : std::nullopt});
        return *this;
    }
    /// One column for a list: `[a, b]`. An absent item is `-`.
    template <class Items, class Of>
    Columns& list(const char* name, const Items& items, Of of) {
        std::string text = "[";
        for (const auto& item : items) {
            text += (text.size() == 1 ? "" : ", ") + shown(of(item));
        }
        columns_.push_back({name, text + "]"});
        return *this;
    }

private:
    template <class Value>
    static std::string shown(const Value& value) {
        return text_of(value);
    }
    template <class Value>
    static std::string shown(const std::optional<Value>& value) {
        return value ? text_of(*value) : "-";
    }

    std::vector<ColumnText>& columns_;
};

// ---- Described tables ---------------------------------------------------------------------------

void add_columns(RowView row, const std::vector<Column>& columns, const TextForm& form,
                 std::vector<ColumnText>& to) {
    for (const Column& column : columns) {
        const void* const value = column.find(row.get());
        if (value == nullptr) {
            to.push_back({column.name, std::nullopt});
        } else if (column.kind == ColumnKind::kBytes) {
            to.push_back({column.name, bytes_text(*static_cast<const std::string*>(value))});
        } else if (column.kind == ColumnKind::kText && form) {
            to.push_back({column.name, form(*static_cast<const std::string*>(value))});
        } else {
            with_value(column.kind, value, [&](const auto& typed) {
                to.push_back({column.name, text_of(typed)});
            });
        }
    }
}

bool described_text(const DescribedTable& table, std::string_view key, std::string_view value,
                    const TextForm& form, RowText& text) {
    AnyRow row(table);
    CutTexts cut;
    if (!read_row_key(key, row.ref(), cut) || !RowValue::decode(key, cut, value, row.ref())) {
        return false;
    }
    if (table.per_node) {
        Columns(text.key)("node", LedgerKeyParser(key).u32());
    }
    add_columns(row.view(), table.key, form, text.key);
    add_columns(row.view(), table.rest, form, text.rest);
    return true;
}

// ---- Heads, chains, balances --------------------------------------------------------------------

bool head_text(std::string_view key, std::string_view value, RowText& text) {
    NodeHead row;
    if (!RowValue::decode(key, value, row)) {
        return false;
    }
    const LedgerHead& head = row.head;
    const Totals& totals = head.totals;
    Columns(text.key)("node", head.node);
    Columns(text.rest)("number", row.node)("applied_seq", head.applied_seq)(
        "last_received", head.last_received)("inputs_sha256", head.inputs_sha256)(
        "next_entry", head.next_entry)("next_work", head.next_work)(
        "programs_revision", head.programs_revision)("applied", totals.applied)(
        "stale", totals.stale)("duplicate", totals.duplicate)("catalog", totals.catalog)(
        "commands", totals.commands)("dead", totals.dead)("orders", totals.orders)(
        "journal_entries", totals.journal_entries)("clicks", totals.clicks)(
        "clicks_stored", totals.clicks_stored)("clicks_known", totals.clicks_known)(
        "clicks_without_link", totals.clicks_without_link)("clicks_expired", totals.clicks_expired)
        .list("anomalies", totals.anomalies, [](std::uint64_t count) { return count; });
    return true;
}

bool chain_text(std::string_view key, std::string_view value, RowText& text) {
    LedgerKeyParser parser(key);
    ChainHead chain;
    Columns(text.key)("node", parser.u32())("account", parser.u32());
    if (!parser.complete() || !RowValue::decode(key, value, chain)) {
        return false;
    }
    Columns(text.rest)("hash", chain.hash)("entries", chain.entries)("last_group",
                                                                     chain.last_group);
    return true;
}

bool balance_text(std::string_view key, std::string_view value, RowText& text) {
    LedgerKeyParser parser(key);
    Balance part;
    Columns(text.key)("account", parser.u32())("program", std::string(parser.text()))(
        "creator", std::string(parser.text()))("currency", std::string(parser.bytes(3)))(
        "node", parser.u32());
    const auto currency = Currency::parse(*text.key[3].text);
    if (!parser.complete() || !currency || !RowValue::decode(key, value, part)) {
        return false;
    }
    Columns(text.rest)("owed", part.owed)("in_payout", part.in_payout)("paid", part.paid);
    return true;
}

bool group_text(std::string_view key, std::string_view value, RowText& text) {
    LedgerKeyParser parser(key);
    JournalGroup group;
    Columns(text.key)("node", parser.u32())("first_entry", parser.u64());
    if (!parser.complete() || !RowValue::decode(key, value, group)) {
        return false;
    }
    Columns(text.rest)("account", group.account)("shop", group.shop)("order_id", group.order_id)(
        "event_seq", group.event_seq)("command_id", group.command_id)("payout_id", group.payout_id)(
        "program", group.program)("creator", group.creator)("recorded", group.recorded_at)(
        "accounting", group.accounting_date)("note", group.note)("actor", group.actor)
        .list("line_ids", group.entries, [](const JournalEntry& e) { return e.line; })
        .list("currencies", group.entries, [](const JournalEntry& e) { return e.currency; })
        .list("amounts", group.entries, [](const JournalEntry& e) { return e.amount; })
        .list("reasons", group.entries, [](const JournalEntry& e) { return e.reason; })
        .list("refers_to", group.entries, [](const JournalEntry& e) { return e.refers_to; })(
            "hash", group.hash)("last_change", group.last_change)("order_change",
                                                                  group.order_change);
    return true;
}

// ---- Orders -------------------------------------------------------------------------------------

std::string event_text(const EventTrace& event) {
    return text_of(event.seq) + "/" + text_of(event.node) + " topic " + text_of(event.topic) +
           " decision " + text_of(event.decision) + " digest " + text_of(event.digest) +
           " version " + text_of(event.version) + " received " + text_of(event.received_at) +
           (event.cancelled ? " cancelled" : "") + " anomalies " + text_of(event.anomalies) +
           " entry " + text_of(event.first_entry) +
           (event.traceparent ? " trace " + text_of(*event.traceparent) : "") + " source " +
           text_of(event.source);
}

std::string candidate_text(const Candidate& candidate) {
    return text_of(candidate.type) + " " + text_of(candidate.program) + " " +
           text_of(candidate.creator) + " code " + candidate.code + " clicked " +
           text_of(candidate.clicked_at) + " verdict " + text_of(candidate.verdict) + " link " +
           text_of(candidate.link);
}

std::string rate_text(const FrozenRate& rate) {
    return text_of(rate.rate.kind) + " " + text_of(rate.rate.value) + " " +
           text_of(rate.rate.currency) + " base " + text_of(rate.base) + " match " +
           text_of(rate.match) + " version " + text_of(rate.program_version) + " rule " +
           text_of(rate.rule) + " tier " + (rate.tier ? text_of(*rate.tier) : "-") + " factor " +
           text_of(rate.factor) + " shared with " + text_of(rate.shared_with);
}

std::string money_text(const Money& money) {
    return text_of(money.amount) + " " + text_of(money.currency);
}

const std::string& same(const std::string& text) {
    return text;
}

/// Writes one column for a list that every position has: `1:l1` belongs to the first position.
template <class Items, class Of>
void of_positions(const char* name, const OrderState& state, Items items, Of of, Columns& to) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < state.positions.size(); ++i) {
        for (const auto& item : std::invoke(items, state.positions[i])) {
            texts.push_back(std::to_string(i + 1) + ":" + text_of(of(item)));
        }
    }
    to.list(name, texts, same);
}

void attribution_columns(const OrderState& state, Columns& to) {
    const auto& positions = state.positions;
    const auto attribution = [&](const char* name, auto of) {
        to.list(name, positions, [of](const Position& p) { return p.attribution.*of; });
    };
    attribution("position_programs", &Attribution::program);
    attribution("position_creators", &Attribution::creator);
    attribution("position_types", &Attribution::types);
    attribution("position_causes", &Attribution::cause);
    attribution("position_commands", &Attribution::command_id);
    attribution("position_topics", &Attribution::cause_topic);
    attribution("position_at", &Attribution::at);
    of_positions(
        "position_candidates", state,
        [](const Position& p) -> auto& { return p.attribution.candidates; }, candidate_text, to);
    to.list("position_volumes", positions, [](const Position& p) {
        return p.facts.volume ? std::optional(money_text(*p.facts.volume)) : std::nullopt;
    });
    to.list("position_customers", positions, [](const Position& p) { return p.facts.customer; });
    to.list("position_groups", positions, [](const Position& p) { return p.facts.group; });
    to.list("position_posted", positions, [](const Position& p) { return p.last_posted; });
    of_positions(
        "cap_amounts", state, [](const Position& p) -> auto& { return p.facts.caps; }, money_text,
        to);
}

void money_columns(const OrderState& state, Columns& to) {
    const auto frozen = [&](const char* name, auto of) {
        of_positions(name, state, &Position::frozen, of, to);
    };
    frozen("frozen_lines", [](const FrozenLine& f) { return f.line; });
    frozen("frozen_rates", [](const FrozenLine& f) { return rate_text(f.rate); });
    const auto accrual = [&](const char* name, auto of) {
        of_positions(name, state, &Position::accruals, of, to);
    };
    accrual("accrual_lines", [](const LineAccrual& a) { return a.line; });
    accrual("accrual_currencies", [](const LineAccrual& a) { return a.currency; });
    accrual("accrual_amounts", [](const LineAccrual& a) { return a.accrued; });
    accrual("accrual_allocated", [](const LineAccrual& a) { return a.allocated; });
    accrual("accrual_entries", [](const LineAccrual& a) { return a.first_entry; });
    const auto allocation = [&](const char* name, auto of) {
        of_positions(name, state, &Position::payouts, of, to);
    };
    allocation("allocation_payouts", [](const PositionPayout& p) { return p.payout_id; });
    allocation("allocation_currencies", [](const PositionPayout& p) { return p.currency; });
    allocation("allocation_amounts", [](const PositionPayout& p) { return p.amount; });
    allocation("allocation_commissions", [](const PositionPayout& p) { return p.commission; });
    allocation("allocation_has_commission",
               [](const PositionPayout& p) { return p.has_commission; });
    allocation("allocation_active", [](const PositionPayout& p) { return p.active; });
}

void payload_columns(const OrderState& state, Columns& to) {
    to("version", state.version)("ordered", state.ordered_at)("cancelled", state.cancelled_at)(
        "currency", state.currency)("amount", state.amount)("tax", state.tax)("shipping",
                                                                              state.shipping)
        .list("codes", state.codes, same)
        .list("numbers", state.numbers, same)("confirmation_number", state.confirmation_number)(
            "device", state.device)("device_version", state.device_version)(
            "customer", state.customer)("plausible_version", state.plausible_version);
    const auto& lines = state.lines;
    to.list("line_ids", lines, [](const OrderLine& l) { return l.id; })
        .list("line_skus", lines, [](const OrderLine& l) { return l.sku; })
        .list("line_variant_skus", lines, [](const OrderLine& l) { return l.variant_sku; })
        .list("line_amounts", lines, [](const OrderLine& l) { return l.amount; })
        .list("line_taxes", lines, [](const OrderLine& l) { return l.tax; })
        .list("line_quantities", lines, [](const OrderLine& l) { return l.quantity; })
        .list("line_present", lines, [](const OrderLine& l) { return l.present; });
    const auto& refunds = state.refunds;
    to.list("refund_ids", refunds, [](const RefundRow& r) { return r.id; })
        .list("refund_lines", refunds, [](const RefundRow& r) { return r.line; })
        .list("refund_versions", refunds, [](const RefundRow& r) { return r.version; })
        .list("refund_stated", refunds, [](const RefundRow& r) { return r.stated; })
        .list("refund_at", refunds, [](const RefundRow& r) { return r.refunded_at; })
        .list("refund_amounts", refunds, [](const RefundRow& r) { return r.amount; })
        .list("refund_taxes", refunds, [](const RefundRow& r) { return r.tax; })
        .list("refund_quantities", refunds, [](const RefundRow& r) { return r.quantity; });
}

void order_columns(const OrderState& state, Columns& to) {
    payload_columns(state, to);
    to("statements_count", state.statements_count)("flags", state.flags)(
        "anomalies_showing", state.anomalies_showing)("anomalies_acknowledged",
                                                      state.anomalies_acknowledged)(
        "live", state.live ? std::optional(*state.live + 1) : std::nullopt);
    attribution_columns(state, to);
    money_columns(state, to);
    to("last_applied", state.last_applied)("last_node", state.last_node)
        .list("events", state.events, event_text)("events_count", state.events_count)(
            "duplicates_count", state.duplicates_count)
        .list("other_groups", state.other_groups, [](std::uint64_t group) { return group; })(
            "changes_count", state.changes_count);
}

bool order_text(std::string_view key, std::string_view value, RowText& text) {
    OrderState state;
    if (!OrderValue::decode_key(key, value, state.key)) {
        return false;
    }
    Columns(text.key)("account", state.key.account)("shop", state.key.shop)("order_id",
                                                                            state.key.order_id);
    OrderValue values;
    if (!values.decode(key, value, state)) {
        return false;
    }
    Columns columns(text.rest);
    order_columns(state, columns);
    return true;
}

bool stored_event_text(std::string_view key, std::string_view value, RowText& text) {
    OrderKey order;
    EventTrace event;
    std::uint64_t seq = 0;
    std::uint32_t node = 0;
    if (!parse_event_key(key, order, seq, node) ||
        !RowValue::decode_event(key, value, order, event)) {
        return false;
    }
    Columns(text.key)("account", order.account)("shop", order.shop)("order_id", order.order_id)(
        "seq", seq)("node", node);
    Columns(text.rest)("event", event_text(event));
    return true;
}

// ---- Products -----------------------------------------------------------------------------------

bool catalog_text(std::string_view key, std::string_view value, RowText& text) {
    CatalogRecord record;
    if (!parse_catalog_key(key, record.key) || !RowValue::decode(key, value, record)) {
        return false;
    }
    Columns(text.key)("account", record.key.account)("shop", record.key.shop)(
        "product_id", record.key.product_id)("language", record.key.language)("country",
                                                                              record.key.country);
    Columns(text.rest)("record", record.json)("brand", record.brand)
        .list("collections", record.collections, same)
        .list("tags", record.tags, same)
        .list("variant_skus", record.variant_skus, same);
    return true;
}

bool variant_text(std::string_view key, std::string_view value, RowText& text) {
    LedgerKeyParser parser(key);
    Columns columns(text.key);
    columns("account", parser.u32())("shop", parser.u32())(
        "variant_sku", std::string(parser.id(kIdBytesWholeVariant).value_or("(long)")))(
        "language", std::string(parser.code2()))("country", std::string(parser.code2()));
    ProductId product(parser.id(kIdBytesWholeVariant).value_or(std::string_view{}));
    if (!parser.complete() || !RowValue::decode_variant(key, value, product)) {
        return false;
    }
    columns("product_id", product);
    return true;
}

// ---- Indexes: rows without columns --------------------------------------------------------------

bool shop_id_text(std::string_view key, RowText& text) {
    LedgerKeyParser parser(key);
    Columns(text.key)("shop_id", std::string(parser.id(kIdBytesWhole).value_or("(long)")))(
        "shop", parser.u32());
    return parser.complete();
}

bool digest_text(std::string_view key, RowText& text) {
    LedgerKeyParser parser(key);
    Columns(text.key)("account", parser.u32())("shop", parser.u32())(
        "order_id", std::string(parser.id(kIdBytesWhole).value_or("(long)")))(
        "topic", unsigned{parser.u8()})("digest", bytes_text(parser.bytes(sizeof(EventDigest))));
    return parser.complete();
}

bool dated_text(std::string_view key, RowText& text) {
    LedgerKeyParser parser(key);
    Columns(text.key)("account", parser.u32())("creator", std::string(parser.text()))(
        "accounting", parser.instant())("node", parser.u32())("first_entry", parser.u64());
    return parser.complete();
}

bool own_text(Table table, std::string_view key, std::string_view value, RowText& text) {
    switch (table) {
        case Table::kHeads:
            return head_text(key, value, text);
        case Table::kChains:
            return chain_text(key, value, text);
        case Table::kShopIds:
            return shop_id_text(key, text);
        case Table::kOrders:
            return order_text(key, value, text);
        case Table::kEvents:
            return stored_event_text(key, value, text);
        case Table::kEventDigests:
            return digest_text(key, text);
        case Table::kJournal:
            return group_text(key, value, text);
        case Table::kCreatorJournal:
            return dated_text(key, text);
        case Table::kBalances:
            return balance_text(key, value, text);
        case Table::kCatalog:
            return catalog_text(key, value, text);
        case Table::kVariants:
            return variant_text(key, value, text);
        case Table::kChangedOrders:
        case Table::kOrderChanges:
            break;  // rows of orders include them
    }
    return false;
}

}  // namespace

std::string columns_text(const std::vector<ColumnText>& columns) {
    return joined(columns, ", ", [](const ColumnText& column) {
        return column.name + (" " + column.text.value_or("-"));
    });
}

RowText row_text(Table table, std::string_view key, std::string_view value, const TextForm& form) {
    RowText text;
    const auto number = static_cast<std::size_t>(table);
    text.is_sound = number < kOwnTables.size()
                        ? own_text(table, key, value, text)
                        : described_text(described_tables()[number - kOwnTables.size()], key, value,
                                         form, text);
    if (!text.is_sound) {
        text.rest.clear();
    }
    if (text.key.empty()) {
        text.key.push_back({"key", bytes_text(key)});
    }
    return text;
}

}  // namespace sluice::store
