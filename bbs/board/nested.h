/* Ops inside an op: one whose plan does the work of others, as one that rolls a service desires,
 * updates and removes DesiredLRPs (design.md 3.3). They read through the caller's view, so that
 * its transaction compares all of it beside the term of the leader who asks, and put their changes
 * into its plan. All of it is committed, or nothing. Pure. */
#pragma once

#include "bbs/board/op.h"

/* So many leave room in one transaction for a portion of each, and 4 records of the caller's own.
 */
enum { NESTED_OPS_MAX = 8 };

struct nested_op {
    const struct op_row *row;
    const ProtobufCMessage *request; /* of the type the row expects */
    const void *snapshot;            /* nested_gather() sets it */
};

/* For the caller's gather: reads what their decisions rest on. */
void nested_gather(struct view *v, const struct op_input *in, struct nested_op *list, size_t count);

/* For the caller's decide, which has looked at who speaks: adds what they change, by the bbs, and
 * their notices. Each is decided from the board as it was read: none sees what another one changes,
 * and two that change one record are refused, ResourceConflict. False: one of them refuses, and so
 * the plan does; nothing else is left in it, and nothing may be added. */
bool nested_decide(const struct nested_op *list, size_t count, const struct op_input *in,
                   struct plan *p);
