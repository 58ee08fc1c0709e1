/* Deletes a directory tree that somebody else may have filled: never follows a link, never enters
 * another file system, and holds at most SHIM_DEPTH directories open however deep it is. */
#include "rep/shim/shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct deletion {
    int top;       /* the tree's own directory: what lies too deep is moved up into it */
    dev_t device;  /* of the tree */
    unsigned long moved;
    int error;     /* first errno, 0: none */
    char name[300];
};

static void remember(struct deletion *d, const char *name, int error)
{
    if (d->error == 0) {
        d->error = error;
        snprintf(d->name, sizeof(d->name), "%s", name);
    }
}

static void empty(struct deletion *d, int fd, int depth);

/* Whoever filled it may have closed a directory to himself, which only root does not mind. */
static void open_up(int parent, const char *name)
{
    enum { ALL = 0700 };
    struct stat st;
    if (geteuid() != 0 && fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(st.st_mode) && (st.st_mode & ALL) != ALL) {
        fchmodat(parent, name, ALL, 0);
    }
}

/* What is mounted there is not ours to delete: a volume, or a layer, is often of the same file
 * system, whose number then tells nothing. EXDEV: something is. */
static int open_unmounted(int parent, const char *name)
{
    struct {
        uint64_t flags, mode, resolve;
    } how = {
        .flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
        .resolve = 0x01, /* RESOLVE_NO_XDEV */
    };
    int fd = (int)syscall(SYS_openat2, parent, name, &how, sizeof(how));
    return fd < 0 && errno == ENOSYS ? openat(parent, name, (int)how.flags) : fd;
}

static void enter(struct deletion *d, int parent, const char *name, int depth)
{
    struct stat st;
    open_up(parent, name);
    if (depth >= SHIM_DEPTH) {
        char up[48];
        snprintf(up, sizeof(up), ".deep-%lu", d->moved++);
        if (renameat(parent, name, d->top, up) < 0) {
            remember(d, name, errno);
        }
        return;
    }
    int fd = open_unmounted(parent, name);
    if (fd < 0 || fstat(fd, &st) < 0) {
        remember(d, name, errno == EXDEV ? EBUSY : errno);
    } else if (st.st_dev != d->device) {
        remember(d, name, EBUSY); /* something is mounted here: not ours to delete */
    } else {
        empty(d, fd, depth + 1);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT) {
        remember(d, name, errno);
    }
}

static void empty(struct deletion *d, int fd, int depth)
{
    int copy = dup(fd);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (!dir) {
        remember(d, ".", errno);
        return;
    }
    for (struct dirent *e; (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
            continue;
        }
        if (unlinkat(fd, e->d_name, 0) == 0 || errno == ENOENT) {
            continue;
        }
        if (errno == EISDIR || errno == EPERM) {
            enter(d, fd, e->d_name, depth);
        } else {
            remember(d, e->d_name, errno);
        }
    }
    closedir(dir);
}

int delete_tree(int parent, const char *name)
{
    struct deletion d = {0};
    struct stat st;
    d.top = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (d.top < 0) {
        return errno == ENOENT ? 0 : -1;
    }
    if (fstat(d.top, &st) == 0) {
        d.device = st.st_dev;
        unsigned long before;
        do { /* what was moved up may have come after the reader had passed */
            before = d.moved;
            lseek(d.top, 0, SEEK_SET);
            empty(&d, d.top, 0);
        } while (d.moved > before && d.error == 0);
    }
    close(d.top);
    if (d.error == 0 && unlinkat(parent, name, AT_REMOVEDIR) < 0) {
        return -1;
    }
    if (d.error != 0) {
        report("cannot delete %s in %s: %s", d.name, name, strerror(d.error));
    }
    errno = d.error;
    return d.error ? -1 : 0;
}
