/* A unit service ends: destroy, and the job that ends many relations of one first. */
#include "bbs/units/end_units.h"
#include "bbs/units/facts.h"
#include "bbs/units/references.h"
#include "bbs/units/unit_jobs.h"
#include "bbs/units/units.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit_service.h"

#include <assert.h>
#include <string.h>

/* A range is looked through up to here; a relation more than SERVICE_RELATIONS_MAX may be there. */
enum { RELATIONS_SEEN_MAX = 2 * SERVICE_RELATIONS_MAX };

#define JOB_NAME "relations"

/* A service that ends, or a part of its relations. */
struct service_end {
    const Board__UnitServiceRecord *service; /* NULL = there is none */
    const Board__UnitConfigRecord *config;
    struct relation_gone gone[SERVICE_RELATIONS_AT_ONCE]; /* in which nobody is */
    size_t gone_count;
    const Board__RelationRecord *dying[SERVICE_RELATIONS_AT_ONCE]; /* in which somebody is */
    size_t dying_count;
    bool more;  /* it has more relations that are alive than these */
    bool units; /* it has a unit */
    bool unused;
    const char *swept;             /* range of its charms, when it goes */
    const Board__JobRecord *job;   /* that ends its relations */
    const Board__JobRecord *force; /* that forces its units */
};

static bool is_alive(const Board__RelationRecord *r)
{
    return r && life_of(&relation_lifecycle, r->state) == RELATION_ALIVE;
}

static bool has_member(struct view *v, const struct op_input *in, uint32_t relation)
{
    const char *range = key_relation_members(view_arena(v), relation);
    return view_witness(v, range, NULL, 0, in->random) || !view_range_empty(v, range);
}

/* Numbers of the service's relations that are alive, SERVICE_RELATIONS_AT_ONCE + 1 at most. That
 * there are no others is compared. One that is not alive never is again, so that those are only
 * looked at. Of one whose name alone is there the watch left out the record: that it is absent is
 * compared, once, which has the copy mended. */
static size_t living_relations(struct view *v, const char *service,
                               uint32_t numbers[SERVICE_RELATIONS_AT_ONCE + 1])
{
    struct arena *a = view_arena(v);
    const char *range = key_range_of(a, RECORD_UNIT_SERVICE_RELATION, service);
    const struct seen *list;
    size_t found = 0;
    bool lacks = false;
    int count = view_peek_range(v, range, RELATIONS_SEEN_MAX, &list);
    assert(count >= 0);
    view_nothing_newer(v, range);
    for (int i = 0; i < count && found <= SERVICE_RELATIONS_AT_ONCE; i++) {
        uint32_t number = ((const Board__RelationNameRecord *)list[i].message)->number;
        const Board__RelationRecord *r = view_peek_message(v, key_relation(a, number));
        if (!r && !lacks) {
            lacks = true;
            r = view_message(v, key_relation(a, number));
        }
        if (is_alive(r)) {
            numbers[found++] = number;
        }
    }
    return found;
}

/* 1. All that go at once say what goes with them, before any witness is drawn.
 * 2. Whatever stays, or becomes dying, keeps the service. */
static void service_end_gather(struct view *v, const struct op_input *in, const uint32_t *numbers,
                               size_t count, struct service_end *s)
{
    struct arena *a = view_arena(v);
    struct gone_keys gone = {.count = 0};
    assert(count <= SERVICE_RELATIONS_AT_ONCE);
    for (size_t i = 0; i < count; i++) {
        const Board__RelationRecord *r = view_message(v, key_relation(a, numbers[i]));
        if (has_member(v, in, numbers[i])) {
            s->dying[s->dying_count++] = r;
        } else {
            relation_gone_keys(v, r, &gone, &s->gone[s->gone_count++]); /* 1 */
        }
    }
    relation_gone_drops(v, in, &gone, s->gone, s->gone_count);
    if (s->more) {
        return;
    }
    const char *units = key_range_of(a, RECORD_UNIT, s->service->name);
    s->units = view_witness(v, units, NULL, 0, in->random) || !view_range_empty(v, units);
    s->unused = service_is_unused(v, in, s->service->name, &gone); /* 2 */
    s->config = view_message(v, key_unit_config(a, s->service->name));
    s->swept = s->unused ? charms_swept(v, s->service->name) : NULL;
}

static void put_relations(const struct service_end *s, const struct op_input *in, struct plan *p,
                          struct swept *sweep)
{
    for (size_t i = 0; i < s->gone_count; i++) {
        relation_gone_put(&s->gone[i], in, RELATION_TRIGGER_DESTROY,
                          RELATION_IF_WITH_SERVICE | RELATION_IF_NO_MEMBERS, p, sweep);
    }
    for (size_t i = 0; i < s->dying_count; i++) {
        life_change(p, in, &relation_lifecycle, RELATION_ALIVE, RELATION_TRIGGER_DESTROY,
                    RELATION_IF_WITH_SERVICE | RELATION_IF_MEMBERS,
                    key_relation(p->arena, s->dying[i]->number),
                    &relation_dying(p->arena, s->dying[i], in->now)->base);
    }
}

/* It goes, or becomes dying, and a job ends its units. */
static void put_service_end(const struct service_end *s, const struct op_input *in, struct plan *p,
                            struct swept *sweep)
{
    struct arena *a = p->arena;
    const char *key = key_unit_service(a, s->service->name);
    uint32_t guards = s->unused ? UNIT_SERVICE_IF_UNUSED : 0;
    Board__UnitServiceRecord *after = arena_copy(a, s->service, sizeof(*after));
    after->state = arena_strdup(a, unit_service_lifecycle.states[UNIT_SERVICE_DYING]);
    after->since = in->now.wall_ns > after->since ? in->now.wall_ns : after->since;
    life_change(p, in, &unit_service_lifecycle, UNIT_SERVICE_ALIVE, UNIT_SERVICE_TRIGGER_DESTROY,
                guards, key, s->unused ? NULL : &after->base);
    sweep_add(sweep, s->service->guid, s->swept);
    if (s->unused && s->config) {
        plan_delete(p, key_unit_config(a, s->service->name), "destroy", in->actor);
    }
    if (s->units) {
        end_units_open(p, in, s->service, false, 0);
    }
}

/* ---- Destroy --------------------------------------------------------------------------------- */

static void service_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct service_end *s = snapshot;
    struct arena *a = view_arena(v);
    uint32_t numbers[SERVICE_RELATIONS_AT_ONCE + 1];
    s->service = view_message(v, move_subject_key(a, in));
    if (s->service && move_units(in->request)->forced) {
        s->force = view_message(v, key_job(a, s->service->guid, FORCE_UNITS_JOB));
    }
    if (!s->service || life_of(&unit_service_lifecycle, s->service->state) != UNIT_SERVICE_ALIVE) {
        return;
    }
    size_t count = living_relations(v, s->service->name, numbers);
    s->more = count > SERVICE_RELATIONS_AT_ONCE;
    if (s->more) {
        s->job = view_message(v, key_job(a, s->service->guid, JOB_NAME));
    } else {
        service_end_gather(v, in, numbers, count, s);
    }
}

static uint32_t service_guards(const struct move_turn *t)
{
    const struct service_end *s = t->snapshot;
    return s->unused ? UNIT_SERVICE_IF_UNUSED : 0;
}

static void put_force(const struct move_turn *t)
{
    const struct service_end *s = t->snapshot;
    if (move_units(t->move)->forced && !s->force) {
        end_units_open(t->plan, t->in, s->service, true, move_units(t->move)->max_wait_ms);
    }
}

/* 1. More relations than end in one transaction: a job ends them, and the service then.
 * 2. They end, and the service with them, or once its units are gone.
 * 3. It is forced: another job ends its units then, whatever their agents do. */
static void destroy_service(const struct move_turn *t)
{
    const struct service_end *s = t->snapshot;
    if (s->more && !s->job) { /* 1 */
        Board__JobRecord *job =
            units_job_new(t->plan->arena, t->in, BOARD__JOB_RECORD__KIND__END_RELATIONS,
                          s->service->guid, JOB_NAME);
        job->units->service = s->service->name;
        job->units->guid = s->service->guid;
        units_job_open(job, t->in, t->plan);
    } else if (!s->more) { /* 2 */
        struct swept sweep = {.count = 0};
        put_relations(s, t->in, t->plan, &sweep);
        put_service_end(s, t->in, t->plan, &sweep);
        sweep_open(&sweep, t->in, t->plan);
    }
    if (!s->unused) { /* 3 */
        put_force(t);
    }
    units_plan_check(t->plan);
}

static void refuse_service(const struct move_turn *t, const char *why)
{
    const struct service_end *s = t->snapshot;
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "unit service %s: %s",
                s->service->name, why);
}

/* 1. Another service has the name by now: ResourceNotFound.
 * 2. It is on the way already: nothing, but that it may be forced yet. */
static bool service_begin(struct move_turn *t)
{
    const struct service_end *s = t->snapshot;
    const char *guid = move_units(t->move)->guid;
    t->record = s->service ? &s->service->base : NULL;
    t->from = life_of(&unit_service_lifecycle, s->service ? s->service->state : NULL);
    if (s->service && *guid && strcmp(guid, s->service->guid) != 0) { /* 1 */
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceNotFound,
                    "the unit service of that guid is gone: another one has its name");
        return false;
    }
    if (t->from == UNIT_SERVICE_DYING) {
        put_force(t);
    }
    return t->from != UNIT_SERVICE_DYING; /* 2 */
}

static void valid_service_move(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    if (!unit_service_name_is_valid(move_name(&a, move))) {
        say_field(v, "key");
    }
}

static void service_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&unit_service_moves, snapshot, in, p);
}

static const struct op_row service_op = {
    .name = "move of a unit service",
    .target = move_subject_key,
    .gather = service_gather,
    .decide = service_decide,
    .snapshot_size = sizeof(struct service_end),
};

#define SERVICE_ROW(move, absents, refusal)                                                        \
    static void refuse_##move(const struct move_turn *t)                                           \
    {                                                                                              \
        refuse_service(t, refusal);                                                                \
    }
#include "bbs/units/moves.def"

#define SERVICE_ROW(move, absents, refusal)                                                        \
    {                                                                                              \
        .name = #move,                                                                             \
        .valid = valid_service_move,                                                               \
        .absent = ABSENT_##absents,                                                                \
        .guards = service_guards,                                                                  \
        .refuse = refuse_##move,                                                                   \
        .decide = move##_service,                                                                  \
        .op = &service_op,                                                                         \
        .op_of_rep = &service_op,                                                                  \
    },
static const struct move_row rows[] = {
#include "bbs/units/moves.def"
    {
        .name = "numbers",
        .valid = valid_unit_numbers,
        .op = &unit_numbers_row,
        .op_of_rep = &unit_numbers_row,
    },
    {.name = "release",
     .valid = valid_service_move,
     .op = &unit_service_leftover_row,
     .op_of_rep = &unit_service_leftover_row},
    {.name = "trim",
     .valid = valid_service_move,
     .op = &unit_service_leftover_row,
     .op_of_rep = &unit_service_leftover_row},
};

const struct move_family unit_service_moves = {
    .lifecycle = &unit_service_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = service_begin,
};

/* ---- The job --------------------------------------------------------------------------------- */

static void relations_job_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct service_end *s = snapshot;
    uint32_t numbers[SERVICE_RELATIONS_AT_ONCE + 1];
    s->job = units_job_gather(v, in);
    s->service = s->job ? units_job_service(v, s->job) : NULL;
    if (!s->service || life_of(&unit_service_lifecycle, s->service->state) != UNIT_SERVICE_ALIVE) {
        s->service = NULL;
        return;
    }
    size_t count = living_relations(v, s->service->name, numbers);
    s->more = count > SERVICE_RELATIONS_AT_ONCE;
    service_end_gather(v, in, numbers, s->more ? SERVICE_RELATIONS_AT_ONCE : count, s);
}

/* 1. The job is over: nothing.
 * 2. The service is gone, or not alive any more: the job ends.
 * 3. As many relations as end at once; with the last of them the service ends, and the job. */
static void relations_job_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct service_end *s = snapshot;
    if (!s->job) { /* 1 */
        return;
    }
    struct swept sweep = {.count = 0};
    if (s->service) { /* 3 */
        put_relations(s, in, p, &sweep);
    }
    if (s->service && !s->more) {
        put_service_end(s, in, p, &sweep);
    }
    sweep_open(&sweep, in, p);
    if (!s->more) { /* 2, 3 */
        units_job_finish(s->job, in, p);
    }
    units_plan_check(p);
}

const struct op_row end_relations_job_row = {
    .name = "job of ended relations",
    .target = units_job_of_service,
    .gather = relations_job_gather,
    .decide = relations_job_decide,
    .snapshot_size = sizeof(struct service_end),
};
