// Product records from CSV rows: the header names the record's fields, an empty cell is an absent
// field.
//
// Text stays text. Numbers and booleans are taken as they stand; a cell that is neither becomes a
// string, and the server refuses it by its line. Lists are words separated by `;`. A list or object
// may also be written as JSON (`variants`, `prices`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/protocol/product_fields.hpp"
#include "core/values/result.hpp"

namespace sluice::cli {

class CsvProducts {
public:
    /// kInvalid: a column that no product record has, one that comes twice, or no
    /// platform_product_id.
    [[nodiscard]] static Result<CsvProducts> from_header(const std::vector<std::string>& names);

    /// One JSON object. kInvalid: the row has another number of fields, or a cell that should be
    /// JSON is not.
    [[nodiscard]] Result<std::string> to_json(const std::vector<std::string>& fields) const;

    /// A problem that begins with a field's name, behind the number of its column:
    /// `title: REQUIRED` becomes `, column 2: title: REQUIRED`; another problem `: problem`.
    [[nodiscard]] std::string placed(const std::string& problem) const;

private:
    std::vector<const ProductField*> fields_;  ///< Of each column; static.
};

}  // namespace sluice::cli
