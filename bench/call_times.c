/*
 * LD_PRELOAD: how long the system calls of an nginx worker take that an order waits for, by the
 * clock. At exit each process that synced writes, into the folder CALL_TIMES, a file with a line
 * for each call: kind, nanoseconds, bytes. Kinds: receive, answer, pages (of LMDB), zeros, sync,
 * meta.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { CALLS_MAX = 2000000, META_BYTES_MAX = 1000, ZERO_BYTES_MIN = 100000 };

static const char* const kinds[] = {"receive", "answer", "pages", "zeros", "sync", "meta"};
enum kind { RECEIVE, ANSWER, PAGES, ZEROS, SYNC, META };

static struct call {
    unsigned kind;
    unsigned nanoseconds;
    long bytes;
} calls[CALLS_MAX];
static unsigned long count;
/* nginx takes the environment away from its workers. */
static char folder[256];

static unsigned long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (unsigned long)time.tv_sec * 1000000000UL + (unsigned long)time.tv_nsec;
}

static void took(enum kind kind, unsigned long began, long bytes) {
    const unsigned long at = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    if (at < CALLS_MAX && bytes >= 0) {
        calls[at] = (struct call){kind, (unsigned)(now() - began), bytes};
    }
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    const char* path = getenv("CALL_TIMES");
    snprintf(folder, sizeof(folder), "%s", path != NULL ? path : "");
}

__attribute__((destructor)) static void end(void) {
    int synced = 0;
    for (unsigned long at = 0; at < count && at < CALLS_MAX; ++at) {
        synced |= calls[at].kind == SYNC;
    }
    if (!synced || folder[0] == '\0') {
        return;
    }
    char path[300];
    snprintf(path, sizeof(path), "%s/%d.calls", folder, (int)getpid());
    FILE* file = fopen(path, "w");
    if (file == NULL) {
        return;
    }
    for (unsigned long at = 0; at < count && at < CALLS_MAX; ++at) {
        fprintf(file, "%s %u %ld\n", kinds[calls[at].kind], calls[at].nanoseconds, calls[at].bytes);
    }
    fclose(file);
}

ssize_t recv(int fd, void* to, size_t bytes, int flags) {
    const unsigned long began = now();
    const ssize_t result = REAL(recv)(fd, to, bytes, flags);
    took(RECEIVE, began, result);
    return result;
}

/* nginx answers with one; LMDB writes neighbouring pages with one, of four buffers and more. */
ssize_t writev(int fd, const struct iovec* parts, int parts_count) {
    const unsigned long began = now();
    const ssize_t result = REAL(writev)(fd, parts, parts_count);
    took(parts[0].iov_len >= 4096 ? PAGES : ANSWER, began, result);
    return result;
}

ssize_t pwrite(int fd, const void* from, size_t bytes, off_t at) {
    const unsigned long began = now();
    const ssize_t result = REAL(pwrite)(fd, from, bytes, at);
    took(bytes < META_BYTES_MAX ? META : bytes >= ZERO_BYTES_MIN ? ZEROS : PAGES, began, result);
    return result;
}

int fdatasync(int fd) {
    const unsigned long began = now();
    const int result = REAL(fdatasync)(fd);
    took(SYNC, began, result);
    return result;
}
