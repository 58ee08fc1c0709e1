/* The rep's state directory: who this cell is, through restarts (design.md 6, Fencing). Locked for
 * as long as the process lives; beside the containers it holds
 *   lock       held with flock
 *   identity   drawn once, when the directory is made: tells a successor from a stranger
 *   incarnation    raised durably at each start, and above that of a cell that was lost
 *   cell       the cell id it was made for
 *   evacuation while this cell is being emptied: the incarnation of the rep that kept it, its limit
 *              by the wall clock and by the monotonic one (ns), and the boot of the latter ("-" =
 *              not known) */
#pragma once

#include "common/base/err.h"
#include "common/contract/effect.h"

#include <stdint.h>

enum { STATE_IDENTITY_BYTES = 37, STATE_PATH_MAX = 3000, STATE_BOOT_BYTES = 64 };

struct state_dir {
    int lock;                  /* file descriptor; -1 = not locked */
    char path[STATE_PATH_MAX]; /* absolute */
    char identity[STATE_IDENTITY_BYTES];
    uint64_t incarnation; /* of this start */
    struct kept_evacuation evacuation; /* as it stands there; its boot_id is the next: */
    char boot[STATE_BOOT_BYTES];
};

/* Makes the directory if it is not there, locks it and raises the incarnation: the new one is on
 * the disk before this returns. Fails with ERR_CONFLICT when another process holds the lock or the
 * directory is another cell's, with ERR_IO when it cannot be used or a file in it is damaged;
 * nothing is raised then. `cell_id` NULL: locks and reads an existing directory, makes and raises
 * nothing; a part that is not there yet is "" or 0, and no evacuation is read. */
int state_dir_open(struct state_dir *s, const char *path, const char *cell_id, struct err *err);

/* Raises the incarnation to a number above the present one: it is on the disk before this returns.
 * ERR_CONFLICT when it is not higher. What is kept of an evacuation is then of this incarnation. */
int state_dir_raise(struct state_dir *s, uint64_t incarnation, struct err *err);

/* Keeps an evacuation in place of what is kept, or (not on) drops that: it is on the disk, or gone
 * from it, before this returns. ERR_IO when the disk refuses; ERR_INVALID for times below 0, and
 * for a boot id that has no place in a line: what stood there stands. */
int state_dir_keep(struct state_dir *s, const struct kept_evacuation *e, struct err *err);

/* Gives the lock back. Accepts one that failed to open. */
void state_dir_close(struct state_dir *s);
