#include "pg_store/rows/order_row.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "core/ledger/failure.hpp"
#include "core/ledger/table.hpp"
#include "core/values/lookup.hpp"
#include "core/values/texts.hpp"
#include "pg_store/rows/order_columns.hpp"
#include "pg_store/rows/rows.hpp"

namespace sluice::pg {
namespace {

// One list of columns for all directions: `columns` is a ColumnWriter for a const order, or a
// ColumnReader for an order to fill in.

// ---- Amounts as sent ----------------------------------------------------------------------------

Decimal parsed(const std::string& text) {
    return Decimal::parse(text).value_or(Decimal());
}

void totals(ColumnWriter& columns, const OrderState& state) {
    const std::array names{"amount", "tax", "shipping"};
    const std::vector sent{state.amount, state.tax, state.shipping};
    bool plain = true;
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const Decimal value = parsed(sent[i]);
        columns(names[i], value);
        plain = plain && value.to_string() == sent[i];
    }
    const std::vector<std::string> none;
    columns.list(plain ? none : sent)("as_sent", std::identity());
}

void totals(ColumnReader& columns, OrderState& state) {
    const std::array totals{&state.amount, &state.tax, &state.shipping};
    for (std::string* text : totals) {
        Decimal value;
        columns("", value);
        *text = value.to_string();
    }
    std::vector<std::string> sent;
    columns.list(sent)("as_sent", std::identity());
    for (std::size_t i = 0; i < std::min(sent.size(), totals.size()); ++i) {
        const Decimal number = parsed(*totals[i]);
        *totals[i] = sent[i];
        if (parsed(sent[i]) != number) {
            throw_damaged("a total is " + number.to_string() + ", and " + sent[i] +
                          " as it was sent");
        }
    }
}

// ---- Lines and refunds --------------------------------------------------------------------------

void line_columns(auto list) {
    list("line_ids", &OrderLine::id);
    list("line_skus", &OrderLine::sku);
    list("line_variant_skus", &OrderLine::variant_sku);
    list("line_amounts", &OrderLine::amount);
    list("line_taxes", &OrderLine::tax);
    list("line_quantities", &OrderLine::quantity);
    list("line_present", &OrderLine::present);
}

void refund_columns(auto list) {
    list("refund_ids", &RefundRow::id);
    list("refund_lines", &RefundRow::line);
    list("refund_versions", &RefundRow::version);
    list("refund_stated", &RefundRow::stated);
    list("refund_at", &RefundRow::refunded_at);
    list("refund_amounts", &RefundRow::amount);
    list("refund_taxes", &RefundRow::tax);
    list("refund_quantities", &RefundRow::quantity);
}

// ---- Positions ----------------------------------------------------------------------------------

void attribution_columns(auto& list) {
    list("position_programs", &Position::attribution, &Attribution::program);
    list("position_creators", &Position::attribution, &Attribution::creator);
    list("position_types", &Position::attribution, &Attribution::types);
    list("position_causes", &Position::attribution, &Attribution::cause);
    list("position_commands", &Position::attribution, &Attribution::command_id);
    list("position_topics", &Position::attribution, &Attribution::cause_topic);
    list("position_at", &Position::attribution, &Attribution::at);
    list("position_candidates", &Position::attribution, &Attribution::candidates);
}

void fact_columns(auto& list) {
    list.special(
        "position_volumes",
        [](ListText& out, const Position& p) {
            p.facts.volume ? out.add(p.facts.volume->amount) : out.add_missing();
        },
        [](Position& p, const ListValue& v) {
            if (!v.is_missing()) {
                v.read(p.facts.volume.emplace().amount);
            }
        });
    list.special(
        "position_volume_currencies",
        [](ListText& out, const Position& p) {
            p.facts.volume ? out.add(p.facts.volume->currency) : out.add_missing();
        },
        [](Position& p, const ListValue& v) {
            if (v.is_missing() == p.facts.volume.has_value()) {
                throw_damaged("a volume has no currency, or a currency no volume");
            }
            if (!v.is_missing()) {
                v.read(p.facts.volume->currency);
            }
        });
    list("position_customers", &Position::facts, &FrozenFacts::customer);
    list("position_groups", &Position::facts, &FrozenFacts::group);
    list("position_posted", &Position::last_posted);
}

bool has_currency(const Rate& rate) noexcept {
    return rate.kind == RateKind::kFixed || rate.kind == RateKind::kPerOrder;
}

void rate_columns(auto list) {
    list("rate_kinds", &FrozenRate::rate, &Rate::kind);
    list("rate_values", &FrozenRate::rate, &Rate::value);
    list.special(
        "rate_currencies",
        [](ListText& out, const FrozenRate& frozen) {
            out.add(has_currency(frozen.rate) ? frozen.rate.currency.code() : std::string_view());
        },
        [](FrozenRate& frozen, const ListValue& v) {
            std::string none;
            if (has_currency(frozen.rate)) {
                v.read(frozen.rate.currency);
            } else if (v.read(none); !none.empty()) {
                throw_damaged("a rate of no amount has a currency");
            }
        });
    list("rate_bases", &FrozenRate::base);
    list("rate_matches", &FrozenRate::match);
    list("rate_programs", &FrozenRate::program_version);
    list("rate_rules", &FrozenRate::rule);
    list("rate_tiers", &FrozenRate::tier);
    list("rate_factors", &FrozenRate::factor);
    list("rate_shared_with", &FrozenRate::shared_with);
}

/// Each rate is written once, and lines refer to it by its number, from 1.
template <class Columns>
void frozen_columns(Columns& columns, auto list) {
    std::vector<FrozenRate> rates;
    std::vector<std::uint64_t> numbers;
    list("frozen_lines", &FrozenLine::line);
    list.special(
        "frozen_rates",
        [&rates](ListText& out, const FrozenLine& frozen) {
            auto found = std::ranges::find(rates, frozen.rate);
            if (found == rates.end()) {
                found = rates.insert(rates.end(), frozen.rate);
            }
            out.add(static_cast<std::uint32_t>(found - rates.begin()) + 1);
        },
        [&numbers](FrozenLine& /*frozen*/, const ListValue& v) { v.read(numbers.emplace_back()); });
    rate_columns(columns.list(rates));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (numbers[i] == 0 || numbers[i] > rates.size()) {
            throw_damaged("a line has no such rate");
        }
        if constexpr (std::is_same_v<Columns, ColumnReader>) {
            list.items()[i].item.rate = rates[numbers[i] - 1];
        }
    }
}

/// An item of one position among several names its position by number.
void position_columns(auto& columns, auto& positions) {
    auto list = columns.list(positions);
    attribution_columns(list);
    fact_columns(list);
    columns.nested(
        "cap_positions", positions, [](auto& p) -> auto& { return p.facts.caps; },
        [](auto caps) {
            caps("cap_currencies", &Money::currency);
            caps("cap_amounts", &Money::amount);
        });
    columns.nested("frozen_positions", positions, &Position::frozen,
                   [&columns](auto frozen) { frozen_columns(columns, frozen); });
    columns.nested("accrual_positions", positions, &Position::accruals, [](auto accruals) {
        accruals("accrual_lines", &LineAccrual::line);
        accruals("accrual_currencies", &LineAccrual::currency);
        accruals("accrual_amounts", &LineAccrual::accrued);
        accruals("accrual_allocated", &LineAccrual::allocated);
        accruals("accrual_entries", &LineAccrual::first_entry);
    });
    columns.nested("allocation_positions", positions, &Position::payouts, [](auto payouts) {
        payouts("allocation_payouts", &PositionPayout::payout_id);
        payouts("allocation_currencies", &PositionPayout::currency);
        payouts("allocation_amounts", &PositionPayout::amount);
        payouts("allocation_commissions", &PositionPayout::commission);
        payouts("allocation_has_commission", &PositionPayout::has_commission);
        payouts("allocation_active", &PositionPayout::active);
    });
}

// ---- The row ------------------------------------------------------------------------------------

std::optional<std::uint32_t> live_of(const Field& field) {
    if (!field) {
        return std::nullopt;
    }
    const std::uint64_t number = to_count(field);
    if (number == 0 || number > UINT32_MAX) {
        throw_damaged("it has no position " + std::to_string(number));
    }
    return static_cast<std::uint32_t>(number - 1);
}

void all_columns(auto& columns, auto& state) {
    columns("version", state.version);
    columns("ordered", state.ordered_at);
    columns("cancelled", state.cancelled_at);
    columns("currency", state.currency);
    totals(columns, state);
    columns.list(state.codes)("codes", std::identity());
    columns.list(state.numbers)("numbers", std::identity());
    columns("confirmation_number", state.confirmation_number);
    columns("device", state.device);
    columns("device_version", state.device_version);
    columns("customer", state.customer);
    columns("plausible_version", state.plausible_version);
    line_columns(columns.list(state.lines));
    refund_columns(columns.list(state.refunds));
    columns("statements_count", state.statements_count);
    columns("flags", state.flags);
    columns("anomalies_showing", state.anomalies_showing);
    columns("anomalies_acknowledged", state.anomalies_acknowledged);
    columns.special(
        "live", state,
        [](RowWriter& out, const OrderState& o) { o.live ? out.u4(*o.live + 1) : out.null(); },
        [](OrderState& o, const Field& field) { o.live = live_of(field); });
    position_columns(columns, state.positions);
    if (state.live && *state.live >= state.positions.size()) {
        throw_damaged("it has no position " + std::to_string(*state.live + 1));
    }
    columns("last_applied", state.last_applied);
    columns("last_node", state.last_node);
    columns.special(
        "events", state,
        [](RowWriter& out, const OrderState& o) {
            out.bytes(pack_events(o.events.data(), o.events.size()));
        },
        [](OrderState& o, const Field& field) { unpack_events(to_text(field), o.events); });
    columns("events_count", state.events_count);
    columns("duplicates_count", state.duplicates_count);
    columns.list(state.other_groups)("other_groups", std::identity());
    columns("changes_count", state.changes_count);
}

const std::vector<std::string>& column_names() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> names;
        RowWriter row;
        ColumnWriter columns(row, &names);
        const OrderState none;
        all_columns(columns, none);
        return names;
    }();
    return all;
}

}  // namespace

const std::string& order_columns() {
    static const std::string columns = sluice::joined(column_names(), ", ");
    return columns;
}

std::size_t order_columns_count() {
    return column_names().size();
}

void encode_order(const OrderState& state, RowWriter& row) {
    ColumnWriter columns(row);
    all_columns(columns, state);
}

void decode_order(RowReader& row, OrderState& state) {
    try {
        ColumnReader columns(row);
        all_columns(columns, state);
    } catch (const DamagedField& damaged) {
        throw DamagedRow(row_name("orders", state.key),
                         std::string(row.last_name()) + ": " + damaged.wrong, state.key);
    }
}

}  // namespace sluice::pg
