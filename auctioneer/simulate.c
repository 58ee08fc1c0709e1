#include "auctioneer/simulate.h"

#include "auctioneer/filter.h"
#include "auctioneer/reserve.h"
#include "auctioneer/tie.h"
#include "common/model/pool_tag.h"

#include <assert.h>
#include <string.h>

/* A cell that takes part, as the jobs before left it. */
struct player {
    const struct why_cell *from;
    struct why_cell *left; /* the same, as the jobs before left it */
    struct room room;
    Cell__CellState state; /* shallow, with the room that is left */
    Cell__Resources free;
    uint32_t placed;
};

struct simulation {
    struct arena *arena;
    const struct simulate_input *in;
    struct decision *decisions; /* by job */
    struct player *players;     /* the usable ones of the cells */
    size_t player_count;
    struct reserve reserve; /* of the players, as the jobs before left them */
    struct why_cell *left;  /* the cells, as the jobs before left them */
    unsigned explained;
    uint32_t *turns; /* turn -> job */
};

static bool is_usable(const struct why_cell *cell)
{
    return cell->state && !(cell->unusable && *cell->unusable);
}

static char *borrowed(const char *text)
{
    return (char *)(uintptr_t)text;
}

/* 5.2: with a bin-pack weight the cells of each zone count 0, 1, 2 by their cell_index. */
static void renumber(struct simulation *s)
{
    for (size_t i = 0; i < s->player_count; i++) {
        const Cell__CellState *one = &s->players[i].state;
        s->players[i].room.index = 0;
        for (size_t k = 0; k < s->player_count; k++) {
            const Cell__CellState *other = &s->players[k].state;
            bool before =
                other->cell_index != one->cell_index ? other->cell_index < one->cell_index : k < i;
            s->players[i].room.index += before && strcmp(one->zone, other->zone) == 0;
        }
    }
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static void reserve(struct simulation *s)
{
    struct reserve_cell *cells = ARENA_ARRAY(s->arena, s->player_count, struct reserve_cell);
    for (size_t i = 0; i < s->player_count; i++) {
        cells[i] =
            (struct reserve_cell){.state = &s->players[i].state, .room = &s->players[i].room};
    }
    reserve_init(&s->reserve, s->arena, cells, s->player_count, s->in->slices, s->in->slice_count);
}

static uint32_t slice_of(const struct simulation *s, const struct job *job)
{
    return job->kind == JOB_LRP ? reserve_slice_of(&s->reserve, job->guid) : RESERVE_NO_SLICE;
}

static void decide(struct simulation *s)
{
    struct schedule_cell *list = ARENA_ARRAY(s->arena, s->in->cell_count, struct schedule_cell);
    s->players = ARENA_ARRAY(s->arena, s->in->cell_count, struct player);
    s->left = arena_copy(s->arena, s->in->cells, s->in->cell_count * sizeof(*s->left));
    for (size_t i = 0; i < s->in->cell_count; i++) {
        if (is_usable(&s->in->cells[i])) {
            struct player *p = &s->players[s->player_count];
            list[s->player_count++] = (struct schedule_cell){.state = s->in->cells[i].state,
                                                             .machine = s->in->cells[i].machine};
            p->from = &s->in->cells[i];
            p->state = *p->from->state;
            room_init(&p->room, &p->state);
            p->left = &s->left[i];
            p->left->state = &p->state;
        }
    }
    if (s->in->rules->score.bin_pack_first_fit_weight > 0) {
        renumber(s);
    }
    reserve(s);
    uint64_t entropy[2] = {s->in->seed, ~s->in->seed};
    struct schedule_input in = {.rules = s->in->rules,
                                .cells = list,
                                .cell_count = s->player_count,
                                .jobs = s->in->jobs,
                                .job_count = s->in->job_count,
                                .slices = s->in->slices,
                                .slice_count = s->in->slice_count,
                                .ranks = tie_ranks(s->arena, entropy, s->player_count),
                                .explains = true};
    s->decisions = schedule(s->arena, &in);
    s->turns = ARENA_ARRAY(s->arena, s->in->job_count, uint32_t);
    for (size_t i = 0; i < s->in->job_count; i++) {
        s->turns[s->decisions[i].turn] = (uint32_t)i;
    }
}

/* ---- Explaining ------------------------------------------------------------------------------ */

static uint32_t count_fitting(const struct simulation *s, const struct job *job,
                              const struct demand *q)
{
    uint32_t fit = 0;
    for (size_t i = 0; i < s->player_count; i++) {
        const struct player *p = &s->players[i];
        fit += room_fits(&p->room, q) && p->room.whole && !reserve_keeper(&s->reserve, i) &&
               filter_cell(p->from->state, &p->from->machine, job) == FILTER_COMPATIBLE;
    }
    return fit;
}

/* Instances of the process, or units of the service, on the cell: those it has, and those placed
 * before this turn. */
static uint32_t locality(const struct simulation *s, size_t turn, int32_t cell)
{
    const struct job *job = &s->in->jobs[s->turns[turn]];
    const Cell__CellState *state = s->players[cell].from->state;
    uint32_t count = 0;
    for (size_t i = 0; i < state->n_lrps; i++) {
        count += score_counts(&s->in->rules->score, state->lrps[i]) &&
                 strcmp(state->lrps[i]->process_guid, job->guid) == 0;
    }
    for (size_t i = 0; i < state->n_units; i++) {
        count += strcmp(state->units[i]->service_guid, job->guid) == 0;
    }
    for (size_t t = 0; t < turn; t++) {
        const struct job *before = &s->in->jobs[s->turns[t]];
        count += s->decisions[s->turns[t]].cell == cell && job_spreads(before) &&
                 strcmp(before->guid, job->guid) == 0;
    }
    return count;
}

/* What has a unit is a machine, and unused no more. The number of one that is made is not known:
 * nobody asks for it yet. */
static void take_machine(struct machine_sight *m)
{
    m->number = m->is ? m->number : UINT32_MAX;
    m->open = m->open || !m->is;
    m->is = true;
    m->clean = false;
}

static void take(struct player *p, const struct score_rules *rules, const struct demand *q)
{
    if (q->kind == JOB_UNIT) {
        take_machine(&p->left->machine);
    }
    room_take(&p->room, rules, q);
    cell__resources__init(&p->free);
    p->free.memorymb = (int32_t)p->room.free_memory;
    p->free.diskmb = (int32_t)p->room.free_disk;
    p->free.containers = (int32_t)p->room.free_containers;
    p->state.availableresources = &p->free;
    p->state.startingcontainercount++;
    p->placed++;
}

/* So that it counts for its slice in explanations. */
static void add_lrp(struct arena *a, Cell__CellState *state, const struct job *job)
{
    Cell__LRP **more = ARENA_ARRAY(a, state->n_lrps + 1, Cell__LRP *);
    Cell__LRP *lrp = arena_message(a, &cell__lrp__descriptor);
    lrp->process_guid = borrowed(job->guid);
    lrp->index = job->index;
    lrp->memorymb = job->memory_mb;
    lrp->diskmb = job->disk_mb;
    for (size_t i = 0; i < state->n_lrps; i++) {
        more[i] = state->lrps[i];
    }
    more[state->n_lrps++] = lrp;
    state->lrps = more;
}

static void tell_placed(struct simulation *s, size_t turn, const struct demand *q,
                        Auction__SimulatedJob *ret)
{
    const struct job *job = &s->in->jobs[s->turns[turn]];
    int32_t cell = s->decisions[s->turns[turn]].cell;
    struct player *p = &s->players[cell];
    double base = score_base(&p->room, &s->in->rules->score, q);
    ret->cell_id = borrowed(p->from->id);
    ret->zone = p->from->state->zone;
    ret->equals = s->decisions[s->turns[turn]].equals;
    int32_t spared = s->decisions[s->turns[turn]].spared;
    ret->failed_starts = (uint32_t)p->room.failed_starts;
    ret->failed_starts_score = score_failed_starts(&p->room, &s->in->rules->score);
    ret->spared_cell_id = spared < 0 ? ret->spared_cell_id : borrowed(s->players[spared].from->id);
    ret->score = job_spreads(job) ? score_with(base, locality(s, turn, cell)) : base;
    take(p, &s->in->rules->score, q);
    uint32_t slice = slice_of(s, job);
    reserve_took(&s->reserve, slice, (size_t)cell, q);
    if (slice != RESERVE_NO_SLICE) {
        add_lrp(s->arena, &p->state, job);
    }
}

/* Units of a service may ask for different machines. */
static bool are_alike(const struct job *a, const struct job *b)
{
    return a->kind == b->kind && strcmp(a->guid, b->guid) == 0 &&
           a->machine.only == b->machine.only && a->machine.number == b->machine.number &&
           a->machine.unused == b->machine.unused;
}

static void tell_refused(struct simulation *s, const struct job *job, const char *refusal,
                         const struct job *last, Auction__SimulatedJob *ret)
{
    ret->reason = borrowed(refusal);
    if (last && are_alike(last, job)) {
        return; /* for the same reason */
    }
    if (s->explained++ >= SIMULATE_EXPLAINED_MAX) {
        return;
    }
    ret->why = arena_message(s->arena, &auction__why__descriptor);
    ret->why->process_guid = ret->process_guid;
    ret->why->index = ret->index;
    ret->why->task_guid = ret->task_guid;
    ret->why->unit = ret->unit;
    ret->why->state = borrowed("unplaced");
    ret->why->reason = ret->reason;
    ret->why->memory_mb = job->memory_mb;
    ret->why->disk_mb = job->disk_mb;
    ret->why->root_fs = borrowed(job->root_fs);
    ret->why->placement_tags = (char **)(uintptr_t)job->tags;
    ret->why->n_placement_tags = job->tag_count;
    ret->why->volume_drivers = (char **)(uintptr_t)job->drivers;
    ret->why->n_volume_drivers = job->driver_count;
    why_explain(s->arena,
                &(struct why_input){.rules = s->in->rules,
                                    .cells = s->left,
                                    .cell_count = s->in->cell_count,
                                    .slices = s->in->slices,
                                    .slice_count = s->in->slice_count},
                job, ret->why);
}

static Auction__SimulatedJob *tell_job(struct simulation *s, size_t turn, const struct job *last)
{
    const struct job *job = &s->in->jobs[s->turns[turn]];
    const struct decision *d = &s->decisions[s->turns[turn]];
    struct demand q = job_demand(job);
    Auction__SimulatedJob *shown = arena_message(s->arena, &auction__simulated_job__descriptor);
    if (job->kind == JOB_TASK) {
        shown->task_guid = borrowed(job->guid);
    } else if (job->kind == JOB_UNIT) {
        shown->unit = borrowed(job->unit);
    } else {
        shown->process_guid = borrowed(job->guid);
        shown->index = job->index;
    }
    reserve_begin(&s->reserve, slice_of(s, job), &q);
    shown->fit = count_fitting(s, job, &q);
    if (d->cell >= 0) {
        tell_placed(s, turn, &q, shown);
    } else {
        tell_refused(s, job, d->refusal, last, shown);
    }
    return shown;
}

/* By its tag, which the cell requires. */
static const char *pool_of(const Cell__CellState *state)
{
    for (size_t i = 0; i < state->n_placementtags; i++) {
        if (pool_tag_is(state->placementtags[i])) {
            return state->placementtags[i];
        }
    }
    return "";
}

static void tell_machine(struct arena *a, const struct machine_sight *m,
                         Auction__SimulatedCell *ret)
{
    if (m->is) {
        ret->machine = arena_message(a, &auction__simulated_machine__descriptor);
        ret->machine->number = m->number;
        ret->machine->open = m->open;
        ret->machine->unused = m->clean;
    }
}

static Auction__SimulatedCell *tell_cell(struct simulation *s, const struct why_cell *cell)
{
    Auction__SimulatedCell *shown = arena_message(s->arena, &auction__simulated_cell__descriptor);
    shown->cell_id = borrowed(cell->id);
    if (!is_usable(cell)) {
        shown->unusable =
            borrowed(cell->unusable && *cell->unusable ? cell->unusable : "not known");
        return shown;
    }
    const struct player *p = s->players;
    while (p->from != cell) {
        p++;
    }
    shown->zone = cell->state->zone;
    shown->pool = borrowed(pool_of(cell->state));
    tell_machine(s->arena, &cell->machine, shown);
    shown->placed = p->placed;
    shown->failed_starts = (uint32_t)p->room.failed_starts;
    shown->failed_starts_score = score_failed_starts(&p->room, &s->in->rules->score);
    shown->memory_mb = (int32_t)p->room.free_memory;
    shown->disk_mb = (int32_t)p->room.free_disk;
    shown->containers = (int32_t)p->room.free_containers;
    shown->total_memory_mb = (int32_t)p->room.total_memory;
    shown->total_disk_mb = (int32_t)p->room.total_disk;
    shown->total_containers = (int32_t)p->room.total_containers;
    return shown;
}

void simulate(struct arena *a, const struct simulate_input *in, Auction__Simulation *ret)
{
    struct simulation s = {.arena = a, .in = in};
    assert(in->cell_count <= SIMULATE_CELLS_MAX && in->job_count <= SIMULATE_JOBS_MAX);
    auction__simulation__init(ret);
    decide(&s);
    ret->jobs = ARENA_ARRAY(a, in->job_count, Auction__SimulatedJob *);
    const struct job *last = NULL; /* that goes nowhere */
    for (; ret->n_jobs < in->job_count; ret->n_jobs++) {
        const struct job *job = &in->jobs[s.turns[ret->n_jobs]];
        Auction__SimulatedJob *shown = tell_job(&s, ret->n_jobs, last);
        ret->jobs[ret->n_jobs] = shown;
        ret->placed += *shown->cell_id != '\0';
        ret->refused += *shown->cell_id == '\0';
        last = *shown->cell_id ? last : job;
    }
    ret->cells = ARENA_ARRAY(a, in->cell_count, Auction__SimulatedCell *);
    for (; ret->n_cells < in->cell_count; ret->n_cells++) {
        ret->cells[ret->n_cells] = tell_cell(&s, &in->cells[ret->n_cells]);
    }
}
