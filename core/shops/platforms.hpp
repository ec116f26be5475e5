// Platforms: the readers of each platform's orders. For the translator only.
#pragma once

#include "core/json/tree.hpp"
#include "core/shops/order_draft.hpp"
#include "core/shops/source_object.hpp"
#include "core/shops/translation.hpp"

namespace sluice {

struct ReadArguments {
    const SourceRequest& request;
    const SourceSettings& settings;
};

/// The kind of a reader's result. The draft has the rest.
struct ReadResult {
    TranslationKind kind = TranslationKind::kOrder;
    IgnoredReason ignored = IgnoredReason::kTopic;
};

[[nodiscard]] inline ReadResult ignored_because(IgnoredReason reason) noexcept {
    return {TranslationKind::kIgnored, reason};
}

/// Reads a Shopify order or an `orders/delete`. Requires: `root` is an object.
[[nodiscard]] ReadResult read_shopify(const JsonValue& root, const ReadArguments& arguments,
                                      OrderDraft& draft, SourceReading& reading);

/// Reads a WooCommerce order. Requires: `root` is an object.
[[nodiscard]] ReadResult read_woocommerce(const JsonValue& root, const ReadArguments& arguments,
                                          OrderDraft& draft, SourceReading& reading);

/// Writes Shopify's request to show or to forget a person's data, without the braces. Returns
/// false if the body names another shop.
[[nodiscard]] bool write_privacy_request(const JsonValue& root, const ReadArguments& arguments,
                                         JsonWriter& json, SourceReading& reading);

/// Applies Shopify's refunds to the lines. Returns how many there are.
/// Requires: draft.index_lines() returned nothing, and draft.currency is set.
[[nodiscard]] std::size_t read_shopify_refunds(SourceObject& order, std::size_t field,
                                               bool taxes_included, OrderDraft& draft);

}  // namespace sluice
