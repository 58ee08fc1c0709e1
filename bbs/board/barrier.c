/* The read barrier: one linearizable Range, shared by all who wait at the time, gives the revision
 * that the copy must have reached before they are answered (design.md 2). */
#include "bbs/board/inside.h"
#include "common/base/memory.h"

#include <stdlib.h>

static void end(struct barrier_waiter *w, bool passed, struct effects *out)
{
    struct board *b = w->board;
    await_stop(&b->awaits, &w->await);
    if (w->queued) {
        TAILQ_REMOVE(w->flying ? &b->barrier.flying : &b->barrier.next, w, link);
    }
    LIST_REMOVE(w, all);
    b->barrier.waiting--;
    barrier_done *done = w->done;
    void *context = w->context;
    free(w);
    done(context, passed, out);
}

static void on_await(struct await *a, bool reached, struct effects *out)
{
    end(a->owner, reached, out);
}

void barrier_wait(struct board *b, barrier_done *done, void *context, struct effects *out)
{
    if (!b->loaded || b->ending || b->barrier.waiting >= BARRIER_WAITERS_MAX) {
        done(context, false, out);
        return;
    }
    struct barrier_waiter *w = mem_zeroed(sizeof(*w));
    w->board = b;
    w->done = done;
    w->context = context;
    w->queued = true;
    w->await.wake = on_await;
    w->await.owner = w;
    TAILQ_INSERT_TAIL(&b->barrier.next, w, link);
    LIST_INSERT_HEAD(&b->barrier.all, w, all);
    b->barrier.waiting++;
    await_start(&b->awaits, &w->await, NEVER_NS, b->now.mono_ns + BARRIER_TIMEOUT_NS);
}

static void on_answer(struct board *b, void *context, const struct store_answer *answer,
                      struct effects *out)
{
    (void)context;
    struct barrier *r = &b->barrier;
    r->call_id = 0;
    const Etcd__RangeResponse *found = (const Etcd__RangeResponse *)answer->message;
    bool known = answer->outcome == STORE_DONE && found && found->header;
    if (!known) {
        board_trouble(b, store_text(answer), out);
    } else if (found->count == 0) {
        board_want_reload(b, BOARD_GENERATION_GONE);
    }
    struct barrier_waiter *w;
    while ((w = TAILQ_FIRST(&r->flying))) {
        TAILQ_REMOVE(&r->flying, w, link);
        if (known) {
            w->queued = false;
            /* The copy may be there already: the pump wakes them. */
            await_start(&b->awaits, &w->await, found->header->revision, w->await.deadline_ns);
        } else {
            /* The next call may come through before their second is over. */
            w->flying = false;
            TAILQ_INSERT_TAIL(&r->next, w, link);
        }
    }
    if (!known) {
        r->retry_ns = b->now.mono_ns + BACKOFF_MIN_NS;
    }
}

void barrier_send(struct board *b, struct effects *out)
{
    struct barrier *r = &b->barrier;
    if (r->call_id || !b->loaded || TAILQ_EMPTY(&r->next)) {
        return;
    }
    if (r->retry_ns > b->now.mono_ns) {
        effects_due(out, r->retry_ns);
        return;
    }
    struct barrier_waiter *w;
    TAILQ_FOREACH(w, &r->next, link)
    {
        w->flying = true;
    }
    TAILQ_CONCAT(&r->flying, &r->next, link);
    Etcd__RangeRequest *q = arena_message(out->arena, &etcd__range_request__descriptor);
    q->key = key_data(key_epoch(out->arena, b->board_generation));
    q->count_only = true;
    r->call_id = store_send(b, STORE_RANGE, &q->base, BARRIER_TIMEOUT_NS, on_answer, NULL, out);
}

void barrier_free(struct board *b, struct effects *nowhere)
{
    struct barrier_waiter *w;
    while ((w = LIST_FIRST(&b->barrier.all))) {
        end(w, false, nowhere);
        effects_forget(nowhere);
    }
}

/* ---- reads ---- */

struct reading {
    struct board *board;
    struct arena *arena;
    board_read *read;
    void *context;
};

static void on_passed(void *context, bool passed, struct effects *out)
{
    struct reading r = *(struct reading *)context; /* it lives in the arena */
    if (passed) {
        r.read(r.context, board_view(r.board, r.arena), NULL, out);
    } else {
        r.read(r.context, NULL, "the board is not as fresh as its store: try again", out);
    }
    arena_done(r.arena);
    free(r.arena);
}

void barrier_read(struct board *b, struct arena *arena, board_read *read, void *context,
                  struct effects *out)
{
    struct reading *r = ARENA_NEW(arena, struct reading);
    *r = (struct reading){.board = b, .arena = arena, .read = read, .context = context};
    barrier_wait(b, on_passed, r, out);
}
