/* Who a process is: its id, its start time and the boot it belongs to. A bare process id may have
 * been given to somebody else meanwhile, so nothing is signalled before all three agree.
 * Shared by the shim, the rep's drivers and the courier (the shim is linked alone, hence
 * inline). */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct identity {
    long pid;
    unsigned long long start; /* clock ticks after boot, as /proc/PID/stat tells it */
    char boot[40];            /* id of the boot */
};

/* Reads a small file below `dir` (AT_FDCWD for none) into text; gives its length or -1. */
static inline ssize_t identity_slurp(int dir, const char *path, char *text, size_t size)
{
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return -1;
    }
    ssize_t n = read(fd, text, size - 1);
    int saved = errno;
    close(fd);
    errno = saved;
    if (n >= 0) {
        text[n] = '\0';
    }
    return n;
}

/* Whether an errno says nothing of what was asked for: this process may open no more, or the
 * machine has no memory. */
static inline int identity_untold(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* The id of this boot of the machine; -1 with errno. */
static inline int identity_boot(char boot[40])
{
    ssize_t n = identity_slurp(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, 40);
    if (n < 36) {
        errno = n < 0 ? errno : EINVAL;
        return -1;
    }
    boot[36] = '\0';
    return 0;
}

/* Of a process that exists, a zombie included; -1 with errno when it does not, or when that cannot
 * be told now. */
static inline int identity_of(long pid, struct identity *ret)
{
    struct identity id = {.pid = pid};
    char path[32], text[512];
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    if (identity_slurp(AT_FDCWD, path, text, sizeof(text)) < 0) {
        errno = identity_untold(errno) ? errno : ESRCH;
        return -1;
    }
    const char *at = strrchr(text, ')'); /* the name before may hold anything, ") " too */
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    if (!at) {
        errno = EINVAL;
        return -1;
    }
    id.start = strtoull(at + 1, NULL, 10);
    if (identity_boot(id.boot) < 0) {
        return -1;
    }
    *ret = id;
    return 0;
}

/* As it stands in a file: "PID START BOOT". */
static inline int identity_print(const struct identity *id, char *text, size_t size)
{
    return snprintf(text, size, "%ld %llu %s\n", id->pid, id->start, id->boot);
}

/* From such a file; -1 with errno: ENOENT when there is none, EINVAL when it is something else. */
static inline int identity_read(int dir, const char *path, struct identity *ret)
{
    char text[128];
    struct identity id;
    if (identity_slurp(dir, path, text, sizeof(text)) < 0) {
        return -1;
    }
    if (sscanf(text, "%ld %llu %39s", &id.pid, &id.start, id.boot) != 3 || id.pid < 1) {
        errno = EINVAL;
        return -1;
    }
    *ret = id;
    return 0;
}

/* A descriptor of that very process, for waiting and signalling; -1 with errno ESRCH when it has
 * gone, another one when that cannot be told now. The order matters: once the descriptor is held,
 * the id cannot change hands. */
static inline int identity_open(const struct identity *id)
{
    int fd = (int)syscall(SYS_pidfd_open, id->pid, 0);
    struct identity now;
    if (fd < 0) {
        errno = identity_untold(errno) ? errno : ESRCH;
        return -1;
    }
    int error = 0;
    if (identity_of(id->pid, &now) < 0) {
        error = identity_untold(errno) ? errno : ESRCH;
    } else if (now.start != id->start || strcmp(now.boot, id->boot) != 0) {
        error = ESRCH;
    }
    if (error) {
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static inline int identity_signal(int pidfd, int number)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0);
}
