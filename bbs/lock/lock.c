#include "bbs/lock/lock.h"

#include "common/lifecycle/lock.h"

#include <assert.h>
#include <string.h>

bool lock_name_of_role(const char *name)
{
    static const char *const roles[] = {"bbs", "auctioneer", "converger"};
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (strcmp(roles[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- What is asked --------------------------------------------------------------------------- */

static const Models__LockRequest *asked_lock(const struct op_input *in)
{
    return (const Models__LockRequest *)in->request;
}

static const Models__Resource *asked_release(const struct op_input *in)
{
    return ((const Models__ReleaseRequest *)in->request)->resource;
}

static const char *lock_target(struct arena *a, const struct op_input *in)
{
    return key_lock(a, asked_lock(in)->resource->key);
}

static const char *release_target(struct arena *a, const struct op_input *in)
{
    return key_lock(a, asked_release(in)->key);
}

/* ---- What is read ---------------------------------------------------------------------------- */

static void gather_lock(struct view *v, const char *key, struct lock_snapshot *s)
{
    const struct seen *seen = view_get(v, key);
    if (seen) {
        s->lock = (const Board__LockRecord *)seen->message;
        s->revision = seen->mod_revision;
        s->since_ns = view_seen(v, key).since_ns;
    }
}

/* A LOST cell keeps its name: whoever comes back would find it taken. */
static void gather_name(struct view *v, const char *name, struct lock_snapshot *s)
{
    gather_lock(v, key_lock(view_arena(v), name), s);
    s->ours = lock_name_of_role(name) || view_exists(v, key_cell(view_arena(v), name));
}

static void lock_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    gather_name(v, asked_lock(in)->resource->key, snapshot);
}

static void release_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    gather_name(v, asked_release(in)->key, snapshot);
}

static void expire_lock_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct lock_snapshot *s = snapshot;
    gather_lock(v, move_subject_key(view_arena(v), in), s);
    speaker_gather(v, in, &s->by);
}

/* ---- What is decided ------------------------------------------------------------------------- */

static int state_of(const struct lock_snapshot *s)
{
    return s->lock ? LOCK_HELD : LOCK_NONE;
}

static bool same_owner(const struct lock_snapshot *s, const char *owner)
{
    return s->lock && strcmp(s->lock->owner, owner) == 0;
}

static void refuse(struct plan *p)
{
    plan_refuse(p, MODELS__ERROR__TYPE__LockCollision, "lock-collision");
}

/* 1. The name is ours, or another owner holds it and it is not over: LockCollision.
 * 2. The owner himself renews it, with the value, type and time given now.
 * 3. Nobody holds it, or nobody does any more: it is the caller's. */
void lock_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct lock_snapshot *s = snapshot;
    const Models__LockRequest *r = asked_lock(in);
    bool own = same_owner(s, r->resource->owner);
    bool over = s->lock && lock_over(s->lock, s->since_ns, in->now);
    uint32_t guards = (s->ours ? 0 : LOCK_IF_OUTSIDE) | (own ? LOCK_IF_SAME_OWNER : 0) |
                      (over ? LOCK_IF_OVER : 0);
    int trigger = own ? LOCK_TRIGGER_RENEW : LOCK_TRIGGER_CLAIM;
    int to = lifecycle_transition(&lock_lifecycle, state_of(s), in->actor, trigger, guards);
    if (to < 0) { /* 1 */
        refuse(p);
        return;
    }
    assert(to == LOCK_HELD); /* 2, 3 */
    Board__LockRecord *record = arena_message(p->arena, &board__lock_record__descriptor);
    record->key = r->resource->key;
    record->owner = r->resource->owner;
    record->value = r->resource->value;
    record->type_code = r->resource->type_code;
    record->ttl_s = r->ttl_in_seconds;
    plan_put(p, key_lock(p->arena, record->key), lock_lifecycle.triggers[trigger], in->actor,
             &record->base);
}

/* 1. Another owner's, or a name of ours: LockCollision. Even a cell's, for it is as if it held it.
 * 2. Nobody's: nothing.
 * 3. The record goes. */
void release_lock_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct lock_snapshot *s = snapshot;
    const Models__Resource *r = asked_release(in);
    if (s->lock ? !same_owner(s, r->owner) : s->ours) { /* 1 */
        refuse(p);
        return;
    }
    int to = lifecycle_transition(&lock_lifecycle, state_of(s), in->actor, LOCK_TRIGGER_RELEASE,
                                  LOCK_IF_SAME_OWNER);
    assert((to == LOCK_NONE) == (s->lock != NULL));
    if (to == LOCK_NONE) { /* 3; otherwise 2 */
        plan_delete(p, key_lock(p->arena, r->key), "release", in->actor);
    }
}

static bool expire_begin(struct move_turn *t)
{
    const struct lock_snapshot *s = t->snapshot;
    t->record = s->lock ? &s->lock->base : NULL;
    t->from = state_of(s);
    return speaker_authorised(&s->by, t->in, t->plan);
}

static uint32_t expire_guards(const struct move_turn *t)
{
    const struct lock_snapshot *s = t->snapshot;
    return s->revision == t->move->subject->revision ? LOCK_IF_SAME_REVISION : 0;
}

/* It was renewed since, or is another's. */
static void expire_refuse(const struct move_turn *t)
{
    const struct lock_snapshot *s = t->snapshot;
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                "lock %s is at revision %lld, not at %lld that was judged", s->lock->key,
                (long long)s->revision, (long long)t->move->subject->revision);
}

static void decide_expire(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&lock_moves, snapshot, in, p);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

const struct op_row lock_row = {
    .name = "lock",
    .target = lock_target,
    .gather = lock_gather,
    .decide = lock_decide,
    .snapshot_size = sizeof(struct lock_snapshot),
};

const struct op_row release_lock_row = {
    .name = "release lock",
    .target = release_target,
    .gather = release_gather,
    .decide = release_lock_decide,
    .snapshot_size = sizeof(struct lock_snapshot),
};

static const struct op_row expire_op = {
    .name = "expire lock",
    .target = move_subject_key,
    .gather = expire_lock_gather,
    .decide = decide_expire,
    .snapshot_size = sizeof(struct lock_snapshot),
};

/* Every name is a good one. */
static void valid_expire(struct validation *v, const Board__Move *move)
{
    (void)v;
    (void)move;
}

static const struct move_row rows[] = {
    {.name = "expire",
     .valid = valid_expire,
     .absent = ABSENT_NOTHING,
     .guards = expire_guards,
     .refuse = expire_refuse,
     .decide = move_delete_subject,
     .op = &expire_op,
     .op_of_rep = &expire_op},
};

const struct move_family lock_moves = {
    .lifecycle = &lock_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = expire_begin,
};
