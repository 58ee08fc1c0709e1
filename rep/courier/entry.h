/* What may stand in an archive: each entry is judged before anything of it is written, and the
 * first that is refused ends the job. Pure. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ARCHIVE_ENTRIES_MAX = 1000000,
    ARCHIVE_PATH_BYTES = 4096, /* a path, without its end */
    ARCHIVE_NAME_BYTES = 255,  /* a name in it */
    /* All paths of directories together: the writer holds them until its end, for their times. */
    ARCHIVE_DIRECTORY_BYTES = 128 << 20,
};

enum entry_kind {
    ENTRY_FILE,
    ENTRY_DIRECTORY,
    ENTRY_LINK,
    ENTRY_DEVICE,
    ENTRY_FIFO,
    ENTRY_SOCKET,
    ENTRY_UNKNOWN,
};

struct archive_member {
    const char *path; /* NULL: it cannot be read */
    enum entry_kind kind;
    const char *hard_link; /* to this path; NULL: it is none */
    const char *target;    /* of a link; NULL: it cannot be read */
    int64_t size;          /* that it says it has; 0 when it does not say */
    bool encrypted;
};

/* Hashes of paths. */
struct path_set {
    uint64_t *slots; /* 0: free */
    size_t capacity, count;
};

/* One archive, from its first entry to its last. */
struct judging {
    int64_t bytes_max; /* all content together */
    int64_t entries, bytes, directory_bytes;
    struct path_set links, files; /* that it had so far */
};

/* Begins; done frees. */
void judging_init(struct judging *j, int64_t bytes_max);
void judging_done(struct judging *j);

/* Judges the next entry. -ERR_INVALID or -ERR_TOO_LARGE with a text that names it. */
int judging_entry(struct judging *j, const struct archive_member *e, struct err *err);

/* That many bytes of content came, whatever the entry had said. -ERR_TOO_LARGE over the bound. */
int judging_bytes(struct judging *j, int64_t count, struct err *err);

/* Whether the path names the destination itself: ".", "./". */
bool path_is_destination(const char *path);

/* The mode that a file or directory gets: set-id bits are cut unless `set_id`. */
unsigned entry_mode(unsigned mode, bool set_id);

/* A path as a text for people, at most 80 characters: what is not printable ASCII as "?". */
struct shown_path {
    char text[84];
};
struct shown_path path_shown(const char *path);
