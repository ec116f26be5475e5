// Schema values: amounts, dates and times in every spelling that the ISO 20022 schemas allow.
#pragma once

#include <optional>
#include <string_view>

#include "core/values/decimal.hpp"
#include "core/values/timestamp.hpp"

namespace sluice::cli {

/// Parses an xs:decimal that is not negative, such as `+5`, `.5`, `008.1` or `1.100000`.
[[nodiscard]] std::optional<Decimal> schema_decimal(std::string_view text);
/// Parses an xs:date, with or without a zone, and returns the first instant (UTC) of the day that
/// the text names. Takes an xs:dateTime as well, because banks write one in its place.
[[nodiscard]] std::optional<Timestamp> schema_date(std::string_view text);
/// Parses an xs:dateTime. 24:00:00 is the end of the day; no zone means UTC.
[[nodiscard]] std::optional<Timestamp> schema_time(std::string_view text);

}  // namespace sluice::cli
