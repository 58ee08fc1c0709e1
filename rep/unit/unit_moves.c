#include "rep/unit/unit_moves.h"

#include "common/lifecycle/unit.h"
#include "common/model/unit_settings.h"
#include "rep/unit/unit_records.h"

#include <assert.h>
#include <string.h>

/* Messages are not written to: protobuf-c has no constant strings. */
static char *text(const char *borrowed)
{
    return (char *)(uintptr_t)borrowed;
}

static Board__Move *move_of(struct arena *a, const char *name, const char *key, const char *guid)
{
    assert(*name && *guid);
    Board__Move *m = move_new(a, name, key);
    m->body_case = BOARD__MOVE__BODY_UNITS;
    m->units = arena_message(a, &board__units_move__descriptor);
    m->units->guid = text(guid);
    return m;
}

static struct unit_name name_of(const Board__UnitRecord *u)
{
    return (struct unit_name){u->service, u->number};
}

/* ---- Of a unit ------------------------------------------------------------------------------- */

Board__Move *unit_move_assign(struct arena *a, const Board__UnitRecord *unit, bool adopts)
{
    Board__Move *m = move_of(a, "assign", key_unit(a, name_of(unit)), unit->guid);
    m->units->adopts = adopts;
    return m;
}

static Board__Move *says(struct arena *a, const char *move, struct unit_name name, const char *guid,
                         const Board__UnitStatusRecord *status, uint64_t revision)
{
    Board__Move *m = move_of(a, move, key_unit_status(a, name), guid);
    m->subject->revision = (int64_t)revision;
    m->units->status = (Board__UnitStatusRecord *)(uintptr_t)status;
    return m;
}

Board__Move *unit_move_report(struct arena *a, struct unit_name name, const char *guid,
                              const Board__UnitStatusRecord *status, uint64_t revision)
{
    return says(a, "report", name, guid, status, revision);
}

Board__Move *unit_move_fail(struct arena *a, struct unit_name name, const char *guid,
                            const Board__UnitStatusRecord *status, uint64_t revision)
{
    return says(a, "fail", name, guid, status, revision);
}

Board__Move *unit_move_end(struct arena *a, const char *move, struct unit_name name,
                           const char *guid)
{
    return move_of(a, move, key_unit(a, name), guid);
}

/* ---- Of a membership ------------------------------------------------------------------------- */

/* The key of the unit's membership; NULL: it has no end there. */
static const char *member_key(struct arena *a, const Board__UnitRecord *u,
                              const Board__RelationRecord *r)
{
    struct unit_name principal = name_of(u);
    bool container = r->scope == BOARD__ENDPOINT__SCOPE__CONTAINER;
    if (*u->principal && !unit_name_parse(a, u->principal, &principal)) {
        return NULL;
    }
    for (size_t i = 0; i < r->n_ends; i++) {
        if (strcmp(r->ends[i]->service, u->service) == 0) {
            struct member_name m = {r->number, container ? unit_scope_text(a, principal) : "-",
                                    (int)r->ends[i]->endpoint->role, name_of(u)};
            return key_relation_member(a, &m);
        }
    }
    return NULL;
}

/* In byte order of the keys. */
static void add_first_settings(struct arena *a, struct unit_address address, Board__UnitsMove *m)
{
    Board__UnitSetting **list = NULL;
    size_t count = 0;
    if (address.port) {
        count = unit_setting_put(a, list, count, UNIT_SETTING_PORT,
                                 arena_printf(a, "%u", address.port), &list);
    }
    count = unit_setting_put(a, list, count, UNIT_SETTING_ADDRESS, address.address, &list);
    m->settings = list;
    m->n_settings = count;
}

Board__Move *unit_move_enter(struct arena *a, const Board__UnitRecord *unit,
                             const Board__RelationRecord *relation, struct unit_address address,
                             bool brings_child, uint32_t child)
{
    const char *key = member_key(a, unit, relation);
    if (!key) {
        return NULL;
    }
    Board__Move *m = move_of(a, "enter", key, unit->guid);
    m->units->relation_guid = relation->guid;
    m->units->brings_child = brings_child;
    m->units->child = child;
    add_first_settings(a, address, m->units);
    return m;
}

Board__Move *unit_move_leave(struct arena *a, const char *member, const char *guid)
{
    return move_of(a, "leave", member, guid);
}

static bool is_same(const char *was, const char *is)
{
    return strcmp(was ? was : "", is) == 0;
}

Board__Move *unit_move_publish(struct arena *a, const char *member, const char *guid,
                               const Board__RelationSettingsRecord *own, const Rep__UnitNote *j,
                               uint32_t relation)
{
    Board__UnitSetting **list = own ? own->settings : NULL;
    size_t count = own ? own->n_settings : 0;
    bool other = false;
    for (size_t i = 0; i < j->n_unpublished; i++) {
        const Rep__UnitNoteWrite *w = j->unpublished[i];
        if (w->relation == relation && !is_same(unit_setting(list, count, w->key), w->value)) {
            count = unit_setting_put(a, list, count, w->key, w->value, &list);
            other = true;
        }
    }
    if (!other) {
        return NULL;
    }
    Board__Move *m = move_of(a, "publish", member, guid);
    m->units->settings = list;
    m->units->n_settings = count;
    m->units->hook = own ? own->hook + 1 : 1;
    return m;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

Board__Move *unit_move_numbers(struct arena *a, const Board__UnitServiceRecord *service,
                               uint32_t count)
{
    Board__Move *m = move_of(a, "numbers", key_unit_service(a, service->name), service->guid);
    assert(count > 0);
    m->units->count = count;
    return m;
}

/* ---- Of a step ------------------------------------------------------------------------------- */

static const struct agent_relation *relation_of(const struct agent_facts *f, uint32_t number)
{
    for (size_t i = 0; i < f->relation_count; i++) {
        if (f->relations[i].record->number == number) {
            return &f->relations[i];
        }
    }
    return NULL;
}

/* The unit's own membership in that relation, as the unit's record of it says. */
static const char *own_member(struct arena *a, const struct unit_knowledge *k,
                              const struct agent_facts *f, uint32_t relation)
{
    const Board__UnitScopeRecord *s = (const Board__UnitScopeRecord *)unit_record(
        k, a, key_unit_scope(a, name_of(f->unit), relation));
    return s ? s->member : NULL;
}

static Board__Move *publish(struct arena *a, const struct unit_knowledge *k,
                            const struct agent_facts *f, uint32_t relation)
{
    struct member_name m;
    const char *member = own_member(a, k, f, relation);
    if (!member || !member_of_key(a, member, &m)) {
        return NULL;
    }
    const Board__RelationSettingsRecord *own =
        (const Board__RelationSettingsRecord *)unit_record(k, a, key_relation_settings(a, &m));
    return unit_move_publish(a, member, f->unit->guid, own, f->journal, relation);
}

static Board__Move *destroy_child(struct arena *a, const struct agent_facts *f,
                                  struct unit_name child)
{
    for (size_t i = 0; i < f->child_count; i++) {
        if (unit_name_equal(f->children[i].name, child)) {
            return unit_move_end(a, "destroy", child, f->children[i].guid);
        }
    }
    return NULL;
}

static Board__Move *numbers(struct arena *a, const struct unit_knowledge *k,
                            const struct agent_facts *f, const char *service)
{
    for (size_t i = 0; i < f->relation_count; i++) {
        const Board__UnitServiceRecord *other = f->relations[i].other;
        if (other && strcmp(other->name, service) == 0) {
            return unit_move_numbers(a, other, unit_knowledge_numbers_due(k, service));
        }
    }
    return NULL;
}

Board__Move *unit_move_of_act(struct arena *a, const struct unit_knowledge *k,
                              const struct agent_facts *f, const struct agent_step *s,
                              struct unit_address address)
{
    struct unit_name name = f->unit ? name_of(f->unit) : (struct unit_name){"", 0};
    const struct agent_relation *r = relation_of(f, s->relation);
    const char *member = NULL;
    switch (s->act) {
    case AGENT_REMOVE:
        return unit_move_end(a, "remove", name, f->guid);
    case AGENT_DIE:
        return unit_move_end(a, "die", name, f->guid);
    case AGENT_DESTROY:
        return unit_move_end(a, "destroy", name, f->guid);
    case AGENT_DESTROY_CHILD:
        return destroy_child(a, f, s->child);
    case AGENT_PUBLISH:
        return publish(a, k, f, s->relation);
    case AGENT_LEAVE:
        member = own_member(a, k, f, s->relation);
        return member ? unit_move_leave(a, member, f->guid) : NULL;
    case AGENT_NUMBERS:
        return numbers(a, k, f, s->service);
    case AGENT_ENTER:
        return r ? unit_move_enter(a, f->unit, r->record, address, s->brings_child, s->child.number)
                 : NULL;
    default:
        return NULL;
    }
}

Board__Move *unit_move_of_status(struct arena *a, const struct agent_facts *f,
                                 const struct agent_step *s)
{
    if (!s->status) {
        return NULL;
    }
    return says(a, s->fails ? "fail" : "report", name_of(f->unit), f->guid, s->status,
                f->status_revision);
}
