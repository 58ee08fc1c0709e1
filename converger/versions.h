/* The versions that the repositories of systems have: listed when a leader first sees a system, and
 * every five minutes from then on, one repository at a time; the board hears of what is another
 * list (docs/systems.md). The secret that opens a repository is asked of a bbs, and kept until the
 * repository has been listed. Pure. */
#pragma once

#include "common/base/map.h"
#include "common/client/boards.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "converger/watched_system.h"

#define VERSIONS_EACH_NS (300 * SECOND_NS)
#define VERSIONS_AGAIN_NS (1 * SECOND_NS)   /* another one is being listed, or no bbs answers */
#define VERSIONS_LOCKED_NS (30 * SECOND_NS) /* until a secret is asked for again that is not set */
#define VERSIONS_KEY_NS (5 * SECOND_NS)     /* how long one is waited for */

struct versions {
    struct map by_uid;     /* -> struct listed */
    struct boards *boards; /* whom secrets are asked of */
    uint64_t next_id;      /* of requests; builds have those below */
    struct listed *open;   /* whose secret is asked for, or whose repository listed; NULL = none */
};

/* `boards` must stay valid. */
void versions_init(struct versions *l, struct boards *boards);
void versions_done(struct versions *l);

/* Nothing of what was read is of use any more; an answer that comes is ignored. */
void versions_reset(struct versions *l);

/* Give it every event. The uid of the system whose repository was listed, or its secret answered,
 * valid until the next call; NULL = of none. */
const char *versions_hear(struct versions *l, const struct event *ev);

/* The system is gone. */
void versions_forget(struct versions *l, const char *uid);

/* Plans to tell the board what was read, if it knows another list: pass and move `list`. */
void versions_run(const struct versions *l, const struct watched_system *v,
                  struct system_moves *out);

/* Has the repository listed, if it is time. Gives when the system is to be looked at again for it,
 * monotonic; NEVER_NS = for no reason of this. */
int64_t versions_resolve(struct versions *l, const struct watched_system *v, struct effects *out);
