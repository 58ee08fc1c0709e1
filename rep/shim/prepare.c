/* prepare: the root filesystem of a container is an overlay over its lower directories (a preloaded
 * one, or the layers of an image), its upper layer in the container's own directory, or in a file
 * system of limited size there. */
#include "rep/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(const char *what)
{
    report("%s: %s", what, strerror(errno));
    return -1;
}

/* One of them becomes the container's "/", which every user in it must be able to enter whatever
 * the umask of who started the rep. */
static int make_dirs(const char *const *names)
{
    for (; *names; names++) {
        if ((mkdir(*names, 0755) < 0 && errno != EEXIST) || chmod(*names, 0755) < 0) {
            return refuse(*names);
        }
    }
    return 0;
}

/* A file of that size, occupying what is written only, with a file system in it. Neither journal
 * nor checks: nothing of it is looked at again after a crash of the machine. */
static int make_image(const struct options *o)
{
    int fd = open("disk.img", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)o->disk_mb << 20) < 0) {
        refuse("disk.img");
        close(fd);
        return -1;
    }
    close(fd);
    const char *const command[] = {
        o->mkfs, "-q", "-F", "-m", "0", "-O", "^has_journal,^resize_inode", "-E",
        "lazy_itable_init=1,nodiscard", "disk.img", NULL,
    };
    return run_command(command) == 0 ? 0 : -1;
}

/* Mounted by mount(8), which knows all about loop devices; the kernel gives the device back when
 * the last user has gone. */
static int mount_disk(const struct options *o)
{
    static const char *const dirs[] = {"disk", NULL};
    static const char *const layers[] = {"disk/upper", "disk/work", NULL};
    static const char *const command[] = {
        "mount", "-t", "ext4", "-o", "loop,noatime,noinit_itable", "disk.img", "disk", NULL,
    };
    if (make_dirs(dirs) < 0 || make_image(o) < 0 || run_command(command) != 0) {
        return -1;
    }
    return make_dirs(layers);
}

/* With a user namespace its root owns its "/". */
static int own_upper(const struct options *o)
{
    const char *upper = o->disk_mb > 0 ? "disk/upper" : "upper";
    uid_t root = (uid_t)o->ids;
    return o->ids && chown(upper, root, root) < 0 ? refuse(upper) : 0;
}

/* With a user namespace its files belong to the container's ids, and none of them is changed. */
static int name_lower(const struct options *o, const char *name, const char *lower)
{
    if (o->ids) {
        const char *const dirs[] = {name, NULL};
        return make_dirs(dirs) < 0 ? -1 : mount_mapped(lower, name, o->ids, true);
    }
    return symlink(lower, name) < 0 && errno != EEXIST ? refuse(name) : 0;
}

static int mount_volumes(const struct options *o)
{
    static const char *const dirs[] = {"volumes", NULL};
    int result = o->volumes > 0 ? make_dirs(dirs) : 0;
    for (int i = 0; result == 0 && i < o->volumes; i++) {
        char name[32];
        const char *const one[] = {name, NULL};
        snprintf(name, sizeof(name), "volumes/%d", i);
        result = make_dirs(one);
        if (result == 0 && mount_below(o->volume[i], o->below[i], name, o->ids) < 0) {
            report("failed to mount volume: %s/%s: %s", o->volume[i], o->below[i],
                   strerror(errno));
            result = -1;
        }
    }
    return result;
}

int shim_map(const struct options *o)
{
    return mount_mapped(o->lower[0], NULL, o->ids, true) < 0;
}

/* Each of them under a short name of this directory, lower/1 the uppermost: the options of a mount
 * have a page at most, and colons and commas mean something in them. */
static int name_lowers(const struct options *o)
{
    static const char *const dirs[] = {"lower", NULL};
    int result = make_dirs(dirs);
    for (int i = 0; result == 0 && i < o->lowers; i++) {
        char name[32];
        snprintf(name, sizeof(name), "lower/%d", i + 1);
        result = name_lower(o, name, o->lower[i]);
    }
    return result;
}

/* "volatile" spares the syncs: an upper layer does not outlive its container. Kernels before 5.10
 * do not know it. */
static int mount_overlay(const struct options *o)
{
    char data[2048];
    const char *at = o->disk_mb > 0 ? "disk/" : "";
    for (int plain = 0; plain < 2; plain++) {
        int n = snprintf(data, sizeof(data), "upperdir=%supper,workdir=%swork%s,lowerdir=", at, at,
                         plain ? "" : ",volatile");
        for (int i = 0; i < o->lowers; i++) {
            n += snprintf(data + n, sizeof(data) - (size_t)n, "%slower/%d", i ? ":" : "", i + 1);
        }
        if (mount("overlay", "rootfs", "overlay", 0, data) == 0) {
            return 0;
        }
    }
    report("cannot mount an overlay over %s: %s", o->lower[0], strerror(errno));
    return -1;
}

/* The note is the mark of a container that is whole: durable, then visible. */
static int publish_note(void)
{
    int fd = open("note.tmp", O_RDONLY | O_CLOEXEC);
    int result = fd < 0 || fdatasync(fd) < 0 ? -1 : 0;
    close(fd);
    if (result < 0 || rename("note.tmp", "note") < 0) {
        return refuse("note");
    }
    return 0;
}

/* Another note takes the place of the one before; it, and the change of names, are on the disk
 * before anybody hears of it. */
int shim_note(const struct options *o)
{
    int dir = directory_lock();
    int fd = open(o->note, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (dir < 0 || fd < 0 || fdatasync(fd) < 0 || rename(o->note, "note") < 0 || fsync(dir) < 0) {
        refuse("note");
        unlink(o->note);
        return 1;
    }
    return 0;
}

int shim_prepare(const struct options *o)
{
    static const char *const common[] = {"log", NULL};
    static const char *const layers[] = {"rootfs", "upper", "work", NULL};
    static const char *const limited[] = {"rootfs", NULL};
    if (directory_lock() < 0 || make_dirs(common) < 0) {
        return 1; /* which also gives the lock back */
    }
    if (o->join && joined_enter(o->join) < 0) {
        return 1;
    }
    if (o->lowers && (make_dirs(o->disk_mb > 0 ? limited : layers) < 0 ||
                      (o->disk_mb > 0 && mount_disk(o) < 0) || own_upper(o) < 0 ||
                      name_lowers(o) < 0 || mount_overlay(o) < 0)) {
        return 1;
    }
    if (mount_volumes(o) < 0) {
        return 1;
    }
    return publish_note() < 0;
}
