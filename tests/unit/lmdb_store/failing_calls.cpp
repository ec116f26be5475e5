#include "unit/lmdb_store/failing_calls.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <lmdb.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace {

struct Plan {
    bool armed = false;
    std::string_view family;
    int countdown = 0;
    int error = 0;
    int times = 1;
    std::string struck;
};
Plan plan;
std::optional<long> file_system_type;
std::atomic<std::uint64_t> pread_bytes{0};

bool strikes(std::string_view name) {
    if (!plan.armed || !name.starts_with(plan.family) || plan.countdown-- > 0 || plan.times == 0) {
        return false;
    }
    --plan.times;
    plan.struck = name;
    return true;
}

/// Return value of a failing call, with errno set.
template <class Failure>
Failure fail(Failure failure) {
    errno = plan.error;
    return failure;
}

}  // namespace

// NOLINTBEGIN: the linker decides on the names, and on macros instead of 40 copies.
#define WRAP_AS(family, name, type, failure, parameters, arguments)                          \
    type __real_##name parameters;                                                           \
    [[gnu::visibility("default")]] type __wrap_##name parameters {                           \
        return strikes(family #name) ? static_cast<type>(failure) : __real_##name arguments; \
    }
#define WRAP_LMDB(name, parameters, arguments) \
    WRAP_AS("", name, int, plan.error, parameters, arguments)
#define WRAP_SYSTEM(name, type, failure, parameters, arguments) \
    WRAP_AS("sys_", name, type, fail(failure), parameters, arguments)
#define WRAP_OPENSSL(name, type, parameters, arguments) \
    WRAP_AS("ssl_", name, type, 0, parameters, arguments)

extern "C" {
WRAP_LMDB(mdb_cursor_del, (MDB_cursor * cursor, unsigned flags), (cursor, flags))
WRAP_LMDB(mdb_cursor_get, (MDB_cursor * cursor, MDB_val* key, MDB_val* value, MDB_cursor_op op),
          (cursor, key, value, op))
WRAP_LMDB(mdb_cursor_open, (MDB_txn * txn, MDB_dbi table, MDB_cursor** cursor),
          (txn, table, cursor))
WRAP_LMDB(mdb_cursor_put, (MDB_cursor * cursor, MDB_val* key, MDB_val* value, unsigned flags),
          (cursor, key, value, flags))
WRAP_LMDB(mdb_dbi_open, (MDB_txn * txn, const char* name, unsigned flags, MDB_dbi* table),
          (txn, name, flags, table))
WRAP_LMDB(mdb_del, (MDB_txn * txn, MDB_dbi table, MDB_val* key, MDB_val* value),
          (txn, table, key, value))
WRAP_LMDB(mdb_env_create, (MDB_env * *env), (env))
WRAP_LMDB(mdb_env_open, (MDB_env * env, const char* path, unsigned flags, mdb_mode_t mode),
          (env, path, flags, mode))
WRAP_LMDB(mdb_env_set_flags, (MDB_env * env, unsigned flags, int on), (env, flags, on))
WRAP_LMDB(mdb_env_set_mapsize, (MDB_env * env, std::size_t bytes), (env, bytes))
WRAP_LMDB(mdb_env_set_maxdbs, (MDB_env * env, MDB_dbi count), (env, count))
WRAP_LMDB(mdb_env_sync, (MDB_env * env, int force), (env, force))
WRAP_LMDB(mdb_get, (MDB_txn * txn, MDB_dbi table, MDB_val* key, MDB_val* value),
          (txn, table, key, value))
WRAP_LMDB(mdb_put, (MDB_txn * txn, MDB_dbi table, MDB_val* key, MDB_val* value, unsigned flags),
          (txn, table, key, value, flags))
WRAP_LMDB(mdb_reader_check, (MDB_env * env, int* dead), (env, dead))
WRAP_LMDB(mdb_stat, (MDB_txn * txn, MDB_dbi table, MDB_stat* found), (txn, table, found))
WRAP_LMDB(mdb_txn_begin, (MDB_env * env, MDB_txn* parent, unsigned flags, MDB_txn** txn),
          (env, parent, flags, txn))
WRAP_LMDB(mdb_txn_renew, (MDB_txn * txn), (txn))

int __real_mdb_txn_commit(MDB_txn* txn);
[[gnu::visibility("default")]] int __wrap_mdb_txn_commit(MDB_txn* txn) {
    if (!strikes("mdb_txn_commit")) {
        return __real_mdb_txn_commit(txn);
    }
    mdb_txn_abort(txn);  // the transaction is gone, as after any commit
    return plan.error;
}

int __real_open(const char* path, int flags, ...);
[[gnu::visibility("default")]] int __wrap_open(const char* path, int flags, ...) {
    std::va_list more;
    va_start(more, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return strikes("sys_open") ? fail(-1) : __real_open(path, flags, mode);
}

int __real_statfs(const char* path, struct statfs* info);
[[gnu::visibility("default")]] int __wrap_statfs(const char* path, struct statfs* info) {
    if (strikes("sys_statfs")) {
        return fail(-1);
    }
    const int rc = __real_statfs(path, info);
    info->f_type = file_system_type.value_or(info->f_type);
    return rc;
}

ssize_t __real_pread(int fd, void* to, std::size_t bytes, off_t at);
[[gnu::visibility("default")]] ssize_t __wrap_pread(int fd, void* to, std::size_t bytes, off_t at) {
    const ssize_t got = strikes("sys_pread") ? fail(-1) : __real_pread(fd, to, bytes, at);
    pread_bytes += got > 0 ? static_cast<std::uint64_t>(got) : 0;
    return got;
}

WRAP_SYSTEM(access, int, -1, (const char* path, int mode), (path, mode))
WRAP_SYSTEM(chmod, int, -1, (const char* path, mode_t mode), (path, mode))
WRAP_SYSTEM(faccessat, int, -1, (int at, const char* path, int mode, int flags),
            (at, path, mode, flags))
WRAP_SYSTEM(fallocate, int, -1, (int fd, int mode, off_t from, off_t bytes),
            (fd, mode, from, bytes))
WRAP_SYSTEM(fchmod, int, -1, (int fd, mode_t mode), (fd, mode))
WRAP_SYSTEM(fchown, int, -1, (int fd, uid_t user, gid_t group), (fd, user, group))
WRAP_SYSTEM(fdatasync, int, -1, (int fd), (fd))
WRAP_SYSTEM(fopen, FILE*, nullptr, (const char* path, const char* mode), (path, mode))
WRAP_SYSTEM(fstat, int, -1, (int fd, struct stat* info), (fd, info))
WRAP_SYSTEM(fstatvfs, int, -1, (int fd, struct statvfs* info), (fd, info))
WRAP_SYSTEM(fsync, int, -1, (int fd), (fd))
WRAP_SYSTEM(ftruncate, int, -1, (int fd, off_t bytes), (fd, bytes))
WRAP_SYSTEM(lchown, int, -1, (const char* path, uid_t user, gid_t group), (path, user, group))
WRAP_SYSTEM(mkdir, int, -1, (const char* path, mode_t mode), (path, mode))
WRAP_SYSTEM(mmap, void*, MAP_FAILED,
            (void* at, std::size_t bytes, int access, int flags, int fd, off_t from),
            (at, bytes, access, flags, fd, from))
WRAP_SYSTEM(opendir, DIR*, nullptr, (const char* path), (path))
WRAP_SYSTEM(pwrite, ssize_t, -1, (int fd, const void* from, std::size_t bytes, off_t at),
            (fd, from, bytes, at))
WRAP_SYSTEM(readdir, struct dirent*, nullptr, (DIR * folder), (folder))
WRAP_SYSTEM(rename, int, -1, (const char* from, const char* to), (from, to))
WRAP_SYSTEM(stat, int, -1, (const char* path, struct stat* info), (path, info))
WRAP_SYSTEM(statvfs, int, -1, (const char* path, struct statvfs* info), (path, info))
WRAP_SYSTEM(unlink, int, -1, (const char* path), (path))
WRAP_SYSTEM(write, ssize_t, -1, (int fd, const void* from, std::size_t bytes), (fd, from, bytes))

WRAP_OPENSSL(EVP_CIPHER_CTX_new, EVP_CIPHER_CTX*, (), ())
WRAP_OPENSSL(EVP_CIPHER_CTX_ctrl, int, (EVP_CIPHER_CTX * context, int type, int arg, void* ptr),
             (context, type, arg, ptr))
WRAP_OPENSSL(EVP_EncryptInit_ex, int,
             (EVP_CIPHER_CTX * context, const EVP_CIPHER* cipher, ENGINE* engine,
              const unsigned char* key, const unsigned char* iv),
             (context, cipher, engine, key, iv))
WRAP_OPENSSL(EVP_EncryptUpdate, int,
             (EVP_CIPHER_CTX * context, unsigned char* out, int* out_bytes, const unsigned char* in,
              int in_bytes),
             (context, out, out_bytes, in, in_bytes))
WRAP_OPENSSL(EVP_EncryptFinal_ex, int,
             (EVP_CIPHER_CTX * context, unsigned char* out, int* out_bytes),
             (context, out, out_bytes))
WRAP_OPENSSL(EVP_DecryptInit_ex, int,
             (EVP_CIPHER_CTX * context, const EVP_CIPHER* cipher, ENGINE* engine,
              const unsigned char* key, const unsigned char* iv),
             (context, cipher, engine, key, iv))
WRAP_OPENSSL(EVP_DecryptUpdate, int,
             (EVP_CIPHER_CTX * context, unsigned char* out, int* out_bytes, const unsigned char* in,
              int in_bytes),
             (context, out, out_bytes, in, in_bytes))
}
// NOLINTEND

namespace sluice::store {

FailingCall::FailingCall(std::string_view family, int nth, int error, int times) {
    plan = {true, family, nth, error, times, {}};
}

FailingCall::~FailingCall() {
    disarm();
}

bool FailingCall::struck() const {
    return !plan.struck.empty();
}

std::string FailingCall::name() const {
    return plan.struck;
}

void FailingCall::disarm() {
    plan.armed = false;
}

std::uint64_t bytes_read_by_pread() {
    return pread_bytes.load();
}

FileSystemType::FileSystemType(long type) {
    file_system_type = type;
}

FileSystemType::~FileSystemType() {
    file_system_type.reset();
}

}  // namespace sluice::store
