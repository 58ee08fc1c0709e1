#include "bbs/route/waiters.h"

#include "bbs/route/answer.h"
#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct waiter {
    TAILQ_ENTRY(waiter) link;
    uint64_t request_id;
    bool json;
    int64_t deadline_ns; /* INT64_MIN: its job has ended */
    char job_key[];
};

void waiters_init(struct waiters *w)
{
    *w = (struct waiters){.count = 0};
    TAILQ_INIT(&w->list);
}

bool waiters_reserve(struct waiters *w)
{
    bool room = w->count + w->reserved < WAITERS_MAX;
    w->reserved += room;
    return room;
}

void waiters_release(struct waiters *w)
{
    assert(w->reserved > 0);
    w->reserved--;
}

void waiters_add(struct waiters *w, uint64_t request_id, const char *job_key, bool json,
                 struct moment now)
{
    waiters_release(w);
    size_t size = strlen(job_key) + 1;
    struct waiter *one = mem_zeroed(sizeof(*one) + size);
    one->request_id = request_id;
    one->json = json;
    one->deadline_ns = now.mono_ns + WAITER_MAX_NS;
    memcpy(one->job_key, job_key, size);
    TAILQ_INSERT_TAIL(&w->list, one, link);
    w->count++;
    assert(w->count + w->reserved <= WAITERS_MAX);
}

static void drop(struct waiters *w, struct waiter *one)
{
    TAILQ_REMOVE(&w->list, one, link);
    assert(w->count > 0);
    w->count--;
    free(one);
}

static void answer(struct waiters *w, struct waiter *one, struct effects *out)
{
    if (one->json) {
        answer_well_json(out, one->request_id);
    } else {
        answer_well(out, one->request_id);
    }
    drop(w, one);
}

void waiters_job_ended(struct waiters *w, const char *job_key, struct effects *out)
{
    for (struct waiter *one = TAILQ_FIRST(&w->list), *next; one; one = next) {
        next = TAILQ_NEXT(one, link);
        if (strcmp(one->job_key, job_key) != 0) {
            continue;
        }
        if (out->count < WAITERS_ENOUGH) {
            answer(w, one, out);
        } else {
            one->deadline_ns = INT64_MIN;
            TAILQ_REMOVE(&w->list, one, link);
            TAILQ_INSERT_HEAD(&w->list, one, link);
        }
    }
}

void waiters_timer(struct waiters *w, struct moment now, struct effects *out)
{
    struct waiter *one;
    while ((one = TAILQ_FIRST(&w->list)) && one->deadline_ns <= now.mono_ns) {
        if (out->count >= WAITERS_ENOUGH) {
            effects_due(out, now.mono_ns);
            return;
        }
        answer(w, one, out);
    }
    if (one) {
        effects_due(out, one->deadline_ns);
    }
}

void waiters_done(struct waiters *w)
{
    while (!TAILQ_EMPTY(&w->list)) {
        drop(w, TAILQ_FIRST(&w->list));
    }
}
