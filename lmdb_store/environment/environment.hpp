// Environment: LMDB with owners. Internal to this room: the one header that includes lmdb.h.
//
// One environment per folder and process: LMDB's locks are lost when a process opens the same file
// twice, so open() hands out the one that is open already. Never use one across fork().
// Return codes (`int rc`) are LMDB's or errno; Environment::error() is the one map to Error.
#pragma once

#include <lmdb.h>

#include <chrono>
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
#include "os/files/file_io.hpp"

namespace sluice::store {

[[nodiscard]] inline MDB_val to_val(std::string_view bytes) noexcept {
    // LMDB only reads keys and values that are given to it; its C prototypes lack the const.
    return {bytes.size(), const_cast<char*>(bytes.data())};
}
[[nodiscard]] inline std::string_view to_view(const MDB_val& val) noexcept {
    return {static_cast<const char*>(val.mv_data), val.mv_size};
}

/// LMDB's code and what it means to a caller; `path` and `doing` go into the message.
[[nodiscard]] Error lmdb_error(int rc, std::string_view doing, const std::filesystem::path& path);

/// Reader slots of an environment: a large machine's nginx workers, those of some reloads before
/// that still serve a held connection, and the programs. LMDB sizes its lock file when the first
/// process opens it; one that is in use keeps the slots that it has.
inline constexpr unsigned kReadersMax = 4096;

struct EnvironmentOptions {
    std::filesystem::path folder;
    std::size_t map_bytes = 0;  ///< Sparse: reserves addresses, not disk.
    unsigned databases_max = 16;
    bool read_only = false;
    bool sync = true;  ///< False only for benchmarks: a power loss loses data.
};

class Environment {
public:
    /// Refuses files that are missing, empty, shorter than their last page, or on a network or
    /// read-only file system; creates nothing. Retries errors that LMDB may give while another
    /// process opens the same environment.
    [[nodiscard]] static Result<std::shared_ptr<Environment>> open(
        const EnvironmentOptions& options);
    ~Environment();
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    /// Makes a new environment in an existing, empty folder, and `fill`s it in one transaction.
    [[nodiscard]] static Status create(const std::filesystem::path& folder,
                                       const FileOwner& data_owner, const FileOwner& lock_owner,
                                       const std::function<int(MDB_txn*)>& fill);

    [[nodiscard]] MDB_env* get() const noexcept { return env_; }
    [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
    [[nodiscard]] std::size_t page_bytes() const noexcept { return page_bytes_; }
    [[nodiscard]] bool read_only() const noexcept { return read_only_; }
    /// Reader slots of the lock file as it is: kReadersMax, or what it was made with before.
    [[nodiscard]] unsigned readers_max() const noexcept {
        unsigned readers = 0;
        mdb_env_get_maxreaders(env_, &readers);
        return readers;
    }
    /// Map, last page and last transaction as they are now. Any thread, also while another one
    /// remaps. All zero once the map was lost.
    [[nodiscard]] MDB_envinfo info() const noexcept;
    [[nodiscard]] std::size_t map_bytes() const noexcept { return info().me_mapsize; }
    [[nodiscard]] Error error(int rc, std::string_view doing) const {
        return lmdb_error(rc, doing, folder_);
    }

    /// Opens named databases into `handles`, in one transaction. Names must live as long as the
    /// process. With `create` they are made if missing, else a missing one is kCorrupt.
    [[nodiscard]] Status open_databases(std::span<const char* const> names,
                                        std::span<MDB_dbi> handles, bool create);

    /// Remaps. Waits for this process's transactions to end (renewed ones count until reset).
    /// @param map_bytes  0: at least what the file uses now.
    /// @return EBUSY if they did not end within some seconds; ENOMEM if there is no room for it in
    /// the process's memory: the old map is then kept.
    [[nodiscard]] int set_map_bytes(std::size_t map_bytes) noexcept;
    /// Frees reader slots of dead processes. How many, or 0.
    int clear_stale_readers() noexcept;
    /// How many open() found and freed.
    [[nodiscard]] int dead_readers_at_open() const noexcept { return dead_at_open_; }
    /// Lets go of the pages that were read, which otherwise count as memory of this process until
    /// they are needed elsewhere. For walks through all of it; views stay valid.
    void release_pages() const;
    /// False once data.mdb and lock.mdb below the path are not the files that were opened.
    [[nodiscard]] bool still_in_place() const noexcept;
    /// True in the process that opened it: after fork() a child must leave it alone.
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
    [[nodiscard]] Status check_length();
    [[nodiscard]] Status look_at_files(const class Txn& snapshot);
    /// False: the map was lost, there is nothing to begin a transaction on.
    [[nodiscard]] bool enter() noexcept;  ///< A transaction begins: the map must stay.
    void leave() noexcept;
    [[nodiscard]] int remap(std::size_t map_bytes) noexcept;

    MDB_env* env_ = nullptr;
    std::filesystem::path folder_, data_path_, lock_path_;
    FileId data_id_{}, lock_id_{};
    std::size_t page_bytes_ = 0;
    pid_t pid_ = 0;
    bool read_only_ = false;
    bool listed_ = false;  ///< In the table.
    int dead_at_open_ = 0;
    mutable std::mutex gate_;
    std::condition_variable gate_moved_;
    unsigned txns_active_ = 0;
    bool remapping_ = false;
    bool map_lost_ = false;  ///< Until a restart.
};

/// A transaction; aborted when destroyed.
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
    /// Requires: it was begun.
    [[nodiscard]] const Environment& environment() const noexcept { return *env_; }
    [[nodiscard]] bool active() const noexcept { return entered_; }
    /// Of the snapshot; for a write transaction the one it will make.
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

/// A short look, as for opening: where no reader's slot is free, and the environment may be
/// written, it takes the writer lock for its time, so that a leaked token can be revoked then, too.
class LookTxn : public Txn {
public:
    [[nodiscard]] int begin(Environment& env) noexcept;
    /// Ends it so that database handles that it opened stay.
    [[nodiscard]] int finish() noexcept;
    /// Of what is committed.
    [[nodiscard]] std::uint64_t id() const noexcept { return Txn::id() - (is_writer_ ? 1 : 0); }

private:
    bool is_writer_ = false;
};

/// Keeps a snapshot while active. May be used by one thread after the other.
class ReadTxn : public Txn {
public:
    [[nodiscard]] int begin(Environment& env) noexcept { return Txn::begin(env, MDB_RDONLY); }
    /// Lets the snapshot go, keeps the reader's slot.
    void reset() noexcept;
    /// A fresh snapshot; begins if there is nothing to renew. Requires: not active.
    [[nodiscard]] int renew(Environment& env) noexcept;
    /// Ends it so that database handles that it opened stay.
    [[nodiscard]] int finish() noexcept;
};

/// Begin, write and commit on one thread: the writer lock belongs to it.
class WriteTxn : public Txn {
public:
    [[nodiscard]] int begin(Environment& env) noexcept { return Txn::begin(env, 0); }
    /// Durable when it returns 0. The transaction is gone in any case.
    [[nodiscard]] int commit() noexcept;
};

/// Requires: destroyed before its transaction ends.
class Cursor {
public:
    Cursor() = default;
    Cursor(Cursor&& other) noexcept : cursor_(std::exchange(other.cursor_, nullptr)) {}
    Cursor& operator=(Cursor&& other) noexcept {
        std::swap(cursor_, other.cursor_);
        return *this;
    }
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;
    ~Cursor() { close(); }

    [[nodiscard]] int open(const Txn& txn, MDB_dbi dbi) noexcept { return open(txn.get(), dbi); }
    [[nodiscard]] int open(MDB_txn* txn, MDB_dbi dbi) noexcept {
        close();
        return mdb_cursor_open(txn, dbi, &cursor_);
    }
    void close() noexcept {
        if (cursor_ != nullptr) {
            mdb_cursor_close(cursor_);
            cursor_ = nullptr;
        }
    }
    [[nodiscard]] MDB_cursor* get() const noexcept { return cursor_; }
    /// `key` is input for MDB_SET, MDB_SET_KEY and MDB_SET_RANGE.
    [[nodiscard]] int read(MDB_val& key, MDB_val& value, MDB_cursor_op operation) noexcept {
        return mdb_cursor_get(cursor_, &key, &value, operation);
    }
    [[nodiscard]] int remove() noexcept { return mdb_cursor_del(cursor_, 0); }

private:
    MDB_cursor* cursor_ = nullptr;
};

}  // namespace sluice::store
