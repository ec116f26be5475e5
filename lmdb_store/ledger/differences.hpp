// Differences: two ledgers compared row by row, and each difference named (controls K9).
//
// Both are read as raw rows, so that a row that no longer decodes is a difference like any other.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lmdb_store/ledger/dump.hpp"
#include "lmdb_store/ledger/row_digests.hpp"

namespace sluice::store {

/// A column, or a whole row (`column` is then empty), that differs.
struct RowDifference {
    std::string table, key, column;
    std::optional<std::string> stored;  ///< No value if the column or the row is absent.
    std::optional<std::string> right;   ///< Likewise, in the ledger that is known to be right.
};
/// Returns false to end the comparison.
using DifferenceVisitor = std::function<bool(const RowDifference&)>;

/// Returns the digest of every table, indexes included, by name.
[[nodiscard]] std::vector<TableDigest> table_digests(LedgerRows& rows);

/// Compares one table, in the order of its keys. Memory: at most a thousand rows.
/// @param form  Texts that have the same form are equal. May be empty.
/// @return false if the visitor ended it.
bool visit_differences(std::string_view table, LedgerRows& stored, LedgerRows& right,
                       const std::function<std::string(const std::string&)>& form,
                       const DifferenceVisitor& visit);

}  // namespace sluice::store
