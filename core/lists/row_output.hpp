// Row output: where the rows of a list go: to a terminal, a file, or a client.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json/slices.hpp"
#include "core/json/value.hpp"
#include "core/lists/column.hpp"
#include "core/values/assert.hpp"
#include "core/values/interface.hpp"

namespace sluice::lists {

/// Cells of a listing, in the order of its columns.
using Row = std::vector<Json>;

/// Takes the rows of a listing, one at a time.
class RowOutput : public Interface {
public:
    virtual void add(const Row& row) = 0;
    /// Adds a row whose values are JSON text already: a product.
    virtual void add_raw(const std::vector<JsonMember>& /*row*/) { SLUICE_ASSERT(false); }
};

/// Returns the row as an object with a member for each column. Columns beyond the row's end are
/// null.
/// @tparam AnyColumn  Has a `name`.
template <class AnyColumn>
[[nodiscard]] Json object_of(const std::vector<AnyColumn>& columns, const Row& row) {
    SLUICE_ASSERT(row.size() <= columns.size());
    Json object = Json::object();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        object[columns[i].name] = i < row.size() ? row[i] : Json();
    }
    return object;
}

/// Returns a list of the rows as objects.
[[nodiscard]] inline Json objects_of(const std::vector<Column>& columns,
                                     const std::vector<Row>& rows) {
    return Json::list(rows, [&columns](const Row& row) { return object_of(columns, row); });
}

/// Returns a field of a CSV file, quoted if RFC 4180 demands it.
[[nodiscard]] std::string csv_field(std::string_view text);
/// Returns the text of a field from JSON text, not yet quoted. Numbers stay as they were written.
[[nodiscard]] std::string raw_cell_text(std::string_view json);

}  // namespace sluice::lists
