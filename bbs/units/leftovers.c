/* What nothing ends any more, for the converger: a dying relation without members, and a dying
 * service without units and relations, which whoever took the last one away should have taken too;
 * and charms of a living service that no unit runs. */
#include "bbs/units/facts.h"
#include "bbs/units/references.h"
#include "bbs/units/units.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit_service.h"

#include <assert.h>
#include <string.h>

/* ---- Settle ---------------------------------------------------------------------------------- */

struct settle_snapshot {
    struct speaker by;
    const Board__RelationRecord *relation;
    bool empty;                /* nobody is in it */
    struct relation_gone gone; /* then */
};

static void settle_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct settle_snapshot *s = snapshot;
    struct gone_keys gone = {.count = 0};
    assert(in->request);
    speaker_gather(v, in, &s->by);
    s->relation = view_message(v, move_subject_key(view_arena(v), in));
    if (!s->relation || life_of(&relation_lifecycle, s->relation->state) != RELATION_DYING) {
        return;
    }
    s->empty = view_range_empty(v, key_relation_members(view_arena(v), s->relation->number));
    if (s->empty) {
        relation_gone_gather(v, in, s->relation, &gone, &s->gone);
    }
}

static uint32_t settle_guards(const struct move_turn *t)
{
    return ((const struct settle_snapshot *)t->snapshot)->empty ? RELATION_IF_NO_MEMBERS : 0;
}

/* It goes, and a dying service with it whose last reference it was. */
static void settle_relation(const struct move_turn *t)
{
    const struct settle_snapshot *s = t->snapshot;
    struct swept sweep = {.count = 0};
    assert(s->empty && s->gone.record == s->relation);
    relation_gone_put(&s->gone, t->in, RELATION_TRIGGER_SETTLE, RELATION_IF_NO_MEMBERS, t->plan,
                      &sweep);
    sweep_open(&sweep, t->in, t->plan);
}

static void refuse_settle(const struct move_turn *t)
{
    const struct settle_snapshot *s = t->snapshot;
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                "relation %u is %s: it is settled when it is dying and nobody is in it",
                s->relation->number, s->relation->state);
}

/* It is gone: nothing. Another one has its number since a restore: ResourceNotFound. */
static bool settle_begin(struct move_turn *t)
{
    const struct settle_snapshot *s = t->snapshot;
    t->record = s->relation ? &s->relation->base : NULL;
    t->from = life_of(&relation_lifecycle, s->relation ? s->relation->state : NULL);
    if (!speaker_authorised(&s->by, t->in, t->plan) || !s->relation) {
        return false;
    }
    if (strcmp(move_units(t->move)->guid, s->relation->guid) != 0) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceNotFound,
                    "the relation of that guid is gone: another one has its number");
        return false;
    }
    return true;
}

static const struct move_row settle_rows[] = {
    {.name = "settle",
     .absent = ABSENT_NOTHING,
     .guards = settle_guards,
     .refuse = refuse_settle,
     .decide = settle_relation},
};

static const struct move_family settle_family = {
    .lifecycle = &relation_lifecycle,
    .rows = settle_rows,
    .count = 1,
    .begin = settle_begin,
};

static void settle_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&settle_family, snapshot, in, p);
}

const struct op_row relation_settle_row = {
    .name = "settle a relation",
    .target = move_subject_key,
    .gather = settle_gather,
    .decide = settle_decide,
    .snapshot_size = sizeof(struct settle_snapshot),
};

/* ---- Release, trim --------------------------------------------------------------------------- */

struct leftover_snapshot {
    struct speaker by;
    const Board__UnitServiceRecord *service;
    struct drop drop; /* of release */
    const char
        *charm; /* of trim: key of one that is there, and is not the service's; NULL = none */
};

static void leftover_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct leftover_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__Move *m = in->request;
    const Board__UnitsMove *u = move_units(m);
    const struct gone_keys nothing = {.count = 0};
    assert(u);
    speaker_gather(v, in, &s->by);
    s->service = view_message(v, move_subject_key(a, in));
    if (!s->service || strcmp(s->service->guid, u->guid) != 0) {
        return;
    }
    if (strcmp(m->move, "release") == 0) {
        drop_gather(v, in, s->service->name, s->service->guid, &nothing, &s->drop);
    } else if (*u->charm && strcmp(u->charm, s->service->charm) != 0) {
        const char *key = key_charm(a, s->service->name, u->charm);
        s->charm = view_get(v, key) ? key : NULL;
    }
}

static uint32_t leftover_guards(const struct move_turn *t)
{
    const struct leftover_snapshot *s = t->snapshot;
    return s->drop.last ? UNIT_SERVICE_IF_LAST_REFERENCE : 0;
}

static void release_service(const struct move_turn *t)
{
    const struct leftover_snapshot *s = t->snapshot;
    assert(s->drop.last && s->drop.record);
    drop_put_alone(&s->drop, t->in, t->plan);
    units_plan_check(t->plan);
}

/* Units take up the service's charm alone, and that is compared: nobody begins to run another one.
 * It is gone already, or is the service's again: nothing. */
static void trim_service(const struct move_turn *t)
{
    const struct leftover_snapshot *s = t->snapshot;
    assert(t->from == UNIT_SERVICE_ALIVE && t->to == t->from);
    if (s->charm) {
        plan_delete(t->plan, s->charm, t->row->name, t->in->actor);
    }
}

static void refuse_leftover(const struct move_turn *t)
{
    const struct leftover_snapshot *s = t->snapshot;
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                strcmp(t->row->name, "release") == 0
                    ? "unit service %s is %s: it is released when it is dying and has neither "
                      "units nor relations"
                    : "unit service %s is %s: its charms go with it",
                s->service->name, s->service->state);
}

/* It is gone: nothing. Another one has its name: ResourceNotFound. */
static bool leftover_begin(struct move_turn *t)
{
    const struct leftover_snapshot *s = t->snapshot;
    t->record = s->service ? &s->service->base : NULL;
    t->from = life_of(&unit_service_lifecycle, s->service ? s->service->state : NULL);
    if (!speaker_authorised(&s->by, t->in, t->plan) || !s->service) {
        return false;
    }
    if (strcmp(move_units(t->move)->guid, s->service->guid) != 0) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceNotFound,
                    "the unit service of that guid is gone: another one has its name");
        return false;
    }
    return true;
}

static const struct move_row leftover_rows[] = {
    {.name = "release",
     .absent = ABSENT_NOTHING,
     .guards = leftover_guards,
     .refuse = refuse_leftover,
     .decide = release_service},
    {.name = "trim",
     .absent = ABSENT_NOTHING,
     .guards = leftover_guards,
     .refuse = refuse_leftover,
     .decide = trim_service},
};

static const struct move_family leftover_family = {
    .lifecycle = &unit_service_lifecycle,
    .rows = leftover_rows,
    .count = sizeof(leftover_rows) / sizeof(leftover_rows[0]),
    .begin = leftover_begin,
};

static void leftover_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&leftover_family, snapshot, in, p);
}

const struct op_row unit_service_leftover_row = {
    .name = "what is left of a unit service",
    .target = move_subject_key,
    .gather = leftover_gather,
    .decide = leftover_decide,
    .snapshot_size = sizeof(struct leftover_snapshot),
};
