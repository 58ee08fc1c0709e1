#include "rep/http/cell_state.h"

#include "rep/container/room.h"
#include "rep/inside.h"

#include <assert.h>

static Cell__CellState__RootFSProvidersEntry *fixed_set(struct arena *a, const char *scheme,
                                                        const char *const *names)
{
    Cell__CellState__RootFSProvidersEntry *entry =
        arena_message(a, &cell__cell_state__root_fsproviders_entry__descriptor);
    entry->key = (char *)scheme;
    entry->value = arena_message(a, &cell__root_fsprovider__descriptor);
    entry->value->type = (char *)"fixed_set";
    entry->value->n_set = rep_list_size(names);
    entry->value->set = ARENA_ARRAY(a, entry->value->n_set, Cell__RootFSProvider__SetEntry *);
    for (size_t i = 0; i < entry->value->n_set; i++) {
        Cell__RootFSProvider__SetEntry *name = ARENA_NEW(a, Cell__RootFSProvider__SetEntry);
        cell__root_fsprovider__set_entry__init(name);
        name->key = (char *)names[i];
        name->value = arena_message(a, &cell__unit__descriptor);
        entry->value->set[i] = name;
    }
    return entry;
}

/* Whatever the name: it is pulled. */
static Cell__CellState__RootFSProvidersEntry *arbitrary(struct arena *a, const char *scheme)
{
    Cell__CellState__RootFSProvidersEntry *entry = fixed_set(a, scheme, NULL);
    entry->value->type = (char *)"arbitrary";
    return entry;
}

static Cell__Resources *resources(struct arena *a, struct resources from)
{
    Cell__Resources *to = arena_message(a, &cell__resources__descriptor);
    to->memorymb = (int32_t)from.memory_mb;
    to->diskmb = (int32_t)from.disk_mb;
    to->containers = (int32_t)from.containers;
    return to;
}

/* What it gives back when nothing of it is left. Only of one whose process is gone that will be
 * soon. */
static void add_being_freed(const struct rep *r, const struct container *c, struct resources *sum)
{
    if (c->process_gone) {
        sum->memory_mb += c->memory_given ? 0 : room_memory_mb(r, c->about);
        sum->disk_mb += c->about->disk_mb;
        sum->containers++;
    }
}

Cell__CellState *cell_state_make(const struct rep *r, struct arena *a)
{
    const struct rep_config *config = &r->config;
    Cell__CellState *s = arena_message(a, &cell__cell_state__descriptor);
    s->rep_url = (char *)config->url;
    s->cell_id = (char *)config->cell_id;
    s->cell_index = config->index;
    s->proxymemoryallocationmb = config->proxy_memory_mb;
    s->zone = (char *)config->zone;
    s->incarnation = config->incarnation;
    s->isolation = (char *)config->isolation;
    s->n_rootfsproviders = 2;
    s->rootfsproviders = ARENA_ARRAY(a, 4, Cell__CellState__RootFSProvidersEntry *);
    s->rootfsproviders[0] = fixed_set(a, "preloaded", config->rootfs_names);
    s->rootfsproviders[1] = fixed_set(a, "preloaded+layer", config->rootfs_names);
    if (config->pulls_images) {
        s->rootfsproviders[s->n_rootfsproviders++] = arbitrary(a, "docker");
        s->rootfsproviders[s->n_rootfsproviders++] = arbitrary(a, "oci");
    }
    s->availableresources = resources(a, capacity_left(&r->capacity));
    s->totalresources = resources(a, r->capacity.total);
    s->lrps = ARENA_ARRAY(a, r->containers.by_guid.count, Cell__LRP *);
    s->tasks = ARENA_ARRAY(a, r->containers.by_guid.count, Cell__Task *);
    s->units =
        ARENA_ARRAY(a, r->containers.by_guid.count + r->units.by_guid.count, Cell__UnitHere *);
    struct resources being_freed = {0};
    MAP_EACH(&r->containers.by_guid, n)
    {
        const struct container *c = map_value(n);
        add_being_freed(r, c, &being_freed);
        c->kind->state(c, a, s);
    }
    assert(s->n_lrps + s->n_tasks + s->n_units == r->containers.by_guid.count);
    cell_units_tell_kept(&r->units, a, s);
    s->beingfreed = being_freed.containers ? resources(a, being_freed) : NULL;
    s->network = (char *)(config->network ? config->network : "");
    s->evacuating = r->drain.on;
    s->startingcontainercount = (int32_t)r->containers.starting;
    s->failedstarts = (int32_t)starts_failed_lately(&r->starts, r->now.mono_ns);
    s->n_volumedrivers = rep_list_size(config->volume_drivers);
    s->volumedrivers = (char **)config->volume_drivers;
    s->n_placementtags = rep_list_size(config->placement_tags);
    s->placementtags = (char **)config->placement_tags;
    s->n_optionalplacementtags = rep_list_size(config->optional_placement_tags);
    s->optionalplacementtags = (char **)config->optional_placement_tags;
    return s;
}

void cell_state_add_checks(const struct rep *r, struct arena *a, Cell__CellState *s)
{
    for (size_t i = 0; i < s->n_lrps; i++) {
        const struct container *c = container_find(&r->containers, s->lrps[i]->instance_guid);
        assert(c);
        checks_tell(c, a, s->lrps[i]);
    }
}

const char *cell_state_tag(const struct rep *r, struct arena *a, bool protobuf)
{
    return arena_printf(a, "\"%llu-%llu-%u-%s\"", (unsigned long long)r->config.incarnation,
                        (unsigned long long)r->containers.version,
                        starts_failed_lately(&r->starts, r->now.mono_ns), protobuf ? "p" : "j");
}

bool cell_state_is_well(const struct rep *r)
{
    return r->incarnation.open && listing_is_good(&r->listing);
}
