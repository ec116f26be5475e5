// sluice ledger rebuild|copy|migrate
#include "lmdb_store/ledger/ledger.hpp"

#include <unistd.h>

#include "lmdb_store/queue/queue.hpp"
#include "pg_store/ledger/ledger.hpp"
#include "pg_store/schema/migrate.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/drain/rebuild.hpp"
#include "worker/drain/store_seals.hpp"

namespace sluice::cli {
namespace {

struct RebuildCommand {
    std::vector<std::string> from;
    std::vector<std::string> keys;  ///< Command keys of other stores.
    std::string target;             ///< A folder, or the URL of a database.
};

struct MigrateCommand {
    std::string ledger;
    bool distributes = false;
};

/// A ledger that is lost or damaged is what a rebuild replaces, so it is no reason to fail.
Status not_compared(const Error& error) {
    const bool is_lost = error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kNotFound;
    if (is_lost) {
        std::printf("not compared, because the ledger is lost or damaged\n");
    }
    return is_lost ? Status::success() : Status(error);
}

/// Compares the new ledger with the store's own, which may be in use.
Status compare_with_store(const Frame& frame, worker::Rebuild& rebuild) {
    const auto paths = frame.paths();
    const auto node = node_of(frame);
    if (!node.ok()) {
        return node.error();
    }
    auto ledger = store::EmbeddedLedger::open(paths.ledger, store::EmbeddedLedger::Mode::kReadOnly);
    if (!ledger.ok() && ledger.error().code == ErrorCode::kUnsupported) {
        std::printf("not compared: the ledger of %s has another format\n",
                    printable(frame.store).c_str());
        return Status::success();
    }
    if (!ledger.ok()) {
        return not_compared(ledger.error());
    }
    const auto compared = rebuild.compare(*ledger.value(), *node);
    if (!compared.ok()) {
        return not_compared(compared.error());
    }
    if (compared->behind) {
        std::printf("not compared with the ledger of %s: %s\n", printable(frame.store).c_str(),
                    printable(compared->text).c_str());
        return Status::success();
    }
    if (!compared->equal) {
        return Error{ErrorCode::kCorrupt, compared->text};
    }
    std::printf("%s\n", printable(compared->text).c_str());
    return Status::success();
}

std::vector<std::filesystem::path> folders(const RebuildCommand& command) {
    return {command.from.begin(), command.from.end()};
}

/// @param target  The new ledger, for the message.
Status replay(Result<std::unique_ptr<worker::Rebuild>>& rebuild, const std::string& target,
              const worker::ArchiveSeals& seals) {
    if (!rebuild.ok()) {
        return rebuild.error();
    }
    if (Status replayed = rebuild.value()->replay(); !replayed.ok()) {
        return replayed;
    }
    std::printf("%llu inputs replayed into %s\n",
                static_cast<unsigned long long>(rebuild.value()->inputs_count()),
                printable(target).c_str());
    warn_unchecked_seals(seals);
    return Status::success();
}

/// The seals of commands are judged by the keys of the store, if there is one, and by the keys that
/// were named. Of the commands of another queue, the verdict of its worker counts, which is
/// archived, and replay() says so.
Result<worker::RebuildOptions> rebuild_options(const Frame& frame, const RebuildCommand& command,
                                               worker::ArchiveSeals& seals) {
    worker::RebuildOptions options;
    if (Status added = add_archive_keys(frame, command.keys, seals); !added.ok()) {
        return added.error();
    }
    options.seals = &seals;
    return options;
}

Status rebuild_folder(const Frame& frame, const RebuildCommand& command) {
    worker::ArchiveSeals seals;
    const auto options = rebuild_options(frame, command, seals);
    if (!options.ok()) {
        return options.error();
    }
    auto rebuild = worker::Rebuild::begin(folders(command), command.target, *options);
    if (Status replayed = replay(rebuild, command.target, seals); !replayed.ok()) {
        return replayed;
    }
    if (command.from.size() > 1) {
        std::printf("not compared: several archives make the ledger of a fleet\n");
        return Status::success();
    }
    if (::access(frame.paths().format.c_str(), F_OK) != 0) {
        std::printf("not compared: there is no store %s\n", printable(frame.store).c_str());
        return Status::success();
    }
    const auto own = has_own_ledger(frame);
    if (!own.ok()) {
        return own.error();
    }
    if (!*own) {
        std::printf("not compared: the ledger of %s is in PostgreSQL\n",
                    printable(frame.store).c_str());
        return Status::success();
    }
    return compare_with_store(frame, *rebuild.value());
}

/// Replays into the database the archived inputs that it lacks: all of them, or those after the
/// backup that was restored there.
Status rebuild_database(const Frame& frame, const RebuildCommand& command) {
    using Ledger = pg::PostgresLedger;
    const auto url = pg::Url::parse(command.target);
    auto ledger = url.ok() ? Ledger::open(*url, Ledger::Mode::kReadWrite, {}) : url.error();
    worker::ArchiveSeals seals;
    const auto options = ledger.ok() ? rebuild_options(frame, command, seals) : ledger.error();
    if (!options.ok()) {
        return options.error();
    }
    auto rebuild = worker::Rebuild::resume(folders(command), std::move(ledger).value(), *options);
    return replay(rebuild, url->shown(), seals);
}

Status run_rebuild(const Frame& frame, const RebuildCommand& command) {
    return pg::Url::is_one(command.target) ? rebuild_database(frame, command)
                                           : rebuild_folder(frame, command);
}

Result<std::string> parse_place(std::string_view text) {
    if (text.empty()) {
        return invalid("expected a folder, or the postgres:// URL of a ledger");
    }
    return pg::Url::is_one(text) ? parse_ledger_url(text) : Result<std::string>(std::string(text));
}

Status distribute_tables(const pg::Url& url) {
    const auto distributed = pg::distribute(url);
    if (!distributed.ok()) {
        return distributed.error();
    }
    std::printf("spread over the machines of Citus: %zu tables by rows, %zu whole on each%s\n",
                distributed->by_column.size(), distributed->reference.size(),
                distributed->by_column.empty() && distributed->reference.empty()
                    ? " (all were spread before)"
                    : "");
    return Status::success();
}

Status run_migrate(const Frame&, const MigrateCommand& command) {
    const auto url = pg::Url::parse(command.ledger);
    const auto migrated = url.ok() ? pg::migrate(*url) : url.error();
    if (!migrated.ok()) {
        return migrated.error();
    }
    for (const std::string& name : migrated->applied) {
        std::printf("applied %s\n", name.c_str());
    }
    std::printf("the ledger's schema has version %d\n", migrated->now);
    if (command.distributes) {
        return distribute_tables(*url);
    }
    if (migrated->could_be_distributed) {
        std::printf(
            "the database has Citus, and the ledger is on its coordinator alone: "
            "--distribute distributes it over the Citus nodes\n");
    }
    return Status::success();
}

}  // namespace

void declare_ledger(Subcommand app) {
    const Subcommand group = app.add_group("ledger", "Rebuild, copy or migrate a ledger");
    auto [rebuild, rebuilt] = add_command(
        group, "rebuild",
        "Replay archives into a new ledger, and compare it with the store's; or into a database",
        run_rebuild);
    add_texts(rebuild, "--from", "ARCHIVE", rebuilt.from,
              "Folder of an archive; repeat it for each node of a fleet")
        .required();
    add_command_keys(rebuild, rebuilt.keys);
    const Option folder = add_value(rebuild, "--into", "DIR|URL", rebuilt.target, parse_place,
                                    "New or empty folder for the ledger, or a database");
    rebuild.uses_file(rebuilt.target, FileUse::kNewFolder);
    // No default as in add_ledger(), so that a store's own ledger is never rebuilt by accident.
    add_value(rebuild, "--ledger", "URL", rebuilt.target, parse_ledger_url,
              "Database (postgres://...) that receives the inputs it lacks")
        .excludes(folder);
    rebuild.require(
        [&target = rebuilt.target] { return target.empty() ? "--into or --ledger" : ""; });

    declare_ledger_copy(group);
    declare_ledger_snapshot(group);

    auto [migrate, migrated] = add_command(
        group, "migrate", "Migrate a PostgreSQL ledger to this release's schema", run_migrate);
    add_ledger(migrate, migrated.ledger).required();
    add_flag(migrate, "--distribute", migrated.distributes,
             "Also distribute its tables over Citus nodes, by account");
}

}  // namespace sluice::cli
