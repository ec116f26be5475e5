// The canonical dump of an embedded ledger, and the comparison of two of them.
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
    struct State;  ///< The transaction, and a position in it.
    explicit LedgerRows(std::unique_ptr<State> state);
    LedgerRows(const LedgerRows&) = delete;
    LedgerRows& operator=(const LedgerRows&) = delete;
    ~LedgerRows();

    /// Moves to the next row, at first to the first one. Returns false if there is none.
    [[nodiscard]] bool next();
    /// Moves before the first row of one table, with which next() ends.
    void enter(std::string_view table);
    /// Begins again before the first row of all tables.
    /// @param as_stored  Give rows of orders and open amounts without the changes of orders.
    void restart(bool as_stored);
    /// Returns the SHA-256 over the changes of orders.
    [[nodiscard]] Digest256 digest_of_changes();
    /// Views are valid until the next call of next().
    [[nodiscard]] std::string_view table() const noexcept;
    [[nodiscard]] std::string_view key() const noexcept;
    [[nodiscard]] std::string_view value() const noexcept;
    /// Returns the head of the queue that was asked for, in the same state.
    [[nodiscard]] const LedgerHead& head() const noexcept;

private:
    std::unique_ptr<State> state_;
};

/// Restarts both readers, without the changes of orders if both have the same ones. Returns whether
/// both have the same ones. If their rows are equal then, they are equal with the changes, whose
/// look-ups take most of the time of a comparison.
[[nodiscard]] bool restart_without_changes(LedgerRows& a, LedgerRows& b);

struct LedgerDifference {
    std::string table;
    std::string key_hex;
};
/// Returns the first row that differs or that only one of them has, or no value if they are equal.
[[nodiscard]] std::optional<LedgerDifference> first_difference(LedgerRows& a, LedgerRows& b);

}  // namespace sluice::store
