// Row digests: two ledgers are equal if their digests are. A row's bytes are the key and value that
// the embedded ledger stores, whichever ledger it was read from.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/copy/row_sink.hpp"
#include "core/protocol/signature.hpp"

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

}  // namespace sluice::store
