// Ledger access: the ledger that `--ledger` names, for reading and for writing.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "pg_store/connection/url.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "worker/cli/cli.hpp"
#include "worker/drain/drain.hpp"

namespace sluice::cli {

/// Adds `--ledger URL`. Empty: what the store remembers (`ledger.url`, written when a PostgreSQL
/// ledger was first opened for writing), else its own ledger.
Option add_ledger(Subcommand app, std::string& target);

/// How this program opens the queue: it never decides how long idempotency keys live.
[[nodiscard]] store::QueueOptions queue_options();

/// Of a PostgreSQL with standbys.
enum class ReadFrom : std::uint8_t {
    kAnyServer,  ///< May lag behind, or have what a failover undoes: for reports.
    kPrimary,    ///< For what a command looks at before and after it is applied.
    kConfirmed,  ///< The primary, and none of it can be undone by a failover: for what is paid on.
};

[[nodiscard]] Result<worker::LedgerOpener> ledger_for_reading(const Frame& frame,
                                                              const std::string& ledger_url,
                                                              ReadFrom from = ReadFrom::kAnyServer);
/// The PostgreSQL ledger of this store; none: it has its own.
[[nodiscard]] Result<std::optional<pg::Url>> shared_ledger(const Frame& frame);
/// False: a PostgreSQL ledger belongs to this store.
[[nodiscard]] Result<bool> has_own_ledger(const Frame& frame);
/// Makes commands and workers without `--ledger` use this one; nothing: the store's own.
[[nodiscard]] Status switch_ledger(const store::StorePaths& paths,
                                   const std::optional<pg::Url>& to);
/// @param options  Of a PostgreSQL ledger.
[[nodiscard]] Result<worker::LedgerOpener> ledger_for_writing(
    const Frame& frame, const std::string& ledger_url, const pg::LedgerOptions& options = {});

/// Runs `read` on a snapshot. A LedgerFailure becomes the Status.
[[nodiscard]] Status with_snapshot(const Frame& frame, const std::string& ledger_url,
                                   const std::function<Status(LedgerReader&)>& read,
                                   ReadFrom from = ReadFrom::kAnyServer);

}  // namespace sluice::cli
