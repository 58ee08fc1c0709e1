#include "rep/courier/confine_io.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILES_MAX = 64 };

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

bool confine_by_root(void)
{
    return geteuid() == 0;
}

static int refused(const char *what, struct err *err)
{
    return err_set(err, ERR_IO, "cannot %s: %s", what, strerror(errno));
}

int confine_enter(int root, struct err *err)
{
    if (fchdir(root) < 0) {
        return refused("enter the container's root", err);
    }
    if (confine_by_root() && (chroot(".") < 0 || chdir("/") < 0)) {
        return refused("make the container's root its own", err);
    }
    return 0;
}

/* Root that stays root (in a container that shares the cell's ids): it may write any file of the
 * container, and nothing else of what root may. */
static int keep_few_capabilities(struct err *err)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    unsigned few = 1u << CAP_DAC_OVERRIDE | 1u << CAP_FOWNER | 1u << CAP_FSETID;
    struct __user_cap_data_struct data[2] = {{.effective = few, .permitted = few}};
    return syscall(SYS_capset, &head, data) < 0 ? refused("drop capabilities", err) : 0;
}

static int take_user(const struct confinement *c, struct err *err)
{
    if (!confine_by_root()) {
        return 0;
    }
    if (setgroups(0, NULL) < 0 || setresgid(c->gid, c->gid, c->gid) < 0 ||
        setresuid(c->uid, c->uid, c->uid) < 0) {
        return refused("take the user", err);
    }
    return c->uid == 0 ? keep_few_capabilities(err) : 0;
}

static int limit(int what, int64_t most, struct err *err)
{
    struct rlimit l;
    if (getrlimit((__rlimit_resource_t)what, &l) < 0) {
        return refused("ask for a limit", err);
    }
    l.rlim_max = l.rlim_max > (rlim_t)most ? (rlim_t)most : l.rlim_max;
    l.rlim_cur = l.rlim_max;
    return setrlimit((__rlimit_resource_t)what, &l) < 0 ? refused("set a limit", err) : 0;
}

static int set_limits(const struct confinement *c, struct err *err)
{
    const struct {
        int what;
        int64_t most;
    } rows[] = {
        {RLIMIT_CORE, 0},
        {RLIMIT_NOFILE, FILES_MAX},
        {RLIMIT_FSIZE, c->file_bytes},
#ifndef SANITIZED /* a sanitizer reserves terabytes */
        {RLIMIT_AS, c->memory_bytes},
#endif
    };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
        rc = limit(rows[i].what, rows[i].most, err);
    }
    return rc;
}

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* No library of a hostile root can be loaded (as character sets are, unasked), no program run, no
 * socket made, no process touched. */
static int filter_calls(struct err *err)
{
#ifdef OWN_ARCHITECTURE
#define FIELD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define REFUSE(call)                                                                               \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1),                                             \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
/* With PROT_EXEC in its third argument. */
#define REFUSE_CODE(call)                                                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 4), FIELD(args[2]),                             \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),                                     \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), FIELD(nr)
    enum { X32_CALLS = 0x40000000 };
    struct sock_filter calls[] = {
        FIELD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        FIELD(nr),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        REFUSE_CODE(SYS_mmap),
        REFUSE_CODE(SYS_mprotect),
        REFUSE(SYS_execve),
        REFUSE(SYS_execveat),
        REFUSE(SYS_ptrace),
        REFUSE(SYS_process_vm_writev),
        REFUSE(SYS_mount),
        REFUSE(SYS_socket),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(calls) / sizeof(calls[0]), .filter = calls};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 && errno != ENOSYS &&
        errno != EINVAL) { /* those: a kernel without it */
        return refused("filter its system calls", err);
    }
#else
    (void)err;
#endif
    return 0;
}

int confine_drop(const struct confinement *c, struct err *err)
{
    pid_t parent = getppid();
    int rc = set_limits(c, err);
    if (rc == 0) {
        rc = take_user(c, err);
    }
    if (rc == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
        rc = refused("give up new privileges", err);
    }
    if (rc == 0 && !c->network) {
        rc = filter_calls(err);
    }
    prctl(PR_SET_DUMPABLE, 0);        /* what it holds is nobody's to read */
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* taking a user has undone it */
    if (getppid() != parent) {
        _exit(1);
    }
    return rc;
}
