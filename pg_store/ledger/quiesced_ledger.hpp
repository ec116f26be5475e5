// Still ledger: the moment at which a reader's snapshot is taken where the ledger is spread over
// machines. Citus has no snapshot of all of them, so no batch may commit between the first and the
// last. Internal to this room. On one server there is nothing to do.
#pragma once

#include "pg_store/connection/connection.hpp"

namespace sluice::pg {

class QuiescedLedger {
public:
    /// Outside of a transaction: holds the gate alone, and waits until what was committed before is
    /// finished on every machine. kBusy: a batch did not end for 30 s. kIo: a machine is away, or
    /// has not finished within 5 s.
    explicit QuiescedLedger(Connection& session);
    /// A session that was not fixed is given up, and the gate with it.
    ~QuiescedLedger();
    QuiescedLedger(const QuiescedLedger&) = delete;
    QuiescedLedger& operator=(const QuiescedLedger&) = delete;

    /// In the transaction, repeatable read: every machine takes its snapshot, then batches go on.
    void fix();

private:
    Connection& session_;
    bool holds_lock_ = false;
};

/// What the constructor waits for. kIo: see there.
void await_finished(Connection& session);

}  // namespace sluice::pg
