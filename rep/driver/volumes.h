/* Volumes of containers: a table of drivers, each of which says what a volume is on this cell
 * (docs/cell.md, Volumes). Pure. */
#pragma once

#include "common/base/err.h"
#include "common/contract/driver.h"

/* What each text of a volume that cannot be begins with; that of an unknown driver says no more. */
#define VOLUME_FAILED "failed to mount volume"

enum { VOLUMES_MAX = 64 }; /* of a container */

/* A directory of the cell that containers may have as a volume. */
struct volume_source {
    const char *name, *path; /* the path absolute */
};

/* What is to be mounted. */
struct volume_plan {
    const char *source; /* a directory of the cell; NULL: memory */
    const char *below;  /* the one to be mounted, below the source; "" = the source itself */
    const char *path;   /* in the container */
    bool writable;
    uint64_t bytes; /* of memory: 0 = no bound of its own */
};

/* Whether there is a driver of this name. */
bool volume_driver_exists(const char *name);

/* The plan of a volume of a cell with these sources, borrowing from both. ERR_INVALID or
 * ERR_NOT_FOUND, with the text that a crash tells: the driver is not there, the cell has no such
 * directory, the path is no place for it. */
int volume_plan(const struct volume *v, const struct volume_source *sources, size_t count,
                struct volume_plan *ret, struct err *err);
