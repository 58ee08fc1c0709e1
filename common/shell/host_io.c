#include "common/shell/host_io.h"

#include "common/shell/etcd_io.h"
#include "common/shell/event_queue.h"
#include "common/shell/grpc_server_io.h"
#include "common/shell/health_io.h"
#include "common/shell/local_server_io.h"
#include "common/shell/http_client_io.h"
#include "common/shell/http_server_io.h"
#include "common/shell/launch_io.h"
#include "common/shell/listen_io.h"
#include "common/shell/log_io.h"
#include "common/shell/prober_io.h"
#include "common/shell/relay_io.h"
#include "common/shell/tls_io.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum {
    QUEUED_MAX = 65536,   /* events that came inside steps; more is a bug of a shell or role */
    LAST_WORDS_MS = 1000, /* for answers under way when the role ends */
    LAST_WORDS_STEP_MS = 10,
    ADMIN_CONNECTIONS = 64,
    SLOW_STEP_MS = 200,   /* a step that holds up everything else for so long is reported */
    LOG_TICK_S = 1,
    ENTROPY_WORDS = 32,   /* drawn at once: 256 bytes, which getrandom() never gives in part */
    SIGNAL_STATUS = 128,  /* exit status of a process ended by a signal, beside its number */
};

#define ADMIN_IDS_ABOVE (UINT64_C(1) << 62)
#define TOOLS_IDS_ABOVE (UINT64_C(1) << 61)

struct host {
    struct role *role;
    struct event_base *base;
    struct log *log;
    struct http_server *server;  /* NULL = does not listen */
    struct grpc_server *grpc;    /* NULL = none */
    struct http_server *admin;   /* NULL = none */
    struct local_server *tools;  /* NULL = none */
    struct http_client *clients[IDENTITY_COUNT]; /* NULL = no certificates. Each has connections of
                                                  * its own: none is used as somebody else */
    struct relays *relays;       /* likewise */
    struct launcher *launcher;   /* NULL = nothing was launched yet */
    struct health *health;       /* NULL = none */
    struct etcd *etcd;           /* NULL = no store */
    struct driver_shell *driver; /* NULL = no containers */
    struct prober *prober;       /* likewise */
    struct resolver_shell *resolver; /* NULL = reads no definitions, */
    const char *no_resolver;         /* and says why */
    int (*incarnation_keep)(void *owner, uint64_t incarnation, struct err *err); /* NULL = none */
    int (*evacuation_keep)(void *owner, const struct kept_evacuation *kept, struct err *err);
    void *state_owner;
    struct event *due;           /* the role's timer */
    struct event *log_tick;
    struct event *last_words;
    struct event *term, *interrupt;
    int64_t due_ns;
    struct arena arena; /* of the step */
    struct event_queue queue;
    uint64_t entropy[ENTROPY_WORDS];
    unsigned entropy_left;
    bool stepping;
    bool exiting; /* the role has ended: no more events */
    unsigned stops; /* signals to end */
    int64_t exit_by_ns;
    int exit_code;
};

struct event_base *host_loop(struct host *h)
{
    return h->base;
}

/* ---- Time and chance ----------------------------------------------------------------------- */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static uint64_t draw(struct host *h)
{
    if (!h->entropy_left) {
        while (getrandom(h->entropy, sizeof(h->entropy), 0) != sizeof(h->entropy)) {
            assert(errno == EINTR);
        }
        h->entropy_left = ENTROPY_WORDS;
    }
    uint64_t word = h->entropy[--h->entropy_left];
    h->entropy[h->entropy_left] = 0;
    return word;
}

/* Rounded up, so that the timer is not early by less than it can tell. */
static struct timeval until(int64_t due_ns)
{
    int64_t left_us = (due_ns - clock_ns(CLOCK_MONOTONIC) + MICROSECOND_NS - 1) / MICROSECOND_NS;
    left_us = left_us < 0 ? 0 : left_us;
    return (struct timeval){.tv_sec = left_us / 1000000, .tv_usec = left_us % 1000000};
}

static void set_due(struct host *h, int64_t due_ns)
{
    if (due_ns == h->due_ns) {
        return;
    }
    h->due_ns = due_ns;
    if (due_ns == NEVER_NS) {
        evtimer_del(h->due);
        return;
    }
    struct timeval tv = until(due_ns);
    evtimer_add(h->due, &tv);
}

/* ---- Effects ------------------------------------------------------------------------------- */

static void put_log(struct host *h, const struct log_line *line)
{
    log_put(h->log, line);
    if (!evtimer_pending(h->log_tick, NULL)) {
        struct timeval tv = {.tv_sec = LOG_TICK_S};
        evtimer_add(h->log_tick, &tv);
    }
}

static void begin_exit(struct host *h, int code, const char *text)
{
    if (h->exiting) {
        return;
    }
    h->exiting = true;
    h->exit_code = code;
    log_printf(h->log, code ? LOG_ERROR_LEVEL : LOG_INFO_LEVEL, "ends", "code=%d reason=\"%s\"",
               code, text ? text : "");
    h->exit_by_ns = clock_ns(CLOCK_MONOTONIC) + LAST_WORDS_MS * MILLISECOND_NS;
    event_active(h->last_words, EV_TIMEOUT, 0);
}

static void verb(struct host *h, const struct verb_call *call)
{
    assert(h->driver);
    h->driver->ops->call(h->driver, call);
}

/* Which server a request came to is told by its id. */
static struct http_server *server_of(const struct host *h, uint64_t request_id)
{
    return h->admin && request_id > ADMIN_IDS_ABOVE ? h->admin : h->server;
}

void host_wake(struct host *h, const char *channel)
{
    if (h->server) {
        http_server_wake(h->server, channel);
    }
    if (h->admin) {
        http_server_wake(h->admin, channel);
    }
}

static void keep_incarnation(struct host *h, uint64_t incarnation)
{
    assert(h->incarnation_keep);
    struct err err = {.text = ""};
    h->incarnation_keep(h->state_owner, incarnation, &err);
    host_deliver(h, &(struct event){.kind = EVENT_INCARNATION,
                                    .incarnation = {.incarnation = incarnation, .text = err.text}});
}

static void keep_evacuation(struct host *h, uint64_t id, const struct kept_evacuation *kept)
{
    assert(h->evacuation_keep);
    struct err err = {.text = ""};
    h->evacuation_keep(h->state_owner, kept, &err);
    host_deliver(h, &(struct event){.kind = EVENT_EVACUATION,
                                    .evacuation = {.id = id, .text = err.text}});
}

static void resolve(struct host *h, const struct resolve_request *request)
{
    if (h->resolver) {
        h->resolver->ops->resolve(h->resolver, request);
        return;
    }
    assert(h->no_resolver);
    host_deliver(h, &(struct event){.kind = EVENT_RESOLVED,
                                    .resolved = {.id = request->id,
                                                 .fault = h->no_resolver,
                                                 .needs = "",
                                                 .commit = "",
                                                 .version = ""}});
}

static void on_launched(void *host, const struct launched *launched)
{
    host_deliver(host, &(struct event){.kind = EVENT_LAUNCHED, .launched = *launched});
}

static void launch(struct host *h, const struct launch *wanted)
{
    if (!h->launcher) {
        h->launcher = launcher_new(h->base, on_launched, h);
    }
    launcher_launch(h->launcher, wanted);
}

static struct http_client *client_of(const struct host *h, const struct call *call)
{
    struct http_client *client = h->clients[call->identity];
    assert(client);
    return client;
}

/* Ids are the role's, whatever it calls as. */
static void cancel(struct host *h, uint64_t id)
{
    for (size_t i = 0; i < IDENTITY_COUNT; i++) {
        if (h->clients[i]) {
            http_client_cancel(h->clients[i], id);
        }
    }
}

static bool is_of_tools(uint64_t request_id)
{
    return request_id > TOOLS_IDS_ABOVE && request_id <= ADMIN_IDS_ABOVE;
}

void host_reply(struct host *h, const struct reply *reply)
{
    if (grpc_server_id(reply->id)) {
        assert(h->grpc);
        grpc_server_reply(h->grpc, reply);
    } else if (is_of_tools(reply->id)) {
        assert(h->tools);
        local_server_reply(h->tools, reply);
    } else {
        assert(h->server);
        http_server_reply(server_of(h, reply->id), reply);
    }
}

static void carry_out(struct host *h, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_REPLY:
        host_reply(h, &e->reply);
        break;
    case EFFECT_WAKE:
        host_wake(h, e->wake);
        break;
    case EFFECT_CALL:
        http_client_call(client_of(h, &e->call), &e->call);
        break;
    case EFFECT_SUBSCRIBE:
        http_client_subscribe(client_of(h, &e->call), &e->call);
        break;
    case EFFECT_CANCEL:
        cancel(h, e->cancel);
        break;
    case EFFECT_RELAY:
        assert(h->relays);
        relays_begin(h->relays, &e->relay);
        break;
    case EFFECT_STORE:
        assert(h->etcd);
        etcd_call(h->etcd, &e->store);
        break;
    case EFFECT_WATCH:
        assert(h->etcd);
        etcd_watch(h->etcd, e->watch.id, e->watch.start_revision);
        break;
    case EFFECT_UNWATCH:
        assert(h->etcd);
        etcd_unwatch(h->etcd, e->unwatch);
        break;
    case EFFECT_VERB:
        verb(h, &e->verb);
        break;
    case EFFECT_OUTPUT:
        assert(h->driver);
        h->driver->ops->output(h->driver, &e->output);
        break;
    case EFFECT_PROBE:
        assert(h->prober);
        prober_probe(h->prober, &e->probe);
        break;
    case EFFECT_INCARNATION:
        keep_incarnation(h, e->incarnation);
        break;
    case EFFECT_EVACUATION:
        keep_evacuation(h, e->evacuation.id, &e->evacuation.kept);
        break;
    case EFFECT_RESOLVE:
        resolve(h, &e->resolve);
        break;
    case EFFECT_LAUNCH:
        launch(h, &e->launch);
        break;
    case EFFECT_LOG:
        put_log(h, &e->log);
        break;
    case EFFECT_EXIT:
        begin_exit(h, e->exit.code, e->exit.text);
        break;
    case EFFECT_KIND_COUNT:
        assert(!"an effect of no kind");
    }
}

/* ---- Steps --------------------------------------------------------------------------------- */

static void step(struct host *h, struct event *ev)
{
    struct effects effects;
    ev->now.mono_ns = clock_ns(CLOCK_MONOTONIC);
    ev->now.wall_ns = clock_ns(CLOCK_REALTIME);
    ev->entropy[0] = draw(h);
    ev->entropy[1] = draw(h);
    effects_init(&effects, &h->arena);
    h->stepping = true;
    role_step(h->role, ev, &effects);
    for (size_t i = 0; i < effects.count; i++) {
        carry_out(h, &effects.list[i]);
    }
    set_due(h, effects.due_ns);
    arena_reset(&h->arena);
    h->stepping = false;
    int64_t took_ms = (clock_ns(CLOCK_MONOTONIC) - ev->now.mono_ns) / MILLISECOND_NS;
    if (took_ms >= SLOW_STEP_MS) {
        log_printf(h->log, LOG_WARN_LEVEL, "a step took long", "event=%d took_ms=%lld", ev->kind,
                   (long long)took_ms);
    }
}

/* What came inside steps, oldest first. */
static void step_queue(struct host *h)
{
    struct event *ev;
    struct queued_event *q;
    while (!h->exiting && (q = event_queue_pop(&h->queue, &ev))) {
        step(h, ev);
        queued_free(q);
    }
}

void host_deliver(struct host *h, const struct event *ev)
{
    if (h->exiting) {
        return;
    }
    if (h->stepping) {
        assert(h->queue.count < QUEUED_MAX);
        event_queue_push(&h->queue, ev);
        return;
    }
    struct event own = *ev;
    step_queue(h);
    if (!h->exiting) {
        step(h, &own);
    }
    step_queue(h);
}

/* ---- What the shells tell ------------------------------------------------------------------ */

static size_t body_limit(void *context, const char *path)
{
    struct host *h = context;
    return h->role->ops->body_limit(h->role, path);
}

static void on_request(void *context, const struct request *request)
{
    struct host *h = context;
    if (h->exiting) { /* nobody is there to answer */
        http_server_reply(server_of(h, request->id), &(struct reply){.id = request->id,
                                                                     .status = 503,
                                                                     .content_type = "",
                                                                     .retry_after_s = 1});
        return;
    }
    struct event ev = {.kind = EVENT_REQUEST, .request = *request};
    ev.request.admin = request->id > ADMIN_IDS_ABOVE;
    host_deliver(h, &ev);
}

static void on_tools(void *context, const struct request *request)
{
    struct host *h = context;
    if (h->exiting) { /* the next one answers */
        local_server_reply(h->tools, &(struct reply){.id = request->id,
                                                     .status = 503,
                                                     .content_type = "",
                                                     .body = bytes_of("this rep ends\n")});
        return;
    }
    host_deliver(h, &(struct event){.kind = EVENT_REQUEST, .request = *request});
}

static void on_grpc(void *context, const struct request *request)
{
    struct host *h = context;
    if (h->exiting) {
        grpc_server_reply(h->grpc, &(struct reply){.id = request->id,
                                                   .grpc_status = GRPC_UNAVAILABLE,
                                                   .grpc_message = "this process ends"});
        return;
    }
    host_deliver(h, &(struct event){.kind = EVENT_REQUEST, .request = *request});
}

static void on_hangup(void *context, uint64_t id)
{
    host_deliver(context, &(struct event){.kind = EVENT_HANGUP, .hangup = id});
}

static void on_response(void *context, const struct response *response)
{
    host_deliver(context, &(struct event){.kind = EVENT_RESPONSE, .response = *response});
}

static void on_stream(void *context, const struct stream_event *event)
{
    host_deliver(context, &(struct event){.kind = EVENT_STREAM, .stream = *event});
}

static void on_store(void *context, const struct store_answer *answer)
{
    host_deliver(context, &(struct event){.kind = EVENT_STORE, .store = *answer});
}

static void on_watch(void *context, const struct watch_event *watch)
{
    host_deliver(context, &(struct event){.kind = EVENT_WATCH, .watch = *watch});
}

static void on_probed(void *context, const struct probed *probed)
{
    host_deliver(context, &(struct event){.kind = EVENT_PROBED, .probed = *probed});
}

static void on_due(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct host *h = context;
    int64_t due_ns = h->due_ns;
    h->due_ns = NEVER_NS;
    /* libevent counts from the moment it woke up, so it may be early. */
    if (clock_ns(CLOCK_MONOTONIC) < due_ns) {
        set_due(h, due_ns);
        return;
    }
    host_deliver(h, &(struct event){.kind = EVENT_TIMER});
}

static void on_signal(evutil_socket_t number, short what, void *context)
{
    (void)what;
    struct host *h = context;
    log_printf(h->log, LOG_INFO_LEVEL, "is asked to end", "signal=%d", (int)number);
    if (h->stops++) {
        h->exiting = true;
        h->exit_code = SIGNAL_STATUS + (int)number;
        event_base_loopbreak(h->base);
        return;
    }
    host_deliver(h, &(struct event){.kind = EVENT_STOP,
                                    .stop = number == SIGINT ? STOP_AT_ONCE : STOP_IN_ORDER});
}

static void on_log_tick(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct host *h = context;
    if (log_tick(h->log)) {
        struct timeval tv = {.tv_sec = LOG_TICK_S};
        evtimer_add(h->log_tick, &tv);
    }
}

/* The role has ended; what it answered last is still given to those who take it. */
static void on_last_words(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    struct host *h = context;
    bool busy = h->server && http_server_closing(h->server);
    busy = (h->grpc && grpc_server_closing(h->grpc)) || busy;
    busy = (h->admin && http_server_closing(h->admin)) || busy;
    if (!busy || clock_ns(CLOCK_MONOTONIC) >= h->exit_by_ns) {
        event_base_loopbreak(h->base);
        return;
    }
    struct timeval tv = {.tv_usec = LAST_WORDS_STEP_MS * 1000};
    evtimer_add(h->last_words, &tv);
}

/* ---- Beginning and ending ------------------------------------------------------------------ */

static void make_loop(struct host *h)
{
    h->base = event_base_new();
    if (!h->base || !(h->due = evtimer_new(h->base, on_due, h)) ||
        !(h->log_tick = evtimer_new(h->base, on_log_tick, h)) ||
        !(h->last_words = evtimer_new(h->base, on_last_words, h)) ||
        !(h->term = evsignal_new(h->base, SIGTERM, on_signal, h)) ||
        !(h->interrupt = evsignal_new(h->base, SIGINT, on_signal, h)) ||
        event_add(h->term, NULL) < 0 || event_add(h->interrupt, NULL) < 0) {
        abort();
    }
    h->due_ns = NEVER_NS;
}

static int make_grpc(struct host *h, const struct host_config *config, struct err *err)
{
    struct grpc_server_config server = {.listen = config->grpc, .tls = config->tls};
    struct grpc_server_handlers handlers = {
        .on_request = on_grpc, .on_hangup = on_hangup, .context = h};
    return grpc_server_new(&server, h->base, h->log, &handlers, &h->grpc, err);
}

static int make_tools(struct host *h, const struct host_config *config, struct err *err)
{
    struct local_server_config server = {
        .dir = config->tools, .name = TOOLS_SOCKET, .ids_above = TOOLS_IDS_ABOVE};
    struct local_server_handlers handlers = {
        .on_request = on_tools, .on_hangup = on_hangup, .context = h};
    return local_server_new(&server, h->base, &handlers, &h->tools, err);
}

/* Descriptors that the driver and the other listeners' connections may take. */
static unsigned others(const struct host_config *config)
{
    return config->driver_files + (config->driver_new ? PROBES_MAX : 0) +
           (config->grpc ? GRPC_CONNECTIONS_MAX : 0) +
           (config->tools ? 2 * LOCAL_CONNECTIONS_MAX : 0) +
           (config->health ? HEALTH_CONNECTIONS_MAX : 0) + (config->admin ? ADMIN_CONNECTIONS : 0);
}

/* Who calls others, as whom it has certificates for. */
static int make_clients(struct host *h, const struct host_config *config, struct err *err)
{
    const struct tls_files *const files[IDENTITY_COUNT] = {
        [IDENTITY_OWN] = &config->tls, [IDENTITY_CENTRE] = &config->centre_tls};
    struct http_client_handlers handlers = {
        .on_response = on_response, .on_stream = on_stream, .context = h};
    for (size_t i = 0; i < IDENTITY_COUNT; i++) {
        int r = files[i]->ca ? tls_check(files[i], err) : 0;
        if (r < 0) {
            return r;
        }
        h->clients[i] = files[i]->ca ? http_client_new(files[i], h->base, &handlers) : NULL;
    }
    h->relays = config->tls.ca ? relays_new(&config->tls, h) : NULL;
    return 0;
}

static int make_peers(struct host *h, const struct host_config *config, struct err *err)
{
    int r = make_clients(h, config, err);
    if (r < 0) {
        return r;
    }
    struct http_server_config server = {.listen = config->listen,
                                        .tls = config->tls,
                                        .times = {.stall_ms = config->stall_ms},
                                        .others = others(config)};
    struct http_server_handlers handlers = {
        .body_limit = body_limit, .on_request = on_request, .on_hangup = on_hangup, .context = h};
    if (server.listen) {
        r = http_server_new(&server, h->base, h->log, &handlers, &h->server, err);
    }
    if (r == 0 && config->admin) {
        server.listen = config->admin;
        server.ids_above = ADMIN_IDS_ABOVE;
        server.connections_max = ADMIN_CONNECTIONS;
        r = http_server_new(&server, h->base, h->log, &handlers, &h->admin, err);
    }
    if (r == 0 && config->grpc) {
        r = make_grpc(h, config, err);
    }
    if (r == 0 && config->tools) {
        r = make_tools(h, config, err);
    }
    if (r < 0) {
        return r;
    }
    return config->health ? health_new(config->health, h->base, &h->health, err) : 0;
}

static int make_shells(struct host *h, const struct host_config *config, struct err *err)
{
    int r = make_peers(h, config, err);
    if (r == 0 && config->etcd) {
        struct etcd_config etcd = {.endpoints = config->etcd,
                                   .ca = config->etcd_tls.ca,
                                   .cert = config->etcd_tls.cert,
                                   .key = config->etcd_tls.key};
        struct etcd_handlers handlers = {.on_answer = on_store, .on_watch = on_watch, .context = h};
        r = etcd_new(&etcd, h->base, &handlers, &h->etcd, err);
    }
    if (r == 0 && config->driver_new) {
        h->prober = prober_new(h->base, on_probed, h);
        h->driver = config->driver_new(config->driver_config, h, err);
        r = h->driver ? 0 : -(int)err->code;
    }
    if (r == 0 && config->resolver_new) {
        h->resolver = config->resolver_new(config->resolver_config, h, err);
        r = h->resolver ? 0 : -(int)err->code;
    }
    return r;
}

static void tell_start(const struct host *h, const struct host_config *config)
{
    if (h->server) {
        log_printf(h->log, LOG_INFO_LEVEL, "listens", "address=%s port=%d", config->listen,
                   http_server_port(h->server));
    }
    if (h->grpc) {
        log_printf(h->log, LOG_INFO_LEVEL, "gRPC listens", "address=%s port=%d", config->grpc,
                   grpc_server_port(h->grpc));
    }
    if (h->admin) {
        log_printf(h->log, LOG_INFO_LEVEL, "listens for this machine", "address=%s port=%d",
                   config->admin, http_server_port(h->admin));
        if (!listen_is_loopback(config->admin)) {
            log_printf(h->log, LOG_WARN_LEVEL, "the listener for this machine is open to others",
                       "address=%s so=\"whoever reaches it with a client's certificate may have "
                       "this cell emptied (POST /evacuate)\"",
                       config->admin);
        }
    }
    if (h->health) {
        log_printf(h->log, LOG_INFO_LEVEL, "health listens", "address=%s port=%d", config->health,
                   health_port(h->health));
    }
}

static void host_done(struct host *h)
{
    h->exiting = true;
    if (h->driver) {
        h->driver->ops->free(h->driver);
    }
    prober_free(h->prober);
    if (h->resolver) {
        h->resolver->ops->free(h->resolver);
    }
    http_server_free(h->server);
    grpc_server_free(h->grpc);
    http_server_free(h->admin);
    local_server_free(h->tools);
    relays_free(h->relays);
    for (size_t i = 0; i < IDENTITY_COUNT; i++) {
        http_client_free(h->clients[i]);
    }
    launcher_free(h->launcher);
    health_free(h->health);
    etcd_free(h->etcd);
    event_queue_done(&h->queue);
    event_free(h->due);
    event_free(h->log_tick);
    event_free(h->last_words);
    event_free(h->term);
    event_free(h->interrupt);
    event_base_free(h->base);
    arena_done(&h->arena);
    log_free(h->log);
}

int host_run(struct role *role, const struct host_config *config, struct err *err)
{
    struct host h = {.role = role,
                     .no_resolver = config->no_resolver,
                     .incarnation_keep = config->incarnation_keep,
                     .evacuation_keep = config->evacuation_keep,
                     .state_owner = config->state_owner};
    signal(SIGPIPE, SIG_IGN);
    arena_init(&h.arena);
    event_queue_init(&h.queue);
    h.log = log_new(config->name, config->log_level, STDERR_FILENO);
    make_loop(&h);
    int r = make_shells(&h, config, err);
    if (r == 0) {
        tell_start(&h, config);
        host_deliver(&h, &(struct event){.kind = EVENT_START});
        event_base_dispatch(h.base);
        r = h.exit_code;
    }
    host_done(&h);
    return r;
}
