/* Which cells may take a job at all, and the texts that say why none does (rep-auctioneer.md 5.1).
 * Pure. */
#ifndef AUCTIONEER_FILTER_H
#define AUCTIONEER_FILTER_H

#include "auctioneer/schedule.h"

/* How far a cell gets, in the order of the filters. */
enum filter_step {
    FILTER_NO_CELL, /* there is none to be asked */
    FILTER_ROOTFS,  /* stopped at the root filesystem */
    FILTER_DRIVERS, /* ... at the volume drivers */
    FILTER_TAGS,    /* ... at the placement tags */
    FILTER_PASSED,  /* compatible: only its resources matter */
};

enum filter_step filter_cell(const Cell__CellState *cell, const struct job *job);

/* The placement error of a job when the furthest step that any cell reached is `furthest`, which is
 * not PASSED. Lives in the arena. */
const char *filter_text(struct arena *a, enum filter_step furthest, const struct job *job);

/* Resources that a cell is short of: bits. */
enum { SHORT_OF_CONTAINERS = 1, SHORT_OF_DISK = 2, SHORT_OF_MEMORY = 4, SHORT_OF_ALL = 7 };
unsigned filter_shortage(const struct room *r, const struct demand *q);

/* The placement error when no compatible cell fits; `common` is what all that were tried are short
 * of. Constant text. */
const char *filter_shortage_text(unsigned common);

/* The scheme of a root filesystem ("docker" of "docker:///x"): its length, 0 if there is none. */
size_t filter_scheme(const char *root_fs);

#define FILTER_TEXT_IN_FLIGHT "waiting to start instance: reached in-flight start limit"

#endif
