/* What of a DesiredLRP an instance shows while it runs, and what may change under it: the internal
 * routes, the metric tags, and whether there are routes at all (behaviour.md 14.1, row 10).
 * Pure. */
#pragma once

#include "common/base/arena.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct routing_tag {
    const char *key;
    const char *value;
};

struct routing {
    const char **hostnames; /* of the internal routes */
    size_t hostname_count;
    struct routing_tag *tags;
    size_t tag_count;
    bool routed; /* the definition has routes, of whatever kind */
    bool untold; /* of a record: whether `routed` is not known */
};

/* As desired of this instance: `internal-router` holds [{"hostname": ...}, ...], anything else in
 * it is passed over; dynamic tags are resolved. Borrows from what is given; the rest is in the
 * arena. */
void routing_desired(struct arena *a, const Models__DesiredLRP *desired, int32_t index,
                     const char *instance_guid, struct routing *ret);

/* As the instance's record has it. */
void routing_actual(struct arena *a, const Models__ActualLRP *record, struct routing *ret);

/* The hostnames as a set, the tags as a map; `routed` where both know it. */
bool routing_equal(const struct routing *x, const struct routing *y);

/* All but `routed` in 64 bits: what is equal has the same digest, all else hardly ever. It is a sum
 * over hostnames and tags, so that a tag can be exchanged. A value that is the instance's own guid
 * counts as ROUTING_OWN_GUID, for which a desired tag can be resolved: then it is that of every
 * instance. */
#define ROUTING_OWN_GUID "\x01guid"
uint64_t routing_digest(const struct routing *r, const char *instance_guid);
uint64_t routing_digest_tag(const char *key, const char *value);
