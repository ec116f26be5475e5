// The canonical dump of an embedded ledger, and what two of them can be compared by.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/ledger/head.hpp"
#include "core/protocol/signature.hpp"

namespace sluice::store {

/// Every row of every table of one consistent state, in the order of table names and keys. Equal
/// ledgers give equal rows, however their inputs were batched. Throws LedgerFailure. Destroy it
/// before its ledger.
class LedgerRows final {
public:
    struct State;  ///< The transaction, and where in it.
    explicit LedgerRows(std::unique_ptr<State> state);
    LedgerRows(const LedgerRows&) = delete;
    LedgerRows& operator=(const LedgerRows&) = delete;
    ~LedgerRows();

    /// Moves to the next row (at first: to the first one); false: there are no more.
    [[nodiscard]] bool next();
    /// Views are valid until the next call of next().
    [[nodiscard]] std::string_view table() const noexcept;
    [[nodiscard]] std::string_view key() const noexcept;
    [[nodiscard]] std::string_view value() const noexcept;
    /// Of the queue that was asked for, in the same state.
    [[nodiscard]] const LedgerHead& head() const noexcept;

private:
    std::unique_ptr<State> state_;
};

/// SHA-256 over the rest of the canonical dump.
[[nodiscard]] Digest256 ledger_digest(LedgerRows& rows);

struct LedgerDifference {
    std::string table;
    std::string key_hex;
};
/// The first row that only one of them has, or that differs. Nothing: they are equal.
[[nodiscard]] std::optional<LedgerDifference> first_difference(LedgerRows& a, LedgerRows& b);

}  // namespace sluice::store
