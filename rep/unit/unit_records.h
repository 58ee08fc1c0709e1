/* The records that a struct unit_knowledge holds, and how its files read them. */
#pragma once

#include "rep/unit/unit_knowledge.h"

struct unit_record_held {
    struct blob *record;
    int64_t create_revision, mod_revision;
};

/* The members of one end of a relation in a scope, by the number of their unit; all of one service.
 * Its key: "<relation>/<principal>/<role>/<service>/", as in the members' keys. */
struct unit_side {
    struct sight_member *members;
    size_t count, capacity;
};

/* Numbers of a service that nobody has yet; the last one goes first. */
struct unit_numbers {
    uint32_t *list;
    size_t count, capacity;
};

/* The record, decoded into the arena; NULL = none is held. */
const ProtobufCMessage *unit_record(const struct unit_knowledge *k, struct arena *a,
                                    const char *key);
/* Its modification revision; 0 = none is held. */
uint64_t unit_record_revision(const struct unit_knowledge *k, const char *key);

/* The key is below the prefix. */
bool unit_key_begins(const char *key, const char *prefix);
/* Up to and with the n-th slash of a key, in the arena. */
const char *unit_key_part(struct arena *a, const char *key, unsigned n);

/* What unit_knowledge_enter_refused() keeps its causes by, and reservations of numbers. */
const char *unit_refused_key(struct arena *a, struct unit_name name, uint32_t relation);
const char *unit_reserved_key(struct arena *a, struct unit_name name, const char *service);

/* The number that this principal has of the service: kept for it, or out of what nobody has. False:
 * there is none. */
bool unit_number_of(struct unit_knowledge *k, struct unit_name principal, const char *service,
                    uint32_t *ret);

/* ---- unit_touched.c */

/* The unit of this key has to look again. */
void unit_touch(struct unit_knowledge *k, const char *unit_key);
/* All have that the record at this key is about, as it is held, or the topic. */
void unit_touch_by(struct unit_knowledge *k, struct arena *a, const char *key);
/* Adds the unit of that key, in the arena. */
void unit_known_add(const struct unit_knowledge *k, struct arena *a, const char *key,
                    struct unit_known *list, size_t *count);

/* ---- unit_foreign.c */

/* Whether a later version has written the record at this key; the units that it is about look
 * again when that changes. */
void unit_foreign_see(struct unit_knowledge *k, struct arena *a, const char *key, bool foreign);

/* ---- unit_topics.c */

/* Whether what the record at this key leads to is wanted: of a relation, and of a service's list of
 * them, only while the topic is wanted by which it is followed. */
bool unit_leads_on(const struct unit_knowledge *k, struct arena *a, const char *key);
/* Adds or takes away a want of each topic that the record leads to (NULL: to none). */
void unit_want_those_of(struct unit_knowledge *k, struct arena *a, const char *key,
                        const ProtobufCMessage *m, bool add);
