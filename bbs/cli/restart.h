/* What `bbs restart` makes of the records of an index while it waits for a new instance. Pure. */
#pragma once

#include "common/base/arena.h"
#include "models/actual_lrp.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

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
 * there was none) was asked to stop. A record that is made again counts its crashes from 0. */
enum restart_state restart_judge(const Models__ActualLRP *record, const char *old_guid);

/* "STOPPING on cell-1", "UNCLAIMED (insufficient resources)" */
const char *restart_text(struct arena *a, const Models__ActualLRP *record);

/* What was waited for in vain, and for how long: an answer of a bbs that was told to stop it, or
 * the new instance, once one was `asked`. `is`: how it was seen last; `trouble`: why the last call
 * failed; "" = none. */
const char *restart_late_text(struct arena *a, bool asked, int64_t waited_ms, const char *is,
                              const char *trouble);
