/* The end of a machine with units is forced. */
#include "bbs/board/nested.h"
#include "bbs/units/facts.h"
#include "bbs/units/unit_jobs.h"
#include "bbs/units/units.h"
#include "common/lifecycle/machine.h"
#include "common/lifecycle/unit.h"
#include "common/model/moves.h"

#include <assert.h>
#include <string.h>

struct force_machine_portion {
    const Board__JobRecord *job;         /* NULL = it is over */
    const Board__MachineRecord *machine; /* NULL = it is gone, or not alive */
    const Board__UnitRecord *unit;       /* a principal that no job forces yet */
    const char *cursor;                  /* of the last principal that was looked at */
    struct nested_op move;               /* of the unit, or of the machine */
    size_t moves;                        /* 1, or 0 */
};

/* All portions of a machine take turns with its moves. */
static const char *machine_of_job(struct arena *a, const struct op_input *in)
{
    const Board__JobRecord *job = in->request;
    return key_machine(a, job->units ? job->units->number : 0);
}

static void set_destroy(struct view *v, const struct op_input *in, const struct move_family *family,
                        const char *key, const char *guid, struct force_machine_portion *s)
{
    struct arena *a = view_arena(v);
    assert(s->machine && s->machine->cordoned && s->moves == 0);
    Board__Move *m = move_new(a, "destroy", key);
    m->body_case = BOARD__MOVE__BODY_UNITS;
    m->units = arena_message(a, &board__units_move__descriptor);
    m->units->guid = arena_strdup(a, guid);
    m->units->forced = true;
    m->units->leave = s->machine->leave;
    s->move = (struct nested_op){.row = move_row_named(family, "destroy")->op, .request = &m->base};
    s->moves = 1;
    nested_gather(v, in, &s->move, 1);
}

/* The next principal that no job forces. */
static void gather_unit(struct view *v, const struct op_input *in, struct force_machine_portion *s)
{
    struct arena *a = view_arena(v);
    const char *range = key_machine_units(a, s->machine->number);
    struct unit_name name;
    s->cursor = s->job->units->cursor;
    for (const char *key; !s->unit && (key = units_key_after(v, range, s->cursor));) {
        const Board__UnitRecord *u =
            unit_of_key(a, key, &name) ? view_message(v, key_unit(a, name)) : NULL;
        s->cursor = key;
        s->unit = u && !view_get(v, key_job(a, u->guid, FORCE_UNIT_JOB)) ? u : NULL;
    }
    if (s->unit && life_of(&unit_lifecycle, s->unit->state) == UNIT_ALIVE) {
        set_destroy(v, in, &unit_moves, key_unit(a, name), s->unit->guid, s);
    }
}

static void force_machine_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct force_machine_portion *s = snapshot;
    const char *key = machine_of_job(view_arena(v), in);
    s->job = units_job_gather(v, in);
    const Board__MachineRecord *m = s->job ? view_message(v, key) : NULL;
    bool alive = m && strcmp(m->guid, s->job->units->guid) == 0 &&
                 life_of(&machine_lifecycle, m->state) == MACHINE_ALIVE;
    if (!alive) {
        return;
    }
    s->machine = m;
    if (!m->cordoned) {
        return;
    }
    if (view_range_empty(v, key_machine_units(view_arena(v), m->number))) {
        set_destroy(v, in, &machine_moves, key, m->guid, s);
    } else {
        gather_unit(v, in, s);
    }
}

/* Somebody has opened it again: all its principals are looked through anew. */
static void put_cordon(const struct force_machine_portion *s, const struct op_input *in,
                       struct plan *p)
{
    Board__MachineRecord *after = arena_copy(p->arena, s->machine, sizeof(*after));
    Board__JobRecord *job = units_job_copy(p->arena, s->job);
    assert(s->moves == 0 && !s->unit);
    after->cordoned = true;
    life_change(p, in, &machine_lifecycle, MACHINE_ALIVE, MACHINE_TRIGGER_CORDON, MACHINE_IF_FORCED,
                key_machine(p->arena, after->number), &after->base);
    job->units->cursor = arena_strdup(p->arena, "");
    units_job_advance(job, in, p);
}

/* 1. The job is over: nothing.
 * 2. The machine is gone, or is not alive any more: the job ends.
 * 3. It takes units: it is cordoned, which every assignment compares.
 * 4. A principal that no job forces: it is destroyed, and such a job is opened, which waits since
 *    somebody forced the machine: by portions the last unit would wait longest.
 * 5. None is left: the machine is destroyed. Otherwise it waits for them. */
static void force_machine_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct force_machine_portion *s = snapshot;
    if (!s->job) { /* 1 */
        return;
    }
    if (!s->machine) { /* 2 */
        units_job_finish(s->job, in, p);
        return;
    }
    if (!s->machine->cordoned) { /* 3 */
        put_cordon(s, in, p);
        return;
    }
    assert(s->moves <= 1 && (s->unit || s->moves == 0 || !s->machine->manage));
    if (!nested_decide(&s->move, s->moves, in, p)) { /* 4, 5 */
        return;
    }
    if (s->unit) { /* 4 */
        Board__JobRecord *job = units_job_copy(p->arena, s->job);
        force_unit_open(p, in, s->unit, s->job->units->max_wait_ms, s->job->units->since);
        job->units->cursor = arena_strdup(p->arena, s->cursor);
        units_job_advance(job, in, p);
    }
    units_plan_check(p);
}

const struct op_row force_machine_job_row = {
    .name = "job of a forced machine",
    .target = machine_of_job,
    .gather = force_machine_gather,
    .decide = force_machine_decide,
    .snapshot_size = sizeof(struct force_machine_portion),
};
