/* What the cell can hold: memory, disk, container slots and host ports, set aside for containers
 * and given back. Reserved never exceeds capacity (S7) but for adopted containers, which run
 * whatever the settings have become; no host port is allotted twice. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct resources {
    int64_t memory_mb;
    int64_t disk_mb;
    int64_t containers;
};

struct capacity {
    struct resources total;
    struct resources reserved;
    uint16_t port_low, port_high; /* both included; 0, 0 = no ports */
    uint16_t port_next;           /* where the search begins: a freed port rests long */
    uint8_t port_taken[65536 / 8];
    uint8_t port_held[65536 / 8]; /* by somebody else, when it was last tried: passed over */
    uint8_t port_reported[65536 / 8]; /* and that has been reported */
};

/* All of it free; ports from `port_low` to `port_high`, both included. */
void capacity_init(struct capacity *c, struct resources total, uint16_t port_low,
                   uint16_t port_high);

/* Sets aside memory, disk and one slot; false, and nothing done, when one of them does not fit or
 * is negative. */
bool capacity_take(struct capacity *c, int32_t memory_mb, int32_t disk_mb);

/* The same without asking: for a container that is there already. */
void capacity_adopt(struct capacity *c, int32_t memory_mb, int32_t disk_mb);

/* Gives back memory (MB), disk (MB) and one slot. */
void capacity_give(struct capacity *c, int32_t memory_mb, int32_t disk_mb);

/* Gives back the memory alone: of a container whose process is gone. Its disk and its slot stay set
 * aside, so that what is left of containers is bounded as well. capacity_give() of the rest
 * follows. */
void capacity_give_memory(struct capacity *c, int32_t memory_mb);

/* What is left; never below zero. */
struct resources capacity_left(const struct capacity *c);

/* A free host port of the range that is not passed over, now taken; 0 when none is left. */
uint16_t capacity_port_take(struct capacity *c);

/* Marks a port that an adopted container has; one out of the range is of no concern. */
void capacity_port_adopt(struct capacity *c, uint32_t port);

void capacity_port_give(struct capacity *c, uint32_t port); /* likewise */

/* Somebody else holds the port: it is passed over until capacity_ports_retry(). True when that is
 * new: reported again only after it was found free. */
bool capacity_port_hold(struct capacity *c, uint32_t port);

/* It was tried, and is nobody else's. */
void capacity_port_free(struct capacity *c, uint32_t port);

/* Somebody else holds a port of the range, as far as is known. */
bool capacity_ports_held(const struct capacity *c);

/* No port is passed over any more. True when one was. */
bool capacity_ports_retry(struct capacity *c);

/* The ports that would be taken next, at most `max` into `ret`; gives how many. */
size_t capacity_ports_next(const struct capacity *c, uint32_t *ret, size_t max);
