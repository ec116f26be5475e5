// Order lists: what a shop's own export states of its orders, as CSV or as NDJSON of payloads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/values/decimal.hpp"
#include "core/values/interface.hpp"
#include "core/values/money.hpp"
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

/// The column of a list that has a field; empty for the field's own name.
using ListMap = std::array<std::string, kListFields>;
/// Parses `FIELD=COLUMN,...`. A column's name may contain `=`, but no comma.
[[nodiscard]] Result<ListMap> parse_list_map(std::string_view text);

/// One order, as a list states it. A field without a value is not compared.
struct ListedOrder {
    std::uint64_t line = 0;  ///< Line where it begins, from 1.
    std::string order_id;
    std::optional<Timestamp> ordered_at, version;
    std::optional<bool> cancelled;
    std::optional<Decimal> amount, tax, shipping;
    std::optional<Currency> currency;
    std::string payload;  ///< NDJSON: the line as it was read.
    /// Why it cannot be read, and the field; both empty if it can. `bad_field` is empty if no
    /// field of the row can be read.
    std::string problem;
    std::string_view bad_field;
    std::string bad_value;
};

/// Parses RFC 3339, and the same with a space for `T`, a space before the offset, an offset without
/// a colon, or ` UTC`: `2026-03-01 12:00:00 +0100`.
[[nodiscard]] Parsed<Timestamp> parse_list_time(std::string_view text);

class OrderList : public Interface {
public:
    static constexpr std::size_t kRowBytesMax = std::size_t{1} << 20;

    /// Reads the next order. Rows that continue an order with another line item are skipped.
    /// @return false at the end, or an error if the rest cannot be read
    [[nodiscard]] virtual Result<bool> next(ListedOrder& order) = 0;
    /// Returns true if the rows are payloads, which can be sent.
    [[nodiscard]] virtual bool has_payloads() const noexcept = 0;
};

/// Opens a list: NDJSON if it is named `.ndjson` or `.jsonl`, or begins with `{`; else CSV, which
/// may also have the columns of `report orders`. Returns kInvalid if a CSV file lacks the id's
/// column or one that `map` names.
[[nodiscard]] Result<std::unique_ptr<OrderList>> open_order_list(const std::string& path,
                                                                 const ListMap& map);

}  // namespace sluice::cli
