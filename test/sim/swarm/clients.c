/* The workload: clients that desire, scale, remove, retire and list through any bbs, repeating as
 * Diego's clients do; and the failure detector of what they were answered (S5, S6): there must be
 * an instant between question and answer at which the answer was true. */
#include <string.h>

#include "board.pb-c.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "models/domain.pb-c.h"
#include "test/sim/swarm/inside.h"

#define ASK_LIMIT_NS (10 * SECOND_NS)

enum { ATTEMPTS_MAX = 3, OPEN_ASKS_MAX = 64 };

enum ask_kind {
    ASK_DESIRE,
    ASK_SCALE,
    ASK_REMOVE,
    ASK_RETIRE,
    ASK_UPSERT,
    ASK_TAG, /* updates annotation and metric tags, which instances are told, and maybe a policy */
    ASK_CLAIM, /* what only reps should do, and any client may */
    ASK_START,
    ASK_CRASH,
    ASK_FAIL,
    ASK_REMOVE_ACTUAL,
    ASK_LIMITER, /* an operator's word about held cells */
    ASK_LIST,
    ASK_LIST_ACTUAL
};

struct clients {
    unsigned open_asks;
    bool owed[SWARM_APPS_MAX + 1]; /* the last upsert of its domain is not answered yet */
};

/* One question, with its repetitions. */
struct ask {
    struct swarm *swarm;
    struct clients *clients;
    enum ask_kind kind;
    const char *app;
    const char *domain;
    int number; /* of instances; for moves the index; for upsert the ttl in seconds */
    const char *note;           /* of a tag: what all attempts write */
    const char *guid, *cell_id; /* of the instance that a move is about */
    bool *owed;                 /* set to false once it is answered; NULL = nobody waits */
    unsigned attempt;
    const char *trace_id; /* of this attempt */
    int64_t from_revision;
    unsigned restores; /* of etcd when it was asked */
};

static const char *const paths[] = {
    [ASK_DESIRE] = "/v1/desired_lrp/desire.r2",   [ASK_SCALE] = "/v1/desired_lrp/update",
    [ASK_REMOVE] = "/v1/desired_lrp/remove",      [ASK_RETIRE] = "/v1/actual_lrps/retire",
    [ASK_UPSERT] = "/v1/domains/upsert",          [ASK_TAG] = "/v1/desired_lrp/update",
    [ASK_CLAIM] = "/v1/actual_lrps/claim",
    [ASK_START] = "/v1/actual_lrps/start.r1",     [ASK_CRASH] = "/v1/actual_lrps/crash",
    [ASK_FAIL] = "/v1/actual_lrps/fail",          [ASK_REMOVE_ACTUAL] = "/v1/actual_lrps/remove",
    [ASK_LIMITER] = "/v1/board/limiter",              [ASK_LIST] = "/v1/desired_lrps/list.r3",
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
    return p && p->message;
}

static bool was_absent(const struct ask *ask, const struct past *p)
{
    return !was_there(ask, p);
}

/* Absent, or another instance's: a removal is told the same (behaviour.md 10.2). */
static bool was_not_its(const struct ask *ask, const struct past *p)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)(p ? p->message : NULL);
    const Models__ActualLRPInstanceKey *key = r ? r->actual_lrp_instance_key : NULL;
    return !key || strcmp(key->instance_guid, ask->guid) != 0 ||
           strcmp(key->cell_id, ask->cell_id) != 0;
}

static bool had_number(const struct ask *ask, const struct past *p)
{
    return p && p->message && ((const Models__DesiredLRP *)p->message)->instances == ask->number;
}

static bool had_note(const struct ask *ask, const struct past *p)
{
    return p && p->message &&
           strcmp(((const Models__DesiredLRP *)p->message)->annotation, ask->note) == 0;
}

static bool was_stopping(const struct ask *ask, const struct past *p)
{
    return p && p->message && ((const Models__ActualLRP *)p->message)->stopping;
}

/* An upsert for ever of what is for ever changes nothing. */
static bool was_for_ever(const struct ask *ask, const struct past *p)
{
    return ask->number == 0 && p && p->message &&
           ((const Board__DomainRecord *)p->message)->ttl_s == 0;
}

static bool has_instance(const struct ask *ask, const Models__ActualLRP *r, const char *state)
{
    const Models__ActualLRPInstanceKey *key = r->actual_lrp_instance_key;
    return strcmp(r->state, state) == 0 && key && strcmp(key->instance_guid, ask->guid) == 0 &&
           strcmp(key->cell_id, ask->cell_id) == 0;
}

/* So that nothing changes. */
static bool was_moved(const struct ask *ask, const struct past *p)
{
    const Models__ActualLRP *r = (const Models__ActualLRP *)(p ? p->message : NULL);
    if (ask->kind == ASK_FAIL) {
        return !r || strcmp(r->state, "UNCLAIMED") == 0;
    }
    return r && has_instance(ask, r, ask->kind == ASK_CLAIM ? "CLAIMED" : "RUNNING");
}

/* The SUSPECT record of the index bears the instance: it is neither helped nor hurt by a claim or a
 * start (behaviour.md 12). */
static bool was_suspect(const struct ask *ask)
{
    SCOPED_ARENA(a);
    const struct past *p = map_get(&ask->swarm->checkers.history.now,
                                   key_actual(&a, ask->app, ask->number,
                                              MODELS__ACTUAL_LRP__PRESENCE__SUSPECT));
    bool so = false;
    for (; p && !so; p = p->revision > ask->from_revision ? p->before : NULL) {
        const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
        so = r && has_instance(ask, r, r->state);
    }
    return so;
}

/* This attempt wrote the record after it was asked. */
static bool wrote_key(const struct ask *ask, const char *key)
{
    const struct past *p = map_get(&ask->swarm->checkers.history.now, key);
    for (; p && p->revision > ask->from_revision; p = p->before) {
        if (p->cause && strcmp(p->cause->trace_id, ask->trace_id) == 0) {
            return true;
        }
    }
    return false;
}

/* The record that it is about; a crash of the SUSPECT instance takes that one's record off and
 * leaves the ORDINARY one as it is (behaviour.md 10.2). */
static bool wrote(const struct ask *ask, const char *key)
{
    SCOPED_ARENA(a);
    bool so = wrote_key(ask, key) ||
              (ask->kind == ASK_CRASH &&
               wrote_key(ask, key_actual(&a, ask->app, ask->number,
                                         MODELS__ACTUAL_LRP__PRESENCE__SUSPECT)));
    return so;
}

static void violation(const struct ask *ask, const char *invariant, const char *what)
{
    /* What commits nothing is compared by etcd before it is told; a list is not. */
    (ask->kind >= ASK_LIST ? checkers_report_told : checkers_report)(
        &ask->swarm->checkers, invariant, "%s %s %d (%s): %s", paths[ask->kind],
                    ask->app, ask->number, ask->trace_id, what);
}

static void judge_done(const struct ask *ask, const char *key)
{
    bool there = wrote(ask, key);
    there = there || (ask->kind == ASK_SCALE && ever(ask, key, had_number));
    there = there || (ask->kind == ASK_TAG && ever(ask, key, had_note));
    there = there || (ask->kind == ASK_RETIRE && ever(ask, key, was_stopping));
    there = there || (ask->kind == ASK_UPSERT && ever(ask, key, was_for_ever));
    bool move = ask->kind == ASK_CLAIM || ask->kind == ASK_START || ask->kind == ASK_FAIL;
    there = there || (move && (ever(ask, key, was_moved) || was_suspect(ask)));
    if (!there) {
        violation(ask, "S5", "acknowledged, and the store never had it");
    }
}

static bool is_move(enum ask_kind kind)
{
    return kind >= ASK_CLAIM && kind <= ASK_REMOVE_ACTUAL;
}

static void judge_refused(const struct ask *ask, const char *key, int error)
{
    if (ask->kind == ASK_CRASH && error == MODELS__ERROR__TYPE__ResourceNotFound) {
        return; /* also when it was recorded, and is not desired any more (behaviour.md 10.4) */
    }
    if (wrote(ask, key)) {
        violation(ask, "S6", "refused, and yet it was written");
    }
    if (error == MODELS__ERROR__TYPE__ResourceExists && ask->kind == ASK_DESIRE) {
        if (!ever(ask, key, was_there)) {
            violation(ask, "S6", "refused because it exists, and it did not");
        }
    } else if (error == MODELS__ERROR__TYPE__ResourceNotFound && ask->kind != ASK_DESIRE) {
        if (!ever(ask, key, ask->kind == ASK_REMOVE_ACTUAL ? was_not_its : was_absent)) {
            violation(ask, "S6", "refused because it does not exist, and it did");
        }
    } else if (!is_move(ask->kind)) {
        violation(ask, "S6", "refused with an error that nothing explains");
    }
}

static void judge_write(const struct ask *ask, struct bytes body)
{
    SCOPED_ARENA(a);
    ProtobufCAllocator allocator = arena_protobuf(&a);
    /* All answers of this kind are an error alone. */
    Models__DesiredLRPLifecycleResponse *r =
        models__desired_lrplifecycle_response__unpack(&allocator, body.size, body.data);
    bool actual = ask->kind == ASK_RETIRE || is_move(ask->kind);
    const char *key = actual                    ? key_actual(&a, ask->app, ask->number, 0)
                      : ask->kind == ASK_UPSERT ? key_domain(&a, ask->domain)
                                                : key_desired(&a, ask->app);
    if (!r) {
        violation(ask, "S6", "the answer is malformed");
    } else if (r->error) {
        judge_refused(ask, key, (int)r->error->type);
    } else {
        judge_done(ask, key);
    }
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
    SCOPED_ARENA(a);
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
    ask->swarm->result->done[DONE_LISTS]++;
    map_done(&l.told, NULL);
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
        s->result->done[DONE_ANSWERED]++;
        if (ask->owed) {
            *ask->owed = false;
        }
        /* S5 and S6 hold within one board generation. */
        if (ask->kind != ASK_LIMITER && ask->restores == s->checkers.history.restores) {
            (ask->kind >= ASK_LIST ? judge_list : judge_write)(ask, body);
        }
    } else if (status != 503 && status != 0) {
        violation(ask, "S6", "answered with a status that nothing explains");
    } else if (ask->attempt < ATTEMPTS_MAX) {
        attempt(ask);
        return;
    }
    ask->clients->open_asks--;
}

static void send(void *context, const ProtobufCMessage *m)
{
    struct ask *ask = context;
    struct swarm *s = ask->swarm;
    const struct node *bbs = s->cluster->bbs[swarm_draw(s, 1, s->cluster->options.bbs) - 1];
    world_note(s->world, "client", "asks %s: %s %s %d (%s)", node_name(bbs), paths[ask->kind],
               ask->app, ask->number, ask->trace_id);
    world_send_traced(s->world, node_url(bbs), paths[ask->kind], ask->trace_id, m, ASK_LIMIT_NS,
                      answered, ask);
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

static void send_tag(struct ask *ask)
{
    Models__DesiredLRPUpdate update = MODELS__DESIRED_LRPUPDATE__INIT;
    update.optional_annotation_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_ANNOTATION_ANNOTATION;
    update.annotation = (char *)(size_t)ask->note;
    if (ask->number % 3 == 0) {
        update.optional_on_evacuate_case =
            MODELS__DESIRED_LRPUPDATE__OPTIONAL_ON_EVACUATE_ON_EVACUATE;
        update.on_evacuate =
            ask->number % 2 ? MODELS__ON_EVACUATE__STAY : MODELS__ON_EVACUATE__MOVE;
    }
    const char *const texts[][2] = {{"source_id", ask->app}, {"version", ask->note}};
    enum { TAGS = sizeof(texts) / sizeof(texts[0]) };
    Models__MetricTagValue values[TAGS];
    Models__DesiredLRPUpdate__MetricTagsEntry entries[TAGS], *tags[TAGS];
    for (size_t i = 0; i < TAGS; i++) {
        models__metric_tag_value__init(&values[i]);
        models__desired_lrpupdate__metric_tags_entry__init(&entries[i]);
        values[i].static_ = (char *)(size_t)texts[i][1];
        entries[i].key = (char *)(size_t)texts[i][0];
        entries[i].value = &values[i];
        tags[i] = &entries[i];
    }
    update.n_metric_tags = TAGS;
    update.metric_tags = tags;
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

static void send_move(struct ask *ask)
{
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    key.process_guid = (char *)(size_t)ask->app;
    key.index = ask->number;
    key.domain = (char *)(size_t)ask->domain;
    Models__ActualLRPInstanceKey instance = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
    instance.instance_guid = (char *)(size_t)ask->guid;
    instance.cell_id = (char *)(size_t)ask->cell_id;
    Models__ActualLRPNetInfo net = MODELS__ACTUAL_LRPNET_INFO__INIT;
    net.address = (char *)(size_t) "10.9.9.9";
    Models__ClaimActualLRPRequest claim = MODELS__CLAIM_ACTUAL_LRPREQUEST__INIT;
    Models__StartActualLRPRequest start = MODELS__START_ACTUAL_LRPREQUEST__INIT;
    Models__CrashActualLRPRequest crash = MODELS__CRASH_ACTUAL_LRPREQUEST__INIT;
    Models__FailActualLRPRequest fail = MODELS__FAIL_ACTUAL_LRPREQUEST__INIT;
    Models__RemoveActualLRPRequest remove = MODELS__REMOVE_ACTUAL_LRPREQUEST__INIT;
    claim.process_guid = remove.process_guid = key.process_guid;
    claim.index = remove.index = key.index;
    claim.actual_lrp_instance_key = start.actual_lrp_instance_key = &instance;
    crash.actual_lrp_instance_key = remove.actual_lrp_instance_key = &instance;
    start.actual_lrp_key = crash.actual_lrp_key = fail.actual_lrp_key = &key;
    start.actual_lrp_net_info = &net;
    crash.error_message = fail.error_message = (char *)(size_t) "a client says so";
    const ProtobufCMessage *const messages[] = {[ASK_CLAIM] = &claim.base,
                                                [ASK_START] = &start.base,
                                                [ASK_CRASH] = &crash.base,
                                                [ASK_FAIL] = &fail.base,
                                                [ASK_REMOVE_ACTUAL] = &remove.base};
    send(ask, messages[ask->kind]);
}

/* As the cluster's, in the app's own domain, and each runs a program of its own. */
static void send_desire(void *context, const ProtobufCMessage *m)
{
    struct ask *ask = context;
    Models__DesireLRPRequest request = *(const Models__DesireLRPRequest *)m;
    Models__DesiredLRP lrp = *request.desired_lrp;
    lrp.domain = (char *)(size_t)ask->domain;
    Models__RunAction run = *lrp.action->run_action;
    Models__Action action = *lrp.action;
    run.path = arena_printf(&ask->swarm->arena, "/bin/%s", ask->app);
    action.run_action = &run;
    lrp.action = &action;
    steps_put(ask->swarm, &ask->swarm->arena, ask->app, ask->number, &lrp);
    checks_put(ask->swarm, &ask->swarm->arena, ask->app, ask->number, &lrp);
    monitors_put(ask->swarm, &ask->swarm->arena, ask->app, ask->number, &lrp);
    files_put(ask->swarm, &ask->swarm->arena, ask->app, ask->number, &lrp);
    images_put(ask->swarm, &ask->swarm->arena, ask->app, ask->number, &lrp);
    /* Some wait for their cell. */
    lrp.on_cell_loss = ask->number % 4 == 3 ? MODELS__ON_CELL_LOSS__HOLD
                                            : MODELS__ON_CELL_LOSS__REPLACE;
    /* And some end where they are when their cell is emptied. */
    lrp.on_evacuate = ask->number % 5 == 2 ? MODELS__ON_EVACUATE__STAY : MODELS__ON_EVACUATE__MOVE;
    request.desired_lrp = &lrp;
    send(ask, &request.base);
}

static void attempt(struct ask *ask)
{
    struct swarm *s = ask->swarm;
    ask->attempt++;
    ask->from_revision = s->checkers.history.revision;
    ask->restores = s->checkers.history.restores;
    ask->trace_id = arena_printf(&s->arena, "ask-%u", ++s->ask_number);
    s->result->done[DONE_REQUESTS]++;
    Models__RemoveDesiredLRPRequest remove = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    Models__DesiredLRPsRequest list = MODELS__DESIRED_LRPS_REQUEST__INIT;
    Models__ActualLRPsRequest actual = MODELS__ACTUAL_LRPS_REQUEST__INIT;
    Models__UpsertDomainRequest upsert = MODELS__UPSERT_DOMAIN_REQUEST__INIT;
    Board__LimiterRequest limiter = BOARD__LIMITER_REQUEST__INIT;
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
    case ASK_TAG:
        send_tag(ask);
        break;
    case ASK_RETIRE:
        send_retire(ask);
        break;
    case ASK_UPSERT:
        upsert.domain = (char *)(size_t)ask->domain;
        upsert.ttl = (uint32_t)ask->number;
        send(ask, &upsert.base);
        break;
    case ASK_LIMITER:
        limiter.confirm = ask->number % 2;
        limiter.keep = !limiter.confirm;
        send(ask, &limiter.base);
        break;
    case ASK_CLAIM:
    case ASK_START:
    case ASK_CRASH:
    case ASK_FAIL:
    case ASK_REMOVE_ACTUAL:
        send_move(ask);
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

static struct ask *ask_new(struct workload *w, enum ask_kind kind, unsigned app)
{
    struct swarm *s = w->swarm;
    struct ask *ask = ARENA_NEW(&s->arena, struct ask);
    *ask = (struct ask){
        .swarm = s,
        .clients = w->own,
        .kind = kind,
        .app = arena_printf(&s->arena, "app-%u", app),
        .domain = domain_of(s, app),
    };
    return ask;
}

/* The instance that stands there now, or one that nobody ever made. */
static void choose_instance(struct ask *ask)
{
    struct swarm *s = ask->swarm;
    const char *key = key_actual(&s->arena, ask->app, ask->number, 0);
    const Models__ActualLRP *r =
        (const Models__ActualLRP *)history_now(&s->checkers.history, key);
    const Models__ActualLRPInstanceKey *stands = r ? r->actual_lrp_instance_key : NULL;
    unsigned cell = (unsigned)swarm_draw(s, 1, s->cluster->options.cells);
    ask->guid = arena_printf(&s->arena, "stray-%u", s->ask_number);
    ask->cell_id = arena_printf(&s->arena, "cell-%u", cell);
    if (swarm_chance(s, 20)) {
        ask->cell_id = "nowhere"; /* a cell that never was */
    }
    if (stands && *stands->instance_guid && swarm_chance(s, 70)) {
        ask->guid = stands->instance_guid;
        ask->cell_id = stands->cell_id;
    }
}

static void ask_one(struct workload *w)
{
    struct swarm *s = w->swarm;
    struct clients *c = w->own;
    static const enum ask_kind often[] = {
        ASK_DESIRE, ASK_DESIRE, ASK_DESIRE,      ASK_SCALE,       ASK_SCALE, ASK_SCALE, ASK_REMOVE,
        ASK_RETIRE, ASK_RETIRE, ASK_LIST,        ASK_LIST,        ASK_LIST_ACTUAL,
        ASK_UPSERT, ASK_UPSERT, ASK_LIST_ACTUAL, ASK_LIST_ACTUAL, ASK_TAG, ASK_TAG,
    };
    static const int ttls[] = {0, 1, 3, 10, 120};
    if (c->open_asks >= OPEN_ASKS_MAX) {
        return;
    }
    enum ask_kind kind = often[random_below(&s->random, sizeof(often) / sizeof(often[0]))];
    if (swarm_chance(s, 3)) {
        kind = ASK_LIMITER;
    } else if (s->strays && swarm_chance(s, 20)) {
        kind = (enum ask_kind)swarm_draw(s, ASK_CLAIM, ASK_REMOVE_ACTUAL);
    }
    struct ask *ask = ask_new(w, kind, (unsigned)swarm_draw(s, 1, s->apps));
    ask->number = kind == ASK_UPSERT
                      ? ttls[random_below(&s->random, sizeof(ttls) / sizeof(ttls[0]))]
                      : (int)swarm_draw(s, kind == ASK_DESIRE ? 1 : 0, s->instances_max);
    choose_instance(ask);
    ask->note = arena_printf(&s->arena, "note-%u", s->ask_number);
    c->open_asks++;
    attempt(ask);
}

static void begin(struct workload *w)
{
    w->own = ARENA_NEW(&w->swarm->arena, struct clients);
}

static void step(struct workload *w)
{
    ask_one(w);
    w->due_ns = world_now(w->swarm->world) + swarm_draw(w->swarm, 1, 2 * w->swarm->pace_ns);
}

/* Who owns a domain says in the end that it is complete; some never do, and nothing in theirs may
 * be stopped for being absent. */
static void heal(struct workload *w)
{
    struct swarm *s = w->swarm;
    struct clients *c = w->own;
    w->due_ns = NEVER_NS;
    for (unsigned app = 1; app <= s->apps; app++) {
        c->owed[app] = swarm_chance(s, 80);
    }
}

/* Repeats what of it was not answered. */
static void settle(struct workload *w)
{
    struct swarm *s = w->swarm;
    struct clients *c = w->own;
    for (unsigned app = 1; app <= s->apps; app++) {
        if (c->owed[app] && c->open_asks < OPEN_ASKS_MAX) {
            struct ask *ask = ask_new(w, ASK_UPSERT, app);
            ask->owed = &c->owed[app];
            c->open_asks++;
            attempt(ask);
        }
    }
}

const struct workload_ops clients_workload = {
    .begin = begin, .step = step, .heal = heal, .settle = settle};
