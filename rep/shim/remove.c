/* remove: ends whatever there is of a container, in an order that leaves nothing behind, and can be
 * repeated from any point. With --bury the directory stays and gets a status: for a container
 * whose shim was killed. */
#include "rep/shim/identity.h"
#include "rep/shim/shim.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>

/* Tells the shim to end its container and waits for it; a shim that does not is killed. */
static void end_shim(void)
{
    struct identity id;
    int fd = identity_read(AT_FDCWD, "shim.pid", &id) < 0 ? -1 : identity_open(&id);
    if (fd < 0) {
        return;
    }
    identity_signal(fd, SHIM_END_SIGNAL);
    if (!wait_pidfd(fd, SHIM_END_MS)) {
        identity_signal(fd, SIGKILL);
        wait_pidfd(fd, SHIM_END_MS);
    }
    close(fd);
}

/* A process that is just becoming another program shows no environment, hence no mark: none must be
 * found several times in a row. */
static void end_marked(const struct options *o)
{
    enum { ROUNDS = 100, CLEAN_ROUNDS = 4, PAUSE_MS = 10 };
    for (int i = 0, clean = 0; i < ROUNDS && clean < CLEAN_ROUNDS; i++) {
        clean = kill_marked(o->mark) > 0 ? 0 : clean + 1;
        poll(NULL, 0, PAUSE_MS);
    }
}

/* What outlived its shim. */
static void end_first(const struct options *o)
{
    struct identity id;
    int fd = identity_read(AT_FDCWD, "pid", &id) < 0 ? -1 : identity_open(&id);
    if (fd >= 0) {
        identity_signal(fd, SIGKILL);
        wait_pidfd(fd, SHIM_END_MS);
        close(fd);
    }
    if (o->mark && access("status", F_OK) < 0 && access("shim.pid", F_OK) == 0) {
        end_marked(o);
    }
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

static int bury(const struct options *o)
{
    struct outcome e = {.signal = SIGKILL, .text = o->bury};
    if (access("status", F_OK) == 0 || status_write(&e) == 0) {
        return 0;
    }
    report("status: %s", strerror(errno));
    return 1;
}

/* Whether its status says that it never ran. */
static bool never_ran(void)
{
    char text[64];
    return identity_slurp(AT_FDCWD, "status", text, sizeof(text)) > 0 &&
           strncmp(text, "code -1\n", 8) == 0;
}

/* The runtime forgets it. Before a shim noted itself it cannot have heard of it; and one that could
 * not start it need not be able to delete it (a probe tries such ones). */
static bool forget(const struct options *o)
{
    return !o->command || access("shim.pid", F_OK) < 0 ||
           run_command((const char *const *)o->command) == 0 || never_ran();
}

/* What a runtime that was killed left in its directory. For a moment runc has a copy of itself
 * mounted there, which it cannot delete later. */
static int clear_runtime(const struct options *o)
{
    char path[4096];
    int root = open(o->runtime_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = openat(root, o->guid, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int result = 0;
    for (struct dirent *e; dir && result == 0 && (e = readdir(dir));) {
        bool own = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
        snprintf(path, sizeof(path), "%s/%s/%s", o->runtime_root, o->guid, e->d_name);
        result = own ? unmount(path) : 0;
    }
    if (dir) {
        closedir(dir);
    }
    if (result == 0 && root >= 0) {
        result = delete_tree(root, o->guid); /* which says itself what it could not */
    }
    if (root >= 0) {
        close(root);
    }
    return result;
}

int shim_remove(const struct options *o)
{
    if (directory_lock() < 0) {
        report("cannot lock the directory of %s: %s", o->guid, strerror(errno));
        return 1;
    }
    if (o->unfinished && access("note", F_OK) == 0) {
        return 0;
    }
    end_shim();
    end_first(o);
    if (!forget(o)) {
        return 1;
    }
    if (o->runtime_root && clear_runtime(o) < 0) {
        return 1;
    }
    if (o->cgroup && cgroup_remove(o->cgroup) < 0) {
        return 1;
    }
    if (o->bury) {
        return bury(o);
    }
    if (unmount("rootfs") < 0 || unmount("disk") < 0) {
        return 1;
    }
    unlink("note"); /* from here on it is a leftover, no container */
    if (o->keep && rmdir("log") < 0) { /* it wrote something, and needs no room to be kept */
        rename("log", o->keep);
    }
    int parent = open("..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0 || delete_tree(parent, o->guid) < 0) {
        report("cannot delete the directory of %s: %s", o->guid, strerror(errno));
        return 1;
    }
    return 0;
}
