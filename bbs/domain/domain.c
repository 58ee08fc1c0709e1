#include "bbs/domain/domain.h"

#include "common/lifecycle/domain.h"

#include <assert.h>
#include <string.h>

static const char *upsert_target(struct arena *a, const struct op_input *in)
{
    return key_domain(a, ((const Models__UpsertDomainRequest *)in->request)->domain);
}

static void upsert_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct domain_snapshot *s = snapshot;
    if (in->actor == ACTOR_SITE) {
        speaker_gather(v, in, &s->by);
    }
    s->domain = view_message(v, upsert_target(view_arena(v), in));
    s->seen = view_domain_seen(v, upsert_target(view_arena(v), in));
}

/* The CRM of a site vouches, while it leads, for what is its own. */
static bool is_permitted(const struct domain_snapshot *s, const struct op_input *in, struct plan *p)
{
    const Models__UpsertDomainRequest *r = in->request;
    if (in->actor != ACTOR_SITE) {
        return true;
    }
    if (strncmp(r->domain, DOMAIN_OF_SITE_PREFIX, strlen(DOMAIN_OF_SITE_PREFIX)) != 0) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "domain %s is no domain of a slice: those begin with " DOMAIN_OF_SITE_PREFIX,
                    r->domain);
        return false;
    }
    return speaker_in_term(&s->by, in, r->term, p);
}

/* 0. The CRM of a site in another term, or of a domain that is not its own: ResourceConflict.
 * 1. Each upsert replaces the expiry by now + ttl, also from forever to finite; 0 is forever.
 * 2. Forever again changes nothing, unless that came back with a restore and is confirmed now. */
void upsert_domain_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct domain_snapshot *s = snapshot;
    const Models__UpsertDomainRequest *r = in->request;
    if (!is_permitted(s, in, p)) { /* 0 */
        return;
    }
    int to = lifecycle_transition(&domain_lifecycle, s->domain ? DOMAIN_KNOWN : DOMAIN_NONE,
                                  in->actor, DOMAIN_TRIGGER_UPSERT, 0);
    assert(to == DOMAIN_KNOWN);
    if (s->domain && r->ttl == 0 && s->domain->ttl_s == 0 &&
        s->seen.in_this_board_generation) { /* 2 */
        return;
    }
    Board__DomainRecord *record = arena_message(p->arena, &board__domain_record__descriptor);
    record->domain = r->domain;
    record->ttl_s = r->ttl;
    record->expires_at = r->ttl ? in->now.wall_ns + r->ttl * SECOND_NS : 0;
    plan_put(p, key_domain(p->arena, r->domain), "upsert", in->actor, &record->base); /* 1 */
}

const struct op_row upsert_domain_row = {
    .name = "upsert domain",
    .target = upsert_target,
    .gather = upsert_gather,
    .decide = upsert_domain_decide,
    .snapshot_size = sizeof(struct domain_snapshot),
};
