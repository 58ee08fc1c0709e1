/* What `bbs restart` makes of the records of an index while it waits for a new instance. Pure. */
#ifndef BBS_CLI_RESTART_H
#define BBS_CLI_RESTART_H

#include "common/base/arena.h"
#include "common/base/err.h"
#include "models/actual_lrp.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

/* "web/2" is web and 2, "web" is web and -1. ERR_INVALID when the index is none. */
int restart_target(struct arena *a, const char *text, const char **ret_name, int32_t *ret_index,
                   struct err *err);

/* The ORDINARY record of an index; NULL when there is none. */
const Models__ActualLRP *restart_record(Models__ActualLRP *const *actuals, size_t count,
                                        int32_t index);

enum restart_state {
    RESTART_STOPS,   /* the old instance is there still */
    RESTART_STARTS,  /* the new one does not run yet */
    RESTART_RUNS,    /* the new one runs */
    RESTART_CRASHED, /* the new one did, and is not waited for */
};

/* How far it is, by the ORDINARY record of the index (or NULL), after the instance `old_guid` ("" =
 * there was none) was asked to stop. A record that is made anew counts its crashes from 0. */
enum restart_state restart_judge(const Models__ActualLRP *record, const char *old_guid);

/* "web/2: STOPPING on cell-1", "web/2: UNCLAIMED (insufficient resources)" */
const char *restart_text(struct arena *a, const char *label, const Models__ActualLRP *record);

#endif
