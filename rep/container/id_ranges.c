#include "rep/container/id_ranges.h"

#include "common/contract/driver.h"

#include <assert.h>

static uint32_t ranges_of(uint32_t ids)
{
    uint32_t count = ids / CONTAINER_IDS;
    return count < ID_RANGES_MAX ? count : ID_RANGES_MAX;
}

void id_ranges_init(struct id_ranges *r, uint32_t first, uint32_t ids)
{
    assert(first > 0 || ids == 0);
    *r = (struct id_ranges){.first = first, .count = ranges_of(ids)};
}

uint32_t id_ranges_last(uint32_t first, uint32_t ids)
{
    uint32_t count = ranges_of(ids);
    return count > 0 ? first + (count - 1) * CONTAINER_IDS : 0;
}

uint32_t id_ranges_take(struct id_ranges *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t at = (r->next + i) % r->count;
        if (r->holders[at] == 0) {
            r->holders[at] = 1;
            r->next = at + 1;
            return r->first + at * CONTAINER_IDS;
        }
    }
    return 0;
}

/* Of each range of ours that has an id of this one. */
static void count(struct id_ranges *r, uint32_t first, int by)
{
    for (uint32_t i = 0; first > 0 && i < r->count; i++) {
        int64_t apart = (int64_t)first - (int64_t)(r->first + i * CONTAINER_IDS);
        if (apart > -CONTAINER_IDS && apart < CONTAINER_IDS) {
            assert(by > 0 || r->holders[i] > 0);
            r->holders[i] = (uint16_t)(r->holders[i] + by);
        }
    }
}

void id_ranges_adopt(struct id_ranges *r, uint32_t first)
{
    count(r, first, 1);
}

void id_ranges_give(struct id_ranges *r, uint32_t first)
{
    count(r, first, -1);
}
