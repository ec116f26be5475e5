#include "core/protocol/platform.hpp"

#include "core/values/name_table.hpp"

namespace sluice {
namespace {

constexpr NameTable<Platform, 3> kPlatforms{{
    {Platform::kNone, "none"},
    {Platform::kShopify, "shopify"},
    {Platform::kWooCommerce, "woocommerce"},
}};

constexpr NameTable<EventSource, 4> kEventSources{{
    {EventSource::kSignedPost, "signed_post"},
    {EventSource::kShopify, "shopify"},
    {EventSource::kWooCommerce, "woocommerce"},
    {EventSource::kImport, "import"},
}};

}  // namespace

std::string_view to_string(Platform platform) noexcept {
    return name_in(kPlatforms, platform, "unknown");
}

Parsed<Platform> parse_platform(std::string_view text) noexcept {
    return value_in(kPlatforms, text);
}

std::string_view to_string(EventSource source) noexcept {
    return name_in(kEventSources, source, "unknown");
}

}  // namespace sluice
