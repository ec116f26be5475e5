// Environment: LMDB environments, transactions and cursors with owners. Internal to lmdb_store, and
// the only header that includes lmdb.h.
//
// A process opens each folder once, because LMDB loses its locks when a process opens the same file
// twice; open() therefore returns the environment that is open already. Never use one across
// fork(). Return codes (`int rc`) are LMDB's or errno; Environment::error() maps them to an Error.
// Threads: any, unless a class says otherwise. Blocking: opening, writing and committing wait for
// the disk, WriteTxn::begin() for LMDB's writer lock, within the limit of lock_wait.hpp.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

#include "core/values/result.hpp"
#include "lmdb_store/environment/lock_file.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

[[nodiscard]] inline MDB_val to_val(std::string_view bytes) noexcept {
    // LMDB does not write to its input; its C prototypes lack the const.
    return {bytes.size(), const_cast<char*>(bytes.data())};
}
[[nodiscard]] inline std::string_view to_view(const MDB_val& val) noexcept {
    return {static_cast<const char*>(val.mv_data), val.mv_size};
}

/// Returns an LMDB code as an error: `cannot <doing> "<path>": <text>; <remedy>`.
[[nodiscard]] Error lmdb_error(int rc, std::string_view doing, const std::filesystem::path& path);

/// Reader slots of an environment: enough for the nginx workers of a large machine, those of
/// earlier reloads that still serve a connection, and the programs. LMDB sizes its lock file when
/// the first process opens it; a lock file in use keeps its size.
inline constexpr unsigned kReadersMax = 4096;

struct EnvironmentOptions {
    std::filesystem::path folder;
    std::size_t map_bytes = 0;  ///< Sparse: reserves addresses, not disk.
    unsigned databases_max = 16;
    bool read_only = false;
    bool sync = true;  ///< False in benchmarks, and for ledgers that are temporary or unfinished.
    bool is_copy = false;  ///< `folder` is one file that never changes, read without locks.
};

class Environment {
public:
    /// Opens an existing environment. Refuses files that are missing, empty, shorter than their
    /// last page, or on a network or read-only file system. Retries errors that LMDB may return
    /// while another process opens the same environment.
    [[nodiscard]] static Result<std::shared_ptr<Environment>> open(
        const EnvironmentOptions& options);
    ~Environment();
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    /// Creates an environment in an empty folder, and calls `fill` in one transaction.
    [[nodiscard]] static Status create(const std::filesystem::path& folder,
                                       const FileOwner& data_owner, const FileOwner& lock_owner,
                                       const std::function<int(MDB_txn*)>& fill);

    [[nodiscard]] MDB_env* get() const noexcept { return env_; }
    [[nodiscard]] int fd() const noexcept;  ///< The descriptor of the data.
    [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
    [[nodiscard]] std::size_t page_bytes() const noexcept { return page_bytes_; }
    [[nodiscard]] bool read_only() const noexcept { return read_only_; }
    /// Returns the reader slots of the lock file, which may be fewer than kReadersMax.
    [[nodiscard]] unsigned readers_max() const noexcept;
    /// Returns the present map, last page and last transaction, all zero once the map was lost.
    [[nodiscard]] MDB_envinfo info() const noexcept;
    [[nodiscard]] std::size_t map_bytes() const noexcept { return info().me_mapsize; }
    [[nodiscard]] Error error(int rc, std::string_view doing) const;

    /// Opens named databases into `handles`, in one transaction. With `create`, creates missing
    /// ones; otherwise a missing one is kCorrupt. Names must live as long as the process.
    [[nodiscard]] Status open_databases(std::span<const char* const> names,
                                        std::span<MDB_dbi> handles, bool create);

    /// Resizes the map, at least to what the file uses now. Waits for this process's transactions
    /// to end; a renewed one counts until its reset. Returns EBUSY if they did not end within some
    /// seconds, or ENOMEM if the process has no addresses left; the old map then stays.
    [[nodiscard]] int set_map_bytes(std::size_t map_bytes) noexcept;
    [[nodiscard]] int check_lock_file() const noexcept;  ///< Returns 0 or kLockFileDamaged.
    /// Frees the reader slots of dead processes. Returns their number, or 0 after an error.
    int clear_stale_readers() noexcept;
    /// Returns the number of slots of dead processes that open() freed.
    [[nodiscard]] int dead_readers_at_open() const noexcept { return dead_at_open_; }
    /// Makes what was committed without `sync` durable, and every later commit. Returns LMDB's
    /// code. Requires: no write transaction of this process.
    [[nodiscard]] int sync_from_now_on() noexcept;
    /// Drops mapped pages, so that a full scan does not inflate resident memory. Views stay valid.
    void release_pages() const;
    /// Returns the error after which LMDB refuses every call, or 0: that of writing a meta page.
    [[nodiscard]] int failure() const noexcept { return failure_; }
    /// Keeps a failure(). Returns ENOSPC in place of the EIO with which LMDB reports a full disk.
    [[nodiscard]] int write_error(int rc) noexcept;
    /// Returns false once data.mdb or lock.mdb of the folder is another file than was opened.
    [[nodiscard]] bool still_in_place() const noexcept;
    /// Returns true if the data is in the file that `fd` has open.
    [[nodiscard]] bool is_file(int fd) const noexcept;
    /// Returns true in the process that opened it. A child of fork() must not use it.
    [[nodiscard]] bool is_own() const noexcept;

private:
    friend class Txn;
    struct FileId {
        dev_t device;
        ino_t inode;
        friend auto operator<=>(const FileId&, const FileId&) = default;
    };
    struct Table;

    Environment() = default;
    [[nodiscard]] static Table& table();
    [[nodiscard]] Status open_files(const EnvironmentOptions& options);
    [[nodiscard]] int open_once(const EnvironmentOptions& options, unsigned flags);
    [[nodiscard]] Status check_length();
    [[nodiscard]] Status identify_files(const class Txn& snapshot);
    /// Counts a transaction, so that the map stays. Returns false if the map was lost.
    [[nodiscard]] bool enter() noexcept;
    void leave() noexcept;
    [[nodiscard]] int remap(std::size_t map_bytes) noexcept;
    [[nodiscard]] int begin_txn(unsigned flags, MDB_txn** txn) noexcept;
    [[nodiscard]] int free_dead_readers(int& dead) noexcept;
    [[nodiscard]] std::string readers_text() const;

    MDB_env* env_ = nullptr;
    std::filesystem::path folder_, data_path_, lock_path_;
    FileId data_id_{}, lock_id_{};
    LockFile lock_file_;
    std::size_t page_bytes_ = 0;
    pid_t pid_ = 0;
    bool read_only_ = false;
    bool listed_ = false;  ///< In the process's table.
    int dead_at_open_ = 0;
    mutable std::mutex map_mutex_;
    std::condition_variable map_idle_;
    unsigned txns_active_ = 0;
    bool remapping_ = false;
    bool map_lost_ = false;  ///< Until the process restarts.
    std::atomic<int> failure_{0};
};

/// A transaction. Aborts itself when destroyed.
class Txn {
public:
    Txn() = default;
    Txn(Txn&& other) noexcept { swap(other); }
    Txn& operator=(Txn&& other) noexcept {
        swap(other);
        return *this;
    }
    Txn(const Txn&) = delete;
    Txn& operator=(const Txn&) = delete;
    ~Txn() { abort(); }

    [[nodiscard]] MDB_txn* get() const noexcept { return txn_; }
    /// Requires: begin() was called.
    [[nodiscard]] const Environment& environment() const noexcept { return *env_; }
    [[nodiscard]] bool active() const noexcept { return entered_; }
    /// Returns the snapshot's id, or the id that a write transaction will commit.
    [[nodiscard]] std::uint64_t id() const noexcept { return mdb_txn_id(txn_); }
    void abort() noexcept;

protected:
    [[nodiscard]] int begin(Environment& env, unsigned flags) noexcept;
    void swap(Txn& other) noexcept {
        std::swap(env_, other.env_);
        std::swap(txn_, other.txn_);
        std::swap(entered_, other.entered_);
    }
    [[nodiscard]] bool enter() noexcept;
    void leave() noexcept;

    Environment* env_ = nullptr;
    MDB_txn* txn_ = nullptr;
    bool entered_ = false;
};

/// A short read transaction for checks such as those of opening. If no reader slot is free and the
/// environment may be written, it holds the writer lock instead, so that a leaked token can be
/// revoked even then.
class ProbeTxn : public Txn {
public:
    [[nodiscard]] int begin(Environment& env) noexcept;
    /// Ends the transaction and keeps the database handles that it opened.
    [[nodiscard]] int finish() noexcept;
    /// Returns the id of the last committed transaction.
    [[nodiscard]] std::uint64_t id() const noexcept { return Txn::id() - (is_writer_ ? 1 : 0); }

private:
    bool is_writer_ = false;
};

/// Holds a snapshot while active. One thread at a time.
class ReadTxn : public Txn {
public:
    [[nodiscard]] int begin(Environment& env) noexcept { return Txn::begin(env, MDB_RDONLY); }
    /// Drops the snapshot and keeps the reader slot.
    void reset() noexcept;
    /// Takes a fresh snapshot, in the kept reader slot if there is one. Requires: not active.
    [[nodiscard]] int renew(Environment& env) noexcept;
};

/// Holds the writer lock, which belongs to the thread: begin, write and commit on one thread.
class WriteTxn : public Txn {
public:
    [[nodiscard]] int begin(Environment& env) noexcept { return Txn::begin(env, 0); }
    /// Returns 0 once the transaction is durable. Ends the transaction in any case.
    [[nodiscard]] int commit() noexcept;
};

/// Requires: destroyed before its transaction ends.
class Cursor {
public:
    [[nodiscard]] int open(const Txn& txn, MDB_dbi dbi) noexcept { return open(txn.get(), dbi); }
    [[nodiscard]] int open(MDB_txn* txn, MDB_dbi dbi) noexcept {
        close();
        MDB_cursor* cursor = nullptr;
        const int rc = mdb_cursor_open(txn, dbi, &cursor);
        cursor_.reset(cursor);
        return rc;
    }
    void close() noexcept { cursor_.reset(); }
    [[nodiscard]] MDB_cursor* get() const noexcept { return cursor_.get(); }
    /// @param key  Input for MDB_SET, MDB_SET_KEY and MDB_SET_RANGE.
    [[nodiscard]] int read(MDB_val& key, MDB_val& value, MDB_cursor_op operation) noexcept {
        return mdb_cursor_get(cursor_.get(), &key, &value, operation);
    }
    [[nodiscard]] int remove() noexcept { return mdb_cursor_del(cursor_.get(), 0); }

private:
    struct Close {
        void operator()(MDB_cursor* cursor) const noexcept { mdb_cursor_close(cursor); }
    };
    std::unique_ptr<MDB_cursor, Close> cursor_;
};

}  // namespace sluice::store
