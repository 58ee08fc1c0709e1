#include "auctioneer/report.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The entry of a key that left the queue; NULL if it left the backlog. */
static struct entry *reported_entry(struct report *r, const char *key)
{
    struct entry *e = map_get(&r->backlog->entries, key);
    if (e) {
        e->queued = false;
    }
    return e;
}

/* It may not have been reported: it is reported again when it is refused again. */
static void doubt(struct report *r, const char *key)
{
    struct entry *e = map_get(&r->backlog->entries, key);
    if (e) {
        e->kind->doubt(e);
    }
}

/* What was refused because the record has changed the feed tells; but the term may be over. */
static void settled(void *context, const char *key, enum move_end end)
{
    if (end != MOVE_DONE) {
        doubt(context, key);
    }
}

void report_init(struct report *r, struct boards *boards, const struct leader *leader,
                 struct backlog *backlog)
{
    *r = (struct report){.backlog = backlog,
                         .owner = {.settled = settled, .context = r},
                         .mover = {.boards = boards, .leader = leader}};
    mover_init(&r->mover);
}

static void forget_queue(struct report *r)
{
    while (r->next < r->count) {
        reported_entry(r, r->queue[r->next]);
        free(r->queue[r->next++]);
    }
    r->next = r->count = 0;
}

void report_stop(struct report *r)
{
    forget_queue(r);
    mover_stop(&r->mover);
}

void report_done(struct report *r)
{
    forget_queue(r);
    mover_done(&r->mover);
    free(r->queue);
}

/* Room for one more key: what has left the queue makes way before it grows. */
static void make_room(struct report *r)
{
    if (r->next > r->count / 2) {
        r->count -= r->next;
        memmove(r->queue, r->queue + r->next, r->count * sizeof(char *));
        r->next = 0;
        return;
    }
    r->capacity = r->capacity ? 2 * r->capacity : 64;
    char **queue = mem_resized(r->queue, r->capacity, sizeof(char *));
    r->queue = queue;
}

static void enqueue(struct report *r, char *key)
{
    if (r->count == r->capacity) {
        make_room(r);
    }
    r->queue[r->count++] = key;
}

void report_refusal(struct report *r, struct entry *e)
{
    if (e->queued || !e->kind->unreported || !e->kind->unreported(e)) {
        return;
    }
    e->queued = true;
    char *key = mem_text(e->key);
    enqueue(r, key);
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* As many as the mover sends at once, so that each reason is the last one; those that are not new
 * any more go. */
static void fill(struct report *r, struct moment now, struct arena *a)
{
    size_t room = mover_ready(&r->mover, now);
    while (r->next < r->count && room > 0) {
        char *key = r->queue[r->next++];
        struct entry *e = reported_entry(r, key);
        const struct wanted *w = e ? backlog_wanted(r->backlog, e) : NULL;
        if (w && e->kind->unreported(e)) {
            /* It is reported now: not again unless that is doubted, or asked for. */
            mover_add(&r->mover, &r->owner, key, e->kind->refusal(a, e, w));
            e->kind->reported(e);
            room--;
        }
        free(key);
    }
}

bool report_step(struct report *r, const struct event *ev, struct effects *out)
{
    bool own = mover_hear(&r->mover, ev, out);
    fill(r, ev->now, out->arena);
    mover_send(&r->mover, ev->now, out);
    if (r->next < r->count && ev->now.mono_ns < r->mover.pause_ns) {
        effects_due(out, r->mover.pause_ns);
    }
    return own;
}
