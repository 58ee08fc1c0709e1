/* Machines: made by hand or by the first assignment; cordoned, destroyed, dead, removed. */
#include "bbs/units/cell_machine.h"
#include "bbs/units/facts.h"
#include "bbs/units/unit_jobs.h"
#include "bbs/units/units.h"
#include "common/lifecycle/machine.h"

#include <assert.h>
#include <string.h>

/* ---- Add ------------------------------------------------------------------------------------- */

static const Board__AddMachineRequest *asked_machine(const struct op_input *in)
{
    return (const Board__AddMachineRequest *)in->request;
}

/* They take numbers of one sequence. */
static const char *add_target(struct arena *a, const struct op_input *in)
{
    (void)in;
    return key_sequence(a, "machine", "");
}

void valid_add_machine(struct validation *v, const Board__AddMachineRequest *request)
{
    if (!*request->cell_id) {
        say_field(v, "cell_id");
    }
    check_length(v, request->cell_id, NAME_CHARACTERS_MAX);
}

static void add_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    cell_machine_gather(v, asked_machine(in)->cell_id, snapshot);
}

/* 1. There is no such cell, or it is lost: refused.
 * 2. It is a machine already: ResourceExists.
 * 3. It becomes one: of units, or one that runs the cluster and takes none. */
static void add_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct cell_machine *c = snapshot;
    if (!c->cell) { /* 1 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound,
                    "there is no cell %s: bbs cells lists those that are", c->cell_id);
    } else if (cell_is_absent(c->cell)) { /* 1 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "cell %s is lost: it becomes a machine when it is back", c->cell_id);
    } else if (c->machine) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceExists, "cell %s is machine %u already",
                    c->cell_id, c->machine->number);
    } else if (!c->number_free) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "the numbers of machines are used up");
    } else { /* 3 */
        p->record = &cell_machine_put(
                         c, in, MACHINE_TRIGGER_ADD, MACHINE_IF_CELL_FREE,
                         asked_machine(in)->manage ? MACHINE_OF_MANAGER : MACHINE_OF_UNITS, true, p)
                         ->base;
    }
}

const struct op_row add_machine_row = {
    .name = "add machine",
    .target = add_target,
    .gather = add_gather,
    .decide = add_decide,
    .snapshot_size = sizeof(struct cell_machine),
};

/* ---- What the moves rest on ------------------------------------------------------------------ */

struct machine_snapshot {
    struct speaker by;
    const Board__MachineRecord *machine;
    const Board__CellRecord *cell; /* its own, or whichever has the id by now */
    bool no_principals;
    const char *principal; /* key of the first one */
    const Board__MachineCellRecord *entry;
    bool force_job; /* a job forces its end already */
};

static const struct machine_snapshot *turn_snapshot(const struct move_turn *t)
{
    return t->snapshot;
}

static void machine_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct machine_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const char *move = ((const Board__Move *)in->request)->move;
    speaker_gather(v, in, &s->by);
    s->machine = view_message(v, move_subject_key(a, in));
    if (!s->machine) {
        return;
    }
    const char *units = key_machine_units(a, s->machine->number);
    if (strcmp(move, "destroy") == 0 || strcmp(move, "die") == 0) {
        s->no_principals = view_range_empty(v, units);
        s->principal = s->no_principals ? NULL : view_peek_key(v, units, NULL);
    }
    if (in->actor == ACTOR_CLIENT && move_units(in->request)->forced) {
        s->force_job = view_get(v, key_job(a, s->machine->guid, FORCE_MACHINE_JOB));
    }
    if (strcmp(move, "die") == 0 || strcmp(move, "remove") == 0) {
        s->cell = view_message(v, key_cell(a, s->machine->cell_id));
    }
    if (strcmp(move, "remove") == 0) {
        s->entry = view_message(v, key_machine_cell(a, s->machine->cell_id));
    }
}

static bool is_another_cell(const struct machine_snapshot *s)
{
    return !s->cell || strcmp(s->cell->identity, s->machine->identity) != 0;
}

static uint32_t machine_guards(const struct move_turn *t)
{
    const struct machine_snapshot *s = turn_snapshot(t);
    const Board__MachineRecord *m = s->machine;
    bool rep = t->in->actor == ACTOR_REP;
    bool own = rep && strcmp(m->cell_id, t->in->peer_name) == 0;
    bool same = rep && s->by.cell && strcmp(m->identity, s->by.cell->identity) == 0;
    bool forced = t->in->actor == ACTOR_BBS && move_units(t->move)->forced;
    return (own ? MACHINE_IF_CELL_OWN : 0) | (same ? MACHINE_IF_IDENTITY : 0) |
           (s->no_principals ? MACHINE_IF_NO_PRINCIPALS : 0) |
           (!m->manage ? MACHINE_IF_NOT_MANAGER : 0) | (forced ? MACHINE_IF_FORCED : 0) |
           (cell_is_absent(s->cell) || is_another_cell(s) ? MACHINE_IF_AGENT_ABSENT : 0) |
           (!m->leave || is_another_cell(s) ? MACHINE_IF_CELL_LEFT_IF_ASKED : 0);
}

/* ---- What the moves do ----------------------------------------------------------------------- */

static void put_machine(const struct move_turn *t, Board__MachineRecord *after)
{
    const char *life = machine_lifecycle.states[t->to];
    if (t->to != t->from) {
        after->state = arena_strdup(t->plan->arena, life);
        after->since = t->in->now.wall_ns > after->since ? t->in->now.wall_ns : after->since;
    }
    move_put(t, move_subject_key(t->plan->arena, t->in), t->from, t->to, &after->base);
}

static Board__MachineRecord *machine_after(const struct move_turn *t)
{
    return arena_copy(t->plan->arena, turn_snapshot(t)->machine, sizeof(Board__MachineRecord));
}

/* It is so already: nothing. */
static void set_cordoned(const struct move_turn *t, bool cordoned)
{
    Board__MachineRecord *after = machine_after(t);
    if (after->cordoned != cordoned) {
        after->cordoned = cordoned;
        put_machine(t, after);
    }
}

static void cordon_machine(const struct move_turn *t)
{
    set_cordoned(t, true);
}

static void uncordon_machine(const struct move_turn *t)
{
    set_cordoned(t, false);
}

static void destroy_machine(const struct move_turn *t)
{
    Board__MachineRecord *after = machine_after(t);
    assert(turn_snapshot(t)->no_principals && !after->manage);
    after->leave = move_units(t->move)->leave;
    put_machine(t, after);
}

/* A client forces the end of one with units: none comes any more, and a job ends those. */
static bool is_forced_with_units(const struct move_turn *t)
{
    const struct machine_snapshot *s = turn_snapshot(t);
    return strcmp(t->row->name, "destroy") == 0 && t->from == MACHINE_ALIVE &&
           t->in->actor == ACTOR_CLIENT && move_units(t->move)->forced && !s->no_principals &&
           !s->machine->manage;
}

static void force_machine(const struct move_turn *t)
{
    const struct machine_snapshot *s = turn_snapshot(t);
    Board__MachineRecord *after = machine_after(t);
    assert(!s->no_principals && !s->machine->manage);
    after->cordoned = true;
    after->leave = move_units(t->move)->leave;
    if (after->cordoned != s->machine->cordoned || after->leave != s->machine->leave) {
        life_change(t->plan, t->in, &machine_lifecycle, MACHINE_ALIVE, MACHINE_TRIGGER_CORDON, 0,
                    move_subject_key(t->plan->arena, t->in), &after->base);
    }
    if (!s->force_job) {
        force_machine_open(t->plan, t->in, s->machine, move_units(t->move)->max_wait_ms);
    }
}

static void die_machine(const struct move_turn *t)
{
    assert(turn_snapshot(t)->no_principals);
    put_machine(t, machine_after(t));
}

/* And which machine the cell is, unless that is another one by now. */
static void remove_machine(const struct move_turn *t)
{
    const struct machine_snapshot *s = turn_snapshot(t);
    move_delete_subject(t);
    if (s->entry && s->entry->number == s->machine->number) {
        plan_delete(t->plan, key_machine_cell(t->plan->arena, s->machine->cell_id), t->row->name,
                    t->in->actor);
    }
}

static const char *principal_text(struct arena *a, const char *key)
{
    struct unit_name name;
    return unit_of_key(a, key, &name) ? unit_name_text(a, name) : key;
}

static void refuse_machine(const struct move_turn *t, const char *why)
{
    const struct machine_snapshot *s = turn_snapshot(t);
    uint32_t number = s->machine->number;
    SCOPED_ARENA(a);
    if (strcmp(t->row->name, "destroy") == 0 && s->machine->manage) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "machine %u runs the cluster: it is never destroyed", number);
    } else if (s->principal) {
        const char *unit = principal_text(&a, s->principal);
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "machine %u has unit %s: bbs units destroy-unit %s ends that", number, unit,
                    unit);
    } else {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "machine %u is %s: %s", number,
                    s->machine->state, why);
    }
}

/* 1. There is none, or another has its number since a restore: ResourceNotFound.
 * 2. It is on the way already: nothing.
 * 3. It has units, and a client forces it: a job ends them, and then it. */
static bool machine_begin(struct move_turn *t)
{
    const struct machine_snapshot *s = turn_snapshot(t);
    const char *guid = move_units(t->move)->guid, *move = t->row->name;
    t->record = s->machine ? &s->machine->base : NULL;
    t->from = life_of(&machine_lifecycle, s->machine ? s->machine->state : NULL);
    if (!speaker_authorised(&s->by, t->in, t->plan)) {
        return false;
    }
    if (!s->machine && t->row->absent == ABSENT_REFUSED) { /* 1 */
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceNotFound,
                    "there is no such machine: bbs units machines lists those that are");
        return false;
    }
    bool said = *guid || t->in->actor == ACTOR_REP;
    if (s->machine && said && strcmp(guid, s->machine->guid) != 0) { /* 1 */
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceNotFound,
                    "the machine of that guid is gone: another one has its number");
        return false;
    }
    bool destroyed = strcmp(move, "destroy") == 0 && t->from > MACHINE_ALIVE;
    bool dead = strcmp(move, "die") == 0 && t->from == MACHINE_DEAD;
    bool forced = is_forced_with_units(t);
    if (forced) {
        force_machine(t); /* 3 */
    }
    return !destroyed && !dead && !forced; /* 2 */
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void valid_machine_move(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    uint32_t number;
    if (!number_of_key(&a, move_key(&a, move), &number)) {
        say_field(v, "key");
    }
}

static void machine_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&machine_moves, snapshot, in, p);
}

static const struct op_row machine_op = {
    .name = "move of a machine",
    .target = move_subject_key,
    .gather = machine_gather,
    .decide = machine_decide,
    .snapshot_size = sizeof(struct machine_snapshot),
};

#define MACHINE_ROW(move, absents, refusal)                                                        \
    static void refuse_##move(const struct move_turn *t)                                           \
    {                                                                                              \
        refuse_machine(t, refusal);                                                                \
    }
#include "bbs/units/moves.def"

#define MACHINE_ROW(move, absents, refusal)                                                        \
    {                                                                                              \
        .name = #move,                                                                             \
        .valid = valid_machine_move,                                                               \
        .absent = ABSENT_##absents,                                                                \
        .guards = machine_guards,                                                                  \
        .refuse = refuse_##move,                                                                   \
        .decide = move##_machine,                                                                  \
        .op = &machine_op,                                                                         \
        .op_of_rep = &machine_op,                                                                  \
    },
static const struct move_row rows[] = {
#include "bbs/units/moves.def"
};

const struct move_family machine_moves = {
    .lifecycle = &machine_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = machine_begin,
};
