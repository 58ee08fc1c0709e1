/* What the failure detector knows: cells and the limiter as the feed tells them, and what is on its
 * way. What it makes of that is converger/verdict.c. */
#include "converger/failure_detector.h"

#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>

void failure_detector_init(struct failure_detector *j, const struct settings *settings,
                           struct liveness_report *liveness_report)
{
    *j = (struct failure_detector){.settings = settings, .liveness_report = liveness_report};
    map_init(&j->cells);
    map_init(&j->limiter.cells);
}

static void free_judged(void *value)
{
    free(((struct watched_cell *)value)->zone);
    free(value);
}

void failure_detector_done(struct failure_detector *j)
{
    map_done(&j->cells, free_judged);
    map_done(&j->limiter.cells, free);
}

/* ---- What the feed tells --------------------------------------------------------------------- */

void failure_detector_reset(struct failure_detector *j)
{
    MAP_EACH(&j->cells, n)
    {
        liveness_report_forget(j->liveness_report, LIVENESS_REPORT_CELL, map_key(n));
    }
    map_done(&j->cells, free_judged);
    failure_detector_limiter_gone(j);
}

static struct watched_cell *judged_of(struct failure_detector *j, const char *cell_id)
{
    struct watched_cell *c = map_get(&j->cells, cell_id);
    if (!c) {
        c = mem_zeroed(sizeof(*c));
        c->lost = true; /* a snapshot's LOST cell was lost long ago */
        c->lost_ns = NEVER_NS;
        map_put(&j->cells, cell_id, c);
    }
    return c;
}

void failure_detector_cell(struct failure_detector *j, const char *cell_id,
                           const Board__CellRecord *record, struct moment now)
{
    struct watched_cell *c = judged_of(j, cell_id);
    bool lost = record->state == BOARD__CELL_RECORD__STATE__LOST;
    if (lost && !c->lost && !map_get(&j->limiter.cells, cell_id)) {
        c->lost_ns = now.mono_ns;
    } else if (!lost) {
        c->lost_ns = NEVER_NS;
    }
    c->lost = lost;
    c->incarnation = record->incarnation;
    free(c->zone);
    c->zone = mem_text(record->presence ? record->presence->zone : "");
    if (lost) {
        liveness_report_forget(j->liveness_report, LIVENESS_REPORT_CELL, cell_id);
    } else {
        liveness_report_expect(j->liveness_report, LIVENESS_REPORT_CELL, cell_id,
                               record->incarnation);
    }
}

void failure_detector_cell_gone(struct failure_detector *j, const char *cell_id)
{
    struct watched_cell *c = map_remove(&j->cells, cell_id);
    liveness_report_forget(j->liveness_report, LIVENESS_REPORT_CELL, cell_id);
    if (c) {
        free_judged(c);
    }
}

void failure_detector_limiter(struct failure_detector *j, const Board__LimiterRecord *record,
                              struct sighting seen)
{
    struct map was = j->limiter.cells;
    map_init(&j->limiter.cells);
    for (size_t i = 0; i < record->n_cells; i++) {
        const Board__CellHeartbeat *c = record->cells[i];
        struct held_cell *b = map_remove(&was, c->cell_id);
        if (!b || b->incarnation != c->incarnation) {
            const struct silence *s =
                liveness_report_find(j->liveness_report, LIVENESS_REPORT_CELL, c->cell_id);
            b = b ? b : calloc(1, sizeof(*b));
            assert(b);
            b->incarnation = c->incarnation;
            b->heard = s ? s->heard : 0;
        }
        free(map_put(&j->limiter.cells, c->cell_id, b));
    }
    map_done(&was, free);
    if (!j->limiter.present || j->limiter.until != record->until) {
        j->limiter.held = seen; /* a longer list does not change it */
    }
    j->limiter.present = true;
    j->limiter.state = record->state;
    j->limiter.until = record->until;
}

void failure_detector_limiter_gone(struct failure_detector *j)
{
    map_done(&j->limiter.cells, free);
    j->limiter.present = false;
}

/* ---- What is on its way ---------------------------------------------------------------------- */

void failure_detector_asked(struct failure_detector *j, const struct verdict *verdict,
                            struct moment now)
{
    if (*verdict->cell_id) {
        struct watched_cell *c = map_get(&j->cells, verdict->cell_id);
        assert(c && !c->asked);
        c->asked = true;
        if (map_get(&j->limiter.cells, verdict->cell_id)) {
            j->release_ns = now.mono_ns + RELEASE_INTERVAL_NS;
        }
    } else {
        assert(!j->limiter_asked);
        j->limiter_asked = true;
    }
}

void failure_detector_settled(struct failure_detector *j, const char *cell_id, int64_t again_ns)
{
    struct watched_cell *c = map_get(&j->cells, cell_id);
    if (!*cell_id) {
        j->limiter_asked = false;
        j->limiter_ns = again_ns;
    } else if (c) {
        c->asked = false;
        c->again_ns = again_ns;
    }
}

void failure_detector_forget_moves(struct failure_detector *j)
{
    j->limiter_asked = false;
    j->limiter_ns = j->release_ns = 0;
    MAP_EACH(&j->cells, n)
    {
        struct watched_cell *c = map_value(n);
        c->asked = false;
        c->again_ns = 0;
    }
}

/* ---- What is shown --------------------------------------------------------------------------- */

void failure_detector_each(const struct failure_detector *j,
                           void (*each)(void *context, const struct watched_cell_view *cell),
                           void *context)
{
    bool holds = j->limiter.present && j->limiter.state != BOARD__LIMITER_RECORD__STATE__RELEASED;
    MAP_EACH(&j->cells, n)
    {
        const struct watched_cell *c = map_value(n);
        const struct held_cell *b = map_get(&j->limiter.cells, map_key(n));
        struct watched_cell_view v = {
            .cell_id = map_key(n),
            .zone = c->zone,
            .incarnation = c->incarnation,
            .lost = c->lost,
            .held = holds && !c->lost && b && b->incarnation == c->incarnation,
            .silent_ns =
                liveness_report_silent_ns(j->liveness_report, LIVENESS_REPORT_CELL, map_key(n)),
        };
        each(context, &v);
    }
}
