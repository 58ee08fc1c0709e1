/* What the converger is asked: GET /state and GET /plan by anybody, POST /once by an ordinary
 * client. */
#include "common/lifecycle/actor.h"
#include "converger/inside.h"

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

static void state(struct role *role, const struct request *q, struct effects *out)
{
    struct converger *x = (struct converger *)role;
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
    s.found_late = x->found_late;
    s.repaired = x->mover.done;
    s.refused = x->mover.refused;
    show_cells(x, &s, out->arena);
    question_reply_json(q, &s.base, out);
}

static void plan(struct role *role, const struct request *q, struct effects *out)
{
    struct converger *x = (struct converger *)role;
    Converge__Plan p;
    converger_plan(x, out->arena, &p);
    question_reply_json(q, &p.base, out);
}

/* A full pass begins now: the answer is what it plans. */
static void once(struct role *role, const struct request *q, struct effects *out)
{
    struct converger *x = (struct converger *)role;
    if (!x->life.leader.leads || !x->life.follower.current) {
        question_refer(&x->life, q, x->life.leader.leads ? "waits for its feed" : "stands by", out);
        return;
    }
    Converge__OnceResponse response = CONVERGE__ONCE_RESPONSE__INIT;
    Converge__Plan p;
    converger_plan(x, out->arena, &p);
    response.plan = &p;
    converger_begin_pass(x);
    effects_reply_message(out, q->id, &response.base);
}

/* ---- The routes ------------------------------------------------------------------------------ */

static const struct question_route routes[] = {
    {"GET", "/state", QUESTION_ANYBODY, 0, state},
    {"GET", "/plan", QUESTION_ANYBODY, 0, plan},
    {"POST", "/once", ACTOR_CLIENT, 0, once},
};

const struct questions converger_questions = {routes, sizeof(routes) / sizeof(routes[0])};
