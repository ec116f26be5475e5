// Source note: what a translation has to say about an order (`source.notes`).
#pragma once

#include <cstdint>
#include <iterator>

#include "core/values/name_table.hpp"

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

template <>
inline constexpr NameTable<SourceNote, 3> kNamesOf<SourceNote>{{
    {SourceNote::kRefundNotByLine, "REFUND_NOT_BY_LINE"},
    {SourceNote::kTotalsDiffer, "TOTALS_DIFFER"},
    {SourceNote::kQuantityRounded, "QUANTITY_ROUNDED"},
}};

static_assert(std::size(kSourceNotes) == kNamesOf<SourceNote>.size());

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
