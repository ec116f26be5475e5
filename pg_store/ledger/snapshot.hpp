// The reader of the PostgreSQL ledger: one consistent state, in a transaction that only reads.
// Internal to pg_store.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/copy/row_sink.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/ledger/reads.hpp"

namespace sluice::pg {

class PgSnapshot final : private ConnectionHolder, public Reads {
public:
    PgSnapshot(BorrowedConnection connection, std::string_view node);

    void expect_orders(std::span<const OrderKey> keys) override;
    bool load_order(const OrderKey& key, OrderState& state) override;

private:
    CachedOrders expected_;
};

struct SessionHolder {
    std::unique_ptr<Connection> session_;
};

class WholeSnapshot final : private SessionHolder, public Reads, public WholeReader {
public:
    /// Begins. The session ends with it.
    explicit WholeSnapshot(std::unique_ptr<Connection> session);

    void turn_to(std::string_view node) override;
    void scan_balance_parts(const Visitor<NodeBalance>& visit) override;
    [[nodiscard]] Connection& session() { return *session_; }
};

/// Stops commits while a reader's snapshot is taken on every Citus node. Citus has no snapshot of
/// all nodes, so no batch may commit between the first and the last. On one server there is nothing
/// to do.
class QuiescedLedger {
public:
    /// Takes the writer lock exclusively, and waits until all commits are finished on every Citus
    /// node. Requires: no transaction. Throws kBusy if a batch did not end for 30 s, kIo if a Citus
    /// node is unreachable or has not finished within 5 s.
    explicit QuiescedLedger(Connection& session);
    /// Gives up a session without fix(), and the lock with it.
    ~QuiescedLedger();
    QuiescedLedger(const QuiescedLedger&) = delete;
    QuiescedLedger& operator=(const QuiescedLedger&) = delete;

    /// Takes the snapshot on every Citus node, then releases the lock. Requires: a transaction,
    /// repeatable read.
    void fix();

private:
    Connection& session_;
    bool holds_lock_ = false;
};

/// Waits until all commits are finished, as the constructor does. Throws kIo as it does.
void await_finished(Connection& session);

}  // namespace sluice::pg
