#include "lmdb_store/environment/environment.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

#include "core/values/assert.hpp"
#include "lmdb_store/environment/folder_check.hpp"
#include "lmdb_store/environment/lmdb_version.hpp"
#include "lmdb_store/environment/lock_wait.hpp"
#include "lmdb_store/environment/reaction.hpp"
#include "os/files/mapped_file.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

/// Ends the process, because LMDB's pages in memory are damaged: no later call may use them.
[[noreturn]] void end_on_damage(MDB_env* env, const char* what) {
    const char* folder = "";
    mdb_env_get_path(env, &folder);
    std::fprintf(stderr,
                 "sluice: \"%s\" is damaged (%s): stop everything that uses it and restore it from "
                 "a backup\n",
                 folder, what);
    std::abort();
}

/// Returns true for codes that LMDB may return while another process opens or closes the
/// environment. One of 0.9.27 to 0.9.31 that waited for the last process to close it takes the
/// mutexes that this process destroyed (ITS#10095); opened again, it initializes them.
bool may_pass(int rc) noexcept {
    return rc == EAGAIN || rc == EACCES || rc == MDB_INVALID || rc == kLockFileDamaged;
}

/// How often, and after which pauses, a file is opened that another process may be initializing.
constexpr int kTriesMax = 10;
constexpr std::chrono::milliseconds kBetweenTries{20};

/// Tries again, because another process may be initializing the file.
Result<LockFile> open_lock_file(const fs::path& path) {
    Result<LockFile> opened = LockFile::open(path);
    for (int tries = 1; tries < kTriesMax && !opened && opened.error().code == ErrorCode::kCorrupt;
         ++tries) {
        std::this_thread::sleep_for(kBetweenTries);
        opened = LockFile::open(path);
    }
    return opened;
}

bool same_file(const fs::path& path, dev_t device, ino_t inode) noexcept {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && info.st_dev == device && info.st_ino == inode;
}

}  // namespace

// -- The process's table of open environments -----------------------------------------------------

/// Never destroyed, because threads may use it while the process exits.
struct Environment::Table {
    struct Entry {
        std::weak_ptr<Environment> environment;
        pid_t pid = 0;
    };
    std::mutex mutex;
    std::condition_variable closed;
    std::map<FileId, Entry> open;
};

Environment::Table& Environment::table() {
    static auto* const the_table = new Table;
    return *the_table;
}

Result<std::shared_ptr<Environment>> Environment::open(const EnvironmentOptions& options) {
    const fs::path data_path = options.is_copy ? options.folder : options.folder / "data.mdb";
    Status ok = check_library();
    ok = !ok               ? ok
         : options.is_copy ? check_copy(options.folder)
                           : check_folder(options.folder, options.read_only);
    ok = ok ? check_format(data_path) : ok;
    if (!ok) {
        return ok.error();
    }
    struct stat info {};
    if (::stat(data_path.c_str(), &info) != 0) {
        return system_error(errno, "inspect", data_path);
    }
    const FileId id{info.st_dev, info.st_ino};
    Table& processes = table();
    std::unique_lock lock(processes.mutex);
    for (auto found = processes.open.find(id);
         found != processes.open.end() && found->second.pid == ::getpid();
         found = processes.open.find(id)) {
        if (std::shared_ptr<Environment> shared = found->second.environment.lock()) {
            if (shared->read_only_ && !options.read_only) {
                return busy("\"" + options.folder.string() +
                            "\" is open for reading in this process");
            }
            return shared;
        }
        processes.closed.wait(lock);  // its destructor is about to close it
    }
    std::shared_ptr<Environment> environment(new Environment);
    if (ok = environment->open_files(options); !ok) {
        return ok.error();
    }
    processes.open[environment->data_id_] = {environment, ::getpid()};
    environment->listed_ = true;
    return environment;
}

Environment::~Environment() {
    if (env_ == nullptr || !is_own()) {
        return;  // a child of fork() must not release its parent's locks
    }
    if (!listed_) {
        mdb_env_close(env_);  // open() failed, and holds the table's mutex
        return;
    }
    Table& processes = table();
    const std::lock_guard lock(processes.mutex);
    mdb_env_close(env_);
    const auto found = processes.open.find(data_id_);
    if (found != processes.open.end() && found->second.environment.expired()) {
        processes.open.erase(found);
    }
    processes.closed.notify_all();
}

Status Environment::open_files(const EnvironmentOptions& options) {
    folder_ = options.folder;
    data_path_ = options.is_copy ? folder_ : folder_ / "data.mdb";
    lock_path_ = options.is_copy ? folder_ : folder_ / "lock.mdb";
    read_only_ = options.read_only;
    const unsigned flags = MDB_NOTLS | (options.read_only ? unsigned{MDB_RDONLY} : 0U) |
                           (options.sync ? 0U : unsigned{MDB_NOSYNC}) |
                           (options.is_copy ? unsigned{MDB_NOSUBDIR | MDB_NOLOCK} : 0U);
    Result<LockFile> lock_file =
        options.is_copy ? Result<LockFile>(LockFile()) : open_lock_file(lock_path_);
    if (!lock_file) {
        return lock_file.error();
    }
    lock_file_ = std::move(*lock_file);
    int rc = open_once(options, flags);
    for (int tries = 1; tries < kTriesMax && may_pass(rc); ++tries) {
        std::this_thread::sleep_for(kBetweenTries);
        rc = open_once(options, flags);
    }
    return rc == 0 ? check_length() : Status(error(rc, "open"));
}

int Environment::open_once(const EnvironmentOptions& options, unsigned flags) {
    MDB_env* env = nullptr;
    int rc = mdb_env_create(&env);
    if (rc != 0) {
        return rc;
    }
    mdb_env_set_assert(env, &end_on_damage);
    if ((rc = mdb_env_set_maxdbs(env, options.databases_max)) == 0 &&
        (rc = mdb_env_set_maxreaders(env, kReadersMax)) == 0 &&
        (rc = mdb_env_set_mapsize(env, options.map_bytes)) == 0 &&
        (rc = mdb_env_open(env, folder_.c_str(), flags, 0600)) == 0) {
        env_ = env;
        lock_file_.set_readers_max(readers_max());
        rc = check_lock_file();
    }
    if (rc != 0) {
        env_ = nullptr;
        mdb_env_close(env);
        return rc;
    }
    pid_ = ::getpid();
    return 0;
}

Status Environment::check_length() {
    if (const int rc = free_dead_readers(dead_at_open_); rc != 0) {
        return error(rc, "clear dead readers of");
    }
    bool moved = true;  // another process committed during the check
    int whole = 0;
    for (int tries = 0; tries < kTriesMax && moved && whole == 0; ++tries) {
        ProbeTxn snapshot;
        if (const int rc = snapshot.begin(*this); rc != 0) {
            return error(rc, "read");
        }
        if (Status ok = identify_files(snapshot); !ok) {
            return ok;
        }
        struct stat data {};
        if (::fstat(fd(), &data) != 0) {
            return system_error(errno, "inspect", data_path_);
        }
        const std::uint64_t pages_in_file = static_cast<std::uint64_t>(data.st_size) / page_bytes_;
        whole = missing_pages_are_free(fd(), snapshot.id(), pages_in_file, info().me_last_pgno);
        moved = info().me_last_txnid != snapshot.id();
    }
    if (whole < 0) {
        return system_error(-whole, "read", data_path_);
    }
    if (whole == 0) {
        return corrupt("\"" + data_path_.string() +
                       "\" is shorter than its last page: it was cut off; nothing was changed. "
                       "Stop everything that uses it and restore it from a backup");
    }
    return Status::success();
}

Status Environment::identify_files(const Txn& snapshot) {
    MDB_stat pages{};
    struct stat data {};
    struct stat locks {};
    // By the descriptor, because a copy may have been replaced since it was opened.
    if (::fstat(fd(), &data) != 0 || ::stat(lock_path_.c_str(), &locks) != 0) {
        return system_error(errno, "inspect", folder_);
    }
    if (const int rc = mdb_stat(snapshot.get(), 1, &pages); rc != 0) {
        return error(rc, "read");
    }
    page_bytes_ = pages.ms_psize;
    data_id_ = {data.st_dev, data.st_ino};
    lock_id_ = {locks.st_dev, locks.st_ino};
    return Status::success();
}

/// Tables of an environment that is created: the ledger has the most of them.
constexpr MDB_dbi kCreatedMax = 128;

Status Environment::create(const fs::path& folder, const FileOwner& data_owner,
                           const FileOwner& lock_owner, const std::function<int(MDB_txn*)>& fill) {
    if (Status known = check_library(); !known) {
        return known;
    }
    MDB_env* env = nullptr;
    MDB_txn* txn = nullptr;
    int rc = mdb_env_create(&env);
    if (rc != 0) {
        return lmdb_error(rc, "create", folder);
    }
    if ((rc = mdb_env_set_maxdbs(env, kCreatedMax)) == 0 &&
        (rc = mdb_env_set_maxreaders(env, kReadersMax)) == 0 &&
        (rc = mdb_env_open(env, folder.c_str(), MDB_NOTLS, 0600)) == 0 &&
        (rc = mdb_txn_begin(env, nullptr, 0, &txn)) == 0) {
        rc = fill(txn);
        if (rc == 0) {
            rc = mdb_txn_commit(txn);
        } else {
            mdb_txn_abort(txn);
        }
    }
    mdb_env_close(env);
    if (rc != 0) {
        return lmdb_error(rc, "create", folder);
    }
    if (Status ok = set_owner(folder / "data.mdb", data_owner); !ok) {
        return ok;
    }
    if (Status ok = set_owner(folder / "lock.mdb", lock_owner); !ok) {
        return ok;
    }
    return sync_folder(folder);
}

MDB_envinfo Environment::info() const noexcept {
    const std::lock_guard lock(map_mutex_);  // LMDB reads the map
    MDB_envinfo info{};
    if (!map_lost_) {
        mdb_env_info(env_, &info);
    }
    return info;
}

Status Environment::open_databases(std::span<const char* const> names, std::span<MDB_dbi> handles,
                                   bool create) {
    SLUICE_ASSERT(names.size() == handles.size());
    // LMDB forbids two transactions of a process that open databases at the same time.
    const std::lock_guard lock(table().mutex);
    WriteTxn writer;
    ProbeTxn reader;
    int rc = create ? writer.begin(*this) : reader.begin(*this);
    if (rc != 0) {
        return error(rc, "open");
    }
    MDB_txn* txn = create ? writer.get() : reader.get();
    for (std::size_t i = 0; i < names.size(); ++i) {
        rc = mdb_dbi_open(txn, names[i], create ? unsigned{MDB_CREATE} : 0U, &handles[i]);
        if (rc == MDB_NOTFOUND) {
            return corrupt("\"" + data_path_.string() + "\" has no table \"" + names[i] +
                           "\": it is not what sluice wrote");
        }
        if (rc != 0) {
            return error(rc, "open");
        }
    }
    // Even a read transaction must be committed, or its handles are closed.
    rc = create ? writer.commit() : reader.finish();
    return rc == 0 ? Status::success() : Status(error(rc, "open"));
}

int Environment::set_map_bytes(std::size_t map_bytes) noexcept {
    constexpr std::chrono::seconds kIdleTimeout{5};
    std::unique_lock lock(map_mutex_);
    if (remapping_) {
        return EBUSY;
    }
    remapping_ = true;
    const bool quiet = map_idle_.wait_for(lock, kIdleTimeout, [this] { return txns_active_ == 0; });
    const int rc = quiet ? remap(map_bytes) : EBUSY;
    remapping_ = false;
    map_idle_.notify_all();
    return rc;
}

/// LMDB unmaps before it maps again, and cannot recover if that fails. So a second map of the new
/// size is tried first.
int Environment::remap(std::size_t map_bytes) noexcept {
    if (map_lost_) {
        return ENOMEM;
    }
    MDB_envinfo now{};
    mdb_env_info(env_, &now);
    const std::size_t bytes = std::max(map_bytes, (now.me_last_pgno + 1) * page_bytes_);
    void* const trial = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd(), 0);
    if (trial == MAP_FAILED) {
        return errno;
    }
    ::munmap(trial, bytes);
    const int rc = mdb_env_set_mapsize(env_, map_bytes);
    map_lost_ = rc != 0;
    return rc;
}

int Environment::fd() const noexcept {
    int fd = -1;
    mdb_env_get_fd(env_, &fd);
    return fd;
}

unsigned Environment::readers_max() const noexcept {
    unsigned readers = 0;
    mdb_env_get_maxreaders(env_, &readers);
    return readers;
}

Error Environment::error(int rc, std::string_view doing) const {
    Error error = lmdb_error(rc, doing, folder_);
    error.message += rc == MDB_READERS_FULL ? readers_text() : "";
    return error;
}

/// Names the process that has the most reader slots.
std::string Environment::readers_text() const {
    std::map<pid_t, unsigned> slots;
    mdb_reader_list(
        env_,
        [](const char* line, void* context) {
            // A line for each reader, after a heading: its process, thread and transaction.
            char* end = nullptr;
            const auto pid = static_cast<pid_t>(std::strtol(line, &end, 10));
            if (end != line && pid > 0) {
                ++(*static_cast<std::map<pid_t, unsigned>*>(context))[pid];
            }
            return 0;
        },
        &slots);
    const auto most = std::ranges::max_element(
        slots, [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == slots.end()
               ? ""
               : ": " + named(most->first) + " has " + std::to_string(most->second) + " of " +
                     std::to_string(readers_max()) + " slots; end it, or restart nginx";
}

int Environment::check_lock_file() const noexcept {
    return lock_file_.is_sound() ? 0 : kLockFileDamaged;
}

int Environment::clear_stale_readers() noexcept {
    int dead = 0;
    return check_lock_file() == 0 && free_dead_readers(dead) == 0 ? dead : 0;
}

int Environment::free_dead_readers(int& dead) noexcept {
    return lock_file_.lock_when_free(LockFile::Mutex::kReaders,
                                     [&] { return mdb_reader_check(env_, &dead); });
}

/// A transaction that reads locks the mutex only to take a slot, and for some instructions.
int Environment::begin_txn(unsigned flags, MDB_txn** txn) noexcept {
    const bool writes = (flags & MDB_RDONLY) == 0;
    return lock_file_.lock_when_free(writes ? LockFile::Mutex::kWriter : LockFile::Mutex::kReaders,
                                     [&] { return mdb_txn_begin(env_, nullptr, flags, txn); });
}

int Environment::sync_from_now_on() noexcept {
    const int rc = mdb_env_set_flags(env_, MDB_NOSYNC, 0);
    return rc == 0 ? write_error(mdb_env_sync(env_, 1)) : rc;
}

void Environment::release_pages() const {
    release_mapped_pages(data_path_);
}

int Environment::write_error(int rc) noexcept {
    if (rc == 0) {
        return 0;
    }
    if (ReadTxn probe; probe.begin(*this) == MDB_PANIC) {
        failure_ = rc;
        return rc;
    }
    return rc == EIO && disk_is_full(folder_) ? ENOSPC : rc;
}

bool Environment::still_in_place() const noexcept {
    return same_file(data_path_, data_id_.device, data_id_.inode) &&
           same_file(lock_path_, lock_id_.device, lock_id_.inode);
}

bool Environment::is_file(int fd) const noexcept {
    struct stat info {};
    return ::fstat(fd, &info) == 0 && info.st_dev == data_id_.device &&
           info.st_ino == data_id_.inode;
}

bool Environment::is_own() const noexcept {
    return pid_ == ::getpid();
}

bool Environment::enter() noexcept {
    std::unique_lock lock(map_mutex_);
    map_idle_.wait(lock, [this] { return !remapping_; });
    txns_active_ += map_lost_ ? 0 : 1;
    return !map_lost_;
}

void Environment::leave() noexcept {
    const std::lock_guard lock(map_mutex_);
    --txns_active_;
    if (remapping_ && txns_active_ == 0) {
        map_idle_.notify_all();
    }
}

}  // namespace sluice::store
