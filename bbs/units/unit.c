/* A unit's end: destroy, die, remove. */
#include "bbs/units/facts.h"
#include "bbs/units/references.h"
#include "bbs/units/force_unit.h"
#include "bbs/units/unit_jobs.h"
#include "bbs/units/units.h"
#include "common/lifecycle/member.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"
#include "common/lifecycle/unit_status.h"

#include <assert.h>
#include <string.h>

enum { SERVICE_RELATIONS_READ = 32 };

/* A membership of the unit. */
struct scope {
    const char *key; /* of the membership */
    const Board__RelationMemberRecord *member;
};

struct unit_snapshot {
    struct speaker by;
    const Board__UnitRecord *unit;
    const Board__UnitStatusRecord *status;
    const Board__UnitServiceRecord *service; /* its own; NULL = gone, or another of that name */
    const Board__UnitRecord *principal;      /* of a subordinate */
    const Board__CellRecord *cell;           /* of its machine */
    bool joined;                             /* a container relation justifies the subordinate */
    bool no_children, no_scopes;
    struct scope scopes[UNIT_SCOPES_AT_ONCE];
    int scope_count;    /* -1 = more */
    bool force_job;     /* a job forces its end already */
    const char *listed; /* key of what names it, of machine or principal; NULL = none */
    struct drop drop;   /* when it goes */
};

static const struct unit_snapshot *turn_snapshot(const struct move_turn *t)
{
    return t->snapshot;
}

/* ---- What is read ---------------------------------------------------------------------------- */

static bool relation_joins(const Board__RelationRecord *r, const char *one, const char *other)
{
    return r && r->n_ends == 2 && r->scope == BOARD__ENDPOINT__SCOPE__CONTAINER &&
           life_of(&relation_lifecycle, r->state) == RELATION_ALIVE &&
           ((strcmp(r->ends[0]->service, one) == 0 && strcmp(r->ends[1]->service, other) == 0) ||
            (strcmp(r->ends[0]->service, other) == 0 && strcmp(r->ends[1]->service, one) == 0));
}

/* More relations than are read at once are taken for one that joins. */
static bool is_joined(struct view *v, const char *service, const char *principal)
{
    struct arena *a = view_arena(v);
    const struct seen *list;
    const char *range = key_range_of(a, RECORD_UNIT_SERVICE_RELATION, service);
    int count = view_range(v, range, SERVICE_RELATIONS_READ, &list);
    bool joined = count < 0;
    for (int i = 0; i < count && !joined; i++) {
        const Board__RelationNameRecord *name = (const Board__RelationNameRecord *)list[i].message;
        joined = relation_joins(view_message(v, key_relation(a, name->number)), service, principal);
    }
    return joined;
}

static void gather_principal(struct view *v, struct unit_snapshot *s)
{
    struct arena *a = view_arena(v);
    struct unit_name name;
    s->joined = true;
    if (unit_name_parse(a, s->unit->principal, &name)) {
        const Board__UnitRecord *principal = view_message(v, key_unit(a, name));
        bool same = principal && strcmp(principal->guid, s->unit->principal_guid) == 0;
        s->principal = same ? principal : NULL;
        s->listed = key_unit_child(a, name, s->unit->service);
    }
}

static void gather_scopes(struct view *v, struct unit_snapshot *s)
{
    struct arena *a = view_arena(v);
    const struct seen *list;
    int count =
        view_range(v, key_unit_scopes(a, unit_name_of(s->unit)), UNIT_SCOPES_AT_ONCE, &list);
    s->scope_count = count;
    for (int i = 0; i < count; i++) {
        const char *key = ((const Board__UnitScopeRecord *)list[i].message)->member;
        s->scopes[i] = (struct scope){key, view_message(v, key)};
    }
}

/* All that goes with it, and what that comes to. */
static void gather_end(struct view *v, const struct op_input *in, struct unit_snapshot *s)
{
    struct gone_keys gone = {.count = 0};
    gone_add(&gone, key_unit(view_arena(v), unit_name_of(s->unit)));
    if (s->listed && !view_get(v, s->listed)) {
        s->listed = NULL;
    }
    drop_gather(v, in, s->unit->service, s->unit->service_guid, &gone, &s->drop);
}

static bool is_pending(const struct unit_snapshot *s)
{
    return s->status && life_of(&unit_status_lifecycle, s->status->state) == UNIT_STATUS_PENDING;
}

static void gather_destroy(struct view *v, const struct op_input *in, struct unit_snapshot *s)
{
    struct arena *a = view_arena(v);
    if (*s->unit->principal && in->actor == ACTOR_REP && s->principal) {
        s->joined = is_joined(v, s->unit->service, s->principal->service);
    }
    s->status = view_message(v, key_unit_status(a, unit_name_of(s->unit)));
    gather_scopes(v, s);
    s->no_scopes = s->scope_count == 0;
    if (is_pending(s) && s->no_scopes && s->no_children && !*s->unit->principal) {
        gather_end(v, in, s);
    }
}

static void unit_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct unit_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__Move *m = in->request;
    speaker_gather(v, in, &s->by);
    s->unit = view_message(v, move_subject_key(a, in));
    if (!s->unit) {
        return;
    }
    struct unit_name name = unit_name_of(s->unit);
    if (in->actor == ACTOR_CLIENT && move_units(m)->forced) {
        s->force_job = view_get(v, key_job(a, s->unit->guid, FORCE_UNIT_JOB));
    }
    int life = life_of(&unit_lifecycle, s->unit->state);
    if (s->unit->assigned) {
        s->listed = key_machine_unit(a, s->unit->machine, name);
    }
    gather_principal(v, s);
    s->service = view_message(v, key_unit_service(a, s->unit->service));
    s->cell = *s->unit->cell_id ? view_message(v, key_cell(a, s->unit->cell_id)) : NULL;
    if (strcmp(m->move, "remove") == 0) {
        s->status = view_message(v, key_unit_status(a, name));
        gather_end(v, in, s);
        return;
    }
    s->no_children = view_range_empty(v, key_unit_children(a, name));
    if (strcmp(m->move, "die") == 0) {
        s->no_scopes = view_range_empty(v, key_unit_scopes(a, name));
    } else if (life == UNIT_ALIVE) {
        gather_destroy(v, in, s);
    }
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static bool service_is_dying(const struct unit_snapshot *s)
{
    return s->service && strcmp(s->service->guid, s->unit->service_guid) == 0 &&
           life_of(&unit_service_lifecycle, s->service->state) == UNIT_SERVICE_DYING;
}

static bool has_reason(const struct unit_snapshot *s)
{
    bool alone = *s->unit->principal &&
                 (!s->principal || life_of(&unit_lifecycle, s->principal->state) != UNIT_ALIVE);
    return service_is_dying(s) || alone || !s->joined;
}

static bool agent_is_absent(const struct unit_snapshot *s)
{
    return cell_is_absent(s->cell) || strcmp(s->cell->identity, s->unit->identity) != 0;
}

static uint32_t unit_guards(const struct move_turn *t)
{
    const struct unit_snapshot *s = turn_snapshot(t);
    const struct op_input *in = t->in;
    bool own = in->actor == ACTOR_REP && unit_is_own(s->unit, &s->by, in->peer_name);
    bool forced = in->actor == ACTOR_BBS && move_units(t->move)->forced;
    return (!*s->unit->principal ? UNIT_IF_PRINCIPAL : 0) | (is_pending(s) ? UNIT_IF_PENDING : 0) |
           (s->no_children ? UNIT_IF_NO_CHILDREN : 0) | (s->no_scopes ? UNIT_IF_NO_SCOPES : 0) |
           (own ? UNIT_IF_OWN : 0) | (has_reason(s) ? UNIT_IF_REASON : 0) |
           (forced ? UNIT_IF_FORCED : 0) | (service_is_dying(s) ? UNIT_IF_SERVICE_DYING : 0) |
           (agent_is_absent(s) ? UNIT_IF_AGENT_ABSENT : 0);
}

/* ---- What the moves do ----------------------------------------------------------------------- */

static void refuse_unit(const struct move_turn *t, const char *why)
{
    SCOPED_ARENA(a);
    struct unit_name name = {"", 0};
    unit_of_key(&a, move_key(&a, t->move), &name);
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "unit %s: %s",
                unit_name_text(&a, name), why);
}

/* Its record, its status and what names it go; the service with its last one. */
static void put_end(const struct move_turn *t)
{
    const struct unit_snapshot *s = turn_snapshot(t);
    struct plan *p = t->plan;
    move_delete_subject(t);
    if (s->status) {
        life_change(p, t->in, &unit_status_lifecycle,
                    life_of(&unit_status_lifecycle, s->status->state), UNIT_STATUS_TRIGGER_END, 0,
                    key_unit_status(p->arena, unit_name_of(s->unit)), NULL);
    }
    if (s->listed) {
        plan_delete(p, s->listed, t->row->name, t->in->actor);
    }
    drop_put_alone(&s->drop, t->in, p);
    units_plan_check(p);
}

/* A client forces its end, whatever its life: a job sees to it, unless one does already. */
static void put_force(const struct move_turn *t)
{
    const struct unit_snapshot *s = turn_snapshot(t);
    if (move_units(t->move)->forced && t->in->actor == ACTOR_CLIENT && !s->force_job) {
        force_unit_open(t->plan, t->in, s->unit, move_units(t->move)->max_wait_ms,
                        t->in->now.wall_ns);
    }
}

/* 1. Its agent has never reported: it goes at once.
 * 2. It is dying. In more relations than depart in one transaction: a job says so of them.
 * 3. All its memberships say that they depart. */
static void destroy_unit(const struct move_turn *t)
{
    const struct unit_snapshot *s = turn_snapshot(t);
    if (t->to == UNIT_NONE) { /* 1 */
        put_end(t);
        return;
    }
    move_put(t, move_subject_key(t->plan->arena, t->in), t->from, t->to, /* 2 */
             &unit_in_life(t->plan->arena, s->unit, t->to, t->in->now)->base);
    if (s->scope_count < 0) {
        depart_unit_open(t->plan, t->in, s->unit);
    }
    for (int i = 0; i < s->scope_count; i++) { /* 3 */
        unit_depart_put(t->plan, t->in, s->scopes[i].key, s->scopes[i].member);
    }
    put_force(t);
    units_plan_check(t->plan);
}

static void die_unit(const struct move_turn *t)
{
    const struct unit_snapshot *s = turn_snapshot(t);
    assert(s->no_children && s->no_scopes);
    move_put(t, move_subject_key(t->plan->arena, t->in), t->from, t->to,
             &unit_in_life(t->plan->arena, s->unit, t->to, t->in->now)->base);
}

static void remove_unit(const struct move_turn *t)
{
    assert(t->from == UNIT_DEAD);
    put_end(t);
}

/* 1. Another unit has the name by now, to whom the move does not belong: ResourceNotFound.
 * 2. It is on the way already: nothing. */
static bool unit_begin(struct move_turn *t)
{
    const struct unit_snapshot *s = turn_snapshot(t);
    t->record = s->unit ? &s->unit->base : NULL;
    t->from = life_of(&unit_lifecycle, s->unit ? s->unit->state : NULL);
    if (!speaker_authorised(&s->by, t->in, t->plan)) {
        return false;
    }
    if (s->unit && !unit_is_meant(t, s->unit)) { /* 1 */
        return false;
    }
    bool destroyed = strcmp(t->row->name, "destroy") == 0 && t->from > UNIT_ALIVE;
    if (destroyed && !*s->unit->principal) {
        put_force(t);
    }
    bool dead = strcmp(t->row->name, "die") == 0 && t->from == UNIT_DEAD;
    return !destroyed && !dead; /* 2 */
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void valid_unit_move(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    struct unit_name name;
    if (!unit_of_key(&a, move_key(&a, move), &name) || !unit_service_name_is_valid(name.service)) {
        say_field(v, "key");
    }
}

static void unit_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&unit_moves, snapshot, in, p);
}

static const struct op_row unit_op = {
    .name = "move of a unit",
    .target = move_subject_key,
    .gather = unit_gather,
    .decide = unit_decide,
    .snapshot_size = sizeof(struct unit_snapshot),
};

#define UNIT_ROW(move, absents, refusal)                                                           \
    static void refuse_##move(const struct move_turn *t)                                           \
    {                                                                                              \
        refuse_unit(t, refusal);                                                                   \
    }
#include "bbs/units/moves.def"

#define UNIT_ROW(move, absents, refusal)                                                           \
    {                                                                                              \
        .name = #move,                                                                             \
        .valid = valid_unit_move,                                                                  \
        .absent = ABSENT_##absents,                                                                \
        .guards = unit_guards,                                                                     \
        .refuse = refuse_##move,                                                                   \
        .decide = move##_unit,                                                                     \
        .op = &unit_op,                                                                            \
        .op_of_rep = &unit_op,                                                                     \
    },
static const struct move_row rows[] = {
    {.name = "assign",
     .valid = valid_unit_move,
     .op = &unit_assign_row,
     .op_of_rep = &unit_assign_row},
#include "bbs/units/moves.def"
};

const struct move_family unit_moves = {
    .lifecycle = &unit_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = unit_begin,
};
