#include "test/decide/cell_rows.h"

#include <string.h>

size_t cell_row_words(struct arena *a, const char *words, char ***ret_list)
{
    char **list = ARENA_ARRAY(a, strlen(words) + 1, char *);
    size_t count = 0;
    while (*words) {
        size_t size = strcspn(words, " ");
        list[count++] = arena_strndup(a, words, size);
        words += size + strspn(words + size, " ");
    }
    *ret_list = list;
    return count;
}

static Cell__Resources *resources(struct arena *a, int32_t memory_mb, int32_t disk_mb)
{
    Cell__Resources *r = arena_message(a, &cell__resources__descriptor);
    r->memorymb = memory_mb;
    r->diskmb = disk_mb;
    r->containers = 100;
    return r;
}

Cell__CellState *cell_row_new(struct arena *a, const char *cell_id, const char *zone,
                              int32_t memory_mb, int32_t disk_mb)
{
    Cell__CellState *s = arena_message(a, &cell__cell_state__descriptor);
    s->cell_id = arena_strdup(a, cell_id);
    s->zone = arena_strdup(a, zone);
    s->totalresources = resources(a, memory_mb, disk_mb);
    s->availableresources = resources(a, memory_mb, disk_mb);
    cell_row_provider(a, s, "preloaded", "fixed_set", "busybox");
    return s;
}

void cell_row_provider(struct arena *a, Cell__CellState *s, const char *scheme, const char *type,
                       const char *set)
{
    Cell__CellState__RootFSProvidersEntry **list =
        ARENA_ARRAY(a, s->n_rootfsproviders + 1, Cell__CellState__RootFSProvidersEntry *);
    if (s->n_rootfsproviders) {
        memcpy(list, s->rootfsproviders, s->n_rootfsproviders * sizeof(*list));
    }
    Cell__CellState__RootFSProvidersEntry *e = list[s->n_rootfsproviders] =
        ARENA_NEW(a, Cell__CellState__RootFSProvidersEntry);
    cell__cell_state__root_fsproviders_entry__init(e);
    e->key = arena_strdup(a, scheme);
    e->value = arena_message(a, &cell__root_fsprovider__descriptor);
    e->value->type = arena_strdup(a, type);
    char **names;
    e->value->n_set = cell_row_words(a, set, &names);
    e->value->set = ARENA_ARRAY(a, e->value->n_set, Cell__RootFSProvider__SetEntry *);
    for (size_t i = 0; i < e->value->n_set; i++) {
        e->value->set[i] = arena_message(a, &cell__root_fsprovider__set_entry__descriptor);
        e->value->set[i]->key = names[i];
    }
    s->rootfsproviders = list;
    s->n_rootfsproviders++;
}

void cell_row_tags(struct arena *a, Cell__CellState *s, const char *tags, const char *optional)
{
    s->n_placementtags = cell_row_words(a, tags, &s->placementtags);
    s->n_optionalplacementtags = cell_row_words(a, optional, &s->optionalplacementtags);
}

void cell_row_drivers(struct arena *a, Cell__CellState *s, const char *drivers)
{
    s->n_volumedrivers = cell_row_words(a, drivers, &s->volumedrivers);
}

void cell_row_lrp(struct arena *a, Cell__CellState *s, const char *process_guid)
{
    cell_row_lrp_is(a, s, process_guid, "RUNNING");
}

void cell_row_lrp_is(struct arena *a, Cell__CellState *s, const char *process_guid,
                     const char *state)
{
    Cell__LRP **list = ARENA_ARRAY(a, s->n_lrps + 1, Cell__LRP *);
    if (s->n_lrps) {
        memcpy(list, s->lrps, s->n_lrps * sizeof(*list));
    }
    list[s->n_lrps] = arena_message(a, &cell__lrp__descriptor);
    list[s->n_lrps]->process_guid = arena_strdup(a, process_guid);
    list[s->n_lrps]->state = arena_strdup(a, state);
    s->lrps = list;
    s->n_lrps++;
}

void cell_row_unit(struct arena *a, Cell__CellState *s, const char *service_guid)
{
    Cell__UnitHere **list = ARENA_ARRAY(a, s->n_units + 1, Cell__UnitHere *);
    if (s->n_units) {
        memcpy(list, s->units, s->n_units * sizeof(*list));
    }
    list[s->n_units] = arena_message(a, &cell__unit_here__descriptor);
    list[s->n_units]->service_guid = arena_strdup(a, service_guid);
    s->units = list;
    s->n_units++;
}

void cell_row_tasks(struct arena *a, Cell__CellState *s, size_t count)
{
    s->n_tasks = count;
    s->tasks = ARENA_ARRAY(a, count, Cell__Task *);
    for (size_t i = 0; i < count; i++) {
        s->tasks[i] = arena_message(a, &cell__task__descriptor);
    }
}

Board__SliceRecord *slice_row_new(struct arena *a, const char *uid, uint32_t nodes,
                                  int32_t memory_mb, const char *tags)
{
    Board__SliceRecord *s = arena_message(a, &board__slice_record__descriptor);
    s->uid = arena_strdup(a, uid);
    s->owner = arena_printf(a, "owner of %s", uid);
    s->nodes = nodes;
    s->node = arena_message(a, &board__node_size__descriptor);
    s->node->memory_mb = memory_mb;
    s->node->containers = 1;
    s->node->n_placement_tags = cell_row_words(a, tags, &s->node->placement_tags);
    return s;
}

void slice_row_use(struct arena *a, Board__SliceRecord *s, const char *process_guid)
{
    Board__SliceUse **list = ARENA_ARRAY(a, s->n_uses + 1, Board__SliceUse *);
    for (size_t i = 0; i < s->n_uses; i++) {
        list[i] = s->uses[i];
    }
    list[s->n_uses] = arena_message(a, &board__slice_use__descriptor);
    list[s->n_uses++]->process_guid = arena_strdup(a, process_guid);
    s->uses = list;
}
