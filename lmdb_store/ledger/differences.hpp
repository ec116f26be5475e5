// Differences: two ledgers compared, by digests of their rows, or row by row, and each difference
// named (controls K9). A row's bytes are the key and value that the embedded ledger stores,
// whichever ledger it was read from.
//
// Both are read as raw rows, so that a row that no longer decodes is a difference like any other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/copy/row_sink.hpp"
#include "core/protocol/signature.hpp"
#include "lmdb_store/ledger/dump.hpp"

namespace sluice::store {

struct TableDigest {
    std::string table;
    std::uint64_t rows = 0;
    Digest256 sha256{};  ///< Over all rows, in the order of their keys.
    friend bool operator==(const TableDigest&, const TableDigest&) = default;
};

class RowDigests : public RowSink {
public:
    /// @param as_stored  Gives a text the form in which the other ledger stores it
    /// (LedgerFill::as_stored). May be empty.
    [[nodiscard]] static std::unique_ptr<RowDigests> make(
        std::function<std::string(const std::string&)> as_stored);
    /// Returns the digest of every table, empty ones included, by name.
    [[nodiscard]] virtual std::vector<TableDigest> take() = 0;
    /// Returns the number of rows with a text that `as_stored` changed.
    [[nodiscard]] virtual std::uint64_t changed_rows() const noexcept = 0;
};

/// A column, or a whole row (`column` is then empty), that differs.
struct RowDifference {
    std::string table, key, column;
    std::optional<std::string> stored;  ///< No value if the column or the row is absent.
    std::optional<std::string> right;   ///< In the ledger that is known to be right.
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
