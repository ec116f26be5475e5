// Row sums: changes that a transaction adds to rows, kept until it commits, so that each row is
// written once.
//
// Threads: not safe. Memory: one row for each key.
#pragma once

#include <cstddef>
#include <functional>
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
    struct KeyHash {
        std::size_t operator()(RowView row) const;
    };
    struct SameKey {
        bool operator()(RowView a, RowView b) const;
    };

    std::unordered_map<RowView, AnyRow, KeyHash, SameKey> sums_;  ///< By the row's own key columns.
};

}  // namespace sluice
