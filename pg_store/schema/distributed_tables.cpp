#include "pg_store/schema/distributed_tables.hpp"

#include "pg_store/connection/connection.hpp"

namespace sluice::pg {
namespace {

constexpr const char* kUndistributed =
    "SELECT tablename::text FROM pg_tables WHERE schemaname = 'sluice_ledger' AND NOT EXISTS "
    "(SELECT 1 FROM pg_dist_partition WHERE logicalrelid = "
    "to_regclass('sluice_ledger.' || quote_ident(tablename))) ORDER BY tablename";

std::vector<std::string> undistributed(Connection& session) {
    const Rows rows = session.query_text(kUndistributed);
    std::vector<std::string> tables;
    for (int i = 0; i < rows.count(); ++i) {
        tables.push_back(rows.row(i).string());
    }
    return tables;
}

/// The copy that stays behind under the table's name, out of sight.
void drop_local_rows(Connection& session, const std::string& table) {
    session.script("SELECT truncate_local_data_after_distributing_table('" + table + "')");
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
          "balances",
          "catalog",
          "chains",
          "codes",
          "credits_of_orders",
          "customer_orders",
          "events",
          "journal",
          "keys",
          "memberships",
          "open",
          "period_sums",
          "periods",
          "refunds",
          "tier_volumes",
          "touches",
          "variants",
          "waiting",
          "waiting_commands"}},
        {"payout_id", {"payouts", "payout_parts", "payout_items"}},
        {"command_id", {"money_commands", "given_orders"}},
        {"run", {"skipped"}},
    };
    return tables;
}

bool could_be_distributed(Connection& session) {
    return !session.is_distributed() && has_citus(session);
}

Distributed distribute_rest(Connection& session) {
    Distributed done;
    std::vector<std::string> rest = undistributed(session);
    // One after the other: what another statement of this transaction made must be seen.
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

}  // namespace sluice::pg
