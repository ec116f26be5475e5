#include "core/protocol/personal_ids.hpp"
#include "core/shops/platforms.hpp"

namespace sluice {
namespace {

constexpr FieldNames kPrivacy("shop_id", "customer", "orders_requested", "data_request",
                              "orders_to_redact", "line_items");
constexpr FieldNames kPerson("id", "email");

/// Refuses a body of another topic: topics are not signed. An order asks for nothing, and a person
/// who asks to see data does not ask to have it erased.
void check_topic(SourceObject& request, std::string_view topic) {
    if (request.has(kPrivacy["line_items"])) {
        request.invalid(kPrivacy["line_items"], "must be absent: this is an order");
    }
    if (topic == "customers/redact") {
        for (const std::size_t field : {kPrivacy["orders_requested"], kPrivacy["data_request"]}) {
            if (request.has(field)) {
                request.invalid(field, "must be absent: this is a customers/data_request");
            }
        }
    }
}

}  // namespace

bool write_privacy_request(const JsonValue& root, const ReadArguments& arguments, JsonWriter& json,
                           SourceReading& reading) {
    const FieldPlace place;
    SourceObject request(kPrivacy, root, place, reading);
    const std::uint64_t shop = arguments.settings.platform_shop;
    if (shop != 0 &&
        request.id(kPrivacy["shop_id"], Need::kOptional, Seen::kHidden) != std::to_string(shop)) {
        return false;
    }
    check_topic(request, arguments.request.topic);
    json.field("topic", arguments.request.topic);
    request.hidden_object(kPrivacy["customer"], kPerson, [&json](SourceObject& person) {
        const std::string_view id = person.id(0, Need::kOptional, Seen::kHidden);
        const std::string_view email = person.text(1, Need::kOptional, Seen::kHidden);
        if (!id.empty()) {
            json.field("platform_customer_id", id);
        }
        if (!email.empty()) {
            json.field("mail_id", mail_id(email));
        }
    });
    json.key("platform_order_ids").begin_array();
    for (const std::size_t field : {kPrivacy["orders_requested"], kPrivacy["orders_to_redact"]}) {
        for (const std::string_view id : request.ids(field)) {
            json.value(id);
        }
    }
    json.end_array();
    return true;
}

}  // namespace sluice
