// By line: finding rows of an order's line. Rows mostly stand where the line does; a table is made
// only for those that do not.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "core/values/ids.hpp"

namespace sluice {

/// @tparam Id  The member of a row that names its line. Of several rows the first is found.
/// `rows` must not change meanwhile.
template <class Row, LineItemId std::remove_const_t<Row>::*Id>
class ByLine {
public:
    explicit ByLine(std::span<Row> rows) : rows_(rows) {}

    /// nullptr: there is none.
    [[nodiscard]] Row* find(std::string_view id, std::size_t likely_index) {
        if (likely_index < rows_.size() && (rows_[likely_index].*Id).view() == id) {
            return &rows_[likely_index];
        }
        if (by_id_.empty()) {
            for (Row& row : rows_) {
                by_id_.emplace((row.*Id).view(), &row);
            }
        }
        const auto found = by_id_.find(id);
        return found == by_id_.end() ? nullptr : found->second;
    }

private:
    std::span<Row> rows_;
    std::unordered_map<std::string_view, Row*> by_id_;
};

}  // namespace sluice
