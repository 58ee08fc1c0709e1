#include "converger/unit_mirrors.h"

#include "common/model/record.h"
#include "common/model/unit_name.h"
#include "converger/known.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

struct mirror_look {
    const struct unit_mirrors *of;
    const char *key; /* of the record that is looked at */
    bool enough;
};

static void say_lacking(struct mirror_look *l, const char *counterpart)
{
    l->enough = l->enough || !l->of->lacks(l->of->context, l->key, counterpart);
}

static void want(struct mirror_look *l, const char *counterpart)
{
    if (!feed_client_get(l->of->board, counterpart)) {
        say_lacking(l, counterpart);
    }
}

static const char *guid_in(const ProtobufCMessage *m)
{
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, "guid");
    assert(f && f->type == PROTOBUF_C_TYPE_STRING);
    return *(char *const *)((const char *)m + f->offset);
}

static void want_guid(struct mirror_look *l, const char *counterpart, const char *guid)
{
    const struct followed *record = feed_client_get(l->of->board, counterpart);
    const ProtobufCMessage *m = record ? message_of(l->of->arena, counterpart, record) : NULL;
    bool newer = record && !m;
    if (!newer && (!m || strcmp(guid_in(m), guid) != 0)) {
        say_lacking(l, arena_printf(l->of->arena, "%s of guid %s", counterpart, guid));
    }
}

/* ---- By kind --------------------------------------------------------------------------------- */

static void of_machine_cell(struct mirror_look *l, const void *message)
{
    const Board__MachineCellRecord *c = message;
    want(l, key_machine(l->of->arena, c->number));
}

static void of_machine_unit(struct mirror_look *l, const void *message)
{
    struct unit_name name;
    if (unit_of_key(l->of->arena, l->key, &name)) {
        want_guid(l, key_unit(l->of->arena, name),
                  ((const Board__MachineUnitRecord *)message)->guid);
    }
}

static void of_unit(struct mirror_look *l, const void *message)
{
    const Board__UnitRecord *u = message;
    struct arena *a = l->of->arena;
    struct unit_name name = {u->service, u->number}, principal;
    want_guid(l, key_unit_status(a, name), u->guid);
    if (*u->principal && unit_name_parse(a, u->principal, &principal)) {
        want_guid(l, key_unit_child(a, principal, u->service), u->guid);
    } else if (u->assigned) {
        want_guid(l, key_machine_unit(a, u->machine, name), u->guid);
    }
}

static void of_status(struct mirror_look *l, const void *message)
{
    struct unit_name name;
    if (unit_of_key(l->of->arena, l->key, &name)) {
        want_guid(l, key_unit(l->of->arena, name),
                  ((const Board__UnitStatusRecord *)message)->guid);
    }
}

static void of_child(struct mirror_look *l, const void *message)
{
    const Board__UnitChildRecord *c = message;
    struct unit_name name;
    if (unit_name_parse(l->of->arena, c->unit, &name)) {
        want_guid(l, key_unit(l->of->arena, name), c->guid);
    }
}

static void of_scope(struct mirror_look *l, const void *message)
{
    want(l, ((const Board__UnitScopeRecord *)message)->member);
}

static void of_relation(struct mirror_look *l, const void *message)
{
    const Board__RelationRecord *r = message;
    struct arena *a = l->of->arena;
    want_guid(l, key_relation_key(a, relation_canonical(a, r->ends, r->n_ends)), r->guid);
    for (size_t i = 0; i < r->n_ends; i++) {
        bool same = i > 0 && strcmp(r->ends[i]->service, r->ends[0]->service) == 0;
        if (!same) {
            want_guid(l, key_unit_service_relation(a, r->ends[i]->service, r->number), r->guid);
        }
    }
}

/* Its name, or the reference of a service to it. */
static void of_relation_name(struct mirror_look *l, const void *message)
{
    const Board__RelationNameRecord *n = message;
    want_guid(l, key_relation(l->of->arena, n->number), n->guid);
}

static void of_member(struct mirror_look *l, const void *message)
{
    struct member_name name;
    (void)message;
    if (member_of_key(l->of->arena, l->key, &name)) {
        want(l, key_unit_scope(l->of->arena, name.unit, name.relation));
    }
}

static const struct {
    enum record_type type;
    void (*look)(struct mirror_look *l, const void *message);
} mirrors[] = {
    {RECORD_MACHINE_CELL, of_machine_cell},
    {RECORD_MACHINE_UNIT, of_machine_unit},
    {RECORD_RELATION, of_relation},
    {RECORD_RELATION_KEY, of_relation_name},
    {RECORD_RELATION_MEMBER, of_member},
    {RECORD_UNIT, of_unit},
    {RECORD_UNIT_CHILD, of_child},
    {RECORD_UNIT_SCOPE, of_scope},
    {RECORD_UNIT_SERVICE_RELATION, of_relation_name},
    {RECORD_UNIT_STATUS, of_status},
};

void unit_mirrors_each(const struct unit_mirrors *m)
{
    struct mirror_look l = {.of = m};
    assert(m->lacks && m->board);
    for (size_t i = 0; i < sizeof(mirrors) / sizeof(mirrors[0]); i++) {
        const char *prefix = arena_printf(m->arena, "%s/", record_type_name(mirrors[i].type));
        struct map_node *n = map_from(&m->board->records, prefix);
        for (; n && !l.enough && strncmp(map_key(n), prefix, strlen(prefix)) == 0;
             n = map_next(n)) {
            const void *message = message_of(m->arena, map_key(n), map_value(n));
            l.key = map_key(n);
            if (message) {
                mirrors[i].look(&l, message);
            }
        }
    }
}
