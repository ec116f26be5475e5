#include "lmdb_store/ledger/order_value.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "lmdb_store/ledger/keys.hpp"
#include "lmdb_store/ledger/order_line.hpp"

namespace sluice::store {
namespace {

/// Equal rates stand side by side, so a short look back finds nearly all of them.
constexpr std::size_t kRatesLookBack = 8;

/// Not resized to nothing first, so that strings keep their buffers.
template <class Row, class Stored, class Decode>
bool decode_all(const flatbuffers::Vector<const Stored*>* from, std::vector<Row>& to,
                Decode&& decode) {
    if (!is_aligned(from)) {
        return false;
    }
    to.resize(from == nullptr ? 0 : from->size());
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (!decode(*from->Get(static_cast<flatbuffers::uoffset_t>(i)), to[i])) {
            return false;
        }
    }
    return true;
}

bool in_range(std::uint8_t value, std::uint8_t first, std::uint8_t last) noexcept {
    return value >= first && value <= last;
}

bool decode_rate(const fbs::FrozenRate& stored, FrozenRate& rate, WideDecimalReader& wides) {
    rate.rate.kind = static_cast<RateKind>(stored.kind());
    rate.rate.value = wides.get(stored.value(), stored.scale());
    rate.base = static_cast<BaseKind>(stored.base());
    rate.match = static_cast<RuleMatch>(stored.match());
    rate.program_version = stored.program_version();
    rate.rule = stored.rule();
    return in_range(stored.kind(), 0, 2) && in_range(stored.base(), 1, 2) &&
           in_range(stored.match(), 1, 7) && from_money3(stored.currency(), rate.rate.currency);
}

/// The amounts of a line; its texts and its rate lie elsewhere.
void decode_line(const fbs::OrderLine& stored, OrderLine& line, WideDecimalReader& wides) {
    line.amount = wides.get(stored.amount(), stored.amount_scale());
    line.tax = wides.get(stored.tax(), stored.tax_scale());
    line.commission = wides.get(stored.commission(), stored.commission_scale());
    line.quantity = stored.quantity();
    line.present = (stored.flags() & kPresentBit) != 0;
}

void decode_line_texts(const fbs::OrderLine& stored, OrderLine& line, TextReader& text) {
    assign(line.id, text.take(stored.id_bytes()));
    assign(line.sku, text.take(stored.sku_bytes()));
    if (stored.variant_sku_bytes() == kNoVariantSku) {
        line.variant_sku.reset();
        return;
    }
    if (!line.variant_sku) {
        line.variant_sku.emplace();
    }
    assign(*line.variant_sku, text.take(stored.variant_sku_bytes()));
}

bool decode_lines(const fbs::Order& order, OrderState& state, WideDecimalReader& wides,
                  TextReader& text) {
    std::vector<FrozenRate> rates;
    const bool rates_ok =
        decode_all(order.rates(), rates, [&](const fbs::FrozenRate& stored, FrozenRate& rate) {
            return decode_rate(stored, rate, wides);
        });
    const auto decode = [&](const fbs::OrderLine& stored, OrderLine& line) {
        decode_line(stored, line, wides);
        decode_line_texts(stored, line, text);
        const std::uint32_t rate = rate_of(stored);
        line.frozen.reset();
        if (rate < rates.size()) {
            line.frozen = rates[rate];
        }
        return rate < rates.size() || rate == kNotFrozen;
    };
    if (!rates_ok || (order.lines() != nullptr && order.short_lines() != nullptr)) {
        return false;
    }
    return order.short_lines() == nullptr
               ? decode_all(order.lines(), state.lines, decode)
               : decode_all(order.short_lines(), state.lines,
                            [&](const fbs::ShortLine& stored, OrderLine& line) {
                                return decode(lengthened(stored), line);
                            });
}

bool decode_refunds(const fbs::Order& order, OrderState& state, WideDecimalReader& wides,
                    TextReader& text) {
    return decode_all(order.refunds(), state.refunds,
                      [&](const fbs::RefundRow& stored, RefundRow& refund) {
                          assign(refund.id, text.take(stored.id_bytes()));
                          assign(refund.line, text.take(stored.line_bytes()));
                          refund.version = from_instant(stored.version());
                          refund.stated = stored.stated();
                          refund.refunded_at = from_instant(stored.refunded_at());
                          refund.amount = wides.get(stored.amount(), stored.amount_scale());
                          refund.tax = wides.get(stored.tax(), stored.tax_scale());
                          refund.quantity = stored.quantity();
                          return true;
                      });
}

bool decode_dues(const fbs::Order& order, OrderState& state, WideDecimalReader& wides) {
    return decode_all(order.dues(), state.dues, [&](const fbs::OrderDue& stored, OrderDue& due) {
        due.due = wides.get(stored.due(), stored.due_scale());
        due.manual = wides.get(stored.manual(), stored.manual_scale());
        due.settled = wides.get(stored.settled(), stored.settled_scale());
        return from_money3(stored.currency(), due.currency);
    });
}

bool decode_attribution(const fbs::Attribution& stored, Attribution& attribution) {
    assign(attribution.program, view_of(stored.program()));
    assign(attribution.creator, view_of(stored.creator()));
    attribution.types = stored.types();
    attribution.cause = {stored.cause()};
    attribution.cause_topic = static_cast<Topic>(stored.cause_topic());
    attribution.at = from_instant(*stored.at());
    TextReader text(stored.candidates_text());
    const bool ok =
        decode_all(stored.candidates(), attribution.candidates,
                   [&](const fbs::Candidate& from, Candidate& candidate) {
                       candidate.type = static_cast<AttributionType>(from.type());
                       candidate.verdict = static_cast<CandidateVerdict>(from.verdict());
                       candidate.code = from.code();
                       candidate.touched_at = from_instant(from.touched_at());
                       const bool own = from.program_bytes() == 0 && from.creator_bytes() == 0;
                       assign(candidate.program,
                              own ? attribution.program.view() : text.take(from.program_bytes()));
                       assign(candidate.creator,
                              own ? attribution.creator.view() : text.take(from.creator_bytes()));
                       return in_range(from.type(), 1, 2) && in_range(from.verdict(), 1, 7);
                   });
    return ok && text.complete();
}

/// What is there or not there as a whole.
bool decode_optionals(const fbs::Order& order, OrderState& state, WideDecimalReader& wides) {
    state.cancelled_at.reset();
    if (order.cancelled_at() != nullptr) {
        state.cancelled_at = from_instant(*order.cancelled_at());
    }
    state.anon.reset();
    if (order.anon() != nullptr) {
        state.anon = from_hash(*order.anon());
    }
    state.paid.reset();
    if (order.paid() != nullptr) {
        OrderPaid& paid = state.paid.emplace();
        paid.amount = wides.get(order.paid()->amount(), order.paid()->amount_scale());
        paid.payout_id = view_of(order.paid()->payout_id());
        if (!from_money3(*order.paid()->currency(), paid.currency)) {
            return false;
        }
    }
    if (order.attribution() == nullptr) {
        state.attribution.reset();
        return true;
    }
    if (!state.attribution) {
        state.attribution.emplace();
    }
    return decode_attribution(*order.attribution(), *state.attribution);
}

bool decode_plain(const fbs::Order& order, OrderState& state) {
    state.version = from_instant(*order.version());
    state.ordered_at = from_instant(*order.ordered_at());
    state.statements_count = order.statements_count();
    state.last_applied = {order.last_applied()};
    state.events_count = order.events_count();
    state.duplicates_count = order.duplicates_count();
    state.codes.clear();
    if (order.codes() != nullptr) {
        for (const flatbuffers::String* code : *order.codes()) {
            state.codes.emplace_back(view_of(code));
        }
    }
    state.other_groups.clear();
    const auto* groups = order.other_groups();
    if (groups != nullptr && is_aligned(groups)) {
        state.other_groups.assign(groups->begin(), groups->end());
    }
    return is_aligned(groups);
}

}  // namespace

fbs::EventTrace to_trace(const EventTrace& event) noexcept {
    return {to_instant(event.version),
            to_instant(event.received_at),
            fbs::Digest16(flatbuffers::span<const std::uint8_t, 16>(event.digest)),
            event.seq.value,
            event.first_entry,
            event.anomalies,
            static_cast<std::uint8_t>(event.topic),
            static_cast<std::uint8_t>(event.decision),
            event.cancelled ? std::uint8_t{1} : std::uint8_t{0}};
}

bool from_trace(const fbs::EventTrace& stored, EventTrace& event) noexcept {
    event.seq = {stored.seq()};
    event.topic = static_cast<Topic>(stored.topic());
    event.decision = static_cast<EventDecision>(stored.decision());
    std::memcpy(event.digest.data(), stored.digest().bytes()->data(), event.digest.size());
    event.version = from_instant(stored.version());
    event.received_at = from_instant(stored.received_at());
    event.cancelled = stored.cancelled() != 0;
    event.anomalies = stored.anomalies();
    event.first_entry = stored.first_entry();
    return is_order(event.topic) && in_range(stored.decision(), 1, 2);
}

void OrderValue::add_text(std::string_view text) {
    text_.insert(text_.end(), text.begin(), text.end());
}

std::uint32_t OrderValue::rate_index(const FrozenRate& rate) {
    const std::size_t first =
        rates_seen_.size() > kRatesLookBack ? rates_seen_.size() - kRatesLookBack : 0;
    for (std::size_t i = first; i < rates_seen_.size(); ++i) {
        if (rates_seen_[i] == rate &&
            rates_seen_[i].rate.value.scale() == rate.rate.value.scale()) {
            return static_cast<std::uint32_t>(i);
        }
    }
    if (rates_seen_.size() >= kNotFrozen) {
        throw std::length_error("an order has too many lines with rates of their own");
    }
    std::uint8_t scale = 0;
    const std::int64_t value = wides_.put(rate.rate.value, scale);
    rates_.emplace_back(value, rate.rule, rate.program_version, scale,
                        static_cast<std::uint8_t>(rate.rate.kind),
                        static_cast<std::uint8_t>(rate.base), static_cast<std::uint8_t>(rate.match),
                        to_money3(rate.rate.currency));
    rates_seen_.push_back(rate);
    return static_cast<std::uint32_t>(rates_seen_.size() - 1);
}

void OrderValue::encode_lines(const OrderState& state) {
    for (const OrderLine& line : state.lines) {
        const std::uint32_t rate = line.frozen ? rate_index(*line.frozen) : kNotFrozen;
        const auto flags = static_cast<std::uint8_t>((rate >> kRateLowBits) << 1 |
                                                     (line.present ? kPresentBit : 0U));
        std::array<std::uint8_t, 3> scales{};
        const std::int64_t amount = wides_.put(line.amount, scales[0]);
        const std::int64_t tax = wides_.put(line.tax, scales[1]);
        const std::int64_t commission = wides_.put(line.commission, scales[2]);
        add_text(line.id.view());
        add_text(line.sku.view());
        add_text(line.variant_sku ? line.variant_sku->view() : std::string_view{});
        lines_.emplace_back(
            amount, tax, commission, line.quantity, static_cast<std::uint16_t>(rate),
            static_cast<std::uint16_t>(line.id.view().size()),
            static_cast<std::uint16_t>(line.sku.view().size()),
            line.variant_sku ? static_cast<std::uint16_t>(line.variant_sku->view().size())
                             : kNoVariantSku,
            scales[0], scales[1], scales[2], flags);
    }
    if (std::all_of(lines_.begin(), lines_.end(), fits_short)) {
        std::transform(lines_.begin(), lines_.end(), std::back_inserter(short_lines_), shortened);
        lines_.clear();
    }
}

void OrderValue::encode_refunds(const OrderState& state) {
    for (const RefundRow& refund : state.refunds) {
        std::array<std::uint8_t, 2> scales{};
        const std::int64_t amount = wides_.put(refund.amount, scales[0]);
        const std::int64_t tax = wides_.put(refund.tax, scales[1]);
        add_text(refund.id.view());
        add_text(refund.line.view());
        refunds_.emplace_back(
            to_instant(refund.version), to_instant(refund.refunded_at), amount, tax, refund.stated,
            refund.quantity, static_cast<std::uint16_t>(refund.id.view().size()),
            static_cast<std::uint16_t>(refund.line.view().size()), scales[0], scales[1]);
    }
}

void OrderValue::encode_rest(const OrderState& state) {
    for (const OrderDue& due : state.dues) {
        std::array<std::uint8_t, 3> scales{};
        const std::int64_t owed = wides_.put(due.due, scales[0]);
        const std::int64_t manual = wides_.put(due.manual, scales[1]);
        const std::int64_t settled = wides_.put(due.settled, scales[2]);
        dues_.emplace_back(owed, manual, settled, scales[0], scales[1], scales[2],
                           to_money3(due.currency));
    }
    for (const EventTrace& event : state.events) {
        events_.push_back(to_trace(event));
    }
}

flatbuffers::Offset<fbs::Attribution> OrderValue::encode_attribution(
    const Attribution& attribution) {
    std::vector<std::uint8_t> text;
    for (const Candidate& candidate : attribution.candidates) {
        const bool own =
            candidate.program == attribution.program && candidate.creator == attribution.creator;
        const std::string_view program = own ? std::string_view{} : candidate.program.view();
        const std::string_view creator = own ? std::string_view{} : candidate.creator.view();
        text.insert(text.end(), program.begin(), program.end());
        text.insert(text.end(), creator.begin(), creator.end());
        candidates_.emplace_back(
            to_instant(candidate.touched_at), candidate.code,
            static_cast<std::uint8_t>(candidate.type), static_cast<std::uint8_t>(candidate.verdict),
            static_cast<std::uint8_t>(program.size()), static_cast<std::uint8_t>(creator.size()));
    }
    const auto program = builder_.CreateString(attribution.program.str());
    const auto creator = builder_.CreateString(attribution.creator.str());
    const auto candidates = builder_.CreateVectorOfStructs(candidates_);
    const auto candidates_text = builder_.CreateVector(text);
    const fbs::Instant at = to_instant(attribution.at);
    return fbs::CreateAttribution(builder_, program, creator, attribution.types,
                                  static_cast<std::uint8_t>(attribution.cause_topic),
                                  attribution.cause.value, &at, candidates, candidates_text);
}

flatbuffers::Offset<fbs::OrderPaid> OrderValue::encode_paid(const OrderPaid& paid) {
    std::uint8_t scale = 0;
    const std::int64_t amount = wides_.put(paid.amount, scale);
    const fbs::Money3 currency = to_money3(paid.currency);
    const auto payout_id = builder_.CreateString(paid.payout_id);
    return fbs::CreateOrderPaid(builder_, &currency, amount, scale, payout_id);
}

void OrderValue::clear() {
    builder_.Clear();
    wides_.clear();
    text_.clear();
    lines_.clear();
    short_lines_.clear();
    rates_.clear();
    rates_seen_.clear();
    refunds_.clear();
    dues_.clear();
    events_.clear();
    candidates_.clear();
}

std::string_view OrderValue::encode(const OrderState& state) {
    clear();
    add_text(state.amount);
    add_text(state.tax);
    add_text(state.shipping);
    encode_lines(state);
    encode_refunds(state);
    encode_rest(state);

    const bool cut = id_is_cut(state.key.order_id.view(), kIdBytesWhole);
    const auto order_id = text_if(builder_, cut ? state.key.order_id.view() : std::string_view{});
    const auto codes = state.codes.empty() ? 0 : builder_.CreateVectorOfStrings(state.codes);
    const auto groups = state.other_groups.empty() ? 0 : builder_.CreateVector(state.other_groups);
    const auto attribution = state.attribution ? encode_attribution(*state.attribution) : 0;
    const auto paid = state.paid ? encode_paid(*state.paid) : 0;
    const auto text = builder_.CreateVector(text_);
    const auto lines = structs_if(builder_, lines_);
    const auto short_lines = structs_if(builder_, short_lines_);
    const auto refunds = structs_if(builder_, refunds_);
    const auto rates = structs_if(builder_, rates_);
    const auto dues = structs_if(builder_, dues_);
    const auto events = structs_if(builder_, events_);
    const auto wides = structs_if(builder_, wides_.wides());

    const fbs::Instant version = to_instant(state.version);
    const fbs::Instant ordered_at = to_instant(state.ordered_at);
    const fbs::Instant cancelled_at = to_instant(state.cancelled_at.value_or(Timestamp{}));
    const fbs::Hash anon = to_hash(state.anon.value_or(Digest256{}));
    const fbs::Money3 currency = to_money3(state.currency);
    builder_.Finish(fbs::CreateOrder(
        builder_, order_id, &version, &ordered_at, state.cancelled_at ? &cancelled_at : nullptr,
        &currency, static_cast<std::uint8_t>(state.amount.size()),
        static_cast<std::uint8_t>(state.tax.size()),
        static_cast<std::uint8_t>(state.shipping.size()), lines, short_lines, refunds, text, codes,
        state.anon ? &anon : nullptr, rates, dues, events, state.events_count,
        state.duplicates_count, state.statements_count, state.last_applied.value, groups,
        attribution, paid, wides));
    return finished(builder_);
}

bool OrderValue::decode(std::string_view value, OrderState& state) {
    const auto* order = copy_.verified<fbs::Order>(value);
    if (order == nullptr) {
        return false;
    }
    if (id_is_cut(state.key.order_id.view(), kIdBytesWhole) &&
        view_of(order->order_id()) != state.key.order_id.view()) {
        return false;
    }
    WideDecimalReader wides(order->wides());
    TextReader text(order->text());
    state.amount = text.take(order->amount_bytes());
    state.tax = text.take(order->tax_bytes());
    state.shipping = text.take(order->shipping_bytes());
    const bool ok =
        decode_plain(*order, state) && from_money3(*order->currency(), state.currency) &&
        decode_lines(*order, state, wides, text) && decode_refunds(*order, state, wides, text) &&
        decode_dues(*order, state, wides) && decode_optionals(*order, state, wides) &&
        decode_all(order->events(), state.events, from_trace);
    return ok && wides.ok() && text.complete();
}

bool OrderValue::decode_open(std::string_view value, OpenAmount& row) {
    const auto* order = copy_.verified<fbs::Order>(value);
    if (order == nullptr || order->attribution() == nullptr || order->dues() == nullptr ||
        !is_aligned(order->dues())) {
        return false;
    }
    assign(row.creator, view_of(order->attribution()->creator()));
    WideDecimalReader wides(order->wides());
    for (const fbs::OrderDue* due : *order->dues()) {
        Currency currency = row.currency;
        if (from_money3(due->currency(), currency) && currency == row.currency) {
            const Decimal owed = wides.get(due->due(), due->due_scale());
            const Decimal settled = wides.get(due->settled(), due->settled_scale());
            row.amount = wides.ok() ? owed - settled : Decimal();
            return !row.amount.is_zero();
        }
    }
    return false;
}

std::optional<std::string_view> OrderValue::order_id(std::string_view value) {
    const auto* order = copy_.verified<fbs::Order>(value);
    if (order == nullptr || order->order_id() == nullptr) {
        return std::nullopt;
    }
    return view_of(order->order_id());
}

}  // namespace sluice::store
