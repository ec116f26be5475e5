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

/// Reads the body of a deletion, which has the order's id alone. The topic is not signed, so a body
/// with more of an order is a fault: else a copy of an order's body could cancel the order.
[[nodiscard]] inline ReadResult read_deletion(SourceObject& order, std::size_t id,
                                              OrderDraft& draft) {
    draft.order_id = order.id(id, Need::kRequired);
    order.refuse_all_but(id, "must be absent: a deletion has the id alone, and this is an order");
    return {TranslationKind::kDeletion};
}

/// Reads a Shopify order or an `orders/delete`. Requires: `root` is an object.
[[nodiscard]] ReadResult read_shopify(const JsonValue& root, const ReadArguments& arguments,
                                      OrderDraft& draft, SourceReading& reading);

/// Reads a WooCommerce order. Requires: `root` is an object.
[[nodiscard]] ReadResult read_woocommerce(const JsonValue& root, const ReadArguments& arguments,
                                          OrderDraft& draft, SourceReading& reading);

/// Writes Shopify's request to show or to forget a person's data, without the braces. Returns
/// false if the body names another shop. A body that is no such request has faults.
[[nodiscard]] bool write_privacy_request(const JsonValue& root, const ReadArguments& arguments,
                                         JsonWriter& json, SourceReading& reading);

/// Applies Shopify's refunds to the lines. Returns how many there are.
/// Requires: draft.index_lines() returned nothing, and draft.currency is set.
[[nodiscard]] std::size_t read_shopify_refunds(SourceObject& order, std::size_t field,
                                               bool taxes_included, OrderDraft& draft);

}  // namespace sluice
