/* The directory of a cell's images (courier.h): its files, its locks, and the programs that work in
 * it. In the parent of a courier alone. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "rep_image.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

struct image_store {
    struct arena *arena;
    const char *dir, *containers; /* of the images; of the cell's containers */
    const char *registries; /* "" = the system's */
    int64_t bytes_max, end_ms;
};

/* Makes what is missing of the directory. */
int store_open(struct image_store *s, struct err *err);

/* Takes a name for this process alone, until `end_ms` at most. A descriptor, or an error code. */
int store_lock(struct image_store *s, const char *name, struct err *err);

/* What a name stood for; false: nothing is known. */
bool store_tag_read(struct image_store *s, const char *key, Rep__ImageTag **ret);
int store_tag_write(struct image_store *s, const char *key, const Rep__ImageTag *tag,
                    struct err *err);

/* The image, with all its layers there; NULL when it is not. */
Rep__Image *store_image_read(struct image_store *s, const char *id);
int store_image_write(struct image_store *s, const Rep__Image *image, struct err *err);

/* Marks it used, and that this container has it; -ERR_NOT_FOUND when it went meanwhile. */
int store_pin(struct image_store *s, const char *guid, const char *id, struct err *err);

/* Removes images so that `more` bytes can come (image_plan.h), and pins of containers that are
 * gone. */
int store_make_room(struct image_store *s, int64_t more, struct err *err);

/* Runs a program in a mount namespace of its own, until its end or `end_ms`, and not while the file
 * system is nearly full. What it wrote to stdout is appended to `out`, at most `most` bytes of it;
 * the last of stderr to `words`. 0 when it ended well. */
int store_run(struct image_store *s, const char *const *argv, struct buf *out, size_t most,
              struct buf *words, struct err *err);

/* `containers-storage` over this store: verb and words, NULL-terminated. */
int store_tool(struct image_store *s, const char *const *words, struct buf *out, struct err *err);
