// `sluice store upgrade`: makes this release's format of an older one's.
#include <sys/stat.h>

#include <cerrno>

#include "lmdb_store/environment/environment.hpp"
#include "lmdb_store/environment/key_bytes.hpp"
#include "lmdb_store/lanes/lane_set.hpp"
#include "lmdb_store/queue/tables.hpp"
#include "lmdb_store/store/control_file.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {
namespace {

constexpr std::uint64_t kModuleAliveMs = 10'000;
constexpr std::size_t kMapBytes = std::size_t{1} << 40;  ///< Addresses: more than any queue has.

/// As another one like it has them.
Result<FileOwner> owner_like(const std::filesystem::path& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
        return system_error(errno, "look at", path);
    }
    return FileOwner{info.st_uid, info.st_gid, info.st_mode & 07777U};
}

Status make_lanes(const StorePaths& paths) {
    const Result<FileOwner> folder = owner_like(paths.bulk);
    const Result<FileOwner> file = owner_like(paths.control);
    if (!folder || !file) {
        return folder ? file.error() : folder.error();
    }
    return LaneSet::create(paths, *folder, *file);
}

/// Does nothing to a queue that has this release's format.
Status upgrade_queue(const StorePaths& paths, const std::string& store_uuid) {
    auto env = Environment::open({.folder = paths.queue, .map_bytes = kMapBytes});
    if (!env) {
        return env.error();
    }
    std::array<MDB_dbi, kQueueTables.size()> tables{};
    if (Status ok = (*env)->open_databases(kQueueTables, tables, false); !ok) {
        return ok;
    }
    WriteTxn txn;
    MDB_val key = to_val(kFormatKey);
    MDB_val value{};
    int rc = txn.begin(**env);
    rc = rc == 0 ? mdb_get(txn.get(), kMainTable, &key, &value) : rc;
    if (rc != 0) {
        return (*env)->error(rc, "write");
    }
    const unsigned format = value.mv_size == 0 ? 0U : *static_cast<unsigned char*>(value.mv_data);
    if (format != kQueueFormatWithoutLanes) {
        return Status::success();
    }
    if (Status made = make_lanes(paths); !made) {
        return made;
    }
    rc = upgrade_queue_tables(txn.get(), store_uuid);
    rc = rc == 0 ? txn.commit() : rc;
    return rc == 0 ? Status::success() : Status((*env)->error(rc, "write"));
}

}  // namespace

Status upgrade_store(const StorePaths& paths, std::uint64_t now_ms) {
    Result<StoreFormat> format = read_store_format(paths);
    if (!format) {
        return format.error();
    }
    if (Status ok = check_writable_format(*format); !ok) {
        return ok;
    }
    Result<ControlFile> control = ControlFile::open(paths);
    if (!control) {
        return control.error();
    }
    const ControlWords& words = control->words();
    const std::uint64_t heartbeat = words.module_heartbeat_ms.load();
    if (now_ms < heartbeat + kModuleAliveMs && words.module_format.load() < kStoreFormat) {
        return Error{ErrorCode::kConflict,
                     "an nginx with an older sluice module is running on this store: restart "
                     "nginx first (a reload keeps the old module)"};
    }
    // The queue first: a release that reads the old format file does not take the new queue.
    if (Status upgraded = upgrade_queue(paths, format->uuid); !upgraded) {
        return upgraded;
    }
    if (format->format >= kStoreFormat) {
        return Status::success();
    }
    format->format = format->min_reader = format->min_writer = kStoreFormat;
    return write_store_format(paths, *format);
}

}  // namespace sluice::store
