/* A unit is placed: assign. */
#include "bbs/units/cell_machine.h"
#include "bbs/units/facts.h"
#include "bbs/units/units.h"
#include "common/lifecycle/machine.h"
#include "common/lifecycle/unit.h"
#include "common/model/sighting.h"

#include <assert.h>
#include <string.h>

struct assign_snapshot {
    struct speaker by;
    const Board__UnitRecord *unit;
    struct cell_machine at; /* the caller's */
    bool made_since;        /* the unit was made in this board generation: nothing older is of it */
    int64_t generation_stamp;
    struct sighting generation_made;
};

static const struct assign_snapshot *turn_snapshot(const struct move_turn *t)
{
    return t->snapshot;
}

static void assign_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct assign_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const char *generation_key = key_epoch(a, view_board_generation(v));
    speaker_gather(v, in, &s->by);
    const struct seen *unit = view_get(v, move_subject_key(a, in));
    if (!unit) {
        return;
    }
    s->unit = (const Board__UnitRecord *)unit->message;
    cell_machine_gather(v, in->peer_name, &s->at);
    const struct seen *generation = view_peek(v, generation_key); /* each transaction compares it */
    if (generation) {
        s->made_since = unit->create_revision > generation->create_revision;
        s->generation_stamp =
            ((const Board__BoardGenerationRecord *)generation->message)->created_at;
        s->generation_made = view_made(v, generation_key);
    }
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static bool is_settled(const struct move_turn *t)
{
    const struct assign_snapshot *s = turn_snapshot(t);
    return s->made_since || move_units(t->move)->adopts ||
           stood_left_ns(UNIT_RESTORE_NS, s->generation_stamp, s->generation_made, t->in->now) <= 0;
}

static bool is_another_machine(const struct move_turn *t)
{
    const struct assign_snapshot *s = turn_snapshot(t);
    const Board__UnitNeeds *needs = s->unit->needs;
    return needs && needs->on_machine &&
           (!s->at.machine || s->at.machine->number != needs->machine);
}

static bool is_used(const struct move_turn *t)
{
    const struct assign_snapshot *s = turn_snapshot(t);
    const Board__UnitNeeds *needs = s->unit->needs;
    return needs && needs->unused && s->at.machine && !s->at.machine->clean;
}

static uint32_t machine_guards_of(const struct move_turn *t)
{
    const struct assign_snapshot *s = turn_snapshot(t);
    const Board__MachineRecord *m = s->at.machine;
    bool waits = life_of(&unit_lifecycle, s->unit->state) == UNIT_ALIVE && !s->unit->assigned;
    return MACHINE_IF_CELL_OWN | /* it is the caller's: cell_machine_gather() */
           (m ? MACHINE_IF_IDENTITY : MACHINE_IF_CELL_FREE) | (waits ? MACHINE_IF_UNIT_ALIVE : 0) |
           (m && !m->cordoned ? MACHINE_IF_OPEN : 0) |
           (m && m->host_units ? MACHINE_IF_HOSTS_UNITS : 0) |
           (!is_used(t) ? MACHINE_IF_CLEAN_IF_ASKED : 0);
}

static int machine_life(const struct assign_snapshot *s)
{
    return life_of(&machine_lifecycle, s->at.machine ? s->at.machine->state : NULL);
}

/* Nobody is placed on a cell that is being emptied; a container that is there already stays. */
static bool is_emptied(const struct move_turn *t)
{
    const struct assign_snapshot *s = turn_snapshot(t);
    return s->at.cell && s->at.cell->evacuating && !move_units(t->move)->adopts;
}

static bool is_open(const struct move_turn *t)
{
    const struct assign_snapshot *s = turn_snapshot(t);
    return !is_another_machine(t) && !is_emptied(t) && (s->at.machine || s->at.number_free) &&
           lifecycle_transition(&machine_lifecycle, machine_life(s), t->in->actor,
                                MACHINE_TRIGGER_ASSIGN, machine_guards_of(t)) >= 0;
}

static uint32_t assign_guards(const struct move_turn *t)
{
    const struct assign_snapshot *s = turn_snapshot(t);
    return (!*s->unit->principal ? UNIT_IF_PRINCIPAL : 0) |
           (!s->unit->assigned ? UNIT_IF_UNASSIGNED : 0) | (is_open(t) ? UNIT_IF_MACHINE_OPEN : 0) |
           (is_settled(t) ? UNIT_IF_RESTORE_SETTLED : 0);
}

/* ---- What the move does ---------------------------------------------------------------------- */

/* Why the machine does not take the unit. */
static const char *why_not_there(const struct move_turn *t)
{
    const struct assign_snapshot *s = turn_snapshot(t);
    const Board__MachineRecord *m = s->at.machine;
    struct arena *a = t->plan->arena;
    if (is_another_machine(t)) {
        return m ? arena_printf(a, "it is for machine %u, and cell %s is machine %u",
                                s->unit->needs->machine, t->in->peer_name, m->number)
                 : arena_printf(a, "it is for machine %u, and cell %s is none yet",
                                s->unit->needs->machine, t->in->peer_name);
    }
    if (is_emptied(t)) {
        return arena_printf(a, "cell %s is being emptied", t->in->peer_name);
    }
    if (!m) {
        return "the numbers of machines are used up";
    }
    return arena_printf(a, "machine %u %s", m->number,
                        machine_life(s) != MACHINE_ALIVE ? "is not alive"
                        : m->cordoned                    ? "is cordoned"
                        : !m->host_units                 ? "is not for units"
                                                         : "is not unused, as it asks for");
}

static void refuse_assign(const struct move_turn *t)
{
    const struct assign_snapshot *s = turn_snapshot(t);
    struct arena *a = t->plan->arena;
    const char *why = why_not_there(t);
    if (t->from != UNIT_ALIVE) {
        why = "it is not alive";
    } else if (*s->unit->principal) {
        why = arena_printf(a, "it is a subordinate, and is where unit %s is", s->unit->principal);
    } else if (s->unit->assigned) {
        why = arena_printf(a, "it is on machine %u for ever", s->unit->machine);
    } else if (is_open(t)) {
        why = "the board was restored a moment ago, and another cell may have its container";
    }
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "unit %s is not placed: %s",
                unit_name_text(a, unit_name_of(s->unit)), why);
}

/* The machine, which is made, or is clean no more. */
static const Board__MachineRecord *put_machine(const struct move_turn *t)
{
    const struct assign_snapshot *s = turn_snapshot(t);
    const Board__MachineRecord *m = s->at.machine;
    uint32_t guards = machine_guards_of(t);
    if (!m) {
        return cell_machine_put(&s->at, t->in, MACHINE_TRIGGER_ASSIGN, guards, MACHINE_OF_UNITS,
                                false, t->plan);
    }
    if (m->clean) {
        Board__MachineRecord *after = arena_copy(t->plan->arena, m, sizeof(*after));
        after->clean = false;
        life_change(t->plan, t->in, &machine_lifecycle, MACHINE_ALIVE, MACHINE_TRIGGER_ASSIGN,
                    guards, key_machine(t->plan->arena, m->number), &after->base);
    }
    return m;
}

static void assign_unit(const struct move_turn *t)
{
    const struct assign_snapshot *s = turn_snapshot(t);
    struct arena *a = t->plan->arena;
    const Board__MachineRecord *m = put_machine(t);
    Board__MachineUnitRecord *entry = arena_message(a, &board__machine_unit_record__descriptor);
    Board__UnitRecord *after = arena_copy(a, s->unit, sizeof(*after));
    after->machine = m->number;
    after->assigned = true;
    after->cell_id = m->cell_id;
    after->identity = m->identity;
    after->place = after->state;
    entry->guid = after->guid;
    entry->cell_id = after->cell_id;
    plan_put(t->plan, key_machine_unit(a, m->number, unit_name_of(after)), t->row->name,
             t->in->actor, &entry->base);
    move_put(t, move_subject_key(a, t->in), t->from, t->to, &after->base);
    units_plan_check(t->plan);
}

/* 1. The unit is gone, or another has its name: ResourceNotFound.
 * 2. It is on the caller's cell already: nothing. */
static bool assign_begin(struct move_turn *t)
{
    const struct assign_snapshot *s = turn_snapshot(t);
    t->record = s->unit ? &s->unit->base : NULL;
    t->from = life_of(&unit_lifecycle, s->unit ? s->unit->state : NULL);
    if (!speaker_authorised(&s->by, t->in, t->plan) || !unit_is_meant(t, s->unit)) { /* 1 */
        return false;
    }
    return !s->unit->assigned || !unit_is_own(s->unit, &s->by, t->in->peer_name); /* 2 */
}

static const struct move_row rows[] = {
    {.name = "assign", .guards = assign_guards, .refuse = refuse_assign, .decide = assign_unit},
};

static const struct move_family assign_family = {
    .lifecycle = &unit_lifecycle,
    .rows = rows,
    .count = 1,
    .begin = assign_begin,
};

static void assign_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&assign_family, snapshot, in, p);
}

const struct op_row unit_assign_row = {
    .name = "assign of a unit",
    .target = move_subject_key,
    .gather = assign_gather,
    .decide = assign_decide,
    .snapshot_size = sizeof(struct assign_snapshot),
};
