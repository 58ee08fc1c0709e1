/* The incarnation: the number that tells a rep's calls from those of its predecessor (design.md 6).
 * The rep opens it with POST /v1/board/cell, again and again until a bbs answers. A cell that was
 * lost comes back with an incarnation above the board's, which it makes durable first; any other
 * refusal ends the rep, and its containers run on. Reports of an open incarnation make no record: a
 * late one must not bring back a cell that has left. */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/event.h"

#include <stdbool.h>

struct rep;

struct incarnation {
    bool open;
    bool tell;        /* what the cell says of itself has changed: the board is to hear it */
    uint64_t call_id; /* of the open question; 0 = none */
    uint64_t raising; /* this incarnation is on its way to the disk; 0 = none */
    const char *url;  /* of the bbs it went to */
    unsigned failures;
    int64_t retry_ns;
    bool was_open;    /* once at least: before that a bbs may be starting, too */
    char why[160];    /* last reason reported for waiting */
};

/* So many tries before the first incarnation come to nothing while a cluster starts, in about 3 s:
 * no cause to warn. */
enum { INCARNATION_CALM_FAILURES = 5 };

/* Give it every event. True once, when the incarnation has just been opened. */
bool incarnation_step(struct rep *r, const struct event *ev, struct effects *out);

/* What the cell says of itself has changed: reported again, with the same incarnation. */
void incarnation_tell(struct rep *r);

/* One POST /v1/board/cell with the present incarnation: it opens it, or asks for the record to go.
 * Gives the call's id. */
uint64_t incarnation_call(struct rep *r, bool leave, struct effects *out);

/* The board knows another incarnation, or none: heartbeats end, the incarnation is asked for again.
 * */
void incarnation_lost(struct rep *r, const char *why, struct effects *out);

/* Codes of the process when the cell cannot be had, or its settings are of no use (design.md 4). */
enum { EXIT_USAGE = 2, EXIT_CELL_TAKEN = 4, EXIT_CELL_DENIED = 8 };
