/* Makes real processes meet trouble: LD_PRELOAD it. What it does is in a page that all processes
 * share and that faults/shim.py writes; nothing happens until something is armed there.
 *
 * Faults: the n-th matching call below SLUICE_FAULT_DIR fails, comes back short, is slow, or is
 *        not made, because the process is killed.
 * Points: a process that comes to an armed point for the n-th time is killed by SIGKILL.
 * Watch: counts what nginx's event loop itself writes, syncs, makes, renames or removes on disks;
 *        logs (O_APPEND) apart.
 *
 * SLUICE_FAULT_PAGE  the page's file      SLUICE_FAULT_DIR  calls on files elsewhere are left alone
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* shim.py reads these two lists. A point: process (N nginx, W the sluice worker), then where. */
/* clang-format off */
#define CALLS(X) X(WRITE) X(META) X(SYNC) X(READ) X(OPEN) X(MMAP) X(SEEK) X(TRUNCATE) X(RENAME) \
    X(UNLINK) X(ATTRIBUTE) X(MALLOC) X(MAKE) X(MODE)
#define POINTS(X) X(N_BEGIN) X(N_BEGUN) X(N_PUT) X(N_WRITE) X(N_SYNC) X(N_SYNCED) X(N_META) \
    X(N_META_DONE) X(N_COMMITTED) X(N_POST) X(N_POSTED) X(N_SEND) X(N_SENT) X(N_BULK_OPEN) \
    X(N_BULK_WRITE) X(N_BULK_SYNC) X(N_BULK_SYNCED) X(N_LANE_WRITE) X(N_LANE_WRITTEN) X(W_BEGIN) X(W_BEGUN) X(W_PUT) X(W_WRITE) \
    X(W_SYNC) X(W_SYNCED) X(W_META) X(W_META_DONE) X(W_COMMITTED) X(W_ARCHIVE_WRITE) \
    X(W_ARCHIVE_SYNC) X(W_ARCHIVE_SYNCED) X(W_UNLINK) X(W_UNLINKED) X(W_TRIM_BEGUN) \
    X(W_TRIM_SYNC) X(W_TRIM_META) X(W_TRIMMED)
/* clang-format on */
#define CALL(name) CALL_##name,
#define POINT(name) POINT_##name,
enum call { CALLS(CALL) CALL_COUNT };
enum point { POINTS(POINT) POINT_COUNT };

/* Else an errno. */
enum { MODE_SHORT = 1001, MODE_DELAY = 1002, MODE_JITTER = 1003, MODE_KILL = 1004 };
enum { ROLE_NGINX = 1, ROLE_SLUICE = 2 };

typedef _Atomic unsigned long word;
static struct page {
    word calls;  /* mask of enum call; 0: no fault is armed */
    word roles;  /* mask */
    word pid;    /* 0: any */
    word nth;    /* which matching call, from 1 */
    word sticky; /* all from there on */
    word mode;
    word delay_us; /* of MODE_DELAY; the most of MODE_JITTER */
    word seen;     /* matching calls so far */
    word injected;
    word first;      /* the call that was hit first */
    word watch_loop; /* count what the event loop of nginx does to files */
    word loop_calls;
    word pad[4];
    word armed; /* point + 1 */
    word countdown;
    word pad2[14];
    word passes[64];
    word kills[64];
    char loop_path[512]; /* of the first of loop_calls */
} off, *page = &off;

static unsigned long role;
static const char* folder;
static size_t folder_size;

__attribute__((constructor)) static void start(void) {
    const char* path = getenv("SLUICE_FAULT_PAGE");
    const char* named = getenv("SLUICE_FAULT_DIR");
    folder = named ? strdup(named) : NULL; /* nginx writes its title over the environment */
    folder_size = folder ? strlen(folder) : 0;
    role = strcmp(program_invocation_short_name, "nginx") == 0    ? ROLE_NGINX
           : strcmp(program_invocation_short_name, "sluice") == 0 ? ROLE_SLUICE
                                                                  : 0;
    int fd = path && role ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0) {
        void* shared = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (shared != MAP_FAILED)
            page = shared;
        close(fd);
    }
}

#define REAL(name)                                                         \
    ({                                                                     \
        static __typeof__(&name) next;                                     \
        next ? next : (next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)); \
    })

/* ---- Points ---------------------------------------------------------------------------------- */

static void point(enum point at) {
    int saved = errno;
    page->passes[at]++;
    if (page->armed == (unsigned long)at + 1 && --page->countdown == 0) {
        page->armed = 0;
        page->kills[at]++;
        kill(getpid(), SIGKILL);
        pause();
    }
    errno = saved;
}

/* The same step of nginx and of the sluice worker, in one of the latter's two environments. */
enum place { ELSEWHERE, QUEUE, LEDGER, BULK, LANE, ARCHIVE, OTHER };

static enum place place_of(const char* path) {
    if (folder == NULL || strncmp(path, folder, folder_size) != 0)
        return ELSEWHERE;
    path += folder_size;
    return strncmp(path, "/queue/bulk", 11) == 0    ? BULK
           : strncmp(path, "/queue/lanes", 12) == 0 ? LANE
           : strncmp(path, "/queue/data", 11) == 0  ? QUEUE
           : strncmp(path, "/ledger", 7) == 0       ? LEDGER
           : strncmp(path, "/archive", 8) == 0      ? ARCHIVE
                                                    : OTHER;
}

static enum place place_of_fd(int fd) {
    char link[64], path[4096];
    int saved = errno;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = fd < 0 || page == &off ? -1 : readlink(link, path, sizeof(path) - 1);
    errno = saved;
    if (n <= 0)
        return ELSEWHERE;
    path[n] = 0;
    return place_of(path);
}

/* ---- Watch ----------------------------------------------------------------------------------- */

static int is_watched(void) {
    return page->watch_loop && role == ROLE_NGINX && gettid() == getpid();
}

static void on_loop_path(const char* path) {
    if (is_watched() && page->loop_calls++ == 0)
        strncpy(page->loop_path, path, sizeof(page->loop_path) - 1);
}

static void on_loop(int fd) {
    int saved = errno;
    struct stat info;
    char link[64], path[512];
    int flags = is_watched() ? fcntl(fd, F_GETFL) : -1;
    if (flags >= 0 && !(flags & O_APPEND) && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, path, sizeof(path) - 1);
        path[n > 0 ? n : 0] = 0;
        on_loop_path(path);
    }
    errno = saved;
}

#define AT(nginx_place, nginx_point, ledger_point, trim_point)                      \
    do {                                                                            \
        if (role == ROLE_NGINX && (place) == (nginx_place))                         \
            point(nginx_point);                                                     \
        else if (role == ROLE_SLUICE && (place) == LEDGER)                          \
            point(ledger_point);                                                    \
        else if (role == ROLE_SLUICE && (place) == QUEUE && (int)(trim_point) >= 0) \
            point(trim_point);                                                      \
    } while (0)
#define NONE ((enum point) - 1)

static enum place place_of_txn(MDB_txn* txn) {
    const char* path = "";
    MDB_env* env = mdb_txn_env(txn);
    char file[4096];
    if (env == NULL || mdb_env_get_path(env, &path) != 0)
        return ELSEWHERE;
    snprintf(file, sizeof(file), "%s/data.mdb", path);
    return place_of(file);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static void slow(unsigned long us) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (page->mode == MODE_JITTER)
        us = (unsigned long)now.tv_nsec / 1000 % (us + 1);
    now = (struct timespec){(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    nanosleep(&now, NULL);
}

/* 0: go on. An errno: fail. MODE_SHORT: half of it. */
static int fault(enum call call) {
    if (!(page->calls & 1UL << call) || !(page->roles & role) ||
        (page->pid && page->pid != (unsigned long)getpid()))
        return 0;
    unsigned long n = ++page->seen;
    if (page->nth == 0 || (page->sticky ? n < page->nth : n != page->nth))
        return 0;
    int mode = (int)page->mode;
    if (page->injected++ == 0)
        page->first = call;
    if (mode == MODE_KILL) {
        kill(getpid(), SIGKILL);
        pause();
    }
    if (mode == MODE_DELAY || mode == MODE_JITTER) {
        slow(page->delay_us);
        return 0;
    }
    return mode;
}

#define FAIL_IF(rc, failed)                      \
    if ((rc) != 0) {                             \
        errno = (rc) == MODE_SHORT ? EIO : (rc); \
        return failed;                           \
    }

static enum call write_call(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_DSYNC) ? CALL_META : CALL_WRITE;
}

/* Before and after a write, whatever the call is called. */
static int before_write(enum place place, enum call call) {
    if (place == ELSEWHERE)
        return 0;
    if (call == CALL_META)
        AT(QUEUE, POINT_N_META, POINT_W_META, POINT_W_TRIM_META);
    else
        AT(QUEUE, POINT_N_WRITE, POINT_W_WRITE, NONE);
    if (role == ROLE_SLUICE && place == ARCHIVE)
        point(POINT_W_ARCHIVE_WRITE);
    if (role == ROLE_NGINX && place == LANE && call == CALL_META)
        point(POINT_N_LANE_WRITE);
    return fault(call);
}

static void after_write(enum place place, enum call call) {
    if (call == CALL_META)
        AT(QUEUE, POINT_N_META_DONE, POINT_W_META_DONE, NONE);
    if (role == ROLE_NGINX && place == BULK)
        point(POINT_N_BULK_WRITE);
    if (role == ROLE_NGINX && place == LANE && call == CALL_META)
        point(POINT_N_LANE_WRITTEN);
}

#define WRITE(fd, size, whole, half)                          \
    on_loop(fd);                                              \
    enum place place = place_of_fd(fd);                       \
    enum call call = place == ELSEWHERE ? 0 : write_call(fd); \
    int rc = before_write(place, call);                       \
    if (rc == MODE_SHORT && (size) > 1)                       \
        return half;                                          \
    FAIL_IF(rc, -1)                                           \
    ssize_t done = whole;                                     \
    if (place != ELSEWHERE)                                   \
        after_write(place, call);                             \
    return done

ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
    WRITE(fd, size, REAL(pwrite)(fd, data, size, at), REAL(pwrite)(fd, data, size / 2, at));
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
    WRITE(fd, size, REAL(pwrite64)(fd, data, size, at), REAL(pwrite64)(fd, data, size / 2, at));
}

/* nginx tells its event loop of a finished task with eight bytes to an eventfd. */
ssize_t write(int fd, const void* data, size_t size) {
    if (role == ROLE_NGINX && size == 8 && gettid() != getpid()) {
        point(POINT_N_POST);
        ssize_t done = REAL(write)(fd, data, size);
        point(POINT_N_POSTED);
        return done;
    }
    WRITE(fd, size, REAL(write)(fd, data, size), REAL(write)(fd, data, size / 2));
}

static int is_answer(int fd) {
    int type = 0;
    socklen_t size = sizeof(type);
    return role == ROLE_NGINX && page != &off && gettid() == getpid() &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

ssize_t writev(int fd, const struct iovec* parts, int n) {
    int saved = errno;
    if (is_answer(fd)) {
        point(POINT_N_SEND);
        ssize_t done = REAL(writev)(fd, parts, n);
        point(POINT_N_SENT);
        return done;
    }
    errno = saved;
    WRITE(fd, n, REAL(writev)(fd, parts, n), REAL(writev)(fd, parts, n / 2));
}

ssize_t pwritev(int fd, const struct iovec* parts, int n, off_t at) {
    WRITE(fd, n, REAL(pwritev)(fd, parts, n, at), REAL(pwritev)(fd, parts, n / 2, at));
}

static int before_sync(enum place place) {
    if (place == ELSEWHERE)
        return 0;
    AT(QUEUE, POINT_N_SYNC, POINT_W_SYNC, POINT_W_TRIM_SYNC);
    if (role == ROLE_NGINX && place == BULK)
        point(POINT_N_BULK_SYNC);
    if (role == ROLE_SLUICE && place == ARCHIVE)
        point(POINT_W_ARCHIVE_SYNC);
    return fault(CALL_SYNC);
}

static void after_sync(enum place place) {
    AT(QUEUE, POINT_N_SYNCED, POINT_W_SYNCED, NONE);
    if (role == ROLE_NGINX && place == BULK)
        point(POINT_N_BULK_SYNCED);
    if (role == ROLE_SLUICE && place == ARCHIVE)
        point(POINT_W_ARCHIVE_SYNCED);
}

#define SYNC(name)                          \
    int name(int fd) {                      \
        on_loop(fd);                        \
        enum place place = place_of_fd(fd); \
        int rc = before_sync(place);        \
        FAIL_IF(rc, -1)                     \
        rc = REAL(name)(fd);                \
        if (place != ELSEWHERE)             \
            after_sync(place);              \
        return rc;                          \
    }
SYNC(fdatasync)
SYNC(fsync)

int msync(void* data, size_t size, int flags) {
    int rc = flags & MS_SYNC ? fault(CALL_SYNC) : 0;
    FAIL_IF(rc, -1)
    return REAL(msync)(data, size, flags);
}

#define READ(fd, size, whole, half)                               \
    int rc = place_of_fd(fd) == ELSEWHERE ? 0 : fault(CALL_READ); \
    if (rc == MODE_SHORT && (size) > 1)                           \
        return half;                                              \
    FAIL_IF(rc, -1)                                               \
    return whole

ssize_t read(int fd, void* data, size_t size) {
    READ(fd, size, REAL(read)(fd, data, size), REAL(read)(fd, data, size / 2));
}

ssize_t pread(int fd, void* data, size_t size, off_t at) {
    READ(fd, size, REAL(pread)(fd, data, size, at), REAL(pread)(fd, data, size / 2, at));
}

ssize_t pread64(int fd, void* data, size_t size, off64_t at) {
    READ(fd, size, REAL(pread64)(fd, data, size, at), REAL(pread64)(fd, data, size / 2, at));
}

static int before_open(const char* path, int flags) {
    if (flags & O_CREAT)
        on_loop_path(path);
    enum place place = page == &off ? ELSEWHERE : place_of(path);
    if (place == ELSEWHERE)
        return 0;
    if (role == ROLE_NGINX && place == BULK && (flags & O_CREAT))
        point(POINT_N_BULK_OPEN);
    return fault(CALL_OPEN);
}

#define OPEN(call)                      \
    va_list rest;                       \
    va_start(rest, flags);              \
    mode_t mode = va_arg(rest, mode_t); \
    va_end(rest);                       \
    int rc = before_open(path, flags);  \
    FAIL_IF(rc, -1)                     \
    return call

int open(const char* path, int flags, ...) {
    OPEN(REAL(open)(path, flags, mode));
}
int open64(const char* path, int flags, ...) {
    OPEN(REAL(open64)(path, flags, mode));
}
int openat(int at, const char* path, int flags, ...) {
    OPEN(REAL(openat)(at, path, flags, mode));
}
int openat64(int at, const char* path, int flags, ...) {
    OPEN(REAL(openat64)(at, path, flags, mode));
}

#define ON_FD(kind, failed, call)                                   \
    int rc = place_of_fd(fd) == ELSEWHERE ? 0 : fault(CALL_##kind); \
    FAIL_IF(rc, failed)                                             \
    return call

void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
    ON_FD(MMAP, MAP_FAILED, REAL(mmap)(at, size, protection, flags, fd, offset));
}
void* mmap64(void* at, size_t size, int protection, int flags, int fd, off64_t offset) {
    ON_FD(MMAP, MAP_FAILED, REAL(mmap64)(at, size, protection, flags, fd, offset));
}
off_t lseek(int fd, off_t to, int from) {
    ON_FD(SEEK, -1, REAL(lseek)(fd, to, from));
}
off64_t lseek64(int fd, off64_t to, int from) {
    ON_FD(SEEK, -1, REAL(lseek64)(fd, to, from));
}
int ftruncate(int fd, off_t size) {
    on_loop(fd);
    ON_FD(TRUNCATE, -1, REAL(ftruncate)(fd, size));
}
int ftruncate64(int fd, off64_t size) {
    on_loop(fd);
    ON_FD(TRUNCATE, -1, REAL(ftruncate64)(fd, size));
}
int fchmod(int fd, mode_t mode) {
    ON_FD(ATTRIBUTE, -1, REAL(fchmod)(fd, mode));
}
int fchown(int fd, uid_t user, gid_t group) {
    ON_FD(ATTRIBUTE, -1, REAL(fchown)(fd, user, group));
}

int rename(const char* from, const char* to) {
    on_loop_path(from);
    int rc = page == &off || place_of(from) == ELSEWHERE ? 0 : fault(CALL_RENAME);
    FAIL_IF(rc, -1)
    return REAL(rename)(from, to);
}

static enum place place_at(int at, const char* path) {
    char link[64], whole[8192];
    if (page == &off || *path == '/' || at == AT_FDCWD)
        return page == &off ? ELSEWHERE : place_of(path);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
    ssize_t n = readlink(link, whole, 4096);
    if (n <= 0)
        return ELSEWHERE;
    snprintf(whole + n, sizeof(whole) - (size_t)n, "/%s", path);
    return place_of(whole);
}

/* A name of a folder: `at` is its descriptor. */
#define ON_NAME(kind, at, path, call)                                  \
    int saved = errno;                                                 \
    int rc = place_at(at, path) == ELSEWHERE ? 0 : fault(CALL_##kind); \
    errno = saved;                                                     \
    FAIL_IF(rc, -1)                                                    \
    return call

int renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) {
    ON_NAME(RENAME, from_at, from, REAL(renameat2)(from_at, from, to_at, to, flags));
}
int unlinkat(int at, const char* path, int flags) {
    ON_NAME(UNLINK, at, path, REAL(unlinkat)(at, path, flags));
}
int rmdir(const char* path) {
    ON_NAME(UNLINK, AT_FDCWD, path, REAL(rmdir)(path));
}
int mkdir(const char* path, mode_t mode) {
    ON_NAME(MAKE, AT_FDCWD, path, REAL(mkdir)(path, mode));
}
int mkdirat(int at, const char* path, mode_t mode) {
    ON_NAME(MAKE, at, path, REAL(mkdirat)(at, path, mode));
}
int link(const char* from, const char* to) {
    ON_NAME(MAKE, AT_FDCWD, to, REAL(link)(from, to));
}
int linkat(int from_at, const char* from, int at, const char* to, int flags) {
    ON_NAME(MAKE, at, to, REAL(linkat)(from_at, from, at, to, flags));
}
int chmod(const char* path, mode_t mode) {
    ON_NAME(MODE, AT_FDCWD, path, REAL(chmod)(path, mode));
}
int lchown(const char* path, uid_t user, gid_t group) {
    ON_NAME(MODE, AT_FDCWD, path, REAL(lchown)(path, user, group));
}

int unlink(const char* path) {
    on_loop_path(path);
    enum place place = page == &off ? ELSEWHERE : place_of(path);
    int watched = role == ROLE_SLUICE && place == BULK;
    if (watched)
        point(POINT_W_UNLINK);
    int rc = place == ELSEWHERE ? 0 : fault(CALL_UNLINK);
    FAIL_IF(rc, -1)
    rc = REAL(unlink)(path);
    if (watched)
        point(POINT_W_UNLINKED);
    return rc;
}

/* ---- LMDB ------------------------------------------------------------------------------------ */

int mdb_txn_begin(MDB_env* env, MDB_txn* parent, unsigned int flags, MDB_txn** made) {
    const char* path = "";
    char file[4096];
    enum place place = ELSEWHERE;
    if (!(flags & MDB_RDONLY) && mdb_env_get_path(env, &path) == 0) {
        snprintf(file, sizeof(file), "%s/data.mdb", path);
        place = place_of(file);
        AT(QUEUE, POINT_N_BEGIN, POINT_W_BEGIN, NONE);
    }
    int rc = REAL(mdb_txn_begin)(env, parent, flags, made);
    if (place != ELSEWHERE && rc == 0)
        AT(QUEUE, POINT_N_BEGUN, POINT_W_BEGUN, POINT_W_TRIM_BEGUN);
    return rc;
}

int mdb_cursor_put(MDB_cursor* cursor, MDB_val* key, MDB_val* value, unsigned int flags) {
    int rc = REAL(mdb_cursor_put)(cursor, key, value, flags);
    enum place place = page == &off ? ELSEWHERE : place_of_txn(mdb_cursor_txn(cursor));
    AT(QUEUE, POINT_N_PUT, POINT_W_PUT, NONE);
    return rc;
}

int mdb_put(MDB_txn* txn, MDB_dbi table, MDB_val* key, MDB_val* value, unsigned int flags) {
    int rc = REAL(mdb_put)(txn, table, key, value, flags);
    enum place place = page == &off ? ELSEWHERE : place_of_txn(txn);
    AT(QUEUE, POINT_N_PUT, POINT_W_PUT, NONE);
    return rc;
}

int mdb_txn_commit(MDB_txn* txn) {
    enum place place = page == &off ? ELSEWHERE : place_of_txn(txn);
    int rc = REAL(mdb_txn_commit)(txn);
    AT(QUEUE, POINT_N_COMMITTED, POINT_W_COMMITTED, POINT_W_TRIMMED);
    return rc;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

/* Memory fails from main() on: what a library allocates when it is loaded, nobody can catch. */
static int in_main;
static int (*real_main)(int, char**, char**);

static int main_with_faults(int argc, char** argv, char** environment) {
    in_main = 1;
    return real_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void* stack) {
    real_main = main;
    return REAL(__libc_start_main)(main_with_faults, argc, argv, init, fini, rtld_fini, stack);
}

static int no_memory(void) {
    if (!in_main || !(page->calls & 1UL << CALL_MALLOC) || fault(CALL_MALLOC) == 0)
        return 0;
    errno = ENOMEM;
    return 1;
}

void* malloc(size_t size) {
    return no_memory() ? NULL : __libc_malloc(size);
}
void* calloc(size_t n, size_t size) {
    return no_memory() ? NULL : __libc_calloc(n, size);
}
void* realloc(void* old, size_t size) {
    return no_memory() ? NULL : __libc_realloc(old, size);
}
void* aligned_alloc(size_t to, size_t size) {
    return no_memory() ? NULL : __libc_memalign(to, size);
}
int posix_memalign(void** made, size_t to, size_t size) {
    void* got = no_memory() ? NULL : __libc_memalign(to, size);
    if (got == NULL)
        return ENOMEM;
    *made = got;
    return 0;
}
