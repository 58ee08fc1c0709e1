#include "bbs/lead/lead.h"

#include "common/lifecycle/lead.h"

#include <assert.h>
#include <string.h>

static const Board__LeadRequest *asked(const struct op_input *in)
{
    return (const Board__LeadRequest *)in->request;
}

void valid_lead(struct validation *v, const Board__LeadRequest *request)
{
    const Board__LeadRecord *lead = request->lead;
    if (!lead) {
        say_field(v, "lead");
        return;
    }
    if (!lead->role[0]) {
        say_field(v, "role");
    }
    if (!lead->holder[0]) {
        say_field(v, "holder");
    }
    check_length(v, lead->holder, NAME_CHARACTERS_MAX);
}

static const char *lead_target(struct arena *a, const struct op_input *in)
{
    return key_lead(a, asked(in)->lead->role);
}

static void lead_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct lead_snapshot *s = snapshot;
    const struct seen *seen = view_get(v, lead_target(view_arena(v), in));
    if (seen) {
        s->lead = (const Board__LeadRecord *)seen->message;
        s->term = seen->create_revision;
    }
}

static bool own(const struct lead_snapshot *s, const struct op_input *in)
{
    return s->lead && strcmp(s->lead->holder, asked(in)->lead->holder) == 0;
}

static void give_up(const struct lead_snapshot *s, const struct op_input *in, int trigger,
                    int64_t term, struct plan *p)
{
    uint32_t guards = (term == s->term ? LEAD_IF_TERM_MATCHES : 0) |
                      (own(s, in) ? LEAD_IF_HOLDER : 0);
    int from = s->lead ? LEAD_HELD : LEAD_NONE;
    if (lifecycle_transition(&lead_lifecycle, from, in->actor, trigger, guards) == LEAD_NONE) {
        p->record = NULL;
        plan_delete(p, lead_target(p->arena, in), lead_lifecycle.triggers[trigger], in->actor);
    }
}

static void acquire(const struct op_input *in, struct plan *p)
{
    int to = lifecycle_transition(&lead_lifecycle, LEAD_NONE, in->actor, LEAD_TRIGGER_ACQUIRE, 0);
    assert(to == LEAD_HELD); /* the route lets only candidates in */
    Board__LeadRecord *record = arena_copy(p->arena, asked(in)->lead, sizeof(*record));
    record->since = in->now.wall_ns;
    p->record = &record->base;
    plan_put(p, lead_target(p->arena, in), "acquire", in->actor, &record->base);
}

/* 1. The holder gives its term back: the lock goes; another term, or free already: nothing.
 * 2. Free: acquired. Its create-revision is the new term.
 * 3. The caller holds it: nothing; it may have missed the answer.
 * 4. A holder of the term that the caller did not hear of is displaced: the lock goes, and the
 *    caller acquires it with the next request, which the route sends for it.
 * 5. Somebody else holds it: ResourceConflict. */
void lead_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct lead_snapshot *s = snapshot;
    p->record = s->lead ? &s->lead->base : NULL;
    if (asked(in)->release) { /* 1 */
        give_up(s, in, LEAD_TRIGGER_RELEASE, asked(in)->release, p);
        return;
    }
    if (!s->lead) { /* 2 */
        acquire(in, p);
        return;
    }
    if (own(s, in)) { /* 3 */
        return;
    }
    if (asked(in)->displace) { /* 4 */
        give_up(s, in, LEAD_TRIGGER_DISPLACE, asked(in)->displace, p);
    }
    if (p->verdict == PLAN_NOTHING) { /* 5 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "%s leads as %s in term %lld",
                    s->lead->holder, s->lead->role, (long long)s->term);
    }
}

const struct op_row lead_row = {
    .name = "lead",
    .target = lead_target,
    .gather = lead_gather,
    .decide = lead_decide,
    .snapshot_size = sizeof(struct lead_snapshot),
};
