/* An archive, told by its content (tar, plain or by gzip or zstd; zip), walked from its first entry
 * to its last under the rules of entry.h. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "rep/courier/entry.h"

#include <stdbool.h>
#include <stdint.h>

struct archive;

/* Called at each piece of work, with the bytes of content so far. May be NULL. */
typedef void archive_moved(void *context, int64_t bytes);

struct archive_walk {
    struct judging judging; /* begun and ended by the caller */
    struct archive *writer; /* NULL: it is only judged */
    bool set_id;            /* set-id bits are kept */
    archive_moved *moved;
    void *context;
};

/* Reads the file behind a descriptor from its beginning; the descriptor stays open. The first entry
 * that is refused, or cannot be read or written, ends it with an error that names it. */
int archive_walk_file(struct archive_walk *w, int fd, struct err *err);

/* The same of bytes in memory. */
int archive_walk_bytes(struct archive_walk *w, struct bytes in, struct err *err);

/* Writes below the working directory, never through a link; NULL when out of memory. */
struct archive *archive_writer_new(void);

/* Ends the writing: times and modes of directories come last. Frees it. */
int archive_writer_end(struct archive *writer, struct err *err);
