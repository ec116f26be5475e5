#include "core/protocol/redact.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/json/slices.hpp"
#include "core/json/writer.hpp"
#include "core/protocol/record.hpp"

namespace sluice {
namespace {

constexpr std::array<std::string_view, 8> kOrderFields{"platform_order_id",
                                                       "platform_ordered_at",
                                                       "platform_updated_at",
                                                       "platform_cancelled_at",
                                                       "amount",
                                                       "tax",
                                                       "shipping",
                                                       "currency_code"};
constexpr std::array<std::string_view, 4> kDiscountFields{"code", "type", "value_type", "value"};
constexpr std::array<std::string_view, 6> kLineFields{"line_item_id", "sku", "variant_sku",
                                                      "amount",       "tax", "quantity"};
constexpr std::array<std::string_view, 8> kRefundFields{"refund_line_item_id",
                                                        "line_item_id",
                                                        "platform_refunded_at",
                                                        "sku",
                                                        "variant_sku",
                                                        "amount",
                                                        "tax",
                                                        "quantity"};

using Names = std::span<const std::string_view>;

bool is_in(Names names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void write_elements(JsonWriter& writer, std::string_view array, Names names) {
    if (array.front() != '[') {  // Null.
        writer.raw(array);
        return;
    }
    writer.begin_array();
    for (const std::string_view element : json_elements(array)) {
        writer.begin_object();
        for (const JsonMember& member : json_members(element)) {
            if (is_in(names, member.key)) {
                writer.key(member.key).raw(member.value);
            }
        }
        writer.end_object();
    }
    writer.end_array();
}

bool is_valid_json(std::string_view body) {
    simdjson::dom::parser parser;
    return parser.parse(body.data(), body.size()).error() == simdjson::SUCCESS;
}

}  // namespace

std::optional<std::string> redact_order(std::string_view body, std::string_view customer_id) {
    if (!is_valid_json(body)) {
        return std::nullopt;
    }
    std::string redacted;
    JsonWriter writer(redacted);
    writer.begin_object();
    bool is_customers = false;
    for (const JsonMember& member : json_members(body)) {
        if (member.key == "platform_customer_id") {
            is_customers = is_customers || json_string(member.value) == customer_id;
        } else if (is_in(kOrderFields, member.key)) {
            writer.key(member.key).raw(member.value);
        } else if (member.key == "discounts") {
            write_elements(writer.key(member.key), member.value, kDiscountFields);
        } else if (member.key == "line_items") {
            write_elements(writer.key(member.key), member.value, kLineFields);
        } else if (member.key == "refund_line_items") {
            write_elements(writer.key(member.key), member.value, kRefundFields);
        }
    }
    writer.end_object();
    if (!is_customers) {
        return std::nullopt;
    }
    return redacted;
}

std::optional<RedactedRecord> redact_record(std::string_view record, std::string_view bulk_body,
                                            std::string_view customer_id) {
    const Result<RecordView> decoded = decode_record(record);
    if (!decoded || !is_order(decoded->meta.topic)) {
        return std::nullopt;
    }
    const std::string_view body = decoded->meta.bulk ? bulk_body : decoded->body;
    const std::optional<std::string> redacted = redact_order(body, customer_id);
    if (!redacted) {
        return std::nullopt;
    }
    RecordMeta meta = decoded->meta;
    meta.bulk.reset();
    RecordEnvelope envelope;
    envelope.encode(meta, *redacted);
    return RedactedRecord{std::string(envelope.prefix()) + *redacted, sha256(body)};
}

}  // namespace sluice
