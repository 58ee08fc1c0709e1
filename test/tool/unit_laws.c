#include "test/tool/unit_laws.h"

#include "bbs/units/facts.h"
#include "common/lifecycle/machine.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"

#include <assert.h>
#include <string.h>

struct laws {
    const struct unit_law_board *board;
    struct arena *arena;
};

static const ProtobufCMessage *message_at(const struct laws *l, const char *key)
{
    return l->board->get(l->board->context, l->arena, key);
}

#define GET(type, l, key) ((const Board__##type *)message_at((l), (key)))

/* What does not hold ends the look at this record: what comes after it rests on it. */
#define DEMAND(l, holds, law, key, what)                                                           \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            (l)->board->broken((l)->board->context, (law), (key), (what));                         \
            return;                                                                                \
        }                                                                                          \
    } while (0)

static bool has(const struct laws *l, const char *key)
{
    return message_at(l, key);
}

static size_t keys_below(const struct laws *l, const char *prefix, const char ***ret)
{
    return l->board->keys(l->board->context, l->arena, prefix, ret);
}

static size_t count_of(const struct laws *l, const char *prefix)
{
    const char **keys;
    return keys_below(l, prefix, &keys);
}

static bool is(const struct lifecycle *l, const char *state, int life)
{
    return life_of(l, state) == life;
}

static const Board__UnitServiceRecord *service_of(struct laws *l, const char *name,
                                                  const char *guid)
{
    const Board__UnitServiceRecord *s = GET(UnitServiceRecord, l, key_unit_service(l->arena, name));
    return s && strcmp(s->guid, guid) == 0 ? s : NULL;
}

static const Board__UnitRecord *unit_named(struct laws *l, const char *text, const char *guid)
{
    struct unit_name name;
    const Board__UnitRecord *u = unit_name_parse(l->arena, text, &name)
                                     ? GET(UnitRecord, l, key_unit(l->arena, name))
                                     : NULL;
    return u && strcmp(u->guid, guid) == 0 ? u : NULL;
}

/* ---- Of each record as it stands ------------------------------------------------------------- */

static void law_of_subordinate(struct laws *l, const char *key, const Board__UnitRecord *u)
{
    const Board__UnitRecord *p = unit_named(l, u->principal, u->principal_guid);
    DEMAND(l, p && !is(&unit_lifecycle, p->state, UNIT_DEAD), "V2", key,
           "its principal is dead or gone");
    const char *entry = key_unit_child(l->arena, unit_name_of(p), u->service);
    const Board__UnitChildRecord *child = GET(UnitChildRecord, l, entry);
    DEMAND(l, !u->assigned, "V4", key, "it is a subordinate, and on a machine of its own");
    DEMAND(l, child && strcmp(child->guid, u->guid) == 0, "V4", key,
           "its principal does not list it, or lists another one");
}

static void law_of_unit(struct laws *l, const char *key, const ProtobufCMessage *m)
{
    const Board__UnitRecord *u = (const Board__UnitRecord *)m;
    struct unit_name name = unit_name_of(u);
    DEMAND(l, service_of(l, u->service, u->service_guid), "V3", key, "its service is gone");
    if (is(&unit_lifecycle, u->state, UNIT_DEAD)) {
        DEMAND(l, count_of(l, key_unit_scopes(l->arena, name)) == 0, "V2", key,
               "it is dead and in a relation");
        DEMAND(l, count_of(l, key_unit_children(l->arena, name)) == 0, "V2", key,
               "it is dead and has a subordinate");
    }
    DEMAND(l, has(l, key_unit_status(l->arena, name)), "V4", key, "it has no status");
    if (*u->principal) {
        law_of_subordinate(l, key, u);
    } else if (u->assigned) {
        const Board__MachineRecord *machine =
            GET(MachineRecord, l, key_machine(l->arena, u->machine));
        DEMAND(l, machine, "V3", key, "its machine is gone");
        DEMAND(l, is(&machine_lifecycle, machine->state, MACHINE_ALIVE), "V6", key,
               "its machine is not alive");
        DEMAND(l, has(l, key_machine_unit(l->arena, u->machine, name)), "V4", key,
               "its machine does not list it");
    }
}

static void law_of_machine_unit(struct laws *l, const char *key, const ProtobufCMessage *m)
{
    struct unit_name name;
    const Board__UnitRecord *u =
        unit_of_key(l->arena, key, &name) ? GET(UnitRecord, l, key_unit(l->arena, name)) : NULL;
    DEMAND(l, u && strcmp(u->guid, ((const Board__MachineUnitRecord *)m)->guid) == 0, "V4", key,
           "there is no such unit");
}

static void law_of_child(struct laws *l, const char *key, const ProtobufCMessage *m)
{
    const Board__UnitChildRecord *child = (const Board__UnitChildRecord *)m;
    struct unit_name name;
    const Board__UnitRecord *u = unit_named(l, child->unit, child->guid);
    DEMAND(l, u, "V4", key, "there is no such subordinate");
    DEMAND(l,
           unit_of_key(l->arena, key, &name) &&
               strcmp(u->principal, unit_name_text(l->arena, name)) == 0,
           "V7", key, "it is another one's subordinate");
}

static void law_of_service(struct laws *l, const char *key, const ProtobufCMessage *m)
{
    const Board__UnitServiceRecord *s = (const Board__UnitServiceRecord *)m;
    struct arena *a = l->arena;
    size_t references = count_of(l, key_range_of(a, RECORD_UNIT, s->name)) +
                        count_of(l, key_range_of(a, RECORD_UNIT_SERVICE_RELATION, s->name));
    DEMAND(l, !is(&unit_service_lifecycle, s->state, UNIT_SERVICE_DYING) || references > 0, "V5",
           key, "it is dying, and nothing of it is left");
}

static void law_of_relation(struct laws *l, const char *key, const ProtobufCMessage *m)
{
    const Board__RelationRecord *r = (const Board__RelationRecord *)m;
    struct arena *a = l->arena;
    bool alive = is(&relation_lifecycle, r->state, RELATION_ALIVE);
    for (size_t i = 0; i < r->n_ends; i++) {
        const Board__RelationEnd *e = r->ends[i];
        const Board__UnitServiceRecord *s = service_of(l, e->service, e->service_guid);
        DEMAND(l, s, "V3", key, "a service of it is gone");
        DEMAND(l, !alive || is(&unit_service_lifecycle, s->state, UNIT_SERVICE_ALIVE), "V6", key,
               "it is alive, and a service of it is not");
        DEMAND(l, has(l, key_unit_service_relation(a, e->service, r->number)), "V4", key,
               "a service of it does not list it");
    }
    DEMAND(l, has(l, key_relation_key(a, relation_canonical(a, r->ends, r->n_ends))), "V4", key,
           "its name is free");
    DEMAND(l, alive || count_of(l, key_relation_members(a, r->number)) > 0, "V5", key,
           "it is dying, and nobody is in it");
}

/* A relation's name, or the reference of a service to it. */
static void law_of_reference(struct laws *l, const char *key, const ProtobufCMessage *m)
{
    const Board__RelationNameRecord *name = (const Board__RelationNameRecord *)m;
    const Board__RelationRecord *r = GET(RelationRecord, l, key_relation(l->arena, name->number));
    DEMAND(l, r && strcmp(r->guid, name->guid) == 0, "V4", key, "there is no such relation");
}

static void law_of_member(struct laws *l, const char *key, const ProtobufCMessage *m)
{
    const Board__RelationMemberRecord *member = (const Board__RelationMemberRecord *)m;
    struct arena *a = l->arena;
    struct member_name name;
    DEMAND(l, member_of_key(a, key, &name), "V4", key, "it is no key of a membership");
    const Board__UnitRecord *u = GET(UnitRecord, l, key_unit(a, name.unit));
    const Board__RelationRecord *r = GET(RelationRecord, l, key_relation(a, name.relation));
    DEMAND(l, u && strcmp(u->guid, member->unit_guid) == 0, "V3", key, "its unit is gone");
    DEMAND(l, r && strcmp(r->guid, member->relation_guid) == 0, "V3", key, "its relation is gone");
    DEMAND(l, has(l, key_unit_scope(a, name.unit, name.relation)), "V4", key,
           "its unit does not list it");
    DEMAND(l, has(l, key_relation_settings(a, &name)), "V4", key, "it has no settings");
    struct unit_name principal = name.unit;
    if (r->scope == BOARD__ENDPOINT__SCOPE__CONTAINER) {
        DEMAND(l, !*u->principal || unit_name_parse(a, u->principal, &principal), "V7", key,
               "its unit's principal has no name");
        DEMAND(l, strcmp(name.principal, unit_scope_text(a, principal)) == 0, "V7", key,
               "its unit is on another principal");
    }
}

static void law_of_scope(struct laws *l, const char *key, const ProtobufCMessage *m)
{
    DEMAND(l, has(l, ((const Board__UnitScopeRecord *)m)->member), "V4", key,
           "there is no such membership");
}

static const struct {
    enum record_type type;
    void (*law)(struct laws *l, const char *key, const ProtobufCMessage *m);
} laws[] = {
    {RECORD_UNIT, law_of_unit},
    {RECORD_MACHINE_UNIT, law_of_machine_unit},
    {RECORD_UNIT_CHILD, law_of_child},
    {RECORD_UNIT_SERVICE, law_of_service},
    {RECORD_RELATION, law_of_relation},
    {RECORD_RELATION_KEY, law_of_reference},
    {RECORD_UNIT_SERVICE_RELATION, law_of_reference},
    {RECORD_RELATION_MEMBER, law_of_member},
    {RECORD_UNIT_SCOPE, law_of_scope},
};

static void each_record(struct laws *l)
{
    for (size_t i = 0; i < sizeof(laws) / sizeof(laws[0]); i++) {
        const char **keys;
        const char *prefix = arena_printf(l->arena, "%s/", record_type_name(laws[i].type));
        size_t count = keys_below(l, prefix, &keys);
        for (size_t k = 0; k < count; k++) {
            laws[i].law(l, keys[k], message_at(l, keys[k]));
        }
    }
}

/* ---- Of what has changed --------------------------------------------------------------------- */

static const struct {
    enum record_type type;
    const struct lifecycle *lifecycle;
    int alive;
} lives[] = {
    {RECORD_UNIT, &unit_lifecycle, UNIT_ALIVE},
    {RECORD_UNIT_SERVICE, &unit_service_lifecycle, UNIT_SERVICE_ALIVE},
    {RECORD_RELATION, &relation_lifecycle, RELATION_ALIVE},
    {RECORD_MACHINE, &machine_lifecycle, MACHINE_ALIVE},
};

static const char *text_of(const ProtobufCMessage *m, const char *field)
{
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, field);
    assert(f);
    return *(char *const *)((const char *)m + f->offset);
}

/* The states of a lifecycle stand in the order of a life. */
static void law_of_life(struct laws *l, const struct unit_law_change *e)
{
    for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
        if (key_type(e->key) != lives[i].type || !e->after) {
            continue;
        }
        int after = life_of(lives[i].lifecycle, text_of(e->after, "state"));
        if (!e->before) {
            DEMAND(l, after == lives[i].alive, "V1", e->key, "it begins and is not alive");
            continue;
        }
        int before = life_of(lives[i].lifecycle, text_of(e->before, "state"));
        DEMAND(l, after >= before, "V1", e->key, "its life goes back");
        DEMAND(l, strcmp(text_of(e->before, "guid"), text_of(e->after, "guid")) == 0, "V1", e->key,
               "it is another one");
    }
}

static void law_of_place(struct laws *l, const struct unit_law_change *e)
{
    const Board__UnitRecord *before = (const Board__UnitRecord *)e->before;
    const Board__UnitRecord *after = (const Board__UnitRecord *)e->after;
    if (key_type(e->key) == RECORD_UNIT && before && after && before->assigned) {
        DEMAND(l,
               after->assigned && after->machine == before->machine &&
                   strcmp(after->cell_id, before->cell_id) == 0,
               "V6", e->key, "it is on another machine");
    }
}

static void law_of_new(struct laws *l, const struct unit_law_change *e)
{
    if (e->before || !e->after) {
        return;
    }
    struct arena *a = l->arena;
    struct member_name name;
    if (key_type(e->key) == RECORD_UNIT) {
        const Board__UnitRecord *u = (const Board__UnitRecord *)e->after;
        const Board__UnitServiceRecord *s = service_of(l, u->service, u->service_guid);
        DEMAND(l, s && is(&unit_service_lifecycle, s->state, UNIT_SERVICE_ALIVE), "V8", e->key,
               "its service is not alive");
    } else if (key_type(e->key) == RECORD_RELATION_MEMBER && member_of_key(a, e->key, &name)) {
        const Board__UnitRecord *u = GET(UnitRecord, l, key_unit(a, name.unit));
        const Board__RelationRecord *r = GET(RelationRecord, l, key_relation(a, name.relation));
        DEMAND(l, u && is(&unit_lifecycle, u->state, UNIT_ALIVE), "V8", e->key,
               "its unit is not alive");
        DEMAND(l, r && is(&relation_lifecycle, r->state, RELATION_ALIVE), "V8", e->key,
               "its relation is not alive");
    }
}

static void law_of_size(struct laws *l, const struct unit_law_change *changes, size_t count)
{
    DEMAND(l, count <= UNITS_RECORDS_MAX, "V13", changes[0].key, "its commit changes more than 64");
}

void unit_laws_hold(const struct unit_law_board *b, const struct unit_law_change *changes,
                    size_t count)
{
    SCOPED_ARENA(a);
    struct laws l = {.board = b, .arena = &a};
    law_of_size(&l, changes, count);
    for (size_t i = 0; i < count; i++) {
        law_of_life(&l, &changes[i]);
        law_of_place(&l, &changes[i]);
        law_of_new(&l, &changes[i]);
    }
    each_record(&l);
}

void unit_laws_empty(const struct unit_law_board *b)
{
    static const enum record_type kinds[] = {RECORD_CHARM,
                                             RECORD_UNIT_SERVICE,
                                             RECORD_UNIT_CONFIG,
                                             RECORD_UNIT,
                                             RECORD_UNIT_STATUS,
                                             RECORD_UNIT_CHILD,
                                             RECORD_UNIT_SCOPE,
                                             RECORD_MACHINE_UNIT,
                                             RECORD_UNIT_SERVICE_RELATION,
                                             RECORD_RELATION,
                                             RECORD_RELATION_KEY,
                                             RECORD_RELATION_MEMBER,
                                             RECORD_RELATION_SETTINGS,
                                             RECORD_JOB};
    SCOPED_ARENA(a);
    struct laws l = {.board = b, .arena = &a};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const char **keys;
        size_t count = keys_below(&l, arena_printf(&a, "%s/", record_type_name(kinds[i])), &keys);
        for (size_t k = 0; k < count; k++) {
            l.board->broken(l.board->context, "V11", keys[k],
                            "everything is destroyed, and it is left");
        }
    }
}
