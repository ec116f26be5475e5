#include "core/values/lookup.hpp"
#include "pg_store/schema/migrate.hpp"
#include "pg_store/schema/schema_version.hpp"

namespace sluice::pg {
namespace {

constexpr const char* kUndistributed =
    "SELECT tablename::text FROM pg_tables WHERE schemaname = 'sluice_ledger' AND NOT EXISTS "
    "(SELECT 1 FROM pg_dist_partition WHERE logicalrelid = "
    "to_regclass('sluice_ledger.' || quote_ident(tablename))) ORDER BY tablename";

std::vector<std::string> undistributed(Connection& session) {
    const Rows rows = session.query_text(kUndistributed);
    return mapped(rows, [](RowReader row) { return row.string(); });
}

/// Drops the local copy, which stays hidden under the table's name.
void drop_local_rows(Connection& session, const std::string& table) {
    session.script("SELECT truncate_local_data_after_distributing_table('" + table + "')");
}

bool says(Connection& session, const std::string& condition) {
    return session.query_text("SELECT " + condition).row(0).boolean();
}

/// A coordinator without a copy of the reference tables would read a node's checkpoint from another
/// Citus node than the one that decides about commits.
void check_cluster(Connection& session) {
    if (!has_citus(session)) {
        throw LedgerFailure(
            unsupported("the database has no Citus: install it and CREATE EXTENSION citus "
                        "first, or leave the ledger on one server"));
    }
    if (!says(session, "EXISTS (SELECT 1 FROM pg_dist_node WHERE groupid = 0 AND isactive)")) {
        throw LedgerFailure(
            {ErrorCode::kConflict,
             "Citus does not know its coordinator: SELECT citus_set_coordinator_host('HOST') there "
             "first, with the name under which the other nodes reach it"});
    }
}

}  // namespace

bool has_citus(Connection& session) {
    return session.query_text("SELECT to_regclass('pg_dist_partition') IS NOT NULL")
        .row(0)
        .boolean();
}

const std::vector<DistributedTables>& distributed_tables() {
    static const std::vector<DistributedTables> tables{
        {"account",
         {"orders",
          "anomalies",
          "attention",
          "attention_counts",
          "balances",
          "catalog",
          "chain_groups",
          "chains",
          "codes",
          "credits_of_orders",
          "customer_orders",
          "daily",
          "deleted_orders",
          "events",
          "journal",
          "keys",
          "memberships",
          "monthly",
          "open",
          "open_hours",
          "openings",
          "order_days",
          "orders_by_code",
          "orders_by_number",
          "period_sums",
          "periods",
          "refunds",
          "shop_days",
          "shop_minutes",
          "tier_orders",
          "tier_volumes",
          "clicks",
          "click_days",
          "click_months",
          "link_days",
          "code_days",
          "variants",
          "runs_until",
          "waiting",
          "pending_approvals"}},
        {"payout_id", {"payouts", "payout_parts", "payout_items"}},
        {"command_id", {"money_commands", "attributed_orders"}},
        {"payout_run", {"skipped"}},
    };
    return tables;
}

bool could_be_distributed(Connection& session) {
    return !session.is_distributed() && has_citus(session);
}

Distributed distribute_rest(Connection& session) {
    Distributed done;
    std::vector<std::string> rest = undistributed(session);
    // One after the other, so that each statement sees the tables of those before.
    session.script("SET LOCAL citus.multi_shard_modify_mode = sequential");
    for (const DistributedTables& group : distributed_tables()) {
        const std::string first = std::string("sluice_ledger.") + group.tables.front();
        for (const char* table : group.tables) {
            if (std::erase(rest, table) != 0) {
                const std::string name = std::string("sluice_ledger.") + table;
                session.script("SELECT create_distributed_table('" + name + "', '" + group.column +
                               "', colocate_with => '" + (name == first ? "none" : first) + "')");
                drop_local_rows(session, name);
                done.by_column.emplace_back(table);
            }
        }
    }
    for (const std::string& table : rest) {
        session.script("SELECT create_reference_table('sluice_ledger." + table + "')");
        drop_local_rows(session, "sluice_ledger." + table);
        done.reference.push_back(table);
    }
    return done;
}

Result<Distributed> distribute(const Url& url) {
    // Not every table is free when the batches are locked out: one that begins reads before it
    // waits.
    return again_while_busy([&url] {
        return in_session(url, Access::kReadWrite, {},
                          [](std::unique_ptr<Connection> session) -> Result<Distributed> {
                              check_cluster(*session);
                              session->script("BEGIN");
                              lock_out_writers(*session);
                              Distributed done = distribute_rest(*session);
                              session->script("COMMIT");
                              check_replicated(*session);
                              return done;
                          });
    });
}

}  // namespace sluice::pg
