/* S9 as Diego's clients see it: which events each revision of the board makes, by the table of
 * behaviour.md 16.3, from the history alone; and whether a client of a stream is told them: each
 * one, in the order of the revisions, from where its subscription began to where it was cut off.
 *
 * Two changes of one revision that are about different things have no order among themselves. */
#pragma once

#include "common/base/arena.h"
#include "test/sim/checkers/history.h"

#include <stdbool.h>

struct checkers;

enum api_stream { EVENTS_GROUPS, EVENTS_INSTANCES, EVENTS_TASKS, API_STREAMS };

enum { EVENT_CELLS = 2 };

struct told_event {
    const char *text;               /* as event_text (event_frames.h) */
    const char *subject;            /* what it is about: events of one subject come in this order */
    const char *cells[EVENT_CELLS]; /* passes the filters of these; NULL, "" = none */
    bool of_all_cells;
};

struct told_revision {
    const struct told_event *list;
    size_t count;
};

/* What every revision makes, by its number; in the history's arena. */
struct events {
    struct told_revision *revisions[API_STREAMS];
    size_t capacity;
    bool wanted[API_STREAMS]; /* somebody follows it: only from then on it is kept */
};

/* A client of one stream, at one subscription. */
struct event_reader {
    const char *name; /* of whom to blame */
    enum api_stream kind;
    const char *cell_id;    /* "" = of all cells */
    bool begun;             /* the head of the answer is under way: from now on it misses nothing */
    unsigned restores;      /* of etcd when it began: what comes after one is of no interest */
    int64_t begun_revision; /* etcd's then */
    int64_t revision;       /* what it is told now is of this one; all before was told */
    bool synced;            /* it has heard something: where it began was found, at ... */
    int64_t first_revision;
    /* What it has heard while it may have begun later than there, for the same words may be told of
     * several revisions (a retire, another one, and the end that they asked for). Freed by
     * reader_done. */
    bool settled; /* no other beginning fits what it has heard */
    const char **heard;
    size_t heard_count, heard_capacity;
    bool *told;             /* which of the revision's events; freed by reader_done */
    size_t told_capacity;
};

void reader_done(struct event_reader *r);

/* A new subscription of it. */
void reader_asks(struct checkers *k, struct event_reader *r);

/* It is answered; the request had arrived when etcd was at `arrived_revision`. */
void reader_begins(struct checkers *k, struct event_reader *r, int64_t arrived_revision);

/* It hears this. Gives what is wrong, NULL = it may hear that; in the history's arena. */
const char *reader_hears(struct checkers *k, struct event_reader *r, const char *text);

/* The next event that it has not heard and should; NULL = it has heard all that there is. */
const char *reader_misses(struct checkers *k, const struct event_reader *r);
