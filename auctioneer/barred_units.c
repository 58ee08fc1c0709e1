#include "auctioneer/barred_units.h"

#include "auctioneer/filter.h"

#include <assert.h>

void barred_units_machine(struct barred_units *b, int64_t mod_revision)
{
    b->revision = mod_revision;
    b->changed = true;
}

/* Of a cell that is not known nothing is: it is lost, and its units wait for that. */
static bool is_barred(const struct entry *e, const struct cells *c)
{
    assert(e->placed_on && e->placed_as);
    const struct cell *cell = map_get(&c->by_id, (const char *)e->placed_on->data);
    struct job job = wanted_job(e->placed_as, e->index);
    struct machine_sight machine = {.is = false};
    if (cell) {
        machine = cells_machine_of(c, cell);
    }
    return cell && !filter_machine(&machine, &job);
}

void barred_units_look(struct barred_units *b, struct backlog *p, const struct cells *c,
                       int64_t position, int64_t now_ns)
{
    if ((!b->changed && !p->unit_placed) || position == 0 || position < b->revision) {
        return; /* without a position the machines are not all known */
    }
    b->changed = p->unit_placed = false;
    struct entry *next;
    for (struct entry *e = TAILQ_FIRST(&p->lists[ENTRY_PLACED]); e; e = next) {
        next = TAILQ_NEXT(e, link);
        if (e->kind->job == JOB_UNIT && is_barred(e, c)) {
            backlog_await_again(p, e, now_ns);
        }
    }
}
