#include "auctioneer/zone.h"

#include <assert.h>

void zone_fewest_first(struct zone_plan *p, const uint32_t *instances, size_t zone_count,
                       size_t skip)
{
    size_t first = p->groups ? p->ends[p->groups - 1] : 0, end = first;
    for (size_t z = 0; z < zone_count; z++) {
        if (z == skip) {
            continue;
        }
        /* Insertion keeps zones with equal numbers in their order. */
        size_t at = end++;
        for (; at > first && instances[p->zones[at - 1]] > instances[z]; at--) {
            p->zones[at] = p->zones[at - 1];
        }
        p->zones[at] = (uint32_t)z;
    }
    for (size_t i = first; i < end; i++) {
        if (i + 1 == end || instances[p->zones[i]] != instances[p->zones[i + 1]]) {
            p->ends[p->groups++] = i + 1;
        }
    }
    assert(end <= zone_count && (end == first || p->ends[p->groups - 1] == end));
}

void zone_all(struct zone_plan *p, size_t zone_count)
{
    for (size_t z = 0; z < zone_count; z++) {
        p->zones[z] = (uint32_t)z;
    }
    p->groups = zone_count ? 1 : 0;
    p->ends[0] = zone_count;
}

size_t zone_preferred(const char *process_guid, int32_t index, size_t zone_count)
{
    assert(zone_count > 0);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = process_guid; *c; c++) {
        hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
    }
    hash ^= hash >> 32; /* the lowest bits alone are poor */
    uint64_t f = hash % zone_count + 1;
    return (size_t)((f + (uint64_t)(uint32_t)index) % zone_count);
}
