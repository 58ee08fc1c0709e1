/* What `rep audit` found on a machine that is of no container any more: how the places are read in
 * which it looks, and how the finds are shown. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct audit_find {
    const char *kind;  /* "process", "mount", ... */
    const char *what;  /* its name on the machine */
    const char *whose; /* guid of the container that it was of; NULL: not known */
};

struct audit {
    struct arena *arena; /* of all texts */
    struct audit_find *finds;
    size_t count, capacity;
};

/* Adds one; the texts are copied. */
void audit_add(struct audit *a, const char *kind, const char *what, const char *whose);

/* Drops from `a` what is not in `again` as well. */
void audit_keep(struct audit *a, const struct audit *again);

/* By kind and name: a table, or "nothing is left". Then as JSON. */
void audit_show(struct audit *a, struct buf *out);
void audit_show_json(struct audit *a, struct buf *out);

/* The name below a directory that a path begins with, in the arena: of DIR/NAME and DIR/NAME/REST;
 * NULL: the path is not below it. What Linux appends to the path of a deleted file is no part of
 * the name. */
const char *audit_below(struct arena *a, const char *path, const char *dir);

/* Where a line of /proc/PID/mountinfo says that something is mounted, its escapes undone; NULL: the
 * line is none. */
const char *audit_mount_point(struct arena *a, const char *line);

/* The container whose control group has this name, on the cell with this hash; NULL: none's. */
const char *audit_group(const char *name, uint32_t hash);

/* A line of `rep-network audit`. */
void audit_network_line(struct audit *a, const char *line);
