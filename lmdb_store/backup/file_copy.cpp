#include "lmdb_store/backup/file_copy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "core/values/crc32c.hpp"
#include "lmdb_store/environment/lmdb_version.hpp"
#include "lmdb_store/environment/store_failure.hpp"

namespace sluice::store {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

FileSum read_open(const OpenFile& file, std::uint64_t bytes_max,
                  const std::function<void(std::string_view)>& visit) {
    FileSum read;
    while (read.bytes < bytes_max) {
        const auto wanted =
            static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, bytes_max - read.bytes));
        const std::string piece = checked(file.read_at(read.bytes, wanted));
        if (piece.empty()) {
            break;
        }
        read.crc = crc32c(read.crc, piece);
        read.bytes += piece.size();
        visit(piece);
    }
    return read;
}

}  // namespace

FileSum read_whole(const fs::path& path) {
    return read_open(checked(OpenFile::open(path, OpenFile::Mode::kRead)), kWholeFile,
                     [](std::string_view) {});
}

void copy_part(const OpenFile& from, const fs::path& to, std::uint64_t bytes_max,
               const FileOwner& owner) {
    const bool is_new = ::access(to.c_str(), F_OK) != 0;
    const Fd file(open_retrying(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
    if (!file.ok()) {
        throw StoreFailure(system_error(errno, "create", to));
    }
    read_open(from, bytes_max, [&](std::string_view piece) {
        if (const int error = write_all(file.get(), piece); error != 0) {
            throw StoreFailure(system_error(error, "write", to));
        }
    });
    if (::fdatasync(file.get()) != 0) {
        throw StoreFailure(system_error(errno, "sync", to));
    }
    if (is_new) {
        check(set_owner(to, owner));
    }
}

void copy_whole(const fs::path& from, const fs::path& to, const FileOwner& owner) {
    copy_part(checked(OpenFile::open(from, OpenFile::Mode::kRead)), to, kWholeFile, owner);
}

namespace {

constexpr std::size_t kTablesMax = 128;
constexpr std::size_t kBytesPerCommit = std::size_t{32} << 20;
constexpr std::uint64_t kRowsBetweenReleases = 16'384;

/// The new environment while it is filled.
class Copy {
public:
    explicit Copy(std::filesystem::path folder) : folder_(std::move(folder)) {}
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;
    ~Copy() {
        mdb_txn_abort(txn_);
        if (env_ != nullptr) {
            mdb_env_close(env_);
        }
    }

    /// Functions return 0 or LMDB's code.
    [[nodiscard]] int open(std::size_t map_bytes) {
        int rc = mdb_env_create(&env_);
        rc = rc == 0 ? mdb_env_set_maxdbs(env_, kTablesMax) : rc;
        rc = rc == 0 ? mdb_env_set_mapsize(env_, map_bytes) : rc;
        // The copy is worth nothing before it is complete, so it is synced once, at its end.
        rc = rc == 0 ? mdb_env_open(env_, folder_.c_str(), MDB_NOTLS | MDB_NOSYNC, 0600) : rc;
        return rc == 0 ? mdb_txn_begin(env_, nullptr, 0, &txn_) : rc;
    }
    [[nodiscard]] int table(const char* name, MDB_dbi& handle) {
        return mdb_dbi_open(txn_, name, name == nullptr ? 0U : unsigned{MDB_CREATE}, &handle);
    }
    [[nodiscard]] int put(MDB_dbi table, MDB_val key, MDB_val value, unsigned flags) {
        bytes_ += key.mv_size + value.mv_size;
        if (bytes_ >= kBytesPerCommit) {
            if (const int rc = commit(); rc != 0) {
                return rc;
            }
            bytes_ = 0;
        }
        return mdb_put(txn_, table, &key, &value, flags);
    }
    [[nodiscard]] int finish() {
        const int rc = mdb_txn_commit(std::exchange(txn_, nullptr));
        return rc == 0 ? mdb_env_sync(env_, 1) : rc;
    }

private:
    [[nodiscard]] int commit() {
        const int rc = mdb_txn_commit(std::exchange(txn_, nullptr));
        return rc == 0 ? mdb_txn_begin(env_, nullptr, 0, &txn_) : rc;
    }

    std::filesystem::path folder_;
    MDB_env* env_ = nullptr;
    MDB_txn* txn_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Calls `visit(key, value)` for each row until it returns a code. Returns 0 or that code.
template <class Visit>
int each_row(const ReadTxn& snapshot, MDB_dbi table, Visit&& visit) {
    Cursor cursor;
    MDB_val key{};
    MDB_val value{};
    int rc = cursor.open(snapshot, table);
    std::uint64_t rows = 0;
    for (rc = rc == 0 ? cursor.read(key, value, MDB_FIRST) : rc; rc == 0;
         rc = cursor.read(key, value, MDB_NEXT)) {
        if (const int stopped = visit(key, value); stopped != 0) {
            return stopped;
        }
        if (++rows % kRowsBetweenReleases == 0) {
            snapshot.environment().release_pages();
        }
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/// Finds out whether a key of the main table is the name of a table, and opens it.
int open_if_table(const ReadTxn& snapshot, std::string_view key, MDB_dbi& table, bool& is_table) {
    is_table = false;
    if (key.find('\0') != std::string_view::npos) {
        return 0;
    }
    const int rc = mdb_dbi_open(snapshot.get(), std::string(key).c_str(), 0, &table);
    is_table = rc == 0;
    return rc == MDB_INCOMPATIBLE ? 0 : rc;
}

int copy_table(const ReadTxn& snapshot, MDB_dbi from, const std::string& name, Copy& copy) {
    MDB_dbi to = 0;
    if (const int rc = copy.table(name.c_str(), to); rc != 0) {
        return rc;
    }
    return each_row(snapshot, from, [&](MDB_val key, MDB_val value) {
        return copy.put(to, key, value, MDB_APPEND);
    });
}

int copy_rows(const ReadTxn& snapshot, const std::function<bool(std::string_view)>& keeps,
              Copy& copy) {
    MDB_dbi main = 0;
    int rc = mdb_dbi_open(snapshot.get(), nullptr, 0, &main);
    std::vector<std::string> keys;
    rc = rc == 0 ? each_row(snapshot, main,
                            [&](MDB_val key, MDB_val) {
                                keys.emplace_back(to_view(key));
                                return 0;
                            })
                 : rc;
    MDB_dbi copied_main = 0;
    rc = rc == 0 ? copy.table(nullptr, copied_main) : rc;
    for (std::size_t i = 0; rc == 0 && i < keys.size(); ++i) {
        MDB_dbi table = 0;
        bool is_table = false;
        rc = open_if_table(snapshot, keys[i], table, is_table);
        if (rc == 0 && is_table) {
            rc = copy_table(snapshot, table, keys[i], copy);
        } else if (rc == 0 && keeps(keys[i])) {
            MDB_val key = to_val(keys[i]);
            MDB_val value{};
            rc = mdb_get(snapshot.get(), main, &key, &value);
            rc = rc == 0 ? copy.put(copied_main, key, value, 0) : rc;
        }
    }
    return rc;
}

}  // namespace

void copy_environment(const ReadTxn& snapshot, const std::filesystem::path& folder,
                      const std::function<bool(std::string_view key)>& keeps) {
    check(check_library());
    Copy copy(folder);
    int rc = copy.open(snapshot.environment().map_bytes());
    rc = rc == 0 ? copy_rows(snapshot, keeps, copy) : rc;
    rc = rc == 0 ? copy.finish() : rc;
    if (rc != 0) {
        throw StoreFailure(lmdb_error(rc, "copy to", folder));
    }
}

}  // namespace sluice::store
