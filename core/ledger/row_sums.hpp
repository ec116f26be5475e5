// Row sums: changes that a transaction adds to rows, kept until it commits, so that each row is
// written once.
//
// Threads: not safe. Memory: one row for each key.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/ledger/table.hpp"

namespace sluice {

class RowSums {
public:
    RowSums() = default;
    RowSums(const RowSums&) = delete;
    RowSums& operator=(const RowSums&) = delete;

    void add(RowView change);
    /// Visits the sums, table by table, in the order of their keys, and forgets them.
    void take(const std::function<void(RowView sum)>& visit);

private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };

    using Sums = std::unordered_map<std::string, AnyRow, Hash, std::equal_to<>>;

    Sums sums_;  ///< By the number of the table and the sort key.
    /// The row of each table that was changed last, which is often changed again.
    std::array<Sums::pointer, kDescribedTables> last_{};
    std::string key_;  ///< The last row's; keeps its buffer.
};

}  // namespace sluice
