// List map: the fields of an order that a list may have, and the columns that have them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/values/parsed.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"

namespace sluice::cli {

/// Fields of an order that a list may have, by their names in the payload.
enum class ListField : std::uint8_t {
    kId,
    kOrderedAt,
    kVersion,
    kCancelledAt,
    kAmount,
    kTax,
    kShipping,
    kCurrency,
};
inline constexpr std::size_t kListFields = 8;
/// Returns the name of a field: `platform_order_id`.
[[nodiscard]] std::string_view name_of(ListField field) noexcept;
/// Returns its column in `report orders`.
[[nodiscard]] std::string_view report_column_of(ListField field) noexcept;
[[nodiscard]] constexpr std::size_t index_of(ListField field) noexcept {
    return static_cast<std::size_t>(field);
}
[[nodiscard]] constexpr ListField field_at(std::size_t index) noexcept {
    return static_cast<ListField>(index);
}

/// The column of a list that has a field; empty for the field's own name.
using ListMap = std::array<std::string, kListFields>;
/// Parses `FIELD=COLUMN,...`. A column's name may contain `=`, and a comma that no FIELD= follows.
[[nodiscard]] Result<ListMap> parse_list_map(std::string_view text);

/// Parses RFC 3339, and the same with a space for `T`, a space before the offset, an offset without
/// a colon, or ` UTC`: `2026-03-01 12:00:00 +0100`.
[[nodiscard]] Parsed<Timestamp> parse_list_time(std::string_view text);

}  // namespace sluice::cli
