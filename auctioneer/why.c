#include "auctioneer/why.h"

#include "auctioneer/filter.h"
#include "auctioneer/reserve.h"
#include "auctioneer/zone.h"

#include <assert.h>
#include <string.h>

/* What slices keep free, as this job meets it. */
struct kept_free {
    struct reserve reserve;
    struct demand demand;
    uint32_t slice;
    struct room *rooms; /* by cell */
};

struct nearest_cell {
    const struct why_cell *cell;
    enum filter fall;
    double lack; /* largest lacking part of a total; of FILTER_RESOURCES */
};

/* The only zone that the job may go to; NULL = any. */
static const char *only_zone(const struct schedule_rules *rules, const struct job *job)
{
    if (rules->zone_count == 0 || !job_has_zone(job) || job->index <= ZONE_LAST_FREE_INDEX) {
        return NULL;
    }
    return rules->zones[zone_preferred(job->guid, job->index, rules->zone_count)];
}

static bool is_usable(const struct why_cell *cell)
{
    return cell->state && !(cell->unusable && *cell->unusable);
}

/* Without the slices. */
static enum filter fall_of(const struct why_cell *cell, const struct job *job, const char *zone)
{
    if (!is_usable(cell)) {
        return FILTER_UNUSABLE;
    }
    if (zone && strcmp(cell->state->zone, zone) != 0) {
        return FILTER_ZONE;
    }
    enum filter fall = filter_cell(cell->state, &cell->machine, job);
    if (fall < FILTER_COMPATIBLE) {
        return fall;
    }
    struct room room;
    struct demand q = job_demand(job);
    room_init(&room, cell->state);
    return room_fits(&room, &q) && room.whole ? FILTER_FITS : FILTER_RESOURCES;
}

static void keep_free(struct arena *a, const struct why_input *in, const struct job *job,
                      struct kept_free *k)
{
    static const Cell__CellState none = CELL__CELL_STATE__INIT;
    struct reserve_cell *cells = ARENA_ARRAY(a, in->cell_count, struct reserve_cell);
    k->rooms = ARENA_ARRAY(a, in->cell_count, struct room);
    for (size_t i = 0; i < in->cell_count; i++) {
        bool usable = is_usable(&in->cells[i]);
        cells[i] = (struct reserve_cell){
            .state = usable ? in->cells[i].state : &none, .room = &k->rooms[i], .closed = !usable};
        room_init(&k->rooms[i], cells[i].state);
    }
    k->demand = job_demand(job);
    reserve_init(&k->reserve, a, cells, in->cell_count, in->slices, in->slice_count);
    k->slice = job->kind == JOB_LRP ? reserve_slice_of(&k->reserve, job->guid) : RESERVE_NO_SLICE;
    reserve_begin(&k->reserve, k->slice, &k->demand);
}

static Auction__ReservedSlice *slice_told(struct arena *a, const struct reserved_slice *slice)
{
    Auction__ReservedSlice *s = arena_message(a, &auction__reserved_slice__descriptor);
    s->uid = arena_strdup(a, slice->record->uid);
    s->owner = arena_strdup(a, slice->record->owner);
    s->memory_mb = (int64_t)slice->unused.memory_mb;
    s->disk_mb = (int64_t)slice->unused.disk_mb;
    s->containers = (int64_t)slice->unused.containers;
    return s;
}

/* The most first. */
static void tell_reserved(struct arena *a, const struct reserve *r, const struct reserve_group *g,
                          Auction__KeptFree *ret)
{
    ret->slices = ARENA_ARRAY(a, WHY_SLICES_MAX, Auction__ReservedSlice *);
    for (size_t i = 0; i < r->slice_count; i++) {
        const struct reserve_amount *unused = &r->slices[i].unused;
        if (!g->counts[i] || unused->memory_mb + unused->disk_mb + unused->containers <= 0) {
            continue;
        }
        ret->slice_count++;
        size_t at = ret->n_slices;
        while (at > 0 && ret->slices[at - 1]->memory_mb < unused->memory_mb) {
            at--;
        }
        if (at == WHY_SLICES_MAX) {
            continue;
        }
        ret->n_slices += ret->n_slices < WHY_SLICES_MAX;
        memmove(&ret->slices[at + 1], &ret->slices[at],
                (ret->n_slices - at - 1) * sizeof(ret->slices[0]));
        assert(at < ret->n_slices && ret->n_slices <= WHY_SLICES_MAX);
        ret->slices[at] = slice_told(a, &r->slices[i]);
    }
}

static void tell_kept(struct arena *a, const struct reserve *r, const struct reserve_group *g,
                      Auction__Why *ret)
{
    Auction__KeptFree *k = arena_message(a, &auction__kept_free__descriptor);
    k->free_memory_mb = (int64_t)g->free.memory_mb;
    k->free_disk_mb = (int64_t)g->free.disk_mb;
    k->free_containers = (int64_t)g->free.containers;
    k->kept_memory_mb = (int64_t)g->unused.memory_mb;
    k->kept_disk_mb = (int64_t)g->unused.disk_mb;
    k->kept_containers = (int64_t)g->unused.containers;
    tell_reserved(a, r, g, k);
    ret->kept = k;
}

static void tell_own_slice(struct arena *a, const struct kept_free *k, Auction__Why *ret)
{
    ret->slice = k->slice == RESERVE_NO_SLICE ? NULL : slice_told(a, &k->reserve.slices[k->slice]);
}

static double lack_of(double needed, double free, double total)
{
    return needed <= free ? 0 : total > 0 ? (needed - free) / total : SCORE_INITIAL_BEST;
}

static double largest_lack(const struct room *r, const struct demand *q)
{
    double memory = lack_of(room_memory_needed(r, q), r->free_memory, r->total_memory);
    double disk = lack_of(q->disk_mb, r->free_disk, r->total_disk);
    double slots = lack_of(1, r->free_containers, r->total_containers);
    double largest = memory > disk ? memory : disk;
    return largest > slots ? largest : slots;
}

static int32_t missing(double needed, double free)
{
    return needed > free ? (int32_t)(needed - free) : 0;
}

static void count_shortage(const struct room *r, const struct demand *q, Auction__Why *ret)
{
    unsigned shortage = filter_shortage(r, q);
    ret->short_of_memory += (shortage & SHORT_OF_MEMORY) != 0;
    ret->short_of_disk += (shortage & SHORT_OF_DISK) != 0;
    ret->short_of_containers += (shortage & SHORT_OF_CONTAINERS) != 0;
}

/* The furthest, then the least lacking, then the first. */
static void consider(struct nearest_cell *n, const struct why_cell *cell, enum filter fall,
                     double lack)
{
    if (!n->cell || fall > n->fall || (fall == n->fall && lack < n->lack)) {
        *n = (struct nearest_cell){.cell = cell, .fall = fall, .lack = lack};
    }
}

static void tell_nearest(struct arena *a, const struct nearest_cell *n, const struct demand *q,
                         Auction__Why *ret)
{
    if (!n->cell || n->fall == FILTER_FITS) {
        return;
    }
    Auction__NearMiss *near = arena_message(a, &auction__near_miss__descriptor);
    near->cell_id = arena_strdup(a, n->cell->id);
    near->filter = (char *)(uintptr_t)filter_name(n->fall);
    if (n->fall == FILTER_UNUSABLE) {
        near->why = arena_strdup(a, n->cell->unusable ? n->cell->unusable : "");
    } else if (n->fall == FILTER_RESOURCES) {
        struct room room;
        room_init(&room, n->cell->state);
        near->lacks_memory_mb = missing(room_memory_needed(&room, q), room.free_memory);
        near->lacks_disk_mb = missing(q->disk_mb, room.free_disk);
        near->lacks_containers = missing(1, room.free_containers);
    }
    ret->nearest = near;
}

static void tell_filters(struct arena *a, const uint32_t *counts, enum job_kind kind,
                         Auction__Why *ret)
{
    ret->filters = ARENA_ARRAY(a, FILTER_COUNT, Auction__FilterCount *);
    for (int i = 0; i < FILTER_COUNT; i++) {
        if (!filter_asks((enum filter)i, kind) || (i == FILTER_SLICES && counts[i] == 0)) {
            continue;
        }
        Auction__FilterCount *f = arena_message(a, &auction__filter_count__descriptor);
        f->filter = (char *)(uintptr_t)filter_name((enum filter)i);
        f->cells = counts[i];
        ret->filters[ret->n_filters++] = f;
    }
    ret->fit = counts[FILTER_FITS];
}

void why_explain(struct arena *a, const struct why_input *in, const struct job *job,
                 Auction__Why *ret)
{
    const struct schedule_rules *rules = in->rules;
    const struct why_cell *cells = in->cells;
    size_t cell_count = in->cell_count;
    struct kept_free kept;
    keep_free(a, in, job, &kept);
    struct demand q = job_demand(job);
    const char *zone = only_zone(rules, job);
    uint32_t counts[FILTER_COUNT + 1] = {0};
    struct nearest_cell nearest = {0};
    int64_t in_flight = 0;
    for (size_t i = 0; i < cell_count; i++) {
        enum filter fall = fall_of(&cells[i], job, zone);
        const struct reserve_group *keeper =
            fall == FILTER_FITS ? reserve_keeper(&kept.reserve, i) : NULL;
        double lack = 0;
        if (keeper) {
            fall = FILTER_SLICES;
        }
        if (keeper && !ret->kept) {
            tell_kept(a, &kept.reserve, keeper, ret);
        }
        counts[fall]++;
        if (fall != FILTER_UNUSABLE) {
            in_flight += cells[i].state->startingcontainercount;
        }
        if (fall == FILTER_RESOURCES) {
            struct room room;
            room_init(&room, cells[i].state);
            count_shortage(&room, &q, ret);
            lack = largest_lack(&room, &q);
        }
        consider(&nearest, &cells[i], fall, lack);
    }
    assert(nearest.cell || cell_count == 0);
    ret->cells = (uint32_t)cell_count;
    ret->zone = zone ? arena_strdup(a, zone) : ret->zone;
    ret->in_flight_limit =
        rules->starting_container_maximum > 0 && in_flight >= rules->starting_container_maximum;
    tell_filters(a, counts, job->kind, ret);
    tell_own_slice(a, &kept, ret);
    tell_nearest(a, &nearest, &q, ret);
}
