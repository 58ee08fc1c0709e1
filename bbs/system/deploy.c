/* What clients ask about deploys: one is to be made, to stand still, to go on, to come to nothing
 * (common/lifecycle/deploy.def). */
#include "bbs/system/build.h"
#include "bbs/system/over.h"
#include "common/lifecycle/build.h"
#include "common/lifecycle/deploy.h"
#include "common/model/hold.h"

#include <assert.h>
#include <string.h>

static const Board__DeployRequest *asked(const struct op_input *in)
{
    return (const Board__DeployRequest *)in->request;
}

static const Board__DeployChangeRequest *asked_change(const struct op_input *in)
{
    return (const Board__DeployChangeRequest *)in->request;
}

/* What is asked about one system takes turns. */
static const char *deploy_target(struct arena *a, const struct op_input *in)
{
    return key_system(a, asked(in)->system);
}

static const char *change_target(struct arena *a, const struct op_input *in)
{
    return key_system(a, asked_change(in)->system);
}

void valid_deploy(struct validation *v, const Board__DeployRequest *request)
{
    size_t targets = (size_t)(*request->version != 0) + (*request->path != 0) +
                     (*request->build != 0) + (request->definition.len > 0) +
                     (*request->undo != 0);
    check_system_id(v, request->system);
    check_action_id(v, request->id);
    check_one_target(v, targets, "version, path, build, definition and undo");
    if (*request->path) {
        check_component_path(v, request->path);
    }
    if (*request->build) {
        check_action_id(v, request->build);
    }
    if (*request->undo) {
        check_action_id(v, request->undo);
    }
    check_version(v, request->version);
    check_definition(v, request->definition);
}

void valid_deploy_change(struct validation *v, const Board__DeployChangeRequest *request)
{
    check_system_id(v, request->system);
    check_action_id(v, request->id);
}

/* ---- A deploy is asked for ------------------------------------------------------------------- */

struct deploy_op_snapshot {
    struct system_facts of;
    const Board__DeployRecord *deploy;
    const Board__DeployRecord *undone; /* of target undo */
    const Board__SourceRecord *source; /* of its own build */
    bool build;                        /* its own build is there */
    const Board__HoldRecord *hold;     /* of pause, resume, abort */
    size_t count;
};

static void deploy_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct deploy_op_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__DeployRequest *r = asked(in);
    s->of = system_facts_gather(v, r->system, NULL);
    if (s->of.system) {
        s->deploy = view_message(v, key_deploy(a, s->of.uid, r->id));
        s->count = view_peek_count(v, key_range_of(a, RECORD_DEPLOY, s->of.uid));
        if (r->definition.len > 0) {
            s->build = view_exists(v, key_build(a, s->of.uid, r->id));
            s->source = view_message(v, key_source(a, r->id));
        }
        if (*r->undo) {
            s->undone = view_message(v, key_deploy(a, s->of.uid, r->undo));
        }
    }
}

static const char *target_of(const Board__DeployRequest *r)
{
    return *r->version ? "version" : *r->path ? "path" : *r->build ? "build"
         : *r->undo    ? "undo"               : "definition";
}

/* Whether it was asked for as this one is; the text of a definition is compared while it is kept.
 */
static bool same_deploy(const struct deploy_op_snapshot *s, const Board__DeployRequest *r)
{
    const Board__DeployRecord *d = s->deploy;
    const char *target = target_of(r);
    bool text = !s->source || (s->source->text.len == r->definition.len &&
                               memcmp(s->source->text.data, r->definition.data,
                                      r->definition.len) == 0);
    return strcmp(d->target, target) == 0 && text &&
           (!*r->version || strcmp(d->version, r->version) == 0) &&
           (!*r->path || strcmp(d->path, r->path) == 0) &&
           (!*r->build || strcmp(d->build, r->build) == 0) && strcmp(d->undo, r->undo) == 0 &&
           d->rollback_on_failure == r->rollback_on_failure;
}

/* It stands already: it is the answer, or ResourceExists. True if so. */
static bool deploy_stands(const struct deploy_op_snapshot *s, const Board__DeployRequest *r,
                          struct plan *p)
{
    if (s->deploy && same_deploy(s, r)) {
        p->record = &s->deploy->base;
        return true;
    }
    if (s->deploy || s->build || s->source) {
        p->record = &s->of.system->base;
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceExists, "%s %s is another one: give another id",
                    s->deploy ? "deploy" : "build", r->id);
        return true;
    }
    return false;
}

static Board__DeployRecord *deploy_new(struct plan *p, const struct deploy_op_snapshot *s,
                                       const struct op_input *in)
{
    const Board__DeployRequest *r = asked(in);
    Board__DeployRecord *d = arena_message(p->arena, &board__deploy_record__descriptor);
    d->id = r->id;
    d->uid = borrowed(s->of.uid);
    d->system = r->system;
    d->target = borrowed(target_of(r));
    d->version = r->version;
    d->path = *r->path ? r->path : s->undone ? s->undone->path : borrowed("/");
    d->build = *r->build ? r->build : *r->undo ? borrowed("") : r->id;
    d->undo = r->undo;
    d->rollback_on_failure = r->rollback_on_failure;
    d->state = borrowed(deploy_lifecycle.states[DEPLOY_PENDING]);
    d->message = borrowed("waits for a converger to take it up");
    d->created_at = in->now.wall_ns;
    return d;
}

/* 1. The system takes no deploys: ResourceNotFound, ResourceConflict.
 * 2. It was asked for before: nothing. Its id is another one's: ResourceExists.
 * 3. There are as many as may be: ResourceConflict.
 * 4. It is pending. A definition is built at once, by a build of its id. */
static void deploy_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct deploy_op_snapshot *s = snapshot;
    const Board__DeployRequest *r = asked(in);
    if (system_facts_refused(&s->of, p) || deploy_stands(s, r, p) ||   /* 1, 2 */
        too_many(p, &s->of, s->count, ACTIONS_MAX, "deploys")) {       /* 3 */
        return;
    }
    assert(lifecycle_transition(&deploy_lifecycle, DEPLOY_NONE, in->actor, DEPLOY_TRIGGER_DEPLOY,
                                DEPLOY_IF_OPEN) == DEPLOY_PENDING);
    Board__DeployRecord *d = deploy_new(p, s, in); /* 4 */
    plan_put(p, key_deploy(p->arena, d->uid, d->id), "deploy", in->actor, &d->base);
    if (r->definition.len > 0) {
        Board__BuildRecord *b = build_new(p->arena, &s->of, d->id, in->now);
        b->definition = true;
        plan_put(p, key_build(p->arena, b->uid, b->id), "build", in->actor, &b->base);
        source_put(p, &s->of, b->id, r->definition, in->actor);
    }
    p->record = &d->base;
}

const struct op_row deploy_row = {
    .name = "deploy",
    .target = deploy_target,
    .gather = deploy_gather,
    .decide = deploy_decide,
    .snapshot_size = sizeof(struct deploy_op_snapshot),
};

/* ---- Pause, resume, abort -------------------------------------------------------------------- */

static void change_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct deploy_op_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    s->of = system_facts_gather(v, asked_change(in)->system, NULL);
    if (s->of.system) {
        s->deploy = view_message(v, key_deploy(a, s->of.uid, asked_change(in)->id));
        s->hold = view_message(v, key_hold(a, s->of.uid));
    }
}

/* Of a deploy whose system takes it: where the lifecycle leads. False: it is refused. */
static bool change_begin(const struct deploy_op_snapshot *s, const struct op_input *in,
                         struct plan *p, int trigger, int *ret_from, int *ret_to)
{
    const Board__DeployRecord *d = s->deploy;
    if (system_facts_refused(&s->of, p)) {
        return false;
    }
    if (!d) {
        p->record = &s->of.system->base;
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound,
                    "system %s has no deploy %s: bbs deploys %s lists those that it has", s->of.id,
                    asked_change(in)->id, s->of.id);
        return false;
    }
    p->record = &d->base;
    bool held = s->hold && hold_of(s->hold, BOARD__HOLD__KIND__DEPLOY, d->id);
    *ret_from = lifecycle_state(&deploy_lifecycle, d->state);
    *ret_to = lifecycle_transition(&deploy_lifecycle, *ret_from, in->actor, trigger,
                                   held ? DEPLOY_IF_HELD : 0);
    return true;
}

static void change_refuse(const struct deploy_op_snapshot *s, struct plan *p, int from,
                          const char *what)
{
    bool over = from == DEPLOY_SUCCEEDED || from == DEPLOY_FAILED;
    p->record = &s->of.system->base;
    plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "deploy %s is %s%s", s->deploy->id,
                over ? "over: it is " : s->deploy->state,
                over ? s->deploy->state : arena_printf(p->arena, ": it can be %s when it is in "
                                                                 "progress", what));
}

static void put_change(struct plan *p, const struct op_input *in, const char *trigger,
                       const Board__DeployRecord *after, const Board__HoldRecord *hold)
{
    p->record = &after->base;
    plan_put(p, key_deploy(p->arena, after->uid, after->id), trigger, in->actor, &after->base);
    if (hold) {
        plan_put(p, key_hold(p->arena, after->uid), trigger, in->actor, &hold->base);
    }
}

/* 1. It cannot be asked: refused.
 * 2. It stands still, or goes on, already: nothing.
 * 3. It does from now on, and so its entry of the hold says. */
static void decide_pause(const struct deploy_op_snapshot *s, const struct op_input *in,
                         struct plan *p, bool paused)
{
    int trigger = paused ? DEPLOY_TRIGGER_PAUSE : DEPLOY_TRIGGER_RESUME, from, to;
    if (!change_begin(s, in, p, trigger, &from, &to)) { /* 1 */
        return;
    }
    if (to < 0) {
        change_refuse(s, p, from, paused ? "paused" : "resumed");
    } else if (s->deploy->paused != paused) { /* 3; otherwise 2 */
        Board__DeployRecord *after = deploy_changed(p->arena, s->deploy, to);
        assert(to == DEPLOY_IN_PROGRESS && s->hold);
        after->paused = paused;
        put_change(p, in, deploy_lifecycle.triggers[trigger], after,
                   hold_pause(p->arena, s->hold, after->id, paused));
    }
}

static void pause_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    decide_pause(snapshot, in, p, true);
}

static void resume_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    decide_pause(snapshot, in, p, false);
}

/* 1. It cannot be asked, or is over: refused. It failed because it was aborted: nothing.
 * 2. It did not begin: it failed, and holds nothing.
 * 3. It is aborted already, or puts back what stood before: nothing.
 * 4. It is to put back what stood before; what is paused goes on to do so. */
static void abort_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct deploy_op_snapshot *s = snapshot;
    int from, to;
    if (!change_begin(s, in, p, DEPLOY_TRIGGER_ABORT, &from, &to)) { /* 1 */
        return;
    }
    if (to < 0) {
        if (from != DEPLOY_FAILED || !s->deploy->aborted) {
            change_refuse(s, p, from, "aborted");
        }
    } else if (to == DEPLOY_FAILED) { /* 2 */
        Board__DeployRecord *after = deploy_over(p->arena, s->deploy, to, "it was aborted",
                                                 in->now);
        after->aborted = true;
        put_change(p, in, "abort", after,
                   s->hold ? hold_drop(p->arena, s->hold, BOARD__HOLD__KIND__DEPLOY, after->id)
                           : NULL);
    } else if (!s->deploy->aborted && !s->deploy->reverting) { /* 4; otherwise 3 */
        Board__DeployRecord *after = deploy_changed(p->arena, s->deploy, to);
        bool was_paused = after->paused;
        assert(to == DEPLOY_IN_PROGRESS && !after->reverting);
        after->aborted = true;
        after->paused = false;
        after->message = borrowed("it was aborted: what stood before is put back");
        put_change(p, in, "abort", after,
                   was_paused ? hold_pause(p->arena, s->hold, after->id, false) : NULL);
    }
}

#define CHANGE_ROW(verb)                                                                           \
    const struct op_row verb##_deploy_row = {                                                      \
        .name = #verb " deploy",                                                                   \
        .target = change_target,                                                                   \
        .gather = change_gather,                                                                   \
        .decide = verb##_decide,                                                                   \
        .snapshot_size = sizeof(struct deploy_op_snapshot),                                        \
    }
CHANGE_ROW(pause);
CHANGE_ROW(resume);
CHANGE_ROW(abort);
