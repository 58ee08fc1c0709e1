/* Which cells may take a job at all, and the texts that say why none does (rep-auctioneer.md 5.1).
 * Pure. */
#pragma once

#include "auctioneer/schedule.h"

/* What a cell falls to: the rows of common/model/filters.def, in their order. */
enum filter {
#define FILTER(ID, ...) FILTER_##ID,
#include "common/model/filters.def"
#undef FILTER
    FILTER_COUNT,
    FILTER_FITS = FILTER_COUNT,           /* to none */
    FILTER_COMPATIBLE = FILTER_RESOURCES, /* to none but, maybe, its resources */
};

/* For traces and pages; static. Not of FILTER_FITS. */
const char *filter_name(enum filter filter);

/* The first filter that the cell does not pass, by its state and the machine that it is;
 * FILTER_COMPATIBLE if it passes all. */
enum filter filter_cell(const Cell__CellState *state, const struct machine_sight *machine,
                        const struct job *job);

/* Whether a cell that is this machine passes the filter of machines. */
bool filter_machine(const struct machine_sight *machine, const struct job *job);

/* Whether it may keep such a job off any cell at all. */
bool filter_asks(enum filter filter, enum job_kind kind);

/* The placement error of a job when the furthest filter that any cell reached is `furthest`, below
 * COMPATIBLE; UNUSABLE = there is no cell to be asked. Lives in the arena. */
const char *filter_text(struct arena *a, enum filter furthest, const struct job *job);

/* Resources that a cell is short of: bits. */
enum {
    SHORT_OF_CONTAINERS = 1,
    SHORT_OF_DISK = 2,
    SHORT_OF_MEMORY = 4,
    SHORT_OF_UNUSED = 8, /* its machine was given a unit in this auction */
    SHORT_OF_ALL = 15,
};
unsigned filter_shortage(const struct room *r, const struct demand *q);

/* The placement error when no compatible cell fits; `common` is what all that were tried are short
 * of. Constant text. */
const char *filter_shortage_text(unsigned common);

/* The scheme of a root filesystem ("docker" of "docker:///x"): its length, 0 if there is none. */
size_t filter_scheme(const char *root_fs);

/* A cell has the room, and slices have it (reserve.h). */
#define FILTER_TEXT_KEPT "insufficient resources: what is free is kept for slices"
#define FILTER_TEXT_IN_FLIGHT "waiting to start instance: reached in-flight start limit"
