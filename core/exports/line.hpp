// Export lines: rows of an export as text, one line each, for programs that load files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/decimal.hpp"
#include "core/values/timestamp.hpp"

namespace sluice::exports {

enum class ExportFormat : std::uint8_t {
    kNdjson,  ///< A JSON object in each line. Amounts are strings.
    kCsv,     ///< RFC 4180 with a header line. An empty field is null or an empty text.
};

enum class ColumnType : std::uint8_t {
    kText,
    kTexts,    ///< A list of texts without `;`, which divides them in CSV.
    kInteger,  ///< Fits 64 bits, signed.
    kAmount,   ///< Up to 6 digits after the point.
    kFlag,
    kTime,  ///< RFC 3339 in UTC, with up to 9 digits of a second.
    kJson,
};

struct ExportColumn {
    std::string_view name;
    ColumnType type = ColumnType::kText;
};

/// Writes rows, each column by column in their order. Reuses its buffer.
class ExportLine {
public:
    ExportLine(ExportFormat format, const std::vector<ExportColumn>& columns);

    /// Returns the header line of a CSV file, or an empty text.
    [[nodiscard]] std::string header() const;

    ExportLine& text(std::string_view value);
    ExportLine& text_or_null(std::string_view value);  ///< Null for an empty text.
    ExportLine& texts(const std::vector<std::string>& values);
    ExportLine& integer(std::uint64_t value);
    ExportLine& amount(const Decimal& value);
    /// A decimal number as it was sent.
    ExportLine& amount(std::string_view value);
    ExportLine& flag(bool value);
    ExportLine& time(const Timestamp& value);
    ExportLine& time(const std::optional<Timestamp>& value);
    /// A value of the column's type from valid JSON text.
    ExportLine& from_json(std::string_view value);
    ExportLine& null();

    /// Ends the row. Returns its text with a line feed, valid until the next row begins. Requires:
    /// every column was written.
    [[nodiscard]] std::string_view end();

private:
    [[nodiscard]] ColumnType type() const;  ///< The next column's.
    void begin_value(ColumnType wanted);
    void append_value(std::string_view value, bool is_string);
    void append_csv(std::string_view value);

    ExportFormat format_;
    const std::vector<ExportColumn>* columns_;
    std::vector<std::string> names_;  ///< `{"a":`, `,"b":`; in CSV an empty text, then commas.
    std::size_t at_ = 0;
    std::string line_;
};

}  // namespace sluice::exports
