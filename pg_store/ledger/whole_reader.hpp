// Whole reader: one state of the PostgreSQL ledger, of all nodes, as the primary has it.
#pragma once

#include <memory>

#include "core/copy/row_sink.hpp"
#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

/// Errors: as PostgresLedger::open(). kBusy: a session that may write is connected.
/// @param locks_writers  Nothing is committed by any node as long as the reader lives.
[[nodiscard]] Result<std::unique_ptr<WholeReader>> open_whole(const Url& url, bool locks_writers);

}  // namespace sluice::pg
