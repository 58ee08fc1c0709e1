#include "common/base/message.h"
#include "common/charmfile/charm.h"

#include <string.h>

static bool has_text(char *const *list, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], text) == 0) {
            return true;
        }
    }
    return false;
}

static void add_texts(char **list, size_t *count, char *const *more, size_t more_count)
{
    for (size_t i = 0; i < more_count; i++) {
        if (!has_text(list, *count, more[i])) {
            list[(*count)++] = more[i];
        }
    }
}

Board__UnitNeeds *charm_needs(struct arena *a, const Models__DesiredLRP *run, char *const *more,
                              size_t count)
{
    Board__UnitNeeds *n = arena_message(a, &board__unit_needs__descriptor);
    n->memory_mb = run->memory_mb;
    n->disk_mb = run->disk_mb;
    n->max_pids = run->max_pids;
    n->rootfs = run->root_fs;
    n->placement_tags = ARENA_ARRAY(a, run->n_placementtags + count, char *);
    add_texts(n->placement_tags, &n->n_placement_tags, run->placementtags, run->n_placementtags);
    add_texts(n->placement_tags, &n->n_placement_tags, more, count);
    n->volume_drivers = ARENA_ARRAY(a, run->n_volume_mounts, char *);
    for (size_t i = 0; i < run->n_volume_mounts; i++) {
        add_texts(n->volume_drivers, &n->n_volume_drivers, &run->volume_mounts[i]->driver, 1);
    }
    return n;
}
