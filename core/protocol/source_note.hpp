// Source note: what a translation has to say about an order (`source.notes`).
#pragma once

#include <cstdint>
#include <string_view>

#include "core/values/parsed.hpp"

namespace sluice {

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

}  // namespace sluice
