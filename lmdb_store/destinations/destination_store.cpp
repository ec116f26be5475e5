#include "lmdb_store/destinations/destination_store.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "lmdb_store/destinations/codec.hpp"
#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/store/leftovers.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 5> kTables = {"destinations", "progress", "pending", "replays",
                                                "attempts"};
constexpr std::string_view kFormat("\1\0\0\0", 4);
constexpr std::size_t kMapBytes = std::size_t{4} << 30;  // sparse
constexpr std::string_view kOwnCheckKey = "key_check";
constexpr std::string_view kOwnCheckText = "sluice notify";
/// Rows of the log that one commit removes beyond those that it adds.
constexpr std::size_t kRemovedExtra = 100;

Error no_destination(const std::string& id) {
    return {ErrorCode::kNotFound, "there is no destination \"" + id + "\""};
}

int fill(MDB_txn* txn, const std::string& store, const MasterKey& key) {
    int rc = create_tables(txn, kTables);
    rc = rc == 0 ? put_main(txn, kFormatKey, kFormat) : rc;
    rc = rc == 0 ? put_main(txn, kUuidKey, store) : rc;
    return rc == 0 ? put_main(txn, kOwnCheckKey, key.seal(kOwnCheckText, kOwnCheckKey)) : rc;
}

/// Creates the environment under another name, and renames it. Requires: hold_temporary_files().
void create_folder(const StorePaths& store, const DestinationPaths& paths, const MasterKey& key) {
    const StoreFormat format = checked(read_store_format(store));
    const fs::path part = paths.folder.string() + ".new." + std::to_string(::getpid());
    std::error_code error;
    fs::remove_all(part, error);
    if (::mkdir(part.c_str(), 0700) != 0) {
        throw StoreFailure(system_error(errno, "create", part));
    }
    Status made = Environment::create(part, {}, {},
                                      [&](MDB_txn* txn) { return fill(txn, format.uuid, key); });
    made = made.ok() ? replace_file(part / paths.run_lock.filename(), "") : made;
    if (made.ok() && ::rename(part.c_str(), paths.folder.c_str()) != 0) {
        made = errno == ENOTEMPTY || errno == EEXIST  // another command was faster
                   ? Status::success()
                   : Status(system_error(errno, "create", paths.folder));
    }
    fs::remove_all(part, error);
    check(made);
    check(sync_folder(store.root));
}

}  // namespace

struct DestinationStore::Tables {
    DestinationPaths paths;
    std::shared_ptr<Environment> environment;
    MDB_dbi destinations = 0, progress = 0, pending = 0, replays = 0, attempts = 0;

    [[nodiscard]] Error damaged(std::string_view row_kind) const {
        return {ErrorCode::kCorrupt, "a row of \"" + paths.folder.string() + "\" is damaged (" +
                                         std::string(row_kind) +
                                         "): move the folder away and add the destinations again"};
    }
    template <class Row>
    [[nodiscard]] Row decoded(std::string_view key, std::string_view value,
                              std::string_view row_kind) const {
        auto row = decode<Row>(key, value);
        if (!row) {
            throw StoreFailure(damaged(row_kind));
        }
        return *std::move(row);
    }

    template <class Row>
    void put_row(const WriteTxn& txn, MDB_dbi table, const std::string& key, const Row& row) const {
        put(txn, table, key, encode(key, row));
    }

    [[nodiscard]] std::optional<StoredDestination> load(const Txn& txn,
                                                        const std::string& id) const {
        const auto row = store::find(txn, destinations, id);
        const auto state = row ? store::find(txn, progress, id) : std::nullopt;
        if (!row || !state) {
            return std::nullopt;
        }
        StoredDestination found{decoded<Destination>(id, *row, "destination"),
                                decoded<DestinationProgress>(id, *state, "progress")};
        scan(txn, pending, prefix_of(id),
             [&found](std::string_view, std::string_view) { ++found.progress.pending; });
        return found;
    }

    [[nodiscard]] StoredDestination load_known(const Txn& txn, const std::string& id) const {
        auto found = load(txn, id);
        if (!found) {
            throw StoreFailure(no_destination(id));
        }
        return *std::move(found);
    }

    /// Returns what `act` returns in a read transaction.
    template <class Act>
    [[nodiscard]] auto read(Act&& act) const {
        return read_in(*environment, act);
    }
    /// Runs `act` in a write transaction, which is committed unless it throws.
    template <class Act>
    [[nodiscard]] Status write(Act&& act) const {
        return attempt([&] {
            WriteTxn txn;
            check(txn.begin(*environment), *environment, "write");
            act(txn);
            check(txn.commit(), *environment, "write");
        });
    }

    void erase_below(const WriteTxn& txn, MDB_dbi table, const std::string& id) const {
        for (const std::string& key : keys_of(txn, table, prefix_of(id))) {
            erase(txn, table, key);
        }
    }

    /// Returns the number of the last row, or of the first one; 0 if there is none.
    [[nodiscard]] std::uint64_t attempt_at(const Txn& txn, MDB_cursor_op operation) const {
        Cursor cursor;
        check(cursor.open(txn, attempts), *environment, "read");
        MDB_val key{}, value{};
        const int rc = cursor.read(key, value, operation);
        check(rc == MDB_NOTFOUND ? 0 : rc, *environment, "read");
        return rc == 0 ? number_of_key(to_view(key)) : 0;
    }

    void apply(const WriteTxn& txn, const DestinationStep& step) const;
    void shorten_log(const WriteTxn& txn, std::size_t added, std::uint64_t now) const;
};

/// A command may have changed the destination since the step's process read it.
void DestinationStore::Tables::apply(const WriteTxn& txn, const DestinationStep& step) const {
    const auto stored = load(txn, step.id);
    if (!stored || stored->destination.uuid != step.uuid) {
        return;
    }
    DestinationProgress progress_row = step.progress;
    if (stored->destination.revision != step.revision) {
        progress_row.disabled_at = stored->progress.disabled_at;
        progress_row.disabled_why = stored->progress.disabled_why;
    }
    put_row(txn, progress, step.id, progress_row);
    for (const ChangeId& change : step.finished) {
        erase(txn, pending, pending_key(step.id, change));
    }
    for (const PendingChange& change : step.put) {
        put_row(txn, pending, pending_key(step.id, change.change), change);
    }
    std::uint64_t number = attempt_at(txn, MDB_LAST);
    for (const Attempt& one : step.attempts) {
        put_row(txn, attempts, number_key({}, ++number), one);
    }
    for (const Replay& replay : step.replays) {
        put_row(txn, replays, number_key(prefix_of(step.id), replay.number), replay);
    }
    for (const std::uint64_t ended : step.ended_replays) {
        erase(txn, replays, number_key(prefix_of(step.id), ended));
    }
}

void DestinationStore::Tables::shorten_log(const WriteTxn& txn, std::size_t added,
                                           std::uint64_t now) const {
    const std::uint64_t last = attempt_at(txn, MDB_LAST);
    for (std::size_t i = 0; i < added + kRemovedExtra; ++i) {
        const std::uint64_t first = attempt_at(txn, MDB_FIRST);
        if (first == 0) {
            return;
        }
        const std::string key = number_key({}, first);
        const auto value = store::find(txn, attempts, key);
        const bool is_old =
            value && decoded<Attempt>(key, *value, "log").at + kAttemptAgeMaxMs < now;
        if (!is_old && last - first < kAttemptsMax) {
            return;
        }
        erase(txn, attempts, key);
    }
}

Status DestinationStore::create(const StorePaths& store) {
    const DestinationPaths paths(store);
    struct stat info {};
    if (::stat(paths.folder.c_str(), &info) == 0) {
        return Status::success();
    }
    return attempt([&] {
        const Fd held = checked(hold_temporary_files(store));
        if (::stat(paths.key.c_str(), &info) != 0) {
            check(MasterKey::random().save(paths.key));
        }
        create_folder(store, paths, checked(MasterKey::load(paths.key)));
    });
}

Result<std::unique_ptr<DestinationStore>> DestinationStore::open(const StorePaths& store,
                                                                 Mode mode) {
    return attempt([&] {
        const DestinationPaths paths(store);
        const StoreFormat format = checked(read_store_format(store));
        struct stat info {};
        if (::stat(paths.folder.c_str(), &info) != 0 && errno == ENOENT) {
            throw StoreFailure(
                not_found("there are no destinations: add one with \"sluice notify add\""));
        }
        auto tables = std::make_unique<Tables>(
            Tables{paths, checked(Environment::open({.folder = paths.folder,
                                                     .map_bytes = kMapBytes,
                                                     .databases_max = kTables.size() + 1,
                                                     .read_only = mode == Mode::kRead}))});
        std::array<MDB_dbi, kTables.size()> handles{};
        check(tables->environment->open_databases(kTables, handles, false));
        tables->destinations = handles[0];
        tables->progress = handles[1];
        tables->pending = handles[2];
        tables->replays = handles[3];
        tables->attempts = handles[4];
        ProbeTxn txn;
        check(txn.begin(*tables->environment), *tables->environment, "read");
        const auto stored = store::find(txn, kMainTable, kFormatKey);
        if (!stored || *stored != kFormat) {
            throw StoreFailure(unsupported("\"" + paths.folder.string() +
                                           "\" has a format that this release does not know: use "
                                           "the release of sluice that wrote it"));
        }
        const auto uuid = store::find(txn, kMainTable, kUuidKey);
        if (!uuid || *uuid != format.uuid) {
            throw StoreFailure(conflict(
                "\"" + paths.folder.string() +
                "\" belongs to another store: move it away and add the destinations again"));
        }
        check(txn.finish(), *tables->environment, "read");
        return std::unique_ptr<DestinationStore>(new DestinationStore(std::move(tables)));
    });
}

DestinationStore::DestinationStore(std::unique_ptr<Tables> tables) : tables_(std::move(tables)) {}
DestinationStore::~DestinationStore() = default;

Result<MasterKey> DestinationStore::key() const {
    return tables_->read([&](const Txn& txn) {
        const MasterKey key = checked(MasterKey::load(tables_->paths.key));
        const auto sealed = store::find(txn, kMainTable, kOwnCheckKey);
        const auto opened = key.open(sealed.value_or(std::string_view()), kOwnCheckKey);
        if (!opened.ok() || *opened != kOwnCheckText) {
            throw StoreFailure(corrupt("\"" + tables_->paths.key.string() +
                                       "\" is not the key that sealed the secrets in \"" +
                                       tables_->paths.folder.string() +
                                       "\": restore both from one backup"));
        }
        return key;
    });
}

std::uint64_t DestinationStore::version() const noexcept {
    return tables_->environment->info().me_last_txnid;
}

bool DestinationStore::still_in_place() const noexcept {
    return tables_->environment->still_in_place();
}

Result<std::vector<StoredDestination>> DestinationStore::list() {
    return tables_->read([&](const Txn& txn) {
        std::vector<StoredDestination> found;
        for (const std::string& id : keys_of(txn, tables_->destinations, {})) {
            auto one = tables_->load(txn, id);
            if (!one) {
                throw StoreFailure(tables_->damaged("destination without progress"));
            }
            found.push_back(*std::move(one));
        }
        return found;
    });
}

Result<StoredDestination> DestinationStore::find(const std::string& id) {
    return tables_->read([&](const Txn& txn) { return tables_->load_known(txn, id); });
}

Result<std::vector<PendingChange>> DestinationStore::pending(const std::string& id) {
    return tables_->read([&](const Txn& txn) {
        std::vector<PendingChange> rows;
        scan(txn, tables_->pending, prefix_of(id), [&](std::string_view key, std::string_view row) {
            rows.push_back(tables_->decoded<PendingChange>(key, row, "pending change"));
        });
        return rows;
    });
}

Result<std::vector<Replay>> DestinationStore::replays(const std::string& id) {
    return tables_->read([&](const Txn& txn) {
        std::vector<Replay> rows;
        scan(txn, tables_->replays, prefix_of(id), [&](std::string_view key, std::string_view row) {
            rows.push_back(tables_->decoded<Replay>(key, row, "replay"));
            rows.back().number = number_of_key(key);
        });
        return rows;
    });
}

Status DestinationStore::scan_attempts(const std::function<bool(const Attempt&)>& visit) {
    return tables_->read([&](const Txn& txn) {
        Cursor cursor;
        check(cursor.open(txn, tables_->attempts), *tables_->environment, "read");
        MDB_val key{}, value{};
        int rc = cursor.read(key, value, MDB_LAST);
        while (rc == 0 && visit(tables_->decoded<Attempt>(to_view(key), to_view(value), "log"))) {
            rc = cursor.read(key, value, MDB_PREV);
        }
        check(rc == MDB_NOTFOUND ? 0 : rc, *tables_->environment, "read");
    });
}

Status DestinationStore::add(const StoredDestination& added) {
    const std::string& id = added.destination.id;
    return tables_->write([&](const WriteTxn& txn) {
        if (store::find(txn, tables_->destinations, id)) {
            throw StoreFailure(conflict("there is a destination \"" + id +
                                        "\" already: choose another id, or remove it first"));
        }
        if (keys_of(txn, tables_->destinations, {}).size() >= kDestinationsMax) {
            throw StoreFailure({ErrorCode::kLimit, "a store has at most " +
                                                       std::to_string(kDestinationsMax) +
                                                       " destinations: remove one first"});
        }
        tables_->put_row(txn, tables_->destinations, id, added.destination);
        tables_->put_row(txn, tables_->progress, id, added.progress);
    });
}

Status DestinationStore::change(const std::string& id,
                                const std::function<Status(StoredDestination&)>& change) {
    return tables_->write([&](const WriteTxn& txn) {
        StoredDestination found = tables_->load_known(txn, id);
        check(change(found));
        ++found.destination.revision;
        tables_->put_row(txn, tables_->destinations, id, found.destination);
        tables_->put_row(txn, tables_->progress, id, found.progress);
    });
}

Status DestinationStore::remove(const std::string& id) {
    return tables_->write([&](const WriteTxn& txn) {
        if (!erase(txn, tables_->destinations, id)) {
            throw StoreFailure(no_destination(id));
        }
        erase(txn, tables_->progress, id);
        tables_->erase_below(txn, tables_->pending, id);
        tables_->erase_below(txn, tables_->replays, id);
    });
}

Status DestinationStore::add_replay(const std::string& id, Replay replay) {
    return tables_->write([&](const WriteTxn& txn) {
        if (!store::find(txn, tables_->destinations, id)) {
            throw StoreFailure(no_destination(id));
        }
        scan(txn, tables_->replays, prefix_of(id),
             [&](std::string_view key, std::string_view) { replay.number = number_of_key(key); });
        ++replay.number;
        tables_->put_row(txn, tables_->replays, number_key(prefix_of(id), replay.number), replay);
    });
}

Status DestinationStore::apply(const std::vector<DestinationStep>& steps, std::uint64_t now) {
    return tables_->write([&](const WriteTxn& txn) {
        std::size_t added = 0;
        for (const DestinationStep& step : steps) {
            tables_->apply(txn, step);
            added += step.attempts.size();
        }
        tables_->shorten_log(txn, added, now);
    });
}

}  // namespace sluice::store
