// Migrate: the schema of the PostgreSQL ledger, brought up to date step by step.
//
// Migrations are numbered files (pg_store/schema/migrations), applied in one transaction under a
// lock: any number of programs may try at once, and each may be killed at any instant. A migration
// begins when the running batches have ended; batches that wait for it find the new number.
//
// On Citus, the ledger is distributed over the nodes by account: the rows of an account are on one
// node. A table that belongs to no account, or is joined with the rows of many, is a reference
// table, which every Citus node has whole.
//
// The numbers of a new format begin after the last one of the format before, whose schemas are
// refused.
#pragma once

#include <string>
#include <vector>

#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

class Connection;

struct Migrated {
    int before = 0;  ///< 0 if there was no ledger.
    int now = 0;
    std::vector<std::string> applied{};  ///< Such as 0033_ledger, in the order of their numbers.
    bool could_be_distributed = false;   ///< The database has Citus, which distribute() would use.
};

/// Creates or upgrades the schema. Returns kUnsupported if the schema is newer than this program or
/// of an earlier format, kPermission if the user lacks the right.
[[nodiscard]] Result<Migrated> migrate(const Url& url);

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
