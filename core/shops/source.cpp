#include "core/shops/source.hpp"

#include <array>

namespace sluice {
namespace {

constexpr std::array<std::string_view, 3> kPlatformNames{"none", "shopify", "woocommerce"};

}  // namespace

std::string_view to_string(Platform platform) noexcept {
    return kPlatformNames[static_cast<std::size_t>(platform)];
}

Parsed<Platform> parse_platform(std::string_view text) noexcept {
    for (const Platform platform : {Platform::kNone, Platform::kShopify, Platform::kWooCommerce}) {
        if (to_string(platform) == text) {
            return platform;
        }
    }
    return std::nullopt;
}

std::string platform_domain(std::string_view text) {
    std::string host;
    for (const char c : text) {
        host += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    for (const std::string_view scheme : {"https://", "http://"}) {
        if (host.starts_with(scheme)) {
            host.erase(0, scheme.size());
        }
    }
    if (host.ends_with('/')) {
        host.pop_back();
    }
    return host;
}

std::string_view to_string(SourceNote note) noexcept {
    switch (note) {
        case SourceNote::kRefundNotByLine:
            return "REFUND_NOT_BY_LINE";
        case SourceNote::kTotalsDiffer:
            return "TOTALS_DIFFER";
        case SourceNote::kQuantityRounded:
            return "QUANTITY_ROUNDED";
    }
    return {};
}

Parsed<SourceNote> parse_source_note(std::string_view text) noexcept {
    for (const SourceNote note : kSourceNotes) {
        if (to_string(note) == text) {
            return note;
        }
    }
    return std::nullopt;
}

}  // namespace sluice
