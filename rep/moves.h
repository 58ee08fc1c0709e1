/* The outbox of named moves: what containers and strays ask of bbs, batched into /v1/board/apply.
 * One move at a time for each of them; what is not settled is asked again after a back-off. */
#ifndef REP_MOVES_H
#define REP_MOVES_H

#include "board.pb-c.h"
#include "common/base/map.h"
#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "rep/harmonise.h"

struct container;
struct rep;

/* The bounds: moves of a call (proto/board.proto), and calls under way. More moves wait, and so
 * travel together. With so many bytes a call takes no further move, for one that is too large for a
 * bbs (4 MiB) would settle none. */
enum { MOVES_A_CALL_MAX = 256, MOVE_CALLS_MAX = 4, MOVES_BYTES_ENOUGH = 512 * 1024 };

/* One wanted move. The message is made when it is sent. */
struct move_order {
    struct move_order *next;
    enum harmony_action action;
    Models__ActualLRP__Presence presence; /* of the record it is about; set when it is sent */
    bool blind; /* no record of the container is known: that none is shown says nothing */
    bool stray; /* `name` is a record's key, else a container's guid */
    char name[];
};

struct move_call {
    uint64_t id; /* 0 = free */
    const char *url;
    struct move_order *orders;
};

/* A record of ours without a container, for which a move was asked. */
struct stray {
    bool busy;
    unsigned failures;
    int64_t retry_ns;
};

struct moves {
    struct move_order *first, **end;
    struct move_call calls[MOVE_CALLS_MAX];
    struct map strays; /* record key -> struct stray */
};

void moves_init(struct moves *m);
void moves_done(struct moves *m);

/* Wants the move for this container, which has no other operation. */
void moves_add(struct rep *r, struct container *c, enum harmony_action action);

/* Whether it was wanted before. */
bool moves_know_stray(const struct rep *r, const char *key);

/* Wants the move for the record at this key, unless one is under way or was just tried; then gives
 * the time to come back, else NEVER_NS. */
int64_t moves_add_stray(struct rep *r, const char *key, enum harmony_action action);

/* No stray waits for its back-off. */
void moves_retry_strays(struct moves *m);

/* Sends what waits, as far as calls are free. */
void moves_flush(struct rep *r, struct effects *out);

/* True if the response was of one of its calls; every container concerned has been told. */
bool moves_response(struct rep *r, const struct response *response, struct effects *out);

/* Forgets strays whose records are gone. */
void moves_trim(struct rep *r);

/* The session was lost: nothing waits any more, all are told to come again. */
void moves_release(struct rep *r, struct effects *out);

#endif
