/* The history of a run, read from its lines (docs/chaos.md, The history). Pure.
 *
 * Times are nanoseconds of one monotonic clock. Texts are kept once each and live as long as the
 * history, so that equal texts are the same pointer. A text that a line does not have is "". */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"
#include "common/base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HISTORY_LINE_MAX = 4 << 20,
    HISTORY_ITEMS_MAX = 20 * 1000 * 1000, /* of calls, events, requests and containers together */
};
#define HISTORY_NEVER INT64_MAX

/* Where a line stands. */
struct place {
    const char *file;
    int line;
};

enum call_op {
    CALL_CREATE,
    CALL_UPDATE,
    CALL_REMOVE,
    CALL_GET,
    CALL_LIST,
    CALL_TASK_CREATE,
    CALL_TASK_GET,
    CALL_TASK_CANCEL,
    CALL_TASK_RESOLVE,
    CALL_TASK_DELETE,
    CALL_OTHER,
    CALL_OPS,
};
enum call_result { CALL_OK, CALL_FAILED, CALL_UNKNOWN };

struct call {
    struct place place;
    enum call_op op;
    enum call_result result;
    const char *key, *value; /* value: what it writes */
    const char *saw; /* what it read; "" = nothing was there; of a refusal the word for it */
    int instances;   /* asked for; -1 = not */
    int client;
    int64_t begin, end; /* HISTORY_NEVER = it may still take effect */
};

enum event_what { EVENT_SNAPSHOT, EVENT_PUT, EVENT_GONE };

/* A change, or a record of a snapshot, that one bbs told of. */
struct event {
    struct place place;
    enum event_what what;
    int bbs;        /* number of its stream */
    int generation; /* of the board, in the order of their appearance */
    int reset;      /* how many resets the stream had before */
    int64_t at, revision, made;
    const char *key, *record;
    const char *process, *domain, *state, *instance, *cell; /* process: also a task's guid */
    const char *result;
    int index, presence, instances;
    bool stopping;
};

/* A part of a stream in which nothing may be left out: after `first`, before `last`. */
struct stretch {
    int bbs, generation;
    int64_t first, last;
    struct place place;
};

struct visit {
    struct place place;
    const char *process, *instance, *answered_by;
    int index;
    bool ok;
    int64_t begin, end;
};

/* A container as the kernel saw it: it ran from `begun`, for sure until `seen`, and not any more at
 * `gone` (HISTORY_NEVER: it was there at the last look). */
struct container {
    struct place place;
    const char *instance, *process, *task, *cell;
    int index, pid;
    int64_t begun, first, seen, gone;
};

enum { FAULT_TARGETS_KEPT = 8 };
struct befallen {
    struct place place;
    int number;
    const char *kind, *targets[FAULT_TARGETS_KEPT], *recovery, *probe;
    int target_count;
    bool was_there, healed, bound_from_end;
    bool occupied; /* a rep that had containers was befallen */
    int64_t begin, there, end, bound_ms;
    int64_t heal;    /* when its heal began, from which a bound from the end runs */
    int64_t healthy; /* HISTORY_NEVER = not told */
};

struct attempt {
    struct place place;
    const char *probe, *result, *why;
    int64_t begin, end;
};

struct steady {
    const char *process;
    int instances;
};

#define HISTORY_LIST(type, name)                                                                   \
    type *name;                                                                                    \
    size_t name##_count, name##_room

struct history {
    struct arena arena;
    struct map texts;
    HISTORY_LIST(struct call, calls);
    HISTORY_LIST(struct event, events);
    HISTORY_LIST(struct stretch, stretches);
    HISTORY_LIST(struct visit, visits);
    HISTORY_LIST(struct container, containers);
    HISTORY_LIST(struct befallen, faults);
    HISTORY_LIST(struct attempt, attempts);
    HISTORY_LIST(struct steady, steadies);
    HISTORY_LIST(int64_t, looks); /* at the containers */
    const char *run, *stale_domain;
    int64_t begin, rest, end; /* of the work; 0 = not told */
    int64_t first, last;      /* of all lines */
    uint64_t lines, bytes;
    size_t live; /* the first container that may still run */
    struct {
        const char *name;
        int generation, resets;
        int64_t position;
        bool open; /* a stretch is open: the last of this stream */
        size_t stretch;
    } streams[64];
    int stream_count;
    const char *generations[64];
    int generation_count;
};

void chaos_history_init(struct history *h);
void chaos_history_done(struct history *h);

/* Takes a line of `file`; `size` without its newline. ERR_INVALID names file, line and what is
 * wrong with it; ERR_TOO_LARGE: a bound is reached. Lines of a file come in order; those of the
 * ground truth are of one file. */
int chaos_history_take(struct history *h, struct place place, const char *line, size_t size,
                       struct err *err);

/* When all lines are there: sorts what is looked through by time, and closes what is open. */
void chaos_history_close(struct history *h);

/* The one text that is equal to it. */
const char *chaos_history_text(struct history *h, const char *text);
