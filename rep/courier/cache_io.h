/* The cache's directory: what is in it, room for more, and how things come in and go. In the parent
 * of a courier alone. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"
#include "rep/container/cache_plan.h"

#include <stdbool.h>
#include <stdint.h>

struct cache_dir {
    int fd; /* of its directory */
    int objects, trees, keys, part, uses, turns;
    int64_t bytes_max;
};

/* Opens it, and makes what is missing of it. */
int cache_open(const char *dir, int64_t bytes_max, struct cache_dir *ret, struct err *err);
void cache_close(struct cache_dir *c); /* all that cache_open() opened */

/* Takes the file, or directory, of that name in part/ for this process alone, made anew and empty;
 * waits for whoever has it, until `end_ms` at most. Gives a descriptor that holds it. A directory
 * has an empty one in it, `root`. */
int cache_part_file(struct cache_dir *c, const char *name, int64_t end_ms, int *ret_fd,
                    struct err *err);
int cache_part_tree(struct cache_dir *c, const char *name, int64_t end_ms, int *ret_fd,
                    struct err *err);

/* What was taken goes, if it is still in part/. Says nothing when it cannot: a sweep will. */
void cache_part_drop(struct cache_dir *c, const char *name, int fd);

/* One of `count` turns, for this process alone, waiting for it until `end_ms` at most. Gives a
 * descriptor that holds it. */
int cache_turn(struct cache_dir *c, int64_t count, int64_t end_ms, int *ret_fd, struct err *err);

/* Removes what is needed for `more` bytes to come (cache_plan()), of which `here` are on the disk
 * already. */
int cache_make_room(struct cache_dir *c, int64_t more, int64_t here, struct err *err);

/* Makes a finished part an object, or the `root` of a tree, durably and within the bounds; unless
 * there is that one already, which is as good. */
int cache_keep_object(struct cache_dir *c, const char *part, int part_fd, const char *digest,
                      int64_t size, struct err *err);
int cache_keep_tree(struct cache_dir *c, const char *part, int part_fd, const char *digest,
                    int64_t size, struct err *err);

/* Opens an object for reading, and marks it used; -ERR_NOT_FOUND. */
int cache_object(struct cache_dir *c, const char *digest, int *ret_fd, int64_t *ret_size,
                 struct err *err);

/* Whether there is the tree; marks it used. */
bool cache_tree(struct cache_dir *c, const char *digest, int64_t *ret_size);

/* Who may use trees: a name of letters, digits, - and _. The tree is in use, and stays, until the
 * file of that name in uses/ is removed; -ERR_NOT_FOUND if it is not there. */
bool cache_name_valid(const char *name);
int cache_use(struct cache_dir *c, const char *name, const char *digest, struct err *err);

/* What the key of that name stands for; false if nothing is known. Writing marks it used. */
bool cache_key_read(struct cache_dir *c, const char *name, struct cache_record *ret);
int cache_key_write(struct cache_dir *c, const char *name, const struct cache_record *r,
                    struct err *err);

/* Removes from part/ what nobody holds any more. */
int cache_sweep(struct cache_dir *c, struct err *err);
