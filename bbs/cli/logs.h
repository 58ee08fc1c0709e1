/* What `bbs logs` makes of what containers wrote, and which of those that ended it shows. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/cli/printable.h"

#include <stdbool.h>
#include <stdint.h>

/* A line without end is shown in parts of this size. */
enum { LOG_LINE_MAX = 64 * 1024, LOG_TIME_MAX = 30 };

/* One container whose output is wanted. Strings live as long as the caller says. */
struct log_source {
    const char *label; /* "web/0", before each line when there are several */
    const char *process_guid, *instance_guid, *cell_id, *url;
    const char *stream; /* the one that is read; NULL = both, in one text */
    int32_t index;      /* -1: a task's */
    int64_t removed_ns; /* when its container was removed, since 1970; 0 = it is there */
};

/* ---- Lines ---- */

/* How the bytes of one container are shown. Set by the caller but for the last three. */
struct log_text {
    const struct log_source *source;
    bool json, times;
    bool labelled; /* may change while lines come */
    bool terminal; /* what a terminal obeys is shown as text (printable.h) */
    struct buf line;
    bool continued; /* a part of the line was shown */
    struct printable printable;
};

/* `source` is borrowed. */
void log_text_init(struct log_text *t, const struct log_source *source);
void log_text_done(struct log_text *t);

/* Appends what is to be shown of these bytes. With `times` each line begins with its time, as the
 * rep puts it there; of JSON that becomes a member. For neither programs nor a terminal, and
 * without labels and times: they themselves. */
void log_text_take(struct log_text *t, struct bytes bytes, struct buf *out);

/* No more comes. */
void log_text_end(struct log_text *t, struct buf *out);

/* ---- Those that ended ---- */

/* Reads a rep's list of what is kept (rep/http/output.h) into new sources with `label` and
 * `removed_ns`, of those that `name` means (name_of_guid()); of one index if it is not negative.
 * ERR_INVALID when it is no such list. */
int logs_kept(struct arena *a, struct bytes list, const char *name, int32_t index,
              const struct log_source *cell, struct log_source **ret_sources, size_t *ret_count,
              struct err *err);

/* ERR_NOT_FOUND, with what was `said` of the name, which no process has, and how the output of one
 * that was removed is shown. */
int logs_no_process(const char *name, const char *said, struct err *err);

/* Sorts them, the newest first, and leaves the newest of each index of each definition. Where
 * two definitions have one name labels become process_guid/index. Gives their number. */
size_t logs_newest(struct arena *a, struct log_source *sources, size_t count);

/* "web/0 of web-81c3f7580f on cell-1, removed 2026-01-02T03:04:05.000Z, 3m ago (GUID)" */
const char *logs_ended_text(struct arena *a, const struct log_source *s, int64_t now_ns);
