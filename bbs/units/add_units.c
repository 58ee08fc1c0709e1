/* Units are added: the request, and the job that makes them, 28 at a time. */
#include "bbs/units/add_units.h"

#include "bbs/units/facts.h"
#include "bbs/units/unit_jobs.h"
#include "bbs/units/units.h"
#include "common/lifecycle/machine.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"
#include "common/lifecycle/unit_status.h"

#include <assert.h>
#include <string.h>

/* ---- What is asked --------------------------------------------------------------------------- */

/* What a request cannot ask for, for its charm says it; NULL = it asks for none of that. */
static const char *need_of_charm(const Board__UnitNeeds *n)
{
    return n->memory_mb          ? "memory_mb"
           : n->disk_mb          ? "disk_mb"
           : n->max_pids         ? "max_pids"
           : *n->rootfs          ? "rootfs"
           : n->n_volume_drivers ? "volume_drivers"
                                 : NULL;
}

void valid_units_asked(struct validation *v, uint32_t count, const Board__UnitNeeds *needs)
{
    SCOPED_ARENA(a);
    if (count > UNITS_ASKED_MAX) {
        say(v, arena_printf(&a, "count: %u units at once; there can be %d at most", count,
                            UNITS_ASKED_MAX));
    }
    if (needs && needs->on_machine && count > 1) {
        say(v, arena_printf(&a,
                            "count: %u units on machine %u: ask for one, or leave the machine "
                            "out",
                            count, needs->machine));
    }
    const char *other = needs ? need_of_charm(needs) : NULL;
    if (other) {
        say(v, arena_printf(&a, "needs.%s: the charm says it, of all units", other));
    }
    if (needs && needs->machine && !needs->on_machine) {
        say(v, arena_printf(&a, "needs.machine: %u is meant only with on_machine", needs->machine));
    }
    if (needs && needs->on_machine && needs->unused) {
        say(v, "needs: a machine is named, and an unused one wanted: say one of the two");
    }
}

void wanted_machine_gather(struct view *v, const Board__UnitNeeds *needs,
                           struct wanted_machine *ret)
{
    *ret = (struct wanted_machine){.asked = needs && needs->on_machine};
    if (ret->asked) {
        ret->number = needs->machine;
        ret->record = view_message(v, key_machine(view_arena(v), ret->number));
        const Board__CellRecord *cell =
            ret->record ? view_peek_message(v, key_cell(view_arena(v), ret->record->cell_id))
                        : NULL;
        bool own = cell && strcmp(cell->identity, ret->record->identity) == 0;
        ret->pooled = own && *cell->pool;
        assert(!ret->pooled || ret->record);
    }
}

bool wanted_machine_refused(const struct wanted_machine *w, struct plan *p)
{
    const Board__MachineRecord *m = w->record;
    if (!w->asked) {
        return false;
    }
    if (!m) {
        plan_refuse(
            p, MODELS__ERROR__TYPE__ResourceNotFound,
            "there is no machine %u: bbs units machines lists those that are, and bbs units "
            "add-machine CELL makes one",
            w->number);
        return true;
    }
    const char *why = life_of(&machine_lifecycle, m->state) != MACHINE_ALIVE ? m->state
                      : m->cordoned    ? "cordoned: bbs units uncordon opens it"
                      : !m->host_units ? "one that only manages"
                      : w->pooled      ? "a cell of a node pool, which has it for its own services"
                                       : NULL;
    if (why) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "machine %u takes no units: it is %s",
                    w->number, why);
    }
    return why;
}

const Board__JobRecord *add_units_open(struct plan *p, const struct op_input *in,
                                       const char *service, const char *guid, uint32_t count,
                                       const Board__UnitNeeds *needs)
{
    struct arena *a = p->arena;
    char name[GUID_BYTES]; /* several may be at work */
    random_guid(in->random, name);
    Board__JobRecord *job = units_job_new(a, in, BOARD__JOB_RECORD__KIND__ADD_UNITS, guid,
                                          arena_printf(a, "add-%s", name));
    Board__UnitNeeds *kept = arena_message(a, &board__unit_needs__descriptor);
    kept->on_machine = needs && needs->on_machine;
    kept->machine = kept->on_machine ? needs->machine : 0;
    kept->unused = needs && needs->unused;
    job->units->service = arena_strdup(a, service);
    job->units->guid = job->target;
    job->units->left = count;
    job->units->needs = kept;
    units_job_open(job, in, p);
    return job;
}

/* ---- Add-unit -------------------------------------------------------------------------------- */

struct add_units_snapshot {
    const Board__UnitServiceRecord *service; /* NULL = there is none */
    const Board__SequenceRecord *sequence;   /* NULL = it has had no unit */
    struct wanted_machine machine;
};

static const Board__AddUnitsRequest *asked_add(const struct op_input *in)
{
    return (const Board__AddUnitsRequest *)in->request;
}

static const char *add_units_target(struct arena *a, const struct op_input *in)
{
    return key_unit_service(a, asked_add(in)->service);
}

void valid_add_units(struct validation *v, const Board__AddUnitsRequest *request)
{
    if (!unit_service_name_is_valid(request->service)) {
        say(v, "service: " UNIT_SERVICE_NAME_RULE);
    }
    if (request->count == 0) {
        say(v, "count: how many units are to be added?");
    }
    if (request->needs && request->needs->n_placement_tags > 0) {
        say(v, "needs.placement_tags: they are of the service: deploy takes them");
    }
    valid_units_asked(v, request->count, request->needs);
}

static void add_units_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct add_units_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    s->service = view_message(v, key_unit_service(a, asked_add(in)->service));
    s->sequence = view_peek_message(v, key_sequence(a, "unit", asked_add(in)->service));
    wanted_machine_gather(v, asked_add(in)->needs, &s->machine);
}

/* 1. The service is not there, or not alive: refused.
 * 2. It is a subordinate one: InvalidRequest.
 * 3. Its numbers are used up, or the machine takes none: refused.
 * 4. The job is opened. */
static void add_units_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct add_units_snapshot *s = snapshot;
    const Board__AddUnitsRequest *r = asked_add(in);
    uint32_t next = s->sequence ? s->sequence->next : 0;
    if (unit_service_refused(s->service, r->service, "it gets no more units", p)) { /* 1 */
        return;
    }
    if (s->service->subordinate) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__InvalidRequest,
                    "unit service %s is subordinate: its units come with those of the services "
                    "that it is related to",
                    r->service);
    } else if (next > UINT32_MAX - r->count) { /* 3 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "the numbers of unit service %s are used up: %u are left", r->service,
                    UINT32_MAX - next);
    } else if (!wanted_machine_refused(&s->machine, p)) { /* 3 */
        const Board__JobRecord *job =                     /* 4 */
            add_units_open(p, in, r->service, s->service->guid, r->count, r->needs);
        p->record = &job->base;
    }
}

const struct op_row add_units_row = {
    .name = "add units",
    .target = add_units_target,
    .gather = add_units_gather,
    .decide = add_units_decide,
    .snapshot_size = sizeof(struct add_units_snapshot),
};

/* ---- The job --------------------------------------------------------------------------------- */

struct add_units_portion {
    const Board__JobRecord *job;             /* NULL = it is over */
    const Board__UnitServiceRecord *service; /* NULL = that one is gone */
    uint32_t numbers[UNITS_ADDED_AT_ONCE];   /* that are free */
    size_t count;
    uint64_t next; /* of the sequence, after these */
};

static bool service_takes_units(const Board__UnitServiceRecord *s)
{
    return s && life_of(&unit_service_lifecycle, s->state) == UNIT_SERVICE_ALIVE && !s->subordinate;
}

static void add_job_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct add_units_portion *s = snapshot;
    struct arena *a = view_arena(v);
    s->job = units_job_gather(v, in);
    s->service = s->job ? units_job_service(v, s->job) : NULL;
    if (!service_takes_units(s->service)) {
        return;
    }
    const char *name = s->service->name;
    const Board__SequenceRecord *sequence = view_message(v, key_sequence(a, "unit", name));
    s->next = sequence ? sequence->next : 0;
    for (int i = 0;
         i < UNITS_ADDED_AT_ONCE && s->count < s->job->units->left && s->next < UINT32_MAX;
         i++, s->next++) {
        struct unit_name unit = {name, (uint32_t)s->next};
        bool free = !view_get(v, key_unit(a, unit));
        if (!view_get(v, key_unit_status(a, unit)) && free) {
            s->numbers[s->count++] = unit.number;
        }
    }
}

/* It waits for a machine. */
static void put_unit(const struct add_units_portion *s, uint32_t number, const struct op_input *in,
                     struct plan *p)
{
    struct arena *a = p->arena;
    struct unit_name name = {s->service->name, number};
    const Board__UnitNeeds *wanted = s->job->units->needs;
    char *guid = arena_alloc(a, GUID_BYTES);
    random_guid(in->random, guid);
    Board__UnitRecord *u = arena_message(a, &board__unit_record__descriptor);
    u->service = s->service->name;
    u->number = number;
    u->guid = guid;
    u->service_guid = s->service->guid;
    u->state = arena_strdup(a, unit_lifecycle.states[UNIT_ALIVE]);
    u->place = arena_strdup(a, UNIT_PLACE_UNASSIGNED);
    u->needs = s->service->needs ? arena_copy(a, s->service->needs, sizeof(*u->needs))
                                 : arena_message(a, &board__unit_needs__descriptor);
    u->needs->on_machine = wanted && wanted->on_machine;
    u->needs->machine = wanted ? wanted->machine : 0;
    u->needs->unused = wanted && wanted->unused;
    u->created_at = u->since = in->now.wall_ns;
    life_change(p, in, &unit_lifecycle, UNIT_NONE, UNIT_TRIGGER_ADD,
                UNIT_IF_SERVICE_ALIVE | UNIT_IF_SERVICE_PRINCIPAL, key_unit(a, name), &u->base);
    unit_status_put_pending(p, in, name, u);
}

/* 1. The job is over: nothing.
 * 2. The service is gone, or takes no units any more: the job ends.
 * 3. As many units as a portion holds; the job goes on, or ends when no number is left. */
static void add_job_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct add_units_portion *s = snapshot;
    struct arena *a = p->arena;
    if (!s->job) { /* 1 */
        return;
    }
    if (!service_takes_units(s->service)) { /* 2 */
        units_job_finish(s->job, in, p);
        return;
    }
    for (size_t i = 0; i < s->count; i++) { /* 3 */
        put_unit(s, s->numbers[i], in, p);
    }
    Board__SequenceRecord *next = arena_message(a, &board__sequence_record__descriptor);
    next->next = (uint32_t)s->next;
    plan_put(p, key_sequence(a, "unit", s->service->name), "add", in->actor, &next->base);
    Board__JobRecord *job = units_job_copy(a, s->job);
    assert(s->count <= job->units->left);
    job->units->left -= (uint32_t)s->count;
    if (job->units->left > 0 && s->next < UINT32_MAX) {
        units_job_advance(job, in, p);
    } else {
        units_job_finish(job, in, p);
    }
    units_plan_check(p);
}

const struct op_row add_units_job_row = {
    .name = "job of added units",
    .target = units_job_of_service,
    .gather = add_job_gather,
    .decide = add_job_decide,
    .snapshot_size = sizeof(struct add_units_portion),
};
