/* Runs in a container as its root, and tries what must not be possible there. One line each: what
 * was tried, and "done" or the number of the error. Built static, for any root filesystem.
 *
 *   break-out NEIGHBOUR   the process id, as the cell has it, of a process outside */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static long neighbour;

static long open_to_write(const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        close(fd);
    }
    return fd;
}

static long try_mount(void)
{
    return mount("none", "/tmp", "tmpfs", 0, NULL);
}

static long try_remount(void)
{
    return mount(NULL, "/sys", NULL, MS_REMOUNT | MS_BIND, NULL);
}

static long try_neighbour_signal(void)
{
    return kill((pid_t)neighbour, 0);
}

static long try_neighbour_trace(void)
{
    return ptrace(PTRACE_ATTACH, (pid_t)neighbour, NULL, NULL);
}

static long try_settings(void)
{
    return open_to_write("/proc/sys/kernel/core_pattern");
}

static long try_sysrq(void)
{
    return open_to_write("/proc/sysrq-trigger");
}

static long try_module(void)
{
    long result = syscall(SYS_delete_module, "no_such_module", 0);
    return result < 0 && errno == ENOENT ? 0 : result; /* it was asked for, and is not there */
}

/* The cell's root has a key of this name (the trial made it). */
static long try_key(void)
{
    enum { SEARCH = 10, OF_USER = -4 };
    return syscall(SYS_keyctl, SEARCH, OF_USER, "user", "corkboard-trial", 0);
}

static long try_device(void)
{
    struct stat st;
    long result = mknod("/disk", S_IFBLK | 0600, makedev(7, 0));
    if (result == 0 && stat("/disk", &st) == 0) {
        unlink("/disk");
    }
    return result;
}

static long try_memory(void)
{
    return open_to_write("/dev/mem");
}

static long try_handle(void)
{
    char handle[sizeof(struct file_handle) + 8];
    struct file_handle *h = (struct file_handle *)handle;
    int root = open("/", O_RDONLY | O_CLOEXEC);
    memset(handle, 0, sizeof(handle));
    h->handle_bytes = 8;
    h->handle_type = 1;
    long result = syscall(SYS_open_by_handle_at, root, h, O_RDONLY);
    return result < 0 && errno == ESTALE ? 0 : result; /* it was looked for */
}

static long try_shared_file(void)
{
    return open_to_write("/dev/init");
}

static long try_reboot(void)
{
    enum { MAGIC = 0xfee1dead, MAGIC_TOO = 672274793, KEYS_OFF = 0 };
    return syscall(SYS_reboot, MAGIC, MAGIC_TOO, KEYS_OFF, NULL);
}

static long try_host_name(void)
{
    return sethostname("other", 5);
}

static long try_events(void)
{
    long result = syscall(SYS_bpf, 0, NULL, 0);
    return result < 0 && (errno == EINVAL || errno == EFAULT || errno == E2BIG) ? 0 : result;
}

static long try_groups(void)
{
    return chdir("/sys/fs/cgroup") < 0 ? -1 : access("cgroup.procs", F_OK) == 0 ||
               access("memory", F_OK) == 0 ? 0 : (errno = ENOENT, -1);
}

static const struct attempt {
    const char *name;
    long (*attempt)(void);
} attempts[] = {
    {"mount", try_mount},
    {"remount", try_remount},
    {"neighbour-signal", try_neighbour_signal},
    {"neighbour-trace", try_neighbour_trace},
    {"settings", try_settings},
    {"sysrq", try_sysrq},
    {"module", try_module},
    {"key", try_key},
    {"device", try_device},
    {"memory", try_memory},
    {"handle", try_handle},
    {"shared-file", try_shared_file},
    {"reboot", try_reboot},
    {"host-name", try_host_name},
    {"bpf", try_events},
    {"groups", try_groups},
};

int main(int argc, char **argv)
{
    neighbour = argc > 1 ? atol(argv[1]) : 1;
    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
        errno = 0;
        if (attempts[i].attempt() >= 0) {
            printf("%s done\n", attempts[i].name);
        } else {
            printf("%s %d\n", attempts[i].name, errno);
        }
    }
    return 0;
}
