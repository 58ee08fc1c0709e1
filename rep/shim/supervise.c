/* run, exec and step: starts a command, pumps its output, waits for the container's first process
 * (or the one more process of an exec, or a step's) as its subreaper, and keeps how it ended. */
#include "rep/shim/identity.h"
#include "rep/shim/shim.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>

enum stage {
    STARTING, /* the command is the runtime, and still runs */
    RUNNING,  /* `first` is the process that counts */
    DRAINING, /* it ended; its output may not have */
};

enum { OUT, ERR, FAILURE, SIGNALS, FD_COUNT };

struct supervision {
    const struct options *o;
    enum shim_mode mode;
    enum stage stage;
    long command; /* process id of what was spawned */
    long first;   /* process id of what counts; 0: not known yet */
    bool told_to_end;
    bool told_to_term;
    long long oom_kills; /* in its control group before it began */
    struct outcome outcome;
    char text[SHIM_TEXT_BYTES]; /* why it failed to start */
    int fds[FD_COUNT];          /* -1: closed */
    struct shim_lines lines;
    int64_t unfinished_ms; /* since when a line of it has not ended; 0: all have */
    char *tail; /* the last output: of an exec, or of a runtime that may fail */
    size_t tail_size;
};

static void keep_tail(struct supervision *s, const char *data, size_t size)
{
    if (size > SHIM_TAIL_BYTES) {
        data += size - SHIM_TAIL_BYTES;
        size = SHIM_TAIL_BYTES;
    }
    size_t keep = s->tail_size + size > SHIM_TAIL_BYTES ? SHIM_TAIL_BYTES - size : s->tail_size;
    memmove(s->tail, s->tail + s->tail_size - keep, keep);
    memcpy(s->tail + keep, data, size);
    s->tail_size = keep + size;
}

static void take_output(struct supervision *s, int which, const char *data, size_t size)
{
    if (s->mode != SHIM_EXEC) {
        lines_take(&s->lines, which == ERR, data, size);
    }
    if (s->mode == SHIM_EXEC || s->o->tail || (s->stage == STARTING && which == ERR)) {
        keep_tail(s, data, size);
    }
}

/* Reads what is there now; closes at the end of file. */
static void pump(struct supervision *s, int which)
{
    static char chunk[SHIM_CHUNK_BYTES];
    ssize_t n = read(s->fds[which], chunk, sizeof(chunk));
    if (n > 0 && which == FAILURE) {
        snprintf(s->text, sizeof(s->text), "%.*s", (int)n, chunk);
    } else if (n > 0) {
        take_output(s, which, chunk, (size_t)n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(s->fds[which]);
        s->fds[which] = -1;
    }
}

/* Where the log says nothing (a runtime that cannot even be loaded), what it wrote to stderr. */
static void read_stderr(struct supervision *s, int status)
{
    if (s->fds[ERR] >= 0) {
        pump(s, ERR);
    }
    const char *how = WIFSIGNALED(status) ? "signal" : "code";
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    int size = (int)s->tail_size;
    while (size > 0 && s->tail[size - 1] == '\n') {
        size--;
    }
    snprintf(s->text, sizeof(s->text), "%s ended with %s %d and said: %.*s", s->o->command[0], how,
             number, size > 0 ? size : 7, size > 0 ? s->tail : "nothing");
    for (char *at = s->text; (at = strchr(at, '\n'));) {
        *at = ';';
    }
}

/* The runtime logs JSON lines; the last msg is the reason. Its escapes of quotes are undone. */
static void read_runtime_log(struct supervision *s, int status)
{
    static char log[8192];
    ssize_t n = s->o->runtime_log
                    ? identity_slurp(AT_FDCWD, s->o->runtime_log, log, sizeof(log))
                    : -1;
    const char *at = NULL;
    for (const char *next = n > 0 ? log : NULL; next && (next = strstr(next, "\"msg\":\""));) {
        at = next += 7;
    }
    size_t used = 0;
    for (; at && *at && *at != '"' && used + 1 < sizeof(s->text); at++) {
        if (*at == '\\' && at[1]) {
            at++;
        }
        s->text[used++] = *at;
    }
    s->text[used] = '\0';
    if (used == 0) {
        read_stderr(s, status);
    }
}

/* Notes who the first process is, so that a later rep finds it, and tells the rep of now. */
static bool started(struct supervision *s)
{
    struct identity id;
    char text[128];
    if (identity_of(s->first, &id) < 0) {
        return false;
    }
    int n = identity_print(&id, text, sizeof(text));
    if (s->mode != SHIM_EXEC) {
        file_replace("pid", text, (size_t)n, false);
        report("S %ld\n", s->first);
        report_end();
    } else {
        report("S\n");
    }
    s->stage = RUNNING;
    return true;
}

static void fail(struct supervision *s)
{
    s->outcome.text = s->text;
    s->outcome.code = -1;
    s->stage = DRAINING;
    report("F %s", s->text);
}

static void first_ended(struct supervision *s, int status)
{
    s->outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    s->outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    s->stage = DRAINING;
}

/* Our own child, not reaped: certainly it. Of a step, and of one more process, it is its whole
 * group, which is led by it. */
static void tell_first(struct supervision *s, int number)
{
    kill((pid_t)(s->mode == SHIM_RUN ? s->first : -s->first), number);
}

/* The runtime has ended: well, then its file tells the first process; or badly. */
static void runtime_ended(struct supervision *s, int status)
{
    char text[32];
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
        identity_slurp(AT_FDCWD, s->o->pid_file, text, sizeof(text)) > 0) {
        s->first = atol(text);
    }
    unlink(s->o->pid_file);
    if (s->first > 0 && s->o->init && !s->told_to_end) {
        await_init(s->first, s->o->init);
    }
    if (s->first > 0 && started(s)) {
        if (s->told_to_end || s->told_to_term) {
            tell_first(s, s->told_to_end ? SIGKILL : SIGTERM);
        }
        return;
    }
    if (s->told_to_end) {
        snprintf(s->text, sizeof(s->text), "it was told to end before it had started");
    } else {
        read_runtime_log(s, status);
    }
    fail(s);
}

/* Children are reaped one by one, by name while the runtime runs: the container's first process
 * may end before we know which it is, and must not be lost among others. */
static void reap(struct supervision *s)
{
    int status;
    if (s->stage == STARTING) {
        if (waitpid((pid_t)s->command, &status, WNOHANG) != s->command) {
            return;
        }
        runtime_ended(s, status);
    }
    siginfo_t info = {0};
    while (s->stage == RUNNING && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0) {
        if (info.si_pid == s->first && (s->o->process || s->mode == SHIM_EXEC)) {
            kill((pid_t)-s->first, SIGKILL); /* its group, while its id is still its own */
        }
        waitpid(info.si_pid, &status, 0);
        if (info.si_pid == s->first) {
            first_ended(s, status);
        }
        info.si_pid = 0;
    }
}

static void end_it(struct supervision *s)
{
    s->told_to_end = true;
    if (s->stage == STARTING) {
        kill((pid_t)s->command, SIGKILL);
    } else if (s->stage == RUNNING) {
        tell_first(s, SIGKILL);
    }
}

/* Before there is a process to hear it, it is kept for the one that comes. */
static void ask_it_to_end(struct supervision *s)
{
    s->told_to_term = true;
    if (s->stage == RUNNING) {
        tell_first(s, SIGTERM);
    }
}

static void take_signals(struct supervision *s)
{
    struct signalfd_siginfo info[8];
    ssize_t n = read(s->fds[SIGNALS], info, sizeof(info));
    for (ssize_t i = 0; i < n / (ssize_t)sizeof(info[0]); i++) {
        if (info[i].ssi_signo == SHIM_END_SIGNAL) {
            end_it(s);
        } else if (info[i].ssi_signo == SHIM_TERM_SIGNAL && s->mode == SHIM_STEP) {
            ask_it_to_end(s);
        }
    }
    reap(s);
}

static int open_signals(void)
{
    sigset_t set;
    for (int i = 1; i < 32; i++) {
        signal(i, i == SIGCHLD ? SIG_DFL : SIG_IGN);
    }
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SHIM_END_SIGNAL);
    sigaddset(&set, SHIM_TERM_SIGNAL);
    sigprocmask(SIG_SETMASK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Spawns the command with pipes to us; 0, or -1 when the system refused. */
static int begin(struct supervision *s)
{
    int pipes[3][2];
    s->fds[SIGNALS] = open_signals();
    for (int i = 0; i < 3; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) < 0) {
            return -1;
        }
        s->fds[i] = pipes[i][0];
        fcntl(s->fds[i], F_SETFL, O_NONBLOCK);
        if (s->o->ids && i != FAILURE) { /* else its own /dev/stdout would be closed to it */
            fchown(pipes[i][1], (uid_t)s->o->ids, (gid_t)s->o->ids);
        }
    }
    s->command = spawn(s->o, pipes[OUT][1], pipes[ERR][1], pipes[FAILURE][1]);
    for (int i = 0; i < 3; i++) {
        close(pipes[i][1]);
    }
    return s->command < 0 ? -1 : 0;
}

/* A program of our own either runs or tells why not, before anything else happens. */
static void await_program(struct supervision *s)
{
    struct pollfd p = {.fd = s->fds[FAILURE], .events = POLLIN};
    int status;
    while (s->fds[FAILURE] >= 0) {
        poll(&p, 1, -1);
        pump(s, FAILURE);
    }
    s->first = s->command;
    if (s->text[0] == '\0' && s->o->init) {
        await_init(s->first, s->o->init);
    }
    if (s->text[0] == '\0' && started(s)) {
        reap(s);
        return;
    }
    waitpid((pid_t)s->command, &status, 0);
    fail(s);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

static bool output_open(const struct supervision *s)
{
    return s->fds[OUT] >= 0 || s->fds[ERR] >= 0;
}

/* A line that does not end is shown all the same, a little later. How long that is, from now; -1:
 * for as long as nothing comes. */
static int look_at_lines(struct supervision *s)
{
    if (!lines_unfinished()) {
        s->unfinished_ms = 0;
        return -1;
    }
    int64_t now = now_ms();
    s->unfinished_ms = s->unfinished_ms ? s->unfinished_ms : now;
    if (now - s->unfinished_ms >= SHIM_LINE_MS) {
        lines_show(&s->lines, false);
        s->unfinished_ms = 0;
        return -1;
    }
    return (int)(SHIM_LINE_MS - (now - s->unfinished_ms));
}

static void loop(struct supervision *s)
{
    int64_t until = 0;
    while (s->stage != DRAINING || output_open(s)) {
        struct pollfd p[FD_COUNT];
        int wait_ms = look_at_lines(s);
        if (s->stage == DRAINING) {
            if (!until) {
                kill_children(); /* what it left behind, or what a failed runtime did */
                until = now_ms() + SHIM_DRAIN_MS;
            }
            wait_ms = (int)(until - now_ms());
            if (wait_ms <= 0) {
                return;
            }
        }
        for (int i = 0; i < FD_COUNT; i++) {
            p[i] = (struct pollfd){.fd = s->fds[i], .events = POLLIN};
        }
        if (poll(p, FD_COUNT, wait_ms) < 0) {
            continue;
        }
        for (int i = OUT; i <= FAILURE; i++) {
            if (p[i].revents) {
                pump(s, i);
            }
        }
        if (p[SIGNALS].revents) {
            take_signals(s);
        }
    }
}

/* How often the kernel has killed in its control group for memory. */
static long long oom_kills(const struct options *o)
{
    char text[1024];
    if (!o->oom_file || identity_slurp(AT_FDCWD, o->oom_file, text, sizeof(text)) <= 0) {
        return 0;
    }
    const char *at = strstr(text, "oom_kill ");
    return at ? atoll(at + 9) : 0;
}

/* A step shares its group with others, and one that ended well was not the one that was killed. */
static bool out_of_memory(const struct supervision *s)
{
    bool badly = s->mode != SHIM_STEP || s->outcome.code != 0 || s->outcome.signal != 0;
    return badly && oom_kills(s->o) > s->oom_kills;
}

/* Whether the disk of limited size that is mounted there has next to nothing left. Without a limit
 * nothing is mounted there. */
static bool is_full(const char *disk)
{
    enum { PART = 256 };
    struct stat above, at;
    struct statvfs v;
    return stat(".", &above) == 0 && stat(disk, &at) == 0 && at.st_dev != above.st_dev &&
           statvfs(disk, &v) == 0 && (v.f_bavail <= v.f_blocks / PART || v.f_favail == 0);
}

/* One that ended well had room, or could do without; one that was told to end did not end for it.
 * An init gives the signal of its program as a code. */
static bool out_of_disk(const struct supervision *s)
{
    const struct outcome *e = &s->outcome;
    int signal = e->signal ? e->signal : e->code - 128;
    bool told = s->told_to_end || s->told_to_term || signal == SIGTERM || signal == SIGKILL;
    return !told && (e->code > 0 || e->signal) &&
           is_full(s->mode == SHIM_STEP ? "../../disk" : "disk");
}

/* The status is the one thing that must not get lost: with a full disk it waits for room. */
static int finish_run(struct supervision *s)
{
    bool step = s->mode == SHIM_STEP;
    s->outcome.oom = out_of_memory(s);
    s->outcome.full = out_of_disk(s);
    if (s->o->tail) { /* of a full disk it is lost, as its log is */
        file_replace("tail", s->tail, s->tail_size, false);
    }
    for (int i = 0; i < SHIM_STATUS_TRIES; i++) {
        if ((step ? step_status_write(s->o->step, &s->outcome) : status_write(&s->outcome)) == 0) {
            return 0;
        }
        if (errno == ENOENT) {
            return 1; /* the directory has been removed */
        }
        sleep(1);
    }
    return 1;
}

static int finish_exec(struct supervision *s)
{
    if (s->outcome.code >= 0) {
        report("X %d\n", s->outcome.signal ? 128 + s->outcome.signal : s->outcome.code);
        report_bytes(s->tail, s->tail_size);
    }
    return 0;
}

/* Who watches is noted before anything runs, and never twice: a rep that was killed while it
 * started this shim has a successor that may try the same. */
static int note_myself(void)
{
    struct identity me;
    char text[128], mine[32];
    snprintf(mine, sizeof(mine), "shim.%ld", (long)getpid());
    if (identity_of(getpid(), &me) < 0) {
        return -1;
    }
    int n = identity_print(&me, text, sizeof(text));
    int lock = directory_lock();
    int result = lock < 0 || access("note", F_OK) < 0 ? -1 : files_reserve();
    if (result == 0 && (result = file_replace(mine, text, (size_t)n, false)) == 0) {
        result = link(mine, "shim.pid");
    }
    int saved = errno;
    unlink(mine);
    close(lock);
    errno = saved;
    return result;
}

/* What may run it is noted; false after a report. */
static bool entered(const struct options *o, enum shim_mode mode)
{
    if (mode == SHIM_EXEC) {
        prctl(PR_SET_PDEATHSIG, SHIM_END_SIGNAL); /* nobody would take its answer */
        return true;
    }
    if ((mode == SHIM_STEP ? step_enter(o) : note_myself()) == 0) {
        return true;
    }
    report(errno == EEXIST ? "F it was started before"
                           : "F cannot write into the container's directory: %s",
           strerror(errno));
    return false;
}

int shim_supervise(const struct options *o, enum shim_mode mode)
{
    static char tail[SHIM_TAIL_BYTES];
    struct supervision s = {
        .o = o,
        .mode = mode,
        .stage = STARTING,
        .outcome.text = "",
        .fds = {-1, -1, -1, -1},
        .tail = tail,
    };
    lines_init(&s.lines, o, mode == SHIM_STEP);
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!entered(o, mode)) {
        return 1;
    }
    s.oom_kills = mode == SHIM_STEP ? oom_kills(o) : 0;
    if (begin(&s) < 0) {
        snprintf(s.text, sizeof(s.text), "cannot start a process: %s", strerror(errno));
        fail(&s);
        return mode == SHIM_EXEC ? 1 : finish_run(&s);
    }
    if (o->process) {
        await_program(&s);
    }
    loop(&s);
    kill_children();
    if (mode != SHIM_EXEC) {
        lines_show(&s.lines, true);
    }
    return mode == SHIM_EXEC ? finish_exec(&s) : finish_run(&s);
}
