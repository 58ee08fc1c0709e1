#include "bbs/units/references.h"

#include "bbs/units/facts.h"
#include "bbs/units/unit_jobs.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit_service.h"

#include <assert.h>
#include <string.h>

void gone_add(struct gone_keys *g, const char *key)
{
    assert(g->count < GONE_MAX);
    g->keys[g->count++] = key;
}

/* ---- A reference to a service goes ----------------------------------------------------------- */

static bool has_another(struct view *v, const struct op_input *in, const char *prefix,
                        const struct gone_keys *gone)
{
    return view_witness(v, prefix, gone->keys, gone->count, in->random);
}

/* Nothing but what goes is there; each of them is compared, and that there is no other. */
static void read_all_gone(struct view *v, const char *prefix)
{
    const struct seen *list;
    int count = view_whole_range(v, prefix, GONE_MAX, &list);
    assert(count >= 0);
    (void)count;
}

bool service_is_unused(struct view *v, const struct op_input *in, const char *service,
                       const struct gone_keys *gone)
{
    struct arena *a = view_arena(v);
    const char *units = key_range_of(a, RECORD_UNIT, service);
    const char *relations = key_range_of(a, RECORD_UNIT_SERVICE_RELATION, service);
    if (has_another(v, in, units, gone) || has_another(v, in, relations, gone)) {
        return false;
    }
    read_all_gone(v, units);
    read_all_gone(v, relations);
    return true;
}

void drop_gather(struct view *v, const struct op_input *in, const char *service, const char *guid,
                 const struct gone_keys *gone, struct drop *ret)
{
    struct arena *a = view_arena(v);
    const Board__UnitServiceRecord *s = view_message(v, key_unit_service(a, service));
    *ret = (struct drop){.service = service};
    if (!s || strcmp(s->guid, guid) != 0) { /* 1 */
        return;
    }
    ret->record = s;
    if (life_of(&unit_service_lifecycle, s->state) != UNIT_SERVICE_DYING) { /* 1 */
        return;
    }
    if (service_is_unused(v, in, service, gone)) { /* 2, 3 */
        ret->last = true;
        ret->config = view_message(v, key_unit_config(a, service));
        ret->swept = charms_swept(v, service);
    }
}

static const char *if_any(struct view *v, const char *range)
{
    return view_range_empty(v, range) ? NULL : range;
}

const char *charms_swept(struct view *v, const char *service)
{
    return if_any(v, key_range_of(view_arena(v), RECORD_CHARM, service));
}

void sweep_add(struct swept *s, const char *guid, const char *range)
{
    if (range) {
        assert(s->count < SWEPT_MAX);
        s->target = s->count ? s->target : guid;
        s->ranges[s->count++] = range;
    }
}

void sweep_open(const struct swept *s, const struct op_input *in, struct plan *p)
{
    if (s->count == 0) {
        return;
    }
    struct arena *a = p->arena;
    Board__JobRecord *job =
        units_job_new(a, in, BOARD__JOB_RECORD__KIND__SWEEP_UNITS, s->target, "sweep");
    job->units->keys = ARENA_ARRAY(a, s->count, char *);
    for (; job->units->n_keys < s->count; job->units->n_keys++) {
        job->units->keys[job->units->n_keys] = arena_strdup(a, s->ranges[job->units->n_keys]);
    }
    units_job_open(job, in, p);
}

void drop_put_alone(const struct drop *d, const struct op_input *in, struct plan *p)
{
    struct swept sweep = {.count = 0};
    drop_put(d, in, p, &sweep);
    sweep_open(&sweep, in, p);
}

void drop_put(const struct drop *d, const struct op_input *in, struct plan *p, struct swept *sweep)
{
    if (!d->last) {
        return;
    }
    sweep_add(sweep, d->record->guid, d->swept);
    struct arena *a = p->arena;
    life_change(p, in, &unit_service_lifecycle, UNIT_SERVICE_DYING, UNIT_SERVICE_TRIGGER_RELEASE,
                UNIT_SERVICE_IF_LAST_REFERENCE, key_unit_service(a, d->service), NULL);
    if (d->config) {
        plan_delete(p, key_unit_config(a, d->service), "release", in->actor);
    }
}

/* ---- A relation comes ------------------------------------------------------------------------ */

Board__RelationRecord *relation_new(struct arena *a, const struct op_input *in, uint32_t number,
                                    Board__RelationEnd *const *ends, size_t count)
{
    Board__RelationRecord *r = arena_message(a, &board__relation_record__descriptor);
    char *guid = arena_alloc(a, GUID_BYTES);
    random_guid(in->random, guid);
    assert(count == 1 || count == 2);
    r->number = number;
    r->guid = guid;
    r->state = arena_strdup(a, relation_lifecycle.states[RELATION_ALIVE]);
    r->since = in->now.wall_ns;
    r->ends = ARENA_ARRAY(a, count, Board__RelationEnd *);
    for (; r->n_ends < count; r->n_ends++) {
        r->ends[r->n_ends] = ends[r->n_ends];
        r->scope = ends[r->n_ends]->endpoint->scope == BOARD__ENDPOINT__SCOPE__CONTAINER
                       ? BOARD__ENDPOINT__SCOPE__CONTAINER
                       : r->scope;
    }
    return r;
}

void relation_put_names(struct plan *p, const struct op_input *in, const Board__RelationRecord *r,
                        const char *canonical, const char *move)
{
    struct arena *a = p->arena;
    Board__RelationNameRecord *name = arena_message(a, &board__relation_name_record__descriptor);
    name->number = r->number;
    name->guid = r->guid;
    plan_put(p, canonical, move, in->actor, &name->base);
    for (size_t i = 0; i < r->n_ends; i++) {
        plan_put(p, key_unit_service_relation(a, r->ends[i]->service, r->number), move, in->actor,
                 &name->base);
    }
}

/* ---- A relation goes ------------------------------------------------------------------------- */

static void add_key(struct view *v, const char *key, struct relation_gone *g)
{
    if (view_get(v, key)) {
        g->keys[g->key_count++] = key;
    }
}

/* Both ends may be of one service: then it has one reference, and one is dropped. */
static size_t services_of(const Board__RelationRecord *r)
{
    assert(r->n_ends == 1 || r->n_ends == 2);
    return r->n_ends == 2 && strcmp(r->ends[0]->service, r->ends[1]->service) == 0 ? 1 : r->n_ends;
}

void relation_gone_keys(struct view *v, const Board__RelationRecord *relation,
                        struct gone_keys *gone, struct relation_gone *ret)
{
    struct arena *a = view_arena(v);
    *ret = (struct relation_gone){.record = relation, .drop_count = services_of(relation)};
    ret->swept = if_any(
        v, key_range_of(a, RECORD_RELATION_SETTINGS, arena_printf(a, "%010u", relation->number)));
    add_key(v, key_relation_key(a, relation_canonical(a, relation->ends, relation->n_ends)), ret);
    for (size_t i = 0; i < ret->drop_count; i++) {
        const char *key =
            key_unit_service_relation(a, relation->ends[i]->service, relation->number);
        gone_add(gone, key);
        add_key(v, key, ret);
    }
}

static bool is_dropped(const struct relation_gone *list, size_t count, const char *service)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < list[i].drop_count; k++) {
            if (list[i].drops[k].last && strcmp(list[i].drops[k].service, service) == 0) {
                return true;
            }
        }
    }
    return false;
}

void relation_gone_drops(struct view *v, const struct op_input *in, const struct gone_keys *gone,
                         struct relation_gone *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < list[i].drop_count; k++) {
            const Board__RelationEnd *end = list[i].record->ends[k];
            bool dropped = is_dropped(list, i, end->service);
            drop_gather(v, in, end->service, end->service_guid, gone, &list[i].drops[k]);
            list[i].drops[k].last = list[i].drops[k].last && !dropped;
        }
    }
}

void relation_gone_gather(struct view *v, const struct op_input *in,
                          const Board__RelationRecord *relation, struct gone_keys *gone,
                          struct relation_gone *ret)
{
    relation_gone_keys(v, relation, gone, ret);
    relation_gone_drops(v, in, gone, ret, 1);
}

Board__RelationRecord *relation_dying(struct arena *a, const Board__RelationRecord *before,
                                      struct moment now)
{
    Board__RelationRecord *after = arena_copy(a, before, sizeof(*after));
    after->state = arena_strdup(a, relation_lifecycle.states[RELATION_DYING]);
    after->since = now.wall_ns > after->since ? now.wall_ns : after->since;
    return after;
}

void relation_gone_put(const struct relation_gone *g, const struct op_input *in, int trigger,
                       uint32_t guards, struct plan *p, struct swept *sweep)
{
    sweep_add(sweep, g->record->guid, g->swept);
    int from = life_of(&relation_lifecycle, g->record->state);
    life_change(p, in, &relation_lifecycle, from, trigger, guards,
                key_relation(p->arena, g->record->number), NULL);
    for (size_t i = 0; i < g->key_count; i++) {
        plan_delete(p, g->keys[i], relation_lifecycle.triggers[trigger], in->actor);
    }
    for (size_t i = 0; i < g->drop_count; i++) {
        drop_put(&g->drops[i], in, p, sweep);
    }
    units_plan_check(p);
}
