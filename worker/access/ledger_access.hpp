// Ledger access: the ledger that `--ledger` names, for reading and for writing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "pg_store/connection/url.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "worker/cli/cli.hpp"
#include "worker/cli/output.hpp"
#include "worker/drain/drain.hpp"
#include "worker/drain/store_seals.hpp"

namespace sluice::cli {

/// Adds `--ledger URL`. Empty means the ledger that the store remembers (`ledger.url`, written when
/// a PostgreSQL ledger is first opened for writing), else the store's own.
Option add_ledger(Subcommand app, std::string& target);

/// Returns the options with which this program opens the queue. It never decides how long
/// idempotency keys live.
[[nodiscard]] store::QueueOptions queue_options();

/// Which server of a PostgreSQL cluster is read.
enum class ReadFrom : std::uint8_t {
    kAnyServer,  ///< For reports. It may lag, or hold commits that a failover undoes.
    kPrimary,    ///< For reads before and after a command is applied.
    kConfirmed,  ///< For payments: the primary, and no failover can undo what is read.
};

/// @param options  Settings of a PostgreSQL ledger.
[[nodiscard]] Result<worker::LedgerOpener> ledger_for_reading(
    const Frame& frame, const std::string& ledger_url, ReadFrom from = ReadFrom::kAnyServer,
    const pg::LedgerOptions& options = {});
/// Returns the PostgreSQL ledger that this store uses, or nothing if it has its own.
[[nodiscard]] Result<std::optional<pg::Url>> shared_ledger(const Frame& frame);
/// Returns false if this store uses a PostgreSQL ledger.
[[nodiscard]] Result<bool> has_own_ledger(const Frame& frame);
/// Makes commands and workers without `--ledger` use `to`, or the store's own ledger.
[[nodiscard]] Status switch_ledger(const store::StorePaths& paths,
                                   const std::optional<pg::Url>& to);
/// @param options  Settings of a PostgreSQL ledger.
[[nodiscard]] Result<worker::LedgerOpener> ledger_for_writing(
    const Frame& frame, const std::string& ledger_url, const pg::LedgerOptions& options = {});

/// Adds `--command-key FILE`, for the replay of archives.
void add_command_keys(Subcommand app, std::vector<std::string>& target);
/// Adds the keys of the store, if there is one that this user may read, and those of `files`.
[[nodiscard]] Status add_archive_keys(const Frame& frame, const std::vector<std::string>& files,
                                      worker::ArchiveSeals& seals);
/// Names on standard error the queues whose commands the replay took without a check of their
/// seals.
void warn_unchecked_seals(const worker::ArchiveSeals& seals);

/// Runs `read` on a snapshot. A LedgerFailure becomes the Status.
[[nodiscard]] Status with_snapshot(const Frame& frame, const std::string& ledger_url,
                                   const std::function<Status(LedgerReader&)>& read,
                                   ReadFrom from = ReadFrom::kAnyServer);

/// Likewise, on a snapshot of each node that the ledger has, until `read` returns false.
[[nodiscard]] Status with_each_node(const Frame& frame, const std::string& ledger_url,
                                    const std::function<bool(LedgerReader&)>& read);

/// Options of a command that lists rows of the ledger.
struct ListOptions {
    std::string ledger;  ///< --ledger
    Format format = Format::kTable;
};
/// Adds `--ledger` and `--format`.
void add_list_options(Subcommand app, ListOptions& target);

/// Prints the rows that `write` adds, read from one snapshot.
[[nodiscard]] Status list_rows(const Frame& frame, const ListOptions& options,
                               std::vector<Column> columns,
                               const std::function<Status(LedgerReader&, Listing&)>& write);
/// Likewise, for an account of the store: kNotFound if it is unknown.
[[nodiscard]] Status list_account_rows(
    const Frame& frame, const AccountId& account, const ListOptions& options,
    std::vector<Column> columns,
    const std::function<Status(LedgerReader&, AccountNumber, Listing&)>& write);

/// Waits until every input that this node's queue and lanes hold now is applied, at most 60 s.
/// Returns kBusy if some are not applied then, or if a signal ended the wait.
[[nodiscard]] Status wait_for_inputs(const Frame& frame, const std::string& ledger_url);

}  // namespace sluice::cli
