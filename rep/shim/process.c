/* Processes: the command of a shim, the children of a subreaper, strays of a dead shim. */
#include "rep/shim/identity.h"
#include "rep/shim/shim.h"

#include <dirent.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void ordinary_signals(void)
{
    sigset_t none;
    for (int i = 1; i < 32; i++) {
        signal(i, SIG_DFL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int set_groups(const char *list)
{
    gid_t groups[64];
    size_t count = 0;
    while (list && *list && count < 64) {
        char *end;
        groups[count++] = (gid_t)strtoul(list, &end, 10);
        list = *end == ',' ? end + 1 : end;
    }
    return setgroups(count, groups);
}

/* To that many (0: unchanged), at most to the own hard limit. */
static int limit(int what, long long most)
{
    struct rlimit l;
    if (most <= 0 || getrlimit(what, &l) < 0) {
        return 0;
    }
    if ((rlim_t)most < l.rlim_max) {
        l.rlim_max = (rlim_t)most;
    }
    l.rlim_cur = l.rlim_max;
    return setrlimit(what, &l);
}

/* In the child of a shim with --process. Gives what went wrong, with errno; NULL: nothing. */
static const char *become_program(const struct options *o)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (limit(RLIMIT_NOFILE, o->nofile) < 0) {
        return "cannot set its limit of open files";
    }
    if (limit(RLIMIT_NPROC, o->nproc) < 0) {
        return "cannot set its limit of processes";
    }
    if (o->home && chdir(o->home) < 0) {
        return "cannot enter its own directory";
    }
    gid_t gid = (gid_t)o->gid;
    uid_t uid = (uid_t)o->uid;
    if (o->uid >= 0 && (set_groups(o->groups) < 0 || setresgid(gid, gid, gid) < 0 ||
                        setresuid(uid, uid, uid) < 0)) {
        return "cannot take its user";
    }
    /* A change of user clears it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (o->cwd && chdir(o->cwd) < 0) {
        static char why[512];
        int saved = errno;
        snprintf(why, sizeof(why), "cannot enter its directory %s", o->cwd);
        errno = saved;
        return why;
    }
    return NULL;
}

/* Forks the command with stdout and stderr at `out` and `err`. When it cannot be run, a sentence
 * goes to `failure`, which is closed by a successful exec. Gives the process id. */
long spawn(const struct options *o, int out, int err, int failure)
{
    pid_t pid = fork();
    if (pid != 0) {
        return pid;
    }
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(out, 1);
    dup2(err, 2);
    close(null);
    ordinary_signals();
    umask(022); /* not that of who started the rep: of a runtime's `exec` the program inherits it */
    const char *why = o->process ? become_program(o) : NULL;
    if (o->root_at && mount_root_at(o->root_at) < 0) {
        why = "cannot mount the root filesystem for it";
    } else if (mount_bound(o) < 0) {
        why = "cannot mount what was brought for it";
    } else if (o->users_of && mount_users_of(o->users_of) < 0) {
        why = "cannot tell whose the network is that it joins";
    }
    if (!why) {
        execvp(o->command[0], o->command);
        why = "cannot run it";
    }
    dprintf(failure, "%s: %s: %s", o->command[0], why, strerror(errno));
    _exit(127);
}

bool wait_pidfd(int pidfd, int timeout_ms)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    return poll(&p, 1, timeout_ms) > 0;
}

static bool status_of(long pid, char *text, size_t size)
{
    char path[48];
    snprintf(path, sizeof(path), "/proc/%ld/status", pid);
    return identity_slurp(AT_FDCWD, path, text, size) > 0;
}

/* Amid its becoming the init a process has no words at all, and before it has the runtime's. */
static bool is_program(long pid, const char *program)
{
    char path[48], words[4096];
    snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
    return identity_slurp(AT_FDCWD, path, words, sizeof(words)) > 0 && strcmp(words, program) == 0;
}

/* Whether it has ended, or is the init and takes SIGTERM. Which signals it takes is read after its
 * words: before them it would be the runtime's answer. */
static bool init_ready(long pid, const char *init)
{
    char text[4096];
    if (!status_of(pid, text, sizeof(text)) || strstr(text, "\nState:\tZ")) {
        return true;
    }
    if (!is_program(pid, init) || !status_of(pid, text, sizeof(text))) {
        return false;
    }
    const char *blocked = strstr(text, "\nSigBlk:"), *caught = strstr(text, "\nSigCgt:");
    uint64_t taken = (blocked ? strtoull(blocked + 8, NULL, 16) : 0) |
                     (caught ? strtoull(caught + 8, NULL, 16) : 0);
    return taken >> (SIGTERM - 1) & 1;
}

/* The kernel drops what is sent to the first process of a namespace until it has said that it wants
 * it. A runtime ends before that, and a container told to end at once would not hear it. */
void await_init(long pid, const char *init)
{
    for (int i = 0; i < SHIM_INIT_MS && !init_ready(pid, init); i++) {
        poll(NULL, 0, 1);
    }
}

/* Whoever the kernel names as a child of ours is unreaped, so its id is certain. */
static int kill_named(const char *text)
{
    int killed = 0;
    for (;;) {
        char *end;
        long pid = strtol(text, &end, 10);
        if (end == text || *end != ' ') { /* each number is followed by a blank, unless cut off */
            return killed;
        }
        kill((pid_t)pid, SIGKILL);
        killed++;
        text = end;
    }
}

void kill_children(void)
{
    enum { ROUNDS = 1000 }; /* against something that forks as fast as it is killed */
    char path[64], text[4096];
    snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
    for (int round = 0; round < ROUNDS; round++) {
        if (identity_slurp(AT_FDCWD, path, text, sizeof(text)) <= 0 || kill_named(text) == 0) {
            return;
        }
        waitpid(-1, NULL, 0);
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
    }
}

/* The mark stands first in the environment that the process driver gives. False with errno; 0: it
 * is not marked. */
static bool marked(long pid, const char *line, size_t size)
{
    char path[48], text[4096];
    snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
    ssize_t n = identity_slurp(AT_FDCWD, path, text, sizeof(text));
    for (const char *at = text; n > 0 && at < text + n; at += strlen(at) + 1) {
        if ((size_t)(text + n - at) >= size && memcmp(at, line, size) == 0) {
            return true;
        }
    }
    errno = n < 0 ? errno : 0;
    return false;
}

int kill_marked(const char *mark)
{
    char line[4096];
    int found = 0, error = 0;
    size_t size = (size_t)snprintf(line, sizeof(line), "CORKBOARD_CONTAINER=%s", mark) + 1;
    DIR *proc = opendir("/proc");
    error = proc ? 0 : errno;
    for (struct dirent *e; proc && (e = readdir(proc));) {
        long pid = atol(e->d_name);
        int fd = pid > 1 && pid != getpid() ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
        if (fd < 0) {
            error = pid > 1 && identity_untold(errno) ? errno : error;
            continue;
        }
        if (marked(pid, line, size)) {
            identity_signal(fd, SIGKILL);
            found++;
        } else {
            error = identity_untold(errno) ? errno : error;
        }
        close(fd);
    }
    if (proc) {
        closedir(proc);
    }
    errno = error;
    return error ? -1 : found;
}

static pid_t begin_command(const char *const *command)
{
    pid_t pid = fork();
    if (pid == 0) {
        ordinary_signals();
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* it works for us alone */
        dup2(SHIM_REPORT_FD, 1);
        dup2(SHIM_REPORT_FD, 2);
        execvp(command[0], (char *const *)(size_t)command); /* which leaves them alone */
        report("%s: cannot run it: %s", command[0], strerror(errno));
        _exit(127);
    }
    return pid;
}

static int end_command(pid_t pid)
{
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

int run_command(const char *const *command)
{
    return end_command(begin_command(command));
}

int run_command_within(const char *const *command, int timeout_ms)
{
    enum { KILLED_MS = 1000 };
    pid_t pid = begin_command(command);
    int fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    bool late = fd >= 0 && !wait_pidfd(fd, timeout_ms);
    if (late) {
        kill(pid, SIGKILL);
        if (wait_pidfd(fd, KILLED_MS)) { /* else it hangs in the kernel, and is left there */
            kill_children();
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return late ? -1 : end_command(pid);
}
