#include "rep/courier/paths_io.h"

#include "rep/shim/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LINE_FILE_BYTES = 64 * 1024 };

int small_read(struct arena *a, int dir, const char *path, size_t most, struct bytes *ret,
               struct err *err)
{
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return err_set(err, ERR_IO, "cannot open %.100s: %s", path, strerror(errno));
    }
    SCOPED_BUF(all);
    ssize_t n = 1;
    while (n > 0 && all.size <= most) {
        buf_reserve(&all, 4096);
        n = read(fd, all.data + all.size, 4096);
        all.size += n > 0 ? (size_t)n : 0;
    }
    int error = errno;
    close(fd);
    if (n < 0) {
        return err_set(err, ERR_IO, "cannot read %.100s: %s", path, strerror(error));
    }
    if (all.size > most) {
        return err_set(err, ERR_TOO_LARGE, "%.100s has more than %zu bytes", path, most);
    }
    *ret = (struct bytes){arena_copy(a, all.data, all.size), all.size};
    return 0;
}

int small_line(struct arena *a, const char *path, char **ret, struct err *err)
{
    struct bytes file;
    int rc = small_read(a, AT_FDCWD, path, LINE_FILE_BYTES, &file, err);
    if (rc) {
        return rc;
    }
    char *text = arena_strndup(a, (const char *)file.data, file.size);
    text[strcspn(text, "\r\n")] = '\0';
    if (!text[0]) {
        return err_set(err, ERR_INVALID, "the first line of %.100s is empty", path);
    }
    *ret = text;
    return 0;
}

int small_write(int dir, const char *name, struct bytes text, struct err *err)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool written = fd >= 0 && write(fd, text.data, text.size) == (ssize_t)text.size;
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    return written ? 0 : err_set(err, ERR_IO, "cannot write %.100s: %s", name, strerror(error));
}

int small_replace(const char *path, struct bytes text, struct err *err)
{
    char beside[4096];
    int n = snprintf(beside, sizeof(beside), "%s.part", path);
    if (n < 0 || (size_t)n >= sizeof(beside)) {
        return err_set(err, ERR_INVALID, "the path %.100s is too long", path);
    }
    int rc = small_write(AT_FDCWD, beside, text, err);
    if (rc == 0 && rename(beside, path) < 0) {
        rc = err_set(err, ERR_IO, "cannot write %.100s: %s", path, strerror(errno));
    }
    if (rc) {
        unlink(beside);
    }
    return rc;
}

/* ---- paths ---- */

static int open_resolved(int dir, const char *path, int flags, uint64_t resolve)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = resolve};
    int fd;
    do { /* EAGAIN: something was renamed meanwhile */
        fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
    } while (fd < 0 && (errno == EAGAIN || errno == EINTR));
    return fd;
}

int open_rooted(int root, const char *path, int flags)
{
    return open_resolved(root, path, flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

/* The process lived when its root was opened, so its id was nobody else's. */
static int open_root_of(const char *container, struct err *err)
{
    struct identity id;
    char path[32];
    int dir = open(container, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int process = dir < 0 || identity_read(dir, "pid", &id) < 0 ? -1 : identity_open(&id);
    int fd = -1, error = errno;
    if (process >= 0) {
        struct pollfd ended = {.fd = process, .events = POLLIN};
        snprintf(path, sizeof(path), "/proc/%ld/root", id.pid);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        error = errno;
        if (fd >= 0 && poll(&ended, 1, 0) != 0) {
            close(fd);
            fd = -1;
            error = ESRCH;
        }
        close(process);
    }
    if (dir >= 0) {
        close(dir);
    }
    return fd >= 0 ? fd
                   : err_set(err, ERR_IO,
                             "cannot open the root of the container's first process: %s",
                             strerror(error));
}

int open_root(const char *root, const char *container, struct err *err)
{
    if (!root) {
        return open_root_of(container, err);
    }
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0
               ? fd
               : err_set(err, ERR_IO, "cannot open the container's root: %s", strerror(errno));
}

int open_straight(const char *path, int flags)
{
    return open_resolved(AT_FDCWD, path, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

int open_below(const char *root, const char *path, struct err *err)
{
    struct stat st;
    int dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) {
        return err_set(err, ERR_IO, "cannot open --file-root: %s", strerror(errno));
    }
    int fd = open_resolved(dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY,
                           RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
    int error = errno;
    close(dir);
    if (fd < 0) {
        return error == EXDEV
                   ? err_set(err, ERR_DENIED, "the file is not below --file-root")
                   : err_set(err, ERR_NOT_FOUND, "cannot open the file: %s", strerror(error));
    }
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(err, ERR_INVALID, "it is no regular file");
    }
    return fd;
}

/* ---- removing ---- */

/* By fts(3), which changes directories and so reaches where no path does. A directory that its
 * owner may not read is opened up first. */
static bool remove_below(char *name)
{
    char *const names[] = {name, NULL};
    FTS *walk = fts_open(names, FTS_PHYSICAL | FTS_XDEV, NULL);
    bool gone = walk != NULL;
    for (FTSENT *e; walk && (e = fts_read(walk));) {
        if (e->fts_info == FTS_D) {
            chmod(e->fts_accpath, 0700);
        } else if (e->fts_info == FTS_DP) {
            gone = rmdir(e->fts_accpath) == 0 && gone;
        } else {
            gone = unlink(e->fts_accpath) == 0 && gone;
        }
    }
    if (walk) {
        fts_close(walk);
    }
    return gone;
}

bool remove_whole(int dir, const char *name)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT) {
        return true;
    }
    char *copy = strdup(name);
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool gone = copy && here >= 0 && (dir == AT_FDCWD || fchdir(dir) == 0) && remove_below(copy);
    if (here >= 0) {
        gone = fchdir(here) == 0 && gone;
        close(here);
    }
    free(copy);
    return gone;
}
