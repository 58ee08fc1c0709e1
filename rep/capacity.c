#include "rep/capacity.h"

#include <assert.h>

void capacity_init(struct capacity *c, struct resources total, uint16_t port_low,
                   uint16_t port_high)
{
    assert(port_low <= port_high);
    *c = (struct capacity){
        .total = total, .port_low = port_low, .port_high = port_high, .port_next = port_low};
}

bool capacity_take(struct capacity *c, int32_t memory_mb, int32_t disk_mb)
{
    struct resources left = capacity_left(c);
    if (memory_mb < 0 || disk_mb < 0 || memory_mb > left.memory_mb || disk_mb > left.disk_mb ||
        left.containers < 1) {
        return false;
    }
    capacity_adopt(c, memory_mb, disk_mb);
    return true;
}

void capacity_adopt(struct capacity *c, int32_t memory_mb, int32_t disk_mb)
{
    c->reserved.memory_mb += memory_mb;
    c->reserved.disk_mb += disk_mb;
    c->reserved.containers++;
}

void capacity_give(struct capacity *c, int32_t memory_mb, int32_t disk_mb)
{
    c->reserved.memory_mb -= memory_mb;
    c->reserved.disk_mb -= disk_mb;
    c->reserved.containers--;
    assert(c->reserved.memory_mb >= 0 && c->reserved.disk_mb >= 0 && c->reserved.containers >= 0);
}

void capacity_give_memory(struct capacity *c, int32_t memory_mb)
{
    c->reserved.memory_mb -= memory_mb;
    assert(c->reserved.memory_mb >= 0);
}

static int64_t rest(int64_t total, int64_t reserved)
{
    return total > reserved ? total - reserved : 0;
}

struct resources capacity_left(const struct capacity *c)
{
    return (struct resources){
        .memory_mb = rest(c->total.memory_mb, c->reserved.memory_mb),
        .disk_mb = rest(c->total.disk_mb, c->reserved.disk_mb),
        .containers = rest(c->total.containers, c->reserved.containers),
    };
}

static bool port_is_taken(const struct capacity *c, uint32_t port)
{
    return c->port_taken[port / 8] & (1u << (port % 8));
}

static bool port_in_range(const struct capacity *c, uint32_t port)
{
    return port != 0 && port >= c->port_low && port <= c->port_high;
}

uint16_t capacity_port_take(struct capacity *c)
{
    uint32_t count = (uint32_t)c->port_high - c->port_low + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint16_t port = c->port_next;
        c->port_next = port == c->port_high ? c->port_low : (uint16_t)(port + 1);
        if (port_in_range(c, port) && !port_is_taken(c, port)) {
            capacity_port_adopt(c, port);
            return port;
        }
    }
    return 0;
}

void capacity_port_adopt(struct capacity *c, uint32_t port)
{
    if (port_in_range(c, port)) {
        c->port_taken[port / 8] |= (uint8_t)(1u << (port % 8));
    }
}

void capacity_port_give(struct capacity *c, uint32_t port)
{
    if (port_in_range(c, port)) {
        c->port_taken[port / 8] &= (uint8_t) ~(1u << (port % 8));
    }
}
