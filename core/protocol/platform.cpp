#include "core/protocol/platform.hpp"

#include "core/values/name_table.hpp"

namespace sluice {
namespace {

constexpr NameTable<Platform, 3> kPlatforms{{
    {Platform::kNone, "none"},
    {Platform::kShopify, "shopify"},
    {Platform::kWooCommerce, "woocommerce"},
}};

}  // namespace

std::string_view to_string(Platform platform) noexcept {
    return name_in(kPlatforms, platform, "unknown");
}

Parsed<Platform> parse_platform(std::string_view text) noexcept {
    return value_in(kPlatforms, text);
}

}  // namespace sluice
