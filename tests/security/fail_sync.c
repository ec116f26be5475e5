/*
 * LD_PRELOAD shim: while the file FAIL_SYNC_WHILE exists, fdatasync() and writes to a file that is
 * open with O_DSYNC fail with EIO, and append one byte to that file, so that a run in which nothing
 * failed can be told.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char* trigger;

/* nginx keeps no environment, so that it is read before main(). */
__attribute__((constructor)) static void prepare(void) {
    const char* path = getenv("FAIL_SYNC_WHILE");
    trigger = path ? strdup(path) : NULL;
}

/* True: it fails, and errno says why. */
static int fails(void) {
    int file = trigger ? open(trigger, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (file < 0) {
        return 0;
    }
    ssize_t noted = write(file, "x", 1);
    close(file);
    errno = noted == 1 ? EIO : EBADF;
    return 1;
}

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
    static ssize_t (*real)(int, const void*, size_t, off_t);
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_DSYNC) && fails()) {
        return -1;
    }
    if (!real) {
        real = (ssize_t(*)(int, const void*, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    }
    return real(fd, bytes, count, offset);
}

int fdatasync(int fd) {
    static int (*real)(int);
    if (fails()) {
        return -1;
    }
    if (!real) {
        real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    }
    return real(fd);
}
