#include "lmdb_store/backup/backup.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/protocol/record.hpp"
#include "lmdb_store/backup/archive_copy.hpp"
#include "lmdb_store/backup/file_copy.hpp"
#include "lmdb_store/backup/list.hpp"
#include "lmdb_store/destinations/destination_store.hpp"
#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/ledger/tables.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "lmdb_store/queue/tables.hpp"
#include "lmdb_store/registry/published.hpp"
#include "lmdb_store/registry/tables.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr int kTriesMax = 100;
constexpr std::string_view kLanePrefix = "lane.";

/// A body that a record names, opened so that it can be copied after the worker has removed it.
struct OpenBulk {
    std::string name;
    OpenFile file;
};

/// The snapshots that fit together.
struct Snapshots {
    std::shared_ptr<Environment> ledger_environment;
    std::shared_ptr<Environment> queue_environment;
    ReadTxn ledger;
    ReadTxn queue;
    SequenceNumber applied;
    QueueState state;
    std::vector<OpenBulk> bulk;
};

Status begin(ReadTxn& txn, Environment& environment) {
    int rc = txn.renew(environment);
    if (rc == MDB_MAP_RESIZED) {  // the writer's map has grown
        rc = environment.set_map_bytes(0);
        rc = rc == 0 ? txn.renew(environment) : rc;
    }
    return rc == 0 ? Status::success() : Status(environment.error(rc, "read"));
}

/// Opens the table of the records. Throws StoreFailure.
MDB_dbi records_of(const ReadTxn& txn) {
    MDB_dbi records = 0;
    check(mdb_dbi_open(txn.get(), kQueueTables[0], 0, &records), txn.environment(), "read");
    return records;
}

Result<QueueState> state_of(const ReadTxn& txn) {
    return attempt([&]() -> Result<QueueState> {
        QueueState state;
        const Environment& environment = txn.environment();
        const MDB_dbi records = records_of(txn);
        const auto uuid = find(txn, kMainTable, kUuidKey);
        const auto next = find(txn, kMainTable, kNextSeqKey);
        MDB_stat rows{};
        check(mdb_stat(txn.get(), records, &rows), environment, "read");
        if (!uuid || !next || next->size() != sizeof(std::uint64_t)) {
            return Error{ErrorCode::kCorrupt,
                         "\"" + environment.folder().string() + "\" is not what sluice wrote"};
        }
        state.uuid = *uuid;
        state.fill.rows = rows.ms_entries;
        state.fill.last_seq.value = get_big_endian<std::uint64_t>(next->data()) - 1;
        scan(txn, records, {}, [&state](std::string_view key, std::string_view) {
            state.fill.first_seq.value = get_big_endian<std::uint64_t>(key.data());
            return false;
        });
        return state;
    });
}

/// Calls `visit` for each record.
Status each_record(const ReadTxn& txn,
                   const std::function<Status(SequenceNumber, std::string_view)>& visit) {
    return attempt([&]() -> Status {
        scan(txn, records_of(txn), {}, [&](std::string_view key, std::string_view bytes) {
            check(visit({get_big_endian<std::uint64_t>(key.data())}, bytes));
            return true;
        });
        return Status::success();
    });
}

bool is_trimmed_beyond(const QueueFill& queue, SequenceNumber applied) noexcept {
    return first_in(queue) > applied.value + 1;
}

/// Opens the bodies of the snapshot's records. Returns false if the worker has removed one that the
/// ledger's snapshot still needs. A body of an applied input is in the archive.
Result<bool> open_bulk(const StorePaths& paths, Snapshots& taken) {
    bool complete = true;
    Status read =
        each_record(taken.queue, [&](SequenceNumber seq, std::string_view bytes) -> Status {
            const auto record =
                claims_bulk(bytes) ? decode_record(bytes) : Result<RecordView>(RecordView{});
            if (!record || !record->meta.bulk || !is_bulk_name(record->meta.bulk->file_name)) {
                return Status::success();  // the check of the copy reports a damaged record
            }
            const std::string name(record->meta.bulk->file_name);
            auto file = OpenFile::open(paths.bulk / name, OpenFile::Mode::kRead);
            if (file) {
                taken.bulk.push_back({name, std::move(*file)});
                return Status::success();
            }
            complete =
                complete && (file.error().code != ErrorCode::kNotFound || seq <= taken.applied);
            return file.error().code == ErrorCode::kNotFound ? Status::success()
                                                             : Status(file.error());
        });
    return read ? Result<bool>(complete) : Result<bool>(read.error());
}

/// Takes snapshots of ledger and queue that fit together, or returns false if the queue was trimmed
/// between the two.
Result<bool> try_snapshots(const BackupSource& source, Snapshots& taken) {
    taken.ledger.reset();
    taken.queue.reset();
    taken.bulk.clear();
    const auto applied = source.applied();
    if (!applied) {
        return applied.error();
    }
    taken.applied = *applied;
    if (source.has_ledger) {
        if (Status begun = begin(taken.ledger, *taken.ledger_environment); !begun) {
            return begun.error();
        }
    }
    if (Status begun = begin(taken.queue, *taken.queue_environment); !begun) {
        return begun.error();
    }
    auto state = state_of(taken.queue);
    if (!state) {
        return state.error();
    }
    taken.state = std::move(*state);
    return is_trimmed_beyond(taken.state.fill, taken.applied) ? Result<bool>(false)
                                                              : open_bulk(source.paths, taken);
}

/// The bodies of many records may be open at a time.
void allow_open_files() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

Status take_snapshots(const BackupSource& source, Snapshots& taken) {
    auto queue = Environment::open({.folder = source.paths.queue});
    if (!queue) {
        return queue.error();
    }
    taken.queue_environment = std::move(*queue);
    if (source.has_ledger) {
        // One more than there are tables, for the names that turn out to be rows.
        auto ledger = Environment::open(
            {.folder = source.paths.ledger, .databases_max = kLedgerTables + 1, .read_only = true});
        if (!ledger) {
            return ledger.error();
        }
        taken.ledger_environment = std::move(*ledger);
    }
    allow_open_files();
    for (int tries = 0; tries < kTriesMax; ++tries) {
        const auto fit = try_snapshots(source, taken);
        if (!fit || *fit) {
            return fit ? Status::success() : Status(fit.error());
        }
    }
    return Error{ErrorCode::kConflict, "the queue has no input from " +
                                           std::to_string(taken.applied.value + 1) +
                                           " on, which the ledger lacks: see `sluice doctor`"};
}

/// Copies the bank files that were sent. They are read after the ledger, so that they cover each
/// message in it. A file that is being written has a dot in its name.
Status copy_exports(const fs::path& from, const fs::path& to) {
    const auto names = names_in(from);
    if (!names) {
        return names.error().code == ErrorCode::kNotFound ? Status::success()
                                                          : Status(names.error());
    }
    if (::mkdir(to.c_str(), 0700) != 0) {
        return system_error(errno, "create", to);
    }
    for (const std::string& name : *names) {
        const bool is_whole = name.find('.') == std::string::npos;
        const Status copied =
            is_whole ? copy_file(from / name, to / name, kWholeFile, {}) : Status::success();
        if (!copied && copied.error().code != ErrorCode::kNotFound) {  // removed since: not sent
            return copied;
        }
    }
    return Status::success();
}

Status copy_bulk(const StorePaths& to, const std::vector<OpenBulk>& bulk) {
    for (const OpenBulk& body : bulk) {
        if (Status copied = copy_file(body.file, to.bulk / body.name, kWholeFile, {}); !copied) {
            return copied;
        }
    }
    return Status::success();
}

/// Copies `from`/data.mdb with LMDB's own function, which keeps the transaction's id: the
/// registry's revisions name it.
Status copy_data(const fs::path& from, std::size_t map_bytes, const fs::path& to) {
    const auto environment =
        Environment::open({.folder = from, .map_bytes = map_bytes, .read_only = true});
    if (!environment) {
        return environment.error();
    }
    if (const int rc = mdb_env_copy((*environment)->get(), to.c_str()); rc != 0) {
        return (*environment)->error(rc, "copy");
    }
    return set_owner(to / "data.mdb", {});
}

/// Copies a file of the store's root, if it exists and this process may read it.
Status copy_small(const fs::path& from, const fs::path& to) {
    // With the effective user: the real one may be the person who ran the command.
    if (::faccessat(AT_FDCWD, from.c_str(), R_OK, AT_EACCESS) != 0) {
        return Status::success();
    }
    return copy_file(from, to, kWholeFile, {});
}

/// Returns true if the copied key is not the one of the copied registry.
bool has_other_key(const StorePaths& copy) {
    const Result<MasterKey> key = MasterKey::load(copy.master_key);
    const Result<RegistryTables> tables = RegistryTables::open_copy(copy);
    if (!key || !tables) {
        return false;  // no key was copied, or the check of the copy reports the registry
    }
    const auto found = attempt([&]() -> Result<MasterKey> {
        ReadTxn txn;
        check(txn.begin(*tables->environment), *tables->environment, "read");
        return tables->key_in_force(txn, *key);
    });
    return !found;
}

/// Copies the registry with its key. While `sluice key rotate` runs, the key's file holds the next
/// key as well, so the two do not fit only if a rotation began and ended between the copies.
Status copy_registry(const StorePaths& from, const StorePaths& to) {
    constexpr int kKeyTriesMax = 3;  // the store itself may have another key: the check reports it
    Status ok = Status::success();
    for (int tries = 0; ok && tries < kKeyTriesMax; ++tries) {
        ::unlink((to.registry / "data.mdb").c_str());
        ok = copy_small(from.master_key, to.master_key);
        ok = ok ? copy_data(from.registry, kRegistryMapBytes, to.registry) : ok;
        if (!ok || !has_other_key(to)) {
            break;
        }
    }
    // The check opens the copy. LMDB sets up a lock file that no process uses.
    return ok ? replace_file(to.registry / "lock.mdb", std::string_view("\0", 1)) : ok;
}

/// Copies the destinations of notifications, if any were ever added. They are read before the
/// ledger, so that their cursors are places of its copy.
Status copy_destinations(const DestinationPaths& from, const DestinationPaths& to) {
    if (::access(from.folder.c_str(), F_OK) != 0) {
        return Status::success();
    }
    if (::mkdir(to.folder.c_str(), 0700) != 0) {
        return system_error(errno, "create", to.folder);
    }
    Status ok = copy_data(from.folder, 0, to.folder);
    ok = ok ? copy_file(from.run_lock, to.run_lock, kWholeFile, {}) : ok;
    return ok ? copy_small(from.key, to.key) : ok;
}

/// Returns the group that creates files in the store, if there is one.
std::string group_of(const fs::path& lanes) {
    struct stat info {};
    const bool shared = ::stat(lanes.c_str(), &info) == 0 && (info.st_mode & 0020U) != 0;
    const group* found = shared ? ::getgrgid(info.st_gid) : nullptr;
    return found != nullptr ? found->gr_name : std::string();
}

Status make_folders(const StorePaths& paths) {
    for (const fs::path& folder :
         {paths.registry, paths.queue, paths.bulk, paths.ledger, paths.archive}) {
        if (::mkdir(folder.c_str(), 0700) != 0) {
            return system_error(errno, "create", folder);
        }
    }
    return Status::success();
}

Status copy_all(const BackupSource& source, const StorePaths& to, Backup& backup) {
    // The records of lanes are copied with the queue.
    Status ok = source.queue.recover_lanes();
    ok = ok ? source.queue.empty_lanes() : ok;
    ok = ok ? copy_destinations(DestinationPaths(source.paths), DestinationPaths(to)) : ok;
    Snapshots taken;
    ok = ok ? take_snapshots(source, taken) : ok;
    ok = ok ? copy_environment(taken.queue, to.queue,
                               [](std::string_view key) { return !key.starts_with(kLanePrefix); })
            : ok;
    ok = ok ? copy_bulk(to, taken.bulk) : ok;
    taken.queue.reset();
    if (ok && source.has_ledger) {
        ok = copy_environment(taken.ledger, to.ledger, [](std::string_view) { return true; });
    }
    taken.ledger.reset();
    ok =
        ok ? copy_archive(source.paths.archive, to.archive, taken.state, backup.archive_fault) : ok;
    ok = ok ? copy_exports(source.paths.exports, to.exports) : ok;
    ok = ok ? copy_registry(source.paths, to) : ok;
    ok = ok ? copy_small(source.paths.root / "ledger.url", to.root / "ledger.url") : ok;
    ok = ok ? copy_small(source.paths.command_key, to.command_key) : ok;
    ok = ok ? copy_file(source.paths.format, to.format, kWholeFile, {}) : ok;
    backup.queue_uuid = taken.state.uuid;
    backup.group = group_of(source.paths.lanes);
    backup.has_ledger = source.has_ledger;
    backup.applied = taken.applied;
    backup.last = taken.state.fill.last_seq;
    backup.waiting = taken.state.fill.rows;
    return ok;
}

}  // namespace

Result<Backup> write_backup(const BackupSource& source, const fs::path& folder,
                            const CopyCheck& check) {
    auto made = NewFolder::create(folder);
    if (!made) {
        return made.error();
    }
    const StorePaths to(folder);
    Backup backup;
    Status ok = make_folders(to);
    ok = ok ? copy_all(source, to, backup) : ok;
    ok = ok ? check(to, backup) : ok;
    for (const fs::path& file : {published_file(to), generation_file(to)}) {
        ::unlink(file.c_str());  // the check published the copied registry; a restore does it again
    }
    ok = ok ? seal_backup(folder, backup) : ok;
    if (!ok) {
        return ok.error();
    }
    made->keep();
    return backup;
}

Result<QueueFill> check_queue_copy(const StorePaths& paths, SequenceNumber applied) {
    auto environment = Environment::open({.folder = paths.queue, .read_only = true});
    if (!environment) {
        return environment.error();
    }
    ReadTxn txn;
    if (Status begun = begin(txn, **environment); !begun) {
        return begun.error();
    }
    const auto state = state_of(txn);
    if (!state) {
        return state.error();
    }
    Status read = each_record(txn, [&](SequenceNumber seq, std::string_view bytes) {
        const auto record = decode_record(bytes);
        if (!record) {
            return Status(Error{record.error().code, "input " + std::to_string(seq.value) + ": " +
                                                         record.error().message});
        }
        const bool has_body = record->meta.bulk && seq > applied;
        const Result<std::string> body =
            has_body ? read_bulk(paths, *record->meta.bulk) : std::string();
        return body ? Status::success() : Status(body.error());
    });
    return read ? Result<QueueFill>(state->fill) : read.error();
}

}  // namespace sluice::store
