#include "rep/container/capacity.h"

#include <assert.h>
#include <string.h>

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
    assert(c->reserved.memory_mb <= c->total.memory_mb && c->reserved.disk_mb <= c->total.disk_mb);
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

static bool bit(const uint8_t *bits, uint32_t port)
{
    assert(port <= UINT16_MAX);
    return bits[port / 8] & (1u << (port % 8));
}

static void bit_set(uint8_t *bits, uint32_t port, bool on)
{
    assert(port <= UINT16_MAX);
    uint8_t mask = (uint8_t)(1u << (port % 8));
    bits[port / 8] = on ? bits[port / 8] | mask : bits[port / 8] & (uint8_t)~mask;
}

static bool port_is_for_taking(const struct capacity *c, uint32_t port)
{
    return port != 0 && !bit(c->port_taken, port) && !bit(c->port_held, port);
}

static uint16_t port_after(const struct capacity *c, uint16_t port)
{
    assert(port >= c->port_low && port <= c->port_high);
    return port == c->port_high ? c->port_low : (uint16_t)(port + 1);
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
        c->port_next = port_after(c, port);
        assert(c->port_next >= c->port_low && c->port_next <= c->port_high);
        if (port_is_for_taking(c, port)) {
            capacity_port_adopt(c, port);
            assert(bit(c->port_taken, port));
            return port;
        }
    }
    return 0;
}

void capacity_port_adopt(struct capacity *c, uint32_t port)
{
    if (port_in_range(c, port)) {
        bit_set(c->port_taken, port, true);
    }
}

void capacity_port_give(struct capacity *c, uint32_t port)
{
    if (port_in_range(c, port)) {
        bit_set(c->port_taken, port, false);
    }
}

bool capacity_port_hold(struct capacity *c, uint32_t port)
{
    if (!port_in_range(c, port)) {
        return false;
    }
    bool is_new = !bit(c->port_reported, port);
    bit_set(c->port_held, port, true);
    bit_set(c->port_reported, port, true);
    return is_new;
}

void capacity_port_free(struct capacity *c, uint32_t port)
{
    if (port_in_range(c, port)) {
        bit_set(c->port_held, port, false);
        bit_set(c->port_reported, port, false);
    }
}

bool capacity_ports_held(const struct capacity *c)
{
    uint8_t any = 0;
    for (size_t i = 0; i < sizeof(c->port_held); i++) {
        any |= c->port_held[i];
    }
    return any;
}

bool capacity_ports_retry(struct capacity *c)
{
    bool any = capacity_ports_held(c);
    memset(c->port_held, 0, sizeof(c->port_held));
    return any;
}

size_t capacity_ports_next(const struct capacity *c, uint32_t *ret, size_t max)
{
    uint32_t range = (uint32_t)c->port_high - c->port_low + 1;
    uint16_t port = c->port_next;
    size_t count = 0;
    for (uint32_t i = 0; i < range && count < max; i++, port = port_after(c, port)) {
        if (port_is_for_taking(c, port)) {
            ret[count++] = port;
        }
    }
    assert(count <= max);
    return count;
}
