#include "core/protocol/personal_ids.hpp"
#include "core/shops/platforms.hpp"

namespace sluice {
namespace {

constexpr FieldNames kPrivacy("shop_id", "customer", "orders_requested", "orders_to_redact");
constexpr FieldNames kPerson("id", "email");

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
