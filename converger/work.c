#include "converger/work.h"

#include <assert.h>

#define REFUSED_AGAIN_NS (5 * SECOND_NS)
#define UNKNOWN_AGAIN_NS (1 * SECOND_NS)
/* What a move did is on the feed by then. */
#define MOVE_SHOWS_NS (2 * SECOND_NS)

void work_init(struct work *w)
{
    due_init(&w->due);
    TAILQ_INIT(&w->waiting);
    w->waiting_count = w->moving_count = 0;
}

void work_done(struct work *w)
{
    due_done(&w->due);
}

void work_item_init(struct work_item *one, const char *name)
{
    *one = (struct work_item){.due_ns = NEVER_NS, .name = name};
}

/* ---- Which await a look ---------------------------------------------------------------------- */

static void list(struct work *w, struct work_item *one)
{
    if (one->touched && !one->listed && one->moving == 0) {
        TAILQ_INSERT_TAIL(&w->waiting, one, link);
        w->waiting_count++;
        one->listed = true;
    }
}

static void unlist(struct work *w, struct work_item *one)
{
    if (one->listed) {
        TAILQ_REMOVE(&w->waiting, one, link);
        w->waiting_count--;
        one->listed = false;
    }
}

void work_touch(struct work *w, struct work_item *one)
{
    one->touched = true;
    list(w, one);
}

struct work_item *work_next(struct work *w)
{
    struct work_item *one = TAILQ_FIRST(&w->waiting);
    if (one) {
        unlist(w, one);
        one->touched = false;
    }
    return one;
}

/* ---- Due by time ----------------------------------------------------------------------------- */

void work_due(struct work *w, struct work_item *one, int64_t due_ns)
{
    due_set(&w->due, &one->due_ns, due_ns, one->name, one);
}

void work_clear_due(struct work *w, struct work_item *one)
{
    due_clear(&w->due, &one->due_ns, one->name);
}

struct work_item *work_wake(struct work *w, int64_t now_ns)
{
    int64_t due_ns;
    struct work_item *one = due_next(&w->due, &due_ns);
    if (!one || due_ns > now_ns) {
        return NULL;
    }
    work_clear_due(w, one);
    return one;
}

int64_t work_wake_ns(const struct work *w)
{
    int64_t due_ns;
    due_next(&w->due, &due_ns);
    return due_ns;
}

/* ---- Repairs on their way -------------------------------------------------------------------- */

void work_moving(struct work *w, struct work_item *one)
{
    unlist(w, one);
    one->moving++;
    w->moving_count++;
}

int64_t work_again_ns(enum move_end end, int64_t now_ns)
{
    return end == MOVE_REFUSED   ? now_ns + REFUSED_AGAIN_NS
           : end == MOVE_UNKNOWN ? now_ns + UNKNOWN_AGAIN_NS
                                 : NEVER_NS;
}

void work_settled(struct work *w, struct work_item *one, int64_t again_ns)
{
    if (one->moving > 0) {
        one->moving--;
        w->moving_count--;
        work_due(w, one, again_ns);
        list(w, one);
    }
}

void work_judged(struct work *w, struct work_item *one, struct judged *j, int64_t revision,
                 int64_t now_ns)
{
    assert(one->moving == 0 && revision > 0);
    *j = (struct judged){revision, now_ns + MOVE_SHOWS_NS};
    work_moving(w, one);
}

void work_judged_end(struct work *w, struct work_item *one, struct judged *j, enum move_end end,
                     int64_t now_ns)
{
    j->revision = end == MOVE_DONE ? j->revision : 0;
    j->until_ns = now_ns + MOVE_SHOWS_NS;
    work_settled(w, one, end == MOVE_DONE ? j->until_ns : work_again_ns(end, now_ns));
}

bool work_unseen(struct work *w, struct work_item *one, const struct judged *j, int64_t revision,
                 int64_t now_ns)
{
    bool unseen = j->revision == revision && now_ns < j->until_ns;
    if (unseen) {
        work_due(w, one, j->until_ns);
    }
    return unseen;
}

void work_drop(struct work *w, struct work_item *one)
{
    unlist(w, one);
    w->moving_count -= one->moving;
    one->moving = 0;
    work_clear_due(w, one);
}
