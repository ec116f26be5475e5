#include "core/protocol/order_event.hpp"

#include "core/json/document.hpp"
#include "core/protocol/field_reader.hpp"
#include "core/protocol/order_numbers.hpp"
#include "core/values/id_set.hpp"

namespace sluice {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// The order of a table is the order in which its errors are listed.

constexpr FieldNames kOrder("platform_order_id", "platform_customer_id", "email", "phone",
                            "platform_ordered_at", "platform_updated_at", "platform_cancelled_at",
                            "amount", "tax", "shipping", "currency_code", "discounts", "line_items",
                            "refund_line_items", "platform_order_numbers",
                            "platform_confirmation_number", "source");
constexpr std::size_t kAnonId = kOrder.size();  // Its name depends on the configuration.
static_assert(kAnonId < FieldReader::kFieldsMax);

constexpr FieldNames kDiscount("code", "type", "value_type", "value");
constexpr std::array<std::string_view, 1> kDiscountTypes{"DISCOUNT_CODE"};
constexpr std::array<std::string_view, 2> kValueTypes{"FIXED_AMOUNT", "PERCENTAGE"};

constexpr FieldNames kLine("line_item_id", "sku", "amount", "tax", "quantity", "variant_sku");

constexpr FieldNames kRefund("refund_line_item_id", "line_item_id", "platform_refunded_at", "sku",
                             "amount", "tax", "quantity", "variant_sku");
static_assert(kQuantityMax == 999'999'999 && FieldReader::kQuantityDigits == 9);

/// Frees what an unusually large event left behind.
template <class T>
void shrink(std::vector<T>& buffer) {
    constexpr std::size_t kKeptBytes = 1U << 20;
    if (buffer.capacity() * sizeof(T) > kKeptBytes) {
        buffer = std::vector<T>();
    }
}

void clear(OrderEvent& event) noexcept {
    event.customer_id.reset();
    event.email.reset();
    event.phone.reset();
    event.customer_pseudonym.reset();
    event.email_pseudonym.reset();
    event.cancelled_at.reset();
    event.anon_id.reset();
    event.numbers.clear();
    event.source_notes = {};
    event.confirmation_number = {};
    event.discounts.clear();
    event.line_items.clear();
    event.refund_line_items.clear();
}

}  // namespace

struct OrderEventParser::State {
    JsonDocument json;
    OrderEvent event;
    FieldErrors findings{kErrorsMax};
    std::vector<std::string_view> line_ids;
    std::vector<std::string_view> refund_ids;
    std::vector<std::string_view> refunded_lines;
    IdSet lines;
    IdSet refunds;
    IdSet refunded;
    Pseudonyms pseudonyms = Pseudonyms::kRefused;

    void read(const object& root, Topic topic, std::string_view anon_field);
    void read_head(FieldReader& in, Topic topic);
    void read_customer(FieldReader& in);
    bool read_pseudonym(FieldReader& in, std::size_t field, std::optional<Digest256>& out) const;
    void read_money(FieldReader& in);
    void read_numbers(FieldReader& in);
    void read_source(const FieldReader& in);
    void read_discount(const object& from, std::size_t position);
    void read_line(const object& from, std::size_t position);
    void read_refund(const object& from, std::size_t position);

    using ReadOne = void (State::*)(const object& from, std::size_t position);
    void read_list(FieldReader& in, std::size_t field, Need need, ReadOne read_one);
    void begin_pass();
    void forget_ids();
    [[nodiscard]] bool has_repeats() const noexcept {
        return lines.has_repeats() || refunds.has_repeats() || refunded.has_repeats();
    }
};

/// Repeated ids are known only after all were read, but errors are listed in order. So a pass that
/// found repeated ids is followed by a second one that knows them.
void OrderEventParser::State::begin_pass() {
    findings.begin(json.nul_count() > 0);
    clear(event);
    line_ids.clear();
    refund_ids.clear();
    refunded_lines.clear();
}

void OrderEventParser::State::forget_ids() {
    lines.clear();
    refunds.clear();
    refunded.clear();
}

void OrderEventParser::State::read(const object& root, Topic topic, std::string_view anon_field) {
    event.topic = topic;
    FieldReader in(kOrder, {}, findings, anon_field);
    in.collect(root);
    read_customer(in);
    read_head(in, topic);
    read_money(in);
    read_list(in, kOrder["discounts"], Need::kOptional, &State::read_discount);
    read_list(in, kOrder["line_items"], Need::kRequired, &State::read_line);
    lines.assign(line_ids);
    read_list(in, kOrder["refund_line_items"], Need::kOptional, &State::read_refund);
    refunds.assign(refund_ids);
    refunded.assign(refunded_lines);
    read_numbers(in);
    read_source(in);
    std::string_view anon_id;
    if (!anon_field.empty() && in.text(kAnonId, Need::kOptional, anon_id) && !anon_id.empty()) {
        event.anon_id = anon_id;
    }
}

void OrderEventParser::State::read_customer(FieldReader& in) {
    in.id(kOrder["platform_order_id"], Need::kRequired, event.order_id);
    std::string_view text;
    if (!read_pseudonym(in, kOrder["platform_customer_id"], event.customer_pseudonym) &&
        in.text(kOrder["platform_customer_id"], Need::kOptional, text)) {
        event.customer_id = text;
    }
    if (!read_pseudonym(in, kOrder["email"], event.email_pseudonym) &&
        in.text(kOrder["email"], Need::kOptional, text)) {
        event.email = text;
    }
    if (in.text(kOrder["phone"], Need::kOptional, text)) {
        event.phone = text;
    }
}

/// Returns false if the field is no pseudonym or must not be one; its own reader reports errors.
bool OrderEventParser::State::read_pseudonym(FieldReader& in, std::size_t field,
                                             std::optional<Digest256>& out) const {
    if (pseudonyms == Pseudonyms::kRefused) {
        return false;
    }
    const element* value = in.find(field, Need::kOptional);
    std::string_view hex;
    if (value == nullptr || (*value)["pseudonym"].get(hex) != simdjson::SUCCESS) {
        return false;
    }
    out = parse_hex_digest(hex, HexCase::kLowerOnly);
    return out.has_value();
}

void OrderEventParser::State::read_head(FieldReader& in, Topic topic) {
    in.timestamp(kOrder["platform_ordered_at"], Need::kRequired, event.ordered_at);
    const Need updated_at = topic == Topic::kOrderCreate ? Need::kOptional : Need::kRequired;
    if (!in.timestamp(kOrder["platform_updated_at"], updated_at, event.updated_at)) {
        event.updated_at = event.ordered_at;
    }
    Timestamp cancelled_at;
    if (in.timestamp(kOrder["platform_cancelled_at"], Need::kOptional, cancelled_at)) {
        event.cancelled_at = cancelled_at;
    }
}

void OrderEventParser::State::read_money(FieldReader& in) {
    in.decimal(kOrder["amount"], Need::kRequired, event.amount);
    in.decimal(kOrder["tax"], Need::kRequired, event.tax);
    in.decimal(kOrder["shipping"], Need::kRequired, event.shipping);
    in.currency(kOrder["currency_code"], event.currency);
}

/// Any sender may write a source, so nothing in it is an error.
void OrderEventParser::State::read_source(const FieldReader& in) {
    const element* const source = in.peek(kOrder["source"]);
    array notes;
    if (source == nullptr || (*source)["notes"].get_array().get(notes) != simdjson::SUCCESS) {
        return;
    }
    for (const element& one : notes) {
        std::string_view text;
        const auto note = one.get_string().get(text) == simdjson::SUCCESS
                              ? parse_name<SourceNote>(text)
                              : std::nullopt;
        if (note) {
            event.source_notes.add(*note);
        }
    }
}

/// An order is not refused because of what it is called.
void OrderEventParser::State::read_numbers(FieldReader& in) {
    const element* const list = in.find(kOrder["platform_order_numbers"], Need::kOptional);
    array numbers;
    if (list != nullptr && list->get_array().get(numbers) == simdjson::SUCCESS) {
        for (const element& one : numbers) {
            std::string_view number;
            if (event.numbers.size() < kOrderNumbersMax &&
                one.get_string().get(number) == simdjson::SUCCESS && is_order_number(number)) {
                event.numbers.push_back(number);
            }
        }
    }
    const element* const confirmation =
        in.find(kOrder["platform_confirmation_number"], Need::kOptional);
    std::string_view number;
    if (confirmation != nullptr && confirmation->get_string().get(number) == simdjson::SUCCESS &&
        is_confirmation_number(number)) {
        event.confirmation_number = number;
    }
}

/// Reports elements that are not objects, and calls `read_one` with each other one and its
/// position.
void OrderEventParser::State::read_list(FieldReader& in, std::size_t field, Need need,
                                        ReadOne read_one) {
    array elements;
    if (!in.array(field, need, elements)) {
        return;
    }
    if (field == kOrder["line_items"] && elements.begin() == elements.end()) {
        in.invalid(field, "must have at least one line item");
    }
    std::size_t position = 0;
    for (const element& one : elements) {
        if (findings.full()) {
            return;
        }
        object from;
        if (one.get_object().get(from) == simdjson::SUCCESS) {
            (this->*read_one)(from, position);
        } else {
            findings.add({kOrder.name(field), position}, {}, FieldErrorCode::kInvalidFormat,
                         "must be an object");
        }
        ++position;
    }
}

void OrderEventParser::State::read_discount(const object& from, std::size_t position) {
    FieldReader in(kDiscount, {"discounts", position}, findings);
    in.collect(from);
    Discount discount;
    std::size_t type = 0;
    std::size_t value_type = 0;
    in.non_empty_text(kDiscount["code"], Need::kRequired, discount.code);
    in.word(kDiscount["type"], kDiscountTypes, type);
    if (in.word(kDiscount["value_type"], kValueTypes, value_type)) {
        discount.percentage = value_type == 1;
    }
    in.decimal(kDiscount["value"], Need::kRequired, discount.value);
    event.discounts.push_back(discount);
}

void OrderEventParser::State::read_line(const object& from, std::size_t position) {
    FieldReader in(kLine, {"line_items", position}, findings);
    in.collect(from);
    LineItem line;
    line_ids.resize(position + 1);
    if (in.id(kLine["line_item_id"], Need::kRequired, line.line_item_id)) {
        line_ids.back() = line.line_item_id;
        if (lines.is_repeat(position)) {
            in.invalid(kLine["line_item_id"], "must be unique within the order");
        }
    }
    in.id(kLine["sku"], Need::kRequired, line.sku);
    in.decimal(kLine["amount"], Need::kRequired, line.amount);
    in.decimal(kLine["tax"], Need::kRequired, line.tax);
    in.quantity(kLine["quantity"], 1, line.quantity);
    std::string_view variant_sku;
    if (in.id(kLine["variant_sku"], Need::kOptional, variant_sku)) {
        line.variant_sku = variant_sku;
    }
    event.line_items.push_back(line);
}

void OrderEventParser::State::read_refund(const object& from, std::size_t position) {
    FieldReader in(kRefund, {"refund_line_items", position}, findings);
    in.collect(from);
    RefundLineItem refund;
    refund_ids.resize(position + 1);
    refunded_lines.resize(position + 1);
    if (in.id(kRefund["refund_line_item_id"], Need::kRequired, refund.refund_line_item_id)) {
        refund_ids.back() = refund.refund_line_item_id;
        if (refunds.is_repeat(position)) {
            in.invalid(kRefund["refund_line_item_id"], "must be unique within refund_line_items");
        }
    }
    if (in.id(kRefund["line_item_id"], Need::kRequired, refund.line_item_id)) {
        refunded_lines.back() = refund.line_item_id;
        if (refunded.is_repeat(position)) {
            in.invalid(kRefund["line_item_id"], "must appear only once in refund_line_items");
        } else if (!lines.contains(refund.line_item_id)) {
            in.invalid(kRefund["line_item_id"], "must name a line item of this order");
        }
    }
    in.timestamp(kRefund["platform_refunded_at"], Need::kRequired, refund.refunded_at);
    in.id(kRefund["sku"], Need::kRequired, refund.sku);
    in.decimal(kRefund["amount"], Need::kRequired, refund.amount);
    in.decimal(kRefund["tax"], Need::kRequired, refund.tax);
    in.quantity(kRefund["quantity"], 0, refund.quantity);
    std::string_view variant_sku;
    if (in.id(kRefund["variant_sku"], Need::kOptional, variant_sku)) {
        refund.variant_sku = variant_sku;
    }
    event.refund_line_items.push_back(refund);
}

OrderEventParser::OrderEventParser() : state_(std::make_unique<State>()) {}
OrderEventParser::~OrderEventParser() = default;

std::span<const FieldError> OrderEventParser::errors() const noexcept {
    return state_->findings.errors();
}

const OrderEvent* OrderEventParser::parse(std::string_view body, Topic topic,
                                          std::string_view anon_field, Pseudonyms pseudonyms) {
    State& state = *state_;
    state.pseudonyms = pseudonyms;
    state.forget_ids();
    state.findings.begin(false);
    if (!state.json.parse(body)) {
        state.findings.add({}, {}, FieldErrorCode::kInvalidFormat, state.json.error());
        return nullptr;
    }
    object root;
    if (state.json.root().get_object().get(root) != simdjson::SUCCESS) {
        state.findings.add({}, {}, FieldErrorCode::kInvalidFormat,
                           "the body must be a JSON object");
        return nullptr;
    }
    state.begin_pass();
    state.read(root, topic, anon_field);
    if (state.has_repeats()) {
        state.begin_pass();
        state.read(root, topic, anon_field);
    }
    // U+0000 in a named field is an error of that field, and elsewhere of the body.
    if (state.findings.errors().empty() && state.json.nul_count() > state.findings.nuls_found()) {
        state.findings.add({}, {}, FieldErrorCode::kInvalidFormat,
                           "strings must not contain U+0000, also not in unknown fields");
    }
    return state.findings.errors().empty() ? &state.event : nullptr;
}

void OrderEventParser::trim() noexcept {
    state_->json.trim();
    shrink(state_->line_ids);
    shrink(state_->refund_ids);
    shrink(state_->refunded_lines);
    shrink(state_->event.discounts);
    shrink(state_->event.line_items);
    shrink(state_->event.refund_line_items);
}

std::string anon_field_name(std::string_view header_prefix) {
    if (header_prefix.starts_with("X-") || header_prefix.starts_with("x-")) {
        header_prefix.remove_prefix(2);
    }
    if (header_prefix.ends_with('-')) {
        header_prefix.remove_suffix(1);
    }
    std::string name;
    for (const char c : header_prefix) {
        const bool upper = c >= 'A' && c <= 'Z';
        name += c == '-' ? '_' : upper ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return name + "_anon_id";
}

}  // namespace sluice
