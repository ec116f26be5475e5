#include "pg_store/ledger/rows.hpp"

#include <algorithm>

#include "core/ledger/row_name.hpp"

namespace sluice::pg {
namespace {

template <class Range>
void write_texts(RowWriter& row, const Range& range) {
    row.array(Type::kText, range, [](RowWriter& out, const auto& text) { out.text(text); });
}

template <class Enum>
void write_enum(RowWriter& row, Enum value) {
    row.i2(static_cast<std::int16_t>(value));
}

std::string_view currency_of(const Rate& rate) {
    return rate.kind == RateKind::kFixed ? rate.currency.code() : std::string_view();
}

Rate rate_of(const Field& kind, const Field& value, const Field& currency) {
    Rate rate;
    rate.kind = to_enum<RateKind>(kind);
    rate.value = to_decimal(value);
    if (rate.kind == RateKind::kFixed) {
        rate.currency = to_currency(currency);
    }
    if (!is_valid(rate)) {
        throw_damaged("a rate is " + rate.value.to_string());
    }
    return rate;
}

void same_size(std::size_t size, std::size_t expected) {
    if (size != expected) {
        throw_damaged("lists that belong together differ in length");
    }
}

}  // namespace

// ---- Head ---------------------------------------------------------------------------------------

namespace {

void read_fields(RowReader& row, NodeHead& node) {
    node.number = row.u4();
    LedgerHead& head = node.head;
    head.applied_seq = {row.u8()};
    head.next_entry = row.u8();
    head.next_work = row.u8();
    Totals& totals = head.totals;
    for (std::uint64_t* total :
         {&totals.applied, &totals.stale, &totals.duplicate, &totals.catalog, &totals.commands,
          &totals.dead, &totals.orders, &totals.journal_entries}) {
        *total = row.u8();
    }
    const std::vector<Field> anomalies = row.elements();
    for (std::size_t i = 0; i < std::min(anomalies.size(), totals.anomalies.size()); ++i) {
        totals.anomalies[i] = to_count(anomalies[i]);
    }
    if (node.number == 0 || head.next_entry == 0) {
        throw_damaged("a number is 0");
    }
}

}  // namespace

void read_head(RowReader& row, NodeHead& node) {
    read_named("table heads, node " + node.head.node, std::nullopt,
               [&] { read_fields(row, node); });
}

void write_head(const NodeHead& node, RowWriter& row) {
    const LedgerHead& head = node.head;
    const Totals& totals = head.totals;
    row.u4(node.number).u8(head.applied_seq.value).u8(head.next_entry).u8(head.next_work);
    for (const std::uint64_t total :
         {totals.applied, totals.stale, totals.duplicate, totals.catalog, totals.commands,
          totals.dead, totals.orders, totals.journal_entries}) {
        row.u8(total);
    }
    row.array(Type::kInt8, totals.anomalies,
              [](RowWriter& out, std::uint64_t count) { out.u8(count); });
}

// ---- Journal ------------------------------------------------------------------------------------

namespace {

void read_fields(RowReader& row, JournalGroup& group) {
    group.order.account = {row.u4()};
    group.order.shop = {row.u4()};
    group.order.order_id = OrderId(row.text());
    (void)row.u4();  // the node
    group.first_entry = row.u8();
    group.event_seq = {row.u8()};
    group.program = ProgramId(row.text());
    group.creator = CreatorId(row.text());
    group.recorded_at = row.instant();
    group.note = row.text();
    group.actor = row.text();
    const std::vector<Field> ids = row.elements();
    const std::vector<Field> currencies = row.elements();
    const std::vector<Field> amounts = row.elements();
    const std::vector<Field> reasons = row.elements();
    same_size(currencies.size(), ids.size());
    same_size(amounts.size(), ids.size());
    same_size(reasons.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        group.lines.push_back({LineItemId(to_text(ids[i])), to_currency(currencies[i]),
                               to_decimal(amounts[i]), to_enum<JournalReason>(reasons[i])});
    }
    group.hash = to_digest<Digest256>(row.next());
}

}  // namespace

JournalGroup read_journal(RowReader& row) {
    JournalGroup group;
    try {
        read_fields(row, group);
    } catch (const DamagedField& damaged) {
        throw DamagedRow(row_name("journal", group.order), damaged.wrong, group.order);
    }
    return group;
}

void write_journal(const JournalGroup& group, std::uint32_t node, RowWriter& row) {
    row.u4(group.order.account.value).u4(group.order.shop.value);
    row.text(group.order.order_id.view()).u4(node).u8(group.first_entry).u8(group.event_seq.value);
    row.text(group.program.view()).text(group.creator.view()).instant(group.recorded_at);
    row.text(clean_text(group.note)).text(clean_text(group.actor));
    row.array(Type::kText, group.lines,
              [](RowWriter& out, const JournalLine& line) { out.text(line.line.view()); });
    row.array(Type::kText, group.lines,
              [](RowWriter& out, const JournalLine& line) { out.text(line.currency.code()); });
    row.array(Type::kNumeric, group.lines,
              [](RowWriter& out, const JournalLine& line) { out.numeric(line.amount); });
    row.array(Type::kInt2, group.lines,
              [](RowWriter& out, const JournalLine& line) { write_enum(out, line.reason); });
    row.digest(group.hash);
}

namespace {

void read_fields(RowReader& row, ProgramRow& stored) {
    Program& program = stored.program;
    program.id = ProgramId(row.text());
    stored.version = row.u4();
    program.account = {row.u4()};
    program.account_id = AccountId(row.text());
    program.shops = row.strings();
    program.window_days = row.u4();
    program.base = to_enum<BaseKind>(row.next());
    program.precedence.clear();
    for (const Field& type : row.elements()) {
        program.precedence.push_back(to_enum<AttributionType>(type));
    }
    program.hold_days = row.u4();
    const Field kind = row.next();
    const Field value = row.next();
    program.default_rate = rate_of(kind, value, row.next());
    const std::vector<Field> matches = row.elements();
    const std::vector<std::string> texts = row.strings();
    const std::vector<Field> kinds = row.elements();
    const std::vector<Field> values = row.elements();
    const std::vector<Field> currencies = row.elements();
    for (const std::size_t size : {texts.size(), kinds.size(), values.size(), currencies.size()}) {
        same_size(size, matches.size());
    }
    for (std::size_t i = 0; i < matches.size(); ++i) {
        program.rules.push_back({to_enum<RuleMatch>(matches[i]), texts[i],
                                 rate_of(kinds[i], values[i], currencies[i])});
    }
    stored.applied_by = {row.u8()};
    stored.applied_at = row.instant();
}

}  // namespace

ProgramRow read_program(RowReader& row) {
    ProgramRow stored;
    try {
        read_fields(row, stored);
    } catch (const DamagedField& damaged) {
        throw DamagedRow("table programs, program " + stored.program.id.str(), damaged.wrong,
                         std::nullopt);
    }
    return stored;
}

void write_program(const ProgramRow& stored, RowWriter& row) {
    const Program& program = stored.program;
    row.text(program.id.view()).u4(stored.version).u4(program.account.value);
    row.text(program.account_id.view());
    write_texts(row, program.shops);
    row.u4(program.window_days);
    write_enum(row, program.base);
    row.array(Type::kInt2, program.precedence,
              [](RowWriter& out, AttributionType type) { write_enum(out, type); });
    row.u4(program.hold_days);
    write_enum(row, program.default_rate.kind);
    row.numeric(program.default_rate.value).text(currency_of(program.default_rate));
    const std::vector<Rule>& rules = program.rules;
    row.array(Type::kInt2, rules,
              [](RowWriter& out, const Rule& rule) { write_enum(out, rule.match); });
    row.array(Type::kText, rules, [](RowWriter& out, const Rule& rule) { out.text(rule.value); });
    row.array(Type::kInt2, rules,
              [](RowWriter& out, const Rule& rule) { write_enum(out, rule.rate.kind); });
    row.array(Type::kNumeric, rules,
              [](RowWriter& out, const Rule& rule) { out.numeric(rule.rate.value); });
    row.array(Type::kText, rules,
              [](RowWriter& out, const Rule& rule) { out.text(currency_of(rule.rate)); });
    row.u8(stored.applied_by.value).instant(stored.applied_at);
}

// ---- Catalog ------------------------------------------------------------------------------------

namespace {

void read_fields(RowReader& row, CatalogRecord& record) {
    record.key.account = {row.u4()};
    record.key.shop = {row.u4()};
    record.key.product_id = ProductId(row.text());
    record.key.language = row.text();
    record.key.country = row.text();
    if (const Field full_id = row.next()) {
        record.key.product_id = ProductId(*full_id);
    }
    record.json = row.text();
    record.brand = row.string_or_null();
    record.collections = row.strings();
    record.tags = row.strings();
    record.variant_skus = row.strings();
}

}  // namespace

CatalogRecord read_catalog(RowReader& row) {
    CatalogRecord record;
    try {
        read_fields(row, record);
    } catch (const DamagedField& damaged) {
        throw DamagedRow("table catalog, account " + std::to_string(record.key.account.value) +
                             ", shop " + std::to_string(record.key.shop.value) + ", product " +
                             record.key.product_id.str(),
                         damaged.wrong, std::nullopt);
    }
    return record;
}

void write_catalog(const CatalogRecord& record, RowWriter& row) {
    const std::string_view id = record.key.product_id.view();
    row.u4(record.key.account.value).u4(record.key.shop.value).text(key_text(id));
    row.text(record.key.language).text(record.key.country);
    id.size() > kKeyTextBytesMax ? row.text(id) : row.null();
    row.text(record.json).text_or_null(record.brand);
    write_texts(row, record.collections);
    write_texts(row, record.tags);
    write_texts(row, record.variant_skus);
}

// ---- Small tables -------------------------------------------------------------------------------

namespace {

void read_fields(RowReader& row, Payout& payout) {
    payout.account = {row.u4()};
    payout.payout_id = row.text();
    payout.program = ProgramId(row.text());
    payout.creator = CreatorId(row.text());
    payout.currency = row.currency();
    payout.amount = row.numeric();
    payout.until = row.instant();
    payout.closed_at = row.instant();
    payout.orders_count = row.u8();
    payout.actor = row.text();
}

}  // namespace

Payout read_payout(RowReader& row) {
    Payout payout;
    try {
        read_fields(row, payout);
    } catch (const DamagedField& damaged) {
        throw DamagedRow("table payouts, payout " + payout.payout_id, damaged.wrong, std::nullopt);
    }
    return payout;
}

void write_payout(const Payout& payout, RowWriter& row) {
    row.u4(payout.account.value).text(payout.payout_id).text(payout.program.view());
    row.text(payout.creator.view()).text(payout.currency.code()).numeric(payout.amount);
    row.instant(payout.until).instant(payout.closed_at).u8(payout.orders_count);
    row.text(clean_text(payout.actor));
}

}  // namespace sluice::pg
