/* Units of a service that are asked for: by deploy and by add-unit, and made by a job. Pure. */
#pragma once

#include "bbs/board/op.h"
#include "bbs/board/validation.h"

#include "board.pb-c.h"

enum { UNITS_ASKED_MAX = 100000, UNITS_ADDED_AT_ONCE = 28 };

/* How many at once, and of one that is to be on a machine of a number that it is one. Of its needs
 * a request says the machine, a deploy the placement tags too: what the charm says is refused. */
void valid_units_asked(struct validation *v, uint32_t count, const Board__UnitNeeds *needs);

/* The machine that a client wants them on; none, if he says none. */
struct wanted_machine {
    bool asked;
    uint32_t number;
    const Board__MachineRecord *record; /* NULL = there is none */
    bool pooled;                        /* a node pool has its cell, and no unit asks for that */
};
void wanted_machine_gather(struct view *v, const Board__UnitNeeds *needs,
                           struct wanted_machine *ret);
/* True: it is not there, or takes no units, and the plan is refused. */
bool wanted_machine_refused(const struct wanted_machine *w, struct plan *p);

/* Opens the job that makes so many units of the service; `needs`: the machine that they are to be
 * on, or that it is an unused one; NULL = any. Gives the job. */
const Board__JobRecord *add_units_open(struct plan *p, const struct op_input *in,
                                       const char *service, const char *guid, uint32_t count,
                                       const Board__UnitNeeds *needs);
