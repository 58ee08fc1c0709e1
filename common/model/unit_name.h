/* Names of units and relations (docs/units.md, Words): what people write, what stands in keys, and
 * the way from one to the other. Pure; results live in the given arena. */
#pragma once

#include "common/base/arena.h"
#include "common/model/keys.h"

#include "units.pb-c.h"

#include <stdbool.h>

enum { UNIT_SERVICE_NAME_MAX = 63 };

/* For people: what a name of a unit service must be. */
#define UNIT_SERVICE_NAME_RULE                                                                     \
    "must be parts of letters a to z and digits, joined by -: the first begins with a letter, "    \
    "each has one; at most 63 characters"
bool unit_service_name_is_valid(const char *name);

/* "web/3" to web and 3; false if it is no such name: the number has no zero before it. */
bool unit_name_parse(struct arena *a, const char *text, struct unit_name *ret);
const char *unit_name_text(struct arena *a, struct unit_name u);
bool unit_name_equal(struct unit_name a, struct unit_name b);

/* The scope of a principal in a container relation: "web.3". */
const char *unit_scope_text(struct arena *a, struct unit_name principal);

/* The unit of a key of a unit, its status, a child, a scope, or a unit of a machine; false if it is
 * no such key as keys.h makes. */
bool unit_of_key(struct arena *a, const char *key, struct unit_name *ret);

/* The member of a key of a membership or of settings; false likewise. */
bool member_of_key(struct arena *a, const char *key, struct member_name *ret);

/* The number of a key of a relation or machine, of a scope, or of a relation of a service; false
 * likewise. */
bool number_of_key(struct arena *a, const char *key, uint32_t *ret);

/* The same for a relation, whichever end is said first: "web:db db:kv", requirer before provider.
 * One or two ends. */
const char *relation_canonical(struct arena *a, Board__RelationEnd *const *ends, size_t count);
