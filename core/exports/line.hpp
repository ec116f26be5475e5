// Export lines: rows of an export as text, one line each, for programs that load files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/lists/list.hpp"

namespace sluice::exports {

enum class ExportFormat : std::uint8_t {
    kNdjson,  ///< A JSON object in each line. Amounts are strings.
    kCsv,     ///< RFC 4180 with a header line. An empty field is null or an empty text.
};

using lists::Column;
using lists::ColumnType;

/// Writes rows, each column by column in their order. Reuses its buffer.
class ExportLine {
public:
    ExportLine(ExportFormat format, const std::vector<Column>& columns);

    /// Returns the header line of a CSV file, or an empty text.
    [[nodiscard]] std::string header() const;

    /// Writes the next column. Requires: the value is null, or of the column's type.
    void add(const lists::Value& value);
    /// Writes a row of the list.
    template <class Of>
    void add(const lists::List<Of>& list, const Of& of) {
        list.visit(of, [this](const lists::Value& value) { add(value); });
    }
    /// Writes the next column, a value of its type, from valid JSON text.
    void add_json(std::string_view value);

    /// Ends the row. Returns its text with a line feed, valid until the next row begins. Requires:
    /// every column was written.
    [[nodiscard]] std::string_view end();

private:
    void begin_value();
    void append(std::string_view text);
    void append(const std::string& text) { append(std::string_view(text)); }
    void append(const std::vector<std::string>& texts);
    void append(const Decimal& amount) { append(std::string_view(amount.to_string())); }
    void append(const Timestamp& time) { append(std::string_view(time.to_string())); }
    void append(std::uint64_t number) { append_value(std::to_string(number), false); }
    void append(bool flag) { append_value(flag ? "true" : "false", false); }
    void append(const Json& json) { append_value(json.compact(), false); }
    void append(std::monostate /*null*/);
    void append_value(std::string_view value, bool is_string);
    void append_csv(std::string_view value);

    ExportFormat format_;
    const std::vector<Column>* columns_;
    std::vector<std::string> names_;  ///< `{"a":`, `,"b":`; in CSV an empty text, then commas.
    std::size_t at_ = 0;
    std::string line_;
};

}  // namespace sluice::exports
