/* The structured log: one line an event, to a descriptor (stderr).
 *
 *   2026-11-21T10:30:00.123Z warn bbs-1 "etcd does not answer" endpoint=127.0.0.1:2379 tries=3
 *
 * Time (UTC, ms), level, process, message, data as key=value. A line is bounded (LOG_LINE_BYTES,
 * cut with "..."), control characters are escaped (\n, \x1b), so nothing that comes from outside
 * can forge or break a line. Identical messages beyond LOG_BURST a second are counted and
 * summarised: "message" suppressed=N. A line that would have to wait, because nobody reads the
 * descriptor, is lost; how many are is reported when it is read again. */
#pragma once

#include "common/contract/effect.h"

#include <stdbool.h>

enum {
    LOG_LINE_BYTES = 2048, /* with the newline */
    LOG_BURST = 20,        /* lines of one level and message in a second */
    LOG_SINGLES = 500, /* the same of lines that tell of single things (struct log_line): more than
                          a cell starts or ends in a second */
    LOG_MESSAGES = 64, /* messages told apart by the burst limit; the oldest gives way */
};

struct log;

/* Lines below `level` are dropped. The name is copied; the descriptor stays the caller's. */
struct log *log_new(const char *name, enum log_level level, int fd);

/* Writes what is still counted. Accepts NULL. */
void log_free(struct log *log);

/* Both accept a NULL log: nothing is written. */
void log_put(struct log *log, const struct log_line *line);
void log_printf(struct log *log, enum log_level level, const char *message,
                const char *data_format, ...) __attribute__((format(printf, 4, 5)));

/* Writes the summaries whose second is over; true while some are still counted. To be called about
 * once a second while it gives true. */
bool log_tick(struct log *log);

/* "debug", "info", "warn", "error", both ways; -1 for a name that is none. */
const char *log_level_name(enum log_level level);
int log_level_of(const char *name, enum log_level *ret_level);
