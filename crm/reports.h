/* What a CRM reports of its objects beside the moves that their states take: coalesced, so that a
 * site that is busy does not fill the centre's log (docs/edge.md, What the CRM does). Pure. */
#pragma once

#include "board.pb-c.h"
#include "common/base/arena.h"
#include "common/base/map.h"
#include "common/contract/moment.h"

#include <stdbool.h>

/* Of one object: a report of a work's steps so often, of health and use alone so often. */
#define REPORT_STEP_NS (1 * SECOND_NS)
#define REPORT_HEALTH_NS (5 * SECOND_NS)

struct crm_reports {
    struct map by_key; /* of the centre's record -> what is to be told, and when it was last */
};

struct crm_report {
    const char *key;
    const Board__EdgeMove *move;
};

void reports_init(struct crm_reports *r);
void reports_done(struct crm_reports *r);

/* The newest of an object wins, whole; but a step that it does not have stays. One without a step
 * is of health and use. One that says the same as what was told last, without a step, is none. The
 * move is copied. */
void reports_put(struct crm_reports *r, const char *key, const Board__EdgeMove *move);

/* Nothing of the object is to be told any more: its state has moved, or it has gone. */
void reports_forget(struct crm_reports *r, const char *key);

/* What was told of it last may not have come: the same is told again when it is put. */
void reports_retell(struct crm_reports *r, const char *key);

/* All is told anew, also what was told already: another session. */
void reports_reset(struct crm_reports *r);

/* How many are to be told, now or later. */
size_t reports_pending(const struct crm_reports *r);

/* When some is to be told; NEVER_NS = none. */
int64_t reports_due_ns(const struct crm_reports *r);

/* Those whose time has come, in the arena; at most so many. They count as told. */
size_t reports_take(struct crm_reports *r, struct arena *a, int64_t now_ns, size_t most,
                    struct crm_report **ret_list);
