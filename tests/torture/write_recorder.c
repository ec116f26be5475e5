/*
 * LD_PRELOAD recorder: logs every write, truncation and sync below RECORD_ROOT into the file
 * RECORD_LOG, with the bytes, in the order in which they happened. power_cut.py builds from it the
 * states that a disk may legally be in after a power cut.
 *
 * One log entry, little endian, written with one writev to an O_APPEND descriptor:
 *   u32 kind | u32 path bytes | u64 offset | u64 data bytes | path | data
 * Kinds: 1 write, 2 durable write (descriptor is O_DSYNC), 3 truncate (offset = size), 4 sync (of a
 * file's bytes, or of a folder's names), 5 create (a new name in its folder), 6 rename (the data is
 * the new path).
 * The calls are those that LMDB 0.9 makes (pwrite, lseek + writev, fdatasync) and what bulk files
 * and acknowledgements need.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, DURABLE_WRITE = 2, TRUNCATE = 3, SYNC = 4, CREATE = 5, RENAME = 6 };

struct head {
    uint32_t kind, path_bytes;
    uint64_t offset, data_bytes;
};

static int log_fd = -1;
static char root[PATH_MAX];
static size_t root_bytes;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void prepare(void) {
    const char* path = getenv("RECORD_LOG");
    const char* below = getenv("RECORD_ROOT");
    if (path && below && realpath(below, root)) {
        root_bytes = strlen(root);
        log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
}

/* The path of a descriptor below the root, or NULL. */
static const char* recorded_path(int fd, char* buffer) {
    char link[64];
    ssize_t got;
    if (log_fd < 0 || fd == log_fd) {
        return NULL;
    }
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    got = readlink(link, buffer, PATH_MAX - 1);
    if (got <= (ssize_t)root_bytes || strncmp(buffer, root, root_bytes) != 0 ||
        buffer[root_bytes] != '/') {
        return NULL;
    }
    buffer[got] = 0;
    return buffer + root_bytes + 1;
}

static void record(uint32_t kind, const char* path, uint64_t offset, const struct iovec* data,
                   int count, size_t bytes) {
    struct head head = {kind, (uint32_t)strlen(path), offset, bytes};
    struct iovec parts[1024];
    int used = 2;
    size_t left = bytes;
    parts[0].iov_base = &head;
    parts[0].iov_len = sizeof(head);
    parts[1].iov_base = (void*)(uintptr_t)path;
    parts[1].iov_len = head.path_bytes;
    for (int i = 0; i < count && left > 0 && used < 1024; i++) {
        size_t take = data[i].iov_len < left ? data[i].iov_len : left;
        parts[used].iov_base = data[i].iov_base;
        parts[used++].iov_len = take;
        left -= take;
    }
    if (REAL(writev)(log_fd, parts, used) < 0) {
        perror("write_recorder");
        abort();
    }
}

static uint32_t kind_of(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & (O_DSYNC | O_SYNC)) ? DURABLE_WRITE : WRITE;
}

static void record_write(int fd, const struct iovec* data, int count, off_t offset, ssize_t done) {
    char buffer[PATH_MAX];
    const char* path = done > 0 ? recorded_path(fd, buffer) : NULL;
    if (path) {
        record(kind_of(fd), path, (uint64_t)offset, data, count, (size_t)done);
    }
}

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
    ssize_t done = REAL(pwrite)(fd, bytes, count, offset);
    struct iovec data = {(void*)(uintptr_t)bytes, count};
    record_write(fd, &data, 1, offset, done);
    return done;
}

ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t offset) {
    ssize_t done = REAL(pwrite64)(fd, bytes, count, offset);
    struct iovec data = {(void*)(uintptr_t)bytes, count};
    record_write(fd, &data, 1, offset, done);
    return done;
}

ssize_t write(int fd, const void* bytes, size_t count) {
    ssize_t done = REAL(write)(fd, bytes, count);
    struct iovec data = {(void*)(uintptr_t)bytes, count};
    if (log_fd >= 0 && done > 0) {
        record_write(fd, &data, 1, lseek(fd, 0, SEEK_CUR) - done, done);
    }
    return done;
}

ssize_t writev(int fd, const struct iovec* data, int count) {
    ssize_t done = REAL(writev)(fd, data, count);
    if (log_fd >= 0 && done > 0) {
        record_write(fd, data, count, lseek(fd, 0, SEEK_CUR) - done, done);
    }
    return done;
}

static void record_event(int fd, uint32_t kind, uint64_t offset) {
    char buffer[PATH_MAX];
    const char* path = recorded_path(fd, buffer);
    if (path) {
        record(kind, path, offset, NULL, 0, 0);
    }
}

/* The bytes of a new file are nowhere until its folder knows its name. */
static int recorded_open(int (*real)(const char*, int, ...), const char* path, int flags,
                         mode_t mode) {
    int is_new = log_fd >= 0 && (flags & O_CREAT) && access(path, F_OK) != 0;
    int fd = real(path, flags, mode);
    if (is_new && fd >= 0) {
        record_event(fd, CREATE, 0);
    }
    return fd;
}

#define OPEN(name)                                           \
    int name(const char* path, int flags, ...) {             \
        va_list rest;                                        \
        mode_t mode = 0;                                     \
        if (flags & (O_CREAT | O_TMPFILE)) {                 \
            va_start(rest, flags);                           \
            mode = va_arg(rest, mode_t);                     \
            va_end(rest);                                    \
        }                                                    \
        return recorded_open(REAL(name), path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

/* Both below the root, or neither. */
int rename(const char* from, const char* to) {
    int result = REAL(rename)(from, to);
    if (result == 0 && log_fd >= 0 && strncmp(from, root, root_bytes) == 0 &&
        strncmp(to, root, root_bytes) == 0) {
        struct iovec data = {(void*)(uintptr_t)(to + root_bytes + 1), strlen(to) - root_bytes - 1};
        record(RENAME, from + root_bytes + 1, 0, &data, 1, data.iov_len);
    }
    return result;
}

int fdatasync(int fd) {
    int result = REAL(fdatasync)(fd);
    if (result == 0) {
        record_event(fd, SYNC, 0);
    }
    return result;
}

int fsync(int fd) {
    int result = REAL(fsync)(fd);
    if (result == 0) {
        record_event(fd, SYNC, 0);
    }
    return result;
}

int ftruncate(int fd, off_t size) {
    int result = REAL(ftruncate)(fd, size);
    if (result == 0) {
        record_event(fd, TRUNCATE, (uint64_t)size);
    }
    return result;
}

int ftruncate64(int fd, off64_t size) {
    int result = REAL(ftruncate64)(fd, size);
    if (result == 0) {
        record_event(fd, TRUNCATE, (uint64_t)size);
    }
    return result;
}
