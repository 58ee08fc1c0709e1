/* observe: what the converger counted. */
#include "bbs/service/moves.h"
#include "common/base/message.h"
#include "common/lifecycle/service.h"

#include <string.h>

uint32_t observe_service_guards(const struct move_turn *t)
{
    switch (lifecycle_state(&service_lifecycle, service_says(t)->state)) {
    case SERVICE_UPDATING:
        return SERVICE_IF_SEEN_UPDATING;
    case SERVICE_SCALING:
        return SERVICE_IF_SEEN_SCALING;
    case SERVICE_STABLE:
        return SERVICE_IF_SEEN_STABLE;
    case SERVICE_FAILED:
        return SERVICE_IF_SEEN_FAILED;
    default:
        return 0;
    }
}

/* A restart is over when all that it asked for was seen to run again. */
static bool ends_restart(const struct move_turn *t, const Board__ServiceRecord *after)
{
    return t->to == SERVICE_STABLE && after->observed == after->generation;
}

static void take_fault(const struct move_turn *t, Board__ServiceRecord *after)
{
    const Board__ServiceMove *m = service_says(t);
    if (m->fault[0] && (strcmp(m->fault, after->fault) != 0 || t->to != t->from)) {
        after->fault = m->fault;
        after->fault_at = t->in->now.wall_ns;
    }
}

/* 1. As it stands: nothing.
 * 2. State, message, fault and counts as they were seen; the generation that was taken up never
 *    falls. The last fault is kept when it is over. */
void observe_service_decide(const struct move_turn *t)
{
    const Board__ServiceMove *m = service_says(t);
    const Board__ServiceRecord *before = service_before(t);
    Board__ServiceRecord *after = service_copy(t->plan->arena, before);
    service_set_state(after, t->to, t->in->now);
    after->message = m->message;
    take_fault(t, after);
    after->counts = m->counts ? m->counts : after->counts;
    if (m->generation > after->observed && m->generation <= after->generation) {
        after->observed = m->generation;
    }
    if (m->progress) {
        after->progress_at = t->in->now.wall_ns;
    }
    if (after->restarting[0] && ends_restart(t, after)) {
        after->restarting = (char *)(uintptr_t)protobuf_c_empty_string;
        after->restart_at = 0;
    }
    if (!message_equal(&before->base, &after->base)) { /* 1 */
        service_put_with(t, after);                    /* 2 */
    }
}
