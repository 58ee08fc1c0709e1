/* The outbox of named moves: what containers, and records without one, ask of bbs, batched into
 * /v1/board/apply. One move at a time for each of them; what is not settled is asked again after a
 * back-off. */
#pragma once

#include "board.pb-c.h"
#include "common/base/map.h"
#include "common/contract/effect.h"
#include "rep/container/harmonise.h"

#include <bsd/sys/queue.h>

struct container;
struct rep;

/* The bounds: moves of a call (proto/board.proto), and calls under way. More moves wait, and so
 * travel together. With so many bytes a call takes no further move, for one that is too large for a
 * bbs (4 MiB) would settle none. A task's answer shows a whole task, which may have a megabyte and
 * 16 when decoded. */
enum {
    MOVES_A_CALL_MAX = 256,
    TASK_MOVES_A_CALL_MAX = 3,
    MOVE_CALLS_MAX = 4,
    MOVES_BYTES_ENOUGH = 512 * 1024,
};

/* One wanted move. The message is made when it is sent. */
struct move_order {
    STAILQ_ENTRY(move_order) link;
    enum harmony_action action;
    Models__ActualLRP__Presence presence; /* of the record it is about; set when it is sent */
    bool blind; /* no record of the container is known: that none is shown says nothing */
    const struct move_source *source; /* of others than containers and strays; NULL = none */
    bool stray; /* `name` is a record's key, else a container's guid */
    char name[];
};

STAILQ_HEAD(move_orders, move_order);

/* Who asks for moves beside containers and strays, by names of its own: one move at a time each. */
struct move_source {
    /* The message, in the arena, as it is to be by now; NULL: it is not wanted any more, and
     * nothing is settled. */
    Board__Move *(*message)(struct rep *r, struct arena *a, const char *name);
    /* A bbs answered it, for good or ill; NULL: nobody knows what came of it. */
    void (*settled)(struct rep *r, const char *name, const Board__MoveResult *result,
                    struct effects *out);
};

struct move_call {
    struct rep *rep;
    uint64_t id; /* 0 = free */
    const char *url;
    struct move_orders orders;
};

struct moves {
    struct move_orders orders; /* that wait */
    struct move_call calls[MOVE_CALLS_MAX];
    struct map strays; /* record key -> struct stray, for which a move was asked */
};

/* The rep is borrowed: it owns the outbox. */
void moves_init(struct moves *m, struct rep *r);
void moves_done(struct moves *m);

/* Wants the move for this container, which has no other operation; not while it must wait, or
 * without an incarnation, for the opening of the next looks at everything again. */
void moves_want(struct rep *r, struct container *c, enum harmony_action action);

/* Wants a move of another source, under this name; only while the incarnation is open. */
void moves_want_of(struct rep *r, const struct move_source *source, const char *name);

/* Nothing had called for a look, and yet there is this to do: a change was missed. */
void moves_tell_late(const char *what, const char *name, enum harmony_action action,
                     struct effects *out);

/* The rows without a container, for the record at this key: only after adoption ended, while the
 * listing succeeds, the feed is current and the incarnation open. */
void moves_look_at_stray(struct rep *r, const char *key, struct effects *out);

/* Forgets strays whose records are gone. */
void moves_trim_strays(struct rep *r);

/* No stray waits for its back-off. */
void moves_retry_strays(struct rep *r);

/* Sends what waits, as far as calls are free. Everything concerned gets its answer. */
void moves_flush(struct rep *r, struct effects *out);

/* The incarnation was lost: nothing waits any more, all are told to come again. */
void moves_release(struct rep *r, struct effects *out);
