#include "bbs/waiters.h"

#include "bbs/route/answer.h"

#include <stdlib.h>
#include <string.h>

struct waiter {
    LIST_ENTRY(waiter) link;
    uint64_t request_id;
    int64_t deadline_ns;
    char job_key[];
};

void waiters_add(struct waiters *w, uint64_t request_id, const char *job_key, struct moment now)
{
    size_t size = strlen(job_key) + 1;
    struct waiter *one = calloc(1, sizeof(*one) + size);
    if (!one) {
        abort();
    }
    one->request_id = request_id;
    one->deadline_ns = now.mono_ns + WAITER_MAX_NS;
    memcpy(one->job_key, job_key, size);
    LIST_INSERT_HEAD(w, one, link);
}

static void answer(struct waiter *one, struct effects *out)
{
    answer_well(out, one->request_id);
    LIST_REMOVE(one, link);
    free(one);
}

void waiters_job_ended(struct waiters *w, const char *job_key, struct effects *out)
{
    for (struct waiter *one = LIST_FIRST(w), *next; one; one = next) {
        next = LIST_NEXT(one, link);
        if (strcmp(one->job_key, job_key) == 0) {
            answer(one, out);
        }
    }
}

void waiters_timer(struct waiters *w, struct moment now, struct effects *out)
{
    for (struct waiter *one = LIST_FIRST(w), *next; one; one = next) {
        next = LIST_NEXT(one, link);
        if (one->deadline_ns <= now.mono_ns) {
            answer(one, out);
        } else {
            effects_due(out, one->deadline_ns);
        }
    }
}

void waiters_done(struct waiters *w)
{
    while (!LIST_EMPTY(w)) {
        struct waiter *one = LIST_FIRST(w);
        LIST_REMOVE(one, link);
        free(one);
    }
}
