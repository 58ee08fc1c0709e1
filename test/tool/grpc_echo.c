#include "test/tool/grpc_echo.h"
#include "common/base/memory.h"
#include "test/tool/heap.h"

#include "test/tool/patience.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NEVERS_MAX = 4096, BIG_BYTES = 1024 * 1024 };

struct service {
    struct grpc_server *server;
    unsigned requests, hangups;
    uint64_t nevers[NEVERS_MAX];
    size_t never_count;
};

static void say(struct service *s, uint64_t id, struct bytes message)
{
    grpc_server_reply(s->server, &(struct reply){.id = id, .body = message, .grpc_message = ""});
}

static void stats(struct service *s, uint64_t id)
{
    char text[128];
    snprintf(text, sizeof(text), "connections=%u requests=%u hangups=%u heap_kb=%ld",
             grpc_server_connections(s->server), s->requests, s->hangups, heap_kb());
    say(s, id, bytes_of(text));
}

static void big(struct service *s, uint64_t id)
{
    uint8_t *data = mem_zeroed(BIG_BYTES);
    say(s, id, (struct bytes){.data = data, .size = BIG_BYTES});
    free(data);
}

static void on_request(void *context, const struct request *r)
{
    struct service *s = context;
    char who[64];
    s->requests++;
    if (strcmp(r->path, "/echo.Echo/Say") == 0) {
        say(s, r->id, r->body);
    } else if (strcmp(r->path, "/echo.Echo/Who") == 0) {
        snprintf(who, sizeof(who), "%s/%s", r->peer.unit, r->peer.name);
        say(s, r->id, bytes_of(who));
    } else if (strcmp(r->path, "/echo.Echo/Never") == 0) {
        s->nevers[s->never_count++ % NEVERS_MAX] = r->id;
    } else if (strcmp(r->path, "/echo.Echo/Wake") == 0) {
        while (s->never_count) {
            say(s, s->nevers[--s->never_count % NEVERS_MAX], (struct bytes){0});
        }
        say(s, r->id, (struct bytes){0});
    } else if (strcmp(r->path, "/echo.Echo/Big") == 0) {
        big(s, r->id);
    } else if (strcmp(r->path, "/echo.Echo/Stats") == 0) {
        stats(s, r->id);
    } else {
        grpc_server_reply(s->server, &(struct reply){.id = r->id,
                                                     .grpc_status = GRPC_NOT_FOUND,
                                                     .grpc_message = "50% of\n nothing"});
    }
}

static void on_hangup(void *context, uint64_t id)
{
    ((struct service *)context)->hangups++;
}

static void on_term(evutil_socket_t number, short what, void *context)
{
    (void)number, (void)what;
    event_base_loopbreak(context);
}

static void run(const struct grpc_server_config *config, int port_out)
{
    struct service s = {0};
    struct event_base *base = event_base_new();
    struct grpc_server_handlers handlers = {
        .on_request = on_request, .on_hangup = on_hangup, .context = &s};
    struct grpc_server_config own = *config;
    struct err err;
    own.listen = "127.0.0.1:0";
    if (grpc_server_new(&own, base, NULL, &handlers, &s.server, &err) < 0) {
        fprintf(stderr, "grpc_echo: %s\n", err.text);
        _exit(1);
    }
    struct event *term = evsignal_new(base, SIGTERM, on_term, base);
    event_add(term, NULL);
    int port = grpc_server_port(s.server);
    if (write(port_out, &port, sizeof(port)) != sizeof(port)) {
        _exit(1);
    }
    close(port_out);
    event_base_dispatch(base);
    grpc_server_free(s.server);
    event_free(term);
    event_base_free(base);
}

void grpc_echo_start(struct grpc_echo *s, const struct grpc_server_config *config)
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
        run(config, ends[1]);
        exit(0);
    }
    close(ends[1]);
    if (read(ends[0], &s->port, sizeof(s->port)) != sizeof(s->port)) {
        fprintf(stderr, "grpc_echo: it did not start\n");
        abort();
    }
    close(ends[0]);
}

bool grpc_echo_stop(struct grpc_echo *s)
{
    int status = -1;
    kill(s->pid, SIGTERM);
    struct patience p = {0};
    do {
        if (waitpid(s->pid, &status, WNOHANG) == s->pid) {
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
    } while (patience(&p));
    kill(s->pid, SIGKILL);
    waitpid(s->pid, &status, 0);
    fprintf(stderr, "grpc_echo: it did not end\n");
    return false;
}
