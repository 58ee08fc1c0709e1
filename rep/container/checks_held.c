/* What a container holds of its checks; checks.c acts on it. */
#include "rep/container/checks.h"
#include "rep/inside.h"

#include <stdlib.h>

void checks_unqueue(struct container *c)
{
    if (c->checks.waits) {
        TAILQ_REMOVE(&c->table->rep->checks.waiting, c, checks.wait_link);
        c->checks.waits = false;
    }
    if (c->checks.waits_to_run) {
        TAILQ_REMOVE(&c->table->rep->checks.waiting_to_run, c, checks.run_link);
        c->checks.waits_to_run = false;
    }
}

void container_checks_done(struct container *c)
{
    struct container_checks *k = &c->checks;
    size_t count = k->texts ? c->about->health->n_checks : 0;
    for (size_t i = 0; i < count; i++) {
        free(k->texts[i]);
    }
    monitor_end(&k->round);
    free(k->texts);
    free(k->looks);
    free(k->results);
}

bool checks_failed(const struct container *c)
{
    return c->about->health && c->about->health->failed[0];
}
