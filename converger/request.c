/* What the converger is asked: GET /state and GET /plan by anybody, POST /once by an ordinary
 * client. */
#include "common/codec/json.h"
#include "common/lifecycle/actor.h"
#include "converger/inside.h"

#include <string.h>

#define JSON_TYPE "application/json"
#define TEXT_TYPE "text/plain; charset=utf-8"

enum { ANYBODY = ~0 };

typedef void handler(struct converger *x, const struct request *q, struct effects *out);
static handler state, plan, once;

static const struct route {
    const char *method;
    const char *path;
    int actors; /* who may call */
    handler *handle;
} routes[] = {
    {"GET", "/state", ANYBODY, state},
    {"GET", "/plan", ANYBODY, plan},
    {"POST", "/once", ACTOR_CLIENT, once},
};

static struct reply *answer(const struct request *q, int status, const char *type, const char *text,
                            struct effects *out)
{
    effects_reply(out, q->id, status, type, bytes_of(text));
    return &out->list[out->count - 1].reply;
}

void converger_answer(struct converger *x, const struct request *q, struct effects *out)
{
    const struct route *route = NULL;
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        route = strcmp(routes[i].path, q->path) == 0 ? &routes[i] : route;
    }
    if (!route) {
        answer(q, 404, TEXT_TYPE, "404 page not found\n", out);
    } else if (strcmp(route->method, q->method) != 0) {
        answer(q, 405, TEXT_TYPE, "Method Not Allowed\n", out)->allow = route->method;
    } else if (!(route->actors & (int)actor_of_unit(q->peer.unit))) {
        answer(q, 403, TEXT_TYPE, "this route is not for the caller's role\n", out);
    } else {
        route->handle(x, q, out);
    }
}

static void answer_json(const struct request *q, const ProtobufCMessage *m, struct effects *out)
{
    struct buf body;
    struct err err;
    buf_init(&body);
    if (json_encode(m, 0, &body, &err) < 0) {
        answer(q, 500, TEXT_TYPE, err.text, out);
    } else {
        answer(q, 200, JSON_TYPE, buf_string(&body), out);
    }
    buf_done(&body);
}

struct cells_shown {
    Converge__ConvergerState *state;
    struct arena *arena;
};

static void show_cell(void *context, const struct judged_view *cell)
{
    struct cells_shown *s = context;
    Converge__CellHearing *c = ARENA_NEW(s->arena, Converge__CellHearing);
    converge__cell_hearing__init(c);
    c->cell_id = (char *)(uintptr_t)cell->cell_id;
    c->zone = (char *)(uintptr_t)cell->zone;
    c->session = cell->session;
    c->state = arena_strdup(s->arena, cell->held ? "LOST (held)" : cell->lost ? "LOST" : "PRESENT");
    c->silent_ms = cell->silent_ns / MILLISECOND_NS;
    s->state->cells[s->state->n_cells++] = c;
}

static void show_cells(struct converger *x, Converge__ConvergerState *state, struct arena *a)
{
    struct cells_shown s = {.state = state, .arena = a};
    const ProtobufCEnumValue *brake = protobuf_c_enum_descriptor_get_value(
        &board__brake_record__state__descriptor, x->judge.brake.state);
    state->cells = ARENA_ARRAY(a, x->judge.cells.count, Converge__CellHearing *);
    judge_each(&x->judge, show_cell, &s);
    if (x->judge.brake.present) {
        state->brake = arena_strdup(a, brake ? brake->name : "unknown");
    }
    state->hears = x->life.leader.hearing.counting;
}

static void state(struct converger *x, const struct request *q, struct effects *out)
{
    Converge__ConvergerState s = CONVERGE__CONVERGER_STATE__INIT;
    const Board__LeadRecord *holder = leader_holder(&x->life.leader, out->arena);
    s.name = (char *)(uintptr_t)x->life.name;
    s.leads = x->life.leader.leads;
    s.leader_url = holder ? holder->url : s.leader_url;
    s.term = x->life.leader.term;
    s.epoch = x->life.follower.epoch;
    s.current = x->life.follower.current;
    s.revision = x->life.follower.revision;
    s.processes = x->processes.by_guid.count;
    s.waiting = x->processes.work.waiting_count;
    s.tasks = x->tasks.by_guid.count;
    s.tasks_waiting = x->tasks.work.waiting_count;
    s.moves = x->mover.count;
    s.full_passes = x->full_passes;
    s.repaired = x->mover.repaired;
    s.refused = x->mover.refused;
    show_cells(x, &s, out->arena);
    answer_json(q, &s.base, out);
}

static void plan(struct converger *x, const struct request *q, struct effects *out)
{
    Converge__Plan p;
    converger_plan(x, out->arena, &p);
    answer_json(q, &p.base, out);
}

/* A full pass begins now: the answer is what it plans. */
static void once(struct converger *x, const struct request *q, struct effects *out)
{
    const Board__LeadRecord *holder = leader_holder(&x->life.leader, out->arena);
    if (!x->life.leader.leads || !x->life.follower.current) {
        answer(q, 503, TEXT_TYPE,
               arena_printf(out->arena, "this converger %s; the leader is %s\n",
                            x->life.leader.leads ? "waits for its feed" : "stands by",
                            holder ? holder->url : "not known"),
               out)
            ->retry_after_s = 1;
        return;
    }
    Converge__OnceResponse response = CONVERGE__ONCE_RESPONSE__INIT;
    Converge__Plan p;
    converger_plan(x, out->arena, &p);
    response.plan = &p;
    converger_begin_pass(x);
    effects_reply_message(out, q->id, &response.base);
}
