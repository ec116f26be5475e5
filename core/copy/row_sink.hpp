// Row sink: takes every row of a ledger, table by table; and the reader that has them all.
//
// One walk (core/copy/walk.hpp) feeds both what fills another ledger and what proves two ledgers
// equal, so neither can know of a table that the other one forgets.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/ledger/ledger.hpp"

namespace sluice {

/// What one node has added to a balance.
struct NodeBalance {
    std::string node;
    Balance part;
};

/// One consistent state, of all nodes.
class WholeReader : public virtual LedgerReader {
public:
    /// From here on head(), chain() and rows that belong to one node are those of `node`.
    virtual void turn_to(std::string_view node) = 0;
    /// By key, then by node.
    virtual void scan_balance_parts(const Visitor<NodeBalance>& visit) = 0;
};

template <class Row>
class TableSink {
public:
    virtual void add(const Row& row) = 0;

protected:
    ~TableSink() = default;
};

template <class Rows>
class TableSinks;
template <class... Rows>
class TableSinks<RowTypes<Rows...>> : public TableSink<Rows>... {
public:
    using TableSink<Rows>::add...;

protected:
    ~TableSinks() = default;
};

/// Each table's rows come in the order of their keys. Throws LedgerFailure.
class RowSink : public TableSinks<DescribedRows> {
public:
    RowSink() = default;
    RowSink(const RowSink&) = delete;
    RowSink& operator=(const RowSink&) = delete;
    virtual ~RowSink() = default;

    using TableSinks<DescribedRows>::add;
    /// Heads come first, by node.
    virtual void add(const LedgerHead& head) = 0;
    /// Rows of tables that are kept per node are this one's from here on.
    virtual void turn_to(std::string_view node) = 0;
    virtual void add(const NodeChain& chain) = 0;
    virtual void add(const NodeBalance& balance) = 0;
    virtual void add(const JournalGroup& group) = 0;
    virtual void add(const OrderState& order) = 0;
    /// An event that the order's own row has no room for.
    virtual void add(const OrderKey& order, const EventTrace& event) = 0;
    virtual void add(const CatalogRecord& record) = 0;
};

/// For a ForEachTable of a sink to which all described tables are alike: `Base` has a
/// `template <class Row> void put_row(const Row&)`.
template <class Row, class Base>
class PutsTable : public Base {
public:
    using Base::add;
    using Base::Base;
    void add(const Row& row) override { this->put_row(row); }
};

/// An empty ledger that gets the rows of another one, in transactions of bounded size. Until
/// finish() it is marked as unfinished: a program that opens it is refused with a sentence.
class LedgerFill : public RowSink {
public:
    /// Makes all that was added durable.
    virtual void flush() = 0;
    /// What is there by now. Requires: flush().
    [[nodiscard]] virtual std::unique_ptr<WholeReader> written() = 0;
    /// Takes the mark away: it is a ledger like any other. Requires: flush().
    virtual void finish() = 0;
    /// What this kind of ledger makes of a text that people or damaged records brought.
    [[nodiscard]] virtual std::string as_stored(const std::string& text) const { return text; }
};

}  // namespace sluice
