/* What is to be done about a service now: one move, or none (docs/systems.md, Services). The first
 * that holds:
 *
 *   deleting   1. its routes are there: unroute, unless it waits to be confirmed
 *              2. for the setting drain nothing, counted from when this process saw them gone
 *              3. a revision is desired: shrink it to 0; the oldest first
 *              4. no record of an instance is left, nor of its own node pool, if
 *                 that goes: remove
 *              5. counts or message are others than the record's: observe
 *   else       6. the state is another than the record's, or the generation was not taken up:
 *                 observe
 *              7. the next step of the roll (roll.h), a second after the last one; none while its
 *                 node pool lacks cells
 *              8. a restart is under way, and as many are available as are wanted: retire the first
 *                 instance that is older than it
 *              9. counts, message or fault are others than the record's, or the restart is over:
 *                 observe, a second after the last one
 * Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/contract/moment.h"
#include "common/model/service_state.h"
#include "converger/service_view.h"

#include "board.pb-c.h"

#define SERVICE_STEP_NS (1 * SECOND_NS)

/* A revision of the record, and what runs of it. */
struct service_revision_view {
    const struct seats *seats;
    bool stands; /* it has a DesiredLRP */
};

struct service_look {
    const Board__ServiceRecord *record; /* of a state of this version, with `target` a revision */
    struct moment now;
    const struct service_revision_view *revisions; /* as many as the record has */
    bool fits;          /* common/model/service_wants.h, of the target's DesiredLRP */
    bool paused;        /* the app, or the hold over its path */
    bool unconfirmed;   /* in this board generation nobody confirmed it */
    enum service_pool pool;
    const char *pool_text; /* what its pool says of itself; NULL or "" = nothing */
    bool own_pool_goes; /* its own node pool is being deleted */
    const char *fault;  /* what is wrong with an instance, "" = nothing */
    int64_t drain_ns;   /* the setting */
    /* Monotonic, of this process. */
    int64_t stuck_ns;   /* it came no nearer since then, and was not held */
    int64_t unrouted_ns; /* its routes are gone since then */
    int64_t step_ns;    /* its last step; 0 = none */
    int64_t observe_ns; /* when it was last observed; 0 = never */
    struct seat_restart restart;
};

/* `move` without a term and a revision; NULL = nothing is to be done. It is in the arena. */
struct service_answer {
    Board__Move *move;
    int64_t due_ns; /* monotonic: it is to be looked at again then; NEVER_NS = when it changes */
};

/* Gives the move that is due now, and when to look again. */
void service_look_at(struct arena *a, const struct service_look *l, struct service_answer *ret);

/* Whether nothing may be done to it: paused, or not confirmed. */
bool service_is_held(const struct service_look *l);

/* Whether its deadline waits: it is held, or its node pool lacks cells. */
bool service_waits(const struct service_look *l);
