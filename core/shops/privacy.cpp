#include <array>

#include "core/protocol/personal_ids.hpp"
#include "core/shops/platforms.hpp"

namespace sluice {
namespace {

enum PrivacyField : std::size_t {
    kPrivacyShop,
    kPrivacyCustomer,
    kPrivacyRequested,
    kPrivacyRedacted,
};
constexpr std::array<std::string_view, 4> kPrivacyNames{"shop_id", "customer", "orders_requested",
                                                        "orders_to_redact"};
constexpr FieldNames kPrivacyFields{kPrivacyNames, source_index(kPrivacyNames)};
constexpr std::array<std::string_view, 2> kPersonNames{"id", "email"};
constexpr FieldNames kPersonFields{kPersonNames, source_index(kPersonNames)};

}  // namespace

bool write_privacy_request(const JsonValue& root, const ReadArguments& arguments, JsonWriter& json,
                           SourceReading& reading) {
    const SourcePlace place;
    SourceObject request(kPrivacyFields, root, place, reading);
    const std::uint64_t shop = arguments.settings.platform_shop;
    if (shop != 0 &&
        request.id(kPrivacyShop, Need::kOptional, Seen::kHidden) != std::to_string(shop)) {
        return false;
    }
    json.field("topic", arguments.request.topic);
    request.hidden_object(kPrivacyCustomer, kPersonFields, [&json](SourceObject& person) {
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
    for (const std::size_t field : {kPrivacyRequested, kPrivacyRedacted}) {
        for (const std::string_view id : request.ids(field)) {
            json.value(id);
        }
    }
    json.end_array();
    return true;
}

}  // namespace sluice
