#include "bbs/leader_lock/leader_lock.h"

#include "common/lifecycle/leader_lock.h"

#include <assert.h>
#include <string.h>

static const Board__LeaderLockRequest *asked(const struct op_input *in)
{
    return (const Board__LeaderLockRequest *)in->request;
}

void valid_leader_lock(struct validation *v, const Board__LeaderLockRequest *request)
{
    const Board__LeaderLockRecord *leader_lock = request->leader_lock;
    if (!leader_lock) {
        say_field(v, "leader_lock");
        return;
    }
    if (!leader_lock->role[0]) {
        say_field(v, "role");
    }
    if (!leader_lock->holder[0]) {
        say_field(v, "holder");
    }
    check_length(v, leader_lock->holder, NAME_CHARACTERS_MAX);
}

static const char *leader_lock_target(struct arena *a, const struct op_input *in)
{
    return key_lead(a, asked(in)->leader_lock->role);
}

static void leader_lock_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct leader_lock_snapshot *s = snapshot;
    const struct seen *seen = view_get(v, leader_lock_target(view_arena(v), in));
    if (seen) {
        s->leader_lock = (const Board__LeaderLockRecord *)seen->message;
        s->term = seen->create_revision;
    }
}

static bool own(const struct leader_lock_snapshot *s, const struct op_input *in)
{
    return s->leader_lock && strcmp(s->leader_lock->holder, asked(in)->leader_lock->holder) == 0;
}

static void give_up(const struct leader_lock_snapshot *s, const struct op_input *in, int trigger,
                    int64_t term, struct plan *p)
{
    uint32_t guards = (term == s->term ? LEADER_LOCK_IF_TERM_MATCHES : 0) |
                      (own(s, in) ? LEADER_LOCK_IF_HOLDER : 0);
    int from = s->leader_lock ? LEADER_LOCK_HELD : LEADER_LOCK_NONE;
    if (lifecycle_transition(&leader_lock_lifecycle, from, in->actor, trigger, guards) ==
        LEADER_LOCK_NONE) {
        p->record = NULL;
        plan_delete(p, leader_lock_target(p->arena, in), leader_lock_lifecycle.triggers[trigger],
                    in->actor);
    }
}

static void acquire(const struct op_input *in, struct plan *p)
{
    int to = lifecycle_transition(&leader_lock_lifecycle, LEADER_LOCK_NONE, in->actor,
                                  LEADER_LOCK_TRIGGER_ACQUIRE, 0);
    assert(to == LEADER_LOCK_HELD); /* the route lets only candidates in */
    Board__LeaderLockRecord *record = arena_copy(p->arena, asked(in)->leader_lock, sizeof(*record));
    record->since = in->now.wall_ns;
    p->record = &record->base;
    plan_put(p, leader_lock_target(p->arena, in), "acquire", in->actor, &record->base);
}

/* 1. The holder gives its term back: the lock goes; another term, or free already: nothing.
 * 2. Free: acquired. Its create-revision is the new term.
 * 3. The caller holds it: nothing; it may have missed the answer.
 * 4. A holder of the term that the caller did not hear of is displaced: the lock goes, and the
 *    caller acquires it with the next request, which the route sends for it.
 * 5. Somebody else holds it: ResourceConflict. */
void leader_lock_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct leader_lock_snapshot *s = snapshot;
    p->record = s->leader_lock ? &s->leader_lock->base : NULL;
    if (asked(in)->release) { /* 1 */
        give_up(s, in, LEADER_LOCK_TRIGGER_RELEASE, asked(in)->release, p);
        return;
    }
    if (!s->leader_lock) { /* 2 */
        acquire(in, p);
        return;
    }
    if (own(s, in)) { /* 3 */
        return;
    }
    if (asked(in)->displace) { /* 4 */
        give_up(s, in, LEADER_LOCK_TRIGGER_DISPLACE, asked(in)->displace, p);
    }
    if (p->verdict == PLAN_NOTHING) { /* 5 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "%s leads as %s in term %lld",
                    s->leader_lock->holder, s->leader_lock->role, (long long)s->term);
    }
}

const struct op_row leader_lock_row = {
    .name = "leader lock",
    .target = leader_lock_target,
    .gather = leader_lock_gather,
    .decide = leader_lock_decide,
    .snapshot_size = sizeof(struct leader_lock_snapshot),
};
