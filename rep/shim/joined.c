/* Containers that share the network of another one. That one's directory keeps it: `users/GUID` is
 * there for each container that came to it, and has in its own directory a file `join` with the
 * name of the other. Who is removed while others use its network leaves of its directory what
 * belongs to that, and its note as `kept`; the last to leave takes all of it away.
 *
 * Who comes or goes holds the lock of the other's directory, after its own: nobody takes them in
 * another order, for whose network is used joins none. */
#include "rep/shim/identity.h"
#include "rep/shim/shim.h"

#include <dirent.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>

/* Of its own directory, and hence of what `users` has. */
static const char *own_name(char *path, size_t size)
{
    const char *slash = getcwd(path, size) ? strrchr(path, '/') : NULL;
    return slash && slash[1] ? slash + 1 : NULL;
}

/* The directory beside this one, locked; -1 with errno. */
static int lock_other(const char *guid)
{
    char path[300];
    snprintf(path, sizeof(path), "../%.256s", guid);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    while (fd >= 0 && flock(fd, LOCK_EX) < 0) {
        if (errno != EINTR) {
            close(fd);
            return -1;
        }
    }
    return fd;
}

/* A user whose directory has gone is none, whatever became of it. */
static bool is_user(int dir, const char *name)
{
    char path[300];
    snprintf(path, sizeof(path), "../%.256s", name);
    return faccessat(dir, path, F_OK, 0) == 0 || errno != ENOENT;
}

/* 1 or 0; -1 when it cannot be told. */
static int is_used(int dir)
{
    int fd = openat(dir, "users", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? 0 : -1;
    }
    DIR *all = fdopendir(fd);
    int used = all ? 0 : -1;
    for (struct dirent *e; all && used == 0 && (e = readdir(all));) {
        used = e->d_name[0] != '.' && is_user(dir, e->d_name);
    }
    if (all) {
        closedir(all);
    } else {
        close(fd);
    }
    return used;
}

int joined_is_used(void)
{
    int used = is_used(AT_FDCWD);
    if (used < 0) {
        report("cannot tell who shares its network: %s", strerror(errno));
    }
    return used;
}

/* True: there is a container, or what is kept of it for others. */
static bool may_enter(int dir)
{
    return faccessat(dir, "note", F_OK, 0) == 0 ||
           (faccessat(dir, "kept", F_OK, 0) == 0 && is_used(dir) > 0);
}

static int enter(int dir, const char *me)
{
    char path[300];
    snprintf(path, sizeof(path), "users/%.256s", me);
    if (mkdirat(dir, "users", 0700) < 0 && errno != EEXIST) {
        return -1;
    }
    int fd = openat(dir, path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
    }
    return fd < 0 ? -1 : 0;
}

int joined_enter(const char *guid)
{
    char path[PATH_MAX];
    const char *me = own_name(path, sizeof(path));
    int fd = lock_other(guid);
    if (fd < 0 || !may_enter(fd)) {
        report("container %s, whose network it is to join, is not there", guid);
    } else if (!me || enter(fd, me) < 0) {
        report("cannot join the network of container %s: %s", guid, strerror(errno));
    } else {
        close(fd);
        return 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

/* In the other's directory, which nobody uses any more and whose container has gone. */
static int take_away(const struct options *o, const char *guid)
{
    int parent = open("..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = parent >= 0 && shim_detach(o) ? delete_tree(parent, guid) : -1;
    if (parent >= 0) {
        close(parent);
    }
    return result;
}

static int leave(const struct options *o, int other, const char *guid, const char *me)
{
    char path[300];
    snprintf(path, sizeof(path), "users/%.256s", me);
    if (unlinkat(other, path, 0) < 0 && errno != ENOENT) {
        report("cannot leave the network of container %s: %s", guid, strerror(errno));
        return -1;
    }
    bool alone = faccessat(other, "kept", F_OK, 0) == 0 && faccessat(other, "note", F_OK, 0) < 0;
    int used = alone ? is_used(other) : 1;
    if (used != 0) {
        return used > 0 ? 0 : -1;
    }
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = here >= 0 && fchdir(other) == 0 ? take_away(o, guid) : -1;
    if (here >= 0) {
        result = fchdir(here) < 0 ? -1 : result;
        close(here);
    }
    return result;
}

int joined_leave(const struct options *o)
{
    char guid[300], path[PATH_MAX];
    const char *me = own_name(path, sizeof(path));
    if (!me || identity_slurp(AT_FDCWD, "join", guid, sizeof(guid)) <= 0) {
        return 0;
    }
    int other = lock_other(guid);
    if (other < 0) {
        return errno == ENOENT ? 0 : -1;
    }
    int result = leave(o, other, guid, me);
    close(other);
    return result;
}

/* What belongs to the network, and what those who join it have copies of. */
static bool is_of_network(const char *name)
{
    static const char *const names[] = {".",       "..",      "network.json", "network.result",
                                        "netns",   "address", "hosts",        "resolv.conf",
                                        "users",   "kept"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

int joined_keep(void)
{
    if (rename("note", "kept") < 0 && errno != ENOENT) {
        report("cannot rename its note: %s", strerror(errno));
        return -1;
    }
    DIR *all = opendir(".");
    int result = all ? 0 : -1;
    for (struct dirent *e; all && (e = readdir(all));) {
        bool gone = is_of_network(e->d_name) || unlink(e->d_name) == 0 || errno == ENOENT;
        if (!gone && delete_tree(dirfd(all), e->d_name) < 0) {
            report("cannot delete its %s: %s", e->d_name, strerror(errno));
            result = -1;
        }
    }
    if (all) {
        closedir(all);
    }
    return result;
}
