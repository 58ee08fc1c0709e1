/* Relations: made by relate, ended by destroy, or with their last member (member.c). */
#include "bbs/units/facts.h"
#include "bbs/units/references.h"
#include "bbs/units/units.h"
#include "common/charmfile/endpoints.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit_service.h"

#include <assert.h>
#include <string.h>

/* ---- Relate ---------------------------------------------------------------------------------- */

struct relate_end {
    const char *service, *name;
    const Board__UnitServiceRecord *record; /* NULL = there is no such service */
    const Board__Charm *charm;              /* NULL = it is missing */
    const Board__Endpoint *endpoint;        /* NULL = its charm has no such end */
    bool full;                              /* it has as many relations as may be */
};

struct relate_snapshot {
    struct relate_end ends[2];
    const char *canonical;                   /* where both ends are known */
    const Board__RelationNameRecord *stands; /* NULL = they are not related */
    bool ends_yet;                           /* that relation, which is not alive any more */
    const Board__SequenceRecord *sequence;   /* NULL = the first relation */
};

static const Board__RelateUnitsRequest *asked_relate(const struct op_input *in)
{
    return (const Board__RelateUnitsRequest *)in->request;
}

/* They take numbers of one sequence. */
static const char *relate_target(struct arena *a, const struct op_input *in)
{
    (void)in;
    return key_sequence(a, "relation", "");
}

void valid_relate_units(struct validation *v, const Board__RelateUnitsRequest *request)
{
    if (request->n_ends != 2) {
        say_field(v, "ends");
    }
    for (size_t i = 0; i < request->n_ends; i++) {
        if (!unit_service_name_is_valid(request->ends[i]->service) ||
            !*request->ends[i]->endpoint) {
            say_field(v, "ends");
        }
        check_length(v, request->ends[i]->endpoint, NAME_CHARACTERS_MAX);
    }
}

static const Board__Endpoint *implicit_end(struct arena *a)
{
    Board__Endpoint *e = arena_message(a, &board__endpoint__descriptor);
    e->name = e->interface = arena_strdup(a, CHARM_IMPLICIT);
    e->role = BOARD__ENDPOINT__ROLE__PROVIDER;
    return e;
}

static const Board__Endpoint *endpoint_of(struct arena *a, const Board__Charm *charm,
                                          const char *name)
{
    for (size_t i = 0; charm && i < charm->n_endpoints; i++) {
        if (strcmp(charm->endpoints[i]->name, name) == 0) {
            return charm->endpoints[i];
        }
    }
    return strcmp(name, CHARM_IMPLICIT) == 0 ? implicit_end(a) : NULL;
}

static void gather_end(struct view *v, const Board__UnitEnd *asked, struct relate_end *e)
{
    struct arena *a = view_arena(v);
    e->service = asked->service;
    e->name = asked->endpoint;
    e->record = view_message(v, key_unit_service(a, e->service));
    if (e->record) {
        const char *references = key_range_of(a, RECORD_UNIT_SERVICE_RELATION, e->service);
        const Board__CharmRecord *r = view_message(v, key_charm(a, e->service, e->record->charm));
        e->charm = r ? r->charm : NULL;
        e->endpoint = endpoint_of(a, e->charm, e->name);
        e->full = view_peek_count(v, references) >= SERVICE_RELATIONS_MAX;
    }
}

static Board__RelationEnd *relation_end(struct arena *a, const struct relate_end *e)
{
    Board__RelationEnd *end = arena_message(a, &board__relation_end__descriptor);
    end->service = arena_strdup(a, e->service);
    end->service_guid = e->record->guid;
    end->endpoint = (Board__Endpoint *)(uintptr_t)e->endpoint;
    return end;
}

static void relate_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct relate_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    for (size_t i = 0; i < 2; i++) {
        gather_end(v, asked_relate(in)->ends[i], &s->ends[i]);
    }
    if (s->ends[0].endpoint && s->ends[1].endpoint) {
        Board__RelationEnd *ends[] = {relation_end(a, &s->ends[0]), relation_end(a, &s->ends[1])};
        s->canonical = key_relation_key(a, relation_canonical(a, ends, 2));
        s->stands = view_message(v, s->canonical);
        const Board__RelationRecord *r =
            s->stands ? view_peek_message(v, key_relation(a, s->stands->number)) : NULL;
        s->ends_yet = r && life_of(&relation_lifecycle, r->state) != RELATION_ALIVE;
    }
    s->sequence = view_message(v, key_sequence(a, "relation", ""));
}

/* Why a service cannot be related by this end; refused then. */
static bool end_refused(const struct relate_end *e, struct plan *p)
{
    if (unit_service_refused(e->record, e->service, "nothing is related to it any more", p)) {
        return true;
    }
    if (!e->charm) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound,
                    "the charm %s of unit service %s is missing: upgrade the service",
                    e->record->charm, e->service);
    } else if (e->full) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "unit service %s has %d relations, which is the most", e->service,
                    SERVICE_RELATIONS_MAX);
    }
    return p->verdict == PLAN_REFUSE;
}

/* They are named, so that they are meant or make no relation; refused then. */
static bool ends_refused(const struct relate_end ends[2], struct plan *p)
{
    struct charm_end named[2];
    struct charm charms[2];
    struct charm_fit fit;
    struct err err;
    for (size_t i = 0; i < 2; i++) {
        assert(ends[i].charm && *ends[i].name);
        charms[i] = charm_ends_of_message(p->arena, ends[i].charm);
        named[i] = (struct charm_end){ends[i].service, &charms[i], ends[i].name};
    }
    int r = charm_ends_fit(p->arena, named, &fit, &err);
    if (r < 0) {
        plan_refuse(p, MODELS__ERROR__TYPE__InvalidRequest, "%s", err.text);
    }
    return r < 0;
}

static void put_relation(const struct relate_snapshot *s, const struct op_input *in, struct plan *p)
{
    struct arena *a = p->arena;
    bool turned = s->ends[0].endpoint->role == BOARD__ENDPOINT__ROLE__PROVIDER;
    Board__RelationEnd *ends[2];
    for (size_t i = 0; i < 2; i++) {
        ends[i] = relation_end(a, &s->ends[turned ? 1 - i : i]);
    }
    Board__RelationRecord *r = relation_new(a, in, s->sequence ? s->sequence->next : 0, ends, 2);
    life_change(p, in, &relation_lifecycle, RELATION_NONE, RELATION_TRIGGER_RELATE,
                RELATION_IF_SERVICES_ALIVE | RELATION_IF_ENDPOINTS_FIT, key_relation(a, r->number),
                &r->base);
    relation_put_names(p, in, r, s->canonical, "relate");
    Board__SequenceRecord *next = arena_message(a, &board__sequence_record__descriptor);
    next->next = r->number + 1;
    plan_put(p, key_sequence(a, "relation", ""), "relate", in->actor, &next->base);
    p->record = &r->base;
}

/* 1. A service is not there, not alive, or has relations enough: refused.
 * 2. It has no such end, or the ends do not fit (common/charmfile/endpoints.h): InvalidRequest.
 * 3. They are related already, be the relation dying: ResourceExists.
 * 4. The relation is made, by the next number. */
static void relate_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct relate_snapshot *s = snapshot;
    if (end_refused(&s->ends[0], p) || end_refused(&s->ends[1], p)) { /* 1 */
        return;
    }
    if (ends_refused(s->ends, p)) { /* 2 */
        return;
    }
    assert(!s->ends_yet || s->stands);
    if (s->ends_yet) { /* 3 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceExists,
                    "%s:%s and %s:%s are related by relation %u, which ends: bbs units why %u says "
                    "what it waits for, and then they can be related anew",
                    s->ends[0].service, s->ends[0].name, s->ends[1].service, s->ends[1].name,
                    s->stands->number, s->stands->number);
    } else if (s->stands) { /* 3 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceExists, "%s:%s and %s:%s are related already",
                    s->ends[0].service, s->ends[0].name, s->ends[1].service, s->ends[1].name);
    } else if (s->sequence && s->sequence->next == UINT32_MAX) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "the numbers of relations are used up");
    } else {
        put_relation(s, in, p); /* 4 */
    }
}

const struct op_row relate_units_row = {
    .name = "relate units",
    .target = relate_target,
    .gather = relate_gather,
    .decide = relate_decide,
    .snapshot_size = sizeof(struct relate_snapshot),
};

/* ---- Destroy --------------------------------------------------------------------------------- */

struct relation_snapshot {
    const Board__RelationRecord *relation;
    bool members;              /* somebody is in it */
    struct relation_gone gone; /* if nobody is */
};

static void relation_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct relation_snapshot *s = snapshot;
    s->relation = view_message(v, move_subject_key(view_arena(v), in));
    if (!s->relation || life_of(&relation_lifecycle, s->relation->state) != RELATION_ALIVE) {
        return;
    }
    struct gone_keys gone = {.count = 0};
    const char *range = key_relation_members(view_arena(v), s->relation->number);
    s->members = view_witness(v, range, NULL, 0, in->random) || !view_range_empty(v, range);
    if (!s->members) {
        relation_gone_gather(v, in, s->relation, &gone, &s->gone);
    }
}

static uint32_t relation_guards(const struct move_turn *t)
{
    const struct relation_snapshot *s = t->snapshot;
    return (s->relation->n_ends == 2 ? RELATION_IF_NOT_PEER : 0) |
           (s->members ? RELATION_IF_MEMBERS : RELATION_IF_NO_MEMBERS);
}

static void destroy_relation(const struct move_turn *t)
{
    const struct relation_snapshot *s = t->snapshot;
    struct swept sweep = {.count = 0};
    if (t->to == RELATION_NONE) {
        relation_gone_put(&s->gone, t->in, RELATION_TRIGGER_DESTROY,
                          RELATION_IF_NOT_PEER | RELATION_IF_NO_MEMBERS, t->plan, &sweep);
        sweep_open(&sweep, t->in, t->plan);
        return;
    }
    move_put(t, move_subject_key(t->plan->arena, t->in), t->from, t->to,
             &relation_dying(t->plan->arena, s->relation, t->in->now)->base);
}

static void refuse_relation(const struct move_turn *t, const char *why)
{
    const struct relation_snapshot *s = t->snapshot;
    plan_refuse(t->plan, MODELS__ERROR__TYPE__InvalidRequest, "relation %u: %s",
                s->relation->number, why);
}

/* Another relation of that number there is never. It is dying already: nothing. */
static bool relation_begin(struct move_turn *t)
{
    const struct relation_snapshot *s = t->snapshot;
    t->record = s->relation ? &s->relation->base : NULL;
    t->from = life_of(&relation_lifecycle, s->relation ? s->relation->state : NULL);
    return t->from != RELATION_DYING;
}

static void valid_relation_move(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    uint32_t number;
    if (!number_of_key(&a, move_key(&a, move), &number)) {
        say_field(v, "key");
    }
}

static void relation_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&relation_moves, snapshot, in, p);
}

static const struct op_row relation_op = {
    .name = "move of a relation",
    .target = move_subject_key,
    .gather = relation_gather,
    .decide = relation_decide,
    .snapshot_size = sizeof(struct relation_snapshot),
};

#define RELATION_ROW(move, absents, refusal)                                                       \
    static void refuse_##move(const struct move_turn *t)                                           \
    {                                                                                              \
        refuse_relation(t, refusal);                                                               \
    }
#include "bbs/units/moves.def"

#define RELATION_ROW(move, absents, refusal)                                                       \
    {                                                                                              \
        .name = #move,                                                                             \
        .valid = valid_relation_move,                                                              \
        .absent = ABSENT_##absents,                                                                \
        .guards = relation_guards,                                                                 \
        .refuse = refuse_##move,                                                                   \
        .decide = move##_relation,                                                                 \
        .op = &relation_op,                                                                        \
        .op_of_rep = &relation_op,                                                                 \
    },
static const struct move_row rows[] = {
#include "bbs/units/moves.def"
    {.name = "settle",
     .valid = valid_relation_move,
     .op = &relation_settle_row,
     .op_of_rep = &relation_settle_row},
};

const struct move_family relation_moves = {
    .lifecycle = &relation_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = relation_begin,
};
