/* What is known of a container's steps: the facts as its driver told them last, and what follows
 * from them. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/contract/driver.h"
#include "rep/steps/machine.h"

#include <stdbool.h>

struct container;

struct container_steps {
    bool going;             /* they are looked at */
    bool inside;            /* the container's first process runs, and waits */
    bool start;             /* what it depends on is there: it may be started */
    struct arena arena;     /* of the facts */
    struct step_fact *facts; /* as its driver told them last */
    size_t fact_count;
    uint8_t *done;       /* a byte a step: which of its signals and lines went out */
    uint64_t verb_id;    /* the open verb; 0 = none */
    unsigned failures;   /* of verbs in a row */
    int64_t retry_ns;    /* nothing is tried before; 0 = at once */
};

void container_steps_done(struct container_steps *s);

/* Whether it has any: its note says so. */
bool container_has_steps(const struct container *c);

/* What its driver tells of them; older words than are known already count for nothing. True: there
 * are more facts. */
bool step_facts_learn(struct container *c, const struct container_status *status);

/* Whether some of it is brought before it starts. */
bool container_has_dependencies(const struct container *c);

/* What the machine orders by now, in the arena; `where` as for steps_next(). It has steps. */
struct steps_orders step_facts_orders(struct arena *a, const struct container *c, int64_t now_ns,
                                      enum steps_where where);

/* Why it is over by these orders, in the arena; never "", for a bbs takes no crash without a text:
 * of what came out well it is that of one program, "APP: Exited with status 0". */
const char *step_facts_text(struct arena *a, const struct container *c,
                            const struct steps_orders *o);

/* Its first process has ended, and all with it: why it is over, in the arena, and whether that is
 * well. What the facts tell of an end goes before the words of its status; where its machine was
 * restarted, what had not ended by then was ended by that. */
const char *step_facts_end(struct arena *a, const struct container *c,
                           const struct container_status *status, bool *ret_well);
