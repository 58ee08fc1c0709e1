/* Which units have to look again when a record changes. */
#include "common/model/record.h"
#include "rep/unit/unit_knowledge.h"
#include "rep/unit/unit_records.h"

#include <assert.h>
#include <string.h>

void unit_touch(struct unit_knowledge *k, const char *unit_key)
{
    map_put(&k->touched, unit_key, k);
}

/* What stands in the map below the prefix, which is followed by the key of a unit. */
static void touch_listed(struct unit_knowledge *k, const struct map *list, const char *prefix)
{
    for (struct map_node *n = map_from(list, prefix); n && unit_key_begins(map_key(n), prefix);
         n = map_next(n)) {
        unit_touch(k, map_key(n) + strlen(prefix));
    }
}

static void touch_units_of(struct unit_knowledge *k, struct arena *a, const char *service)
{
    const char *prefix = key_range_of(a, RECORD_UNIT, service);
    for (struct map_node *n = map_from(&k->records, prefix);
         n && unit_key_begins(map_key(n), prefix); n = map_next(n)) {
        unit_touch(k, map_key(n));
    }
}

static void touch_ends(struct unit_knowledge *k, struct arena *a, const char *relation_key)
{
    const Board__RelationRecord *r = (const Board__RelationRecord *)unit_record(k, a, relation_key);
    for (size_t i = 0; r && i < r->n_ends; i++) {
        touch_units_of(k, a, r->ends[i]->service);
    }
}

/* Units here, and those at the other ends of its container relations. */
static void touch_service(struct unit_knowledge *k, struct arena *a, const char *service)
{
    touch_units_of(k, a, service);
    for (struct map_node *n = map_from(&k->records, "relation/");
         n && unit_key_begins(map_key(n), "relation/"); n = map_next(n)) {
        const Board__RelationRecord *r =
            (const Board__RelationRecord *)unit_record(k, a, map_key(n));
        bool of_it = false;
        for (size_t i = 0; r && i < r->n_ends; i++) {
            of_it = of_it || strcmp(r->ends[i]->service, service) == 0;
        }
        if (of_it && r->scope == BOARD__ENDPOINT__SCOPE__CONTAINER) {
            touch_ends(k, a, map_key(n));
        }
    }
}

/* A unit, its subordinates, and its principal. */
static void touch_unit(struct unit_knowledge *k, struct arena *a, const char *key)
{
    struct unit_name principal;
    const Board__UnitRecord *u = (const Board__UnitRecord *)unit_record(k, a, key);
    unit_touch(k, key);
    touch_listed(k, &k->children, arena_printf(a, "%s ", key));
    if (u && *u->principal && unit_name_parse(a, u->principal, &principal) &&
        map_get(&k->records, key_unit(a, principal))) {
        unit_touch(k, key_unit(a, principal));
    }
}

/* Of a record, as it is held, and of a topic. */
void unit_touch_by(struct unit_knowledge *k, struct arena *a, const char *key)
{
    enum record_type type = key_type(key);
    struct unit_name name;
    if (type == RECORD_UNIT) {
        touch_unit(k, a, key);
    } else if (type == RECORD_UNIT_SERVICE) {
        touch_service(k, a, key_component(a, key, 1));
    } else if (type == RECORD_UNIT_CONFIG || type == RECORD_CHARM ||
               type == RECORD_UNIT_SERVICE_RELATION) {
        touch_units_of(k, a, key_component(a, key, 1));
    } else if (type == RECORD_RELATION) {
        touch_ends(k, a, key);
    } else if (type == RECORD_RELATION_MEMBER || type == RECORD_RELATION_SETTINGS) {
        touch_listed(k, &k->here, strchr(unit_key_part(a, key, 3), '/') + 1);
    } else if (unit_of_key(a, key, &name)) {
        unit_touch(k, key_unit(a, name));
    }
}

void unit_known_add(const struct unit_knowledge *k, struct arena *a, const char *key,
                    struct unit_known *list, size_t *count)
{
    const Board__UnitRecord *u = (const Board__UnitRecord *)unit_record(k, a, key);
    struct unit_known *one = &list[(*count)++];
    bool named = unit_of_key(a, key, &one->name);
    assert(named); /* no other is held, or touched */
    (void)named;
    one->guid = u ? u->guid : "";
}

size_t unit_knowledge_touched(struct unit_knowledge *k, struct arena *a,
                              struct unit_known **ret_list)
{
    size_t count = 0;
    *ret_list = ARENA_ARRAY(a, k->touched.count, struct unit_known);
    MAP_EACH(&k->touched, n)
    {
        unit_known_add(k, a, map_key(n), *ret_list, &count);
    }
    map_done(&k->touched, NULL);
    return count;
}
