/* What is to be followed: the topics that the records that are held lead to. */
#include "common/base/memory.h"
#include "common/model/record.h"
#include "rep/unit/unit_knowledge.h"
#include "rep/unit/unit_records.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A topic that is wanted. */
struct unit_topic {
    unsigned wants; /* by records that are held */
    bool reported;  /* its snapshot was told */
};

enum { WANTS_MAX = 5 };

/* The topics that a record leads to. */
static size_t wants_of(const struct unit_knowledge *k, struct arena *a, const char *key,
                       const ProtobufCMessage *m, const char *ret[WANTS_MAX])
{
    size_t count = 0;
    struct member_name member;
    uint32_t number;
    switch (key_type(key)) {
    case RECORD_UNIT:
        if (strcmp(((const Board__UnitRecord *)m)->cell_id, k->cell_id) == 0) {
            struct unit_name name = {key_component(a, key, 1),
                                     ((const Board__UnitRecord *)m)->number};
            const char *service = name.service;
            ret[count++] = key_unit_status(a, name);
            ret[count++] = key_unit_service(a, service);
            ret[count++] = key_unit_config(a, service);
            ret[count++] = key_range_of(a, RECORD_CHARM, service);
            ret[count++] = key_range_of(a, RECORD_UNIT_SERVICE_RELATION, service);
        }
        break;
    case RECORD_UNIT_SCOPE:
        if (member_of_key(a, ((const Board__UnitScopeRecord *)m)->member, &member)) {
            ret[count++] = unit_key_part(a, key_relation_member(a, &member), 3);
            ret[count++] = unit_key_part(a, key_relation_settings(a, &member), 3);
            ret[count++] = key_relation(a, member.relation);
        }
        break;
    case RECORD_UNIT_SERVICE_RELATION:
        if (number_of_key(a, key, &number)) {
            ret[count++] = key_relation(a, number);
        }
        break;
    case RECORD_RELATION: {
        const Board__RelationRecord *r = (const Board__RelationRecord *)m;
        bool container = r->scope == BOARD__ENDPOINT__SCOPE__CONTAINER;
        for (size_t i = 0; container && i < r->n_ends && i < 2; i++) {
            ret[count++] = key_unit_service(a, r->ends[i]->service);
        }
        break;
    }
    default:
        break;
    }
    assert(count <= WANTS_MAX);
    return count;
}

bool unit_leads_on(const struct unit_knowledge *k, struct arena *a, const char *key)
{
    switch (key_type(key)) {
    case RECORD_UNIT:
    case RECORD_UNIT_SCOPE:
        return true;
    case RECORD_UNIT_SERVICE_RELATION:
        return map_get(&k->topics, unit_key_part(a, key, 2));
    case RECORD_RELATION:
        return map_get(&k->topics, key);
    default:
        return false;
    }
}

/* Adds or takes away a want of each topic that these lead to, and so on: units lead to the
 * relations of their service, these to other services. */
static void want(struct unit_knowledge *k, struct arena *a, const char *topic, bool add);

void unit_want_those_of(struct unit_knowledge *k, struct arena *a, const char *key,
                        const ProtobufCMessage *m, bool add)
{
    const char *list[WANTS_MAX];
    size_t count = m ? wants_of(k, a, key, m, list) : 0;
    for (size_t i = 0; i < count; i++) {
        want(k, a, list[i], add);
    }
}

/* The topic is wanted now, or is not any more: so is what its records lead to. */
static void want_below(struct unit_knowledge *k, struct arena *a, const char *topic, bool add)
{
    enum record_type type = key_type(topic);
    if (type == RECORD_RELATION) {
        unit_want_those_of(k, a, topic, unit_record(k, a, topic), add);
    } else if (type == RECORD_UNIT_SERVICE_RELATION) {
        for (struct map_node *n = map_from(&k->records, topic);
             n && unit_key_begins(map_key(n), topic); n = map_next(n)) {
            unit_want_those_of(k, a, map_key(n), unit_record(k, a, map_key(n)), add);
        }
    }
}

static void want(struct unit_knowledge *k, struct arena *a, const char *topic, bool add)
{
    struct unit_topic *t = map_get(&k->topics, topic);
    if (add && !t) {
        t = mem_zeroed(sizeof(*t));
        map_put(&k->topics, topic, t);
        map_put(&k->waiting, topic, k);
        k->topics_changed = true;
        want_below(k, a, topic, true);
    }
    assert(t && (add || t->wants > 0));
    t->wants = add ? t->wants + 1 : t->wants - 1;
    if (t->wants == 0) {
        free(map_remove(&k->topics, topic));
        map_remove(&k->waiting, topic);
        k->topics_changed = true;
        want_below(k, a, topic, false);
    }
}

/* Those that have their snapshot first, so that they stay. */
size_t unit_knowledge_topics(struct unit_knowledge *k, struct arena *a,
                             const char *const **ret_list, bool *ret_changed, size_t *ret_left_out)
{
    const char **list = ARENA_ARRAY(a, FEED_CLIENT_TOPICS_MAX, const char *);
    size_t count = 0;
    for (int reported = 1; reported >= 0; reported--) {
        MAP_EACH(&k->topics, n)
        {
            const struct unit_topic *t = map_value(n);
            if (t->reported == (bool)reported && count < FEED_CLIENT_TOPICS_MAX) {
                list[count++] = map_key(n);
            }
        }
    }
    *ret_list = list;
    *ret_changed = k->topics_changed;
    *ret_left_out = k->topics.count - count;
    k->topics_changed = false;
    return count;
}

void unit_knowledge_reported(struct unit_knowledge *k, const char *topic)
{
    struct unit_topic *t = map_get(&k->topics, topic);
    if (t && !t->reported) {
        SCOPED_ARENA(a);
        t->reported = true;
        unit_touch_by(k, &a, topic);
        map_remove(&k->waiting, topic);
    }
}

/* The feed client follows as many as it can, and some of them for nobody. */
static void take_others(struct unit_knowledge *k, struct feed_client *f, struct effects *out)
{
    const char *const *list;
    bool changed;
    size_t left_out, count = unit_knowledge_topics(k, out->arena, &list, &changed, &left_out);
    feed_client_retake_topics(f, list, count, out);
}

size_t unit_knowledge_follow(struct unit_knowledge *k, struct feed_client *f, struct effects *out)
{
    size_t left_out = 0;
    MAP_EACH(&k->waiting, n)
    {
        if (feed_client_holds_topic(f, map_key(n))) {
            unit_knowledge_reported(k, arena_strdup(out->arena, map_key(n)));
        } else {
            left_out += !feed_client_add_topic(f, map_key(n), out);
        }
    }
    assert(left_out <= k->topics.count);
    size_t followed = k->topics.count - left_out;
    if (left_out && followed < FEED_CLIENT_TOPICS_MAX) {
        take_others(k, f, out);
        size_t all = k->topics.count;
        left_out = all > FEED_CLIENT_TOPICS_MAX ? all - FEED_CLIENT_TOPICS_MAX : 0;
    }
    return left_out;
}

/* ---- What is known -----------------------------------------------------------------------------
 */

/* What the record leads to has been told. */
static bool is_told(const struct unit_knowledge *k, struct arena *a, const char *key)
{
    const char *list[WANTS_MAX];
    const ProtobufCMessage *m = unit_record(k, a, key);
    size_t count = m ? wants_of(k, a, key, m, list) : 0;
    bool told = true;
    for (size_t i = 0; i < count; i++) {
        const struct unit_topic *t = map_get(&k->topics, list[i]);
        told = told && t && t->reported;
    }
    return told;
}

static bool all_told(const struct unit_knowledge *k, struct arena *a, const char *prefix)
{
    bool told = true;
    uint32_t number;
    for (struct map_node *n = map_from(&k->records, prefix);
         n && told && unit_key_begins(map_key(n), prefix); n = map_next(n)) {
        told = is_told(k, a, map_key(n)) &&
               (!number_of_key(a, map_key(n), &number) || is_told(k, a, key_relation(a, number)));
    }
    return told;
}

/* That a unit is not there the cell's tag says. What is held of its service then may be of topics
 * that nobody follows any more, and would never be told. */
bool unit_knowledge_known(const struct unit_knowledge *k, struct unit_name name)
{
    SCOPED_ARENA(a);
    if (unit_foreign(k, &a, name)) {
        return false;
    }
    if (!unit_record(k, &a, key_unit(&a, name))) {
        return *k->board_generation;
    }
    return *k->board_generation && is_told(k, &a, key_unit(&a, name)) &&
           all_told(k, &a, key_unit_scopes(&a, name)) &&
           all_told(k, &a, key_range_of(&a, RECORD_UNIT_SERVICE_RELATION, name.service));
}
