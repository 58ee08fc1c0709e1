#include "bbs/units/unit_jobs.h"

#include "common/lifecycle/job.h"
#include "common/lifecycle/lifecycle.h"

#include <assert.h>
#include <string.h>

Board__JobRecord *units_job_new(struct arena *a, const struct op_input *in,
                                Board__JobRecord__Kind kind, const char *target, const char *name)
{
    Board__JobRecord *job = arena_message(a, &board__job_record__descriptor);
    job->kind = kind;
    job->target = arena_strdup(a, target);
    job->name = arena_strdup(a, name);
    job->worker = arena_strdup(a, in->boot_id);
    job->trace_id = arena_strdup(a, in->trace_id);
    job->units = arena_message(a, &board__units_job__descriptor);
    return job;
}

/* From `from` by that trigger; it is over where the lifecycle leads to none. */
static void put_job(const Board__JobRecord *job, int from, int trigger, const struct op_input *in,
                    struct plan *p)
{
    const char *key = key_job(p->arena, job->target, job->name);
    int to = lifecycle_transition(&job_lifecycle, from, in->actor, trigger, 0);
    assert(to >= 0 && job->units);
    if (to == JOB_NONE) {
        plan_delete(p, key, job_lifecycle.triggers[trigger], in->actor);
    } else {
        plan_put(p, key, job_lifecycle.triggers[trigger], in->actor, &job->base);
    }
}

void units_job_open(const Board__JobRecord *job, const struct op_input *in, struct plan *p)
{
    put_job(job, JOB_NONE, JOB_TRIGGER_OPEN, in, p);
}

void units_job_advance(const Board__JobRecord *job, const struct op_input *in, struct plan *p)
{
    put_job(job, JOB_OPEN, JOB_TRIGGER_ADVANCE, in, p);
}

void units_job_finish(const Board__JobRecord *job, const struct op_input *in, struct plan *p)
{
    put_job(job, JOB_OPEN, JOB_TRIGGER_FINISH, in, p);
}

/* ---- Of a unit that ends --------------------------------------------------------------------- */

static Board__JobRecord *job_of_unit(struct arena *a, const struct op_input *in,
                                     Board__JobRecord__Kind kind, const Board__UnitRecord *unit,
                                     const char *name)
{
    Board__JobRecord *job = units_job_new(a, in, kind, unit->guid, name);
    job->units->service = unit->service;
    job->units->number = unit->number;
    job->units->guid = unit->guid;
    job->units->since = in->now.wall_ns;
    return job;
}

void depart_unit_open(struct plan *p, const struct op_input *in, const Board__UnitRecord *unit)
{
    units_job_open(
        job_of_unit(p->arena, in, BOARD__JOB_RECORD__KIND__DEPART_UNIT, unit, DEPART_UNIT_JOB), in,
        p);
}

int64_t force_wait_ns(int64_t max_wait_ms)
{
    int64_t ms = max_wait_ms == 0 ? FORCE_WAIT_S * INT64_C(1000) : max_wait_ms;
    return ms <= 0 ? 0 : (ms > FORCE_WAIT_MAX_MS ? FORCE_WAIT_MAX_MS : ms) * (SECOND_NS / 1000);
}

void force_unit_open(struct plan *p, const struct op_input *in, const Board__UnitRecord *unit,
                     int64_t max_wait_ms, int64_t asked_ns)
{
    Board__JobRecord *job =
        job_of_unit(p->arena, in, BOARD__JOB_RECORD__KIND__FORCE_UNIT, unit, FORCE_UNIT_JOB);
    job->units->forced = true;
    job->units->max_wait_ms = max_wait_ms;
    job->units->since = asked_ns; /* both by one clock: what is between them is the wait */
    job->not_before = asked_ns + force_wait_ns(max_wait_ms);
    units_job_open(job, in, p);
}

void force_machine_open(struct plan *p, const struct op_input *in,
                        const Board__MachineRecord *machine, int64_t max_wait_ms)
{
    assert(!machine->manage && *machine->guid);
    Board__JobRecord *job = units_job_new(p->arena, in, BOARD__JOB_RECORD__KIND__FORCE_MACHINE,
                                          machine->guid, FORCE_MACHINE_JOB);
    job->units->number = machine->number;
    job->units->guid = machine->guid;
    job->units->since = in->now.wall_ns;
    job->units->forced = true;
    job->units->max_wait_ms = max_wait_ms;
    units_job_open(job, in, p);
}

/* ---- In a portion ---------------------------------------------------------------------------- */

const Board__JobRecord *units_job_gather(struct view *v, const struct op_input *in)
{
    const Board__JobRecord *asked = in->request;
    const Board__JobRecord *job =
        view_message(v, key_job(view_arena(v), asked->target, asked->name));
    return job && job->units ? job : NULL;
}

Board__JobRecord *units_job_copy(struct arena *a, const Board__JobRecord *job)
{
    Board__JobRecord *copy = arena_copy(a, job, sizeof(*copy));
    copy->units = arena_copy(a, job->units, sizeof(*copy->units));
    return copy;
}

const Board__UnitServiceRecord *units_job_service(struct view *v, const Board__JobRecord *job)
{
    const Board__UnitServiceRecord *s =
        view_message(v, key_unit_service(view_arena(v), job->units->service));
    return s && strcmp(s->guid, job->units->guid) == 0 ? s : NULL;
}

const char *units_job_of_service(struct arena *a, const struct op_input *in)
{
    const Board__JobRecord *job = in->request;
    return key_unit_service(a, job->units ? job->units->service : "");
}

/* No key goes on with "!", for that is escaped: it comes before what is longer. */
const char *units_key_after(struct view *v, const char *range, const char *cursor)
{
    struct arena *a = view_arena(v);
    const char *from = *cursor ? arena_printf(a, "%s!", cursor) : NULL;
    const char *key = view_peek_key(v, range, from);
    return key ? arena_strdup(a, key) : NULL;
}
