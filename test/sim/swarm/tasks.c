/* The workload of tasks: clients that desire, cancel, fail, resolve, delete and list them through
 * any bbs, and in some seeds speak for cells; the server that is called back; and the failure
 * detector of what the clients were answered (S5, S6). The processes of tasks end by themselves,
 * sooner or later. */
#include <string.h>

#include "common/lifecycle/task.h"
#include "models/task.pb-c.h"
#include "models/task_requests.pb-c.h"
#include "test/sim/model/containers.h"
#include "test/sim/swarm/inside.h"
#include "test/sim/world/callback_server.h"

#define ASK_LIMIT_NS (10 * SECOND_NS)

enum { ATTEMPTS_MAX = 3, OPEN_ASKS_MAX = 32, TASKS_MAX = 12, TASK_MEMORY_MB = 64 };

enum kind {
    TASK_ASK_DESIRE,
    TASK_ASK_CANCEL,
    TASK_ASK_FAIL,
    TASK_ASK_RESOLVING,
    TASK_ASK_DELETE,
    TASK_ASK_START, /* what only reps should do, and any client may */
    TASK_ASK_REJECT,
    TASK_ASK_COMPLETE,
    TASK_ASK_LIST
};

static const char *const paths[] = {
    [TASK_ASK_DESIRE] = "/v1/tasks/desire.r2",  [TASK_ASK_CANCEL] = "/v1/tasks/cancel",
    [TASK_ASK_FAIL] = "/v1/tasks/fail",         [TASK_ASK_RESOLVING] = "/v1/tasks/resolving",
    [TASK_ASK_DELETE] = "/v1/tasks/delete",     [TASK_ASK_START] = "/v1/tasks/start",
    [TASK_ASK_REJECT] = "/v1/tasks/reject",     [TASK_ASK_COMPLETE] = "/v1/tasks/complete",
    [TASK_ASK_LIST] = "/v1/tasks/list.r3",
};

struct task_clients {
    struct callback_server callbacks;
    unsigned guids; /* that tasks have */
    int64_t pace_ns;
    unsigned open_asks;
};

/* One question, with its repetitions. */
struct task_ask {
    struct swarm *swarm;
    struct workload *work;
    enum kind kind;
    const char *guid, *cell_id;
    bool url, hopeless; /* of desire: nobody has such a root filesystem */
    int max_retries;    /* of desire; -1 = not given */
    int keep_s;         /* the same */
    unsigned attempt;
    const char *trace_id; /* of this attempt */
    int64_t from_revision;
    unsigned restores;
};

/* ---- What was true when ---------------------------------------------------------------------- */

typedef bool was_so(const struct task_ask *ask, const Models__Task *t);

static const struct past *newest(const struct task_ask *ask)
{
    SCOPED_ARENA(a);
    const struct past *p =
        map_get(&ask->swarm->checkers.history.now, key_task(&a, ask->guid));
    return p;
}

static const Models__Task *task_of(const struct past *p)
{
    return p ? (const Models__Task *)p->message : NULL;
}

/* Some version that stood between question and answer is so; NULL = not there. */
static bool ever(const struct task_ask *ask, was_so *so)
{
    const struct past *p = newest(ask);
    for (; p && p->revision > ask->from_revision; p = p->before) {
        if (so(ask, task_of(p))) {
            return true;
        }
    }
    return so(ask, task_of(p));
}

static bool wrote(const struct task_ask *ask)
{
    const struct past *p = newest(ask);
    for (; p && p->revision > ask->from_revision; p = p->before) {
        if (p->cause && strcmp(p->cause->trace_id, ask->trace_id) == 0 &&
            strcmp(p->cause->actor, "client") == 0) {
            return true;
        }
    }
    return false;
}

static bool was_there(const struct task_ask *ask, const Models__Task *t)
{
    return t != NULL;
}

static bool was_absent(const struct task_ask *ask, const Models__Task *t)
{
    return !t;
}

static bool ran_there(const struct task_ask *ask, const Models__Task *t)
{
    return t && t->state == MODELS__TASK__STATE__Running && strcmp(t->cell_id, ask->cell_id) == 0;
}

static bool ran_elsewhere(const struct task_ask *ask, const Models__Task *t)
{
    return t && t->state == MODELS__TASK__STATE__Running && strcmp(t->cell_id, ask->cell_id) != 0;
}

/* In a state in which nobody may ask so. */
static bool was_in_the_way(const struct task_ask *ask, const Models__Task *t)
{
    if (!t) {
        return false;
    }
    switch (ask->kind) {
    case TASK_ASK_CANCEL:
    case TASK_ASK_FAIL:
    case TASK_ASK_REJECT:
        return t->state == MODELS__TASK__STATE__Completed ||
               t->state == MODELS__TASK__STATE__Resolving;
    case TASK_ASK_RESOLVING:
        return t->state != MODELS__TASK__STATE__Completed;
    case TASK_ASK_DELETE:
        return t->state != MODELS__TASK__STATE__Resolving;
    case TASK_ASK_START:
        return t->state != MODELS__TASK__STATE__Pending;
    case TASK_ASK_COMPLETE:
        return t->state != MODELS__TASK__STATE__Running;
    default:
        return false;
    }
}

static void violation(const struct task_ask *ask, const char *invariant, const char *what)
{
    /* What commits nothing is compared by etcd before it is told; a list is not. */
    (ask->kind == TASK_ASK_LIST ? checkers_report_told : checkers_report)(
        &ask->swarm->checkers, invariant, "%s %s (%s): %s", paths[ask->kind],
                    ask->guid, ask->trace_id, what);
}

static void judge_refused(const struct task_ask *ask, Models__Error__Type type)
{
    bool explained = false;
    if (wrote(ask)) {
        violation(ask, "S6", "refused, and yet it was written");
    }
    if (type == MODELS__ERROR__TYPE__ResourceExists) {
        explained = ask->kind == TASK_ASK_DESIRE && ever(ask, was_there);
    } else if (type == MODELS__ERROR__TYPE__ResourceNotFound) {
        explained = ask->kind != TASK_ASK_DESIRE && ever(ask, was_absent);
    } else if (type == MODELS__ERROR__TYPE__InvalidStateTransition ||
               type == MODELS__ERROR__TYPE__InvalidRequest) {
        explained = ever(ask, was_in_the_way);
    } else if (type == MODELS__ERROR__TYPE__RunningOnDifferentCell) {
        explained = ever(ask, ran_elsewhere);
    }
    if (!explained) {
        violation(ask, "S6", "refused with an error that nothing explains");
    }
}

static void judge_write(const struct task_ask *ask, struct bytes body)
{
    SCOPED_ARENA(a);
    ProtobufCAllocator allocator = arena_protobuf(&a);
    /* All answers of this kind are an error, and start's says one thing more. */
    Models__StartTaskResponse *r =
        models__start_task_response__unpack(&allocator, body.size, body.data);
    if (!r) {
        violation(ask, "S6", "the answer is malformed");
    } else if (r->error) {
        judge_refused(ask, r->error->type);
    } else if (ask->kind == TASK_ASK_START && !r->should_start) {
        if (wrote(ask) || !ever(ask, ran_there)) {
            violation(ask, "S6", "not to be started, and it was not running there");
        }
    } else if (!wrote(ask)) {
        violation(ask, "S5", "acknowledged, and the store never had it");
    }
}

/* ---- Lists: the board at one revision between question and answer ---------------------------- */

static bool same(const Models__Task *told, const Models__Task *stood)
{
    return told->state == stood->state && told->updated_at == stood->updated_at &&
           told->created_at == stood->created_at && told->failed == stood->failed &&
           told->rejection_count == stood->rejection_count &&
           strcmp(told->cell_id, stood->cell_id) == 0 &&
           strcmp(told->result, stood->result) == 0 &&
           strcmp(told->failure_reason, stood->failure_reason) == 0;
}

static bool list_was_so(const struct swarm *s, const struct map *told, int64_t revision)
{
    const struct history *h = &s->checkers.history;
    size_t stood = 0;
    for (struct map_node *n = map_from(&h->now, "task/"); n; n = map_next(n)) {
        if (strncmp(map_key(n), "task/", 5) != 0) {
            break;
        }
        const Models__Task *t = task_of(history_at(h, map_key(n), revision));
        const Models__Task *seen = map_get(told, map_key(n));
        if (t && (!seen || !same(seen, t))) {
            return false;
        }
        stood += t != NULL;
    }
    return stood == told->count;
}

static void judge_list(const struct task_ask *ask, struct bytes body)
{
    struct swarm *s = ask->swarm;
    SCOPED_ARENA(a);
    struct map told;
    map_init(&told);
    ProtobufCAllocator allocator = arena_protobuf(&a);
    Models__TasksResponse *r = models__tasks_response__unpack(&allocator, body.size, body.data);
    for (size_t i = 0; r && i < r->n_tasks; i++) {
        map_put(&told, key_task(&a, r->tasks[i]->task_guid), r->tasks[i]);
    }
    bool so = false;
    for (int64_t n = ask->from_revision; r && !so && n <= s->checkers.history.revision; n++) {
        so = list_was_so(s, &told, n);
    }
    if (!so) {
        violation(ask, "S6", "the list was true at no instant between question and answer");
    }
    s->result->done[DONE_LISTS]++;
    map_done(&told, NULL);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static int64_t draw(struct workload *w, int64_t low, int64_t high)
{
    return low + (int64_t)random_below(&w->random, (uint64_t)(high - low) + 1);
}

static bool chance(struct workload *w, unsigned percent)
{
    return random_below(&w->random, 100) < percent;
}

static void attempt(struct task_ask *ask);

static void answered(void *context, int status, struct bytes body)
{
    struct task_ask *ask = context;
    struct swarm *s = ask->swarm;
    world_note(s->world, "client", "%s %s (%s): %d", paths[ask->kind], ask->guid, ask->trace_id,
               status);
    if (status == 200) {
        s->result->done[DONE_ANSWERED]++;
        if (ask->restores == s->checkers.history.restores) {
            (ask->kind == TASK_ASK_LIST ? judge_list : judge_write)(ask, body);
        }
    } else if (status != 503 && status != 0) {
        violation(ask, "S6", "answered with a status that nothing explains");
    } else if (ask->attempt < ATTEMPTS_MAX) {
        attempt(ask);
        return;
    }
    ((struct task_clients *)ask->work->own)->open_asks--;
}

static void send(struct task_ask *ask, const ProtobufCMessage *m)
{
    struct swarm *s = ask->swarm;
    const char *url = node_url(s->cluster->bbs[draw(ask->work, 1, s->cluster->options.bbs) - 1]);
    world_note(s->world, "client", "asks %s: %s %s (%s)", url + 8, paths[ask->kind], ask->guid,
               ask->trace_id);
    world_send_traced(s->world, url, paths[ask->kind], ask->trace_id, m, ASK_LIMIT_NS, answered,
                      ask);
}

static char *text(const char *s)
{
    return (char *)(size_t)s;
}

static void send_desire(struct task_ask *ask)
{
    struct swarm *s = ask->swarm;
    Models__RunAction run = MODELS__RUN_ACTION__INIT;
    Models__Action action = MODELS__ACTION__INIT;
    Models__TaskDefinition d = MODELS__TASK_DEFINITION__INIT;
    Models__DesireTaskRequest r = MODELS__DESIRE_TASK_REQUEST__INIT;
    run.path = text("/bin/true");
    run.user = text("root");
    action.run_action = &run;
    d.action = &action;
    d.root_fs = text(ask->hopeless ? "preloaded:nowhere" : "preloaded:busybox");
    d.memory_mb = TASK_MEMORY_MB;
    d.annotation = text("a note");
    if (ask->url) {
        d.completion_callback_url = arena_printf(&s->arena, CALLBACK_URL "%s", ask->guid);
    }
    r.task_definition = &d;
    r.task_guid = text(ask->guid);
    r.domain = text("default");
    if (ask->max_retries >= 0) {
        r.optional_max_retries_case =
            MODELS__DESIRE_TASK_REQUEST__OPTIONAL_MAX_RETRIES_MAX_RETRIES;
        r.max_retries = ask->max_retries;
    }
    if (ask->keep_s >= 0) {
        r.optional_keep_s_case = MODELS__DESIRE_TASK_REQUEST__OPTIONAL_KEEP_S_KEEP_S;
        r.keep_s = (uint32_t)ask->keep_s;
    }
    send(ask, &r.base);
}

static void attempt(struct task_ask *ask)
{
    struct swarm *s = ask->swarm;
    ask->attempt++;
    ask->from_revision = s->checkers.history.revision;
    ask->restores = s->checkers.history.restores;
    ask->trace_id = arena_printf(&s->arena, "task-ask-%u", ++s->ask_number);
    s->result->done[DONE_REQUESTS]++;
    Models__TaskGuidRequest plain = MODELS__TASK_GUID_REQUEST__INIT;
    Models__FailTaskRequest fail = MODELS__FAIL_TASK_REQUEST__INIT;
    Models__StartTaskRequest start = MODELS__START_TASK_REQUEST__INIT;
    Models__RejectTaskRequest reject = MODELS__REJECT_TASK_REQUEST__INIT;
    Models__CompleteTaskRequest complete = MODELS__COMPLETE_TASK_REQUEST__INIT;
    Models__TasksRequest list = MODELS__TASKS_REQUEST__INIT;
    plain.task_guid = fail.task_guid = start.task_guid = reject.task_guid = complete.task_guid =
        text(ask->guid);
    start.cell_id = complete.cell_id = text(ask->cell_id);
    fail.failure_reason = reject.rejection_reason = text("a client says so");
    complete.result = text(ask->trace_id);
    switch (ask->kind) {
    case TASK_ASK_DESIRE:
        send_desire(ask);
        break;
    case TASK_ASK_CANCEL:
    case TASK_ASK_RESOLVING:
    case TASK_ASK_DELETE:
        send(ask, &plain.base);
        break;
    case TASK_ASK_FAIL:
        send(ask, &fail.base);
        break;
    case TASK_ASK_START:
        send(ask, &start.base);
        break;
    case TASK_ASK_REJECT:
        send(ask, &reject.base);
        break;
    case TASK_ASK_COMPLETE:
        send(ask, &complete.base);
        break;
    case TASK_ASK_LIST:
        send(ask, &list.base);
        break;
    }
}

/* The process of the n-th task that runs somewhere ends. */
static bool end_one(struct swarm *s, unsigned from, int code)
{
    struct cluster *c = s->cluster;
    for (unsigned i = 0; i < c->options.cells; i++) {
        struct node *cell = c->cells[(from + i) % c->options.cells];
        const char *guid;
        for (int n = 0; (guid = model_containers_guid(node_containers(cell), n)); n++) {
            if (task_known(&s->checkers, guid)) {
                s->result->done[DONE_CRASHES]++;
                return world_end_container(s->world, cell, n, code);
            }
        }
    }
    return false;
}

static void ask_one(struct workload *w)
{
    static const enum kind often[] = {
        TASK_ASK_DESIRE, TASK_ASK_DESIRE,    TASK_ASK_DESIRE,    TASK_ASK_DESIRE, TASK_ASK_CANCEL,
        TASK_ASK_CANCEL, TASK_ASK_RESOLVING, TASK_ASK_RESOLVING, TASK_ASK_DELETE, TASK_ASK_DELETE,
        TASK_ASK_FAIL,   TASK_ASK_LIST,      TASK_ASK_LIST,
    };
    struct swarm *s = w->swarm;
    struct task_clients *c = w->own;
    struct task_ask *ask = ARENA_NEW(&s->arena, struct task_ask);
    *ask = (struct task_ask){
        .swarm = s,
        .work = w,
        .kind = often[random_below(&w->random, sizeof(often) / sizeof(often[0]))],
        .guid = arena_printf(&s->arena, "task-%u", (unsigned)draw(w, 1, c->guids)),
        .cell_id = arena_printf(&s->arena, "cell-%u",
                                (unsigned)draw(w, 1, s->cluster->options.cells)),
        .url = chance(w, 60),
        .hopeless = chance(w, 5),
        .max_retries = (int)(s->ask_number % 5) - 2,
        .keep_s = s->ask_number % 3 ? -1 : (int)(s->ask_number % 25),
    };
    ask->max_retries = ask->max_retries < 0 ? -1 : ask->max_retries;
    if (s->strays && chance(w, 15)) {
        ask->kind = (enum kind)draw(w, TASK_ASK_START, TASK_ASK_COMPLETE);
    }
    c->open_asks++;
    attempt(ask);
}

static void step(struct workload *w)
{
    struct task_clients *c = w->own;
    w->due_ns = world_now(w->swarm->world) + draw(w, 1, 2 * c->pace_ns);
    if (chance(w, 30)) {
        end_one(w->swarm, (unsigned)draw(w, 0, 15), (int)draw(w, 0, 1));
    }
    if (c->open_asks < OPEN_ASKS_MAX) {
        ask_one(w);
    }
}

/* Nobody asks any more, and who is called back listens. */
static void heal(struct workload *w)
{
    w->due_ns = NEVER_NS;
    ((struct task_clients *)w->own)->callbacks.trouble = 0;
}

/* Their processes end, one after the other. */
static void settle(struct workload *w)
{
    end_one(w->swarm, (unsigned)draw(w, 0, 15), 0);
}

static void heard(void *context, const Models__TaskCallbackResponse *told)
{
    struct swarm *s = context;
    check_callback(&s->checkers, told);
}

static void begin(struct workload *w)
{
    struct task_clients *c = w->own = ARENA_NEW(&w->swarm->arena, struct task_clients);
    c->guids = (unsigned)draw(w, 1, TASKS_MAX);
    c->pace_ns = draw(w, 50 * MILLISECOND_NS, 1500 * MILLISECOND_NS);
    callback_server_init(&c->callbacks, w->swarm->world);
    c->callbacks.random = &w->random;
    c->callbacks.trouble = (unsigned)draw(w, 0, 80);
    c->callbacks.on_heard = heard;
    c->callbacks.context = w->swarm;
}

static void done(struct workload *w)
{
    callback_server_done(&((struct task_clients *)w->own)->callbacks);
}

const struct workload_ops tasks_workload = {
    .begin = begin, .step = step, .heal = heal, .settle = settle, .done = done};
