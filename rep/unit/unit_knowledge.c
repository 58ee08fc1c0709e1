#include "rep/unit/unit_knowledge.h"

#include "common/base/memory.h"
#include "common/model/record.h"
#include "rep/unit/unit_records.h"
#include "rep/unit/unit_shape.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void held_free(void *value)
{
    struct unit_record_held *h = value;
    if (h) {
        blob_unref(h->record);
        free(h);
    }
}

static void side_free(void *value)
{
    free(((struct unit_side *)value)->members);
    free(value);
}

static void outline_free(void *value)
{
    struct unit_outline *o = value;
    if (o) {
        free(o->shape);
        free(o);
    }
}

static void numbers_free(void *value)
{
    free(((struct unit_numbers *)value)->list);
    free(value);
}

void unit_knowledge_init(struct unit_knowledge *k, const char *cell_id)
{
    assert(*cell_id);
    *k = (struct unit_knowledge){.cell_id = cell_id};
}

/* All but what is remembered of moves. */
static void drop_records(struct unit_knowledge *k)
{
    map_done(&k->records, held_free);
    map_done(&k->foreign, NULL);
    map_done(&k->topics, free);
    map_done(&k->waiting, NULL);
    map_done(&k->guids, free);
    map_done(&k->outlines, outline_free);
    map_done(&k->sides, side_free);
    map_done(&k->here, NULL);
    map_done(&k->children, NULL);
}

static void drop_moves(struct unit_knowledge *k)
{
    map_done(&k->numbers, numbers_free);
    map_done(&k->reserved, free);
    map_done(&k->refused, free);
    k->numbers_kept = 0;
}

void unit_knowledge_done(struct unit_knowledge *k)
{
    drop_records(k);
    drop_moves(k);
    map_done(&k->touched, NULL);
}

/* ---- Members --------------------------------------------------------------------------------- */

/* Where the member of that unit is, or belongs. */
static size_t side_at(const struct unit_side *s, uint32_t unit)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->members[middle].unit < unit) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void side_put(struct unit_side *s, const struct sight_member *m)
{
    size_t at = side_at(s, m->unit);
    if (at == s->count || s->members[at].unit != m->unit) {
        if (s->count == s->capacity) {
            s->capacity = s->capacity ? 2 * s->capacity : 4;
            s->members = mem_resized(s->members, s->capacity, sizeof(*s->members));
        }
        memmove(&s->members[at + 1], &s->members[at], (s->count - at) * sizeof(*s->members));
        s->count++;
    }
    s->members[at] = *m;
    assert(at == 0 || s->members[at - 1].unit < m->unit);
    assert(at + 1 == s->count || m->unit < s->members[at + 1].unit);
}

static void side_remove(struct unit_side *s, uint32_t unit)
{
    size_t at = side_at(s, unit);
    if (at < s->count && s->members[at].unit == unit) {
        s->count--;
        memmove(&s->members[at], &s->members[at + 1], (s->count - at) * sizeof(*s->members));
    }
}

/* 1. No membership: what it told stands, and nobody is there.
 * 2. The version is that of its settings, which were written when it entered. */
static void see_member(struct unit_knowledge *k, struct arena *a, const char *key)
{
    struct member_name name;
    if (!member_of_key(a, key, &name)) {
        return;
    }
    const char *member = key_relation_member(a, &name);
    const char *settings = key_relation_settings(a, &name);
    char *side = arena_strdup(a, strchr(member, '/') + 1);
    side[key_parent_size(side)] = '\0';
    struct unit_side *s = map_get(&k->sides, side);
    const struct unit_record_held *h = map_get(&k->records, member);
    if (!h) { /* 1 */
        if (s) {
            side_remove(s, name.unit.number);
        }
        if (s && s->count == 0) {
            side_free(map_remove(&k->sides, side));
        }
        return;
    }
    if (!s) {
        s = mem_zeroed(sizeof(*s));
        map_put(&k->sides, side, s);
    }
    const Board__RelationMemberRecord *m =
        (const Board__RelationMemberRecord *)unit_record(k, a, member);
    uint64_t version = unit_record_revision(k, settings);
    struct sight_member seen = {.unit = name.unit.number,
                                .version = version ? version : (uint64_t)h->create_revision, /* 2 */
                                .departing = m && strcmp(m->state, "departing") == 0};
    side_put(s, &seen);
}

/* ---- What records are found by --------------------------------------------------------------- */

static void forget_below(struct map *m, const char *prefix)
{
    struct map_node *n;
    while ((n = map_from(m, prefix)) && unit_key_begins(map_key(n), prefix)) {
        SCOPED_ARENA(a);
        free(map_remove(m, arena_strdup(&a, map_key(n))));
    }
}

static const char *child_key(struct arena *a, const Board__UnitRecord *u, const char *key)
{
    struct unit_name principal;
    return *u->principal && unit_name_parse(a, u->principal, &principal)
               ? arena_printf(a, "%s %s", key_unit(a, principal), key)
               : NULL;
}

/* "<relation>/<principal>/" and the key of the unit. */
static const char *here_key(struct arena *a, const char *key, const Board__UnitScopeRecord *s)
{
    struct unit_name unit;
    struct member_name member;
    return unit_of_key(a, key, &unit) && member_of_key(a, s->member, &member)
               ? arena_printf(a, "%s%s", strchr(unit_key_part(a, s->member, 3), '/') + 1,
                              key_unit(a, unit))
               : NULL;
}

static void outline(struct unit_knowledge *k, struct arena *a, const char *key,
                    const Board__Charm *charm)
{
    const Models__DesiredLRP *run = charm ? charm->run : NULL;
    struct unit_outline *o = mem_zeroed(sizeof(*o));
    o->shape = run ? mem_text(unit_shape(a, run)) : NULL;
    o->has_command = run && unit_has_command(run);
    outline_free(map_put(&k->outlines, key, o));
}

static void find_by(struct unit_knowledge *k, struct arena *a, const char *key,
                    const ProtobufCMessage *m)
{
    struct unit_name name;
    uint32_t number;
    if (key_type(key) == RECORD_UNIT) {
        const Board__UnitRecord *u = (const Board__UnitRecord *)m;
        const char *child = child_key(a, u, key);
        free(map_put(&k->guids, u->guid, mem_text(key)));
        if (child) {
            map_put(&k->children, child, k);
        }
    } else if (key_type(key) == RECORD_UNIT_SCOPE) {
        const char *here = here_key(a, key, (const Board__UnitScopeRecord *)m);
        if (here) {
            map_put(&k->here, here, k);
        }
        if (unit_of_key(a, key, &name) && number_of_key(a, key, &number)) {
            free(map_remove(&k->refused, unit_refused_key(a, name, number)));
        }
    } else if (key_type(key) == RECORD_CHARM) {
        outline(k, a, key, ((const Board__CharmRecord *)m)->charm);
    } else if (key_type(key) == RECORD_UNIT_CHILD && unit_of_key(a, key, &name)) {
        free(map_remove(&k->reserved, unit_reserved_key(a, name, key_component(a, key, 3))));
    }
}

/* `gone`: another one of this key does not follow. */
static void find_no_more(struct unit_knowledge *k, struct arena *a, const char *key,
                         const ProtobufCMessage *m, bool gone)
{
    if (key_type(key) == RECORD_UNIT) {
        const Board__UnitRecord *u = (const Board__UnitRecord *)m;
        const char *child = child_key(a, u, key), *at = map_get(&k->guids, u->guid);
        if (at && strcmp(at, key) == 0) {
            free(map_remove(&k->guids, u->guid));
        }
        if (child) {
            map_remove(&k->children, child);
        }
        if (gone) {
            forget_below(&k->refused, arena_printf(a, "%s/", key));
            forget_below(&k->reserved, arena_printf(a, "%s/", key));
        }
    } else if (key_type(key) == RECORD_UNIT_SCOPE) {
        const char *here = here_key(a, key, (const Board__UnitScopeRecord *)m);
        if (here) {
            map_remove(&k->here, here);
        }
    } else if (key_type(key) == RECORD_CHARM) {
        outline_free(map_remove(&k->outlines, key));
    }
}

/* ---- What it is told ------------------------------------------------------------------------- */

static bool is_of_units(enum record_type type)
{
    switch (type) {
    case RECORD_MACHINE:
    case RECORD_MACHINE_CELL:
    case RECORD_CHARM:
    case RECORD_UNIT:
    case RECORD_UNIT_CHILD:
    case RECORD_UNIT_CONFIG:
    case RECORD_UNIT_SCOPE:
    case RECORD_UNIT_SERVICE:
    case RECORD_UNIT_SERVICE_RELATION:
    case RECORD_UNIT_STATUS:
    case RECORD_RELATION:
    case RECORD_RELATION_MEMBER:
    case RECORD_RELATION_SETTINGS:
        return true;
    default:
        return false;
    }
}

void unit_knowledge_board_generation(struct unit_knowledge *k, const char *board_generation)
{
    if (strcmp(k->board_generation, board_generation) != 0 &&
        strlen(board_generation) < sizeof(k->board_generation)) {
        strcpy(k->board_generation, board_generation);
        drop_moves(k);
    }
}

static void hold(struct unit_knowledge *k, const char *key, const struct followed *record)
{
    struct unit_record_held *h = NULL;
    assert(!record || record->record);
    if (record) {
        h = mem_zeroed(sizeof(*h));
        h->record = blob_ref(record->record);
        h->create_revision = record->create_revision;
        h->mod_revision = record->mod_revision;
        held_free(map_put(&k->records, key, h));
    } else {
        held_free(map_remove(&k->records, key));
    }
}

/* What the new one leads to is wanted before what the old one led to is not: most of it is the
 * same. */
void unit_knowledge_record(struct unit_knowledge *k, const char *given,
                           const struct followed *record)
{
    SCOPED_ARENA(a);
    const char *key = arena_strdup(&a, given);
    enum record_type type = key_type(key);
    struct unit_name name;
    if (!is_of_units(type) || (type == RECORD_UNIT && !unit_of_key(&a, key, &name))) {
        return;
    }
    const struct followed *now =
        record && record_readable(type, blob_bytes(record->record)) ? record : NULL;
    unit_foreign_see(k, &a, key, record && !now);
    const ProtobufCMessage *old = unit_record(k, &a, key);
    if (old) {
        unit_touch_by(k, &a, key);
        find_no_more(k, &a, key, old, !now);
    }
    bool led = unit_leads_on(k, &a, key);
    hold(k, key, now);
    const ProtobufCMessage *new = unit_record(k, &a, key);
    if (led) {
        unit_want_those_of(k, &a, key, new, true);
        unit_want_those_of(k, &a, key, old, false);
    }
    if (new) {
        find_by(k, &a, key, new);
        unit_touch_by(k, &a, key);
    }
    if (type == RECORD_RELATION_MEMBER || type == RECORD_RELATION_SETTINGS) {
        see_member(k, &a, key);
    }
}

/* Every unit that was here has to look again: at nothing, until it is told anew. */
void unit_knowledge_reset(struct unit_knowledge *k)
{
    for (struct map_node *n = map_from(&k->records, "unit/");
         n && unit_key_begins(map_key(n), "unit/"); n = map_next(n)) {
        unit_touch(k, map_key(n));
    }
    k->topics_changed = k->topics_changed || k->topics.count > 0;
    drop_records(k);
}

/* ---- Units ----------------------------------------------------------------------------------- */

size_t unit_knowledge_units(const struct unit_knowledge *k, struct arena *a,
                            struct unit_known **ret_list)
{
    size_t count = 0, all = 0;
    struct map_node *first = map_from(&k->records, "unit/");
    for (struct map_node *n = first; n && unit_key_begins(map_key(n), "unit/"); n = map_next(n)) {
        all++;
    }
    *ret_list = ARENA_ARRAY(a, all, struct unit_known);
    for (struct map_node *n = first; count < all; n = map_next(n)) {
        unit_known_add(k, a, map_key(n), *ret_list, &count);
    }
    return count;
}

size_t unit_knowledge_children(const struct unit_knowledge *k, struct arena *a,
                               struct unit_name principal, const char ***ret_guids)
{
    const char *prefix = arena_printf(a, "%s ", key_unit(a, principal));
    struct map_node *first = map_from(&k->children, prefix);
    size_t count = 0, all = 0;
    for (struct map_node *n = first; n && unit_key_begins(map_key(n), prefix); n = map_next(n)) {
        all++;
    }
    *ret_guids = ARENA_ARRAY(a, all, const char *);
    for (struct map_node *n = first; count < all; n = map_next(n)) {
        const char *key = map_key(n) + strlen(prefix);
        (*ret_guids)[count++] = ((const Board__UnitRecord *)unit_record(k, a, key))->guid;
    }
    return count;
}

bool unit_knowledge_find(const struct unit_knowledge *k, struct arena *a, const char *guid,
                         struct unit_name *ret)
{
    const char *key = map_get(&k->guids, guid);
    assert(!key || map_get(&k->records, key));
    return key && unit_of_key(a, key, ret);
}
