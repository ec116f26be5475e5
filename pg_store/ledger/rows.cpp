#include "pg_store/ledger/rows.hpp"

#include <algorithm>

namespace sluice::pg {
namespace {

template <class Range>
void write_texts(RowWriter& row, const Range& range) {
    row.array(Type::kText, range, [](RowWriter& out, const auto& text) { out.text(text); });
}

AccountNumber read_account(RowReader& row) {
    return {row.u4()};
}

template <class Enum>
Enum read_enum(RowReader& row) {
    return static_cast<Enum>(row.u4());
}

template <class Enum>
void write_enum(RowWriter& row, Enum value) {
    row.i2(static_cast<std::int16_t>(value));
}

std::optional<Digest256> read_digest_or_null(RowReader& row) {
    const Field field = row.next();
    return field ? std::optional(to_digest<Digest256>(field)) : std::nullopt;
}

std::string_view currency_of(const Rate& rate) {
    return rate.kind == RateKind::kFixed ? rate.currency.code() : std::string_view();
}

Rate rate_of(const Field& kind, const Field& value, const Field& currency) {
    Rate rate;
    rate.kind = static_cast<RateKind>(to_integer(kind));
    rate.value = to_decimal(value);
    if (rate.kind == RateKind::kFixed) {
        rate.currency = to_currency(currency);
    }
    return rate;
}

}  // namespace

// ---- Head ---------------------------------------------------------------------------------------

void read_head(RowReader& row, NodeHead& node) {
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
        totals.anomalies[i] = static_cast<std::uint64_t>(to_integer(anomalies[i]));
    }
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

ShopRow read_shop(RowReader& row) {
    ShopRow shop;
    shop.account = read_account(row);
    shop.shop = {row.u4()};
    shop.account_id = AccountId(row.text());
    shop.shop_id = ShopId(row.text());
    return shop;
}

void write_shop(const ShopRow& shop, RowWriter& row) {
    row.u4(shop.account.value).u4(shop.shop.value);
    row.text(shop.account_id.view()).text(shop.shop_id.view());
}

// ---- Journal, anomalies, open amounts -----------------------------------------------------------

JournalGroup read_journal(RowReader& row) {
    JournalGroup group;
    group.order.account = read_account(row);
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
    if (currencies.size() != ids.size() || amounts.size() != ids.size() ||
        reasons.size() != ids.size()) {
        throw_damaged();
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
        group.lines.push_back({LineItemId(to_text(ids[i])), to_currency(currencies[i]),
                               to_decimal(amounts[i]),
                               static_cast<JournalReason>(to_integer(reasons[i]))});
    }
    group.hash = to_digest<Digest256>(row.next());
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

Anomaly read_anomaly(RowReader& row) {
    Anomaly anomaly;
    anomaly.order.account = read_account(row);
    anomaly.order.shop = {row.u4()};
    anomaly.order.order_id = OrderId(row.text());
    anomaly.kind = read_enum<AnomalyKind>(row);
    anomaly.first_seq = {row.u8()};
    anomaly.recorded_at = row.instant();
    anomaly.count = row.u8();
    anomaly.message = row.text();
    return anomaly;
}

OpenAmount read_open(RowReader& row) {
    OpenAmount open;
    open.account = read_account(row);
    open.program = ProgramId(row.text());
    open.adjustment = row.boolean();
    open.ordered_at = row.instant();
    open.shop = {row.u4()};
    open.order_id = OrderId(row.text());
    open.currency = row.currency();
    open.creator = CreatorId(row.text());
    open.amount = row.numeric();
    return open;
}

// ---- What attributes ----------------------------------------------------------------------------

CodeRow read_code(RowReader& row) {
    CodeRow code;
    code.account = read_account(row);
    code.digest = to_digest<Digest256>(row.next());
    code.program = ProgramId(row.text());
    code.code = row.text();
    code.creator = CreatorId(row.text());
    return code;
}

void write_code(const CodeRow& code, RowWriter& row) {
    row.u4(code.account.value).digest(code.digest).text(code.program.view());
    row.text(clean_text(code.code)).text(code.creator.view());
}

Membership read_membership(RowReader& row) {
    Membership member;
    member.account = read_account(row);
    member.program = ProgramId(row.text());
    member.creator = CreatorId(row.text());
    member.removed = row.boolean();
    member.changed_by = {row.u8()};
    return member;
}

void write_membership(const Membership& member, RowWriter& row) {
    row.u4(member.account.value).text(member.program.view()).text(member.creator.view());
    row.boolean(member.removed).u8(member.changed_by.value);
}

Touch read_touch(RowReader& row) {
    Touch touch;
    touch.account = read_account(row);
    touch.anon = to_digest<Digest256>(row.next());
    touch.program = ProgramId(row.text());
    touch.occurred_at = row.instant();
    touch.creator = CreatorId(row.text());
    touch.imported = {row.u8()};
    touch.imported_row = row.u4();
    return touch;
}

ProgramRow read_program(RowReader& row) {
    ProgramRow stored;
    Program& program = stored.program;
    program.id = ProgramId(row.text());
    stored.version = row.u4();
    program.account = read_account(row);
    program.account_id = AccountId(row.text());
    program.shops = row.strings();
    program.window_days = row.u4();
    program.base = read_enum<BaseKind>(row);
    program.precedence.clear();
    for (const Field& type : row.elements()) {
        program.precedence.push_back(static_cast<AttributionType>(to_integer(type)));
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
    if (texts.size() != matches.size() || kinds.size() != matches.size() ||
        values.size() != matches.size() || currencies.size() != matches.size()) {
        throw_damaged();
    }
    for (std::size_t i = 0; i < matches.size(); ++i) {
        program.rules.push_back({static_cast<RuleMatch>(to_integer(matches[i])), texts[i],
                                 rate_of(kinds[i], values[i], currencies[i])});
    }
    stored.applied_by = {row.u8()};
    stored.applied_at = row.instant();
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

CatalogRecord read_catalog(RowReader& row) {
    CatalogRecord record;
    record.key.account = read_account(row);
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

Payout read_payout(RowReader& row) {
    Payout payout;
    payout.account = read_account(row);
    payout.payout_id = row.text();
    payout.program = ProgramId(row.text());
    payout.creator = CreatorId(row.text());
    payout.currency = row.currency();
    payout.amount = row.numeric();
    payout.until = row.instant();
    payout.closed_at = row.instant();
    payout.orders_count = row.u8();
    payout.actor = row.text();
    return payout;
}

void write_payout(const Payout& payout, RowWriter& row) {
    row.u4(payout.account.value).text(payout.payout_id).text(payout.program.view());
    row.text(payout.creator.view()).text(payout.currency.code()).numeric(payout.amount);
    row.instant(payout.until).instant(payout.closed_at).u8(payout.orders_count);
    row.text(clean_text(payout.actor));
}

CommandRow read_command(RowReader& row) {
    CommandRow command;
    command.seq = {row.u8()};
    command.topic = read_enum<Topic>(row);
    command.actor = row.text();
    command.received_at = row.instant();
    command.ok = row.boolean();
    command.result = row.text();
    return command;
}

void write_command(const CommandRow& command, RowWriter& row) {
    row.u8(command.seq.value);
    write_enum(row, command.topic);
    row.text(clean_text(command.actor)).instant(command.received_at).boolean(command.ok);
    row.text(clean_text(command.result));
}

DeadLetter read_dead(RowReader& row) {
    DeadLetter letter;
    letter.seq = {row.u8()};
    if (const Field topic = row.next()) {
        letter.topic = static_cast<Topic>(to_integer(topic));
    }
    letter.account = read_account(row);
    letter.shop = {row.u4()};
    letter.account_id = row.text();
    letter.shop_id = row.text();
    letter.received_at = row.instant();
    letter.reason = row.text();
    letter.attempts = row.u4();
    letter.record = row.text();
    letter.bulk_body = row.text();
    letter.body_sha256 = read_digest_or_null(row);
    return letter;
}

void write_dead(const DeadLetter& letter, RowWriter& row) {
    row.u8(letter.seq.value);
    letter.topic ? row.i2(static_cast<std::int16_t>(*letter.topic)) : row.null();
    row.u4(letter.account.value).u4(letter.shop.value);
    row.text(clean_text(letter.account_id)).text(clean_text(letter.shop_id));
    row.instant(letter.received_at).text(clean_text(letter.reason)).u4(letter.attempts);
    row.bytes(letter.record).bytes(letter.bulk_body);
    letter.body_sha256 ? row.digest(*letter.body_sha256) : row.null();
}

Work read_work(RowReader& row) {
    Work work;
    work.number = row.u8();
    work.whole_account = row.boolean();
    work.key.account = read_account(row);
    work.key.kind = read_enum<WaitKind>(row);
    work.key.digest = to_digest<Digest256>(row.next());
    const Field shop = row.next();
    const Field order = row.next();
    if (shop && order) {
        work.after = OrderKey{
            work.key.account, {static_cast<std::uint32_t>(to_integer(shop))}, OrderId(*order)};
    }
    work.cause = {row.u8()};
    work.cause_topic = read_enum<Topic>(row);
    work.received_at = row.instant();
    return work;
}

void write_work(const Work& work, RowWriter& row) {
    row.u8(work.number).boolean(work.whole_account).u4(work.key.account.value);
    write_enum(row, work.key.kind);
    row.digest(work.key.digest);
    if (work.after) {
        row.u4(work.after->shop.value).text(work.after->order_id.view());
    } else {
        row.null().null();
    }
    row.u8(work.cause.value);
    write_enum(row, work.cause_topic);
    row.instant(work.received_at);
}

}  // namespace sluice::pg
