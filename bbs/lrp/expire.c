/* expire: the converger takes away a domain that nobody upserted in time (behaviour.md 7, 14.1). */
#include "bbs/lrp/move.h"
#include "common/lifecycle/domain.h"
#include "common/model/freshness.h"

const char *expire_target(struct arena *a, const struct op_input *in)
{
    return key_domain(a, ((const Board__Move *)in->request)->domain);
}

void expire_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct move_snapshot *s = snapshot;
    const struct seen *seen = view_get(v, expire_target(view_arena(v), in));
    s->domain = seen ? (const Board__DomainRecord *)seen->message : NULL;
    s->domain_seen = view_domain_seen(v, expire_target(view_arena(v), in));
    move_gather_actor(v, in, s);
}

/* 1. No such domain: nothing.
 * 2. Not expired, or not any more: ResourceConflict.
 * 3. The record goes. */
void expire_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    if (!s->domain) { /* 1 */
        return;
    }
    uint32_t guards = domain_over(s->domain, s->domain_seen.at, in->now) ? DOMAIN_IF_EXPIRED : 0;
    int to = lifecycle_move(&domain_lifecycle, DOMAIN_KNOWN, in->actor, DOMAIN_NEWS_EXPIRE, guards);
    if (to < 0) { /* 2 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "domain %s has not expired",
                    m->domain);
        return;
    }
    plan_delete(p, key_domain(p->arena, m->domain), "expire", in->actor); /* 3 */
}
