#include "pg_store/ledger/order_row.hpp"

#include <algorithm>
#include <array>

#include "core/ledger/failure.hpp"
#include "core/ledger/row_name.hpp"
#include "pg_store/ledger/packed_rows.hpp"

namespace sluice::pg {
namespace {

constexpr std::array kColumns{"version_s",
                              "version_ns",
                              "ordered_s",
                              "ordered_ns",
                              "cancelled_s",
                              "cancelled_ns",
                              "currency",
                              "amount",
                              "tax",
                              "shipping",
                              "as_sent",
                              "codes",
                              "anon",
                              "line_ids",
                              "line_skus",
                              "line_variant_skus",
                              "line_amounts",
                              "line_taxes",
                              "line_quantities",
                              "line_present",
                              "line_commissions",
                              "line_rates",
                              "rate_kinds",
                              "rate_values",
                              "rate_currencies",
                              "rate_bases",
                              "rate_matches",
                              "rate_programs",
                              "rate_rules",
                              "refund_ids",
                              "refund_lines",
                              "refund_versions_s",
                              "refund_versions_ns",
                              "refund_stated",
                              "refund_at_s",
                              "refund_at_ns",
                              "refund_amounts",
                              "refund_taxes",
                              "refund_quantities",
                              "statements_count",
                              "program",
                              "creator",
                              "attribution_types",
                              "attributed_by",
                              "attributed_topic",
                              "attributed_s",
                              "attributed_ns",
                              "candidates",
                              "due_currencies",
                              "due_amounts",
                              "due_manual",
                              "due_settled",
                              "paid_currency",
                              "paid_amount",
                              "payout_id",
                              "last_applied",
                              "events",
                              "events_count",
                              "duplicates_count",
                              "other_groups"};

// ---- Arrays -------------------------------------------------------------------------------------

template <class Range, class Get>
void texts(RowWriter& row, const Range& range, Get&& get) {
    row.array(Type::kText, range, [&](RowWriter& out, const auto& item) { out.text(get(item)); });
}
template <class Range, class Get>
void amounts(RowWriter& row, const Range& range, Get&& get) {
    row.array(Type::kNumeric, range,
              [&](RowWriter& out, const auto& item) { out.numeric(get(item)); });
}
template <class Range, class Get>
void shorts(RowWriter& row, const Range& range, Get&& get) {
    row.array(Type::kInt2, range, [&](RowWriter& out, const auto& item) {
        out.i2(static_cast<std::int16_t>(get(item)));
    });
}
template <class Range, class Get>
void integers(RowWriter& row, const Range& range, Get&& get) {
    row.array(Type::kInt4, range, [&](RowWriter& out, const auto& item) { out.u4(get(item)); });
}
template <class Range, class Get>
void longs(RowWriter& row, const Range& range, Get&& get) {
    row.array(Type::kInt8, range, [&](RowWriter& out, const auto& item) {
        out.i8(static_cast<std::int64_t>(get(item)));
    });
}

/// Calls set(item, element) for each element; the first array of a list says how long it is.
template <class Item, class Set>
void read_first(RowReader& row, std::vector<Item>& items, Set&& set) {
    const std::vector<Field> elements = row.elements();
    items.clear();
    items.resize(elements.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        set(items[i], elements[i]);
    }
}
template <class Item, class Set>
void read_next(RowReader& row, std::vector<Item>& items, Set&& set) {
    const std::vector<Field> elements = row.elements();
    if (elements.size() != items.size()) {
        throw_damaged("lists that belong together differ in length");
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        set(items[i], elements[i]);
    }
}

template <class Id>
Id id_of(const Field& field) {
    return Id(to_text(field));
}
std::uint32_t u4_of(const Field& field) {
    return static_cast<std::uint32_t>(to_integer(field));
}

// ---- Amounts as sent ----------------------------------------------------------------------------

Decimal parsed(const std::string& text) {
    return Decimal::parse(text).value_or(Decimal());
}

void encode_totals(const OrderState& state, RowWriter& row) {
    const std::array sent{&state.amount, &state.tax, &state.shipping};
    bool plain = true;
    for (const std::string* text : sent) {
        const Decimal value = parsed(*text);
        row.numeric(value);
        plain = plain && value.to_string() == *text;
    }
    if (plain) {
        row.null();
    } else {
        texts(row, sent, [](const std::string* text) { return std::string_view(*text); });
    }
}

void decode_totals(RowReader& row, OrderState& state) {
    const std::array totals{&state.amount, &state.tax, &state.shipping};
    for (std::string* text : totals) {
        *text = row.numeric().to_string();
    }
    const std::vector<Field> sent = row.elements();
    for (std::size_t i = 0; i < std::min(sent.size(), totals.size()); ++i) {
        *totals[i] = to_text(sent[i]);
    }
}

// ---- Lines and their rates ----------------------------------------------------------------------

void encode_rates(const std::vector<FrozenRate>& rates, RowWriter& row) {
    shorts(row, rates, [](const FrozenRate& rate) { return rate.rate.kind; });
    amounts(row, rates, [](const FrozenRate& rate) { return rate.rate.value; });
    texts(row, rates, [](const FrozenRate& rate) {
        return rate.rate.kind == RateKind::kFixed ? rate.rate.currency.code() : std::string_view();
    });
    shorts(row, rates, [](const FrozenRate& rate) { return rate.base; });
    shorts(row, rates, [](const FrozenRate& rate) { return rate.match; });
    integers(row, rates, [](const FrozenRate& rate) { return rate.program_version; });
    integers(row, rates, [](const FrozenRate& rate) { return rate.rule; });
}

std::vector<FrozenRate> decode_rates(RowReader& row) {
    std::vector<FrozenRate> rates;
    read_first(row, rates, [](FrozenRate& rate, const Field& field) {
        rate.rate.kind = to_enum<RateKind>(field);
    });
    read_next(row, rates,
              [](FrozenRate& rate, const Field& field) { rate.rate.value = to_decimal(field); });
    read_next(row, rates, [](FrozenRate& rate, const Field& field) {
        if (!to_text(field).empty()) {
            rate.rate.currency = to_currency(field);
        }
    });
    read_next(row, rates,
              [](FrozenRate& rate, const Field& field) { rate.base = to_enum<BaseKind>(field); });
    read_next(row, rates,
              [](FrozenRate& rate, const Field& field) { rate.match = to_enum<RuleMatch>(field); });
    read_next(row, rates,
              [](FrozenRate& rate, const Field& field) { rate.program_version = u4_of(field); });
    read_next(row, rates, [](FrozenRate& rate, const Field& field) { rate.rule = u4_of(field); });
    return rates;
}

void encode_lines(const OrderState& state, RowWriter& row) {
    std::vector<FrozenRate> rates;
    const auto rate_number = [&rates](const FrozenRate& rate) {
        auto found = std::find(rates.begin(), rates.end(), rate);
        if (found == rates.end()) {
            found = rates.insert(rates.end(), rate);
        }
        return static_cast<std::int32_t>(found - rates.begin()) + 1;
    };
    const std::vector<OrderLine>& lines = state.lines;
    texts(row, lines, [](const OrderLine& line) { return line.id.view(); });
    texts(row, lines, [](const OrderLine& line) { return line.sku.view(); });
    row.array(Type::kText, lines, [](RowWriter& out, const OrderLine& line) {
        line.variant_sku ? out.text(line.variant_sku->view()) : out.null();
    });
    amounts(row, lines, [](const OrderLine& line) { return line.amount; });
    amounts(row, lines, [](const OrderLine& line) { return line.tax; });
    integers(row, lines, [](const OrderLine& line) { return line.quantity; });
    row.array(Type::kBool, lines,
              [](RowWriter& out, const OrderLine& line) { out.boolean(line.present); });
    amounts(row, lines, [](const OrderLine& line) { return line.commission; });
    row.array(Type::kInt4, lines, [&](RowWriter& out, const OrderLine& line) {
        line.frozen ? out.i4(rate_number(*line.frozen)) : out.null();
    });
    encode_rates(rates, row);
}

void decode_lines(RowReader& row, std::vector<OrderLine>& lines) {
    read_first(row, lines, [](OrderLine& line, const Field& f) { line.id = id_of<LineItemId>(f); });
    read_next(row, lines, [](OrderLine& line, const Field& f) { line.sku = id_of<Sku>(f); });
    read_next(row, lines, [](OrderLine& line, const Field& f) {
        line.variant_sku.reset();
        if (f) {
            line.variant_sku = id_of<VariantSku>(f);
        }
    });
    read_next(row, lines, [](OrderLine& line, const Field& f) { line.amount = to_decimal(f); });
    read_next(row, lines, [](OrderLine& line, const Field& f) { line.tax = to_decimal(f); });
    read_next(row, lines, [](OrderLine& line, const Field& f) { line.quantity = u4_of(f); });
    read_next(row, lines, [](OrderLine& line, const Field& f) { line.present = to_boolean(f); });
    read_next(row, lines, [](OrderLine& line, const Field& f) { line.commission = to_decimal(f); });
    const std::vector<Field> numbers = row.elements();
    const std::vector<FrozenRate> rates = decode_rates(row);
    if (numbers.size() != lines.size()) {
        throw_damaged("lists that belong together differ in length");
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (numbers[i]) {
            const std::uint64_t number = to_count(numbers[i]);
            if (number == 0 || number > rates.size()) {
                throw_damaged("a line has no such rate");
            }
            lines[i].frozen = rates[number - 1];
        }
    }
}

// ---- Refunds ------------------------------------------------------------------------------------

void encode_refunds(const OrderState& state, RowWriter& row) {
    const std::vector<RefundRow>& refunds = state.refunds;
    texts(row, refunds, [](const RefundRow& refund) { return refund.id.view(); });
    texts(row, refunds, [](const RefundRow& refund) { return refund.line.view(); });
    longs(row, refunds, [](const RefundRow& refund) { return refund.version.seconds; });
    integers(row, refunds, [](const RefundRow& refund) { return refund.version.nanos; });
    longs(row, refunds, [](const RefundRow& refund) { return refund.stated; });
    longs(row, refunds, [](const RefundRow& refund) { return refund.refunded_at.seconds; });
    integers(row, refunds, [](const RefundRow& refund) { return refund.refunded_at.nanos; });
    amounts(row, refunds, [](const RefundRow& refund) { return refund.amount; });
    amounts(row, refunds, [](const RefundRow& refund) { return refund.tax; });
    integers(row, refunds, [](const RefundRow& refund) { return refund.quantity; });
    row.u8(state.statements_count);
}

void decode_refunds(RowReader& row, OrderState& state) {
    std::vector<RefundRow>& refunds = state.refunds;
    read_first(row, refunds,
               [](RefundRow& r, const Field& f) { r.id = id_of<RefundLineItemId>(f); });
    read_next(row, refunds, [](RefundRow& r, const Field& f) { r.line = id_of<LineItemId>(f); });
    read_next(row, refunds,
              [](RefundRow& r, const Field& f) { r.version.seconds = to_integer(f); });
    read_next(row, refunds, [](RefundRow& r, const Field& f) {
        r.version.nanos = u4_of(f);
        check(r.version);
    });
    read_next(row, refunds, [](RefundRow& r, const Field& f) { r.stated = to_count(f); });
    read_next(row, refunds,
              [](RefundRow& r, const Field& f) { r.refunded_at.seconds = to_integer(f); });
    read_next(row, refunds, [](RefundRow& r, const Field& f) {
        r.refunded_at.nanos = u4_of(f);
        check(r.refunded_at);
    });
    read_next(row, refunds, [](RefundRow& r, const Field& f) { r.amount = to_decimal(f); });
    read_next(row, refunds, [](RefundRow& r, const Field& f) { r.tax = to_decimal(f); });
    read_next(row, refunds, [](RefundRow& r, const Field& f) { r.quantity = u4_of(f); });
    state.statements_count = row.u8();
}

// ---- Attribution --------------------------------------------------------------------------------

void encode_attribution(const std::optional<Attribution>& attribution, RowWriter& row) {
    if (!attribution) {
        for (int i = 0; i < 8; ++i) {
            row.null();
        }
        return;
    }
    row.text(attribution->program.view()).text(attribution->creator.view());
    row.i2(attribution->types).u8(attribution->cause.value);
    row.i2(static_cast<std::int16_t>(attribution->cause_topic)).instant(attribution->at);
    row.bytes(pack_candidates(attribution->candidates));
}

std::optional<Attribution> decode_attribution(RowReader& row) {
    if (row.next_is_null()) {
        row.skip(8);
        return std::nullopt;
    }
    Attribution attribution;
    attribution.program = ProgramId(row.text());
    attribution.creator = CreatorId(row.text());
    attribution.types = static_cast<std::uint8_t>(row.u4());
    attribution.cause = {row.u8()};
    attribution.cause_topic = to_enum<Topic>(row.next());
    attribution.at = row.instant();
    attribution.candidates = unpack_candidates(row.text());
    return attribution;
}

// ---- What is due --------------------------------------------------------------------------------

void encode_dues(const OrderState& state, RowWriter& row) {
    texts(row, state.dues, [](const OrderDue& due) { return due.currency.code(); });
    amounts(row, state.dues, [](const OrderDue& due) { return due.due; });
    amounts(row, state.dues, [](const OrderDue& due) { return due.manual; });
    amounts(row, state.dues, [](const OrderDue& due) { return due.settled; });
    if (state.paid) {
        row.text(state.paid->currency.code()).numeric(state.paid->amount);
        row.text(state.paid->payout_id);
    } else {
        row.null().null().null();
    }
}

void decode_dues(RowReader& row, OrderState& state) {
    read_first(row, state.dues,
               [](OrderDue& due, const Field& f) { due.currency = to_currency(f); });
    read_next(row, state.dues, [](OrderDue& due, const Field& f) { due.due = to_decimal(f); });
    read_next(row, state.dues, [](OrderDue& due, const Field& f) { due.manual = to_decimal(f); });
    read_next(row, state.dues, [](OrderDue& due, const Field& f) { due.settled = to_decimal(f); });
    state.paid.reset();
    if (row.next_is_null()) {
        row.skip(3);
        return;
    }
    state.paid.emplace().currency = row.currency();
    state.paid->amount = row.numeric();
    state.paid->payout_id = row.text();
}

}  // namespace

// ---- The row ------------------------------------------------------------------------------------

const std::string& order_columns() {
    static const std::string columns = [] {
        std::string list;
        for (const char* column : kColumns) {
            list += list.empty() ? column : std::string(", ") + column;
        }
        return list;
    }();
    return columns;
}

std::size_t order_columns_count() {
    return kColumns.size();
}

void encode_order(const OrderState& state, RowWriter& row) {
    row.instant(state.version).instant(state.ordered_at).instant(state.cancelled_at);
    row.text(state.currency.code());
    encode_totals(state, row);
    texts(row, state.codes, [](const std::string& code) { return std::string_view(code); });
    state.anon ? row.digest(*state.anon) : row.null();
    encode_lines(state, row);
    encode_refunds(state, row);
    encode_attribution(state.attribution, row);
    encode_dues(state, row);
    row.u8(state.last_applied.value);
    row.bytes(pack_events(state.events.data(), state.events.size()));
    row.u8(state.events_count).u8(state.duplicates_count);
    longs(row, state.other_groups, [](std::uint64_t entry) { return entry; });
}

namespace {

void read_fields(RowReader& row, OrderState& state) {
    state.version = row.instant();
    state.ordered_at = row.instant();
    state.cancelled_at = row.instant_or_null();
    state.currency = row.currency();
    decode_totals(row, state);
    state.codes = row.strings();
    state.anon.reset();
    if (const Field anon = row.next()) {
        state.anon = to_digest<Digest256>(anon);
    }
    decode_lines(row, state.lines);
    decode_refunds(row, state);
    state.attribution = decode_attribution(row);
    decode_dues(row, state);
    state.last_applied = {row.u8()};
    unpack_events(row.text(), state.events);
    state.events_count = row.u8();
    state.duplicates_count = row.u8();
    read_first(row, state.other_groups,
               [](std::uint64_t& entry, const Field& f) { entry = to_count(f); });
}

}  // namespace

void decode_order(RowReader& row, OrderState& state) {
    try {
        read_fields(row, state);
    } catch (const DamagedField& damaged) {
        throw DamagedRow(row_name("orders", state.key), damaged.wrong, state.key);
    }
}

}  // namespace sluice::pg
