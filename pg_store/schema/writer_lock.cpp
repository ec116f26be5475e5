#include "pg_store/schema/writer_lock.hpp"

namespace sluice::pg {
namespace {

/// Locks as batches do if the ledger is distributed over Citus nodes (txn.hpp).
void lock_nodes(Connection& session) {
    const Rows rows = session.query_text("SELECT node FROM sluice_ledger.heads ORDER BY node");
    for (int i = 0; i < rows.count(); ++i) {
        RowWriter node;
        node.text(rows.row(i).text());
        session.send(kLockNode, node);
    }
    session.sync();
    session.script(kLockExclusive.sql);
}

}  // namespace

void lock_out_batches(Connection& session) {
    if (session.is_distributed()) {
        lock_nodes(session);
    }
    session.script("UPDATE sluice_ledger.heads SET applied_seq = applied_seq");
    session.script(kLockExclusive.sql);
}

void lock_out_writers(Connection& session) {
    session.script(kLockMigrations.sql);
    lock_out_batches(session);
}

}  // namespace sluice::pg
