/* Sends repairs and judgements to the board as named moves with the leader's term, a bounded number
 * at a time, and says what became of each (DESIGN 2, 6). Pure. */
#ifndef CONVERGER_MOVER_H
#define CONVERGER_MOVER_H

#include "common/client/leader.h"

#include <bsd/sys/queue.h>

/* Moves of one call, calls on their way, moves that wait for one, and how long a call may take. */
enum { MOVER_MOVES_MAX = 256, MOVER_CALLS_MAX = 4, MOVER_WAITING_MAX = 16384 };
#define MOVER_CALL_NS (5 * SECOND_NS)
/* After a failed call. */
#define MOVER_PAUSE_NS (1 * SECOND_NS)

enum move_end {
    MOVE_DONE,    /* or already so */
    MOVE_REFUSED, /* the board had changed */
    MOVE_UNKNOWN, /* not answered, or not settled in time */
};

struct queued_move;
TAILQ_HEAD(queued_moves, queued_move);

struct mover {
    /* Set by the owner before mover_init. */
    struct boards *boards;
    const struct leader *leader;
    /* What became of a move; `process_guid` is "" for that of a domain or lock. */
    void (*on_end)(void *context, const char *process_guid, enum move_end end);
    /* The same of a move of a task. */
    void (*on_task)(void *context, const char *task_guid, enum move_end end);
    /* The same of a judgement; `cell_id` is "" for one about the brake. */
    void (*on_judged)(void *context, const char *cell_id, enum move_end end);
    void *context;

    struct queued_moves waiting;
    size_t count; /* waiting and on their way */
    struct mover_call {
        uint64_t id; /* 0 = free */
        const char *url;
        struct queued_moves moves;
    } calls[MOVER_CALLS_MAX];
    int64_t pause_ns;
    uint64_t repaired, refused;
};

void mover_init(struct mover *m);
void mover_done(struct mover *m);

/* False when there is no room for `count` more. */
bool mover_room(const struct mover *m, size_t count);

/* `move` is a constant; the rest is copied. `domain` is for expire, "" otherwise. */
void mover_add(struct mover *m, const char *move, const char *process_guid, int32_t index,
               const char *domain);

/* A move of a task, the same; `after_ns` is the limit by which it was found. */
void mover_add_task(struct mover *m, const char *move, const char *task_guid, int64_t after_ns);

/* A judgement, which is sent before all that waits, however much that is. `move` is a constant; the
 * rest is copied. `cell_id` is "" for a move about the brake, `cells` are those of brake. */
void mover_add_judgement(struct mover *m, const char *move, const char *cell_id, uint64_t session,
                         Board__CellBeat *const *cells, size_t cell_count);

/* The end of a lock that is over, at the revision that was judged. */
void mover_add_lock(struct mover *m, const char *name, int64_t revision);

/* While the leader leads: give it every event, then add moves, then let it send. */
void mover_hear(struct mover *m, const struct event *ev, struct effects *out);
void mover_send(struct mover *m, struct moment now, struct effects *out);

/* Not the leader any more: forgets everything, without a word. */
void mover_stop(struct mover *m);

#endif
