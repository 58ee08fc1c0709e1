/* In which order the zones are tried for a job: the preferred one (docs/instances.md,
 * Zones), or the fewest first (rep-auctioneer.md 5.3). Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Zones that are tried together: the best cell of all of them wins; the next group is tried when no
 * cell of this one fits. */
struct zone_plan {
    uint32_t *zones; /* room for all zones; in the order of trying */
    size_t *ends;    /* room for all zones; group i is zones[ends[i-1] .. ends[i]) */
    size_t groups;
};

/* The fewest first: zones with the same number of instances form a group, lower numbers first.
 * Appends the zones of which `skip` is not one (pass zone_count to skip none) to the plan. */
void zone_fewest_first(struct zone_plan *p, const uint32_t *instances, size_t zone_count,
                       size_t skip);

/* All together in one group, as tasks are placed. */
void zone_all(struct zone_plan *p, size_t zone_count);

/* The preferred zone of (guid, index) = (f(guid) + index) % zones, with f a fixed hash (FNV-1a)
 * into 1..zones. Gives a position in the list of the auctioneer's zones. */
size_t zone_preferred(const char *process_guid, int32_t index, size_t zone_count);

/* An index up to this one may go to another zone when there is no room in its own. */
enum { ZONE_LAST_FREE_INDEX = 1 };
