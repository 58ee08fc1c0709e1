/* Child processes: a queue, places, deadlines. */
#include "rep/driver/job_io.h"

#include "common/contract/moment.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rep/shim/shim.h"

extern char **environ;

enum job_stage {
    WAITING,
    WORKING,
    ASKED,  /* past its deadline, asked to end */
    KILLED, /* and killed */
};

struct driver_job {
    struct driver_job *next;
    struct driver_jobs *jobs;
    enum job_stage stage;
    char *key, *dir;
    char **argv, **envp;
    int64_t deadline_ns;
    bool outlives, holds_place, started;
    void (*on_event)(struct driver_job *j, enum job_event event);
    void (*forget)(void *owner);
    void *owner;
    pid_t pid; /* ours and unreaped as long as pidfd >= 0; 0: never ran */
    int pidfd, pipe;
    struct event *ended, *reported, *timer;
    struct buf sent;
    int exit_code;
};

struct driver_jobs {
    struct event_base *loop;
    struct event *begin; /* looks for a job that may begin */
    struct driver_job *first, **end;
    size_t count;
    int places, taken;
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND_NS + t.tv_nsec;
}

static char **copy_words(const char *const *words)
{
    size_t n = 0;
    while (words && words[n]) {
        n++;
    }
    char **copy = calloc(n + 1, sizeof(*copy));
    for (size_t i = 0; i < n; i++) {
        copy[i] = strdup(words[i]);
    }
    return copy;
}

static void free_words(char **words)
{
    for (char **w = words; w && *w; w++) {
        free(*w);
    }
    free(words);
}

static void drop_event(struct event **e)
{
    if (*e) {
        event_free(*e);
        *e = NULL;
    }
}

static void drop_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static void job_free(struct driver_job *j)
{
    drop_event(&j->ended);
    drop_event(&j->reported);
    drop_event(&j->timer);
    drop_fd(&j->pidfd);
    drop_fd(&j->pipe);
    buf_done(&j->sent);
    free_words(j->argv);
    free_words(j->envp);
    free(j->key);
    free(j->dir);
    free(j);
}

/* ---- Spawning ---- */

/* The shim gets a session of its own, so that nothing meant for the rep's terminal reaches it, and
 * all it started can be killed together. */
static int spawn_at(const char *dir, char *const *argv, char *const *envp, int report, pid_t *ret)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, 0, 1);
    posix_spawn_file_actions_adddup2(&files, report, SHIM_REPORT_FD);
    posix_spawn_file_actions_adddup2(&files, SHIM_REPORT_FD, 2);
    posix_spawn_file_actions_addchdir_np(&files, dir);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSID);
    int error = posix_spawn(ret, argv[0], &files, &attributes, argv, envp ? envp : environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* Sets pid, pidfd and pipe; 0 or an errno. */
static int job_spawn(struct driver_job *j)
{
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC) < 0) {
        return errno;
    }
    int report = fcntl(pipes[1], F_DUPFD_CLOEXEC, SHIM_REPORT_FD + 1); /* not one of 0 to 3 */
    int error = report < 0 ? errno : spawn_at(j->dir, j->argv, j->envp, report, &j->pid);
    close(pipes[1]);
    if (report >= 0) {
        close(report);
    }
    if (error) {
        close(pipes[0]);
        j->pid = 0;
        return error;
    }
    j->pidfd = (int)syscall(SYS_pidfd_open, j->pid, 0);
    j->pipe = pipes[0];
    fcntl(j->pipe, F_SETFL, O_NONBLOCK);
    return 0;
}

static void read_report(struct driver_job *j)
{
    char chunk[1024];
    ssize_t n;
    while (j->pipe >= 0 && (n = read(j->pipe, chunk, sizeof(chunk))) != 0) {
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            return;
        }
        if (n < 0) {
            break;
        }
        size_t room = JOB_REPORT_BYTES - j->sent.size;
        buf_append(&j->sent, chunk, (size_t)n < room ? (size_t)n : room);
    }
    drop_event(&j->reported);
    drop_fd(&j->pipe);
}

/* What is left of its group goes with it, while the group's id is certain: before it is reaped. */
static bool reap(struct driver_job *j)
{
    siginfo_t info = {0};
    if (waitid(P_PIDFD, (id_t)j->pidfd, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
        info.si_pid == 0) {
        return false;
    }
    kill(-j->pid, SIGKILL);
    waitid(P_PIDFD, (id_t)j->pidfd, &info, WEXITED);
    j->exit_code = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
    return true;
}

/* ---- The queue ---- */

static void begin_soon(struct driver_jobs *jobs)
{
    event_active(jobs->begin, EV_TIMEOUT, 0);
}

static void release_place(struct driver_job *j)
{
    if (j->holds_place) {
        j->holds_place = false;
        j->jobs->taken--;
        begin_soon(j->jobs);
    }
}

static void take_out(struct driver_job *j)
{
    struct driver_jobs *jobs = j->jobs;
    release_place(j);
    for (struct driver_job **at = &jobs->first; *at; at = &(*at)->next) {
        if (*at == j) {
            *at = j->next;
            jobs->end = jobs->end == &j->next ? at : jobs->end;
            break;
        }
    }
    jobs->count--;
    begin_soon(jobs); /* one of its key may have waited */
    drop_event(&j->timer);
}

static void job_end(struct driver_job *j)
{
    take_out(j);
    j->on_event(j, JOB_ENDED);
    job_free(j);
}

/* From here on its container's own watch looks after it, as after one that was adopted. */
static void job_let_go(struct driver_job *j)
{
    take_out(j);
    j->on_event(j, JOB_STARTED);
    job_free(j);
}

/* False when the job is gone. */
static bool take_report(struct driver_job *j)
{
    if (j->started || report_parse(buf_bytes(&j->sent), false).kind != REPORT_STARTED) {
        return true;
    }
    j->started = true;
    if (j->outlives) {
        job_let_go(j);
        return false;
    }
    release_place(j);
    j->on_event(j, JOB_STARTED);
    return true;
}

static void on_report(evutil_socket_t fd, short what, void *job)
{
    struct driver_job *j = job;
    (void)fd;
    (void)what;
    read_report(j);
    take_report(j);
}

static void on_end(evutil_socket_t fd, short what, void *job)
{
    struct driver_job *j = job;
    (void)fd;
    (void)what;
    read_report(j); /* what it said last; others may still hold the pipe */
    if (take_report(j) && reap(j)) {
        job_end(j);
    }
}

static void set_timer(struct driver_job *j, int64_t wait_ns)
{
    wait_ns = wait_ns > 0 ? wait_ns : 0;
    struct timeval t = {.tv_sec = wait_ns / SECOND_NS, .tv_usec = wait_ns % SECOND_NS / 1000};
    event_add(j->timer, &t);
}

/* The ladder of a job that does not end: asked, killed, then its place is given to others. */
static void on_timer(evutil_socket_t fd, short what, void *job)
{
    struct driver_job *j = job;
    (void)fd;
    (void)what;
    if (j->stage == WAITING) {
        job_end(j);
        return;
    }
    enum job_stage was = j->stage;
    if (was == WORKING) {
        j->stage = ASKED;
        syscall(SYS_pidfd_send_signal, j->pidfd, SHIM_END_SIGNAL, NULL, 0);
        set_timer(j, JOB_GRACE_MS * MILLISECOND_NS);
        j->on_event(j, JOB_LATE);
    } else if (was == ASKED) {
        j->stage = KILLED;
        kill(-j->pid, SIGKILL); /* not reaped yet, so the group is its own */
        syscall(SYS_pidfd_send_signal, j->pidfd, SIGKILL, NULL, 0);
        set_timer(j, JOB_GRACE_MS * MILLISECOND_NS);
    } else {
        release_place(j);
    }
}

static void begin(struct driver_job *j)
{
    struct event_base *loop = j->jobs->loop;
    int error = job_spawn(j);
    if (error) {
        buf_printf(&j->sent, "F %s: cannot run it: %s", j->argv[0], strerror(error));
        j->exit_code = 127;
        job_end(j);
        return;
    }
    j->stage = WORKING;
    j->holds_place = true;
    j->jobs->taken++;
    j->ended = event_new(loop, j->pidfd, EV_READ | EV_PERSIST, on_end, j);
    j->reported = event_new(loop, j->pipe, EV_READ | EV_PERSIST, on_report, j);
    event_add(j->ended, NULL);
    event_add(j->reported, NULL);
}

/* Whether an earlier job of this key is not through yet. */
static bool must_wait(const struct driver_job *j)
{
    if (!j->key) {
        return false;
    }
    for (const struct driver_job *other = j->jobs->first; other != j; other = other->next) {
        if (other->key && !other->started && strcmp(other->key, j->key) == 0) {
            return true;
        }
    }
    return false;
}

static void begin_some(evutil_socket_t fd, short what, void *all)
{
    struct driver_jobs *jobs = all;
    (void)fd;
    (void)what;
    for (struct driver_job *j = jobs->first; j && jobs->taken < jobs->places; j = j->next) {
        if (j->stage == WAITING && !must_wait(j)) {
            begin(j);
            begin_soon(jobs); /* the list may be another now */
            return;
        }
    }
}

struct driver_jobs *jobs_new(struct event_base *loop, int places)
{
    struct driver_jobs *jobs = calloc(1, sizeof(*jobs));
    assert(places > 0);
    jobs->loop = loop;
    jobs->places = places;
    jobs->end = &jobs->first;
    jobs->begin = event_new(loop, -1, 0, begin_some, jobs);
    return jobs;
}

void jobs_free(struct driver_jobs *jobs)
{
    if (!jobs) {
        return;
    }
    while (jobs->first) {
        struct driver_job *j = jobs->first;
        jobs->first = j->next;
        if (j->stage == WORKING && !j->outlives) {
            syscall(SYS_pidfd_send_signal, j->pidfd, SHIM_END_SIGNAL, NULL, 0);
        } else if (j->stage != WAITING && !j->outlives) { /* it was asked, and may have ended */
            kill(-j->pid, SIGKILL);
        }
        if (j->forget) {
            j->forget(j->owner);
        }
        job_free(j);
    }
    event_free(jobs->begin);
    free(jobs);
}

static struct driver_job *job_new(const struct job_plan *plan)
{
    struct driver_job *j = calloc(1, sizeof(*j));
    j->key = plan->key ? strdup(plan->key) : NULL;
    j->dir = strdup(plan->dir);
    j->argv = copy_words(plan->argv);
    j->envp = plan->envp ? copy_words(plan->envp) : NULL;
    j->deadline_ns = plan->deadline_ns;
    j->outlives = plan->outlives;
    j->on_event = plan->on_event;
    j->forget = plan->forget;
    j->owner = plan->owner;
    j->pidfd = j->pipe = -1;
    buf_init(&j->sent);
    return j;
}

int jobs_add(struct driver_jobs *jobs, const struct job_plan *plan, struct err *err)
{
    if (jobs->count >= JOBS_MAX) {
        return err_set(err, ERR_TOO_LARGE, "%d container operations wait already", JOBS_MAX);
    }
    struct driver_job *j = job_new(plan);
    j->jobs = jobs;
    *jobs->end = j;
    jobs->end = &j->next;
    jobs->count++;
    j->timer = event_new(jobs->loop, -1, 0, on_timer, j);
    if (j->deadline_ns != NEVER_NS) {
        set_timer(j, j->deadline_ns - now_ns());
    }
    begin_soon(jobs);
    return 0;
}

void jobs_cancel(struct driver_jobs *jobs, const void *owner)
{
    for (struct driver_job *j = jobs->first; j; j = j->next) {
        if (j->owner == owner) {
            set_timer(j, 0);
        }
    }
}

bool jobs_busy(const struct driver_jobs *jobs, const char *key)
{
    for (const struct driver_job *j = jobs->first; j; j = j->next) {
        if (j->key && !j->started && strcmp(j->key, key) == 0) {
            return true;
        }
    }
    return false;
}

void *job_owner(const struct driver_job *j)
{
    return j->owner;
}

bool job_began(const struct driver_job *j)
{
    return j->pid != 0;
}

struct shim_report job_report(const struct driver_job *j)
{
    return report_parse(buf_bytes(&j->sent), j->pipe < 0);
}

struct bytes job_text(const struct driver_job *j)
{
    return buf_bytes(&j->sent);
}

int job_exit_code(const struct driver_job *j)
{
    return j->exit_code;
}

/* ---- Waiting, for the probe ---- */

int job_run(const struct job_plan *plan, int timeout_ms, struct buf *out, struct err *err)
{
    struct driver_job *j = job_new(plan);
    int error = job_spawn(j);
    int64_t until = now_ns() + timeout_ms * MILLISECOND_NS;
    if (error) {
        job_free(j);
        return err_set(err, ERR_IO, "%s: cannot run it: %s", plan->argv[0], strerror(error));
    }
    bool ended = false;
    while (!ended && now_ns() < until) {
        struct pollfd p[] = {{.fd = j->pidfd, .events = POLLIN}, {.fd = j->pipe, .events = POLLIN}};
        poll(p, 2, (int)((until - now_ns()) / MILLISECOND_NS) + 1);
        read_report(j);
        ended = reap(j);
    }
    if (!ended) {
        kill(-j->pid, SIGKILL);
        syscall(SYS_pidfd_send_signal, j->pidfd, SIGKILL, NULL, 0);
        waitpid(j->pid, NULL, 0);
    }
    int result = ended ? j->exit_code
                       : err_set(err, ERR_TIMEOUT, "%s did not end within %d s", plan->argv[0],
                                 timeout_ms / 1000);
    buf_append(out, j->sent.data, j->sent.size);
    job_free(j);
    return result;
}
