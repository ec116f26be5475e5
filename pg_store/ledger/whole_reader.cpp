#include <string>
#include <thread>
#include <utility>

#include "os/clock/clock.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/ledger/snapshot.hpp"
#include "pg_store/schema/schema_version.hpp"

namespace sluice::pg {
namespace {

using Whole = Result<std::unique_ptr<WholeReader>>;

constexpr std::chrono::seconds kLeavePatience{3};
constexpr std::chrono::milliseconds kBetweenLooks{50};

Error still_written(const std::string& by) {
    return {ErrorCode::kBusy, by + ": stop the workers of all nodes first"};
}

/// Takes the lock of every batch (schema_version.hpp) for as long as the session lives.
void hold_writer_lock(Connection& session) {
    if (!session.query_text("SELECT pg_try_advisory_lock(1397511491, 1)").row(0).boolean()) {
        throw LedgerFailure(still_written("a worker, or a command, writes to the database"));
    }
}

/// Returns the addresses of connected workers, or an empty text. Workers keep their sessions while
/// they wait, under the name `sluice writer`.
std::string writers(Connection& session) {
    const Rows rows = session.query_text(
        "SELECT coalesce(string_agg(DISTINCT coalesce(host(client_addr), 'a local socket'), "
        "', '), '') FROM pg_stat_activity WHERE datname = current_database() AND "
        "application_name = 'sluice writer' AND pid <> pg_backend_pid()");
    return rows.row(0).string();
}

/// Waits for a while, because the server takes its time to end the session of a stopped worker.
void check_no_writer(Connection& session) {
    for (const auto end = steady_now() + kLeavePatience;;) {
        const std::string from = writers(session);
        if (from.empty()) {
            return;
        }
        if (steady_now() >= end) {
            throw LedgerFailure(still_written(
                "a worker, or a command, is connected to the database (from " + from + ")"));
        }
        std::this_thread::sleep_for(kBetweenLooks);
    }
}

}  // namespace

WholeSnapshot::WholeSnapshot(std::unique_ptr<Connection> session)
    : SessionHolder{std::move(session)}, Reads(*session_) {
    session_->script("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    session_->script("SET LOCAL idle_in_transaction_session_timeout = 0");
    turn_to({});
}

void WholeSnapshot::turn_to(std::string_view node) {
    send_head_reads(node);
    connection_.sync();
}

void WholeSnapshot::scan_balance_parts(const Visitor<NodeBalance>& visit) {
    scan_sql(
        "SELECT h.node, account, program, creator, currency, owed, in_payout, paid FROM "
        "sluice_ledger.balances b JOIN sluice_ledger.heads h ON h.number = b.node ORDER BY "
        "account, program, creator, currency, h.node",
        {}, [&](RowReader& row) {
            NodeBalance balance;
            read_named("table balances", std::nullopt, [&] {
                balance.node = row.text();
                read_balance(row, balance.part);
            });
            return visit(balance);
        });
}

/// Uses the primary, because a standby may lack what was acknowledged.
Result<std::unique_ptr<WholeReader>> open_whole(const Url& url, bool locks_writers) {
    return in_session(url, Access::kReadPrimary, {},
                      [&](std::unique_ptr<Connection> session) -> Whole {
                          check_no_writer(*session);
                          if (locks_writers) {
                              hold_writer_lock(*session);
                          }
                          if (session->is_distributed()) {
                              await_finished(*session);
                          }
                          return {std::make_unique<WholeSnapshot>(std::move(session))};
                      });
}

Result<std::unique_ptr<WholeReader>> whole_snapshot(const Url& url) {
    return in_session(url, Access::kReadPrimary, {},
                      [](std::unique_ptr<Connection> session) -> Whole {
                          QuiescedLedger still(*session);
                          auto reader = std::make_unique<WholeSnapshot>(std::move(session));
                          still.fix();
                          return {std::move(reader)};
                      });
}

}  // namespace sluice::pg
