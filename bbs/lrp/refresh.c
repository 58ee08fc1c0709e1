/* refresh: an instance shows other internal routes or metric tags than are desired of it; its rep
 * is told (behaviour.md 14.1, row 10). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"
#include "common/model/routing.h"

static bool shows_what_is_desired(struct arena *a, const struct move_snapshot *s)
{
    struct routing desired, actual;
    routing_desired(a, s->desired, s->ordinary->actual_lrp_key->index,
                    s->ordinary->actual_lrp_instance_key->instance_guid, &desired);
    routing_actual(a, s->ordinary, &actual);
    return routing_equal(&desired, &actual);
}

/* 1. Not RUNNING, or its index is not desired: ResourceConflict.
 * 2. It shows what is desired: nothing.
 * 3. The record stays as it is; its rep is told, which then starts it with the new ones. */
void refresh_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    p->record = s->ordinary ? &s->ordinary->base : NULL;
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(s->ordinary), in->actor,
                            ACTUAL_LRP_NEWS_REFRESH, move_guards(s, m));
    const Models__ActualLRPKey *key = m->actual_lrp_key;
    if (to < 0) { /* 1 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "%s/%d does not run, or is not desired", key->process_guid, key->index);
    } else if (!shows_what_is_desired(p->arena, s)) { /* 3 */
        plan_notice_refresh(p, key->process_guid, key->index, key->index + 1);
    }
}
