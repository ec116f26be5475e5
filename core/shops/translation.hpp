// Translation: a webhook of a platform, and what the translator made of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/protocol/field_error.hpp"
#include "core/shops/source.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// A webhook, or an order of a file.
struct SourceRequest {
    Platform platform = Platform::kShopify;
    std::string_view topic;  ///< As the platform names it: `orders/updated`, `order.updated`.
    std::string_view body;
    std::string_view anon_field;  ///< The name of the device id's field, such as `svc_anon_id`.
    /// Shopify: when the event happened, which orders the states of one second.
    std::optional<Timestamp> triggered_at;
    bool is_from_file = false;  ///< Newer than every webhook of the same state.
};

enum class TranslationKind : std::uint8_t {
    kOrder,     ///< body: the complete order, which OrderEventParser accepts.
    kDeletion,  ///< body: platform_order_id, and platform_updated_at if the platform states it.
    kPrivacy,   ///< body: a request of Shopify to show or to forget a person's data.
    kIgnored,
    kFaults,      ///< body: what could be read of the order, and the faults.
    kOtherShop,   ///< The body names another shop of the platform.
    kUnreadable,  ///< The body is not a JSON object.
};

enum class IgnoredReason : std::uint8_t { kTopic, kTestOrder, kNotPlaced, kBeforeStart };
/// Returns `topic`, `test_order`, `not_placed` or `before_start`.
[[nodiscard]] std::string_view to_string(IgnoredReason reason) noexcept;

/// Views are valid until the next translate() of the same translator.
struct Translation {
    TranslationKind kind = TranslationKind::kOrder;
    IgnoredReason ignored = IgnoredReason::kTopic;  ///< If kIgnored.
    std::string_view body{};
    std::string_view anon_id{};
    SourceNotes notes{};
    std::span<const FieldError> faults{};  ///< If kFaults: 1 to 100.
    std::string_view error{};              ///< If kUnreadable: static text.
};

}  // namespace sluice
