// Source: the platform whose own webhooks a shop sends, and how its orders are to be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/protocol/platform.hpp"
#include "core/values/parsed.hpp"
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

/// Notes about an order whose amounts are not stated by the platform as the ledger needs them. The
/// worker records each as an anomaly of that kind. The values are bits of a set.
enum class SourceNote : std::uint8_t {
    kRefundNotByLine = 1,
    kTotalsDiffer = 2,
    kQuantityRounded = 4,
};
inline constexpr SourceNote kSourceNotes[] = {
    SourceNote::kRefundNotByLine, SourceNote::kTotalsDiffer, SourceNote::kQuantityRounded};

/// Returns REFUND_NOT_BY_LINE, TOTALS_DIFFER or QUANTITY_ROUNDED.
[[nodiscard]] std::string_view to_string(SourceNote note) noexcept;
[[nodiscard]] Parsed<SourceNote> parse_source_note(std::string_view text) noexcept;

class SourceNotes {
public:
    constexpr void add(SourceNote note) noexcept { bits_ |= static_cast<std::uint8_t>(note); }
    [[nodiscard]] constexpr bool has(SourceNote note) const noexcept {
        return (bits_ & static_cast<std::uint8_t>(note)) != 0;
    }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }

private:
    std::uint8_t bits_ = 0;
};

/// Returns the notes of `source.notes` of an order. Texts that are no note are ignored, because any
/// sender may write them. Requires: `order` is valid JSON.
[[nodiscard]] SourceNotes read_source_notes(std::string_view order);

}  // namespace sluice
