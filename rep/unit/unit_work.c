#include "rep/unit/unit_work.h"

#include "rep/container/room.h"
#include "rep/inside.h"
#include "rep/unit/cell_unit.h"

#include <string.h>

/* A cell without an index of machines asks the board about them: it refuses what does not fit. */
static bool is_acceptable(const struct rep *r, struct arena *a, const Cell__UnitOffer *offer,
                          struct unit_name *ret)
{
    return offer->guid[0] && offer->service_guid[0] && unit_name_parse(a, offer->unit, ret) &&
           unit_service_name_is_valid(ret->service) &&
           room_has_drivers(r, offer->volume_drivers, offer->n_volume_drivers) &&
           room_has_rootfs(r, offer->rootfs);
}

/* The auctioneer repeats what it does not see assigned. A container that is here without being
 * assigned is one that a restored board forgot: it is said to be adopted. */
static bool is_here(struct rep *r, struct container *c)
{
    if (c->kind != &unit_kind || c->deleting || container_stop_asked(c)) {
        return false;
    }
    struct cell_unit *u = cell_unit_of(c);
    if (u->offer == OFFER_NONE) {
        u->offer = OFFER_TAKEN;
        c->reserved_until_ns = r->now.mono_ns + r->config.reservation_ns;
    }
    cell_unit_queue(u);
    return true;
}

static Board__UnitRecord as_record(const Cell__UnitOffer *offer, struct unit_name name,
                                   Board__UnitNeeds *needs)
{
    board__unit_needs__init(needs);
    needs->memory_mb = offer->memory_mb;
    needs->disk_mb = offer->disk_mb;
    needs->max_pids = offer->max_pids;
    needs->rootfs = offer->rootfs;
    Board__UnitRecord unit = BOARD__UNIT_RECORD__INIT;
    unit.service = (char *)(uintptr_t)name.service;
    unit.number = name.number;
    unit.guid = offer->guid;
    unit.service_guid = offer->service_guid;
    unit.needs = needs;
    return unit;
}

bool unit_work_reserve(struct rep *r, const Cell__UnitOffer *offer, struct effects *out)
{
    struct unit_name name;
    struct container *c = container_find(&r->containers, offer->guid);
    if (c) {
        return is_here(r, c);
    }
    if (!is_acceptable(r, out->arena, offer, &name) || offer->memory_mb < 0 || offer->disk_mb < 0) {
        return false;
    }
    Board__UnitNeeds needs;
    Board__UnitRecord unit = as_record(offer, name, &needs);
    struct cell_unit *u = cell_unit_named(&r->units, offer->guid, name);
    cell_unit_queue(u);
    if (!unit_name_equal(u->name, name) || !unit_set_aside(r, u, &unit, out)) {
        return false;
    }
    u->offer = OFFER_TAKEN;
    cell_unit_container(u)->reserved_until_ns = r->now.mono_ns + r->config.reservation_ns;
    return true;
}
