#include "pg_store/ledger/snapshot.hpp"

#include <thread>
#include <utility>

#include "os/clock/clock.hpp"

namespace sluice::pg {

PgSnapshot::PgSnapshot(BorrowedConnection connection, std::string_view node)
    : ConnectionHolder{std::move(connection)}, Reads(*borrowed_) {
    static constexpr Statement kBegin{"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"};
    QuiescedLedger still(connection_);
    connection_.send(kBegin);
    send_head_reads(node);
    connection_.sync();
    still.fix();
}

/// Reads the orders of a slice, and drops those of the slice before.
void PgSnapshot::expect_orders(std::span<const OrderKey> keys) {
    expected_.clear();
    fetch_orders(keys, false, expected_);
    if (!expected_.empty()) {
        connection_.sync();
    }
}

bool PgSnapshot::load_order(const OrderKey& key, OrderState& state) {
    const auto found = expected_.find(key);
    return found == expected_.end() ? Reads::load_order(key, state) : found->second.load(state);
}

namespace {

constexpr std::chrono::seconds kBatchPatience{30};
constexpr std::chrono::seconds kFinishPatience{5};
constexpr std::chrono::milliseconds kBetween{100};
constexpr Statement kTakeLock{"SELECT pg_advisory_lock(1397511491, 1)"};
constexpr Statement kReleaseLock{"SELECT pg_advisory_unlock(1397511491, 1)"};
/// Few rows on every machine.
constexpr Statement kReadEachNode{"SELECT count(*) FROM sluice_ledger.chains"};
/// Prepared transactions that are not finished. While the writer lock is held exclusively, none of
/// them is sluice's; those of other programs only prolong the wait.
constexpr Statement kUnfinished{
    "SELECT coalesce(bool_or(NOT success), false), coalesce(string_agg(result, '; ') FILTER "
    "(WHERE NOT success), ''), coalesce(bool_or(success AND result <> '0'), false) "
    "FROM run_command_on_workers($$SELECT count(*) FROM pg_prepared_xacts WHERE database = "
    "current_database() AND gid LIKE 'citus\\_%'$$)"};

}  // namespace

void await_finished(Connection& session) {
    for (const auto end = steady_now() + kFinishPatience;;) {
        const Rows rows = session.query(kUnfinished);
        RowReader row = rows.row(0);
        const bool is_away = row.boolean();
        const std::string words = row.string();
        if (is_away) {
            throw LedgerFailure({ErrorCode::kIo, "PostgreSQL: a Citus node: " + words});
        }
        if (!row.boolean()) {
            return;
        }
        if (steady_now() >= end) {
            throw LedgerFailure({ErrorCode::kIo,
                                 "PostgreSQL: a Citus node has not finished a transaction that was "
                                 "committed; Citus finishes it by itself, every "
                                 "citus.recover_2pc_interval"});
        }
        std::this_thread::sleep_for(kBetween);
    }
}

QuiescedLedger::QuiescedLedger(Connection& session) : session_(session) {
    if (!session.is_distributed()) {
        return;
    }
    holds_lock_ = true;
    try {
        if (!session.within(kBatchPatience, [&] { (void)session.query(kTakeLock); })) {
            throw LedgerFailure(
                {ErrorCode::kBusy, "a batch or a command still runs after 30 s: try again later"});
        }
        await_finished(session);
    } catch (...) {
        session.give_up();
        throw;
    }
}

QuiescedLedger::~QuiescedLedger() {
    if (holds_lock_) {
        session_.give_up();
    }
}

void QuiescedLedger::fix() {
    if (holds_lock_) {
        session_.send(kReadEachNode);
        session_.send(kReleaseLock);
        session_.sync();
        holds_lock_ = false;
    }
}

}  // namespace sluice::pg
