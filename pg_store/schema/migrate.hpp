// Migrate: the schema of the PostgreSQL ledger, brought up to date step by step.
//
// Migrations are numbered files (pg_store/schema/migrations), applied in one transaction under a
// lock: any number of programs may try at once, and each may be killed at any instant.
#pragma once

#include <string>
#include <vector>

#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

class Connection;

struct Migrated {
    int before = 0;  ///< 0: there was no ledger.
    int now = 0;
    std::vector<std::string> applied;  ///< `0001_ledger`, in order.
};

/// kUnsupported: the schema is newer than this program. kPermission: the user may not.
[[nodiscard]] Result<Migrated> migrate(const Url& url);

/// The schema's version, as this program needs it.
[[nodiscard]] int schema_version() noexcept;
/// kNotFound: there is no ledger. kUnsupported: it is older or newer. Throws LedgerFailure if the
/// server cannot be asked. Internal to this room.
[[nodiscard]] Status check_schema(Connection& session);

}  // namespace sluice::pg
