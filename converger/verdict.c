/* What the failure detector decides (design.md 6, One failure detector and Mass-loss limiter). */
#include "common/base/memory.h"
#include "converger/failure_detector.h"

#include <assert.h>
#include <stdlib.h>

/* Cells of the board, or of a zone: those that the limiter lists are left out. */
struct loss_tally {
    uint64_t total;
    uint64_t lost;  /* within one window */
    uint64_t maybe; /* not known yet: silent for longer than a healthy cell should be */
};

static bool is_released(const struct failure_detector *j)
{
    return j->limiter.present && j->limiter.state == BOARD__LIMITER_RECORD__STATE__RELEASED;
}

static bool is_holding(const struct failure_detector *j)
{
    return j->limiter.present && !is_released(j);
}

/* Listed, PRESENT with the incarnation that fell silent, and not heard since. */
static bool stays_listed(const struct failure_detector *j, const char *cell_id,
                         const struct held_cell *b)
{
    const struct silence *s =
        liveness_report_find(j->liveness_report, LIVENESS_REPORT_CELL, cell_id);
    return s && s->incarnation == b->incarnation && s->heard == b->heard;
}

static bool is_unheard(const struct failure_detector *j, const struct silence *s)
{
    return silence_ns(j->liveness_report, s) >= j->settings->detector.lost_ns;
}

/* ---- Is it a mass loss? ---------------------------------------------------------------------- */

static void count_cell(const struct failure_detector *j, const char *cell_id,
                       const struct watched_cell *c, struct moment now, struct loss_tally *t)
{
    const struct detector_windows *windows = &j->settings->detector;
    const struct silence *s =
        liveness_report_find(j->liveness_report, LIVENESS_REPORT_CELL, cell_id);
    if (c->lost || !s) {
        bool recent = c->lost_ns != NEVER_NS && now.mono_ns - c->lost_ns < windows->lost_ns;
        t->total += recent;
        t->lost += recent;
    } else if (!map_get(&j->limiter.cells, cell_id)) {
        bool maybe = s->excused ||
                     silence_ns(j->liveness_report, s) >= windows->lost_ns - windows->spread_ns;
        t->total++;
        t->lost += is_unheard(j, s);
        t->maybe += !is_unheard(j, s) && maybe;
    }
}

static struct loss_tally *zone_of(struct map *zones, const char *name)
{
    struct loss_tally *t = map_get(zones, name);
    if (!t) {
        t = mem_zeroed(sizeof(*t));
        map_put(zones, name, t);
    }
    return t;
}

enum mass { MASS_NO, MASS_MAYBE, MASS_YES };

static bool is_mass(const struct failure_detector *j, const struct loss_tally *all,
                    struct map *zones, bool maybe)
{
    uint64_t least = (uint64_t)j->settings->limiter.mass_least;
    uint64_t part = (uint64_t)j->settings->limiter.mass_part;
    uint64_t lost = all->lost + (maybe ? all->maybe : 0);
    if (lost >= least && lost * part > all->total) {
        return true;
    }
    MAP_EACH(zones, n)
    {
        const struct loss_tally *z = map_value(n);
        uint64_t zone_lost = z->lost + (maybe ? z->maybe : 0);
        if (z->total >= least && zone_lost == z->total && lost < all->total) {
            return true;
        }
    }
    return false;
}

/* Cells without a zone are of none. */
static enum mass mass_of(const struct failure_detector *j, struct moment now)
{
    struct loss_tally all = {0};
    struct map zones;
    map_init(&zones);
    MAP_EACH(&j->cells, n)
    {
        const struct watched_cell *c = map_value(n);
        count_cell(j, map_key(n), c, now, &all);
        if (*c->zone) {
            count_cell(j, map_key(n), c, now, zone_of(&zones, c->zone));
        }
    }
    assert(all.lost + all.maybe <= all.total);
    enum mass mass = is_mass(j, &all, &zones, false)  ? MASS_YES
                     : is_mass(j, &all, &zones, true) ? MASS_MAYBE
                                                      : MASS_NO;
    map_done(&zones, free);
    return mass;
}

/* ---- The moves ------------------------------------------------------------------------------- */

static struct verdict *plan(struct verdicts *p, const char *move)
{
    struct verdict *g = &p->list[p->count++];
    *g = (struct verdict){.move = move, .cell_id = ""};
    return g;
}

static void plan_lose(const struct failure_detector *j, const struct silence *s, struct moment now,
                      struct verdicts *p)
{
    const struct watched_cell *c = map_get(&j->cells, s->name);
    assert(c && !c->lost);
    if (!c->asked && now.mono_ns >= c->again_ns) {
        struct verdict *g = plan(p, "lose");
        g->cell_id = arena_strdup(p->arena, s->name);
        g->incarnation = s->incarnation;
    }
}

/* All that are to be held: those listed that stay, and those unheard of that are not listed. */
static void plan_limiter(const struct failure_detector *j, bool join, struct verdicts *p)
{
    struct verdict *g = plan(p, "hold");
    g->cells = ARENA_ARRAY(p->arena, j->cells.count + 1, Board__CellHeartbeat *);
    MAP_EACH(&j->cells, n)
    {
        const struct held_cell *b = map_get(&j->limiter.cells, map_key(n));
        const struct silence *s =
            liveness_report_find(j->liveness_report, LIVENESS_REPORT_CELL, map_key(n));
        if (s && (b ? stays_listed(j, map_key(n), b) : join && is_unheard(j, s))) {
            assert(g->cell_count < j->cells.count);
            Board__CellHeartbeat *c = g->cells[g->cell_count++] =
                ARENA_NEW(p->arena, Board__CellHeartbeat);
            board__cell_heartbeat__init(c);
            c->cell_id = arena_strdup(p->arena, s->name);
            c->incarnation = s->incarnation;
        }
    }
}

static bool somebody_leaves(const struct failure_detector *j)
{
    MAP_EACH(&j->limiter.cells, n)
    {
        if (!stays_listed(j, map_key(n), map_value(n))) {
            return true;
        }
    }
    return false;
}

static bool somebody_joins(const struct failure_detector *j)
{
    for (const struct silence *s =
             liveness_report_longest(j->liveness_report, LIVENESS_REPORT_CELL);
         s && is_unheard(j, s); s = TAILQ_NEXT(s, link)) {
        if (!map_get(&j->limiter.cells, s->name)) {
            return true;
        }
    }
    return false;
}

static size_t count_unheard(const struct failure_detector *j)
{
    size_t count = 0;
    for (const struct silence *s =
             liveness_report_longest(j->liveness_report, LIVENESS_REPORT_CELL);
         s && is_unheard(j, s); s = TAILQ_NEXT(s, link)) {
        count++;
    }
    return count;
}

/* The limiter that there is: who leaves it, who joins it, whether its time is over. */
static void keep_limiter(const struct failure_detector *j, struct moment now, struct verdicts *p)
{
    bool held = j->limiter.state == BOARD__LIMITER_RECORD__STATE__HELD;
    int64_t hold_ns = j->settings->limiter.hold_ns;
    if (somebody_leaves(j) || (is_holding(j) && somebody_joins(j))) {
        plan_limiter(j, is_holding(j), p);
    } else if (held && stood_left_ns(hold_ns, j->limiter.until - hold_ns, j->limiter.held, now) <=
                           0) {
        plan(p, "release");
    }
}

/* Released: a bounded number at a time, those who were silent for the longest time first. */
static void lose_released(const struct failure_detector *j, struct moment now, struct verdicts *p)
{
    size_t first = p->count;
    for (const struct silence *s =
             liveness_report_longest(j->liveness_report, LIVENESS_REPORT_CELL);
         s && is_unheard(j, s) && p->count - first < RELEASE_MAX;
         s = TAILQ_NEXT(s, link)) {
        const struct held_cell *b = map_get(&j->limiter.cells, s->name);
        if (b && stays_listed(j, s->name, b)) {
            plan_lose(j, s, now, p);
        }
    }
}

/* Not listed and unheard of. While released cells are worked off, no other limiter begins: those of
 * another mass loss wait. */
static void lose_unheard(const struct failure_detector *j, struct moment now, struct verdicts *p)
{
    enum mass mass = mass_of(j, now);
    if (mass == MASS_YES) {
        if (!j->limiter.present) {
            plan_limiter(j, true, p);
        }
        return;
    }
    const struct detector_windows *windows = &j->settings->detector;
    int64_t least_ns = windows->lost_ns + (mass == MASS_MAYBE ? windows->spread_ns : 0);
    for (const struct silence *s =
             liveness_report_longest(j->liveness_report, LIVENESS_REPORT_CELL);
         s && silence_ns(j->liveness_report, s) >= least_ns; s = TAILQ_NEXT(s, link)) {
        if (!map_get(&j->limiter.cells, s->name)) {
            plan_lose(j, s, now, p);
        }
    }
}

void failure_detector_decide(const struct failure_detector *j, struct moment now,
                             struct verdicts *ret, struct arena *a)
{
    bool may_limiter = !j->limiter_asked && now.mono_ns >= j->limiter_ns;
    size_t unheard = count_unheard(j);
    *ret = (struct verdicts){.arena = a};
    if (!j->liveness_report->counting || (!j->limiter.present && unheard == 0)) {
        return;
    }
    ret->list = ARENA_ARRAY(a, unheard + 2, struct verdict);
    if (is_released(j) && now.mono_ns >= j->release_ns) {
        lose_released(j, now, ret);
    }
    if (!is_holding(j) && may_limiter && somebody_joins(j)) {
        lose_unheard(j, now, ret);
    }
    if (j->limiter.present && may_limiter) {
        keep_limiter(j, now, ret);
    }
}
