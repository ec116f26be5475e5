// Described rows as text: each column with its name, to the last digit, so that equal texts are
// equal rows.
#pragma once

#include <string>
#include <vector>

#include "core/ledger/table.hpp"

namespace sluice::test {

struct ValueText {
    std::string& text;

    void operator()(std::uint8_t value) { text += std::to_string(value); }
    void operator()(std::uint32_t value) { text += std::to_string(value); }
    void operator()(std::uint64_t value) { text += std::to_string(value); }
    void operator()(bool value) { text += value ? "true" : "false"; }
    void operator()(const AnyTextId& id) { text += id.view(); }
    void operator()(const std::string& value) { text += value; }
    void operator()(const Currency& currency) { text += currency.code(); }
    void operator()(const Decimal& value) { text += value.to_string(); }
    void operator()(const Timestamp& at) {
        text += std::to_string(at.seconds) + "." + std::to_string(at.nanos);
    }
    void operator()(const Digest256& digest) { text += to_hex(digest); }
};

inline std::string row_text(RowView row) {
    std::string text = row.table().name;
    for (const std::vector<Column>* columns : {&row.table().key, &row.table().rest}) {
        for (const Column& column : *columns) {
            text += std::string(" ") + column.name + "=";
            const void* const value = column.find(row.get());
            if (value == nullptr) {
                text += "none";
            } else if (column.kind == ColumnKind::kBytes) {
                const auto& bytes = *static_cast<const std::string*>(value);
                text += to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
            } else {
                with_value(column.kind, value, ValueText{text});
            }
        }
    }
    return text;
}

/// Calls `fill(column, value)` for every column of a row, where `value` is what the row holds.
/// @param is_there  (column) -> bool: whether a column that may be absent gets a value.
template <class IsThere, class Fill>
void fill_columns(RowRef row, const std::vector<Column>& columns, IsThere&& is_there, Fill&& fill) {
    for (const Column& column : columns) {
        if (column.optional != nullptr) {
            column.reset(row.get());
            if (!is_there(column)) {
                continue;
            }
        }
        with_value(column.kind, column.make(row.get()), [&](auto& value) { fill(column, value); });
    }
}

}  // namespace sluice::test
