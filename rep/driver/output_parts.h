/* What a container wrote, as its shim keeps it: files of one stream, read across their rotation. */
#pragma once

#include "common/base/bytes.h"
#include "rep/driver/log_line.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum {
    OUTPUT_LINE_BYTES = 64 * 1024,       /* a longer one is given in parts */
    /* Looked through for the last so many lines: more than a log has, and some read twice. */
    OUTPUT_TAIL_BYTES = 64 * 1024 * 1024,
};

/* NAME is written, NAME.1 is the one before, and so on. */
struct output_file {
    int dir;          /* the log directory; borrowed */
    const char *name; /* LOG_FILE; of earlier versions "stdout" or "stderr", a stream each */
    int fd;           /* what is being read; -1: nothing is there yet */
    struct buf rest;  /* the begin of a line whose end has not come */
    bool done;        /* all was given, and no more comes */
};

/* Begins before the last `lines` lines, as far as OUTPUT_TAIL_BYTES reach; -1 = at the oldest. */
void output_file_open(struct output_file *f, int dir, const char *name, int64_t lines);
/* LOG_FILE: begins where what is wanted begins, which is said to the text, too: what it is to
 * leave out. */
void output_file_open_log(struct output_file *f, int dir, const struct output_request *wanted,
                          struct output_text *text);
void output_file_close(struct output_file *f);

/* Appends whole lines, about `max` bytes of them. `last`: nobody writes any more, what is left of a
 * line is one. Where files were rotated away unread a line says so. False: nothing was there. */
bool output_file_read(struct output_file *f, struct buf *out, size_t max, bool last);

/* output_seek_io.c: where in a file the lines of that time or later begin (log_form.h). */
off_t output_since(int fd, off_t size, const char *since);
/* Tells of each line's begin from the end of a file on, with what there is of it (at least its
 * head), until `visit` says true; then the one told of before is where to begin. True: it did. */
bool output_walk_back(int fd, off_t size, int64_t *budget,
                      bool (*visit)(void *context, struct bytes line), void *context,
                      off_t *ret_at);
/* Whether the first line of it is older. */
bool output_begins_before(int fd, const char *since);

/* kept_io.c: the output of containers that were removed, in directories of its own:
 * HASH-TIME-GUID=LABEL, the hash of their label and the label, its "/" written as "=". A label of
 * more than KEPT_LABEL_MAX bytes, or with other characters than a process_guid may have, is left
 * out (so it was for all once): then only who knows all of it finds what is kept under it. All but
 * the name is for a thread (worker_io.h): it takes as long as the disk likes. */
enum {
    KEPT_LABEL_MAX = 160, /* a name has at most 255, a container's guid 64 */
    KEPT_A_LABEL_MAX = 3,
    KEPT_MAX = 4096,
    KEPT_S = 60 * 60,
};
#define KEPT_BYTES_MAX ((int64_t)256 * 1024 * 1024) /* of all together; then the oldest go */
#define KEPT_FREE_BYTES ((int64_t)64 * 1024 * 1024) /* on a fuller disk, too */

/* The name that a container removed now is to have; malloced. */
char *kept_name(const char *label, const char *guid, int64_t wall_s);

/* Deletes what is too old, too much, or one too many of its label; stops when *ending. */
void kept_prune(const char *dir, int64_t wall_s, const atomic_bool *ending);

/* Deletes all, and the directory. */
void kept_clear(const char *dir);

/* The directory of this container's output, opened; -1 with errno, ENOENT: none is kept. */
int kept_open(const char *dir, const char *guid);

/* A JSON array of {"instance_guid","process_guid","index","removed_at"} (nanoseconds since 1970),
 * the newest first: of this label, or of all that begin so. A label is PROCESS_GUID/INDEX. */
void kept_list(const char *dir, const char *label, bool begins, struct buf *out);
