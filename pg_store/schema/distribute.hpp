// Distribute: the ledger of a Citus cluster, distributed over its nodes by account.
//
// The rows of an account are on one Citus node. A table that belongs to no account, or is joined
// with the rows of many, is a reference table, which every Citus node has whole.
#pragma once

#include <string>
#include <vector>

#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

class Connection;

struct Distributed {
    std::vector<std::string> by_column;  ///< Tables whose rows were distributed now.
    std::vector<std::string> reference;  ///< Tables that every Citus node has now.
};

/// Distributes the tables that are not distributed yet, with their rows, in one transaction that
/// waits for running batches. Requires: migrate() has run. Returns kUnsupported if the database has
/// no Citus, kConflict if its coordinator is not named or the ledger is an unfinished copy.
[[nodiscard]] Result<Distributed> distribute(const Url& url);

/// Returns whether the database has Citus and the ledger is on the coordinator alone.
[[nodiscard]] bool could_be_distributed(Connection& session);
/// Distributes the remaining tables in the transaction of the session. Internal to pg_store.
[[nodiscard]] Distributed distribute_rest(Connection& session);

/// Tables with the column whose value places a row. Tables of one column are placed together. All
/// others are reference tables. Internal to pg_store.
struct DistributedTables {
    const char* column;
    std::vector<const char*> tables;
};
[[nodiscard]] const std::vector<DistributedTables>& distributed_tables();
[[nodiscard]] bool has_citus(Connection& session);

}  // namespace sluice::pg
