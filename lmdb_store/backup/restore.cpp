// Makes a store of a backup: `sluice init`, then the files of the backup in place of the empty
// ones.
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "lmdb_store/backup/backup.hpp"
#include "lmdb_store/backup/file_copy.hpp"
#include "lmdb_store/backup/list.hpp"
#include "lmdb_store/destinations/destination_store.hpp"
#include "lmdb_store/environment/table_access.hpp"
#include "lmdb_store/queue/tables.hpp"
#include "lmdb_store/registry/publish.hpp"
#include "lmdb_store/registry/published.hpp"
#include "lmdb_store/store/command_key.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFormatBytesMax = 4096;

/// Returns the owner of a file that `sluice init` made.
FileOwner owner_of(const fs::path& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
        throw StoreFailure(system_error(errno, "inspect", path));
    }
    return FileOwner{info.st_uid, info.st_gid, info.st_mode & 0777U};
}

/// Returns the file whose owner and mode a new file gets: its neighbour, made by `sluice init`.
fs::path model_of(const std::string& path, const StorePaths& target) {
    return path.starts_with("queue/") ? target.queue / "data.mdb" : target.ledger / "data.mdb";
}

void place(const fs::path& folder, const BackupFile& file, const StorePaths& target) {
    const FileOwner owner = owner_of(model_of(file.path, target));
    for (const fs::path& made : {target.exports, DestinationPaths(target).folder}) {
        if (file.path.starts_with(made.filename().string() + "/") &&
            ::mkdir(made.c_str(), 0700) != 0 && errno != EEXIST) {
            throw StoreFailure(system_error(errno, "create", made));
        }
    }
    copy_whole(folder / file.path, target.root / file.path, owner);
}

/// Returns the last input of the queue, or the one before the first that it lacks after `applied`.
Result<SequenceNumber> last_without_gap(const StorePaths& target, SequenceNumber applied) {
    return attempt([&]() -> Result<SequenceNumber> {
        const auto queue = checked(Environment::open({.folder = target.queue, .read_only = true}));
        ReadTxn txn;
        check(txn.begin(*queue), *queue, "read");
        MDB_dbi records = 0;
        check(mdb_dbi_open(txn.get(), kQueueTables[0], 0, &records), *queue, "read");
        const auto next = find(txn, kMainTable, kNextSeqKey);
        if (!next || next->size() != sizeof(std::uint64_t)) {
            return corrupt("\"" + target.queue.string() + "\" is not what sluice wrote");
        }
        const SequenceNumber last{get_big_endian<std::uint64_t>(next->data()) - 1};
        std::optional<SequenceRange> gap;
        check(find_gap(txn.get(), records, applied, last, gap), *queue, "read");
        return gap ? SequenceNumber{gap->first.value - 1} : last;
    });
}

/// Puts the backup's key in place of the one that `sluice init` made, and retires it: it seals no
/// number after the backup's. The worker cannot start without a command key, so that one stays if
/// the backup has none.
void place_command_key(const fs::path& folder, const Backup& backup, const StorePaths& target) {
    const fs::path key = folder / "command.key";
    if (::access(key.c_str(), F_OK) != 0) {
        return;
    }
    const FileOwner owner = owner_of(target.command_key);
    if (::unlink(target.command_key.c_str()) != 0) {
        throw StoreFailure(system_error(errno, "remove", target.command_key));
    }
    copy_whole(key, target.command_key, owner);
    // Numbers after a gap are not the backup's: nginx can set the queue's numbers ahead.
    check(rotate_command_key(target.command_key, owner,
                             [&] { return last_without_gap(target, backup.applied); }));
}

void sync_folders(const StorePaths& target) {
    const fs::path notify = DestinationPaths(target).folder;
    for (const fs::path& folder : {target.registry, target.bulk, target.queue, target.ledger,
                                   target.archive, target.exports, notify, target.root}) {
        const bool is_there =
            (folder != target.exports && folder != notify) || ::access(folder.c_str(), F_OK) == 0;
        if (is_there) {
            check(sync_folder(folder));
        }
    }
}

/// Replaces the contents of an empty store. The folder is no store until its format file, the last
/// one, is written: whatever opens it then finds the retired key.
void fill(const fs::path& folder, const Backup& backup, const StorePaths& target) {
    const FileOwner format_owner = owner_of(generation_file(target));
    const FileOwner key_owner = owner_of(target.master_key);
    if (::unlink(target.master_key.c_str()) != 0) {
        throw StoreFailure(system_error(errno, "empty", target.root));
    }
    const DestinationPaths notify(target);
    for (const BackupFile& file : backup.files) {
        if (file.path == "format" || file.path == "master.key" || file.path == "command.key" ||
            file.path == notify.key.filename()) {
            continue;
        }
        place(folder, file, target);
    }
    place_command_key(folder, backup, target);
    for (const fs::path& key : {target.master_key, notify.key}) {
        if (const fs::path kept = folder / key.filename(); ::access(kept.c_str(), F_OK) == 0) {
            copy_whole(kept, key, key_owner);
        }
    }
    if (::access(notify.folder.c_str(), F_OK) == 0) {
        // LMDB sets up a lock file that no process uses.
        check(replace_file(notify.folder / "lock.mdb", std::string_view("\0", 1)));
    }
    sync_folders(target);
    check(publish_registry(target));
    // All else is durable: now the folder is a store.
    check(replace_file(target.format, checked(read_plain_file(folder / "format", kFormatBytesMax)),
                       format_owner));
}

}  // namespace

std::optional<std::string> group_for(const Backup& backup, const std::string& given) {
    if (!given.empty()) {
        return given;
    }
    const bool exists = !backup.group.empty() && ::getgrnam(backup.group.c_str()) != nullptr;
    return exists ? std::optional(backup.group) : std::nullopt;
}

Status restore_backup(const fs::path& folder, const Backup& backup, const StorePaths& target,
                      std::optional<std::string> group, const CopyCheck& examine) {
    return attempt([&] {
        const StoreFormat format = checked(read_store_format(StorePaths(folder)));
        check_files(folder, backup);
        NewFolder made(target.root);
        InitOptions options;
        options.group = std::move(group);
        options.max_accounts = format.max_accounts;
        options.is_complete = false;  // or else nginx would open the files that fill() replaces
        check(init_store(target, options));
        fill(folder, backup, target);
        check(examine(target, backup));
        made.keep();
    });
}

}  // namespace sluice::store
