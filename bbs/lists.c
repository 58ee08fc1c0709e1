#include "bbs/lists.h"

#include "bbs/route/answer.h"

#include <stdlib.h>
#include <string.h>

struct list_place {
    LIST_ENTRY(list_place) link;
    struct lists *lists; /* NULL: they are gone */
    uint64_t request_id;
    int64_t since_ns;
    bool gone; /* its reader is */
};

struct list_waiter {
    TAILQ_ENTRY(list_waiter) link;
    struct list_wait wait;
    int64_t deadline_ns;
    uint8_t request[];
};

void lists_init(struct lists *l, void *context,
                void (*begin)(void *context, const struct list_wait *wait,
                              struct list_place *place, struct effects *out))
{
    *l = (struct lists){.context = context, .begin = begin};
    LIST_INIT(&l->places);
    TAILQ_INIT(&l->waiters);
}

static void drop(struct lists *l, struct list_waiter *w)
{
    TAILQ_REMOVE(&l->waiters, w, link);
    l->waiting--;
    free(w);
}

void lists_done(struct lists *l)
{
    struct list_place *p;
    while (!TAILQ_EMPTY(&l->waiters)) {
        drop(l, TAILQ_FIRST(&l->waiters));
    }
    while ((p = LIST_FIRST(&l->places))) {
        LIST_REMOVE(p, link);
        p->lists = NULL;
    }
}

static struct list_place *take(struct lists *l, uint64_t request_id, struct moment now)
{
    struct list_place *p = calloc(1, sizeof(*p));
    if (!p) {
        abort();
    }
    *p = (struct list_place){.lists = l, .request_id = request_id, .since_ns = now.mono_ns};
    LIST_INSERT_HEAD(&l->places, p, link);
    l->taken++;
    return p;
}

struct list_place *lists_take(struct lists *l, uint64_t request_id, struct moment now)
{
    return l->taken < LISTS_AT_ONCE && l->waiting == 0 ? take(l, request_id, now) : NULL;
}

bool lists_wait(struct lists *l, const struct list_wait *wait, struct moment now)
{
    if (l->waiting >= LISTS_WAITING_MAX) {
        return false;
    }
    struct list_waiter *w = calloc(1, sizeof(*w) + wait->request.size);
    if (!w) {
        abort();
    }
    w->wait = *wait;
    w->deadline_ns = now.mono_ns + LIST_WAIT_MAX_NS;
    if (wait->request.size) {
        memcpy(w->request, wait->request.data, wait->request.size);
    }
    w->wait.request.data = w->request;
    TAILQ_INSERT_TAIL(&l->waiters, w, link);
    l->waiting++;
    return true;
}

void lists_timer(struct lists *l, struct moment now, struct effects *out)
{
    struct list_waiter *w;
    l->now_ns = now.mono_ns;
    while ((w = TAILQ_FIRST(&l->waiters)) && l->taken < LISTS_AT_ONCE) {
        TAILQ_REMOVE(&l->waiters, w, link);
        l->waiting--;
        l->begin(l->context, &w->wait, take(l, w->wait.request_id, now), out);
        free(w);
    }
    while ((w = TAILQ_FIRST(&l->waiters)) && w->deadline_ns <= now.mono_ns) {
        answer_unavailable(out, w->wait.request_id);
        drop(l, w);
    }
    if (w) {
        effects_due(out, now.mono_ns + LISTS_LOOK_NS);
    }
}

void lists_hangup(struct lists *l, uint64_t request_id)
{
    struct list_waiter *w;
    struct list_place *p;
    TAILQ_FOREACH (w, &l->waiters, link) {
        if (w->wait.request_id == request_id) {
            drop(l, w);
            return;
        }
    }
    LIST_FOREACH (p, &l->places, link) {
        p->gone |= p->request_id == request_id;
    }
}

void list_place_free(struct list_place *p)
{
    if (!p) {
        return;
    }
    if (p->lists) {
        LIST_REMOVE(p, link);
        p->lists->taken--;
    }
    free(p);
}

bool list_place_void(const struct list_place *p)
{
    const struct lists *l = p->lists;
    return p->gone || !l || (l->waiting > 0 && l->now_ns - p->since_ns > LIST_HOLD_MAX_NS);
}
