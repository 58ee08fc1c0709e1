/* Who is in a relation: enter, publish, leave. */
#include "bbs/units/facts.h"
#include "bbs/units/references.h"
#include "bbs/units/units.h"
#include "common/base/message.h"
#include "common/lifecycle/member.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"

#include <assert.h>
#include <string.h>

/* The subordinate that a container relation gives its principal. */
struct child_facts {
    const char *service;                 /* of the other end; NULL = none is needed */
    const Board__UnitChildRecord *entry; /* the principal's; NULL = it has none */
    const Board__UnitRecord *unit;       /* of the entry */
    const Board__UnitServiceRecord *service_record;
    bool number_free; /* the number is out of the sequence, and no unit has it */
};

struct member_snapshot {
    struct speaker by;
    struct member_name name;
    const Board__UnitRecord *unit;
    const Board__RelationRecord *relation;
    const Board__RelationMemberRecord *member;
    const Board__RelationSettingsRecord *settings;
    const char *scope; /* key of its mirror, if that is there */
    struct child_facts child;
    bool last;                 /* it leaves a dying relation, in which nobody else is */
    struct relation_gone gone; /* then */
};

static const struct member_snapshot *turn_snapshot(const struct move_turn *t)
{
    return t->snapshot;
}

static int relation_life(const struct member_snapshot *s)
{
    return life_of(&relation_lifecycle, s->relation ? s->relation->state : NULL);
}

/* ---- What is read ---------------------------------------------------------------------------- */

/* The end of the relation that is the unit's; NULL if it has none in that role. */
static const Board__RelationEnd *own_end(const struct member_snapshot *s)
{
    for (size_t i = 0; i < s->relation->n_ends; i++) {
        const Board__RelationEnd *end = s->relation->ends[i];
        if ((int)end->endpoint->role == s->name.role &&
            strcmp(end->service, s->unit->service) == 0 &&
            strcmp(end->service_guid, s->unit->service_guid) == 0) {
            return end;
        }
    }
    return NULL;
}

static const Board__RelationEnd *other_end(const struct member_snapshot *s)
{
    const Board__RelationEnd *own = own_end(s);
    for (size_t i = 0; own && i < s->relation->n_ends; i++) {
        if (s->relation->ends[i] != own) {
            return s->relation->ends[i];
        }
    }
    return NULL;
}

static bool is_container(const Board__RelationRecord *r)
{
    return r->scope == BOARD__ENDPOINT__SCOPE__CONTAINER;
}

/* Whether the number was taken out of the sequence. That only grows: that it exists is compared
 * then. What refuses is compared as it is, for the copy may be older than the number. */
static bool is_below(struct view *v, const char *sequence, uint32_t number)
{
    const Board__SequenceRecord *next = view_peek_message(v, sequence);
    if (next && next->next > number) {
        return view_exists(v, sequence);
    }
    view_get(v, sequence);
    return false;
}

/* A principal in a container relation has a subordinate of the other service. */
static void gather_child(struct view *v, uint32_t number, struct member_snapshot *s)
{
    struct arena *a = view_arena(v);
    const Board__RelationEnd *other = other_end(s);
    struct unit_name child;
    if (!other || !is_container(s->relation) || *s->unit->principal) {
        return;
    }
    const Board__UnitServiceRecord *service = view_message(v, key_unit_service(a, other->service));
    if (service && !service->subordinate) {
        return;
    }
    s->child.service = other->service;
    s->child.service_record =
        service && strcmp(service->guid, other->service_guid) == 0 ? service : NULL;
    s->child.entry = view_message(v, key_unit_child(a, unit_name_of(s->unit), other->service));
    if (s->child.entry && unit_name_parse(a, s->child.entry->unit, &child)) {
        s->child.unit = view_message(v, key_unit(a, child));
    } else if (!s->child.entry) {
        struct unit_name fresh = {other->service, number};
        const char *sequence = key_sequence(a, "unit", other->service);
        s->child.number_free = is_below(v, sequence, number) &&
                               !view_get(v, key_unit(a, fresh)) &&
                               !view_get(v, key_unit_status(a, fresh));
    }
}

/* 1. The relation is alive: only that it stays so is compared.
 * 2. It is dying, and another member is there: that one is named.
 * 3. Nobody else is there: that is compared, and the relation goes. */
static void gather_leave(struct view *v, const struct op_input *in, const char *key,
                         struct member_snapshot *s)
{
    if (relation_life(s) != RELATION_DYING) { /* 1 */
        return;
    }
    const char *range = key_relation_members(view_arena(v), s->name.relation);
    if (view_witness(v, range, &key, 1, in->random)) { /* 2 */
        return;
    }
    const struct seen *list;
    struct gone_keys gone = {.count = 0};
    int count = view_whole_range(v, range, 1, &list); /* 3 */
    assert(count <= 1);
    s->last = count == 1;
    relation_gone_gather(v, in, s->relation, &gone, &s->gone);
}

static void member_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct member_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__Move *m = in->request;
    const char *key = move_subject_key(a, in);
    bool known = member_of_key(a, key, &s->name);
    assert(known); /* valid_member_move() */
    (void)known;
    speaker_gather(v, in, &s->by);
    s->unit = view_message(v, key_unit(a, s->name.unit));
    s->member = view_message(v, key);
    if (!s->unit) {
        return;
    }
    const char *scope = key_unit_scope(a, s->name.unit, s->name.relation);
    if (strcmp(m->move, "publish") == 0) {
        s->settings = view_message(v, key_relation_settings(a, &s->name));
        return;
    }
    s->relation = view_message(v, key_relation(a, s->name.relation));
    if (strcmp(m->move, "leave") == 0 && s->member && s->relation) {
        s->scope = view_get(v, scope) ? scope : NULL;
        gather_leave(v, in, key, s);
    } else if (strcmp(m->move, "enter") == 0 && !s->member && s->relation) {
        s->settings = view_message(v, key_relation_settings(a, &s->name));
        s->scope = view_get(v, scope) ? scope : NULL;
        gather_child(v, move_units(m)->child, s);
    }
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static bool sits_there(const struct move_turn *t)
{
    const struct member_snapshot *s = turn_snapshot(t);
    if (!s->relation || !own_end(s)) {
        return false;
    }
    struct unit_name principal = s->name.unit;
    if (*s->unit->principal && !unit_name_parse(t->plan->arena, s->unit->principal, &principal)) {
        return false;
    }
    const char *scope =
        is_container(s->relation) ? unit_scope_text(t->plan->arena, principal) : "-";
    return strcmp(s->name.principal, scope) == 0;
}

static bool brings_child(const struct move_turn *t)
{
    const struct child_facts *c = &turn_snapshot(t)->child;
    return c->service && !c->entry;
}

static bool child_fits(const struct move_turn *t)
{
    const struct child_facts *c = &turn_snapshot(t)->child;
    if (!c->service) {
        return true;
    }
    if (c->entry) {
        return c->unit && strcmp(c->unit->guid, c->entry->guid) == 0 &&
               life_of(&unit_lifecycle, c->unit->state) == UNIT_ALIVE;
    }
    return move_units(t->move)->brings_child && c->number_free && c->service_record &&
           life_of(&unit_service_lifecycle, c->service_record->state) == UNIT_SERVICE_ALIVE;
}

static uint32_t member_guards(const struct move_turn *t)
{
    const struct member_snapshot *s = turn_snapshot(t);
    bool own = t->in->actor == ACTOR_REP && unit_is_own(s->unit, &s->by, t->in->peer_name);
    bool alive = life_of(&unit_lifecycle, s->unit->state) == UNIT_ALIVE;
    bool related = relation_life(s) == RELATION_ALIVE &&
                   strcmp(s->relation->guid, move_units(t->move)->relation_guid) == 0;
    bool forced = t->in->actor == ACTOR_BBS && move_units(t->move)->forced;
    return (own ? MEMBER_IF_OWN : 0) | (alive ? MEMBER_IF_UNIT_ALIVE : 0) |
           (related ? MEMBER_IF_RELATION_ALIVE : 0) | (sits_there(t) ? MEMBER_IF_SITS_THERE : 0) |
           (child_fits(t) ? MEMBER_IF_CHILD_ALIVE_OR_NONE : 0) | (forced ? MEMBER_IF_FORCED : 0);
}

/* ---- What the moves do ----------------------------------------------------------------------- */

static void refuse_member(const struct move_turn *t, const char *why)
{
    const struct member_snapshot *s = turn_snapshot(t);
    SCOPED_ARENA(a);
    if (s->child.entry && !child_fits(t)) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "unit %s cannot enter relation %u yet: its subordinate %s has to go first",
                    unit_name_text(&a, s->name.unit), s->name.relation, s->child.entry->unit);
        return;
    }
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "unit %s in relation %u: %s",
                unit_name_text(&a, s->name.unit), s->name.relation, why);
}

static void put(const struct move_turn *t, const char *key, const ProtobufCMessage *message)
{
    plan_put(t->plan, key, t->row->name, t->in->actor, message);
}

static void put_settings(const struct move_turn *t)
{
    const struct member_snapshot *s = turn_snapshot(t);
    struct arena *a = t->plan->arena;
    Board__RelationSettingsRecord *r =
        arena_message(a, &board__relation_settings_record__descriptor);
    r->unit_guid = s->unit->guid;
    r->cell_id = s->unit->cell_id;
    r->settings = move_units(t->move)->settings;
    r->n_settings = move_units(t->move)->n_settings;
    r->hook = move_units(t->move)->hook;
    put(t, key_relation_settings(a, &s->name), &r->base);
}

/* A subordinate beside the unit: record, status, entry of its principal. */
static void put_child(const struct move_turn *t)
{
    const struct member_snapshot *s = turn_snapshot(t);
    struct arena *a = t->plan->arena;
    struct unit_name name = {s->child.service, move_units(t->move)->child};
    char *guid = arena_alloc(a, GUID_BYTES);
    random_guid(t->in->random, guid);
    Board__UnitRecord *u = arena_message(a, &board__unit_record__descriptor);
    *u = *s->unit; /* it is where its principal is */
    u->service = arena_strdup(a, name.service);
    u->number = name.number;
    u->guid = guid;
    u->service_guid = s->child.service_record->guid;
    u->state = u->place = arena_strdup(a, unit_lifecycle.states[UNIT_ALIVE]);
    u->principal = arena_strdup(a, unit_name_text(a, s->name.unit));
    u->principal_guid = s->unit->guid;
    u->needs = s->child.service_record->needs;
    u->assigned = false; /* it is on no list of a machine */
    u->created_at = u->since = t->in->now.wall_ns;
    life_change(t->plan, t->in, &unit_lifecycle, UNIT_NONE, UNIT_TRIGGER_ENLIST,
                UNIT_IF_SERVICE_ALIVE | UNIT_IF_SUBORDINATE | UNIT_IF_PRINCIPAL_ALIVE |
                    UNIT_IF_NO_SIBLING,
                key_unit(a, name), &u->base);
    unit_status_put_pending(t->plan, t->in, name, u);
    Board__UnitChildRecord *entry = arena_message(a, &board__unit_child_record__descriptor);
    entry->unit = arena_strdup(a, unit_name_text(a, name));
    entry->guid = guid;
    entry->cell_id = u->cell_id;
    put(t, key_unit_child(a, s->name.unit, name.service), &entry->base);
}

static void enter_member(const struct move_turn *t)
{
    const struct member_snapshot *s = turn_snapshot(t);
    struct arena *a = t->plan->arena;
    const char *key = key_relation_member(a, &s->name);
    Board__RelationMemberRecord *m = arena_message(a, &board__relation_member_record__descriptor);
    m->unit_guid = s->unit->guid;
    m->relation_guid = s->relation->guid;
    m->state = arena_strdup(a, member_lifecycle.states[t->to]);
    m->cell_id = s->unit->cell_id;
    move_put(t, key, t->from, t->to, &m->base);
    Board__UnitScopeRecord *scope = arena_message(a, &board__unit_scope_record__descriptor);
    scope->member = arena_strdup(a, key);
    scope->relation_guid = s->relation->guid;
    scope->cell_id = s->unit->cell_id;
    put(t, key_unit_scope(a, s->name.unit, s->name.relation), &scope->base);
    put_settings(t);
    if (brings_child(t)) {
        put_child(t);
    }
    units_plan_check(t->plan);
}

/* What this hook, or a later one, has set stands already: nothing. */
static void publish_member(const struct move_turn *t)
{
    const struct member_snapshot *s = turn_snapshot(t);
    if (!s->settings || s->settings->hook < move_units(t->move)->hook) {
        put_settings(t);
    }
}

static void leave_member(const struct move_turn *t)
{
    const struct member_snapshot *s = turn_snapshot(t);
    move_delete_subject(t);
    if (s->scope) {
        plan_delete(t->plan, s->scope, t->row->name, t->in->actor);
    }
    if (s->last) {
        struct swept sweep = {.count = 0};
        relation_gone_put(&s->gone, t->in, RELATION_TRIGGER_SETTLE, RELATION_IF_LAST_MEMBER,
                          t->plan, &sweep);
        sweep_open(&sweep, t->in, t->plan);
    }
    units_plan_check(t->plan);
}

/* 1. The unit is gone, or another has its name: ResourceNotFound; nothing is left to leave.
 * 2. It is a member already, of this relation: nothing.
 * 3. The membership is another unit's: ResourceNotFound likewise. */
static bool member_begin(struct move_turn *t)
{
    const struct member_snapshot *s = turn_snapshot(t);
    bool leaves = strcmp(t->row->name, "leave") == 0;
    t->record = s->member ? &s->member->base : NULL;
    t->from = life_of(&member_lifecycle, s->member ? s->member->state : NULL);
    if (!speaker_authorised(&s->by, t->in, t->plan)) {
        return false;
    }
    bool same = s->unit && strcmp(move_units(t->move)->guid, s->unit->guid) == 0;
    bool others = s->member && s->unit && strcmp(s->member->unit_guid, s->unit->guid) != 0;
    if (!same || others) { /* 1, 3 */
        if (!leaves || s->member) {
            plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceNotFound,
                        "the unit of that guid is gone");
        }
        return false;
    }
    if (!s->relation && strcmp(t->row->name, "enter") == 0) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceNotFound, "relation %u is gone",
                    s->name.relation);
        return false;
    }
    return strcmp(t->row->name, "enter") != 0 || !s->member; /* 2 */
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void valid_member_move(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    struct member_name name;
    const Board__UnitsMove *m = move_units(move);
    if (!member_of_key(&a, move_key(&a, move), &name) ||
        !unit_service_name_is_valid(name.unit.service)) {
        say_field(v, "key");
    }
    if (!*m->guid) {
        say_field(v, "guid");
    }
    const char *fault = unit_settings_list_fault(&a, m->settings, m->n_settings);
    if (fault) {
        say(v, arena_printf(&a, "settings: %s", fault));
    }
}

static void member_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&member_moves, snapshot, in, p);
}

static const struct op_row member_op = {
    .name = "move of a membership",
    .target = move_subject_key,
    .gather = member_gather,
    .decide = member_decide,
    .snapshot_size = sizeof(struct member_snapshot),
};

#define MEMBER_ROW(move, absents, refusal)                                                         \
    static void refuse_##move(const struct move_turn *t)                                           \
    {                                                                                              \
        refuse_member(t, refusal);                                                                 \
    }
#include "bbs/units/moves.def"

#define MEMBER_ROW(move, absents, refusal)                                                         \
    {                                                                                              \
        .name = #move,                                                                             \
        .valid = valid_member_move,                                                                \
        .absent = ABSENT_##absents,                                                                \
        .guards = member_guards,                                                                   \
        .refuse = refuse_##move,                                                                   \
        .decide = move##_member,                                                                   \
        .op = &member_op,                                                                          \
        .op_of_rep = &member_op,                                                                   \
    },
static const struct move_row rows[] = {
#include "bbs/units/moves.def"
};

const struct move_family member_moves = {
    .lifecycle = &member_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = member_begin,
};
