// Platform: the software of a shop, if sluice receives that software's own webhooks; and how an
// event of an order came.
#pragma once

#include <cstdint>

#include "core/values/name_table.hpp"

namespace sluice {

/// The values are part of stored formats and must never change.
enum class Platform : std::uint8_t {
    kNone = 0,  ///< The shop sends orders in our own format.
    kShopify = 1,
    kWooCommerce = 2,
};
template <>
inline constexpr NameTable<Platform, 3> kNamesOf<Platform>{{
    {Platform::kNone, "none"},
    {Platform::kShopify, "shopify"},
    {Platform::kWooCommerce, "woocommerce"},
}};

/// How an event of an order came. The values are part of stored formats and must never change.
enum class EventSource : std::uint8_t {
    kSignedPost = 0,  ///< In our own format, from a program of the sender.
    kShopify = 1,     ///< The platform's own webhook.
    kWooCommerce = 2,
    kImport = 3,  ///< An order of the shop's platform that was read from a file.
};
template <>
inline constexpr NameTable<EventSource, 4> kNamesOf<EventSource>{{
    {EventSource::kSignedPost, "signed_post"},
    {EventSource::kShopify, "shopify"},
    {EventSource::kWooCommerce, "woocommerce"},
    {EventSource::kImport, "import"},
}};

}  // namespace sluice
