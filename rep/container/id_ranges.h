/* Ranges of user and group ids of the cell, CONTAINER_IDS each (common/contract/driver.h), one for
 * each container with a user namespace: what one of them holds is another's in no way. A range is
 * taken with the container and free again when nothing of that is left. */
#pragma once

#include <stdint.h>

enum { ID_RANGES_MAX = 4096 };

struct id_ranges {
    uint32_t first; /* id of the first range */
    uint32_t count; /* of ranges; 0 = there are none to give */
    uint32_t next;  /* where the search begins: a range that was given back rests long */
    uint16_t holders[ID_RANGES_MAX]; /* containers with an id of it */
};

/* All of them free: as many whole ranges as `ids` ids from `first` on are, at most ID_RANGES_MAX.
 * `first` is not 0 unless `ids` is. */
void id_ranges_init(struct id_ranges *r, uint32_t first, uint32_t ids);

/* The first id of the last range of these, which a container gets when all others are in use: for a
 * trial that must not stand in a container's way. 0 if there is none. */
uint32_t id_ranges_last(uint32_t first, uint32_t ids);

/* The first id of a free range, now taken; 0 when none is left. */
uint32_t id_ranges_take(struct id_ranges *r);

/* An adopted container has the range that begins at this id, which may lie across two of ours, or
 * elsewhere: an earlier rep may have had other settings. 0 = it has none. */
void id_ranges_adopt(struct id_ranges *r, uint32_t first);

/* What was taken or adopted is free again. */
void id_ranges_give(struct id_ranges *r, uint32_t first);
