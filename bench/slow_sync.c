/*
 * LD_PRELOAD shim: every fsync, fdatasync and write to a descriptor opened with O_DSYNC or O_SYNC
 * takes SLOW_SYNC_US longer, as a slower disk would. Counts what it delayed into the file
 * SLOW_SYNC_COUNT (one 64-bit counter, mapped), so that a run that delayed nothing can be told.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint64_t* delays;
static long delay_us;

__attribute__((constructor)) static void prepare(void) {
    const char* us = getenv("SLOW_SYNC_US");
    const char* path = getenv("SLOW_SYNC_COUNT");
    delay_us = us ? atol(us) : 0;
    if (path) {
        int fd = open(path, O_RDWR | O_CREAT, 0666);
        if (fd >= 0 && ftruncate(fd, 4096) == 0) {
            void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            delays = page == MAP_FAILED ? NULL : page;
        }
        if (fd >= 0) {
            close(fd);
        }
    }
}

static void slow_down(void) {
    struct timespec pause = {delay_us / 1000000, (delay_us % 1000000) * 1000};
    if (delay_us > 0) {
        nanosleep(&pause, NULL);
        if (delays) {
            atomic_fetch_add(delays, 1);
        }
    }
}

static int is_synchronous(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & (O_DSYNC | O_SYNC)) != 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int fd) {
    slow_down();
    return REAL(fsync)(fd);
}

int fdatasync(int fd) {
    slow_down();
    return REAL(fdatasync)(fd);
}

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
    if (is_synchronous(fd)) {
        slow_down();
    }
    return REAL(pwrite)(fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t offset) {
    if (is_synchronous(fd)) {
        slow_down();
    }
    return REAL(pwrite64)(fd, bytes, count, offset);
}
