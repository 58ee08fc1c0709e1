#include "auctioneer/why.h"

#include "auctioneer/filter.h"
#include "auctioneer/zone.h"

#include <assert.h>
#include <string.h>

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

static enum filter fall_of(const struct why_cell *cell, const struct job *job, const char *zone)
{
    if (!cell->state || (cell->unusable && *cell->unusable)) {
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
        if (!filter_asks((enum filter)i, kind)) {
            continue;
        }
        Auction__FilterCount *f = arena_message(a, &auction__filter_count__descriptor);
        f->filter = (char *)(uintptr_t)filter_name((enum filter)i);
        f->cells = counts[i];
        ret->filters[ret->n_filters++] = f;
    }
    ret->fit = counts[FILTER_FITS];
}

void why_explain(struct arena *a, const struct schedule_rules *rules, const struct why_cell *cells,
                 size_t cell_count, const struct job *job, Auction__Why *ret)
{
    struct demand q = job_demand(job);
    const char *zone = only_zone(rules, job);
    uint32_t counts[FILTER_COUNT + 1] = {0};
    struct nearest_cell nearest = {0};
    int64_t in_flight = 0;
    for (size_t i = 0; i < cell_count; i++) {
        enum filter fall = fall_of(&cells[i], job, zone);
        double lack = 0;
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
    tell_nearest(a, &nearest, &q, ret);
}
