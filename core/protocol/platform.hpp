// Platform: the software of a shop, if sluice receives that software's own webhooks; and how an
// event of an order came.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/values/parsed.hpp"

namespace sluice {

/// The values are part of stored formats and must never change.
enum class Platform : std::uint8_t {
    kNone = 0,  ///< The shop sends orders in our own format.
    kShopify = 1,
    kWooCommerce = 2,
};

/// Returns `none`, `shopify` or `woocommerce`.
[[nodiscard]] std::string_view to_string(Platform platform) noexcept;
[[nodiscard]] Parsed<Platform> parse_platform(std::string_view text) noexcept;

/// How an event of an order came. The values are part of stored formats and must never change.
enum class EventSource : std::uint8_t {
    kSignedPost = 0,  ///< In our own format, from a program of the sender.
    kShopify = 1,     ///< The platform's own webhook.
    kWooCommerce = 2,
    kImport = 3,  ///< An order of the shop's platform that was read from a file.
};

/// Returns `signed_post`, `shopify`, `woocommerce` or `import`.
[[nodiscard]] std::string_view to_string(EventSource source) noexcept;

}  // namespace sluice
