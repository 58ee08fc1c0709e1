#include "test/tool/echo_server.h"
#include "test/tool/heap.h"

#include "common/shell/log_io.h"
#include "test/tool/echo_role.h"
#include "test/tool/patience.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    struct role *role;
    struct http_server *server;
    struct event_base *base;
    int held[1024];
    size_t held_count;
};

static void step(struct child *c, struct event *ev)
{
    SCOPED_ARENA(arena);
    struct effects out;
    effects_init(&out, &arena);
    role_step(c->role, ev, &out);
    for (size_t i = 0; i < out.count; i++) {
        if (out.list[i].kind == EFFECT_REPLY) {
            http_server_reply(c->server, &out.list[i].reply);
        } else if (out.list[i].kind == EFFECT_WAKE) {
            http_server_wake(c->server, out.list[i].wake);
        }
    }
}

static void stats(struct child *c, uint64_t id)
{
    char text[128];
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    snprintf(text, sizeof(text), "connections=%u heap_kb=%ld cpu_ms=%ld",
             http_server_connections(c->server), heap_kb(),
             (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000 +
                 (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1000);
    http_server_reply(c->server, &(struct reply){.id = id,
                                                 .status = 200,
                                                 .content_type = "text/plain",
                                                 .body = bytes_of(text)});
}

static void hold(struct child *c, uint64_t id, bool take)
{
    int fd;
    while (take && c->held_count < 1024 && (fd = dup(STDERR_FILENO)) >= 0) {
        c->held[c->held_count++] = fd;
    }
    size_t left = take ? c->held_count - 1 : 0;
    while (c->held_count > left) {
        close(c->held[--c->held_count]);
    }
    http_server_reply(c->server, &(struct reply){.id = id, .status = 200});
}

static size_t limit(void *context, const char *path)
{
    struct child *c = context;
    return c->role->ops->body_limit(c->role, path);
}

static void on_request(void *context, const struct request *r)
{
    struct child *c = context;
    if (strcmp(r->path, "/stats") == 0) {
        stats(c, r->id);
        return;
    }
    if (strcmp(r->path, "/hold") == 0 || strcmp(r->path, "/release") == 0) {
        hold(c, r->id, r->path[1] == 'h');
        return;
    }
    step(c, &(struct event){.kind = EVENT_REQUEST, .request = *r});
}

static void on_hangup(void *context, uint64_t id)
{
    step(context, &(struct event){.kind = EVENT_HANGUP, .hangup = id});
}

static void on_term(evutil_socket_t number, short what, void *context)
{
    (void)number, (void)what;
    event_base_loopbreak(context);
}

static void run(const struct http_server_config *config, int port_out, int log_fd)
{
    struct child c = {.role = echo_new(), .base = event_base_new()};
    struct http_server_handlers handlers = {
        .body_limit = limit, .on_request = on_request, .on_hangup = on_hangup, .context = &c};
    struct log *log = log_fd < 0 ? NULL : log_new("echo", LOG_DEBUG_LEVEL, log_fd);
    struct err err;
    struct http_server_config own = *config;
    own.listen = "127.0.0.1:0";
    if (http_server_new(&own, c.base, log, &handlers, &c.server, &err) < 0) {
        fprintf(stderr, "echo_server: %s\n", err.text);
        _exit(1);
    }
    struct event *term = evsignal_new(c.base, SIGTERM, on_term, c.base);
    event_add(term, NULL);
    int port = http_server_port(c.server);
    if (write(port_out, &port, sizeof(port)) != sizeof(port)) {
        _exit(1);
    }
    close(port_out);
    event_base_dispatch(c.base);
    while (c.held_count) {
        close(c.held[--c.held_count]);
    }
    http_server_free(c.server);
    event_free(term);
    event_base_free(c.base);
    role_free(c.role);
    log_free(log);
}

void echo_server_start(struct echo_server *s, const struct http_server_config *config,
                       int files_max, int log)
{
    int ends[2];
    if (pipe(ends) < 0) {
        abort();
    }
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
        signal(SIGPIPE, SIG_IGN);
        close(ends[0]);
        if (files_max) {
            struct rlimit l = {.rlim_cur = (rlim_t)files_max, .rlim_max = (rlim_t)files_max};
            setrlimit(RLIMIT_NOFILE, &l);
        }
        run(config, ends[1], log);
        exit(0);
    }
    close(ends[1]);
    if (read(ends[0], &s->port, sizeof(s->port)) != sizeof(s->port)) {
        fprintf(stderr, "echo_server: it did not start\n");
        abort();
    }
    close(ends[0]);
}

bool echo_server_stop(struct echo_server *s)
{
    int status = -1;
    kill(s->pid, SIGTERM);
    struct patience p = {0};
    do {
        pid_t r = waitpid(s->pid, &status, WNOHANG);
        if (r == s->pid) {
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
    } while (patience(&p));
    kill(s->pid, SIGKILL);
    waitpid(s->pid, &status, 0);
    fprintf(stderr, "echo_server: it did not end\n");
    return false;
}
