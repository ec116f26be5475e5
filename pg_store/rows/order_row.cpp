#include "pg_store/rows/order_row.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/ledger/failure.hpp"
#include "core/ledger/table.hpp"
#include "pg_store/rows/list_columns.hpp"
#include "pg_store/rows/position_row.hpp"
#include "pg_store/rows/rows.hpp"

namespace sluice::pg {
namespace {

/// Columns before and after those of the positions.
constexpr std::array kColumnsBefore{
    "version_s",
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
    "device",
    "device_version_s",
    "device_version_ns",
    "customer",
    "plausible_version_s",
    "plausible_version_ns",
    "line_ids",
    "line_skus",
    "line_variant_skus",
    "line_amounts",
    "line_taxes",
    "line_quantities",
    "line_present",
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
    "flags",
    "anomalies_showing",
    "anomalies_acknowledged",
    "live",
};
constexpr std::array kColumnsBehind{
    "last_applied",     "last_node",    "events",        "events_count",
    "duplicates_count", "other_groups", "changes_count",
};

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
        const Decimal number = parsed(*totals[i]);
        *totals[i] = to_text(sent[i]);
        if (parsed(*totals[i]) != number) {
            throw_damaged("a total is " + number.to_string() + ", and " + *totals[i] +
                          " as it was sent");
        }
    }
}

// ---- Lines --------------------------------------------------------------------------------------

void encode_lines(const std::vector<OrderLine>& lines, RowWriter& row) {
    texts(row, lines, [](const OrderLine& line) { return line.id.view(); });
    texts(row, lines, [](const OrderLine& line) { return line.sku.view(); });
    list(Type::kText, row, lines, [](RowWriter& out, const OrderLine& line) {
        line.variant_sku ? out.text(line.variant_sku->view()) : out.null();
    });
    amounts(row, lines, [](const OrderLine& line) { return line.amount; });
    amounts(row, lines, [](const OrderLine& line) { return line.tax; });
    integers(row, lines, [](const OrderLine& line) { return line.quantity; });
    flags(row, lines, [](const OrderLine& line) { return line.present; });
}

void decode_lines(RowReader& row, std::vector<OrderLine>& lines) {
    read_first(row, lines, [](OrderLine& line, const Field& f) { line.id = id_of<LineItemId>(f); });
    read_next(row, lines, [](OrderLine& line, const Field& f) { line.sku = id_of<Sku>(f); });
    read_next(row, lines, [](OrderLine& line, const Field& f) {
        if (f) {
            line.variant_sku = id_of<VariantSku>(f);
        }
    });
    read_next(row, lines, [](OrderLine& line, const Field& f) { line.amount = to_decimal(f); });
    read_next(row, lines, [](OrderLine& line, const Field& f) { line.tax = to_decimal(f); });
    read_next(row, lines, [](OrderLine& line, const Field& f) { line.quantity = u4_of(f); });
    read_next(row, lines, [](OrderLine& line, const Field& f) { line.present = to_boolean(f); });
}

// ---- Refunds ------------------------------------------------------------------------------------

void encode_refunds(const std::vector<RefundRow>& refunds, RowWriter& row) {
    texts(row, refunds, [](const RefundRow& refund) { return refund.id.view(); });
    texts(row, refunds, [](const RefundRow& refund) { return refund.line.view(); });
    instants(row, refunds, [](const RefundRow& refund) { return refund.version; });
    longs(row, refunds, [](const RefundRow& refund) { return refund.stated; });
    instants(row, refunds, [](const RefundRow& refund) { return refund.refunded_at; });
    amounts(row, refunds, [](const RefundRow& refund) { return refund.amount; });
    amounts(row, refunds, [](const RefundRow& refund) { return refund.tax; });
    integers(row, refunds, [](const RefundRow& refund) { return refund.quantity; });
}

void decode_refunds(RowReader& row, std::vector<RefundRow>& refunds) {
    read_first(row, refunds,
               [](RefundRow& r, const Field& f) { r.id = id_of<RefundLineItemId>(f); });
    read_next(row, refunds, [](RefundRow& r, const Field& f) { r.line = id_of<LineItemId>(f); });
    read_next_instants(row, refunds, [](RefundRow& r) -> Timestamp& { return r.version; });
    read_next(row, refunds, [](RefundRow& r, const Field& f) { r.stated = to_count(f); });
    read_next_instants(row, refunds, [](RefundRow& r) -> Timestamp& { return r.refunded_at; });
    read_next(row, refunds, [](RefundRow& r, const Field& f) { r.amount = to_decimal(f); });
    read_next(row, refunds, [](RefundRow& r, const Field& f) { r.tax = to_decimal(f); });
    read_next(row, refunds, [](RefundRow& r, const Field& f) { r.quantity = u4_of(f); });
}

// ---- The row ------------------------------------------------------------------------------------

std::optional<Digest256> digest_or_null(RowReader& row) {
    const Field field = row.next();
    return field ? std::optional(to_digest<Digest256>(field)) : std::nullopt;
}

void write_digest(const std::optional<Digest256>& digest, RowWriter& row) {
    digest ? row.digest(*digest) : row.null();
}

std::optional<std::uint32_t> read_live(RowReader& row) {
    if (row.next_is_null()) {
        row.skip(1);
        return std::nullopt;
    }
    const std::uint64_t number = row.u8();
    if (number == 0 || number > UINT32_MAX) {
        throw_damaged("it has no position " + std::to_string(number));
    }
    return static_cast<std::uint32_t>(number - 1);
}

void read_fields(RowReader& row, OrderState& state) {
    state.version = row.instant();
    state.ordered_at = row.instant();
    state.cancelled_at = row.instant_or_null();
    state.currency = row.currency();
    decode_totals(row, state);
    state.codes = row.strings();
    state.device = digest_or_null(row);
    state.device_version = row.instant();
    state.customer = digest_or_null(row);
    state.plausible_version = row.instant_or_null();
    decode_lines(row, state.lines);
    decode_refunds(row, state.refunds);
    state.statements_count = row.u8();
    state.flags = u1_of(row.next());
    state.anomalies_showing = row.u4();
    state.anomalies_acknowledged = row.u4();
    state.live = read_live(row);
    decode_positions(row, state.positions);
    if (state.live && *state.live >= state.positions.size()) {
        throw_damaged("it has no position " + std::to_string(*state.live + 1));
    }
    state.last_applied = {row.u8()};
    state.last_node = row.u4();
    unpack_events(row.text(), state.events);
    state.events_count = row.u8();
    state.duplicates_count = row.u8();
    read_first(row, state.other_groups,
               [](std::uint64_t& entry, const Field& f) { entry = to_count(f); });
    state.changes_count = row.u8();
}

std::vector<const char*> all_columns() {
    std::vector<const char*> all(kColumnsBefore.begin(), kColumnsBefore.end());
    all.insert(all.end(), std::begin(kPositionColumns), std::end(kPositionColumns));
    all.insert(all.end(), kColumnsBehind.begin(), kColumnsBehind.end());
    return all;
}

}  // namespace

const std::string& order_columns() {
    static const std::string columns = [] {
        std::string names;
        for (const char* column : all_columns()) {
            names += names.empty() ? column : std::string(", ") + column;
        }
        return names;
    }();
    return columns;
}

std::size_t order_columns_count() {
    return kColumnsBefore.size() + std::size(kPositionColumns) + kColumnsBehind.size();
}

void encode_order(const OrderState& state, RowWriter& row) {
    row.instant(state.version).instant(state.ordered_at).instant(state.cancelled_at);
    row.text(state.currency.code());
    encode_totals(state, row);
    texts(row, state.codes, [](const std::string& code) { return std::string_view(code); });
    write_digest(state.device, row);
    row.instant(state.device_version);
    write_digest(state.customer, row);
    row.instant(state.plausible_version);
    encode_lines(state.lines, row);
    encode_refunds(state.refunds, row);
    row.u8(state.statements_count).i2(state.flags);
    row.u4(state.anomalies_showing).u4(state.anomalies_acknowledged);
    state.live ? row.u4(*state.live + 1) : row.null();
    encode_positions(state.positions, row);
    row.u8(state.last_applied.value).u4(state.last_node);
    row.bytes(pack_events(state.events.data(), state.events.size()));
    row.u8(state.events_count).u8(state.duplicates_count);
    longs(row, state.other_groups, [](std::uint64_t entry) { return entry; });
    row.u8(state.changes_count);
}

void decode_order(RowReader& row, OrderState& state) {
    try {
        read_fields(row, state);
    } catch (const DamagedField& damaged) {
        throw DamagedRow(row_name("orders", state.key),
                         std::string(row.last_name()) + ": " + damaged.wrong, state.key);
    }
}

}  // namespace sluice::pg
