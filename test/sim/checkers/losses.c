/* design.md 6, Mass-loss limiter: many cells that fall silent together are held before they are
 * lost. */
#include "test/sim/checkers/checkers.h"

#include <string.h>

/* Losses so close to each other were decided on the same silence. */
#define TOGETHER_NS (1 * SECOND_NS)
/* What a leader asked may land so much later. */
#define ON_ITS_WAY_NS (10 * SECOND_NS)

static bool is_loss(const struct past *p)
{
    return p->type == RECORD_CELL && p->cause && strcmp(p->cause->move, "lose") == 0;
}

static bool lists(const Board__LimiterRecord *limiter, const char *cell_id)
{
    for (size_t i = 0; limiter && i < limiter->n_cells; i++) {
        if (strcmp(limiter->cells[i]->cell_id, cell_id) == 0) {
            return true;
        }
    }
    return false;
}

/* An operator or time has released it: it goes with others, a bounded number at a time. A rep may
 * be heard again, and leave the list, while the request of its loss is on its way. */
static bool was_released(struct checkers *k, struct arena *a, const struct past *p)
{
    const struct past *at = history_at(&k->history, key_brake(a), p->revision - 1);
    const char *id = ((const Board__CellRecord *)p->message)->presence->cell_id;
    while (at) {
        const Board__LimiterRecord *limiter = (const Board__LimiterRecord *)at->message;
        if (lists(limiter, id)) {
            return limiter->state == BOARD__LIMITER_RECORD__STATE__RELEASED;
        }
        at = at->at_ns > p->at_ns - ON_ITS_WAY_NS ? at->before : NULL;
    }
    return false;
}

struct tally {
    struct checkers *k;
    struct arena *arena;
    int64_t now_ns;
    unsigned lost, present;
};

static void count_cell(void *context, const struct past *p)
{
    struct tally *t = context;
    bool lost = ((const Board__CellRecord *)p->message)->state == BOARD__CELL_RECORD__STATE__LOST;
    t->present += !lost;
    t->lost += lost && is_loss(p) && t->now_ns - p->at_ns < TOGETHER_NS &&
               !was_released(t->k, t->arena, p);
}

/* Not soon after a setting was changed: the leader may have judged by the one before. */
void check_losses(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    SCOPED_ARENA(a);
    if (k->settings_ns && world_now(k->cluster->world) - k->settings_ns < ON_ITS_WAY_NS) {
        return;
    }
    for (size_t i = 0; i < p->count; i++) {
        if (!is_loss(p->list[i])) {
            continue;
        }
        struct tally t = {k, &a, p->at_ns, 0, 0};
        history_each(&k->history, "cell/", count_cell, &t);
        if (t.lost >= k->settings.limiter.mass_least &&
            t.lost * k->settings.limiter.mass_part > t.lost + t.present) {
            checkers_report(k, "S12", "%u cells of %u are lost together, and no limiter held them",
                            t.lost, t.lost + t.present);
        }
    }
}
