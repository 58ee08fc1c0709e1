/* Teardowns: what clients ask, and the moves of the converger (common/lifecycle/teardown.def). */
#include "bbs/system/over.h"
#include "common/lifecycle/system.h"
#include "common/lifecycle/teardown.h"
#include "common/model/head.h"
#include "common/model/hold.h"

#include <assert.h>
#include <string.h>

/* ---- A teardown is asked for ----------------------------------------------------------------- */

static const Board__TeardownRequest *asked(const struct op_input *in)
{
    return (const Board__TeardownRequest *)in->request;
}

static const char *teardown_target(struct arena *a, const struct op_input *in)
{
    return key_system(a, asked(in)->system);
}

void valid_teardown(struct validation *v, const Board__TeardownRequest *request)
{
    check_system_id(v, request->system);
    check_action_id(v, request->id);
}

struct teardown_snapshot {
    struct speaker by;
    struct system_facts of;
    const Board__TeardownRecord *teardown;
    const Board__HoldRecord *hold;
    const Board__HeadRecord *head;
    bool empty;       /* it has neither services nor node pools */
    bool kept_enough;
    size_t count;
};

static void teardown_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct teardown_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    s->of = system_facts_gather(v, asked(in)->system, NULL);
    if (s->of.system) {
        s->teardown = view_message(v, key_teardown(a, s->of.uid, asked(in)->id));
        s->count = view_peek_count(v, key_range_of(a, RECORD_TEARDOWN, s->of.uid));
    }
}

/* 1. The system takes none: ResourceNotFound, ResourceConflict.
 * 2. It was asked for before: nothing.
 * 3. There are as many as may be: ResourceConflict.
 * 4. It is pending. */
static void teardown_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct teardown_snapshot *s = snapshot;
    if (system_facts_refused(&s->of, p)) { /* 1 */
        return;
    }
    if (s->teardown) { /* 2 */
        p->record = &s->teardown->base;
        return;
    }
    if (too_many(p, &s->of, s->count, ACTIONS_MAX, "teardowns")) { /* 3 */
        return;
    }
    assert(lifecycle_transition(&teardown_lifecycle, TEARDOWN_NONE, in->actor,
                                TEARDOWN_TRIGGER_TEARDOWN, TEARDOWN_IF_OPEN) == TEARDOWN_PENDING);
    Board__TeardownRecord *t = arena_message(p->arena, &board__teardown_record__descriptor); /* 4 */
    t->id = asked(in)->id;
    t->uid = borrowed(s->of.uid);
    t->system = asked(in)->system;
    t->state = borrowed(teardown_lifecycle.states[TEARDOWN_PENDING]);
    t->message = borrowed("waits for a converger to take it up");
    t->created_at = in->now.wall_ns;
    p->record = &t->base;
    plan_put(p, key_teardown(p->arena, t->uid, t->id), "teardown", in->actor, &t->base);
}

const struct op_row teardown_row = {
    .name = "teardown",
    .target = teardown_target,
    .gather = teardown_gather,
    .decide = teardown_decide,
    .snapshot_size = sizeof(struct teardown_snapshot),
};

/* ---- Moves: what is read --------------------------------------------------------------------- */

/* Bits of `reads`. */
enum { SERVICES = 1, KEPT = 2 };

static void move_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct teardown_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__Move *m = in->request;
    const char *uid = move_name(a, m);
    unsigned reads = move_row_named(&teardown_moves, m->move)->reads;
    s->teardown = view_message(v, move_subject_key(a, in));
    s->of = system_facts_gather(v, move_teardown(m)->system, uid);
    s->hold = view_message(v, key_hold(a, uid));
    s->head = view_message(v, key_head(a, uid));
    s->empty = reads & SERVICES && view_range_empty(v, key_range_of(a, RECORD_SERVICE, uid)) &&
               view_range_empty(v, key_range_of(a, RECORD_POOL, uid));
    s->kept_enough = reads & KEPT && s->teardown && teardown_kept_enough(v, &s->of, s->teardown);
    speaker_gather(v, in, &s->by);
}

static bool teardown_begin(struct move_turn *t)
{
    const struct teardown_snapshot *s = t->snapshot;
    t->record = s->teardown ? &s->teardown->base : NULL;
    t->from = s->teardown ? lifecycle_state(&teardown_lifecycle, s->teardown->state)
                          : TEARDOWN_NONE;
    t->plan->record = t->record;
    return speaker_authorised(&s->by, t->in, t->plan);
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static const Board__TeardownRecord *before_of(const struct move_turn *t)
{
    return (const Board__TeardownRecord *)t->record;
}

static Board__Hold *entry_of(const struct move_turn *t)
{
    Board__Hold *entry = arena_message(t->plan->arena, &board__hold__descriptor);
    entry->kind = BOARD__HOLD__KIND__TEARDOWN;
    entry->id = before_of(t)->id;
    entry->path = borrowed("/");
    entry->since = t->in->now.wall_ns;
    return entry;
}

static uint32_t teardown_guards(const struct move_turn *t)
{
    const struct teardown_snapshot *s = t->snapshot;
    const Board__Hold **holders;
    bool held = s->hold && hold_of(s->hold, BOARD__HOLD__KIND__TEARDOWN, before_of(t)->id);
    bool lock_free = s->hold && s->head && !held &&
                     hold_conflicts(t->plan->arena, s->hold, "/", &holders) == 0;
    return (lock_free ? TEARDOWN_IF_LOCK_FREE : 0) | (held ? TEARDOWN_IF_HELD : 0) |
           (system_facts_open(&s->of) ? TEARDOWN_IF_OPEN : 0) |
           (s->empty ? TEARDOWN_IF_EMPTY : 0) |
           (system_facts_gone(&s->of) ? TEARDOWN_IF_GONE : 0) |
           (s->kept_enough ? TEARDOWN_IF_KEPT_ENOUGH : 0);
}

/* ---- What they do ---------------------------------------------------------------------------- */

static void put_hold(const struct move_turn *t, const Board__HoldRecord *hold)
{
    assert(hold);
    plan_put(t->plan, key_hold(t->plan->arena, before_of(t)->uid), t->row->name, t->in->actor,
             &hold->base);
}

static void put(const struct move_turn *t, const Board__TeardownRecord *after)
{
    move_put(t, move_subject_key(t->plan->arena, t->in), t->from, t->to, &after->base);
}

/* It holds the whole system, and nothing is to stand in it. */
static void begin_decide(const struct move_turn *t)
{
    const struct teardown_snapshot *s = t->snapshot;
    struct arena *a = t->plan->arena;
    Board__HoldRecord *hold = NULL;
    enum hold_answer taken = hold_take(a, s->hold, entry_of(t), &hold);
    assert(taken == HOLD_TAKEN);
    (void)taken;
    Board__HeadRecord *head = head_cleared(a, s->head);
    Board__TeardownRecord *after = teardown_changed(a, before_of(t), t->to);
    assert(t->to == TEARDOWN_IN_PROGRESS && head->n_roots == 0);
    after->started_at = t->in->now.wall_ns;
    after->generation = head->generation;
    after->message = borrowed("waits for its services to go");
    plan_put(t->plan, key_head(a, after->uid), "begin", t->in->actor, &head->base);
    put_hold(t, hold);
    system_put_updating(t->plan, &s->of, s->of.system->version, t->in->now);
    put(t, after);
}

/* Why it may not begin, NULL = it may. *ret_conflict: for what others hold. */
static const char *refusal(const struct move_turn *t, bool *ret_conflict)
{
    const struct teardown_snapshot *s = t->snapshot;
    struct arena *a = t->plan->arena;
    const Board__Hold **holders;
    const char *closed = system_facts_refusal(a, &s->of);
    size_t count = s->hold && !closed ? hold_conflicts(a, s->hold, "/", &holders) : 0;
    *ret_conflict = count > 0;
    if (closed) {
        return closed;
    }
    return count ? hold_text(a, holders, count) : NULL;
}

/* 1. Nothing stands against it: ResourceConflict, it can begin.
 * 2. It failed, for what stands against it. */
static void refuse_decide(const struct move_turn *t)
{
    bool conflict;
    const char *why = refusal(t, &conflict);
    if (!why) { /* 1 */
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "teardown %s can begin",
                    before_of(t)->id);
        return;
    }
    Board__TeardownRecord *after =
        teardown_over(t->plan->arena, before_of(t), t->to, why, t->in->now);
    after->conflict = conflict;
    put(t, after); /* 2 */
}

/* The last state and the end of the hold are one transaction. */
static void end(const struct move_turn *t, const char *message)
{
    const struct teardown_snapshot *s = t->snapshot;
    put_hold(t, hold_drop(t->plan->arena, s->hold, BOARD__HOLD__KIND__TEARDOWN, before_of(t)->id));
    put(t, teardown_over(t->plan->arena, before_of(t), t->to, message, t->in->now));
}

static void succeed_decide(const struct move_turn *t)
{
    const struct teardown_snapshot *s = t->snapshot;
    assert(t->to == TEARDOWN_SUCCEEDED && s->empty);
    end(t, "");
    if (system_facts_open(&s->of)) {
        system_put_version(t->plan, &s->of, "", t->in->now);
    }
}

static void fail_decide(const struct move_turn *t)
{
    const char *said = move_teardown(t->move)->message;
    assert(t->to == TEARDOWN_FAILED);
    end(t, *said ? said : "its system is being deleted");
}

static void forget_decide(const struct move_turn *t)
{
    move_delete_subject(t);
    t->plan->record = NULL;
}

/* ---- What refuses ---------------------------------------------------------------------------- */

static void refuse(const struct move_turn *t, const char *why)
{
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "teardown %s: %s",
                before_of(t)->id, why);
}

static void refuse_by_state(const struct move_turn *t)
{
    refuse(t, arena_printf(t->plan->arena, "it is %s", before_of(t)->state));
}

/* It has begun: nothing. */
static void begin_refuse(const struct move_turn *t)
{
    bool conflict;
    const char *why = t->from == TEARDOWN_PENDING ? refusal(t, &conflict) : NULL;
    if (why) {
        refuse(t, why);
    } else if (t->from != TEARDOWN_IN_PROGRESS) {
        refuse_by_state(t);
    }
}

/* It failed: nothing. */
static void refuse_refuse(const struct move_turn *t)
{
    if (t->from != TEARDOWN_FAILED) {
        refuse_by_state(t);
    }
}

static void succeed_refuse(const struct move_turn *t)
{
    if (t->from == TEARDOWN_IN_PROGRESS) {
        refuse(t, t->guards & TEARDOWN_IF_HELD ? "a service is there yet" : "it holds nothing");
    } else if (t->from != TEARDOWN_SUCCEEDED) {
        refuse_by_state(t);
    }
}

static void fail_refuse(const struct move_turn *t)
{
    if (t->from == TEARDOWN_IN_PROGRESS) {
        refuse(t, "its system stands");
    } else if (t->from != TEARDOWN_FAILED) {
        refuse_by_state(t);
    }
}

static void forget_refuse(const struct move_turn *t)
{
    bool over = t->from == TEARDOWN_SUCCEEDED || t->from == TEARDOWN_FAILED;
    refuse(t, over ? "it is one of the last that are over" : "it is not over");
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void valid_teardown_move(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    check_action_id(v, move_name(&a, move));
    check_action_id(v, move_part(&a, move));
    check_system_id(v, move_teardown(move)->system);
}

static void decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&teardown_moves, snapshot, in, p);
}

static const struct op_row teardown_op = {
    .name = "teardown move",
    .target = move_subject_key,
    .gather = move_gather,
    .decide = decide,
    .snapshot_size = sizeof(struct teardown_snapshot),
};

#define MOVE_ROW(move, read, absents)                                                              \
    {                                                                                              \
        .name = #move, .valid = valid_teardown_move, .reads = read, .absent = ABSENT_##absents,    \
        .guards = teardown_guards, .refuse = move##_refuse, .decide = move##_decide,               \
        .op = &teardown_op, .op_of_rep = &teardown_op,                                             \
    }

static const struct move_row rows[] = {
    MOVE_ROW(begin, 0, REFUSED), MOVE_ROW(refuse, 0, REFUSED),
    MOVE_ROW(succeed, SERVICES, REFUSED), MOVE_ROW(fail, 0, REFUSED),
    MOVE_ROW(forget, KEPT, NOTHING),
};

const struct move_family teardown_moves = {
    .lifecycle = &teardown_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = teardown_begin,
};
