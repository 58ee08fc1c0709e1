/* The moves of the converger about deploys (common/lifecycle/deploy.def). What is taken and given
 * up of the hold is written with the state: nothing lies between them. */
#include "bbs/system/build.h"
#include "bbs/system/deploy_facts.h"
#include "bbs/system/over.h"
#include "common/lifecycle/deploy.h"
#include "common/model/component_path.h"
#include "common/model/deploy_target.h"
#include "common/model/head.h"
#include "common/model/hold.h"

#include <assert.h>
#include <string.h>

static const struct deploy_snapshot *facts(const struct move_turn *t)
{
    return t->snapshot;
}

static const Board__DeployRecord *before_of(const struct move_turn *t)
{
    return (const Board__DeployRecord *)t->record;
}

static bool deploy_begin(struct move_turn *t)
{
    const struct deploy_snapshot *s = facts(t);
    t->record = s->deploy ? &s->deploy->base : NULL;
    t->from = s->deploy ? lifecycle_state(&deploy_lifecycle, s->deploy->state) : DEPLOY_NONE;
    t->plan->record = t->record;
    return speaker_authorised(&s->by, t->in, t->plan);
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static Board__Hold *entry_of(const struct move_turn *t)
{
    Board__Hold *entry = arena_message(t->plan->arena, &board__hold__descriptor);
    entry->kind = BOARD__HOLD__KIND__DEPLOY;
    entry->id = before_of(t)->id;
    entry->path = before_of(t)->path;
    entry->since = t->in->now.wall_ns;
    return entry;
}

/* Who stands against it, for people; NULL = its path is free, and *ret_after has its entry. */
static const char *lock_refusal(const struct move_turn *t, Board__HoldRecord **ret_after)
{
    const struct deploy_snapshot *s = facts(t);
    struct arena *a = t->plan->arena;
    const Board__Hold **holders;
    size_t count;
    if (!s->hold) {
        return "its system has no record of what is held";
    }
    switch (hold_take(a, s->hold, entry_of(t), ret_after)) {
    case HOLD_TAKEN:
        return NULL;
    case HOLD_CONFLICT:
        count = hold_conflicts(a, s->hold, before_of(t)->path, &holders);
        return hold_text(a, holders, count);
    case HOLD_FULL:
        return arena_printf(a, "%d deploys hold a part of system %s, which is the most: ask again "
                               "when one is over",
                            HOLD_ENTRIES_MAX, s->of.id);
    default:
        return "it holds a path already";
    }
}

/* Whether it asks for what stood before to be put back, by a client or by itself. */
static bool is_to_revert(const Board__DeployRecord *d)
{
    return d->aborted || d->rollback_on_failure;
}

/* A record shows why: of one that is accepted its build, or a secret; of one in progress a service
 * or node pool that failed, or a secret that one lacks, and then it fails only where nothing is put
 * back, or was. */
static bool is_witnessed(const struct move_turn *t)
{
    const Board__DeployRecord *d = before_of(t);
    bool fails = strcmp(t->row->name, "fail") == 0;
    bool in_progress = t->from == DEPLOY_IN_PROGRESS;
    if (!fails && d->aborted) {
        return true; /* the deploy itself shows it */
    }
    return facts(t)->witness == (in_progress ? WITNESS_SERVICES : WITNESS_START) &&
           (!fails || !in_progress || d->reverting || !is_to_revert(d));
}

static uint32_t target_guards(const struct move_turn *t)
{
    const struct deploy_snapshot *s = facts(t);
    Board__HoldRecord *hold;
    return (s->target_fault ? 0 : DEPLOY_IF_TARGET_GOOD) |
           (lock_refusal(t, &hold) ? 0 : DEPLOY_IF_LOCK_FREE);
}

static uint32_t deploy_guards(const struct move_turn *t)
{
    const struct deploy_snapshot *s = facts(t);
    const Board__DeployRecord *d = before_of(t);
    const Board__Hold *own = s->hold ? hold_of(s->hold, BOARD__HOLD__KIND__DEPLOY, d->id) : NULL;
    return (t->from == DEPLOY_PENDING ? target_guards(t) : 0) |
           (system_facts_open(&s->of) ? DEPLOY_IF_OPEN : 0) |
           (own && strcmp(own->path, d->path) == 0 ? DEPLOY_IF_HELD : 0) |
           (s->build_over && s->services <= SYSTEM_SERVICES_MAX ? DEPLOY_IF_BUILD_OVER : 0) |
           (s->build_over && !s->lack.name ? DEPLOY_IF_SECRETS_SET : 0) |
           (s->settled ? DEPLOY_IF_SETTLED : 0) |
           (d->reverting ? DEPLOY_IF_REVERTING : 0) |
           (!d->reverting && !d->aborted ? DEPLOY_IF_FORWARD : 0) |
           (!d->reverting && is_to_revert(d) ? DEPLOY_IF_MAY_REVERT : 0) |
           (is_witnessed(t) ? DEPLOY_IF_WITNESSED : 0) |
           (system_facts_gone(&s->of) ? DEPLOY_IF_GONE : 0) |
           (s->kept_enough ? DEPLOY_IF_KEPT_ENOUGH : 0);
}

/* ---- What they do ---------------------------------------------------------------------------- */

static void put_hold(const struct move_turn *t, const Board__HoldRecord *hold)
{
    assert(hold);
    plan_put(t->plan, key_hold(t->plan->arena, before_of(t)->uid), t->row->name, t->in->actor,
             &hold->base);
}

static void put(const struct move_turn *t, const Board__DeployRecord *after)
{
    move_put(t, move_subject_key(t->plan->arena, t->in), t->from, t->to, &after->base);
}

/* The hold with its path, by which LOCK_FREE was judged, too. */
static const Board__HoldRecord *taken(const struct move_turn *t)
{
    Board__HoldRecord *hold = NULL;
    const char *held = lock_refusal(t, &hold);
    assert(!held && hold);
    (void)held;
    return hold;
}

/* It holds its path, and a version or a path is built by a build of its id. */
static void accept_decide(const struct move_turn *t)
{
    const struct deploy_snapshot *s = facts(t);
    struct arena *a = t->plan->arena;
    Board__DeployRecord *after = deploy_changed(a, before_of(t), t->to);
    assert(t->to == DEPLOY_ACCEPTED);
    after->started_at = t->in->now.wall_ns;
    after->message = borrowed(*after->build ? arena_printf(a, "waits for build %s", after->build)
                                            : "waits to begin");
    if (deploy_makes_build(after)) {
        Board__BuildRecord *b = build_new(a, &s->of, after->id, t->in->now);
        b->version = after->version;
        bool path = strcmp(after->target, "path") == 0;
        b->path = path ? after->path : b->path;
        b->root = path ? after->path : b->root;
        plan_put(t->plan, key_build(a, b->uid, b->id), "build", t->in->actor, &b->base);
    }
    put_hold(t, taken(t));
    put(t, after);
}

/* Why it may not be accepted, NULL = it may. *ret_conflict: for what others hold. */
static const char *refusal(const struct move_turn *t, bool *ret_conflict)
{
    const struct deploy_snapshot *s = facts(t);
    Board__HoldRecord *hold;
    const char *closed = system_facts_refusal(t->plan->arena, &s->of);
    const char *held = closed ? NULL : lock_refusal(t, &hold);
    *ret_conflict = held && s->hold;
    return closed ? closed : held ? held : s->target_fault;
}

/* 1. Nothing stands against it: ResourceConflict, it can be accepted.
 * 2. It failed, for what stands against it; its start is its end. */
static void refuse_decide(const struct move_turn *t)
{
    bool conflict;
    const char *why = refusal(t, &conflict);
    if (!why) { /* 1 */
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "deploy %s can be accepted",
                    before_of(t)->id);
        return;
    }
    Board__DeployRecord *after =
        deploy_over(t->plan->arena, before_of(t), t->to, why, t->in->now);
    after->conflict = conflict;
    put(t, after); /* 2 */
}

/* What its build knows by now, and what it waits for; so already: nothing. */
static void note_decide(const struct move_turn *t)
{
    const struct deploy_snapshot *s = facts(t);
    const Board__DeployRecord *before = before_of(t);
    const char *said = message_cut(t->plan->arena, move_deploy(t->move)->message);
    Board__DeployRecord *after = deploy_changed(t->plan->arena, before, t->to);
    after->version = s->build && *s->build->version ? s->build->version : after->version;
    after->message = *said ? borrowed(said) : after->message;
    if (strcmp(after->version, before->version) != 0 ||
        strcmp(after->message, before->message) != 0) {
        put(t, after);
    }
}

/* The roots at and below its path become those; the system's version, if its whole definition
 * does. The services follow. */
static void put_head(const struct move_turn *t, Board__DeployRecord *after,
                     const Board__HeadRecord *head, const char *version)
{
    const struct deploy_snapshot *s = facts(t);
    bool whole = component_path_depth(after->path) == 0;
    assert(head->generation > after->generation);
    after->generation = head->generation;
    plan_put(t->plan, key_head(t->plan->arena, after->uid), t->row->name, t->in->actor,
             &head->base);
    system_put_updating(t->plan, &s->of, whole ? version : s->of.system->version, t->in->now);
    put(t, after);
}

/* One that is pending takes its path with it. */
static void begin_decide(const struct move_turn *t)
{
    const struct deploy_snapshot *s = facts(t);
    struct arena *a = t->plan->arena;
    Board__DeployRecord *after = deploy_changed(a, before_of(t), t->to);
    assert(t->to == DEPLOY_IN_PROGRESS && s->head && s->build_over);
    if (t->from == DEPLOY_PENDING) {
        after->started_at = t->in->now.wall_ns;
        put_hold(t, taken(t));
    }
    after->n_before = head_roots_within(a, s->head, after->path, &after->before);
    after->before_version = s->of.system->version;
    after->message = borrowed("waits for its services");
    const Board__DeployRecord *u = s->undone;
    if (u) {
        after->version = u->before_version;
        put_head(t, after, head_restore(a, s->head, after->path, u->before, u->n_before),
                 u->before_version);
    } else {
        after->version = s->build->version;
        put_head(t, after, head_put(a, s->head, after->path, s->build->tree, s->build->id),
                 s->build->version);
    }
}

static void revert_decide(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const char *said = move_deploy(t->move)->message;
    Board__DeployRecord *after = deploy_changed(a, before_of(t), t->to);
    assert(!after->reverting && after->generation > 0);
    after->reverting = true;
    after->message = borrowed(message_cut(a, *said ? said : before_of(t)->message));
    put_head(t, after,
             head_restore(a, facts(t)->head, after->path, after->before, after->n_before),
             after->before_version);
}

/* The last state and the end of the hold are one transaction. */
static void end(const struct move_turn *t, const char *message)
{
    struct arena *a = t->plan->arena;
    put_hold(t, hold_drop(a, facts(t)->hold, BOARD__HOLD__KIND__DEPLOY, before_of(t)->id));
    put(t, deploy_over(a, before_of(t), t->to, message, t->in->now));
}

/* What it made the head is told to all: nobody else holds a path, where somebody may be left to be
 * told. A deploy of the whole system leaves it stable. */
static void put_told(const struct move_turn *t)
{
    const struct deploy_snapshot *s = facts(t);
    const Board__DeployRecord *d = before_of(t);
    struct arena *a = t->plan->arena;
    bool alone = s->hold->n_holds == 1;
    if (!alone || s->head->generation != d->generation || !system_facts_open(&s->of)) {
        return;
    }
    if (s->head->spread < s->head->generation) {
        plan_put(t->plan, key_head(a, d->uid), "spread", t->in->actor,
                 &head_told(a, s->head)->base);
    }
    if (component_path_depth(d->path) == 0) {
        system_put_stable(t->plan, &s->of, t->in->now);
    }
}

/* It is over; and what would be told of the head and the system next is told with it. */
static void succeed_decide(const struct move_turn *t)
{
    assert(t->to == DEPLOY_SUCCEEDED && !before_of(t)->reverting);
    end(t, "");
    put_told(t);
}

static void fail_decide(const struct move_turn *t)
{
    const char *said = move_deploy(t->move)->message;
    bool gone = t->guards & DEPLOY_IF_GONE;
    assert(t->to == DEPLOY_FAILED);
    end(t, *said ? said : gone ? "the system is being deleted" : before_of(t)->message);
}

static void forget_decide(const struct move_turn *t)
{
    move_delete_subject(t);
    t->plan->record = NULL;
}

/* ---- What refuses ---------------------------------------------------------------------------- */

static void refuse(const struct move_turn *t, const char *why)
{
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "deploy %s: %s", before_of(t)->id,
                why);
}

static void refuse_by_state(const struct move_turn *t)
{
    refuse(t, arena_printf(t->plan->arena, "it is %s", before_of(t)->state));
}

/* It was accepted: nothing. */
static void accept_refuse(const struct move_turn *t)
{
    if (t->from == DEPLOY_PENDING) {
        bool conflict;
        refuse(t, refusal(t, &conflict));
    } else if (t->from != DEPLOY_ACCEPTED && t->from != DEPLOY_IN_PROGRESS) {
        refuse_by_state(t);
    }
}

static void refuse_refuse(const struct move_turn *t)
{
    if (t->from != DEPLOY_FAILED) {
        refuse_by_state(t);
    }
}

static void note_refuse(const struct move_turn *t)
{
    refuse_by_state(t);
}

/* It has begun: nothing. One that is pending is accepted for what its build lacks. */
static void begin_refuse(const struct move_turn *t)
{
    const struct deploy_snapshot *s = facts(t);
    struct arena *a = t->plan->arena;
    bool pending = t->from == DEPLOY_PENDING, conflict;
    const char *closed = pending ? refusal(t, &conflict) : system_facts_refusal(a, &s->of);
    if (t->from == DEPLOY_IN_PROGRESS) {
        return;
    }
    if (t->from != DEPLOY_ACCEPTED && !pending) {
        refuse_by_state(t);
    } else if (closed) {
        refuse(t, closed);
    } else if (!s->build_over) {
        refuse(t, "what it is to put is not there yet");
    } else if (s->services > SYSTEM_SERVICES_MAX) {
        refuse(t, arena_printf(a, "system %s would have %zu services, and may have %d", s->of.id,
                               s->services, SYSTEM_SERVICES_MAX));
    } else if (s->lack.name) {
        refuse(t, secret_lack_text(a, s->of.id, s->lack));
    } else {
        refuse(t, "it holds nothing");
    }
}

/* It reverts: nothing. */
static void revert_refuse(const struct move_turn *t)
{
    if (t->from != DEPLOY_IN_PROGRESS) {
        refuse_by_state(t);
    } else if (!before_of(t)->reverting) {
        refuse(t, t->guards & DEPLOY_IF_MAY_REVERT ? "nothing shows why it should revert"
                                                   : "nobody asked for what stood before");
    }
}

static void succeed_refuse(const struct move_turn *t)
{
    if (t->from == DEPLOY_IN_PROGRESS) {
        refuse(t, !(t->guards & DEPLOY_IF_FORWARD)   ? "it puts back what stood before"
                  : !(t->guards & DEPLOY_IF_SETTLED) ? "its services are not as it wants them"
                                                     : "it holds nothing");
    } else if (t->from != DEPLOY_SUCCEEDED) {
        refuse_by_state(t);
    }
}

/* It failed: nothing. */
static void fail_refuse(const struct move_turn *t)
{
    if (t->from == DEPLOY_ACCEPTED || t->from == DEPLOY_IN_PROGRESS) {
        refuse(t, "nothing shows why it should fail");
    } else if (t->from != DEPLOY_FAILED) {
        refuse_by_state(t);
    }
}

static void forget_refuse(const struct move_turn *t)
{
    bool over = t->from == DEPLOY_SUCCEEDED || t->from == DEPLOY_FAILED;
    refuse(t, over ? "it is one of the last that are over" : "it is not over");
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void valid_deploy_move(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    check_action_id(v, move_name(&a, move));
    check_action_id(v, move_part(&a, move));
    check_system_id(v, move_deploy(move)->system);
    if (strlen(move_deploy(move)->witness) > KEY_BYTES_MAX) {
        say_field(v, "witness");
    }
}

static void deploy_move_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    const Board__Move *m = in->request;
    deploy_facts_gather(v, in, move_row_named(&deploy_moves, m->move)->reads, snapshot);
}

static void decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&deploy_moves, snapshot, in, p);
}

static const struct op_row deploy_op = {
    .name = "deploy move",
    .target = move_subject_key,
    .gather = deploy_move_gather,
    .decide = decide,
    .snapshot_size = sizeof(struct deploy_snapshot),
};

#define MOVE_ROW(move, read, absents)                                                              \
    {                                                                                              \
        .name = #move, .valid = valid_deploy_move, .reads = read, .absent = ABSENT_##absents,      \
        .guards = deploy_guards, .refuse = move##_refuse, .decide = move##_decide,                 \
        .op = &deploy_op, .op_of_rep = &deploy_op,                                                 \
    }

static const struct move_row rows[] = {
    MOVE_ROW(accept, READ_TARGET, REFUSED),
    MOVE_ROW(refuse, READ_TARGET, REFUSED),
    MOVE_ROW(note, READ_BUILD, REFUSED),
    MOVE_ROW(begin, READ_TARGET | READ_START, REFUSED),
    MOVE_ROW(revert, READ_WITNESS, REFUSED),
    MOVE_ROW(succeed, READ_SERVICES, REFUSED),
    MOVE_ROW(fail, READ_WITNESS | READ_SERVICES, REFUSED),
    MOVE_ROW(forget, READ_KEPT, NOTHING),
};

const struct move_family deploy_moves = {
    .lifecycle = &deploy_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = deploy_begin,
};
