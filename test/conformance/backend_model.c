/* The model etcd as a back end: virtual time, and a small network that delays, reorders and loses.
 */
#include "common/base/message.h"
#include "common/base/random.h"
#include "common/contract/moment.h"
#include "test/conformance/store_backend.h"
#include "test/sim/model/etcd.h"

#include <assert.h>
#include <stdlib.h>

enum { DELAY_MAX_US = 2000, WATCH_BATCH = 32 };

enum stage {
    ON_ITS_WAY, /* the request has not reached the store */
    APPLIED,    /* the answer is on its way back */
    LOST,       /* nothing will come; told at the deadline */
};

struct model_call {
    struct model_call *next;
    struct arena arena; /* of the request and the answer */
    struct store_request request;
    struct store_answer answer;
    enum stage stage;
    bool told; /* given up; but the request may still be on its way */
    int64_t due_ns;
};

struct model_watch {
    struct model_watch *next;
    uint64_t id;
    int64_t from;
    bool open;
    bool broken;
    int64_t due_ns;
};

struct backend_model {
    struct store_backend base;
    struct backend_options options;
    struct model_etcd *etcd;
    struct random random;
    int64_t now_ns;
    struct model_call *calls;
    struct model_watch *watches;
    bool broken;
    enum store_fault fault;
    bool told; /* something was, since the wait began */
};

static struct backend_model *model_of(const struct store_backend *b)
{
    return (struct backend_model *)(size_t)b;
}

static int64_t delay_ns(struct backend_model *m)
{
    return m->options.delays ? (int64_t)random_below(&m->random, DELAY_MAX_US) * MICROSECOND_NS + 1
                             : 1;
}

static void model_call(struct store_backend *b, const struct store_request *request)
{
    struct backend_model *m = model_of(b);
    struct model_call *c = calloc(1, sizeof(*c));
    assert(c);
    arena_init(&c->arena);
    c->request = *request;
    c->request.message = message_copy(&c->arena, request->message);
    c->due_ns = m->now_ns + delay_ns(m);
    c->next = m->calls;
    m->calls = c;
    bool refused = m->broken && m->fault == STORE_CRASH;
    bool lost = m->broken && (m->fault == STORE_SILENCE || m->fault == STORE_DROP);
    if (refused || lost) {
        c->stage = refused ? APPLIED : LOST;
        c->answer = (struct store_answer){.call = request->call,
                                          .outcome = STORE_REFUSED,
                                          .grpc_status = GRPC_UNAVAILABLE,
                                          .text = "the model is down"};
    }
}

static void model_watch(struct store_backend *b, uint64_t id, int64_t start_revision)
{
    struct backend_model *m = model_of(b);
    struct model_watch *w = calloc(1, sizeof(*w));
    assert(w);
    *w = (struct model_watch){.id = id,
                              .from = start_revision ? start_revision
                                                     : model_etcd_revision(m->etcd) + 1,
                              .due_ns = m->now_ns + delay_ns(m),
                              .broken = m->broken,
                              .next = m->watches};
    m->watches = w;
}

static void model_unwatch(struct store_backend *b, uint64_t id)
{
    struct model_watch **link = &model_of(b)->watches;
    while (*link && (*link)->id != id) {
        link = &(*link)->next;
    }
    if (*link) {
        struct model_watch *w = *link;
        *link = w->next;
        free(w);
    }
}

static int64_t model_now(const struct store_backend *b)
{
    return model_of(b)->now_ns;
}

static void tell_answer(struct backend_model *m, struct model_call *c, struct store_answer answer)
{
    answer.id = c->request.id;
    answer.call = c->request.call;
    c->told = true;
    m->told = true;
    m->base.handlers.on_answer(m->base.handlers.context, &answer);
}

static void give_up(struct backend_model *m, struct model_call *c, const char *text)
{
    if (!c->told) {
        tell_answer(m, c, (struct store_answer){.outcome = STORE_UNKNOWN, .text = text});
    }
}

static void drop_call(struct backend_model *m, struct model_call *gone)
{
    struct model_call **link = &m->calls;
    while (*link != gone) {
        link = &(*link)->next;
    }
    *link = gone->next;
    arena_done(&gone->arena);
    free(gone);
}

static void tell_watch(struct backend_model *m, const struct model_watch *w,
                       enum watch_event_kind kind, const Etcd__WatchResponse *response,
                       const char *text)
{
    struct watch_event event = {.id = w->id, .kind = kind, .response = response, .text = text};
    m->told = true;
    m->base.handlers.on_watch(m->base.handlers.context, &event);
}

/* Between due times a watch is told nothing, so that several revisions wait for it. */
static void serve_watch(struct backend_model *m, struct model_watch *w)
{
    SCOPED_ARENA(a);
    w->due_ns = m->now_ns + delay_ns(m);
    uint64_t id = w->id;
    if (w->broken) {
        struct model_watch copy = *w;
        model_unwatch(&m->base, id);
        tell_watch(m, &copy, WATCH_CLOSED, NULL, "the model's connection broke");
    } else if (!w->open) {
        w->open = true;
        tell_watch(m, w, WATCH_OPEN, model_etcd_watch_created(m->etcd, &a), "");
    } else {
        Etcd__WatchResponse **list;
        size_t count = model_etcd_events_since(m->etcd, w->from, WATCH_BATCH, &a, &list);
        for (size_t i = 0; i < count; i++) {
            struct model_watch copy = *w;
            if (list[i]->canceled) {
                model_unwatch(&m->base, id);
                tell_watch(m, &copy, WATCH_CLOSED, list[i], "compacted");
                break;
            }
            w->from = list[i]->events[0]->kv->mod_revision + 1;
            tell_watch(m, w, WATCH_EVENTS, list[i], "");
        }
    }
}

static void serve_call(struct backend_model *m, struct model_call *c)
{
    if (c->stage == ON_ITS_WAY) {
        model_etcd_apply(m->etcd, c->request.call, c->request.message, &c->arena, &c->answer);
        c->stage = APPLIED;
        c->due_ns = m->now_ns + delay_ns(m);
    } else {
        if (!c->told) {
            tell_answer(m, c, c->answer);
        }
        drop_call(m, c);
    }
}

/* A frozen store does nothing, and nothing passes a silent network; time-outs still come. */
static bool stands_still(const struct backend_model *m)
{
    return m->broken && m->fault != STORE_CUT;
}

static bool call_can_move(const struct backend_model *m, const struct model_call *c)
{
    bool refused = m->broken && m->fault == STORE_CRASH && c->stage == APPLIED;
    return c->stage != LOST && (refused || !stands_still(m));
}

static bool watch_can_move(const struct backend_model *m, const struct model_watch *w)
{
    int64_t last = model_etcd_revision(m->etcd);
    return w->broken || (!stands_still(m) && (!w->open || w->from <= last));
}

/* The next thing that happens: a call, a watch, a deadline or a lease's end. */
struct next {
    int64_t at_ns;
    struct model_call *call;
    struct model_watch *watch;
    bool deadline;
};

static void consider(struct next *n, struct next other)
{
    if (other.at_ns < n->at_ns) {
        *n = other;
    }
}

static struct next find_next(struct backend_model *m, int64_t limit_ns)
{
    struct next n = {.at_ns = limit_ns};
    for (struct model_call *c = m->calls; c; c = c->next) {
        if (call_can_move(m, c)) {
            consider(&n, (struct next){.at_ns = c->due_ns, .call = c});
        }
        if (!c->told) {
            consider(&n,
                     (struct next){.at_ns = c->request.deadline_ns, .call = c, .deadline = true});
        }
    }
    for (struct model_watch *w = m->watches; w; w = w->next) {
        if (watch_can_move(m, w)) {
            consider(&n, (struct next){.at_ns = w->due_ns, .watch = w});
        }
    }
    if (!stands_still(m)) {
        consider(&n, (struct next){.at_ns = model_etcd_due(m->etcd)});
    }
    return n;
}

static void model_wait(struct store_backend *b, int64_t limit_ns)
{
    struct backend_model *m = model_of(b);
    int64_t end_ns = m->now_ns + limit_ns;
    m->told = false;
    while (!m->told && m->now_ns < end_ns) {
        struct next n = find_next(m, end_ns);
        m->now_ns = n.at_ns > m->now_ns ? n.at_ns : m->now_ns;
        if (!stands_still(m)) {
            model_etcd_advance(m->etcd, m->now_ns);
        }
        if (n.call && n.deadline) {
            give_up(m, n.call, "the deadline passed");
            if (n.call->stage == LOST) {
                drop_call(m, n.call);
            }
        } else if (n.call) {
            serve_call(m, n.call);
        } else if (n.watch) {
            serve_watch(m, n.watch);
        }
    }
}

/* What is on the wire when connections break: each request may still arrive, no answer does. */
static void break_connections(struct backend_model *m, bool may_arrive)
{
    for (struct model_watch *w = m->watches; w; w = w->next) {
        w->broken = true;
    }
    for (struct model_call *c = m->calls, *next; c; c = next) {
        next = c->next;
        bool arrives = c->stage == ON_ITS_WAY && may_arrive && random_below(&m->random, 2);
        give_up(m, c, "the connection broke");
        if (!arrives) {
            drop_call(m, c);
        }
    }
}

static bool model_break(struct store_backend *b, enum store_fault fault)
{
    struct backend_model *m = model_of(b);
    m->broken = true;
    m->fault = fault;
    if (fault == STORE_CRASH || fault == STORE_CUT) {
        break_connections(m, fault == STORE_CUT);
    }
    if (fault == STORE_SILENCE || fault == STORE_DROP) {
        for (struct model_watch *w = m->watches; w; w = w->next) {
            w->broken = true;
            w->due_ns = m->now_ns + ETCD_SILENCE_MS * MILLISECOND_NS;
        }
        for (struct model_call *c = m->calls; c; c = c->next) {
            c->stage = LOST;
        }
    }
    return true;
}

static void model_heal(struct store_backend *b)
{
    struct backend_model *m = model_of(b);
    if (m->broken && m->fault == STORE_CRASH) {
        model_etcd_elect(m->etcd);
    }
    m->broken = false;
}

static void model_free(struct store_backend *b)
{
    struct backend_model *m = model_of(b);
    while (m->calls) {
        drop_call(m, m->calls);
    }
    while (m->watches) {
        model_unwatch(b, m->watches->id);
    }
    model_etcd_free(m->etcd);
    free(m);
}

struct store_backend *backend_model_new(const struct backend_options *options)
{
    static const struct store_backend_ops ops = {
        .name = "model",
        .call = model_call,
        .watch = model_watch,
        .unwatch = model_unwatch,
        .now_ns = model_now,
        .wait = model_wait,
        .break_it = model_break,
        .heal = model_heal,
        .free = model_free,
    };
    struct backend_model *m = calloc(1, sizeof(*m));
    assert(m);
    struct model_etcd_config config = {.quota_bytes = options->quota_bytes};
    m->base.ops = &ops;
    m->options = *options;
    m->etcd = model_etcd_new(&config);
    m->now_ns = SECOND_NS;
    random_seed(&m->random, (uint64_t[2]){options->seed, options->seed ^ 0x6d6f64656c});
    return &m->base;
}
