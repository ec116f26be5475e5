// Row sink: receives every row of a ledger, table by table, from a WholeReader.
//
// One walk (walk_ledger()) feeds the fill of another ledger and the comparison of two ledgers,
// so neither can know of a table that the other one forgets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/values/interface.hpp"

namespace sluice {

/// One node's part of a balance.
struct NodeBalance {
    std::string node;
    Balance part;
};

/// One consistent state, of all nodes.
class WholeReader : public virtual LedgerReader {
public:
    /// Selects the node whose head(), chain() and per-node rows the following calls return.
    virtual void turn_to(std::string_view node) = 0;
    /// By key, then by node.
    virtual void scan_balance_parts(const Visitor<NodeBalance>& visit) = 0;
};

/// Each table's rows come in the order of their keys. Throws LedgerFailure.
class RowSink : public Interface {
public:
    virtual void add_row(RowView row) = 0;
    /// Heads come first, by node.
    virtual void add(const LedgerHead& head) = 0;
    /// Selects the node to which the following rows of per-node tables belong.
    virtual void turn_to(std::string_view node) = 0;
    virtual void add(const NodeChain& chain) = 0;
    virtual void add(const NodeBalance& balance) = 0;
    virtual void add(const JournalGroup& group) = 0;
    virtual void add(const OrderState& order) = 0;
    /// Takes one more event of an order. The row of the order has room for the first ones only.
    virtual void add(const OrderKey& order, const EventTrace& event) = 0;
    virtual void add(const CatalogRecord& record) = 0;
};

struct FillOptions {
    std::uint64_t rows_max = 10'000;  ///< In one transaction, which has at most 16 MB.
    /// Called after each transaction with the number of rows so far. May be empty.
    std::function<void(std::uint64_t)> committed;
};

/// An empty ledger that receives the rows of another one, in transactions of bounded size. Until
/// finish() it is marked as unfinished, so that no program opens it as a ledger.
class LedgerFill : public RowSink {
public:
    /// Makes all that was added durable.
    virtual void flush() = 0;
    /// Returns a reader of the rows stored so far. Requires: flush().
    [[nodiscard]] virtual std::unique_ptr<WholeReader> written() = 0;
    /// Removes the mark, so that programs open the ledger. Requires: flush().
    virtual void finish() = 0;
    /// Returns the form in which this kind of ledger stores a text from people or damaged records.
    [[nodiscard]] virtual std::string as_stored(const std::string& text) const { return text; }
};

/// Returns the heads of all nodes.
[[nodiscard]] std::vector<LedgerHead> heads_of(LedgerReader& ledger);

/// Feeds `to` with all rows of `from`. Memory: heads, chains, shops, and one row.
/// Throws LedgerFailure; DamagedRow if a row is damaged, or if there are more orders or entries
/// than the heads account for, or fewer.
void walk_ledger(WholeReader& from, RowSink& to);

/// Feeds two sinks with the same rows, in one walk.
void walk_ledger(WholeReader& from, RowSink& to, RowSink& also);

/// Feeds `to` with the rows of `from`, but of a table that has a damaged row only those before it.
/// Compares no numbers of rows with the heads. Throws LedgerFailure.
/// @param damaged  Receives the table and the error.
void walk_damaged_ledger(
    WholeReader& from, RowSink& to,
    const std::function<void(const std::string& table, const Error& error)>& damaged);

}  // namespace sluice
