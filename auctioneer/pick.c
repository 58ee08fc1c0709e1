#include "auctioneer/pick.h"

#include <assert.h>

#define NOWHERE UINT32_MAX

/* The order of cells: what they share, then their rank. */
static bool before(const struct pick *p, double base, uint32_t cell, double other_base,
                   uint32_t other)
{
    return base < other_base || (base == other_base && p->ranks[cell] < p->ranks[other]);
}

/* ---- The heap of a zone ---------------------------------------------------------------------- */

static void set(struct pick *p, struct pick_zone *z, size_t at, uint32_t cell, double base)
{
    z->cells[at] = cell;
    z->bases[at] = base;
    p->positions[cell] = (uint32_t)at;
}

/* Moves the entry at `at` down to its place. */
static void sift_down(struct pick *p, struct pick_zone *z, size_t at)
{
    uint32_t cell = z->cells[at];
    double base = z->bases[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= z->count) {
            break;
        }
        if (child + 1 < z->count &&
            before(p, z->bases[child + 1], z->cells[child + 1], z->bases[child], z->cells[child])) {
            child++;
        }
        if (!before(p, z->bases[child], z->cells[child], base, cell)) {
            break;
        }
        set(p, z, at, z->cells[child], z->bases[child]);
        at = child;
    }
    set(p, z, at, cell, base);
}

static void sift_up(struct pick *p, struct pick_zone *z, size_t at)
{
    uint32_t cell = z->cells[at];
    double base = z->bases[at];
    while (at > 0) {
        size_t parent = (at - 1) / 2;
        if (!before(p, base, cell, z->bases[parent], z->cells[parent])) {
            break;
        }
        set(p, z, at, z->cells[parent], z->bases[parent]);
        at = parent;
    }
    set(p, z, at, cell, base);
}

static void drop(struct pick *p, struct pick_zone *z, size_t at)
{
    assert(at < z->count && p->positions[z->cells[at]] == at);
    p->positions[z->cells[at]] = NOWHERE;
    z->count--;
    if (at < z->count) {
        uint32_t moved = z->cells[z->count];
        set(p, z, at, moved, z->bases[z->count]);
        sift_up(p, z, at);
        sift_down(p, z, p->positions[moved]);
    }
}

/* ---- A run ----------------------------------------------------------------------------------- */

static bool has_room(const struct pick *p, uint32_t cell)
{
    return room_fits(&p->rooms[cell], &p->demand) && p->rooms[cell].whole;
}

static bool may_take(const struct pick *p, uint32_t cell)
{
    return has_room(p, cell) && !(p->reserve && p->reserve->keeps[cell]);
}

bool pick_kept(const struct pick *p, uint32_t cell)
{
    return p->reserve && p->reserve->keeps[cell] && has_room(p, cell);
}

static void make_heap(struct pick *p, struct pick_zone *z, const struct pick_cells *cells)
{
    z->count = 0;
    for (size_t i = 0; i < cells->count; i++) {
        const struct room *r = &p->rooms[cells->cells[i]];
        p->positions[cells->cells[i]] = NOWHERE;
        if (may_take(p, cells->cells[i])) {
            set(p, z, z->count++, cells->cells[i], score_base(r, p->rules, &p->demand));
        }
    }
    for (size_t at = z->count / 2; at-- > 0;) {
        sift_down(p, z, at);
    }
}

static void make_heaps(struct pick *p)
{
    for (size_t i = 0; p->heaped && i < p->zone_count; i++) {
        make_heap(p, &p->zones[i], &p->cells[i]);
    }
}

void pick_begin(struct pick *p, uint32_t slice, const struct demand *q,
                const struct pick_cells *cells, size_t jobs)
{
    p->demand = *q;
    p->slice = slice;
    p->cells = cells;
    p->late_count = 0;
    p->heaped = jobs >= PICK_HEAP_MIN_JOBS;
    if (p->reserve) {
        reserve_begin(p->reserve, slice, &p->demand);
    }
    make_heaps(p);
}

void pick_set_late(struct pick *p, const uint32_t *late, size_t count)
{
    assert(!p->heaped);
    p->late = late;
    p->late_count = count;
}

static bool is_late(const struct pick *p, uint32_t cell)
{
    bool late = false;
    for (size_t i = 0; i < p->late_count; i++) {
        late = late || p->late[i] == cell;
    }
    return late;
}

/* ---- The search ------------------------------------------------------------------------------ */

struct best {
    double score;
    double base;
    int64_t cell;
};

/* Whether a cell with this score would win. Between scores that are equal after rounding the shared
 * part decides, so that the heap's order and this one agree. */
static bool wins(const struct pick *p, const struct best *b, double score, double base,
                 uint32_t cell)
{
    if (score != b->score || b->cell < 0) {
        return score < b->score;
    }
    return before(p, base, cell, b->base, (uint32_t)b->cell);
}

/* What a search of one zone is about. */
struct search {
    const struct pick *pick;
    uint32_t process;
    uint32_t floor;   /* no cell of the zone holds fewer instances of the process */
    unsigned lookups; /* cells whose instances were looked up */
    struct best *best;
};

/* Whether a cell may win by what all jobs of the run share. */
static bool promises(const struct search *s, uint32_t cell, double base)
{
    return wins(s->pick, s->best, score_with(base, s->floor), base, cell);
}

/* Looks at a cell; false when neither it nor any cell behind it in the order can win. */
static bool consider(struct search *s, uint32_t cell, double base)
{
    if (!promises(s, cell, base)) {
        return false;
    }
    uint32_t locality = 0;
    if (s->pick->demand.kind != JOB_TASK) {
        locality = tally_get(s->pick->tally, s->process, cell);
        s->lookups++;
    }
    double score = score_with(base, locality);
    if (wins(s->pick, s->best, score, base, cell)) {
        *s->best = (struct best){.score = score, .base = base, .cell = cell};
    }
    return true;
}

static void search_all(struct search *s, const struct pick_cells *cells)
{
    const struct pick *p = s->pick;
    for (size_t i = 0; i < cells->count; i++) {
        /* First the score, which seldom promises anything, then whether it fits. */
        const struct room *r = &p->rooms[cells->cells[i]];
        double base = score_base(r, p->rules, &p->demand);
        if (promises(s, cells->cells[i], base) && may_take(p, cells->cells[i]) &&
            !is_late(p, cells->cells[i])) {
            consider(s, cells->cells[i], base);
        }
    }
}

static void search_heap(struct search *s, const struct pick_zone *z)
{
    uint32_t stack[64]; /* a heap of 2^32 cells is 32 deep; each level leaves one sibling behind */
    size_t depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        size_t at = stack[--depth];
        if (at >= z->count || !consider(s, z->cells[at], z->bases[at])) {
            continue;
        }
        assert(depth + 2 <= sizeof(stack) / sizeof(stack[0]));
        stack[depth++] = (uint32_t)(2 * at + 2);
        stack[depth++] = (uint32_t)(2 * at + 1);
    }
}

/* Over all compatible cells that may still take a job of the run. */
static uint32_t least_locality(const struct pick *p, size_t zone, uint32_t process)
{
    const struct pick_cells *cells = &p->cells[zone];
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < cells->count && least > 0; i++) {
        if (may_take(p, cells->cells[i])) {
            uint32_t locality = tally_get(p->tally, process, cells->cells[i]);
            least = locality < least ? locality : least;
        }
    }
    return least == UINT32_MAX ? 0 : least;
}

int64_t pick_best(struct pick *p, const uint32_t *zones, size_t count, uint32_t process)
{
    struct best best = {.score = SCORE_INITIAL_BEST, .cell = -1};
    bool spreads = p->demand.kind != JOB_TASK && !p->mixed[process];
    for (size_t i = 0; i < count; i++) {
        uint32_t *floor = spreads ? &p->floors[process * p->zone_count + zones[i]] : NULL;
        struct search s = {
            .pick = p, .process = process, .floor = floor ? *floor : 0, .best = &best};
        if (p->heaped) {
            search_heap(&s, &p->zones[zones[i]]);
        } else {
            search_all(&s, &p->cells[zones[i]]);
        }
        if (floor && s.lookups > PICK_LOOKUPS_MAX) {
            *floor = least_locality(p, zones[i], process);
        }
    }
    return best.cell;
}

static bool is_among(const struct pick_cells *cells, uint32_t cell)
{
    for (size_t i = 0; i < cells->count; i++) {
        if (cells->cells[i] == cell) {
            return true;
        }
    }
    return false;
}

static bool is_of(const uint32_t *zones, size_t count, uint32_t zone)
{
    for (size_t i = 0; i < count; i++) {
        if (zones[i] == zone) {
            return true;
        }
    }
    return false;
}

int64_t pick_late(const struct pick *p, const uint32_t *zones, size_t count)
{
    for (size_t i = 0; i < p->late_count; i++) {
        uint32_t cell = p->late[i], zone = p->zone_of[cell];
        if (is_of(zones, count, zone) && is_among(&p->cells[zone], cell) && may_take(p, cell)) {
            return cell;
        }
    }
    return -1;
}

/* The same sums as in the search, so that equal is equal. */
static struct best judged(const struct pick *p, const struct room *r, uint32_t cell,
                          uint32_t process)
{
    double base = score_base(r, p->rules, &p->demand);
    bool spreads = p->demand.kind != JOB_TASK;
    uint32_t locality = spreads ? tally_get(p->tally, process, cell) : 0;
    return (struct best){.score = score_with(base, locality), .base = base, .cell = cell};
}

uint32_t pick_count_equals(const struct pick *p, const uint32_t *zones, size_t count,
                           uint32_t process, uint32_t cell)
{
    struct best best = judged(p, &p->rooms[cell], cell, process);
    uint32_t equals = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pick_cells *cells = &p->cells[zones[i]];
        for (size_t k = 0; k < cells->count; k++) {
            const struct room *r = &p->rooms[cells->cells[k]];
            struct best other = judged(p, r, cells->cells[k], process);
            bool takes = may_take(p, cells->cells[k]) && !is_late(p, cells->cells[k]);
            equals += takes && other.score == best.score && other.base == best.base;
        }
    }
    return equals;
}

uint32_t pick_spared(const struct pick *p, const uint32_t *zones, size_t count, uint32_t process,
                     uint32_t cell)
{
    struct best best = {.score = SCORE_INITIAL_BEST, .cell = -1};
    for (size_t i = 0; i < count; i++) {
        const struct pick_cells *cells = &p->cells[zones[i]];
        for (size_t k = 0; k < cells->count; k++) {
            struct room r = p->rooms[cells->cells[k]];
            r.failed_starts = 0;
            struct best other = judged(p, &r, cells->cells[k], process);
            bool takes = may_take(p, cells->cells[k]) && !is_late(p, cells->cells[k]);
            if (takes && wins(p, &best, other.score, other.base, cells->cells[k])) {
                best = other;
            }
        }
    }
    return best.cell < 0 ? cell : (uint32_t)best.cell;
}

void pick_take(struct pick *p, uint32_t cell, uint32_t process)
{
    struct room *r = &p->rooms[cell];
    room_take(r, p->rules, &p->demand);
    if (p->demand.kind != JOB_TASK) {
        tally_add(p->tally, process, cell);
    }
    if (p->reserve) {
        reserve_took(p->reserve, p->slice, cell, &p->demand);
        if (reserve_narrows(p->reserve)) { /* less often than there are groups of cells */
            make_heaps(p);
            return;
        }
    }
    if (!p->heaped) {
        return;
    }
    struct pick_zone *z = &p->zones[p->zone_of[cell]];
    size_t at = p->positions[cell];
    assert(at != NOWHERE);
    if (!may_take(p, cell)) {
        drop(p, z, at);
        return;
    }
    z->bases[at] = score_base(r, p->rules, &p->demand);
    sift_up(p, z, at);
    sift_down(p, z, p->positions[cell]);
}
