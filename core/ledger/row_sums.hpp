// Row sums: changes that a transaction adds to rows, kept until it commits, so that each row is
// written once.
//
// Threads: not safe. Memory: one row for each key.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

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
    /// The next change is mostly to a row that was changed just before, so keys are rarely sorted.
    static constexpr std::size_t kRecent = 4;

    using Key = std::pair<unsigned, std::string>;  ///< Number of the table, sort_key().

    std::map<Key, AnyRow> sums_;
    std::array<AnyRow*, kRecent> recent_{};  ///< In `sums_`, or nullptr.
    std::size_t next_recent_ = 0;
};

}  // namespace sluice
