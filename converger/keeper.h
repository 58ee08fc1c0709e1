/* A keeper: what the converger does for some kinds of records. It hears of each change of them,
 * looks whether something is to be repaired, and plans moves, whose ends it learns. The rows
 * are keepers.def; the converger itself knows none of them by name. Pure. */
#pragma once

#include "common/client/leading.h"
#include "common/client/mover.h"
#include "common/model/keys.h"
#include "converger/converger.h"
#include "converger/known.h"

#include "converge.pb-c.h"

struct converger;

#define KEEPER(name, kinds) KEEPER_##name,
enum keeper_id {
#include "converger/keepers.def"
    KEEPER_COUNT
};
#undef KEEPER

#define KIND(type) (UINT64_C(1) << RECORD_##type)

/* The state of each keeper begins with this; it is set before init(). */
struct kept {
    struct converger *x;
    struct mover_owner owner; /* settled(), for the moves that the keeper adds */
};

/* A plan that is shown. */
struct plan_shown {
    Converge__Plan *plan;
    struct arena *arena;
};

/* Shows a move that `pass` has planned; `plan->more` says that there is no room for it, nor for
 * any that follows. All is copied. */
void plan_show(struct plan_shown *s, const char *pass, const Board__Move *move);

/* Likewise what no move repairs, in words. */
void plan_tell(struct plan_shown *s, const char *pass, const char *subject);

/* `state` is `state_size` bytes, all 0 but for its struct kept. What may be NULL is left out. */
struct keeper {
    size_t state_size;
    void (*init)(void *state, const struct converger_config *config);
    void (*done)(void *state); /* NULL = nothing is to be freed */

    /* The copy was emptied: NULL = nothing is kept of it. Moves on their way stay so. */
    void (*reset)(void *state);
    /* A record of its kinds; NULL = it is gone. The converger's cache knows already. */
    void (*change)(void *state, const char *key, const struct followed *record);
    /* The copy is complete again: what it does not hold was deleted meanwhile. */
    void (*current)(void *state);

    /* Each event of a step in which it leads, before it looks. */
    void (*hear)(void *state, const struct event *ev, struct effects *out);

    /* It leads and the copy is complete: adds the moves that are due to the mover, as many as
     * there is room for, and says when it wants to look again. `all`: a full pass, which looks
     * at everything. */
    void (*look)(void *state, bool all, struct effects *out);
    /* What became of a move; `subject` is as it was added, and may be gone. NULL = it is looked
     * at again in its time, whatever became of it. */
    void (*settled)(void *state, const char *subject, enum move_end end);
    /* Each step in which it does not lead. */
    void (*stand_by)(void *state);

    /* Shows what a full pass would do now; nothing changes. */
    void (*plan)(void *state, struct plan_shown *ret);
    /* Appends to what GET /metrics tells. */
    void (*measure)(const void *state, struct arena *a, struct buf *out);
    /* Adds to what GET /state tells. */
    void (*show)(void *state, Converge__ConvergerState *ret, struct arena *a);
};
