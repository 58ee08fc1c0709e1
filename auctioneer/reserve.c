#include "auctioneer/reserve.h"

#include "common/model/pool_tag.h"

#include <assert.h>
#include <string.h>

static double most(double a, double b)
{
    return a > b ? a : b;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static struct reserve_amount sum(struct reserve_amount a, struct reserve_amount b, double sign)
{
    return (struct reserve_amount){a.memory_mb + sign * b.memory_mb, a.disk_mb + sign * b.disk_mb,
                                   a.containers + sign * b.containers};
}

static struct reserve_amount not_below_none(struct reserve_amount a)
{
    return (struct reserve_amount){most(a.memory_mb, 0), most(a.disk_mb, 0), most(a.containers, 0)};
}

static struct reserve_amount lesser(struct reserve_amount a, struct reserve_amount b)
{
    return (struct reserve_amount){least(a.memory_mb, b.memory_mb), least(a.disk_mb, b.disk_mb),
                                   least(a.containers, b.containers)};
}

/* ---- Slices, and what runs in them ----------------------------------------------------------- */

static bool is_quota(const Board__SliceRecord *slice)
{
    return slice->n_cells == 0 && slice->node;
}

static struct reserve_amount reserved_of(const Board__SliceRecord *slice)
{
    const Board__NodeSize *n = slice->node;
    double nodes = slice->nodes;
    return not_below_none(
        (struct reserve_amount){nodes * n->memory_mb, nodes * n->disk_mb, nodes * n->containers});
}

static void name_processes(struct reserve *r, const Board__SliceRecord *const *slices, size_t count)
{
    size_t uses = 0;
    for (size_t i = 0; i < count; i++) {
        uses += slices[i]->n_uses;
    }
    names_init(&r->processes, r->arena, uses);
    r->slice_of = ARENA_ARRAY(r->arena, uses, uint32_t);
    for (size_t i = 0; i < r->slice_count; i++) {
        const Board__SliceRecord *slice = r->slices[i].record;
        for (size_t k = 0; k < slice->n_uses; k++) {
            uint32_t process = names_add(&r->processes, slice->uses[k]->process_guid);
            r->slice_of[process] = (uint32_t)i;
        }
    }
}

uint32_t reserve_slice_of(const struct reserve *r, const char *process_guid)
{
    uint32_t process = r->slice_count ? names_find(&r->processes, process_guid) : NAME_UNKNOWN;
    return process == NAME_UNKNOWN ? RESERVE_NO_SLICE : r->slice_of[process];
}

/* What the cells hold of a slice is used. */
static void count_uses(struct reserve *r)
{
    for (size_t i = 0; i < r->cell_count; i++) {
        const Cell__CellState *s = r->cells[i].state;
        for (size_t k = 0; k < s->n_lrps; k++) {
            uint32_t slice = reserve_slice_of(r, s->lrps[k]->process_guid);
            if (slice != RESERVE_NO_SLICE) {
                struct reserve_amount own = {s->lrps[k]->memorymb, s->lrps[k]->diskmb, 1};
                r->slices[slice].unused = sum(r->slices[slice].unused, own, -1);
            }
        }
    }
    for (size_t i = 0; i < r->slice_count; i++) {
        r->slices[i].unused = not_below_none(r->slices[i].unused);
    }
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static bool contains(char *const *list, size_t count, const char *s)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], s) == 0) {
            return true;
        }
    }
    return false;
}

/* One of no pool or slice, whose own tags are asked for, and that has all that are. */
static bool may_have(const Cell__CellState *s, const Board__NodeSize *node)
{
    for (size_t i = 0; i < s->n_placementtags; i++) {
        const char *tag = s->placementtags[i];
        if (pool_tag_is(tag) || !contains(node->placement_tags, node->n_placement_tags, tag)) {
            return false;
        }
    }
    for (size_t i = 0; i < node->n_placement_tags; i++) {
        const char *tag = node->placement_tags[i];
        if (!contains(s->placementtags, s->n_placementtags, tag) &&
            !contains(s->optionalplacementtags, s->n_optionalplacementtags, tag)) {
            return false;
        }
    }
    return true;
}

static bool same_tags(const Board__NodeSize *a, const Board__NodeSize *b)
{
    if (a->n_placement_tags != b->n_placement_tags) {
        return false;
    }
    for (size_t i = 0; i < a->n_placement_tags; i++) {
        if (!contains(b->placement_tags, b->n_placement_tags, a->placement_tags[i])) {
            return false;
        }
    }
    return true;
}

static void set_cells(struct reserve *r, struct reserve_group *g, const Board__NodeSize *node)
{
    for (size_t i = 0; i < r->cell_count; i++) {
        const struct reserve_cell *c = &r->cells[i];
        if (c->room->whole && may_have(c->state, node)) {
            g->has[i] = true;
            g->proxy_mb = most(g->proxy_mb, c->room->proxy_memory);
        }
    }
}

/* All cells of `part` are of `whole` too. */
static bool is_within(const struct reserve *r, const struct reserve_group *part,
                      const struct reserve_group *whole)
{
    for (size_t i = 0; i < r->cell_count; i++) {
        if (part->has[i] && !whole->has[i]) {
            return false;
        }
    }
    return true;
}

/* A group a set of tags, and one of all. */
static void make_groups(struct reserve *r)
{
    const Board__NodeSize *first[RESERVE_TAG_SETS_MAX + 1];
    size_t sets = 0;
    r->groups = ARENA_ARRAY(r->arena, RESERVE_TAG_SETS_MAX + 1, struct reserve_group);
    for (size_t i = 0; i < r->slice_count; i++) {
        size_t at = 0;
        const Board__NodeSize *node = r->slices[i].record->node;
        while (at < sets && !same_tags(first[at], node)) {
            at++;
        }
        r->slices[i].tag_set = at;
        if (at == sets && sets < RESERVE_TAG_SETS_MAX) {
            first[sets++] = node;
        }
    }
    r->group_count = sets + 1;
    for (size_t g = 0; g < r->group_count; g++) {
        r->groups[g].has = ARENA_ARRAY(r->arena, r->cell_count, bool);
        r->groups[g].counts = ARENA_ARRAY(r->arena, r->slice_count, bool);
        if (g < sets) {
            set_cells(r, &r->groups[g], first[g]); /* 2 */
        }
    }
    for (size_t i = 0; i < r->slice_count; i++) {
        set_cells(r, &r->groups[sets], r->slices[i].record->node); /* 1 */
    }
}

static void count_slices(struct reserve *r)
{
    size_t sets = r->group_count - 1;
    for (size_t g = 0; g < r->group_count; g++) {
        bool within[RESERVE_TAG_SETS_MAX] = {0};
        for (size_t set = 0; set < sets; set++) {
            within[set] = is_within(r, &r->groups[set], &r->groups[g]);
        }
        for (size_t i = 0; i < r->slice_count; i++) {
            size_t set = r->slices[i].tag_set;
            if (g == sets || (set < sets && within[set])) {
                r->groups[g].counts[i] = true;
                r->groups[g].unused = sum(r->groups[g].unused, r->slices[i].unused, 1);
            }
        }
    }
}

static void count_free(struct reserve *r, size_t cell)
{
    const struct reserve_cell *c = &r->cells[cell];
    struct reserve_amount now = {0};
    assert(cell < r->cell_count && r->group_count > 0);
    if (!c->closed) {
        now = not_below_none((struct reserve_amount){c->room->free_memory, c->room->free_disk,
                                                     c->room->free_containers});
    }
    for (size_t g = 0; g < r->group_count; g++) {
        if (r->groups[g].has[cell]) {
            r->groups[g].free = sum(sum(r->groups[g].free, r->counted[cell], -1), now, 1);
        }
    }
    r->counted[cell] = now;
}

void reserve_init(struct reserve *r, struct arena *a, const struct reserve_cell *cells,
                  size_t cell_count, const Board__SliceRecord *const *slices, size_t slice_count)
{
    *r = (struct reserve){.arena = a, .cells = cells, .cell_count = cell_count};
    r->slices = ARENA_ARRAY(a, slice_count, struct reserved_slice);
    for (size_t i = 0; i < slice_count; i++) {
        if (is_quota(slices[i])) {
            r->slices[r->slice_count++] =
                (struct reserved_slice){.record = slices[i], .unused = reserved_of(slices[i])};
        }
    }
    if (r->slice_count == 0) {
        return;
    }
    name_processes(r, slices, slice_count);
    count_uses(r);
    make_groups(r);
    count_slices(r);
    r->keeps = ARENA_ARRAY(a, cell_count, bool);
    r->counted = ARENA_ARRAY(a, cell_count, struct reserve_amount);
    for (size_t i = 0; i < cell_count; i++) {
        count_free(r, i);
    }
}

/* ---- A run ----------------------------------------------------------------------------------- */

struct reserve_amount reserve_needed(const struct reserve *r, const struct reserve_group *g)
{
    const struct demand *q = r->demand;
    double proxy_mb = q->kind == JOB_LRP ? g->proxy_mb : 0;
    return (struct reserve_amount){q->memory_mb + proxy_mb, q->disk_mb, 1};
}

/* Of its own slice's unused room. */
static struct reserve_amount own_part(const struct reserve *r, const struct reserve_group *g)
{
    const struct demand *q = r->demand;
    struct reserve_amount none = {0};
    return r->slice == RESERVE_NO_SLICE || !g->counts[r->slice]
               ? none
               : lesser((struct reserve_amount){q->memory_mb, q->disk_mb, 1},
                        r->slices[r->slice].unused);
}

/* Beyond its own part: that must be left by what the others have reserved. */
static bool is_left(double needed, double asked, double own, double free, double unused)
{
    return asked <= own || free - needed >= unused - own;
}

static bool is_closed(const struct reserve *r, const struct reserve_group *g)
{
    struct reserve_amount needed = reserve_needed(r, g), own = own_part(r, g);
    const struct demand *q = r->demand;
    return !is_left(needed.memory_mb, q->memory_mb, own.memory_mb, g->free.memory_mb,
                    g->unused.memory_mb) ||
           !is_left(needed.disk_mb, q->disk_mb, own.disk_mb, g->free.disk_mb, g->unused.disk_mb) ||
           !is_left(needed.containers, 1, own.containers, g->free.containers, g->unused.containers);
}

static bool close_groups(struct reserve *r)
{
    bool changed = false;
    for (size_t g = 0; g < r->group_count; g++) {
        bool closed = is_closed(r, &r->groups[g]);
        changed = changed || closed != r->groups[g].closed;
        r->groups[g].closed = closed;
    }
    for (size_t i = 0; changed && i < r->cell_count; i++) {
        r->keeps[i] = reserve_keeper(r, i) != NULL;
    }
    return changed;
}

void reserve_begin(struct reserve *r, uint32_t slice, const struct demand *q)
{
    assert(slice == RESERVE_NO_SLICE || slice < r->slice_count);
    r->slice = slice;
    r->demand = q;
    close_groups(r);
}

void reserve_took(struct reserve *r, uint32_t slice, size_t cell, const struct demand *q)
{
    if (r->slice_count == 0) {
        return;
    }
    count_free(r, cell);
    if (slice == RESERVE_NO_SLICE) {
        return;
    }
    assert(slice < r->slice_count);
    struct reserve_amount before = r->slices[slice].unused;
    struct reserve_amount own =
        lesser((struct reserve_amount){q->memory_mb, q->disk_mb, 1}, before);
    r->slices[slice].unused = sum(before, own, -1);
    for (size_t g = 0; g < r->group_count; g++) {
        if (r->groups[g].counts[slice]) {
            r->groups[g].unused = sum(r->groups[g].unused, own, -1);
        }
    }
}

bool reserve_narrows(struct reserve *r)
{
    return close_groups(r);
}

const struct reserve_group *reserve_keeper(const struct reserve *r, size_t cell)
{
    for (size_t g = 0; g < r->group_count; g++) {
        if (r->groups[g].closed && r->groups[g].has[cell]) {
            return &r->groups[g];
        }
    }
    return NULL;
}
