/* Sends whole moves to the board with the leader's term: in batches, a bounded number of calls
 * at a time, and tells the owner of a move how it ended. The owner plans again what was not
 * settled, from what the board shows then: the move as it was may be out of date. Pure: embedded in
 * a role that leads, driven by its events. */
#pragma once

#include "common/client/leader.h"

#include <bsd/sys/queue.h>

/* Moves of one call, calls on their way, moves that wait for one, and how long a call may take. */
enum { MOVER_MOVES_MAX = 256, MOVER_CALLS_MAX = 4, MOVER_WAITING_MAX = 16384 };
#define MOVER_CALL_NS (5 * SECOND_NS)
/* After a failed call. */
#define MOVER_PAUSE_NS (1 * SECOND_NS)

enum move_end {
    MOVE_DONE,      /* or already so */
    MOVE_REFUSED,   /* the board had changed */
    MOVE_UNKNOWN,   /* not answered, or not settled in time */
    MOVE_FORGOTTEN, /* the term is over: nobody awaits the answer any more */
};

/* Who adds moves. `subject` is what it gave with the move, borrowed for the call. It may add moves
 * from within, but not end the term. */
struct mover_owner {
    void (*settled)(void *context, const char *subject, enum move_end end);
    void *context;
};

struct queued_move;
TAILQ_HEAD(queued_moves, queued_move);

struct mover {
    /* Set by the owner before mover_init; must stay valid. */
    struct boards *boards;
    const struct leader *leader;

    struct queued_moves waiting;
    size_t waiting_count;
    size_t count; /* waiting and on their way */
    struct mover_call {
        uint64_t id; /* 0 = free */
        const char *url;
        struct queued_moves moves;
    } calls[MOVER_CALLS_MAX];
    int64_t pause_ns;       /* monotonic: nothing is sent before */
    uint64_t done, refused; /* of all that were settled */
};

void mover_init(struct mover *m);
/* Frees everything; no owner is notified. */
void mover_done(struct mover *m);

/* False when there is no room for `count` more. */
bool mover_room(const struct mover *m, size_t count);

/* How many more moves mover_send() would put into calls at once. For who decides as late as it
 * can. */
size_t mover_ready(const struct mover *m, struct moment now);

/* A move without its term, and what its owner calls the thing that it is about; both are copied.
 * The owner must outlive the mover. mover_add_first(): before all that waits, however much that
 * is. */
void mover_add(struct mover *m, const struct mover_owner *owner, const char *subject,
               const Board__Move *move);
void mover_add_first(struct mover *m, const struct mover_owner *owner, const char *subject,
                     const Board__Move *move);

/* While the leader leads: give it every event, then add moves, then let it send. mover_hear() is
 * true if the event was its own. */
bool mover_hear(struct mover *m, const struct event *ev, struct effects *out);
void mover_send(struct mover *m, struct moment now, struct effects *out);

/* Not the leader any more: all is MOVE_FORGOTTEN. */
void mover_stop(struct mover *m);
