/* Records that a later version of the software has written: what stands there nobody here can say,
 * so that nothing is decided about the units that it is about (design.md 2). */
#include "rep/unit/unit_records.h"

#include <assert.h>
#include <string.h>

void unit_foreign_see(struct unit_knowledge *k, struct arena *a, const char *key, bool foreign)
{
    bool was = map_get(&k->foreign, key);
    if (foreign) {
        map_put(&k->foreign, key, k);
    } else {
        map_remove(&k->foreign, key);
    }
    if (foreign != was) {
        unit_touch_by(k, a, key);
    }
}

/* The first below the prefix, or NULL. */
static const char *foreign_below(const struct unit_knowledge *k, const char *prefix)
{
    struct map_node *n = map_from(&k->foreign, prefix);
    return n && unit_key_begins(map_key(n), prefix) ? map_key(n) : NULL;
}

static const char *foreign_at(const struct unit_knowledge *k, const char *key)
{
    return map_get(&k->foreign, key) ? key : NULL;
}

/* Of a relation and those that are in it. */
static const char *foreign_of_relation(const struct unit_knowledge *k, struct arena *a,
                                       uint32_t number)
{
    const char *key = foreign_at(k, key_relation(a, number));
    key = key ? key : foreign_below(k, key_relation_members(a, number));
    return key ? key
               : foreign_below(k, key_range_of(a, RECORD_RELATION_SETTINGS,
                                               arena_printf(a, "%010u", number)));
}

/* Of each relation that these records name: of a service, or scopes of a unit. */
static const char *foreign_of_relations(const struct unit_knowledge *k, struct arena *a,
                                        const char *prefix)
{
    const char *key = foreign_below(k, prefix);
    uint32_t number;
    for (struct map_node *n = map_from(&k->records, prefix);
         n && !key && unit_key_begins(map_key(n), prefix); n = map_next(n)) {
        key = number_of_key(a, map_key(n), &number) ? foreign_of_relation(k, a, number) : NULL;
    }
    return key;
}

static const char *foreign_of_service(const struct unit_knowledge *k, struct arena *a,
                                      const char *service)
{
    const char *key = foreign_at(k, key_unit_service(a, service));
    key = key ? key : foreign_at(k, key_unit_config(a, service));
    key = key ? key : foreign_below(k, key_range_of(a, RECORD_CHARM, service));
    return key ? key
               : foreign_of_relations(k, a, key_range_of(a, RECORD_UNIT_SERVICE_RELATION, service));
}

const char *unit_foreign(const struct unit_knowledge *k, struct arena *a, struct unit_name name)
{
    struct unit_name principal;
    assert(name.service);
    if (k->foreign.count == 0) {
        return NULL;
    }
    const Board__UnitRecord *u = (const Board__UnitRecord *)unit_record(k, a, key_unit(a, name));
    const char *key = foreign_at(k, key_unit(a, name));
    key = key ? key : foreign_at(k, key_unit_status(a, name));
    key = key ? key : foreign_below(k, key_unit_children(a, name));
    key = key ? key : foreign_of_relations(k, a, key_unit_scopes(a, name));
    key = key ? key : foreign_of_service(k, a, name.service);
    bool subordinate = u && *u->principal && unit_name_parse(a, u->principal, &principal);
    return key || !subordinate ? key : foreign_at(k, key_unit(a, principal));
}
