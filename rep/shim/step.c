/* step: one step of a container whose first process only waits (idle). It is begun once and for
 * all: the mark is made under the directory's lock, before anything runs. What there is of a step
 * stands in steps/N/: `process.json` (before it begins), `shim.pid`, `begun`, `pid`, `status`; the
 * lines of `begun` and `status` are those of rep/steps/fact.c. Of a run there is `tail`, too. A
 * transfer may be begun again as long as nobody saw its end: `begun` has a line for each time. */
#include "rep/shim/identity.h"
#include "rep/shim/shim.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Whether an earlier shim of it is at work. */
static bool is_watched(void)
{
    struct identity id;
    int fd = identity_read(AT_FDCWD, "shim.pid", &id) < 0 ? -1 : identity_open(&id);
    bool lives = fd >= 0 ? !wait_pidfd(fd, 0) : identity_untold(errno);
    if (fd >= 0) {
        close(fd);
    }
    return lives;
}

/* What an earlier try left of `begun`, if it may be tried again; -1 with errno. */
static ssize_t earlier(bool again, char *text, size_t size)
{
    ssize_t n = identity_slurp(AT_FDCWD, "begun", text, size);
    if (n < 0 && errno == ENOENT) {
        return 0;
    }
    if (n >= 0 && (!again || access("status", F_OK) == 0 || is_watched())) {
        errno = EEXIST;
        return -1;
    }
    return n;
}

/* In the step's own directory, under the lock of the container's. */
static int mark(long step, bool again)
{
    struct identity me;
    char text[128], begun[1024];
    ssize_t before = earlier(again, begun, sizeof(begun) - sizeof(text));
    if (before < 0) {
        return -1;
    }
    if (identity_of(getpid(), &me) < 0 || files_reserve() < 0) {
        return -1;
    }
    int n = identity_print(&me, text, sizeof(text));
    if (file_replace("shim.pid", text, (size_t)n, false) < 0) {
        return -1;
    }
    unlink("answer"); /* of an earlier courier, which was killed with its shim */
    n = snprintf(begun + before, sizeof(text), "begun %ld at %lld\n", step, now_ns());
    return file_replace("begun", begun, (size_t)(before + n), false);
}

int step_enter(const struct options *o)
{
    char path[32];
    int lock = directory_lock();
    snprintf(path, sizeof(path), "steps/%ld", o->step);
    bool there = lock >= 0 && access("note", F_OK) == 0;
    if (there && access("status", F_OK) == 0) {
        there = false;
        errno = ESRCH; /* the container has ended */
    }
    int result = there ? chdir(path) : -1;
    result = result == 0 ? mark(o->step, o->again) : result;
    int saved = errno;
    close(lock);
    errno = saved;
    return result;
}

int step_status_write(long step, const struct outcome *e)
{
    char text[SHIM_TEXT_BYTES + 256];
    int n = snprintf(text, sizeof(text), "ended %ld code %d signal %d oom %d%s at %lld%s%.*s", step,
                     e->code, e->signal, e->oom, e->full ? " disk 1" : "", now_ns(),
                     e->text[0] ? " " : "", SHIM_TEXT_BYTES, e->text);
    for (char *at = text; (at = strchr(at, '\n'));) {
        *at = ' ';
    }
    text[n++] = '\n';
    return file_replace("status", text, (size_t)n, true);
}

static void heard(int signal)
{
    (void)signal;
}

/* The handler never runs, for the signal is blocked. It shows to the shim that waits for this
 * process that SIGTERM is wanted: a signal that a process waits for is not shown as blocked. */
int shim_idle(void)
{
    sigset_t set;
    struct sigaction act = {.sa_handler = heard};
    sigaction(SIGTERM, &act, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_SETMASK, &set, NULL);
    while (sigwaitinfo(&set, NULL) != SIGTERM) {
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
    }
    return 0;
}
