/* Pairs of a job and a cell that are remembered for a while, in two lists of the backlog:
 * - the cell gave the job back: the two are kept apart. A task's old container may hang where it is
 *   desired again; without this the cell is charged with it in each round, and refuses what would
 *   have fitted.
 * - the cell took the job, and that did not show on the board: another cell comes first. Its
 * runtime may hang with an old container of the very instance; without this it is offered to that
 * cell for ever. By the job's key, for the job itself may leave and come again. Bounded. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/map.h"
#include "common/contract/moment.h"

#include <bsd/sys/queue.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Well below the 10 s within which what is unplaced is tried again (design.md 6, L2). */
#define BOUNCE_PAUSE_NS (5 * SECOND_NS)
/* As long as a rep waits for its runtime: by then the cell knows what became of the old container.
 */
#define LATE_PAUSE_NS (60 * SECOND_NS)
/* Pairs that are remembered; one more, and the oldest is forgotten. */
enum { BOUNCES_MAX = 1024 };

struct bounce {
    TAILQ_ENTRY(bounce) link;
    int64_t until_ns;
    const char *cell_id; /* behind the name */
    size_t key_size;     /* of the job's key, which the name begins with */
    char name[];         /* both, in bounces.by_name */
};

struct bounces {
    int64_t pause_ns; /* for so long each is remembered */
    struct map by_name;
    TAILQ_HEAD(bounce_list, bounce) list; /* the oldest first */
};

/* Each pair is remembered for `pause_ns`. */
void bounces_init(struct bounces *b, int64_t pause_ns);
void bounces_done(struct bounces *b);

/* Remembers the job of this key with the cell, from now on. */
void bounces_add(struct bounces *b, const char *job_key, const char *cell_id, int64_t now_ns);

/* Whether the two are remembered. */
bool bounces_apart(const struct bounces *b, const char *job_key, const char *cell_id);

/* The first cell, and the one after it, that is remembered with this job; NULL = none, or no more.
 */
const struct bounce *bounces_first(const struct bounces *b, const char *job_key);
const struct bounce *bounces_next(const struct bounces *b, const struct bounce *after);

/* All of this job, the one remembered longest ago first; gives their number. The list lives in the
 * arena, its members until `b` is changed. */
size_t bounces_of(const struct bounces *b, struct arena *a, const char *job_key,
                  const struct bounce ***ret_list);

/* Forgets one whose time is over, and gives it: the caller frees it. NULL = none is. */
struct bounce *bounces_expire(struct bounces *b, int64_t now_ns);
int64_t bounces_due_ns(const struct bounces *b); /* NEVER_NS = there is none */

/* Forgets all of a cell that has more room than before: what was in the way may be gone. */
void bounces_forget_cell(struct bounces *b, const char *cell_id);
