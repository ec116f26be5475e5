// Source: the platform whose own webhooks a shop sends, and how its orders are to be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/slices.hpp"
#include "core/protocol/platform.hpp"
#include "core/protocol/source_note.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// How the orders of a shop are read.
struct SourceSettings {
    std::optional<Timestamp> from;  ///< Orders placed before it are ignored.
    /// Shopify's number of the shop, which the links of its orders contain. Not checked if 0.
    std::uint64_t platform_shop = 0;
    bool presentment_money = false;  ///< Amounts in the customer's currency, not in the shop's.
    bool counts_test_orders = false;
    bool counts_gift_cards = false;
    friend bool operator==(const SourceSettings&, const SourceSettings&) = default;
};

/// A shop's platform, as the registry has it.
struct ShopSource {
    Platform platform = Platform::kNone;
    std::string domain;  ///< As platform_domain() returns it; empty: requests must name the shop.
    SourceSettings settings;
    friend bool operator==(const ShopSource&, const ShopSource&) = default;
};

/// Returns the host as which a platform's header names a shop: in ASCII lower case, without scheme
/// and final `/`.
[[nodiscard]] std::string platform_domain(std::string_view text);

/// Returns the members of `source` of an order. Requires: `order` is valid JSON.
[[nodiscard]] std::vector<JsonMember> source_members(std::string_view order);
/// Returns the notes of `source.notes` of an order. Texts that are no note are ignored, because any
/// sender may write them. Requires: `order` is valid JSON.
[[nodiscard]] SourceNotes read_source_notes(std::string_view order);

}  // namespace sluice
