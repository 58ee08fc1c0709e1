#include "rep/container/room.h"

#include "common/model/image_name.h"
#include "rep/container/join.h"
#include "rep/inside.h"

#include <string.h>

int32_t room_memory_mb(const struct rep *r, const Rep__Note *about)
{
    bool has_proxy = container_kind_of(&r->containers, about)->has_proxy;
    int64_t memory_mb = (int64_t)about->memory_mb + (has_proxy ? r->config.proxy_memory_mb : 0);
    return memory_mb > INT32_MAX ? INT32_MAX : (int32_t)memory_mb;
}

void room_adopt(struct rep *r, const struct container *c)
{
    capacity_adopt(&r->capacity, room_memory_mb(r, c->about), c->about->disk_mb);
    for (size_t i = 0; i < c->about->n_ports; i++) {
        capacity_port_adopt(&r->capacity, c->about->ports[i]->host_port);
    }
    id_ranges_adopt(&r->ids, c->about->ids_first);
}

const char *room_refuses(struct rep *r, struct container *c, const Models__Network *network,
                         bool privileged, struct arena *a)
{
    if (privileged && !r->config.privileged) {
        return "privileged containers are not allowed on this cell";
    }
    const char *joins = join_wanted(network);
    bool subordinate = c->about->unit && *c->about->unit->principal_guid;
    const char *why = subordinate ? join_principal_refuses(r, c, privileged, a)
                      : joins     ? join_refuses(r, c, joins, privileged, a)
                                  : NULL;
    if (why) {
        return why;
    }
    if (privileged || c->about->ids_first > 0 || r->ids.count == 0) {
        return NULL;
    }
    c->about->ids_first = id_ranges_take(&r->ids);
    return c->about->ids_first > 0 ? NULL : "failed to create container: no range of ids is free";
}

void room_give_memory(struct rep *r, struct container *c)
{
    /* In its own room: nobody else gets it meanwhile. */
    bool made_again = c->kind->kept && (!c->deleting || c->keep_note);
    if (c->process_gone && !c->memory_given && !made_again) {
        capacity_give_memory(&r->capacity, room_memory_mb(r, c->about));
        c->memory_given = true;
        r->containers.version++;
    }
}

void room_give_ports(struct rep *r, const struct container *c)
{
    bool shared = c->about->n_ports > 0 && join_is_shared(r, c);
    for (size_t i = 0; !shared && i < c->about->n_ports; i++) {
        capacity_port_give(&r->capacity, c->about->ports[i]->host_port);
    }
}

void room_give(struct rep *r, const struct container *c)
{
    capacity_give(&r->capacity, c->memory_given ? 0 : room_memory_mb(r, c->about),
                  c->about->disk_mb);
    room_give_ports(r, c);
    id_ranges_give(&r->ids, c->about->ids_first);
}

static bool has_driver(const struct rep *r, const char *driver)
{
    for (const char *const *have = r->config.volume_drivers; have && *have; have++) {
        if (strcmp(*have, driver) == 0) {
            return true;
        }
    }
    return false;
}

bool room_has_drivers(const struct rep *r, char *const *drivers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!has_driver(r, drivers[i])) {
            return false;
        }
    }
    return true;
}

bool room_has_rootfs(const struct rep *r, const char *rootfs)
{
    if (image_name_is_pulled(rootfs)) {
        return r->config.pulls_images;
    }
    size_t size;
    const char *name = image_name_preloaded(rootfs, &size);
    for (const char *const *have = r->config.rootfs_names; name && have && *have; have++) {
        if (strlen(*have) == size && memcmp(*have, name, size) == 0) {
            return true;
        }
    }
    return false;
}
