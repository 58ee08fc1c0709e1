#include "converger/resolver/resolver_io.h"

#include "common/base/memory.h"
#include "common/shell/host_io.h"
#include "converger/resolver/frames.h"
#include "converger/resolver/mirrors_io.h"

#include <assert.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A role that lost its lock asks anew while children of before still run. */
enum { CHILDREN_MAX = 4 * RESOLVES_MAX };

struct shell;

struct child {
    struct shell *shell;
    uint64_t id; /* of the request; 0 = free */
    enum resolve_what what;
    pid_t pid;
    char *work_dir;            /* NULL = none */
    struct bufferevent *request;
    struct bufferevent *answer;
    struct event *time;        /* it is over */
    struct event *failed;      /* to be told from the loop: it never began */
    char fault[320];
};

struct shell {
    struct resolver_shell base;
    struct host *host;
    struct resolver_config config;
    char *own_dir; /* made for this process; NULL = the caller's, or none */
    char no_git[320];
    const char *git_dir; /* NULL = none */
    struct child children[CHILDREN_MAX];
};

extern char **environ;

/* ---- An answer ------------------------------------------------------------------------------- */

/* What belongs to the child goes; its group is dead, whatever it was about to do. */
static void end_child(struct child *c)
{
    if (c->pid > 0) {
        kill(-c->pid, SIGKILL);
        kill(c->pid, SIGKILL);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (c->request) {
        bufferevent_free(c->request);
    }
    if (c->answer) {
        bufferevent_free(c->answer);
    }
    if (c->time) {
        event_free(c->time);
    }
    if (c->failed) {
        event_free(c->failed);
    }
    if (c->work_dir) {
        directory_remove(c->work_dir);
        free(c->work_dir);
    }
    *c = (struct child){.shell = c->shell};
}

static void tell_fault(struct child *c, const char *fault)
{
    struct host *host = c->shell->host;
    struct resolved r = {.id = c->id, .fault = fault, .needs = "", .commit = "", .version = ""};
    char kept[sizeof(c->fault)];
    snprintf(kept, sizeof(kept), "%s", fault);
    r.fault = kept;
    end_child(c);
    host_deliver(host, &(struct event){.kind = EVENT_RESOLVED, .resolved = r});
}

/* True when the child is over: it was answered. */
static void tell_answer(struct child *c)
{
    struct evbuffer *in = bufferevent_get_input(c->answer);
    size_t size = evbuffer_get_length(in);
    struct arena a;
    arena_init(&a);
    struct err err = {0};
    struct resolved r;
    if (size == 0) {
        tell_fault(c, "what reads definitions died: its memory or its time was over");
    } else if (resolver_answer_read(&a, c->id, c->what,
                                    (struct bytes){evbuffer_pullup(in, -1), size}, &r,
                                    &err) < 0) {
        tell_fault(c, arena_printf(&a, "what reads definitions answered nonsense: %s", err.text));
    } else {
        struct host *host = c->shell->host;
        end_child(c);
        host_deliver(host, &(struct event){.kind = EVENT_RESOLVED, .resolved = r});
    }
    arena_done(&a);
}

/* ---- While it runs --------------------------------------------------------------------------- */

static void on_answer_bytes(struct bufferevent *b, void *child)
{
    if (evbuffer_get_length(bufferevent_get_input(b)) > RESOLVER_ANSWER_BYTES_MAX) {
        tell_fault(child, "the definition is too large");
    }
}

static void on_answer_end(struct bufferevent *b, short what, void *child)
{
    (void)b;
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) {
        tell_answer(child);
    }
}

/* The child reads until the end. */
static void on_request_written(struct bufferevent *b, void *child)
{
    struct child *c = child;
    bufferevent_free(b);
    c->request = NULL;
}

static void on_request_end(struct bufferevent *b, short what, void *child)
{
    (void)what;
    on_request_written(b, child);
}

static void on_time(evutil_socket_t fd, short what, void *child)
{
    (void)fd;
    (void)what;
    tell_fault(child, "reading the definition took longer than 60 s");
}

static void on_failed(evutil_socket_t fd, short what, void *child)
{
    (void)fd;
    (void)what;
    struct child *c = child;
    tell_fault(c, c->fault);
}

/* ---- How it begins --------------------------------------------------------------------------- */

/* NULL = as many run as may. */
static struct child *free_child(struct shell *s)
{
    for (int i = 0; i < CHILDREN_MAX; i++) {
        if (s->children[i].id == 0) {
            return &s->children[i];
        }
    }
    return NULL;
}

/* The answer is given from the loop, never from inside. */
static void fail_later(struct child *c, const char *why)
{
    struct timeval now = {0, 0};
    snprintf(c->fault, sizeof(c->fault), "what reads definitions cannot be started: %s", why);
    c->pid = 0;
    c->failed = evtimer_new(host_loop(c->shell->host), on_failed, c);
    evtimer_add(c->failed, &now);
}

static const char *text(const char *t)
{
    return t ? t : "";
}

static Board__ResolverRequest message_of(struct arena *a, const struct child *c,
                                         const struct resolve_request *r)
{
    const struct shell *s = c->shell;
    Board__ResolverRequest m = BOARD__RESOLVER_REQUEST__INIT;
    m.what = r->what;
    m.system = arena_strdup(a, text(r->system));
    m.uid = arena_strdup(a, text(r->uid));
    m.url = arena_strdup(a, text(r->url));
    m.version = arena_strdup(a, text(r->version));
    m.commit = arena_strdup(a, text(r->commit));
    m.path = arena_strdup(a, r->path && r->path[0] ? r->path : "/");
    m.ssh_key = arena_strdup(a, text(r->ssh_key));
    m.source.data = (uint8_t *)r->source.data;
    m.source.len = r->source.size;
    m.tree = arena_strdup(a, text(r->tree));
    m.n_keys = r->key_count;
    m.keys = ARENA_ARRAY(a, r->key_count + 1, Board__ResolverKey *);
    for (size_t i = 0; i < r->key_count; i++) {
        m.keys[i] = ARENA_NEW(a, Board__ResolverKey);
        board__resolver_key__init(m.keys[i]);
        m.keys[i]->name = arena_strdup(a, r->keys[i].name);
        m.keys[i]->value = arena_strdup(a, r->keys[i].value);
    }
    m.git_dir = arena_strdup(a, text(s->git_dir));
    m.no_git = arena_strdup(a, s->no_git);
    m.allow_file = s->config.allow_file;
    m.git_ca = arena_strdup(a, text(s->config.git_ca));
    m.system_domain = arena_strdup(a, text(s->config.system_domain));
    m.work_dir = arena_strdup(a, text(c->work_dir));
    return m;
}

/* The program that this is, with standard input and output of its own; what it complains of goes
 * where our log goes. */
static int spawn_child(struct child *c, int in, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    static char program[] = "converger", command[] = "resolve";
    char *const argv[] = {program, command, NULL};
    int r = posix_spawn(&c->pid, "/proc/self/exe", &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return r;
}

static struct bufferevent *end_of(struct child *c, int fd)
{
    evutil_make_socket_nonblocking(fd);
    return bufferevent_socket_new(host_loop(c->shell->host), fd, BEV_OPT_CLOSE_ON_FREE);
}

/* Sockets, as libevent wants them: pairs, of which the child has one end each. */
static int begin_child(struct child *c, const struct resolve_request *request)
{
    int in[2], out[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0) {
        return errno;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out) != 0) {
        close(in[0]);
        close(in[1]);
        return errno;
    }
    int r = spawn_child(c, in[1], out[1]);
    close(in[1]);
    close(out[1]);
    c->request = end_of(c, in[0]);
    c->answer = end_of(c, out[0]);
    if (r) {
        return r;
    }
    struct arena a;
    SCOPED_BUF(packed);
    arena_init(&a);
    Board__ResolverRequest m = message_of(&a, c, request);
    buf_message(&packed, &m.base);
    bufferevent_setcb(c->request, NULL, on_request_written, on_request_end, c);
    bufferevent_setcb(c->answer, on_answer_bytes, NULL, on_answer_end, c);
    bufferevent_write(c->request, packed.data, packed.size);
    bufferevent_enable(c->request, EV_WRITE);
    bufferevent_enable(c->answer, EV_READ);
    arena_done(&a);
    return 0;
}

/* Keys are written there; it lies beside the mirrors, which are ours alone. */
static void make_work_dir(struct child *c)
{
    if (c->shell->git_dir) {
        c->work_dir = mem_printf("%s/work-XXXXXX", c->shell->git_dir);
        if (!mkdtemp(c->work_dir)) {
            free(c->work_dir);
            c->work_dir = NULL;
        }
    }
}

static void resolve(struct resolver_shell *base, const struct resolve_request *request)
{
    struct shell *s = (struct shell *)base;
    struct child *c = free_child(s);
    struct timeval limit = {RESOLVE_TIME_S, 0};
    assert(request->id != 0);
    if (!c) {
        host_deliver(s->host, &(struct event){.kind = EVENT_RESOLVED,
                                              .resolved = {.id = request->id,
                                                           .fault = "too many definitions are "
                                                                    "being read: try again",
                                                           .needs = "",
                                                           .commit = "",
                                                           .version = ""}});
        return;
    }
    c->id = request->id;
    c->what = request->what;
    make_work_dir(c);
    int r = begin_child(c, request);
    if (r) {
        fail_later(c, strerror(r));
        return;
    }
    c->time = evtimer_new(host_loop(s->host), on_time, c);
    evtimer_add(c->time, &limit);
}

/* ---- The shell ------------------------------------------------------------------------------- */

static void free_shell(struct resolver_shell *base)
{
    struct shell *s = (struct shell *)base;
    for (int i = 0; i < CHILDREN_MAX; i++) {
        end_child(&s->children[i]);
    }
    if (s->own_dir) {
        directory_remove(s->own_dir);
        free(s->own_dir);
    }
    free(s);
}

/* Where nobody named a directory, one below TMPDIR that goes with the process. */
static void choose_dir(struct shell *s)
{
    struct err err = {0};
    if (s->config.git_dir) {
        s->git_dir = s->config.git_dir;
    } else {
        const char *tmp = getenv("TMPDIR");
        s->own_dir = mem_printf("%s/corkboard-git-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
        if (mkdtemp(s->own_dir)) {
            s->git_dir = s->own_dir;
        } else {
            snprintf(s->no_git, sizeof(s->no_git),
                     "the converger can write to no directory (%s: %s): give it one by --git-dir",
                     s->own_dir, strerror(errno));
            free(s->own_dir);
            s->own_dir = NULL;
        }
    }
    if (s->git_dir && mirrors_prepare(s->git_dir, &err) < 0) {
        snprintf(s->no_git, sizeof(s->no_git), "the converger's --git-dir: %s", err.text);
        s->git_dir = NULL;
    }
}

struct resolver_shell *resolver_new(void *config, struct host *host, struct err *err)
{
    static const struct resolver_shell_ops ops = {.resolve = resolve, .free = free_shell};
    (void)err;
    struct shell *s = mem_zeroed(sizeof(*s));
    s->base.ops = &ops;
    s->host = host;
    s->config = *(const struct resolver_config *)config;
    for (int i = 0; i < CHILDREN_MAX; i++) {
        s->children[i].shell = s;
    }
    choose_dir(s);
    return &s->base;
}
