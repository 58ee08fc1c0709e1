/* A real etcd behind the store shell, with a relay between them for the faults of the network. */
#include "common/base/memory.h"
#include "common/contract/moment.h"
#include "test/conformance/store_backend.h"
#include "test/tool/etcd_server.h"
#include "test/tool/netns.h"
#include "test/tool/relay.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct backend_etcd {
    struct store_backend base;
    struct etcd_server server;
    struct event_base *loop;
    struct relay *relay;
    struct etcd *etcd;
    struct event *limit;
    bool broken;
    enum store_fault fault;
};

static struct backend_etcd *etcd_of(const struct store_backend *b)
{
    return (struct backend_etcd *)(size_t)b;
}

static void real_call(struct store_backend *b, const struct store_request *request)
{
    etcd_call(etcd_of(b)->etcd, request);
}

static void real_watch(struct store_backend *b, uint64_t id, int64_t start_revision)
{
    etcd_watch(etcd_of(b)->etcd, id, start_revision);
}

static void real_unwatch(struct store_backend *b, uint64_t id)
{
    etcd_unwatch(etcd_of(b)->etcd, id);
}

static int64_t real_now(const struct store_backend *b)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void on_answer(void *backend, const struct store_answer *answer)
{
    struct backend_etcd *e = backend;
    event_base_loopbreak(e->loop);
    e->base.handlers.on_answer(e->base.handlers.context, answer);
}

static void on_watch(void *backend, const struct watch_event *event)
{
    struct backend_etcd *e = backend;
    event_base_loopbreak(e->loop);
    e->base.handlers.on_watch(e->base.handlers.context, event);
}

static void on_limit(evutil_socket_t fd, short what, void *backend)
{
    event_base_loopbreak(etcd_of(backend)->loop);
}

static void real_wait(struct store_backend *b, int64_t limit_ns)
{
    struct backend_etcd *e = etcd_of(b);
    struct timeval limit = {.tv_sec = limit_ns / SECOND_NS,
                            .tv_usec = limit_ns % SECOND_NS / MICROSECOND_NS};
    evtimer_add(e->limit, &limit);
    event_base_dispatch(e->loop);
    evtimer_del(e->limit);
}

static bool real_break(struct store_backend *b, enum store_fault fault)
{
    struct backend_etcd *e = etcd_of(b);
    if (fault == STORE_DROP && !netns_drop(relay_port(e->relay))) {
        return false;
    }
    e->broken = true;
    e->fault = fault;
    switch (fault) {
    case STORE_CRASH:
        etcd_server_kill(&e->server);
        break;
    case STORE_FREEZE:
        etcd_server_pause(&e->server);
        break;
    case STORE_CUT:
        relay_cut(e->relay);
        break;
    case STORE_SILENCE:
        relay_silence(e->relay, true);
        break;
    default:
        break;
    }
    return true;
}

static void give_up(const char *what, const struct err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    exit(1);
}

static void real_heal(struct store_backend *b)
{
    struct backend_etcd *e = etcd_of(b);
    struct err err = {0};
    if (!e->broken) {
        return;
    }
    e->broken = false;
    if (e->fault == STORE_CRASH && etcd_server_restart(&e->server, &err) != 0) {
        give_up("restart of etcd", &err);
    }
    etcd_server_resume(&e->server);
    if (e->fault == STORE_SILENCE) {
        relay_silence(e->relay, false);
    }
    if (e->fault == STORE_DROP) {
        netns_restore();
    }
}

static void real_free(struct store_backend *b)
{
    struct backend_etcd *e = etcd_of(b);
    etcd_free(e->etcd);
    relay_free(e->relay);
    event_free(e->limit);
    event_base_free(e->loop);
    etcd_server_done(&e->server);
    free(e);
}

static void connect_through_relay(struct backend_etcd *e, const struct backend_options *options)
{
    struct err err = {0};
    struct etcd_handlers handlers = {.on_answer = on_answer, .on_watch = on_watch, .context = e};
    e->relay = relay_new(e->loop, e->server.port);
    if (!e->relay) {
        give_up("relay", &(struct err){.text = "cannot listen on loopback"});
    }
    char endpoints[192];
    snprintf(endpoints, sizeof(endpoints), "%shttp%s://127.0.0.1:%d,%s",
             options->endpoints == BACKEND_DEAD_FIRST ? "http://127.0.0.1:1," : "",
             e->server.config.tls ? "s" : "", relay_port(e->relay),
             options->endpoints == BACKEND_DIRECT_SECOND ? e->server.endpoint : "");
    struct etcd_config config = etcd_server_client(&e->server);
    config.endpoints = endpoints;
    if (etcd_new(&config, e->loop, &handlers, &e->etcd, &err) != 0) {
        give_up("store shell", &err);
    }
}

struct store_backend *backend_etcd_new(const struct backend_options *options)
{
    static const struct store_backend_ops ops = {
        .name = "etcd",
        .call = real_call,
        .watch = real_watch,
        .unwatch = real_unwatch,
        .now_ns = real_now,
        .wait = real_wait,
        .break_it = real_break,
        .heal = real_heal,
        .free = real_free,
    };
    struct err err = {0};
    struct backend_etcd *e = mem_zeroed(sizeof(*e));
    e->base.ops = &ops;
    struct etcd_server_config config = {.tls = options->tls, .quota_bytes = options->quota_bytes};
    if (etcd_server_start(&config, &e->server, &err) != 0) {
        give_up("etcd", &err);
    }
    e->loop = event_base_new();
    e->limit = evtimer_new(e->loop, on_limit, e);
    connect_through_relay(e, options);
    return &e->base;
}
