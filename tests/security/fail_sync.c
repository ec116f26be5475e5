/*
 * LD_PRELOAD shim: while the file FAIL_SYNC_WHILE exists, fdatasync() fails with EIO, and appends
 * one byte to that file, so that a run in which nothing failed can be told.
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

int fdatasync(int fd) {
    static int (*real)(int);
    int file = trigger ? open(trigger, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (file >= 0) {
        ssize_t noted = write(file, "x", 1);
        close(file);
        errno = noted == 1 ? EIO : EBADF;
        return -1;
    }
    if (!real) {
        real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    }
    return real(fd);
}
