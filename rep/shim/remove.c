/* remove: ends whatever there is of a container, in an order that leaves nothing behind, and can be
 * repeated from any point. What cannot be told now, for want of descriptors or memory, ends it
 * early with a report: to take it for gone would delete the directory of what runs. With --bury the
 * directory stays and gets a status: for a container whose shim was killed. */
#include "rep/shim/identity.h"
#include "rep/shim/shim.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>

static int untold(const char *what)
{
    report("cannot tell %s: %s", what, strerror(errno));
    return -1;
}

/* A descriptor of who is noted in the file; *ret_fd -1: nobody, or he has gone. -1 after a report
 * when that cannot be told now. */
static int open_noted(const char *file, const char *what, int *ret_fd)
{
    struct identity id;
    *ret_fd = identity_read(AT_FDCWD, file, &id) < 0 ? -1 : identity_open(&id);
    return *ret_fd < 0 && identity_untold(errno) ? untold(what) : 0;
}

/* Tells the shim to end its container and waits for it; a shim that does not is killed. */
static int end_shim(const char *file)
{
    int fd;
    if (open_noted(file, "whether its shim lives", &fd) < 0) {
        return -1;
    }
    if (fd < 0) {
        return 0;
    }
    identity_signal(fd, SHIM_END_SIGNAL);
    if (!wait_pidfd(fd, SHIM_END_MS)) {
        identity_signal(fd, SIGKILL);
        wait_pidfd(fd, SHIM_END_MS);
    }
    close(fd);
    return 0;
}

static void tell_steps(void)
{
    DIR *all = opendir("steps");
    for (struct dirent *e; all && (e = readdir(all));) {
        char file[300];
        struct identity id;
        snprintf(file, sizeof(file), "steps/%s/shim.pid", e->d_name);
        int fd = e->d_name[0] == '.' || identity_read(AT_FDCWD, file, &id) < 0
                     ? -1
                     : identity_open(&id);
        if (fd >= 0) {
            identity_signal(fd, SHIM_END_SIGNAL);
            close(fd);
        }
    }
    if (all) {
        closedir(all);
    }
}

/* The same for each of its steps: all of them are told, and then each is waited for. */
static int end_steps(void)
{
    tell_steps();
    DIR *all = opendir("steps");
    int result = !all && identity_untold(errno) ? untold("which steps it has") : 0;
    for (struct dirent *e; all && result == 0 && (e = readdir(all));) {
        char file[300];
        snprintf(file, sizeof(file), "steps/%s/shim.pid", e->d_name);
        result = e->d_name[0] == '.' ? 0 : end_shim(file);
    }
    if (all) {
        closedir(all);
    }
    return result;
}

/* A process that is just becoming another program shows no environment, hence no mark: none must be
 * found several times in a row. */
static int end_marked(const struct options *o)
{
    enum { ROUNDS = 100, CLEAN_ROUNDS = 4, PAUSE_MS = 10 };
    int clean = 0, found = 0;
    for (int i = 0; i < ROUNDS && clean < CLEAN_ROUNDS; i++) {
        found = kill_marked(o->mark);
        clean = found != 0 ? 0 : clean + 1;
        poll(NULL, 0, PAUSE_MS);
    }
    return found < 0 ? untold("which processes are its own") : 0;
}

/* What outlived its shim. */
static int end_first(const struct options *o)
{
    int fd;
    if (open_noted("pid", "whether its first process lives", &fd) < 0) {
        return -1;
    }
    if (fd >= 0) {
        identity_signal(fd, SIGKILL);
        wait_pidfd(fd, SHIM_END_MS);
        close(fd);
    }
    bool strays = o->mark && access("status", F_OK) < 0 && access("shim.pid", F_OK) == 0;
    return strays ? end_marked(o) : 0;
}

static int unmount(const char *path)
{
    while (umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0) {
    }
    if (errno != EINVAL && errno != ENOENT && errno != EPERM) {
        report("cannot unmount %s: %s", path, strerror(errno));
        return -1;
    }
    return 0;
}

/* What stands there is a mount, or something else. */
static int unmount_all_in(const char *name)
{
    DIR *all = opendir(name);
    int result = !all && identity_untold(errno) ? untold("what is mounted in its directory") : 0;
    for (struct dirent *e; all && result == 0 && (e = readdir(all));) {
        char path[300];
        snprintf(path, sizeof(path), "%s/%s", name, e->d_name);
        result = e->d_name[0] == '.' ? 0 : unmount(path);
    }
    if (all) {
        closedir(all);
    }
    return result;
}

static int bury(const struct options *o)
{
    struct outcome e = {.signal = SIGKILL, .text = o->bury};
    if (access("status", F_OK) == 0 || status_write(&e) == 0) {
        return 0;
    }
    report("status: %s", strerror(errno));
    return 1;
}

/* The runtime forgets it. Before a shim noted itself it cannot have heard of it. One that hangs or
 * fails is passed by: what it was to do is done below, by the control groups and by its
 * directory. */
static void forget(const struct options *o)
{
    if (o->command && access("shim.pid", F_OK) == 0) {
        run_command_within((const char *const *)o->command, SHIM_RUNTIME_MS);
    }
}

/* What a runtime that was killed left in its directory. For a moment runc has a copy of itself
 * mounted there, which it cannot delete later. */
static int clear_runtime(const struct options *o)
{
    char path[4096];
    int root = open(o->runtime_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = root < 0 ? -1 : openat(root, o->guid, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int result = !dir && identity_untold(errno) ? untold("what its runtime left") : 0;
    for (struct dirent *e; dir && result == 0 && (e = readdir(dir));) {
        bool own = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
        snprintf(path, sizeof(path), "%s/%s/%s", o->runtime_root, o->guid, e->d_name);
        result = own ? unmount(path) : 0;
    }
    if (dir) {
        closedir(dir);
    } else if (fd >= 0) {
        close(fd);
    }
    if (result == 0 && root >= 0) {
        result = delete_tree(root, o->guid); /* which says itself what it could not */
    }
    if (root >= 0) {
        close(root);
    }
    return result;
}

bool shim_detach(const struct options *o)
{
    const char *const command[] = {o->network, "detach", NULL};
    return !o->network || access("network.json", F_OK) < 0 || run_command(command) == 0;
}

/* The note as it is, on the disk before it goes here; one that has gone was kept before, or never
 * was. */
static int keep_note(const char *to)
{
    char path[4096];
    const char *slash = strrchr(to, '/');
    if (access("note", F_OK) < 0) {
        return 0;
    }
    snprintf(path, sizeof(path), "%.*s", slash ? (int)(slash - to) : 0, to);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = open("note", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int result = dir < 0 || fd < 0 || fdatasync(fd) < 0 ? -1 : 0;
    if (result == 0 && unlink(to) < 0 && errno != ENOENT) {
        result = -1;
    }
    if (result < 0 || link("note", to) < 0 || fsync(dir) < 0) {
        report("cannot keep the note as %s: %s", to, strerror(errno));
        result = -1;
    }
    close(dir);
    close(fd);
    return result;
}

int shim_remove(const struct options *o)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (directory_lock() < 0) {
        report("cannot lock the directory of %s: %s", o->guid, strerror(errno));
        return 1;
    }
    if (o->unfinished && access("note", F_OK) == 0) {
        return 0;
    }
    if (end_shim("shim.pid") < 0 || end_steps() < 0 || end_first(o) < 0) {
        return 1;
    }
    forget(o);
    if (o->runtime_root && clear_runtime(o) < 0) {
        return 1;
    }
    if (o->cgroup && cgroup_remove(o->cgroup) < 0) {
        return 1;
    }
    if (o->bury) {
        return bury(o);
    }
    int used = joined_is_used(); /* nobody comes or goes while this has the lock */
    if (used < 0 || (used == 0 && !shim_detach(o)) || unmount("rootfs") < 0 ||
        unmount_all_in("lower") < 0 || unmount_all_in("volumes") < 0 || unmount("disk") < 0 ||
        joined_leave(o) < 0) {
        return 1;
    }
    int parent = open("..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0) {
        report("cannot open the directory above that of %s: %s", o->guid, strerror(errno));
        return 1;
    }
    if (o->keep && rmdir("log") < 0) { /* it wrote something, and needs no room to be kept */
        rename("log", o->keep); /* while it is a container: of a leftover nothing is kept */
    }
    if (o->uses && unlink(o->uses) < 0 && errno != ENOENT) {
        report("cannot delete %s: %s", o->uses, strerror(errno));
        return 1;
    }
    if (o->keep_note && keep_note(o->keep_note) < 0) {
        close(parent);
        return 1;
    }
    if (used > 0) {
        close(parent);
        return joined_keep() < 0;
    }
    unlink("note"); /* from here on it is a leftover */
    if (delete_tree(parent, o->guid) < 0) {
        report("cannot delete the directory of %s: %s", o->guid, strerror(errno));
        return 1;
    }
    return 0;
}
