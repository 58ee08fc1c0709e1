/* The checks of an instance carried out: when one is due the shell, or a program in the container,
 * makes it, and what comes of it decides by the table of health.h whether the instance runs, is
 * routed to, or is ended. Beside the container's one operation: what bbs says, or does not answer,
 * holds up none of it. */
#pragma once

#include "cell.pb-c.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "rep/container/health.h"
#include "rep/container/monitor.h"

#include <bsd/sys/queue.h>
#include <stdbool.h>

struct container;
struct rep;

/* Defaults of the cell's pace (rep.h). */
#define CHECKS_AGAIN_NS (500 * MILLISECOND_NS)
#define CHECKS_INTERVAL_NS (30 * SECOND_NS)
#define CHECKS_TIMEOUT_NS (1 * SECOND_NS)

/* Of one check of a container. */
struct check_look {
    uint64_t id;    /* of the open probe, or round of the monitor; 0 = none is */
    int64_t due_ns; /* of the next, or of the open one */
};

struct container_checks {
    bool going;                   /* its action has begun, and it has checks */
    struct check_look *looks;     /* by number of the check, as the next two */
    struct check_result *results;
    char **texts;                 /* owned; of the results */
    struct monitor_round round;
    /* In the queue of those that found too many probes open, or too many programs at work. */
    bool waits, waits_to_run;
    TAILQ_ENTRY(container) wait_link, run_link;
};

TAILQ_HEAD(checks_queue, container);

/* Of the cell. */
struct checks_at_once {
    size_t probes;  /* open */
    size_t monitors; /* EXECs of programs of monitors, open */
    struct checks_queue waiting, waiting_to_run;
};

void checks_at_once_init(struct checks_at_once *all);
void container_checks_done(struct container *c);

/* It waits for its turn no more. */
void checks_unqueue(struct container *c);

/* Its action has begun, for `why`: from now on it runs, or its checks are made until it does. */
void checks_begun(struct rep *r, struct container *c, const char *why, struct effects *out);

/* An earlier rep has left it, and its action has begun: what was found by then holds. True: it
 * counts as running. */
bool checks_adopt(struct rep *r, struct container *c, struct effects *out);

/* It is being ended because of what its checks found. */
bool checks_failed(const struct container *c);

/* The same, and its end need not wait any more for the note that says so. */
bool checks_end_it(const struct container *c);

/* Makes the checks that are due, and acts by what is known. */
void checks_look(struct rep *r, struct container *c, struct effects *out);

/* The end of a probe. */
void checks_probed(struct rep *r, const struct probed *probed, struct effects *out);

/* The end of an EXEC: a program of a monitor. */
void checks_executed(struct rep *r, const struct verb_answer *answer);

/* Adds what was found last to what the cell tells of it; in the arena, borrowing. */
void checks_tell(const struct container *c, struct arena *a, Cell__LRP *to);
