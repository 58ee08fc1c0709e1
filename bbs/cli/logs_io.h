/* What the files of `bbs logs` share. */
#pragma once

#include "bbs/cli/logs.h"
#include "bbs/cli/logs_watch.h"
#include "bbs/cli/session_io.h"
#include "models/cells.pb-c.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    LOGS_STREAMS = 2,
    LOGS_LINES = 100, /* unless it is said */
    LOGS_ASKED_MAX = 16,           /* cells at once, for what they keep */
    LOGS_AHEAD_MAX = 1024 * 1024,  /* read of one before its turn to be shown */
    LOGS_STACK_BYTES = 256 * 1024, /* of each thread */
    LOGS_SILENCE_MS = INT32_MAX,   /* a container may write nothing for days */
};

/* One `bbs logs`. */
struct logs {
    struct session *s;
    const struct invocation *call;
    const char *name;
    Models__CellPresence **cells;
    size_t cell_count;
    struct log_source sources[LOGS_FOLLOWED_MAX * LOGS_STREAMS];
    size_t count;
    int64_t lines, tail;
    const char *choice; /* more of the query, "&since=10m&times=1" */
    const char *stream; /* NULL = both */
    bool follow, times;
    bool terminal; /* what is shown must not play with it */
};

/* One that is read. */
struct log_reader {
    struct logs *logs;
    struct log_text text;
    pthread_mutex_t *printing; /* NULL: nobody else prints */
    const bool *labelled;      /* looked at again before each piece; NULL: as text.labelled is */
    const atomic_bool *stop;   /* ends the reading within a second; NULL: Ctrl-C alone does */
    struct buf *ahead;         /* NULL: what comes is printed at once */
    size_t taken;              /* bytes so far */
    bool unwritable;           /* what came could not be printed */
    bool full;                 /* more came than LOGS_AHEAD_MAX */
    bool answered;             /* the last answer began well */
    int result;
    struct err err;
};

/* Its text is set as the command wants it; log_reader_done() at the end. */
void log_reader_init(struct log_reader *r, struct logs *l, const struct log_source *source);
void log_reader_done(struct log_reader *r);

/* Asks the rep for the last `lines` lines (-1 = all) and shows them, until its answer ends;
 * `result` says how. The rep's answer must begin within `limit_ms`. */
void log_reader_read(struct log_reader *r, int64_t lines, bool follow, int64_t limit_ms);

/* Where the cell's rep is; NULL when it is not present. */
const char *logs_url_of(const struct logs *l, const char *cell_id);

/* Which streams are read, each by itself; gives their number. Of both at once, {NULL}, nobody can
 * tell which a line is of: not for programs. */
size_t logs_streams(const struct logs *l, const char *ret_streams[LOGS_STREAMS]);

/* Adds one container; ERR_UNAVAILABLE when its cell is not present, ERR_TOO_LARGE beyond
 * LOGS_FOLLOWED_MAX.
 */
int logs_add(struct logs *l, struct log_source source, struct err *err);

/* Reads all sources at once and shows them one after the other; gives the last that failed. */
int logs_read_all(struct logs *l, struct err *err);

/* --previous: adds what is kept of an app or process. */
int logs_add_previous(struct logs *l, const char *name, int32_t index, struct err *err);

/* -f of an app or process, until it is removed. `definitions`: it has more than one. */
int logs_follow(struct logs *l, const char *name, int32_t index, bool definitions, struct err *err);

/* --task. */
int logs_task(struct logs *l, struct err *err);

/* The options of what is shown and how; the cells there are. */
int logs_options_read(struct logs *l, struct err *err);
int logs_get_cells(struct logs *l, struct err *err);
/* One container alone, whose cell may be started again while it is followed. */
int logs_of_one(struct logs *l, struct log_source source, struct err *err);
