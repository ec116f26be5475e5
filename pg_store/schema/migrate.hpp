// Migrate: the schema of the PostgreSQL ledger, brought up to date step by step.
//
// Migrations are numbered files (pg_store/schema/migrations), applied in one transaction under a
// lock: any number of programs may try at once, and each may be killed at any instant. A migration
// begins when the running batches have ended; batches that wait for it find the new number.
//
// Numbers begin with 8: 1 to 7 are the schemas of earlier formats, which are refused, not migrated.
#pragma once

#include <string>
#include <vector>

#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

struct Migrated {
    int before = 0;  ///< 0 if there was no ledger.
    int now = 0;
    std::vector<std::string> applied;   ///< `0011_ledger`, in order.
    bool could_be_distributed = false;  ///< The database has Citus, which distribute() would use.
};

/// Creates or upgrades the schema. Returns kUnsupported if the schema is newer than this program or
/// of an earlier format, kPermission if the user lacks the right.
[[nodiscard]] Result<Migrated> migrate(const Url& url);

}  // namespace sluice::pg
