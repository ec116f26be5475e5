// Platform: the software of a shop, if sluice receives that software's own webhooks.
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

}  // namespace sluice
