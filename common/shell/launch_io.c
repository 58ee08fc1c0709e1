#include "common/shell/launch_io.h"

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/memory.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of what it writes so many of the last bytes are kept: the last line is among them. */
enum { KEPT_BYTES = 4 * LAUNCH_LINE_BYTES, SIGNAL_BASE = 128 };

/* One that runs, or was never run and is still to be told. */
struct launched_child {
    struct launcher *launcher;
    uint64_t id; /* 0 = free */
    pid_t pid;   /* unreaped; 0 = it was never run */
    int pidfd, pipe;
    struct event *ended, *said, *timer;
    struct buf written;
    bool late;
};

struct launcher {
    struct event_base *base;
    void (*told)(void *context, const struct launched *l);
    void *context;
    int time_ms;
    struct launched_child children[LAUNCHES_MAX];
    struct event *refused; /* tells of those that were too many */
    struct buf too_many;   /* their ids */
};

extern char **environ;

/* ---- The end ------------------------------------------------------------------------------- */

static void drop_child_event(struct event **e)
{
    if (*e) {
        event_free(*e);
        *e = NULL;
    }
}

static void child_free(struct launched_child *c)
{
    drop_child_event(&c->ended);
    drop_child_event(&c->said);
    drop_child_event(&c->timer);
    if (c->pidfd >= 0) {
        close(c->pidfd);
    }
    if (c->pipe >= 0) {
        close(c->pipe);
    }
    buf_done(&c->written);
    *c = (struct launched_child){.launcher = c->launcher, .pidfd = -1, .pipe = -1};
}

/* The last line that says something, without what a terminal would obey. */
static const char *last_line(struct arena *a, struct bytes written)
{
    size_t end = written.size;
    while (end > 0 && written.data[end - 1] <= ' ') {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && written.data[begin - 1] != '\n') {
        begin--;
    }
    size_t size = end - begin < LAUNCH_LINE_BYTES ? end - begin : LAUNCH_LINE_BYTES;
    char *line = arena_alloc(a, size + 1);
    for (size_t i = 0; i < size; i++) {
        uint8_t c = written.data[begin + i];
        line[i] = c < ' ' || c > '~' ? '?' : (char)c;
    }
    line[size] = 0;
    return line;
}

/* Why it did not end well. */
static const char *complaint(const struct launched_child *c, const siginfo_t *how, struct arena *a)
{
    const char *line = last_line(a, buf_bytes(&c->written));
    if (c->late) {
        return arena_printf(a, "it did not end within %d s and was killed%s%s",
                            c->launcher->time_ms / 1000, *line ? ", it said last: " : "", line);
    }
    if (how->si_code != CLD_EXITED) {
        return arena_printf(a, "it was ended by signal %d%s%s", how->si_status,
                            *line ? ", it said last: " : "", line);
    }
    return *line ? line
                 : arena_printf(a, "it ended with status %d, and said nothing", how->si_status);
}

static void tell(struct launched_child *c, int status, const char *text)
{
    struct launcher *l = c->launcher;
    struct launched told = {.id = c->id, .status = status, .text = text};
    child_free(c);
    l->told(l->context, &told);
}

static void read_written(struct launched_child *c)
{
    uint8_t chunk[1024];
    ssize_t n;
    while ((n = read(c->pipe, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR)) {
        if (n > 0) {
            buf_append(&c->written, chunk, (size_t)n);
        }
        if (c->written.size > KEPT_BYTES) {
            buf_consume(&c->written, c->written.size - KEPT_BYTES);
        }
    }
    if (n == 0) {
        drop_child_event(&c->said); /* nobody will write any more */
    }
}

static void on_said(evutil_socket_t fd, short what, void *child)
{
    (void)fd;
    (void)what;
    read_written(child);
}

/* Its end is its own: what it has left running may hold the pipe for good. */
static void on_ended(evutil_socket_t fd, short what, void *child)
{
    struct launched_child *c = child;
    siginfo_t how = {0};
    (void)fd;
    (void)what;
    if (waitid(P_PIDFD, (id_t)c->pidfd, &how, WEXITED | WNOHANG) < 0 || how.si_pid == 0) {
        return;
    }
    read_written(c);
    bool exited = how.si_code == CLD_EXITED;
    int status = exited ? how.si_status : SIGNAL_BASE + how.si_status;
    struct arena a;
    arena_init(&a);
    tell(c, status, exited && status == 0 && !c->late ? "" : complaint(c, &how, &a));
    arena_done(&a);
}

/* All that it started and that has no session of its own goes with it: its group's number is
 * certain until it is reaped. */
static void on_late(evutil_socket_t fd, short what, void *child)
{
    struct launched_child *c = child;
    (void)fd;
    (void)what;
    c->late = true;
    kill(-c->pid, SIGKILL);
    kill(c->pid, SIGKILL);
}

/* ---- The beginning ------------------------------------------------------------------------- */

/* What a program needs to find others, and nothing that may be a secret. */
static char **environment_of(struct arena *a)
{
    static const char *const names[] = {"PATH=", "HOME=", "LANG=", "TMPDIR="};
    enum { NAMES = sizeof(names) / sizeof(names[0]) };
    char **list = ARENA_ARRAY(a, NAMES + 1, char *);
    size_t count = 0;
    for (char **e = environ; *e && count < NAMES; e++) {
        for (size_t i = 0; i < NAMES; i++) {
            if (strncmp(*e, names[i], strlen(names[i])) == 0) {
                list[count++] = *e;
                break;
            }
        }
    }
    list[count] = NULL;
    return list;
}

static char **words_of(struct arena *a, const struct launch *launch)
{
    char **list = ARENA_ARRAY(a, launch->count + 1, char *);
    for (size_t i = 0; i < launch->count; i++) {
        list[i] = arena_strdup(a, launch->words[i]);
    }
    list[launch->count] = NULL;
    return list;
}

static int spawn_words(char **words, char **environment, int out, pid_t *ret_pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawnp(ret_pid, words[0], &files, &attributes, words, environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* 0 or an errno. */
static int begin_child(struct launched_child *c, const struct launch *launch)
{
    int ends[2];
    SCOPED_ARENA(a);
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return errno;
    }
    c->pipe = ends[0];
    fcntl(c->pipe, F_SETFL, O_NONBLOCK);
    int error = spawn_words(words_of(&a, launch), environment_of(&a), ends[1], &c->pid);
    close(ends[1]);
    if (error) {
        c->pid = 0;
        return error;
    }
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    assert(c->pidfd >= 0);
    return 0;
}

static void watch_child(struct launched_child *c)
{
    struct launcher *l = c->launcher;
    struct timeval limit = {.tv_sec = l->time_ms / 1000, .tv_usec = l->time_ms % 1000 * 1000};
    c->ended = event_new(l->base, c->pidfd, EV_READ | EV_PERSIST, on_ended, c);
    c->said = event_new(l->base, c->pipe, EV_READ | EV_PERSIST, on_said, c);
    c->timer = evtimer_new(l->base, on_late, c);
    assert(c->ended && c->said && c->timer);
    event_add(c->ended, NULL);
    event_add(c->said, NULL);
    evtimer_add(c->timer, &limit);
}

/* Those that never ran: from the loop, as all others. */
static void on_refused(evutil_socket_t fd, short what, void *launcher)
{
    struct launcher *l = launcher;
    uint64_t id;
    (void)fd;
    (void)what;
    for (size_t i = 0; i < LAUNCHES_MAX; i++) {
        struct launched_child *c = &l->children[i];
        if (c->id && !c->pid) {
            SCOPED_ARENA(a);
            tell(c, -1, last_line(&a, buf_bytes(&c->written)));
        }
    }
    while (l->too_many.size >= sizeof(id)) {
        memcpy(&id, l->too_many.data, sizeof(id));
        buf_consume(&l->too_many, sizeof(id));
        l->told(l->context, &(struct launched){
                                .id = id, .status = -1, .text = "too many programs run already"});
    }
}

static struct launched_child *free_child(struct launcher *l)
{
    for (size_t i = 0; i < LAUNCHES_MAX; i++) {
        if (!l->children[i].id) {
            return &l->children[i];
        }
    }
    return NULL;
}

void launcher_launch(struct launcher *l, const struct launch *launch)
{
    assert(launch->id && launch->count > 0 && launch->count <= LAUNCH_WORDS_MAX);
    struct launched_child *c = free_child(l);
    if (!c) {
        buf_append(&l->too_many, &launch->id, sizeof(launch->id));
        event_active(l->refused, EV_TIMEOUT, 0);
        return;
    }
    c->id = launch->id;
    int error = begin_child(c, launch);
    if (error) {
        buf_printf(&c->written, "%s cannot be run: %s", launch->words[0], strerror(error));
        event_active(l->refused, EV_TIMEOUT, 0);
        return;
    }
    watch_child(c);
}

/* ---- The shell ----------------------------------------------------------------------------- */

struct launcher *launcher_new(struct event_base *base,
                              void (*told)(void *context, const struct launched *l), void *context)
{
    struct launcher *l = mem_zeroed(sizeof(*l));
    *l = (struct launcher){.base = base,
                           .told = told,
                           .context = context,
                           .time_ms = LAUNCH_TIME_S * 1000,
                           .refused = evtimer_new(base, on_refused, l)};
    assert(l->refused);
    buf_init(&l->too_many);
    for (size_t i = 0; i < LAUNCHES_MAX; i++) {
        l->children[i] = (struct launched_child){.launcher = l, .pidfd = -1, .pipe = -1};
    }
    return l;
}

void launcher_set_time(struct launcher *l, int ms)
{
    l->time_ms = ms;
}

void launcher_free(struct launcher *l)
{
    if (!l) {
        return;
    }
    for (size_t i = 0; i < LAUNCHES_MAX; i++) {
        struct launched_child *c = &l->children[i];
        if (c->pid) {
            kill(-c->pid, SIGKILL);
            kill(c->pid, SIGKILL);
            waitpid(c->pid, NULL, 0);
        }
        child_free(c);
    }
    event_free(l->refused);
    buf_done(&l->too_many);
    free(l);
}
