// Transactions of an environment.
#include <lmdb.h>

#include <utility>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

#include "core/values/assert.hpp"
#include "lmdb_store/environment/environment.hpp"

namespace sluice::store {
namespace {

// ThreadSanitizer does not see LMDB's writer lock, which orders the accesses to a page's memory, so
// these calls report it.
#ifdef __SANITIZE_THREAD__
void note_writer_lock(MDB_env* env) noexcept {
    __tsan_acquire(env);
}
void note_writer_unlock(MDB_txn* txn) noexcept {
    __tsan_release(mdb_txn_env(txn));
}
#else
void note_writer_lock(const MDB_env* /*env*/) noexcept {}
void note_writer_unlock(const MDB_txn* /*txn*/) noexcept {}
#endif

}  // namespace

bool Txn::enter() noexcept {
    entered_ = env_->enter();
    return entered_;
}

void Txn::leave() noexcept {
    env_->leave();
    entered_ = false;
}

int Txn::begin(Environment& env, unsigned flags) noexcept {
    SLUICE_ASSERT(txn_ == nullptr && env.is_own());
    env_ = &env;
    int rc = env.check_lock_file();
    if (rc != 0) {
        return rc;
    }
    for (int tries = 0; tries < 2; ++tries) {
        if (!enter()) {
            return ENOMEM;
        }
        rc = env.begin_txn(flags, &txn_);
        if (rc == 0) {
            if ((flags & MDB_RDONLY) == 0) {
                note_writer_lock(env.get());
            }
            return 0;
        }
        txn_ = nullptr;
        leave();
        if (rc == MDB_READERS_FULL) {
            env.clear_stale_readers();
        } else if (rc != MDB_MAP_RESIZED || env.set_map_bytes(env.map_bytes()) != 0) {
            return rc;
        }
    }
    return rc;
}

void Txn::abort() noexcept {
    MDB_txn* const txn = std::exchange(txn_, nullptr);
    if (txn != nullptr && !env_->is_own()) {
        entered_ = false;  // a child of fork(); slot and snapshot belong to its parent
        return;
    }
    if (txn != nullptr) {
        note_writer_unlock(txn);
        mdb_txn_abort(txn);
    }
    if (entered_) {
        leave();
    }
}

int ProbeTxn::begin(Environment& env) noexcept {
    const int rc = Txn::begin(env, MDB_RDONLY);
    is_writer_ = rc == MDB_READERS_FULL && !env.read_only();
    return is_writer_ ? Txn::begin(env, 0) : rc;
}

int ProbeTxn::finish() noexcept {
    note_writer_unlock(txn_);
    const int rc = mdb_txn_commit(std::exchange(txn_, nullptr));
    leave();
    return rc;
}

void ReadTxn::reset() noexcept {
    if (entered_) {
        mdb_txn_reset(txn_);
        leave();
    }
}

int ReadTxn::renew(Environment& env) noexcept {
    SLUICE_ASSERT(!entered_);
    if (txn_ == nullptr) {
        return begin(env);
    }
    if (enter() && mdb_txn_renew(txn_) == 0) {
        return 0;
    }
    // Another process may have freed the slot, or the map is too small. begin() handles both.
    abort();
    return begin(env);
}

int WriteTxn::commit() noexcept {
    note_writer_unlock(txn_);
    const int rc = mdb_txn_commit(std::exchange(txn_, nullptr));
    leave();
    return env_->write_error(rc);
}

}  // namespace sluice::store
