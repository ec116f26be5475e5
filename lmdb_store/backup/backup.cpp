#include "lmdb_store/backup/backup.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/protocol/record.hpp"
#include "lmdb_store/backup/archive_copy.hpp"
#include "lmdb_store/backup/file_copy.hpp"
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

void begin(ReadTxn& txn, Environment& environment) {
    int rc = txn.renew(environment);
    if (rc == MDB_MAP_RESIZED) {  // the writer's map has grown
        rc = environment.set_map_bytes(0);
        rc = rc == 0 ? txn.renew(environment) : rc;
    }
    check(rc, environment, "read");
}

/// Opens the table of the records.
MDB_dbi records_of(const ReadTxn& txn) {
    MDB_dbi records = 0;
    check(mdb_dbi_open(txn.get(), kQueueTables[0], 0, &records), txn.environment(), "read");
    return records;
}

QueueState state_of(const ReadTxn& txn) {
    QueueState state;
    const Environment& environment = txn.environment();
    const MDB_dbi records = records_of(txn);
    const auto uuid = find(txn, kMainTable, kUuidKey);
    const auto next = find(txn, kMainTable, kNextSeqKey);
    MDB_stat rows{};
    check(mdb_stat(txn.get(), records, &rows), environment, "read");
    if (!uuid || !next || next->size() != sizeof(std::uint64_t)) {
        throw StoreFailure(
            corrupt("\"" + environment.folder().string() + "\" is not what sluice wrote"));
    }
    state.uuid = *uuid;
    state.fill.rows = rows.ms_entries;
    state.fill.last_seq.value = get_big_endian<std::uint64_t>(next->data()) - 1;
    scan(txn, records, {}, [&state](std::string_view key, std::string_view) {
        state.fill.first_seq.value = get_big_endian<std::uint64_t>(key.data());
        return false;
    });
    return state;
}

/// Calls `visit` for each record.
void each_record(const ReadTxn& txn,
                 const std::function<void(SequenceNumber, std::string_view)>& visit) {
    scan(txn, records_of(txn), {}, [&](std::string_view key, std::string_view bytes) {
        visit({get_big_endian<std::uint64_t>(key.data())}, bytes);
    });
}

bool is_trimmed_beyond(const QueueFill& queue, SequenceNumber applied) noexcept {
    return first_in(queue) > applied.value + 1;
}

/// Opens the bodies of the snapshot's records. Returns false if the worker has removed one that the
/// ledger's snapshot still needs. A body of an applied input is in the archive.
bool open_bulk(const StorePaths& paths, Snapshots& taken) {
    bool complete = true;
    each_record(taken.queue, [&](SequenceNumber seq, std::string_view bytes) {
        const auto record =
            claims_bulk(bytes) ? decode_record(bytes) : Result<RecordView>(RecordView{});
        if (!record || !record->meta.bulk || !is_bulk_name(record->meta.bulk->file_name)) {
            return;  // the check of the copy reports a damaged record
        }
        const std::string name(record->meta.bulk->file_name);
        auto file = OpenFile::open(paths.bulk / name, OpenFile::Mode::kRead);
        if (!file && file.error().code == ErrorCode::kNotFound) {
            complete = complete && seq <= taken.applied;
        } else {
            taken.bulk.push_back({name, checked(std::move(file))});
        }
    });
    return complete;
}

/// Takes snapshots of ledger and queue that fit together, or returns false if the queue was trimmed
/// between the two.
bool try_snapshots(const BackupSource& source, Snapshots& taken) {
    taken.ledger.reset();
    taken.queue.reset();
    taken.bulk.clear();
    taken.applied = checked(source.applied());
    if (source.has_ledger) {
        begin(taken.ledger, *taken.ledger_environment);
    }
    begin(taken.queue, *taken.queue_environment);
    taken.state = state_of(taken.queue);
    return !is_trimmed_beyond(taken.state.fill, taken.applied) && open_bulk(source.paths, taken);
}

/// The bodies of many records may be open at a time.
void allow_open_files() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void take_snapshots(const BackupSource& source, Snapshots& taken) {
    taken.queue_environment = checked(Environment::open({.folder = source.paths.queue}));
    if (source.has_ledger) {
        // One more than there are tables, for the names that turn out to be rows.
        taken.ledger_environment = checked(Environment::open({.folder = source.paths.ledger,
                                                              .databases_max = kLedgerTables + 1,
                                                              .read_only = true}));
    }
    allow_open_files();
    for (int tries = 0; tries < kTriesMax; ++tries) {
        if (try_snapshots(source, taken)) {
            return;
        }
    }
    throw StoreFailure(conflict("the queue has no input from " +
                                std::to_string(taken.applied.value + 1) +
                                " on, which the ledger lacks: see `sluice doctor`"));
}

void make_folder(const fs::path& folder) {
    if (::mkdir(folder.c_str(), 0700) != 0) {
        throw StoreFailure(system_error(errno, "create", folder));
    }
}

/// Copies the bank files that were sent. They are read after the ledger, so that they cover each
/// message in it. A file that is being written has a dot in its name.
void copy_exports(const fs::path& from, const fs::path& to) {
    const auto names = names_in(from);
    if (!names && names.error().code == ErrorCode::kNotFound) {
        return;
    }
    const std::vector<std::string> files = checked(names);
    make_folder(to);
    for (const std::string& name : files) {
        if (name.find('.') != std::string::npos) {
            continue;
        }
        const Status copied = attempt([&] { copy_whole(from / name, to / name); });
        if (!copied && copied.error().code != ErrorCode::kNotFound) {  // removed since: not sent
            throw StoreFailure(copied.error());
        }
    }
}

/// Copies `from`/data.mdb with LMDB's own function, which keeps the transaction's id: the
/// registry's revisions name it.
void copy_data(const fs::path& from, std::size_t map_bytes, const fs::path& to) {
    const auto environment =
        checked(Environment::open({.folder = from, .map_bytes = map_bytes, .read_only = true}));
    check(mdb_env_copy(environment->get(), to.c_str()), *environment, "copy");
    check(set_owner(to / "data.mdb", {}));
}

/// Copies a file of the store's root, if it exists and this process may read it.
void copy_small(const fs::path& from, const fs::path& to) {
    // With the effective user: the real one may be the person who ran the command.
    if (::faccessat(AT_FDCWD, from.c_str(), R_OK, AT_EACCESS) == 0) {
        copy_whole(from, to);
    }
}

/// Returns true if the copied key is not the one of the copied registry.
bool has_other_key(const StorePaths& copy) {
    const Result<MasterKey> key = MasterKey::load(copy.master_key);
    const Result<RegistryTables> tables = RegistryTables::open_copy(copy);
    if (!key || !tables) {
        return false;  // no key was copied, or the check of the copy reports the registry
    }
    return !read_in(*tables->environment,
                    [&](const Txn& txn) { return tables->key_in_force(txn, *key); });
}

/// Copies the registry with its key. While `sluice key rotate` runs, the key's file holds the next
/// key as well, so the two do not fit only if a rotation began and ended between the copies.
void copy_registry(const StorePaths& from, const StorePaths& to) {
    constexpr int kKeyTriesMax = 3;  // the store itself may have another key: the check reports it
    for (int tries = 0; tries < kKeyTriesMax; ++tries) {
        ::unlink((to.registry / "data.mdb").c_str());
        copy_small(from.master_key, to.master_key);
        copy_data(from.registry, kRegistryMapBytes, to.registry);
        if (!has_other_key(to)) {
            break;
        }
    }
    // The check opens the copy. LMDB sets up a lock file that no process uses.
    check(replace_file(to.registry / "lock.mdb", std::string_view("\0", 1)));
}

/// Copies the destinations of notifications, if any were ever added. They are read before the
/// ledger, so that their cursors are places of its copy.
void copy_destinations(const DestinationPaths& from, const DestinationPaths& to) {
    if (::access(from.folder.c_str(), F_OK) != 0) {
        return;
    }
    make_folder(to.folder);
    copy_data(from.folder, 0, to.folder);
    copy_whole(from.run_lock, to.run_lock);
    copy_small(from.key, to.key);
}

/// Returns the group that creates files in the store, if there is one.
std::string group_of(const fs::path& lanes) {
    struct stat info {};
    const bool shared = ::stat(lanes.c_str(), &info) == 0 && (info.st_mode & 0020U) != 0;
    const group* found = shared ? ::getgrgid(info.st_gid) : nullptr;
    return found != nullptr ? found->gr_name : std::string();
}

Backup copy_all(const BackupSource& source, const StorePaths& to) {
    Backup backup;
    // The records of lanes are copied with the queue.
    check(source.queue.recover_lanes());
    check(source.queue.empty_lanes());
    copy_destinations(DestinationPaths(source.paths), DestinationPaths(to));
    Snapshots taken;
    take_snapshots(source, taken);
    copy_environment(taken.queue, to.queue,
                     [](std::string_view key) { return !key.starts_with(kLanePrefix); });
    for (const OpenBulk& body : taken.bulk) {
        copy_part(body.file, to.bulk / body.name, kWholeFile);
    }
    taken.queue.reset();
    if (source.has_ledger) {
        copy_environment(taken.ledger, to.ledger, [](std::string_view) { return true; });
    }
    taken.ledger.reset();
    copy_archive(source.paths.archive, to.archive, taken.state, backup.archive_fault);
    copy_exports(source.paths.exports, to.exports);
    copy_registry(source.paths, to);
    copy_small(source.paths.root / "ledger.url", to.root / "ledger.url");
    copy_small(source.paths.command_key, to.command_key);
    copy_whole(source.paths.format, to.format);
    backup.queue_uuid = taken.state.uuid;
    backup.group = group_of(source.paths.lanes);
    backup.has_ledger = source.has_ledger;
    backup.applied = taken.applied;
    backup.last = taken.state.fill.last_seq;
    backup.waiting = taken.state.fill.rows;
    return backup;
}

}  // namespace

Result<Backup> write_backup(const BackupSource& source, const fs::path& folder,
                            const CopyCheck& examine) {
    return attempt([&] {
        NewFolder made(folder);
        const StorePaths to(folder);
        for (const fs::path& inner : {to.registry, to.queue, to.bulk, to.ledger, to.archive}) {
            make_folder(inner);
        }
        Backup backup = copy_all(source, to);
        check(examine(to, backup));
        for (const fs::path& file : {published_file(to), generation_file(to)}) {
            ::unlink(file.c_str());  // the check published the copied registry, as a restore does
        }
        seal_backup(folder, backup);
        made.keep();
        return backup;
    });
}

Result<QueueFill> check_queue_copy(const StorePaths& paths, SequenceNumber applied) {
    return attempt([&] {
        const auto environment =
            checked(Environment::open({.folder = paths.queue, .read_only = true}));
        ReadTxn txn;
        begin(txn, *environment);
        const QueueState state = state_of(txn);
        each_record(txn, [&](SequenceNumber seq, std::string_view bytes) {
            const auto record = decode_record(bytes);
            if (!record) {
                throw StoreFailure({record.error().code, "input " + std::to_string(seq.value) +
                                                             ": " + record.error().message});
            }
            if (record->meta.bulk && seq > applied) {
                (void)checked(read_bulk(paths, *record->meta.bulk));
            }
        });
        return state.fill;
    });
}

}  // namespace sluice::store
