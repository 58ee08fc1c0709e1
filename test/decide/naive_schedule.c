#include "test/decide/naive_schedule.h"

#include "auctioneer/filter.h"
#include "auctioneer/zone.h"

#include <string.h>

struct naive {
    struct arena *arena;
    const struct schedule_input *in;
    struct room *rooms;
    int32_t *where;              /* by job: its cell, or -1 */
    uint32_t *on_cell, *in_zone; /* by cell: instances of the process that is looked at */
    int64_t in_flight;
};

/* Instances of this process on each cell, and in the zone of each cell. */
static void count(struct naive *n, const char *process_guid)
{
    const struct schedule_input *in = n->in;
    for (size_t c = 0; c < in->cell_count; c++) {
        const Cell__CellState *s = in->cells[c].state;
        n->on_cell[c] = n->in_zone[c] = 0;
        for (size_t i = 0; i < s->n_lrps; i++) {
            const char *is = s->lrps[i]->state;
            bool over = strcmp(is, "CRASHED") == 0 || strcmp(is, "SHUTDOWN") == 0;
            n->on_cell[c] += (!over || in->rules->score.scoring == SCORING_DIEGO) &&
                             strcmp(s->lrps[i]->process_guid, process_guid) == 0;
        }
    }
    for (size_t c = 0; c < in->cell_count; c++) {
        const Cell__CellState *s = in->cells[c].state;
        for (size_t i = 0; i < s->n_units; i++) {
            n->on_cell[c] += strcmp(s->units[i]->service_guid, process_guid) == 0;
        }
    }
    for (size_t i = 0; i < in->taken_count; i++) {
        const struct job *job = in->taken[i].job;
        n->on_cell[in->taken[i].cell] +=
            job->kind != JOB_TASK && strcmp(job->guid, process_guid) == 0;
    }
    for (size_t i = 0; i < in->job_count; i++) {
        if (n->where[i] >= 0 && in->jobs[i].kind != JOB_TASK) {
            n->on_cell[n->where[i]] += strcmp(in->jobs[i].guid, process_guid) == 0;
        }
    }
    for (size_t c = 0; c < in->cell_count; c++) {
        for (size_t o = 0; o < in->cell_count; o++) {
            bool same = strcmp(in->cells[o].state->zone, in->cells[c].state->zone) == 0;
            n->in_zone[c] += same ? n->on_cell[o] : 0;
        }
    }
}

/* The cell's rank among those of its zone by cell_index, for bin packing. */
static double rank(const struct schedule_input *in, size_t cell)
{
    const Cell__CellState *s = in->cells[cell].state;
    size_t lower = 0;
    for (size_t i = 0; i < in->cell_count; i++) {
        const Cell__CellState *o = in->cells[i].state;
        lower += strcmp(o->zone, s->zone) == 0 &&
                 (o->cell_index < s->cell_index || (o->cell_index == s->cell_index && i < cell));
    }
    return (double)lower;
}

/* In which attempt the cell is tried for this job, the lowest first; -1 = never. */
static int64_t attempt(const struct naive *n, const struct job *job, size_t cell)
{
    const struct schedule_rules *rules = n->in->rules;
    if (job->kind == JOB_TASK || job->machine.only) {
        return 0;
    }
    if (rules->zone_count == 0) {
        return n->in_zone[cell];
    }
    size_t preferred = zone_preferred(job->guid, job->index, rules->zone_count);
    if (strcmp(n->in->cells[cell].state->zone, rules->zones[preferred]) == 0) {
        return 0;
    }
    return job->index <= 1 ? 1 + (int64_t)n->in_zone[cell] : -1;
}

static bool is_closed(const struct naive *n, const struct job *job, size_t cell)
{
    bool closed = n->in->cells[cell].closed;
    for (size_t i = 0; i < job->barred_count; i++) {
        closed = closed || job->barred[i] == cell;
    }
    return closed;
}

bool naive_is_late(const struct job *job, int64_t cell)
{
    bool late = false;
    for (size_t i = 0; i < job->late_count; i++) {
        late = late || job->late[i] == cell;
    }
    return late;
}

/* The lowest attempt above `last` of any open cell; -1 = there is none. */
static int64_t next_attempt(const struct naive *n, const struct job *job, int64_t last)
{
    int64_t next = -1;
    for (size_t c = 0; c < n->in->cell_count; c++) {
        int64_t at = is_closed(n, job, c) ? -1 : attempt(n, job, c);
        if (at > last && (next < 0 || at < next)) {
            next = at;
        }
    }
    return next;
}

struct found {
    bool forgiving; /* failed starts count for nothing */
    int64_t cell;
    double score, base;
    uint32_t equals; /* that are as good, itself among them */
    enum filter furthest;
    unsigned common;
    bool kept; /* one that has the room, for slices */
};

/* Below 0: better than what was found; 0: as good. */
static int compare(const struct found *f, double score, double base)
{
    if (score != f->score || f->cell < 0) {
        return score < f->score ? -1 : 1;
    }
    return base < f->base ? -1 : base > f->base;
}

/* ---- What slices keep free: the rules of auctioneer/reserve.h -------------------------------- */

struct naive_sum {
    double of[3]; /* memory, disk, containers */
};

static bool is_quota(const Board__SliceRecord *s)
{
    return s->n_cells == 0 && s->node;
}

/* NULL = in none. */
static const Board__SliceRecord *slice_of(const struct naive *n, const char *process_guid)
{
    for (size_t i = 0; i < n->in->slice_count; i++) {
        const Board__SliceRecord *s = n->in->slices[i];
        for (size_t k = 0; is_quota(s) && k < s->n_uses; k++) {
            if (strcmp(s->uses[k]->process_guid, process_guid) == 0) {
                return s;
            }
        }
    }
    return NULL;
}

static const Board__SliceRecord *slice_of_job(const struct naive *n, const struct job *job)
{
    return job->kind == JOB_LRP ? slice_of(n, job->guid) : NULL;
}

static void less(struct naive_sum *sum, double memory_mb, double disk_mb)
{
    sum->of[0] -= memory_mb;
    sum->of[1] -= disk_mb;
    sum->of[2] -= 1;
}

static struct naive_sum unused_of(const struct naive *n, const Board__SliceRecord *s)
{
    const struct schedule_input *in = n->in;
    struct naive_sum u = {{(double)s->nodes * s->node->memory_mb,
                           (double)s->nodes * s->node->disk_mb,
                           (double)s->nodes * s->node->containers}};
    for (size_t c = 0; c < in->cell_count; c++) {
        const Cell__CellState *state = in->cells[c].state;
        for (size_t i = 0; i < state->n_lrps; i++) {
            if (slice_of(n, state->lrps[i]->process_guid) == s) {
                less(&u, state->lrps[i]->memorymb, state->lrps[i]->diskmb);
            }
        }
    }
    for (size_t i = 0; i < in->taken_count; i++) {
        if (slice_of_job(n, in->taken[i].job) == s) {
            less(&u, in->taken[i].job->memory_mb, in->taken[i].job->disk_mb);
        }
    }
    for (size_t i = 0; i < in->job_count; i++) {
        if (n->where[i] >= 0 && slice_of_job(n, &in->jobs[i]) == s) {
            less(&u, in->jobs[i].memory_mb, in->jobs[i].disk_mb);
        }
    }
    for (int r = 0; r < 3; r++) {
        u.of[r] = u.of[r] < 0 ? 0 : u.of[r];
    }
    return u;
}

static bool is_one_of(char *const *list, size_t count, const char *tag)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        found = found || strcmp(list[i], tag) == 0;
    }
    return found;
}

/* Whether work of the slice may be on the cell. */
static bool may_have(const struct naive *n, const Board__SliceRecord *s, size_t cell)
{
    const Cell__CellState *c = n->in->cells[cell].state;
    const Board__NodeSize *node = s->node;
    bool may = n->rooms[cell].whole;
    for (size_t i = 0; i < c->n_placementtags; i++) {
        may = may && is_one_of(node->placement_tags, node->n_placement_tags, c->placementtags[i]);
    }
    for (size_t i = 0; i < node->n_placement_tags; i++) {
        const char *tag = node->placement_tags[i];
        may = may && (is_one_of(c->placementtags, c->n_placementtags, tag) ||
                      is_one_of(c->optionalplacementtags, c->n_optionalplacementtags, tag));
    }
    return may;
}

/* `whole` NULL = of all slices. */
static bool has(const struct naive *n, const Board__SliceRecord *whole, size_t cell)
{
    bool any = false;
    for (size_t i = 0; !whole && i < n->in->slice_count; i++) {
        any = any || (is_quota(n->in->slices[i]) && may_have(n, n->in->slices[i], cell));
    }
    return whole ? may_have(n, whole, cell) : any;
}

static bool is_within(const struct naive *n, const Board__SliceRecord *part,
                      const Board__SliceRecord *whole)
{
    for (size_t c = 0; c < n->in->cell_count; c++) {
        if (may_have(n, part, c) && !has(n, whole, c)) {
            return false;
        }
    }
    return true;
}

/* Whether what is free on the cells of `whole` is kept from the job. */
static bool is_kept_of(const struct naive *n, const struct job *job,
                       const Board__SliceRecord *whole)
{
    const struct schedule_input *in = n->in;
    const Board__SliceRecord *own = slice_of_job(n, job);
    struct naive_sum free = {0}, unused = {0}, asked = {{job->memory_mb, job->disk_mb, 1}},
                     part = {0};
    double proxy = 0;
    for (size_t c = 0; c < in->cell_count; c++) {
        const struct room *r = &n->rooms[c];
        if (has(n, whole, c)) {
            proxy = r->proxy_memory > proxy ? r->proxy_memory : proxy;
        }
        if (has(n, whole, c) && !in->cells[c].closed) {
            free.of[0] += r->free_memory > 0 ? r->free_memory : 0;
            free.of[1] += r->free_disk > 0 ? r->free_disk : 0;
            free.of[2] += r->free_containers > 0 ? r->free_containers : 0;
        }
    }
    for (size_t i = 0; i < in->slice_count; i++) {
        const Board__SliceRecord *s = in->slices[i];
        if (is_quota(s) && is_within(n, s, whole)) {
            struct naive_sum u = unused_of(n, s);
            for (int r = 0; r < 3; r++) {
                unused.of[r] += u.of[r];
                part.of[r] = s != own ? part.of[r] : u.of[r] < asked.of[r] ? u.of[r] : asked.of[r];
            }
        }
    }
    bool kept = false;
    for (int r = 0; r < 3; r++) {
        double needed = asked.of[r] + (r == 0 && job->kind == JOB_LRP ? proxy : 0);
        kept =
            kept || (asked.of[r] > part.of[r] && free.of[r] - needed < unused.of[r] - part.of[r]);
    }
    return kept;
}

static bool is_kept(const struct naive *n, const struct job *job, size_t cell)
{
    bool kept = false, any = false;
    for (size_t i = 0; i < n->in->slice_count; i++) {
        const Board__SliceRecord *s = n->in->slices[i];
        any = any || is_quota(s);
        kept = kept || (is_quota(s) && may_have(n, s, cell) && is_kept_of(n, job, s));
    }
    return kept || (any && has(n, NULL, cell) && is_kept_of(n, job, NULL));
}

static void try_cell(const struct naive *n, const struct job *job, size_t cell, struct found *f)
{
    struct demand q = {job->kind, job->memory_mb, job->disk_mb, job->machine.unused};
    struct room without = n->rooms[cell];
    without.failed_starts = f->forgiving ? 0 : without.failed_starts;
    const struct room *r = &without;
    enum filter step = filter_cell(n->in->cells[cell].state, &n->in->cells[cell].machine, job);
    f->furthest = step > f->furthest ? step : f->furthest;
    if (step < FILTER_COMPATIBLE) {
        return;
    }
    f->common &= filter_shortage(r, &q);
    if (!room_fits(r, &q) || !r->whole) {
        return;
    }
    if (is_kept(n, job, cell)) {
        f->kept = true;
        return;
    }
    double base = score_base(r, &n->in->rules->score, &q);
    double score = job->kind == JOB_TASK ? base : score_with(base, n->on_cell[cell]);
    int order = compare(f, score, base);
    f->equals = order < 0 ? 1 : f->equals + (order == 0);
    const uint32_t *ranks = n->in->ranks;
    if (order < 0 || (order == 0 && ranks && ranks[cell] < ranks[f->cell])) {
        f->score = score;
        f->base = base;
        f->cell = (int64_t)cell;
    }
}

static void try_all(const struct naive *n, const struct job *job, struct found *f)
{
    for (int64_t at = next_attempt(n, job, -1); at >= 0 && f->cell < 0;
         at = next_attempt(n, job, at)) {
        for (size_t c = 0; c < n->in->cell_count; c++) {
            if (!is_closed(n, job, c) && attempt(n, job, c) == at &&
                !naive_is_late(job, (int64_t)c)) {
                try_cell(n, job, c, f);
            }
        }
    }
}

/* They come last, in this order, whatever their scores. */
static void try_late(const struct naive *n, const struct job *job, struct found *f)
{
    for (size_t i = 0; i < job->late_count && f->cell < 0; i++) {
        if (!is_closed(n, job, job->late[i]) && attempt(n, job, job->late[i]) >= 0) {
            try_cell(n, job, job->late[i], f);
        }
    }
}

static void decide(struct naive *n, size_t number, struct decision *d)
{
    const struct schedule_input *in = n->in;
    const struct job *job = &in->jobs[number];
    struct found f = {.cell = -1, .score = SCORE_INITIAL_BEST, .common = SHORT_OF_ALL};
    bool open = false;
    for (size_t c = 0; c < in->cell_count; c++) {
        open = open || !is_closed(n, job, c);
    }
    if (open && in->rules->starting_container_maximum > 0 &&
        n->in_flight >= in->rules->starting_container_maximum) {
        d->refusal = FILTER_TEXT_IN_FLIGHT;
        return;
    }
    count(n, job->guid);
    try_all(n, job, &f);
    struct found spared = {.forgiving = true, .cell = -1, .score = SCORE_INITIAL_BEST};
    try_all(n, job, &spared);
    try_late(n, job, &f);
    spared.cell = spared.cell < 0 ? f.cell : spared.cell;
    d->spared = spared.cell == f.cell ? -1 : (int32_t)spared.cell;
    if (f.cell < 0) {
        d->refusal = f.furthest < FILTER_COMPATIBLE ? filter_text(n->arena, f.furthest, job)
                     : f.kept                       ? FILTER_TEXT_KEPT
                                                    : filter_shortage_text(f.common);
        return;
    }
    struct demand q = {job->kind, job->memory_mb, job->disk_mb, job->machine.unused};
    room_take(&n->rooms[f.cell], &in->rules->score, &q);
    n->where[number] = d->cell = (int32_t)f.cell;
    d->equals = f.equals;
    n->in_flight++;
}

struct decision *naive_schedule(struct arena *a, const struct schedule_input *in,
                                const size_t *order)
{
    struct naive n = {.arena = a, .in = in};
    n.rooms = ARENA_ARRAY(a, in->cell_count, struct room);
    n.where = ARENA_ARRAY(a, in->job_count, int32_t);
    n.on_cell = ARENA_ARRAY(a, in->cell_count, uint32_t);
    n.in_zone = ARENA_ARRAY(a, in->cell_count, uint32_t);
    struct decision *decisions = ARENA_ARRAY(a, in->job_count, struct decision);
    for (size_t c = 0; c < in->cell_count; c++) {
        room_init(&n.rooms[c], in->cells[c].state);
        if (in->rules->score.bin_pack_first_fit_weight > 0) {
            n.rooms[c].index = rank(in, c);
        }
        n.in_flight += in->cells[c].state->startingcontainercount;
    }
    for (size_t i = 0; i < in->taken_count; i++) {
        const struct job *job = in->taken[i].job;
        struct demand q = {job->kind, job->memory_mb, job->disk_mb, job->machine.unused};
        room_take(&n.rooms[in->taken[i].cell], &in->rules->score, &q);
        n.in_flight++;
    }
    for (size_t i = 0; i < in->job_count; i++) {
        n.where[i] = decisions[i].cell = decisions[i].spared = -1;
    }
    for (size_t i = 0; i < in->job_count; i++) {
        decisions[order[i]].turn = (uint32_t)i;
        decide(&n, order[i], &decisions[order[i]]);
    }
    return decisions;
}

static int turn(const struct job *job)
{
    if (job->kind != JOB_LRP) {
        return job->kind == JOB_UNIT ? 1 : 2;
    }
    return job->index == 0 ? 0 : 3;
}

bool naive_may_follow(const struct job *a, const struct job *b)
{
    if (turn(a) != turn(b)) {
        return turn(a) < turn(b);
    }
    if (a->index != b->index) {
        return a->index < b->index;
    }
    return a->memory_mb >= b->memory_mb;
}
