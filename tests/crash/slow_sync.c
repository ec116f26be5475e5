/* Slows every call that makes data durable, and counts the delays: LD_PRELOAD it.
 *
 * SLOW_SYNC_MS     longest delay of one call; each is drawn from 0 to this
 * SLOW_SYNC_COUNT  file of 8 bytes that holds the number of delays (mapped, shared by all
 * processes)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static unsigned long* count;
static unsigned long longest_us;

__attribute__((constructor)) static void start(void) {
    const char* ms = getenv("SLOW_SYNC_MS");
    const char* path = getenv("SLOW_SYNC_COUNT");
    longest_us = ms ? strtoul(ms, NULL, 10) * 1000 : 0;
    if (path) {
        int fd = open(path, O_RDWR);
        void* page = fd < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (page != MAP_FAILED)
            count = page;
        if (fd >= 0)
            close(fd);
    }
}

static void delay(void) {
    struct timespec now;
    if (longest_us == 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    usleep((unsigned)((unsigned long)now.tv_nsec / 1000 % (longest_us + 1)));
    if (count)
        __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

static int durable(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_DSYNC);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fdatasync(int fd) {
    delay();
    return REAL(fdatasync)(fd);
}

int fsync(int fd) {
    delay();
    return REAL(fsync)(fd);
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
    if (durable(fd))
        delay();
    return REAL(pwrite)(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
    if (durable(fd))
        delay();
    return REAL(pwrite64)(fd, data, size, at);
}

ssize_t write(int fd, const void* data, size_t size) {
    if (durable(fd))
        delay();
    return REAL(write)(fd, data, size);
}

ssize_t writev(int fd, const struct iovec* parts, int n) {
    if (durable(fd))
        delay();
    return REAL(writev)(fd, parts, n);
}

int msync(void* data, size_t size, int flags) {
    if (flags & MS_SYNC)
        delay();
    return REAL(msync)(data, size, flags);
}
