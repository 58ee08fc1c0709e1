#include "auctioneer/schedule.h"

#include "auctioneer/compat.h"
#include "auctioneer/reserve.h"
#include "auctioneer/tie.h"
#include "auctioneer/zone.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Which jobs come first (5): all LRPs with index 0, all units, all tasks, the other LRPs. Diego's
 * quirk, tasks before all when no LRP has an index above 0, is left out (docs/tasks.md,
 * Distributing tasks). */
enum job_turn { TURN_FIRST_INSTANCES, TURN_UNITS, TURN_TASKS, TURN_OTHER_INSTANCES };

struct queued_job {
    const struct job *job;
    struct decision *decision;
    enum job_turn turn;
    uint32_t process;
    uint32_t compat;
};

struct scheduling {
    struct arena *arena;
    const struct schedule_input *in;
    struct numbered_names processes;
    struct numbered_names zone_names;
    uint32_t *preferred; /* by position in rules->zones: our number of that zone */
    uint32_t *instances; /* by process and zone */
    struct compats compats;
    struct tally tally;
    struct pick pick;
    struct reserve reserve;
    struct zone_plan plan;
    struct queued_job *queue;
    int64_t in_flight;
    /* Of the present run: why nothing fits any more, by preferred zone, the last for all zones. */
    const struct decision **no_room;
};

/* ---- Before the first job -------------------------------------------------------------------- */

static void name_zones(struct scheduling *x)
{
    const struct schedule_input *in = x->in;
    names_init(&x->zone_names, x->arena, 16);
    x->pick.zone_of = ARENA_ARRAY(x->arena, in->cell_count, uint32_t);
    x->preferred = ARENA_ARRAY(x->arena, in->rules->zone_count, uint32_t);
    for (size_t i = 0; i < in->cell_count; i++) {
        x->pick.zone_of[i] = names_add(&x->zone_names, in->cells[i].state->zone);
    }
    for (size_t i = 0; i < in->rules->zone_count; i++) {
        x->preferred[i] = names_add(&x->zone_names, in->rules->zones[i]);
    }
    x->pick.zone_count = x->zone_names.count;
}

static void prepare_zones(struct scheduling *x)
{
    size_t cells = x->in->cell_count, zones = x->zone_names.count;
    size_t *sizes = ARENA_ARRAY(x->arena, zones, size_t);
    for (size_t i = 0; i < cells; i++) {
        sizes[x->pick.zone_of[i]]++;
    }
    x->pick.zones = ARENA_ARRAY(x->arena, zones, struct pick_zone);
    for (size_t z = 0; z < zones; z++) {
        x->pick.zones[z].cells = ARENA_ARRAY(x->arena, sizes[z], uint32_t);
        x->pick.zones[z].bases = ARENA_ARRAY(x->arena, sizes[z], double);
    }
    x->plan.zones = ARENA_ARRAY(x->arena, zones, uint32_t);
    x->plan.ends = ARENA_ARRAY(x->arena, zones + 1, size_t);
    x->no_room = ARENA_ARRAY(x->arena, x->in->rules->zone_count + 1, const struct decision *);
}

struct by_index {
    int32_t index;
    uint32_t cell;
};

static int compare_index(const void *a, const void *b)
{
    const struct by_index *x = a, *y = b;
    return x->index != y->index ? (x->index < y->index ? -1 : 1)
                                : (x->cell > y->cell) - (x->cell < y->cell);
}

/* With a bin-pack weight the cells of each zone are renumbered 0, 1, 2 by cell_index (5.2). */
static void renumber(struct scheduling *x)
{
    size_t cells = x->in->cell_count;
    struct by_index *order = ARENA_ARRAY(x->arena, cells, struct by_index);
    uint32_t *next = ARENA_ARRAY(x->arena, x->zone_names.count, uint32_t);
    for (size_t i = 0; i < cells; i++) {
        order[i] = (struct by_index){x->in->cells[i].state->cell_index, (uint32_t)i};
    }
    qsort(order, cells, sizeof(*order), compare_index);
    for (size_t i = 0; i < cells; i++) {
        uint32_t cell = order[i].cell;
        x->pick.rooms[cell].index = next[x->pick.zone_of[cell]]++;
    }
}

static void prepare_rooms(struct scheduling *x)
{
    const struct schedule_input *in = x->in;
    x->pick.rooms = ARENA_ARRAY(x->arena, in->cell_count, struct room);
    x->pick.positions = ARENA_ARRAY(x->arena, in->cell_count, uint32_t);
    for (size_t i = 0; i < in->cell_count; i++) {
        assert(i == 0 || strcmp(in->cells[i - 1].state->cell_id, in->cells[i].state->cell_id) < 0);
        room_init(&x->pick.rooms[i], in->cells[i].state);
        x->in_flight += in->cells[i].state->startingcontainercount;
    }
    if (in->rules->score.bin_pack_first_fit_weight > 0) {
        renumber(x);
    }
}

/* After the rooms, before anything of this auction takes of them. */
static void prepare_reserve(struct scheduling *x)
{
    const struct schedule_input *in = x->in;
    struct reserve_cell *cells =
        ARENA_ARRAY(x->arena, in->slice_count ? in->cell_count : 0, struct reserve_cell);
    for (size_t i = 0; in->slice_count && i < in->cell_count; i++) {
        cells[i] = (struct reserve_cell){
            .state = in->cells[i].state, .room = &x->pick.rooms[i], .closed = in->cells[i].closed};
    }
    reserve_init(&x->reserve, x->arena, cells, in->cell_count, in->slices, in->slice_count);
    x->pick.reserve = x->reserve.slice_count ? &x->reserve : NULL;
}

/* An instance of a process, or a unit of a service, of this batch is, or will be, on this cell. */
static void count_instance(struct scheduling *x, uint32_t process, size_t cell)
{
    x->instances[process * x->pick.zone_count + x->pick.zone_of[cell]]++;
}

static void count_what_is_there(struct scheduling *x)
{
    const struct schedule_input *in = x->in;
    for (size_t i = 0; i < in->cell_count; i++) {
        const Cell__CellState *s = in->cells[i].state;
        for (size_t k = 0; k < s->n_lrps; k++) {
            uint32_t process = names_find(&x->processes, s->lrps[k]->process_guid);
            if (process != NAME_UNKNOWN && score_counts(&in->rules->score, s->lrps[k])) {
                tally_add(&x->tally, process, (uint32_t)i);
                count_instance(x, process, i);
            }
        }
        for (size_t k = 0; k < s->n_units; k++) {
            uint32_t service = names_find(&x->processes, s->units[k]->service_guid);
            if (service != NAME_UNKNOWN) {
                tally_add(&x->tally, service, (uint32_t)i);
                count_instance(x, service, i);
            }
        }
    }
    for (size_t i = 0; i < in->taken_count; i++) {
        const struct schedule_taken *t = &in->taken[i];
        struct demand q = job_demand(t->job);
        room_take(&x->pick.rooms[t->cell], &in->rules->score, &q);
        x->in_flight++;
        if (x->pick.reserve) {
            reserve_took(x->pick.reserve, compats_slice_of(&x->compats, t->job), t->cell, &q);
        }
        uint32_t process = names_find(&x->processes, t->job->guid);
        if (job_spreads(t->job) && process != NAME_UNKNOWN) {
            tally_add(&x->tally, process, (uint32_t)t->cell);
            count_instance(x, process, t->cell);
        }
    }
}

/* ---- The order of the jobs ------------------------------------------------------------------- */

static enum job_turn turn_of(const struct job *job)
{
    if (job->kind != JOB_LRP) {
        return job->kind == JOB_UNIT ? TURN_UNITS : TURN_TASKS;
    }
    return job->index == 0 ? TURN_FIRST_INSTANCES : TURN_OTHER_INSTANCES;
}

static bool same_demand(const struct job *a, const struct job *b)
{
    return a->memory_mb == b->memory_mb && a->disk_mb == b->disk_mb && a->kind == b->kind &&
           a->machine.unused == b->machine.unused;
}

static bool same_machines(const struct machine_wish *a, const struct machine_wish *b)
{
    return a->only == b->only && a->number == b->number && a->unused == b->unused;
}

static bool same_filters(const struct job *a, const struct job *b)
{
    return a->root_fs == b->root_fs && a->tags == b->tags && a->tag_count == b->tag_count &&
           a->drivers == b->drivers && a->driver_count == b->driver_count &&
           a->barred == b->barred && a->barred_count == b->barred_count && a->kind == b->kind &&
           same_machines(&a->machine, &b->machine);
}

/* Names the processes, and notes those whose jobs do not all ask for the same. */
static void name_jobs(struct scheduling *x)
{
    const struct schedule_input *in = x->in;
    /* By process. */
    struct queued_job *first = ARENA_ARRAY(x->arena, in->job_count, struct queued_job);
    x->pick.mixed = ARENA_ARRAY(x->arena, in->job_count, bool);
    for (size_t i = 0; i < in->job_count; i++) {
        const struct job *job = &in->jobs[i];
        struct queued_job *q = &x->queue[i];
        q->job = job;
        q->turn = turn_of(job);
        q->process = names_add(&x->processes, job->guid);
        struct queued_job *f = &first[q->process];
        q->compat = f->job && same_filters(f->job, job) ? f->compat : compats_of(&x->compats, job);
        if (!f->job) {
            *f = *q;
        }
        x->pick.mixed[q->process] |= f->compat != q->compat || !same_demand(f->job, job);
    }
}

static int compare_number(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* 5: by index ascending, then memory descending. Between equal ones the order is ours: what asks
 * for the same stands together, then by name. */
static int compare_queued(const void *a, const void *b)
{
    const struct queued_job *x = a, *y = b;
    int order = compare_number(x->turn, y->turn);
    order = order ? order : compare_number(x->job->index, y->job->index);
    order = order ? order : compare_number(y->job->memory_mb, x->job->memory_mb);
    order = order ? order : compare_number(y->job->disk_mb, x->job->disk_mb);
    order = order ? order : compare_number(x->compat, y->compat);
    if (order == 0 && x->process != y->process) {
        order = strcmp(x->job->guid, y->job->guid);
    }
    return order ? order : (x->job > y->job) - (x->job < y->job);
}

/* ---- One job --------------------------------------------------------------------------------- */

static void plan_zones(struct scheduling *x, const struct queued_job *q, size_t preferred)
{
    const struct schedule_rules *rules = x->in->rules;
    const uint32_t *instances = &x->instances[q->process * x->pick.zone_count];
    x->plan.groups = 0;
    if (!job_has_zone(q->job)) {
        zone_all(&x->plan, x->pick.zone_count);
    } else if (rules->zone_count == 0) {
        zone_fewest_first(&x->plan, instances, x->pick.zone_count, x->pick.zone_count);
    } else {
        uint32_t zone = x->preferred[preferred];
        x->plan.zones[0] = zone;
        x->plan.ends[0] = 1;
        x->plan.groups = 1;
        if (q->job->index <= ZONE_LAST_FREE_INDEX) {
            zone_fewest_first(&x->plan, instances, x->pick.zone_count, zone);
        }
    }
}

static void explain(const struct scheduling *x, const struct queued_job *q, const uint32_t *zones,
                    size_t zone_count, uint32_t cell)
{
    uint32_t spared = pick_spared(&x->pick, zones, zone_count, q->process, cell);
    q->decision->equals = pick_count_equals(&x->pick, zones, zone_count, q->process, cell);
    q->decision->spared = spared == cell ? -1 : (int32_t)spared;
}

static int64_t find_cell(struct scheduling *x, const struct queued_job *q)
{
    size_t from = 0;
    for (size_t g = 0; g < x->plan.groups; g++) {
        const uint32_t *zones = &x->plan.zones[from];
        size_t zone_count = x->plan.ends[g] - from;
        int64_t cell = pick_best(&x->pick, zones, zone_count, q->process);
        if (cell >= 0 && x->in->explains) {
            explain(x, q, zones, zone_count, (uint32_t)cell);
        }
        if (cell >= 0) {
            return cell;
        }
        from = x->plan.ends[g];
    }
    int64_t late = pick_late(&x->pick, x->plan.zones, from);
    q->decision->equals = late >= 0;
    return late;
}

static bool planned(const struct scheduling *x, uint32_t zone)
{
    assert(x->plan.groups > 0);
    size_t end = x->plan.ends[x->plan.groups - 1];
    for (size_t i = 0; i < end; i++) {
        if (x->plan.zones[i] == zone) {
            return true;
        }
    }
    return false;
}

/* No cell of the zones that were tried fits: the furthest step, or the common shortage (5.1). */
static void explain_nowhere(struct scheduling *x, const struct queued_job *q)
{
    const struct compat *k = x->compats.list[q->compat];
    enum filter furthest = FILTER_UNUSABLE;
    for (size_t z = 0; z < x->pick.zone_count; z++) {
        if (planned(x, (uint32_t)z) && k->reached[z] > furthest) {
            furthest = k->reached[z];
        }
    }
    if (furthest < FILTER_COMPATIBLE) {
        q->decision->refusal = filter_text(x->arena, furthest, q->job);
        return;
    }
    unsigned common = SHORT_OF_ALL;
    bool kept = false;
    for (size_t z = 0; z < x->pick.zone_count; z++) {
        for (size_t i = 0; planned(x, (uint32_t)z) && i < k->zones[z].count; i++) {
            const struct room *r = &x->pick.rooms[k->zones[z].cells[i]];
            common &= filter_shortage(r, &x->pick.demand);
            kept = kept || pick_kept(&x->pick, k->zones[z].cells[i]);
        }
    }
    q->decision->refusal = kept ? FILTER_TEXT_KEPT : filter_shortage_text(common);
    q->decision->lacks_room = true;
}

static void decide(struct scheduling *x, struct queued_job *q)
{
    const struct schedule_rules *rules = x->in->rules;
    const struct compat *k = x->compats.list[q->compat];
    if (rules->starting_container_maximum > 0 &&
        x->in_flight >= rules->starting_container_maximum && k->furthest != FILTER_UNUSABLE) {
        q->decision->refusal = FILTER_TEXT_IN_FLIGHT;
        return;
    }
    bool pinned = rules->zone_count > 0 && job_has_zone(q->job);
    size_t preferred = pinned ? zone_preferred(q->job->guid, q->job->index, rules->zone_count) : 0;
    /* Once nothing fits, nothing will in this run: rooms only shrink. */
    bool narrow = pinned && q->job->index > ZONE_LAST_FREE_INDEX;
    const struct decision **no_room = &x->no_room[narrow ? preferred : rules->zone_count];
    if (*no_room) {
        q->decision->refusal = (*no_room)->refusal;
        q->decision->lacks_room = (*no_room)->lacks_room;
        return;
    }
    plan_zones(x, q, preferred);
    int64_t cell = x->plan.groups ? find_cell(x, q) : -1;
    if (cell < 0) {
        if (x->plan.groups) {
            explain_nowhere(x, q);
        } else {
            q->decision->refusal = filter_text(x->arena, FILTER_UNUSABLE, q->job);
        }
        *no_room = q->decision;
        return;
    }
    assert(cell < (int64_t)x->in->cell_count && planned(x, x->pick.zone_of[cell]));
    q->decision->cell = (int32_t)cell;
    pick_take(&x->pick, (uint32_t)cell, q->process);
    x->in_flight++;
    if (job_spreads(q->job)) {
        count_instance(x, q->process, (size_t)cell);
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void auction_init(struct scheduling *x, struct arena *a, const struct schedule_input *in)
{
    *x = (struct scheduling){.arena = a, .in = in};
    names_init(&x->processes, a, in->job_count / 4);
    tally_init(&x->tally, a, in->job_count);
    name_zones(x);
    prepare_zones(x);
    prepare_rooms(x);
    prepare_reserve(x);
    x->compats = (struct compats){
        .arena = a,
        .cells = in->cells,
        .cell_count = in->cell_count,
        .zone_of = x->pick.zone_of,
        .zone_count = x->pick.zone_count,
        .reserve = x->pick.reserve,
    };
    compats_init(&x->compats);
    x->pick.rules = &in->rules->score;
    x->pick.ranks = in->ranks ? in->ranks : tie_ranks_in_order(a, in->cell_count);
    x->pick.tally = &x->tally;
    x->queue = ARENA_ARRAY(a, in->job_count, struct queued_job);
    name_jobs(x);
    size_t pairs = x->processes.count * x->pick.zone_count;
    x->pick.floors = ARENA_ARRAY(a, pairs, uint32_t);
    x->instances = ARENA_ARRAY(a, pairs, uint32_t);
    count_what_is_there(x);
}

/* One that has late cells is a run of its own: no other shares its search. */
static bool same_run(const struct queued_job *a, const struct queued_job *b)
{
    bool alone = a->job->late_count > 0 || b->job->late_count > 0;
    return alone ? a == b : a->compat == b->compat && same_demand(a->job, b->job);
}

static void decide_run(struct scheduling *x, size_t from, size_t end)
{
    const struct queued_job *first = &x->queue[from];
    const struct compat *k = x->compats.list[first->compat];
    struct demand q = job_demand(first->job);
    memset(x->no_room, 0, (x->in->rules->zone_count + 1) * sizeof(*x->no_room));
    pick_begin(&x->pick, compats_slice_of(&x->compats, first->job), &q, k->zones, end - from);
    if (first->job->late_count > 0) {
        pick_set_late(&x->pick, first->job->late, first->job->late_count);
    }
    for (size_t i = from; i < end; i++) {
        decide(x, &x->queue[i]);
    }
}

struct decision *schedule(struct arena *a, const struct schedule_input *in)
{
    assert(in->cell_count < INT32_MAX && in->job_count < UINT32_MAX / 2);
    struct decision *decisions = ARENA_ARRAY(a, in->job_count, struct decision);
    struct scheduling x;
    auction_init(&x, a, in);
    for (size_t i = 0; i < in->job_count; i++) {
        decisions[i].cell = decisions[i].spared = -1;
        x.queue[i].decision = &decisions[i];
    }
    qsort(x.queue, in->job_count, sizeof(*x.queue), compare_queued);
    for (size_t from = 0, end; from < in->job_count; from = end) {
        for (end = from; end < in->job_count && same_run(&x.queue[from], &x.queue[end]); end++) {
            x.queue[end].decision->turn = (uint32_t)end;
        }
        decide_run(&x, from, end);
    }
    return decisions;
}
