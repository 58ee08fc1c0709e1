/* Mounts with other ids: a directory appears elsewhere with each user and group id moved by the
 * same amount, while the files stay as they are (mount_setattr(2), Linux 5.12; below an overlay
 * 5.19). */
#include "rep/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of <linux/mount.h>, which does not go together with <sys/mount.h> in every C library. */
enum {
    TREE_CLONE = 1,
    TREE_CLOEXEC = O_CLOEXEC,
    MOVE_FROM_FD = 4, /* MOVE_MOUNT_F_EMPTY_PATH */
    ATTRIBUTE_READONLY = 0x1,
    ATTRIBUTE_MAPPED = 0x100000, /* MOUNT_ATTR_IDMAP */
};

/* Of <linux/nsfs.h>, which is not there for every C library. */
#define USERS_OF_SPACE _IO(0xb7, 0x1) /* NS_GET_USERNS */

/* Of <linux/openat2.h>, which is not there for every C library. */
enum { RESOLVE_WITHOUT_LINKS = 0x04, RESOLVE_UNDER = 0x08 };

struct how {
    uint64_t flags, mode, resolve;
};

struct attributes {
    uint64_t set, clear, propagation, user_namespace;
};

/* A process of a user namespace of its own, that waits to be killed. */
static pid_t namespace_process(void)
{
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
    while (pid == 0) {
        pause();
    }
    return pid;
}

static int write_map(pid_t pid, const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
    int saved = errno;
    if (fd >= 0) {
        close(fd);
    }
    errno = saved;
    return n < 0 ? -1 : 0;
}

/* A user namespace with these ids, as a descriptor: the kernel takes maps in no other form. -1 with
 * errno. */
static int user_namespace(long long first)
{
    char text[64];
    pid_t pid = namespace_process();
    if (pid < 0) {
        return -1;
    }
    snprintf(text, sizeof(text), "0 %lld %d\n", first, SHIM_IDS);
    int fd = -1;
    if (write_map(pid, "uid_map", text) == 0 && write_map(pid, "gid_map", text) == 0) {
        snprintf(text, sizeof(text), "/proc/%ld/ns/user", (long)pid);
        fd = open(text, O_RDONLY | O_CLOEXEC);
    }
    int saved = errno;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    errno = saved;
    return fd;
}

static int map(int tree, long long first, bool readonly)
{
    int space = user_namespace(first);
    struct attributes a = {
        .set = ATTRIBUTE_MAPPED | (readonly ? (uint64_t)ATTRIBUTE_READONLY : 0),
        .user_namespace = (uint64_t)space,
    };
    if (space < 0) {
        return -1;
    }
    long result = syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &a, sizeof(a));
    int saved = errno;
    close(space);
    errno = saved;
    return (int)result;
}

static int attach(int tree, const char *target)
{
    return (int)syscall(SYS_move_mount, tree, "", AT_FDCWD, target, MOVE_FROM_FD);
}

/* Whoever may write into the base must not lead elsewhere: no link is followed, and nothing above
 * it is reached. */
static int open_below(const char *base, const char *below)
{
    struct how how = {
        .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
        .resolve = RESOLVE_UNDER | RESOLVE_WITHOUT_LINKS,
    };
    const char *name = *below ? below : ".";
    int parent = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = parent < 0 ? -1 : (int)syscall(SYS_openat2, parent, name, &how, sizeof(how));
    int saved = errno;
    if (parent >= 0) {
        close(parent);
    }
    errno = saved;
    return fd;
}

int mount_below(const char *base, const char *below, const char *target, long long first)
{
    int fd = open_below(base, below);
    int tree = fd < 0 ? -1
                      : (int)syscall(SYS_open_tree, fd, "",
                                     TREE_CLONE | TREE_CLOEXEC | AT_EMPTY_PATH);
    int result = tree < 0 ? -1 : first > 0 ? map(tree, first, false) : 0;
    result = result < 0 ? result : attach(tree, target);
    int saved = errno;
    if (tree >= 0) {
        close(tree);
    }
    if (fd >= 0) {
        close(fd);
    }
    errno = saved;
    return result;
}

int mount_mapped(const char *source, const char *target, long long first, bool readonly)
{
    int tree = (int)syscall(SYS_open_tree, AT_FDCWD, source,
                            TREE_CLONE | TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
    long result = tree < 0 ? -1 : map(tree, first, readonly);
    if (result == 0 && target) {
        result = attach(tree, target);
    }
    if (result < 0) {
        report("cannot mount %s with the ids of a container: %s", source, strerror(errno));
    }
    if (tree >= 0) {
        close(tree);
    }
    return (int)result;
}

/* What is unmounted outside goes here as well, so that nothing is kept from being deleted. */
int mount_root_at(const char *path)
{
    if ((mkdir(path, 0755) < 0 && errno != EEXIST) || unshare(CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0) {
        return -1;
    }
    return mount("rootfs", path, NULL, MS_BIND, NULL);
}

int mount_bound(const struct options *o)
{
    int result = o->bounds == 0 || mkdir("bound", 0755) == 0 || errno == EEXIST ? 0 : -1;
    for (int i = 0; result == 0 && i < o->bounds; i++) {
        char name[32];
        snprintf(name, sizeof(name), "bound/%d", i);
        if (mkdir(name, 0755) < 0 && errno != EEXIST) {
            return -1;
        }
        result = mount_mapped(o->bound[i], name, o->ids, true);
    }
    return result;
}

static int user_namespace_of(const char *network)
{
    int fd = open(network, O_RDONLY | O_CLOEXEC);
    int users = fd < 0 ? -1 : ioctl(fd, USERS_OF_SPACE);
    int saved = errno;
    if (fd >= 0) {
        close(fd);
    }
    errno = saved;
    return users;
}

int mount_users_of(const char *network)
{
    char from[48];
    int users = user_namespace_of(network);
    int file = open("userns", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    snprintf(from, sizeof(from), "/proc/self/fd/%d", users);
    int result = users < 0 || file < 0 ? -1 : mount(from, "userns", NULL, MS_BIND, NULL);
    int saved = errno;
    if (users >= 0) {
        close(users);
    }
    if (file >= 0) {
        close(file);
    }
    errno = saved;
    return result;
}
