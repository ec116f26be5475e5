// Ledger access: the ledger that `--ledger` names, for reading and for writing.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "pg_store/connection/url.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "program/cli/cli.hpp"
#include "program/cli/output.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/drain/drain.hpp"
#include "worker/drain/store_seals.hpp"

namespace sluice::cli {

/// Checks a URL, and returns it.
[[nodiscard]] Result<std::string> parse_ledger_url(std::string_view text);
/// Adds `--ledger URL`. Empty means the ledger that the store remembers (`ledger.url`, written when
/// a PostgreSQL ledger is first opened for writing), else the store's own.
Option add_ledger(Subcommand app, std::string& target);

/// Returns the options with which this program opens the queue. It never decides how long
/// idempotency keys live.
[[nodiscard]] store::QueueOptions queue_options();

/// Returns the name of this store's inputs in a ledger. Opens no queue, whose locks other processes
/// may hold.
[[nodiscard]] Result<std::string> node_of(const Frame& frame);

/// Which server of a PostgreSQL cluster is read.
enum class ReadFrom : std::uint8_t {
    kAnyServer,  ///< For reports. It may lag, or hold commits that a failover undoes.
    kPrimary,    ///< For reads before and after a command is applied.
    kConfirmed,  ///< For payments: the primary, and no failover can undo what is read.
};

/// Returns the file that names the ledger of this store's worker, if it is not the store's own.
/// Without that file, a command that drains the queue itself would apply it to another ledger.
[[nodiscard]] std::string ledger_url_file(const store::StorePaths& paths);
/// Returns the settings of a program whose reads are short: another client of the database may lock
/// a table for hours, and then each read fails after seconds (kBusy).
/// @param waiting  As LedgerOptions has it.
[[nodiscard]] pg::LedgerOptions for_short_reads(
    std::function<bool(std::chrono::milliseconds)> waiting);
/// Returns what opens the ledger. Without `ledger_url`, each call opens the one that is the store's
/// then.
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

/// Prints a note on stderr if inputs wait and no worker of this node has given a sign of life for
/// five minutes, or none ever ran. Opens no queue and waits for no lock.
void tell_standstill(const Frame& frame);

/// Adds `--command-key FILE`, for the replay of archives.
void add_command_keys(Subcommand app, std::vector<std::string>& target);
/// Adds the keys of the store, if there is one that this user may read, and those of `files`.
[[nodiscard]] Status add_archive_keys(const Frame& frame, const std::vector<std::string>& files,
                                      worker::ArchiveSeals& seals);
/// Names on standard error the queues whose commands the replay took without a check of their
/// seals.
void warn_unchecked_seals(const worker::ArchiveSeals& seals);

/// Calls `action`. Returns its Status or Result, or success if it returns nothing.
template <class Action, class... Arguments>
[[nodiscard]] auto outcome_of(Action&& action, Arguments&&... arguments) {
    if constexpr (std::is_void_v<std::invoke_result_t<Action, Arguments...>>) {
        action(arguments...);
        return Status::success();
    } else {
        return action(arguments...);
    }
}

/// Calls `visit` with a snapshot. A LedgerFailure becomes the Status.
[[nodiscard]] Status visit_snapshot(const Frame& frame, const std::string& ledger_url,
                                    ReadFrom from, const std::function<void(LedgerReader&)>& visit);

/// Returns the outcome of `read` on a snapshot, or an error if the ledger cannot be read.
template <class Read>
[[nodiscard]] auto with_snapshot(const Frame& frame, const std::string& ledger_url, ReadFrom from,
                                 Read&& read) {
    std::optional<decltype(outcome_of(read, std::declval<LedgerReader&>()))> outcome;
    const Status visited = visit_snapshot(frame, ledger_url, from, [&](LedgerReader& ledger) {
        outcome.emplace(outcome_of(read, ledger));
    });
    return visited.ok() ? *std::move(outcome) : visited.error();
}
template <class Read>
[[nodiscard]] auto with_snapshot(const Frame& frame, const std::string& ledger_url, Read&& read) {
    return with_snapshot(frame, ledger_url, ReadFrom::kAnyServer, std::forward<Read>(read));
}

/// Calls `read` with the number of an account of the store as well. Returns kNotFound if the
/// account is unknown.
template <class Read>
[[nodiscard]] auto with_account(const Frame& frame, const AccountId& account,
                                const std::string& ledger_url, ReadFrom from, Read&& read)
    -> decltype(outcome_of(read, std::declval<LedgerReader&>(), AccountNumber{})) {
    const auto number = account_number(frame, account);
    if (!number.ok()) {
        return number.error();
    }
    return with_snapshot(frame, ledger_url, from,
                         [&](LedgerReader& ledger) { return outcome_of(read, ledger, *number); });
}

/// Returns the ledger's checkpoint.
[[nodiscard]] Result<SequenceNumber> applied_seq(const Frame& frame, const std::string& ledger_url,
                                                 ReadFrom from = ReadFrom::kPrimary);

/// Calls `read` with a snapshot of each node that the ledger has, until it returns false.
[[nodiscard]] Status with_each_node(const Frame& frame, const std::string& ledger_url,
                                    const std::function<bool(LedgerReader&)>& read);

/// Options of a command that lists rows of the ledger.
struct ListOptions {
    std::string ledger;  ///< --ledger
    Format format = Format::kTable;
};
/// Adds `--ledger` and `--format`.
void add_list_options(Subcommand app, ListOptions& target);

/// Prints the rows that `write` adds, read from one snapshot, and a note if the worker stands
/// still.
/// @param columns  Those of a Listing, or of a list of the ledger.
template <class Columns, class Write>
[[nodiscard]] Status list_rows(const Frame& frame, const ListOptions& options,
                               const Columns& columns, Write&& write) {
    tell_standstill(frame);
    return with_snapshot(frame, options.ledger, [&](LedgerReader& ledger) {
        Listing listing(options.format, columns);
        Status written = outcome_of(write, ledger, listing);
        if (written.ok()) {
            listing.finish();
        }
        return written;
    });
}

/// Options of a command that lists rows of one account.
struct AccountListOptions {
    AccountId account;
    ListOptions list;
};
/// Prints rows as list_rows() does, for an account of the store. Returns kNotFound if the account
/// is unknown.
template <class Columns, class Write>
[[nodiscard]] Status list_account_rows(const Frame& frame, const AccountListOptions& options,
                                       const Columns& columns, Write&& write) {
    const auto number = account_number(frame, options.account);
    if (!number.ok()) {
        return number.error();
    }
    return list_rows(frame, options.list, columns, [&](LedgerReader& ledger, Listing& listing) {
        return outcome_of(write, ledger, *number, listing);
    });
}

/// Waits until every input that this node's queue and lanes hold now is applied, at most 60 s.
/// Returns kBusy if some are not applied then, or if a signal ended the wait.
[[nodiscard]] Status wait_for_inputs(const Frame& frame, const std::string& ledger_url);

}  // namespace sluice::cli
