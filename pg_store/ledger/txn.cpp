#include "pg_store/ledger/txn.hpp"

#include <utility>

#include "core/values/assert.hpp"
#include "pg_store/connection/session.hpp"
#include "pg_store/schema/schema_version.hpp"

namespace sluice::pg {
namespace {

/// Time limit of a COMMIT: by then another server may be the primary. Giving up is safe, because
/// the next session reads the outcome.
constexpr std::chrono::seconds kCommitPatience{20};
/// Time limit of a wait for a lock. Its holder may be a session whose COMMIT no standby confirms:
/// by then another server may be the primary, and the next session finds it.
constexpr std::chrono::seconds kLockPatience{30};
constexpr Statement kBegin{"BEGIN"};
constexpr Statement kCommit{"COMMIT"};
constexpr Statement kSelectShared{"SELECT programs_revision FROM sluice_ledger.state"};

constexpr Statement kWriteHead{
    "UPDATE sluice_ledger.heads SET applied_seq = applied_seq WHERE node = $1"};
constexpr Statement kWriteHeads{"UPDATE sluice_ledger.heads SET applied_seq = applied_seq"};

Statement select_first_work() {
    static const Statement kSelect = select_statement(
        sql_of<Work>().columns(),
        "work WHERE node = (SELECT number FROM sluice_ledger.heads WHERE node = $1) "
        "ORDER BY sluice_ledger.work.number LIMIT 1");
    return kSelect;
}

RowWriter node_parameters(std::string_view node) {
    RowWriter row;
    row.text(node);
    return row;
}

}  // namespace

PgTxn::PgTxn(BorrowedConnection connection, std::string_view node, CommitEvents events,
             ReadAhead& ahead)
    : KeptTables(std::move(connection)), events_(std::move(events)), ahead_(ahead) {
    head_.node = node;
    connection_.send(kBegin);
    send_lock_head();
    connection_.send(kSelectShared, {}, [this](Rows rows) { read_shared(rows); });
    connection_.send(select_first_work(), node_parameters(node),
                     [this](Rows rows) { first_work_.emplace(first(rows, read_row<Work>)); });
    connection_.sync();
    if (head_.number == 0) {
        adopt_head();
    }
    checkpoint_ = head_.applied_seq;
    events_.checkpoint(checkpoint_);
}

void PgTxn::send_lock_head() {
    static const Statement kLock =
        select_statement(kHeadColumns, "heads WHERE node = $1 FOR UPDATE");
    static const Statement kSelect = select_statement(kHeadColumns, "heads WHERE node = $1");
    const RowWriter node = node_parameters(head_.node);
    if (connection_.is_distributed()) {
        connection_.send(kLockNode, node);
    }
    connection_.send(connection_.is_distributed() ? kSelect : kLock, node,
                     [this](Rows rows) { take_head(rows); });
}

/// All nodes share the revision of the programs, so it is read apart.
void PgTxn::take_head(const Rows& rows) {
    if (rows.empty()) {
        return;
    }
    const std::uint64_t revision = head_.programs_revision;
    RowReader row = rows.row(0);
    head_ = read_head(row);
    head_.programs_revision = revision;
}

/// Assigns the next number to a node that is new to the ledger.
void PgTxn::adopt_head() {
    static constexpr Statement kInsert{
        "INSERT INTO sluice_ledger.heads SELECT $1, coalesce(max(number), 0) + 1, 0, 0, 0, "
        "decode(repeat('00', 32), 'hex'), 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, ARRAY[]::bigint[], 0, "
        "0, 0, 0, 0 FROM sluice_ledger.heads"};
    take_lock(WriterLock::kExclusive);
    connection_.send(kInsert, node_parameters(head_.node));
    send_lock_head();
    connection_.sync();
}

// ---- The writer lock ----------------------------------------------------------------------------

void PgTxn::read_shared(const Rows& rows) {
    read_named("table state", std::nullopt, [&] {
        if (rows.empty()) {
            throw_damaged("it is missing");
        }
        revision_before_ = rows.row(0).u8();
    });
    head_.programs_revision = revision_before_;
}

/// Reads state and schema version again, because only their values under the lock count.
void PgTxn::send_lock(WriterLock wanted) {
    if (lock_ >= wanted) {
        return;
    }
    connection_.send(wanted == WriterLock::kShared ? kLockShared : kLockExclusive);
    if (connection_.is_distributed()) {
        send_heads(wanted);
    }
    send_fence(connection_);
    connection_.send(kSelectShared, {}, [this](Rows rows) { read_shared(rows); });
    lock_ = wanted;
}

void PgTxn::send_heads(WriterLock passed) {
    if (passed == WriterLock::kExclusive) {
        connection_.send(kWriteHeads);
    } else {
        connection_.send(kWriteHead, node_parameters(head_.node));
    }
}

void PgTxn::take_lock(WriterLock wanted) {
    if (lock_ < wanted) {
        send_lock(wanted);
        sync_lock();
    }
}

void PgTxn::sync_lock() {
    if (!connection_.within(kLockPatience, [&] { connection_.sync(); })) {
        connection_.cancel();
        throw LedgerFailure({ErrorCode::kIo, "PostgreSQL has not given a lock for " +
                                                 std::to_string(kLockPatience.count()) +
                                                 " s: another node runs a long command, or no "
                                                 "standby confirms its COMMIT"});
    }
}

/// Writes all changes before the server is asked. A caller without expect() may change anything, so
/// it gets the exclusive lock.
void PgTxn::settle() {
    begin_reading();
    flush();
}

void PgTxn::begin_reading() {
    take_lock(lock_ == WriterLock::kNone ? WriterLock::kExclusive : lock_);
    send_staged();
}

// ---- Commit -------------------------------------------------------------------------------------

void PgTxn::check_sums() const {
    for (const auto& [key, delta] : balances_) {
        if (delta.added != delta.journal) {
            throw LedgerFailure(
                {ErrorCode::kInternal, "the journal and the balance of creator " +
                                           key.creator.str() + " in program " + key.program.str() +
                                           " do not agree: nothing of this batch was stored"});
        }
    }
}

void PgTxn::send_head() {
    static constexpr Statement kUpdate{
        "UPDATE sluice_ledger.heads SET applied_seq = $2, last_received_s = $3, "
        "last_received_ns = $4, inputs_sha256 = $5, next_entry = $6, next_work = $7, applied = $8, "
        "stale = $9, duplicate = $10, catalog = $11, commands = $12, dead = $13, orders = $14, "
        "journal_entries = $15, clicks = $16, clicks_stored = $17, clicks_known = $18, "
        "clicks_without_link = $19, clicks_expired = $20, anomalies = $21 "
        "WHERE number = $1 AND applied_seq = $22"};
    static constexpr Statement kShared{"UPDATE sluice_ledger.state SET programs_revision = $1"};
    RowWriter parameters;
    write_head(head_, parameters);
    parameters.u8(checkpoint_.value);
    connection_.send(kUpdate, parameters, [](Rows rows) {
        if (rows.affected() != 1) {
            throw LedgerFailure(
                {ErrorCode::kConflict, "another worker moved this node's checkpoint meanwhile"});
        }
    });
    if (head_.programs_revision != revision_before_) {
        SLUICE_ASSERT(lock_ == WriterLock::kExclusive);
        RowWriter shared;
        shared.u8(head_.programs_revision);
        connection_.send(kShared, shared);
    }
}

/// Waits until the batch before this one has ended, and reads its row.
void PgTxn::send_batch_lock() {
    connection_.send(kLockBatchOrder);
    connection_.send(latest_batch_statement(), {}, [this](Rows rows) {
        noted_ = batch_after(first(rows, read_row<AppliedBatch>), head_.node, *step_);
    });
}

void PgTxn::send_batch() {
    static const Statement kUpsert = kept_statement(sql_of<AppliedBatch>().insert_many());
    RowArrays arrays(sql_of<AppliedBatch>().all());
    arrays.add_row(*noted_, head_.number);
    connection_.send(kUpsert, arrays.parameters());
}

void PgTxn::commit() {
    check_sums();
    take_lock(lock_ == WriterLock::kNone ? WriterLock::kShared : lock_);
    flush();
    flush_sums();
    flush_chains();
    send_head();
    if (step_) {
        send_batch_lock();
    }
    sync_lock();
    if (step_) {
        send_batch();
    }
    events_.begins(head_.applied_seq);
    std::string tag;
    if (!connection_.within(kCommitPatience, [&] { tag = connection_.query(kCommit).tag(); })) {
        throw LedgerFailure({ErrorCode::kIo, "PostgreSQL has not answered a COMMIT for " +
                                                 std::to_string(kCommitPatience.count()) +
                                                 " s: no standby has it, or its disk is slow"});
    }
    if (tag != "COMMIT") {
        throw LedgerFailure({ErrorCode::kIo, "PostgreSQL rolled the transaction back"});
    }
    check_replicated(connection_);
    connection_.trust_copies();
    events_.acknowledged();
}

}  // namespace sluice::pg
