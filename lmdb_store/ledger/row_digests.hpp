// Row digests: what two ledgers are compared by. A row's bytes are those that the embedded ledger
// stores, key and value, whichever ledger it was read from.
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
    Digest256 sha256{};  ///< Of all rows, in the order of their keys.
    friend bool operator==(const TableDigest&, const TableDigest&) = default;
};

class RowDigests : public RowSink {
public:
    /// @param as_stored  What the other ledger makes of a text (LedgerFill::as_stored); empty:
    /// nothing else.
    [[nodiscard]] static std::unique_ptr<RowDigests> make(
        std::function<std::string(const std::string&)> as_stored);
    /// Of every table, also of empty ones; by name.
    [[nodiscard]] virtual std::vector<TableDigest> take() = 0;
    /// Rows with a text that `as_stored` changed.
    [[nodiscard]] virtual std::uint64_t changed_rows() const noexcept = 0;
};

}  // namespace sluice::store
