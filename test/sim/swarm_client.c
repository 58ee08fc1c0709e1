/* The workload: clients that desire, scale, remove, retire and list through any bbs, repeating as
 * Diego's clients do; and the judge of what they were answered (S5, S6): there must be an instant
 * between question and answer at which the answer was true. */
#include <string.h>

#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/domain.pb-c.h"
#include "test/sim/swarm_parts.h"

#define ASK_LIMIT_NS (10 * SECOND_NS)

enum { ATTEMPTS_MAX = 3, OPEN_ASKS_MAX = 64 };

enum ask_kind {
    ASK_DESIRE,
    ASK_SCALE,
    ASK_REMOVE,
    ASK_RETIRE,
    ASK_UPSERT,
    ASK_LIST,
    ASK_LIST_ACTUAL
};

/* One question, with its repetitions. */
struct ask {
    struct swarm *swarm;
    enum ask_kind kind;
    const char *app;
    const char *domain;
    int number; /* of instances; for retire the index; for upsert the ttl in seconds */
    bool until_answered;
    unsigned attempt;
    const char *trace_id; /* of this attempt */
    int64_t from_revision;
};

static const char *const paths[] = {
    [ASK_DESIRE] = "/v1/desired_lrp/desire.r2",   [ASK_SCALE] = "/v1/desired_lrp/update",
    [ASK_REMOVE] = "/v1/desired_lrp/remove",      [ASK_RETIRE] = "/v1/actual_lrps/retire",
    [ASK_UPSERT] = "/v1/domains/upsert",          [ASK_LIST] = "/v1/desired_lrps/list.r3",
    [ASK_LIST_ACTUAL] = "/v1/actual_lrps/list",
};

/* ---- What was true when ---- */

typedef bool was_so(const struct ask *ask, const struct past *p);

/* Some version of the record that stood between question and answer satisfies `so`; it is given
 * NULL for "never there". */
static bool ever(const struct ask *ask, const char *key, was_so *so)
{
    const struct past *p = map_get(&ask->swarm->checkers.history.now, key);
    while (p && p->revision > ask->from_revision) {
        if (so(ask, p)) {
            return true;
        }
        p = p->before;
    }
    return so(ask, p);
}

static bool was_there(const struct ask *ask, const struct past *p)
{
    (void)ask;
    return p && p->message;
}

static bool was_absent(const struct ask *ask, const struct past *p)
{
    return !was_there(ask, p);
}

static bool had_number(const struct ask *ask, const struct past *p)
{
    return p && p->message && ((const Models__DesiredLRP *)p->message)->instances == ask->number;
}

static bool was_stopping(const struct ask *ask, const struct past *p)
{
    (void)ask;
    return p && p->message && ((const Models__ActualLRP *)p->message)->stopping;
}

/* An upsert for ever of what is for ever changes nothing. */
static bool was_for_ever(const struct ask *ask, const struct past *p)
{
    return ask->number == 0 && p && p->message &&
           ((const Board__DomainRecord *)p->message)->ttl_s == 0;
}

/* This attempt wrote the record after it was asked. */
static bool wrote(const struct ask *ask, const char *key)
{
    const struct past *p = map_get(&ask->swarm->checkers.history.now, key);
    for (; p && p->revision > ask->from_revision; p = p->before) {
        if (p->cause && strcmp(p->cause->trace_id, ask->trace_id) == 0) {
            return true;
        }
    }
    return false;
}

static void violation(const struct ask *ask, const char *invariant, const char *what)
{
    checkers_report(&ask->swarm->checkers, invariant, "%s %s %d (%s): %s", paths[ask->kind],
                    ask->app, ask->number, ask->trace_id, what);
}

static void judge_done(const struct ask *ask, const char *key)
{
    bool there = wrote(ask, key);
    there = there || (ask->kind == ASK_SCALE && ever(ask, key, had_number));
    there = there || (ask->kind == ASK_RETIRE && ever(ask, key, was_stopping));
    there = there || (ask->kind == ASK_UPSERT && ever(ask, key, was_for_ever));
    if (!there) {
        violation(ask, "S5", "acknowledged, and the store never had it");
    }
}

static void judge_refused(const struct ask *ask, const char *key, int error)
{
    if (wrote(ask, key)) {
        violation(ask, "S6", "refused, and yet it was written");
    }
    if (error == MODELS__ERROR__TYPE__ResourceExists && ask->kind == ASK_DESIRE) {
        if (!ever(ask, key, was_there)) {
            violation(ask, "S6", "refused because it exists, and it did not");
        }
    } else if (error == MODELS__ERROR__TYPE__ResourceNotFound && ask->kind != ASK_DESIRE) {
        if (!ever(ask, key, was_absent)) {
            violation(ask, "S6", "refused because it does not exist, and it did");
        }
    } else {
        violation(ask, "S6", "refused with an error that nothing explains");
    }
}

static void judge_write(const struct ask *ask, struct bytes body)
{
    struct arena a;
    arena_init(&a);
    ProtobufCAllocator allocator = arena_protobuf(&a);
    /* All answers of this kind are an error alone. */
    Models__DesiredLRPLifecycleResponse *r =
        models__desired_lrplifecycle_response__unpack(&allocator, body.size, body.data);
    const char *key = ask->kind == ASK_RETIRE   ? key_actual(&a, ask->app, ask->number, 0)
                      : ask->kind == ASK_UPSERT ? key_domain(&a, ask->domain)
                                                : key_desired(&a, ask->app);
    if (!r) {
        violation(ask, "S6", "the answer is malformed");
    } else if (r->error) {
        judge_refused(ask, key, (int)r->error->type);
    } else {
        judge_done(ask, key);
    }
    arena_done(&a);
}

/* ---- Lists: the board at one revision between question and answer ---- */

static bool desired_is(const Models__DesiredLRP *told, const Models__DesiredLRP *stood)
{
    return told->instances == stood->instances;
}

static bool actual_is(const Models__ActualLRP *told, const Models__ActualLRP *stood)
{
    const Models__ActualLRPInstanceKey *a = told->actual_lrp_instance_key;
    const Models__ActualLRPInstanceKey *b = stood->actual_lrp_instance_key;
    return strcmp(told->state, stood->state) == 0 && told->crash_count == stood->crash_count &&
           strcmp(a ? a->instance_guid : "", b ? b->instance_guid : "") == 0;
}

struct list {
    const struct ask *ask;
    struct map told; /* key -> message */
    bool actual;
    const char *prefix;
};

static bool list_was_so(const struct list *l, int64_t revision)
{
    const struct history *h = &l->ask->swarm->checkers.history;
    size_t stood = 0;
    for (struct map_node *n = map_from(&h->now, l->prefix); n; n = map_next(n)) {
        if (strncmp(map_key(n), l->prefix, strlen(l->prefix)) != 0) {
            break;
        }
        const struct past *p = history_at(h, map_key(n), revision);
        if (!p || !p->message) {
            continue;
        }
        const void *told = map_get(&l->told, map_key(n));
        if (!told || !(l->actual ? actual_is(told, (const Models__ActualLRP *)p->message)
                                 : desired_is(told, (const Models__DesiredLRP *)p->message))) {
            return false;
        }
        stood++;
    }
    return stood == l->told.count;
}

static void judge_list(const struct ask *ask, struct bytes body)
{
    struct arena a;
    arena_init(&a);
    struct list l = {.ask = ask, .actual = ask->kind == ASK_LIST_ACTUAL};
    map_init(&l.told);
    ProtobufCAllocator allocator = arena_protobuf(&a);
    if (l.actual) {
        l.prefix = key_actual_process(&a, ask->app);
        Models__ActualLRPsResponse *r =
            models__actual_lrps_response__unpack(&allocator, body.size, body.data);
        for (size_t i = 0; r && i < r->n_actual_lrps; i++) {
            Models__ActualLRP *one = r->actual_lrps[i];
            map_put(&l.told,
                    key_actual(&a, one->actual_lrp_key->process_guid, one->actual_lrp_key->index,
                               one->presence),
                    one);
        }
    } else {
        l.prefix = "desired/";
        Models__DesiredLRPsResponse *r =
            models__desired_lrps_response__unpack(&allocator, body.size, body.data);
        for (size_t i = 0; r && i < r->n_desired_lrps; i++) {
            map_put(&l.told, key_desired(&a, r->desired_lrps[i]->process_guid),
                    r->desired_lrps[i]);
        }
    }
    bool so = false;
    int64_t last = ask->swarm->checkers.history.revision;
    for (int64_t r = ask->from_revision; !so && r <= last; r++) {
        so = list_was_so(&l, r);
    }
    if (!so) {
        violation(ask, "S6", "the list was true at no instant between question and answer");
    }
    ask->swarm->result->lists++;
    map_done(&l.told, NULL);
    arena_done(&a);
}

/* ---- Asking ---- */

static void attempt(struct ask *ask);

static void answered(void *context, int status, struct bytes body)
{
    struct ask *ask = context;
    struct swarm *s = ask->swarm;
    world_note(s->world, "client", "%s %s %d (%s): %d", paths[ask->kind], ask->app, ask->number,
               ask->trace_id, status);
    if (status == 200) {
        s->result->answered++;
        (ask->kind >= ASK_LIST ? judge_list : judge_write)(ask, body);
    } else if (status != 503 && status != 0) {
        violation(ask, "S6", "answered with a status that nothing explains");
    } else if (ask->attempt < ATTEMPTS_MAX || ask->until_answered) {
        attempt(ask);
        return;
    }
    s->open_asks--;
}

static void send(void *context, const ProtobufCMessage *m)
{
    struct ask *ask = context;
    struct swarm *s = ask->swarm;
    unsigned bbs = (unsigned)swarm_draw(s, 1, s->cluster->options.bbs);
    const char *url = arena_printf(&s->arena, "https://bbs-%u:8889", bbs);
    world_note(s->world, "client", "asks bbs-%u: %s %s %d (%s)", bbs, paths[ask->kind], ask->app,
               ask->number, ask->trace_id);
    world_send_traced(s->world, url, paths[ask->kind], ask->trace_id, m, ASK_LIMIT_NS, answered,
                      ask);
}

static void send_update(struct ask *ask)
{
    Models__DesiredLRPUpdate update = MODELS__DESIRED_LRPUPDATE__INIT;
    update.optional_instances_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
    update.instances = ask->number;
    Models__UpdateDesiredLRPRequest request = MODELS__UPDATE_DESIRED_LRPREQUEST__INIT;
    request.process_guid = (char *)(size_t)ask->app;
    request.update = &update;
    send(ask, &request.base);
}

static void send_retire(struct ask *ask)
{
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    key.process_guid = (char *)(size_t)ask->app;
    key.index = ask->number;
    key.domain = (char *)(size_t)ask->domain;
    Models__RetireActualLRPRequest request = MODELS__RETIRE_ACTUAL_LRPREQUEST__INIT;
    request.actual_lrp_key = &key;
    send(ask, &request.base);
}

/* As the cluster's, in the app's own domain. */
static void send_desire(void *context, const ProtobufCMessage *m)
{
    struct ask *ask = context;
    Models__DesireLRPRequest request = *(const Models__DesireLRPRequest *)m;
    Models__DesiredLRP lrp = *request.desired_lrp;
    lrp.domain = (char *)(size_t)ask->domain;
    request.desired_lrp = &lrp;
    send(ask, &request.base);
}

static void attempt(struct ask *ask)
{
    struct swarm *s = ask->swarm;
    ask->attempt++;
    ask->from_revision = s->checkers.history.revision;
    ask->trace_id = arena_printf(&s->arena, "ask-%u", ++s->ask_number);
    s->result->requests++;
    Models__RemoveDesiredLRPRequest remove = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    Models__DesiredLRPsRequest list = MODELS__DESIRED_LRPS_REQUEST__INIT;
    Models__ActualLRPsRequest actual = MODELS__ACTUAL_LRPS_REQUEST__INIT;
    Models__UpsertDomainRequest upsert = MODELS__UPSERT_DOMAIN_REQUEST__INIT;
    remove.process_guid = actual.process_guid = (char *)(size_t)ask->app;
    switch (ask->kind) {
    case ASK_DESIRE:
        cluster_with_desire(ask->app, ask->number, send_desire, ask);
        break;
    case ASK_SCALE:
        send_update(ask);
        break;
    case ASK_REMOVE:
        send(ask, &remove.base);
        break;
    case ASK_RETIRE:
        send_retire(ask);
        break;
    case ASK_UPSERT:
        upsert.domain = (char *)(size_t)ask->domain;
        upsert.ttl = (uint32_t)ask->number;
        send(ask, &upsert.base);
        break;
    case ASK_LIST:
        send(ask, &list.base);
        break;
    case ASK_LIST_ACTUAL:
        send(ask, &actual.base);
        break;
    }
}

/* Every other app has a domain that nobody else has. */
static const char *domain_of(struct swarm *s, unsigned app)
{
    return app % 2 ? "default" : arena_printf(&s->arena, "domain-%u", app);
}

static struct ask *ask_new(struct swarm *s, enum ask_kind kind, unsigned app)
{
    struct ask *ask = ARENA_NEW(&s->arena, struct ask);
    *ask = (struct ask){
        .swarm = s,
        .kind = kind,
        .app = arena_printf(&s->arena, "app-%u", app),
        .domain = domain_of(s, app),
    };
    return ask;
}

void swarm_ask(struct swarm *s)
{
    static const enum ask_kind often[] = {
        ASK_DESIRE, ASK_DESIRE, ASK_DESIRE, ASK_SCALE, ASK_SCALE, ASK_SCALE,       ASK_REMOVE,
        ASK_RETIRE, ASK_RETIRE, ASK_LIST,   ASK_LIST,  ASK_LIST_ACTUAL, ASK_LIST_ACTUAL,
        ASK_UPSERT,
    };
    static const int ttls[] = {0, 1, 3, 10, 120};
    if (s->open_asks >= OPEN_ASKS_MAX) {
        return;
    }
    enum ask_kind kind = often[random_below(&s->random, sizeof(often) / sizeof(often[0]))];
    struct ask *ask = ask_new(s, kind, (unsigned)swarm_draw(s, 1, s->apps));
    ask->number = kind == ASK_UPSERT
                      ? ttls[random_below(&s->random, sizeof(ttls) / sizeof(ttls[0]))]
                      : (int)swarm_draw(s, kind == ASK_DESIRE ? 1 : 0, s->instances_max);
    s->open_asks++;
    attempt(ask);
}

/* Who owns a domain says in the end that it is complete; some never do, and nothing in theirs may
 * be stopped for being absent. */
void client_heal(struct swarm *s)
{
    for (unsigned app = 1; app <= s->apps; app++) {
        if (swarm_chance(s, 80)) {
            struct ask *ask = ask_new(s, ASK_UPSERT, app);
            ask->until_answered = true;
            s->open_asks++;
            attempt(ask);
        }
    }
}

void client_crash(struct swarm *s)
{
    unsigned cell = (unsigned)random_below(&s->random, s->cluster->options.cells);
    int which = (int)swarm_draw(s, 0, 3), code = (int)swarm_draw(s, 0, 2);
    s->result->crashes += world_end_container(s->world, s->cluster->cells[cell], which, code);
}
