#include "lmdb_store/rows/order_value.hpp"

#include "lmdb_store/rows/keys.hpp"

namespace sluice::store {

namespace {

// One list of fields for both directions.

void line_fields(auto& fields, auto& line) {
    fields(line.id, line.sku, line.variant_sku, line.amount, line.tax, line.quantity, line.present);
}

void refund_fields(auto& fields, auto& refund) {
    fields(refund.id);
    fields.line(refund.line);
    fields(refund.version, refund.stated, refund.refunded_at, refund.amount, refund.tax,
           refund.quantity);
}

void money_fields(auto& fields, auto& money) {
    fields(money.currency, money.amount);
}

void attribution_fields(auto& fields, auto& attribution) {
    fields(attribution.program, attribution.creator, attribution.types, attribution.cause,
           attribution.command_id, attribution.cause_topic, attribution.at);
    fields.each(attribution.candidates, [&](auto& candidate) {
        fields(candidate.type);
        fields.like(candidate.program, attribution.program);
        fields.like(candidate.creator, attribution.creator);
        fields(candidate.code, candidate.clicked_at, candidate.verdict, candidate.link);
    });
}

template <class Facts>
void facts_fields(auto& fields, Facts& facts) {
    bool has_volume = facts.volume.has_value();
    fields(has_volume);
    if constexpr (!std::is_const_v<Facts>) {
        facts.volume = has_volume ? std::optional(facts.volume.value_or(Money{})) : std::nullopt;
    }
    if (has_volume) {
        money_fields(fields, *facts.volume);
    }
    fields(facts.customer, facts.group);
    fields.each(facts.caps, [&](auto& cap) { money_fields(fields, cap); });
}

void position_fields(auto& fields, auto& position) {
    attribution_fields(fields, position.attribution);
    facts_fields(fields, position.facts);
    fields.each(position.frozen, [&](auto& frozen) {
        fields.line(frozen.line);
        fields.rate(frozen.rate);
    });
    fields.each(position.accruals, [&](auto& accrual) {
        fields.line(accrual.line);
        fields(accrual.currency, accrual.accrued, accrual.allocated);
        fields.entry(accrual.first_entry);
    });
    fields.each(position.payouts, [&](auto& payout) {
        fields(payout.payout_id, payout.currency, payout.amount, payout.commission,
               payout.has_commission, payout.active);
    });
    fields(position.last_posted);
}

void order_fields(auto& fields, auto& state) {
    fields(state.version, state.ordered_at, state.cancelled_at, state.currency, state.amount,
           state.tax, state.shipping);
    fields.each(state.codes, [&](auto& code) { fields(code); });
    fields.each(state.numbers, [&](auto& number) { fields(number); });
    fields(state.confirmation_number, state.device, state.device_version, state.customer,
           state.plausible_version);
    fields.each(state.lines, [&](auto& line) { line_fields(fields, line); });
    fields.use_lines(state.lines);
    fields.each(state.refunds, [&](auto& refund) { refund_fields(fields, refund); });
    fields(state.statements_count, state.flags, state.anomalies_showing,
           state.anomalies_acknowledged);
    fields.each(state.positions, [&](auto& position) { position_fields(fields, position); });
    fields(state.live, state.last_applied, state.last_node);
    fields.each(state.events, [&](auto& event) { event_fields(fields, event); });
    fields(state.events_count, state.duplicates_count);
    fields.each(state.other_groups, [&](auto& entry) { fields.entry(entry); });
    fields(state.changes_count);
}

/// Returns whether every index into a list is in its range.
bool places_are_sound(const OrderState& state) noexcept {
    if (state.live && *state.live >= state.positions.size()) {
        return false;
    }
    for (const Position& position : state.positions) {
        for (const FrozenLine& frozen : position.frozen) {
            if (frozen.rate.shared_with >= position.frozen.size()) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

std::string_view OrderValue::encode(std::string_view key, const OrderState& state) {
    fields_.begin();
    if (id_is_cut(state.key.order_id.view(), kIdBytesWhole)) {
        fields_.text(state.key.order_id.view());
    }
    order_fields(fields_, state);
    return fields_.sealed(key);
}

bool OrderValue::decode(std::string_view key, std::string_view value, OrderState& state) {
    OrderFieldReader fields(key, value, rates_);
    if (id_is_cut(state.key.order_id.view(), kIdBytesWhole) &&
        fields.text() != state.key.order_id.view()) {
        return false;
    }
    order_fields(fields, state);
    return fields.complete() && places_are_sound(state);
}

bool OrderValue::decode_key(std::string_view key, std::string_view value, OrderKey& order) {
    LedgerKeyParser parser(key);
    order.account = {parser.u32()};
    order.shop = {parser.u32()};
    const auto whole = parser.id(kIdBytesWhole);
    const std::string_view id = whole ? *whole : FieldReader(key, value).text();
    order.order_id.assign(id);
    return parser.complete() && (whole || id_is_cut(id, kIdBytesWhole));
}

namespace {

/// Lines with equal rates are mostly adjacent, so a search of this length finds nearly all.
constexpr std::size_t kRatesLookBack = 8;
/// Up to this number of lines, a linear search is faster than an index.
constexpr std::size_t kFewLines = 16;

/// To the last digit: 1.50 is not 1.500.
bool same_text(const FrozenRate& a, const FrozenRate& b) noexcept {
    return a == b && a.rate.value.scale() == b.rate.value.scale() &&
           a.factor.scale() == b.factor.scale();
}

}  // namespace

std::size_t OrderFieldWriter::place_of(const LineItemId& id) {
    if (id.empty()) {
        return 0;
    }
    if (guess_ < lines_.size() && lines_[guess_].id == id) {
        return guess_ + 1;
    }
    if (lines_.size() <= kFewLines) {
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (lines_[i].id == id) {
                return i + 1;
            }
        }
        return 0;
    }
    if (index_.empty()) {
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            index_.try_emplace(lines_[i].id.view(), i + 1);
        }
    }
    const auto found = index_.find(id.view());
    return found == index_.end() ? 0 : found->second;
}

void OrderFieldWriter::rate(const FrozenRate& rate) {
    for (std::size_t back = 1; back <= std::min(kRatesLookBack, rates_.size()); ++back) {
        if (same_text(rates_[rates_.size() - back], rate)) {
            number(back);
            return;
        }
    }
    number(0);
    rate_fields(*this, rate);
    rates_.push_back(rate);
}

void OrderFieldReader::rate(FrozenRate& rate) {
    const std::uint64_t back = number();
    if (back == 0) {
        rate_fields(*this, rate);
        rates_.push_back(rate);
    } else if (back <= rates_.size()) {
        rate = rates_[rates_.size() - back];
    } else {
        fail();
    }
}

}  // namespace sluice::store
