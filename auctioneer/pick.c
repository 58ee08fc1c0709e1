#include "auctioneer/pick.h"

#include <assert.h>

#define NOWHERE UINT32_MAX

/* The order of cells: what they share, then the cell itself. */
static bool before(double base, uint32_t cell, double other_base, uint32_t other)
{
    return base < other_base || (base == other_base && cell < other);
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
        if (child + 1 < z->count && before(z->bases[child + 1], z->cells[child + 1],
                                           z->bases[child], z->cells[child])) {
            child++;
        }
        if (!before(z->bases[child], z->cells[child], base, cell)) {
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
        if (!before(base, cell, z->bases[parent], z->cells[parent])) {
            break;
        }
        set(p, z, at, z->cells[parent], z->bases[parent]);
        at = parent;
    }
    set(p, z, at, cell, base);
}

static void drop(struct pick *p, struct pick_zone *z, uint32_t cell)
{
    size_t at = p->positions[cell];
    p->positions[cell] = NOWHERE;
    z->count--;
    if (at == z->count) {
        return;
    }
    set(p, z, at, z->cells[z->count], z->bases[z->count]);
    if (p->heaped) {
        sift_up(p, z, at);
        sift_down(p, z, p->positions[z->cells[at]]);
    }
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* Neither a number too large to win, nor none (5.2: totals of 0). */
static bool may_win(double base)
{
    return base < SCORE_INITIAL_BEST && base > -SCORE_INITIAL_BEST;
}

void pick_begin(struct pick *p, const struct demand *q, const uint32_t *cells, size_t count,
                size_t jobs)
{
    p->demand = *q;
    p->heaped = jobs >= PICK_HEAP_MIN_JOBS;
    for (size_t i = 0; i < p->zone_count; i++) {
        p->zones[i].count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        const struct room *r = &p->rooms[cells[i]];
        p->positions[cells[i]] = NOWHERE;
        if (!room_fits(r, q)) {
            continue;
        }
        double base = score_base(r, p->rules, q);
        if (may_win(base)) {
            struct pick_zone *z = &p->zones[p->zone_of[cells[i]]];
            set(p, z, z->count++, cells[i], base);
        }
    }
    for (size_t i = 0; p->heaped && i < p->zone_count; i++) {
        for (size_t at = p->zones[i].count / 2; at-- > 0;) {
            sift_down(p, &p->zones[i], at);
        }
    }
}

/* ---- The search ------------------------------------------------------------------------------ */

struct best {
    double score;
    double base;
    int64_t cell;
};

/* Whether a cell with this score would win. Between scores that are equal after rounding the shared
 * part decides, so that the heap's order and this one agree. */
static bool wins(const struct best *b, double score, double base, uint32_t cell)
{
    if (score != b->score || b->cell < 0) {
        return score < b->score;
    }
    return before(base, cell, b->base, (uint32_t)b->cell);
}

/* Looks at one entry; false when neither it nor any below it in the heap can win. */
static bool consider(const struct pick *p, const struct pick_zone *z, size_t at, uint32_t process,
                     uint32_t floor, struct best *best, unsigned *lookups)
{
    double base = z->bases[at];
    uint32_t cell = z->cells[at];
    if (!wins(best, score_with(base, floor), base, cell)) {
        return false;
    }
    uint32_t locality = 0;
    if (p->demand.kind == JOB_LRP) {
        locality = tally_get(p->tally, process, cell);
        ++*lookups;
    }
    double score = score_with(base, locality);
    if (wins(best, score, base, cell)) {
        *best = (struct best){.score = score, .base = base, .cell = cell};
    }
    return true;
}

static void search_all(const struct pick *p, const struct pick_zone *z, uint32_t process,
                       uint32_t floor, struct best *best, unsigned *lookups)
{
    for (size_t at = 0; at < z->count; at++) {
        consider(p, z, at, process, floor, best, lookups);
    }
}

static void search_heap(const struct pick *p, const struct pick_zone *z, uint32_t process,
                        uint32_t floor, struct best *best, unsigned *lookups)
{
    uint32_t stack[64]; /* a heap of 2^32 cells is 32 deep; each level leaves one sibling behind */
    size_t depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        size_t at = stack[--depth];
        if (at >= z->count || !consider(p, z, at, process, floor, best, lookups)) {
            continue;
        }
        assert(depth + 2 <= sizeof(stack) / sizeof(stack[0]));
        stack[depth++] = (uint32_t)(2 * at + 2);
        stack[depth++] = (uint32_t)(2 * at + 1);
    }
}

static uint32_t least_locality(const struct pick *p, const struct pick_zone *z, uint32_t process)
{
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < z->count && least > 0; i++) {
        uint32_t locality = tally_get(p->tally, process, z->cells[i]);
        least = locality < least ? locality : least;
    }
    return z->count ? least : 0;
}

int64_t pick_best(struct pick *p, const uint32_t *zones, size_t count, uint32_t process)
{
    struct best best = {.score = SCORE_INITIAL_BEST, .cell = -1};
    for (size_t i = 0; i < count; i++) {
        const struct pick_zone *z = &p->zones[zones[i]];
        uint32_t none = 0, *floor = &none;
        if (p->demand.kind == JOB_LRP && !p->mixed[process]) {
            floor = &p->floors[process * p->zone_count + zones[i]];
        }
        unsigned lookups = 0;
        (p->heaped ? search_heap : search_all)(p, z, process, *floor, &best, &lookups);
        if (lookups > PICK_LOOKUPS_MAX && floor != &none) {
            *floor = least_locality(p, z, process);
        }
    }
    return best.cell;
}

void pick_take(struct pick *p, uint32_t cell, uint32_t process)
{
    struct room *r = &p->rooms[cell];
    struct pick_zone *z = &p->zones[p->zone_of[cell]];
    assert(p->positions[cell] != NOWHERE);
    room_take(r, p->rules, &p->demand);
    if (p->demand.kind == JOB_LRP) {
        tally_add(p->tally, process, cell);
    }
    double base = room_fits(r, &p->demand) ? score_base(r, p->rules, &p->demand)
                                            : SCORE_INITIAL_BEST;
    if (!may_win(base)) {
        drop(p, z, cell);
        return;
    }
    size_t at = p->positions[cell];
    z->bases[at] = base;
    if (p->heaped) {
        sift_up(p, z, at);
        sift_down(p, z, p->positions[cell]);
    }
}
