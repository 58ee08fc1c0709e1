/* What clients ask about services. A plain app that has one definition is brought to it at once, in
 * the same transaction; from one definition to another the converger rolls. */
#include "bbs/service/app.h"

#include "bbs/board/errors.h"
#include "bbs/domain/domain.h"
#include "bbs/lrp/validate.h"
#include "bbs/service/app_gather.h"
#include "bbs/service/service.h"
#include "common/lifecycle/service.h"
#include "common/model/service_owner.h"

#include <assert.h>
#include <string.h>

/* ---- What is decided ------------------------------------------------------------------------- */

/* One request while it is decided. */
struct app_turn {
    const struct app_snapshot *s;
    const struct op_input *in;
    const Board__ServiceRequest *q;
    struct plan *p;
    const Board__ServiceRecord *before; /* as it stands, or was adopted; NULL = none */
    Board__ServiceRecord *after;        /* a copy, or a new one */
    int to;                             /* where the lifecycle leads */
    const char *text;                   /* what is done, for people */
    bool changes;
};

#define REFUSE(type, ...) plan_refuse(t->p, MODELS__ERROR__TYPE__##type, __VA_ARGS__)

static void say_done(struct app_turn *t, const char *text)
{
    t->text = text;
    t->changes = true;
}

/* Another generation of what it should be, in this state. */
static void change(struct app_turn *t, const char *text)
{
    service_set_state(t->after, t->to, t->in->now);
    t->after->message = (char *)(uintptr_t)protobuf_c_empty_string;
    say_done(t, text);
}

static const char *scaled_text(struct arena *a, const char *before, int32_t from, int32_t to)
{
    return arena_printf(a, "%s%sscaled from %d to %d", before, *before ? ", " : "", (int)from,
                        (int)to);
}

/* The definition stays: what changed of the rest. NULL = nothing. */
static const char *same_text(const struct app_turn *t, int32_t instances)
{
    const struct app_snapshot *s = t->s;
    struct arena *a = t->p->arena;
    bool updated = s->desired ? !service_fits(a, s->desired, s->wanted) : !s->kept;
    if (instances != t->before->instances) {
        return scaled_text(a, updated ? "updated" : "", t->before->instances, instances);
    }
    bool confirms = strcmp(t->before->board_generation, s->board_generation) != 0;
    return updated ? "updated" : confirms ? "confirmed" : NULL;
}

static const char *new_text(const struct app_turn *t)
{
    const Board__Revision *other = service_other(t->before, t->s->aim);
    return other ? arena_printf(t->p->arena, "created with a new definition, beside %s",
                                other->process_guid)
                 : "created with a new definition";
}

static bool same_rolling(const Board__Rolling *x, const Board__Rolling *y)
{
    return x && strcmp(x->max_surge, y->max_surge) == 0 &&
           strcmp(x->max_unavailable, y->max_unavailable) == 0 && x->ready_s == y->ready_s &&
           x->deadline_s == y->deadline_s;
}

static void take_target(struct app_turn *t, int32_t instances, Board__Rolling *rolling)
{
    Board__ServiceRecord *after = t->after;
    service_aim(t->p->arena, after, t->s->aim, t->s->wanted, t->in->now);
    after->instances = instances;
    after->rolling = rolling;
    after->domain = t->s->wanted->domain;
    after->board_generation = arena_strdup(t->p->arena, t->s->board_generation);
}

/* 1. Its process is another's, or its name is that of another's: ResourceConflict.
 * 2. As it is already: nothing.
 * 3. It is to run this, so many of it, as many as before unless the request says. */
static void target_app(struct app_turn *t)
{
    const struct app_snapshot *s = t->s;
    if (s->stranger || s->rival) { /* 1 */
        REFUSE(ResourceConflict,
               "is the process_guid of a process that another client made; give the app another "
               "name, or remove that one: bbs rm");
        return;
    }
    bool keeps = t->q->instances < 0 && t->before;
    int32_t instances = keeps ? t->before->instances : t->q->desired_lrp->instances;
    Board__Rolling *rolling = app_rolling(t->p->arena, t->q->rolling);
    bool same = t->before && strcmp(t->before->target, s->aim) == 0;
    const char *text = !t->before ? "created" : same ? same_text(t, instances) : new_text(t);
    if (!text && same_rolling(t->before->rolling, rolling)) { /* 2 */
        t->text = "unchanged";
        return;
    }
    take_target(t, instances, rolling); /* 3 */
    change(t, text ? text : "updated");
}

/* 1. As many already: nothing.
 * 2. So many of the target are wanted. */
static void scale_app(struct app_turn *t)
{
    if (t->q->instances == t->before->instances) { /* 1 */
        t->text = "unchanged";
        return;
    }
    const char *text =
        scaled_text(t->p->arena, "", t->before->instances, t->q->instances);
    t->after->instances = t->q->instances; /* 2 */
    t->after->generation++;
    t->after->progress_at = t->in->now.wall_ns;
    change(t, text);
}

static void set_paused(struct app_turn *t, bool paused)
{
    if (t->before->paused == paused) {
        t->text = paused ? "is paused already" : "is not paused";
    } else {
        t->after->paused = paused;
        t->after->progress_at = t->in->now.wall_ns; /* it had no chance to come nearer */
        say_done(t, paused ? "paused" : "resumed");
    }
}

static void pause_app(struct app_turn *t)
{
    set_paused(t, true);
}

static void resume_app(struct app_turn *t)
{
    set_paused(t, false);
}

/* rollback, abort.
 * 1. There is none: ResourceConflict.
 * 2. It runs already, alone or as the target: nothing.
 * 3. What it runs is not on the board: ResourceConflict.
 * 4. It is the target from now on; the number of instances stays. */
static void aim_back(struct app_turn *t, const char *none, const char *done)
{
    const struct app_snapshot *s = t->s;
    if (!s->aim) { /* 1 */
        REFUSE(ResourceConflict, "%s", none);
    } else if (strcmp(s->aim, t->before->target) == 0) { /* 2 */
        t->text = "unchanged";
    } else if (!s->wanted) { /* 3 */
        REFUSE(ResourceConflict, "what revision %s runs is not on the board: bbs apply its file",
               s->aim);
    } else { /* 4 */
        take_target(t, t->before->instances, t->before->rolling);
        change(t, arena_printf(t->p->arena, "%s %s", done, s->wanted->process_guid));
    }
}

static void rollback_app(struct app_turn *t)
{
    aim_back(t, t->q->revision[0] ? "it has no such revision" : "it has no earlier revision",
             "rolls back to");
}

static void abort_app(struct app_turn *t)
{
    aim_back(t, "no change of its definition is under way", "goes back to");
}

/* 1. No instances: nothing.
 * 2. Each that is older than now is to be ended once, one after the other. */
static void restart_service(struct app_turn *t)
{
    if (t->before->instances == 0) { /* 1 */
        t->text = "has no instances: nothing is restarted";
        return;
    }
    char id[GUID_BYTES];
    random_guid(t->in->random, id);
    t->after->restarting = arena_strdup(t->p->arena, id);
    t->after->restart_at = t->in->now.wall_ns;
    t->after->generation++;
    t->after->progress_at = t->in->now.wall_ns;
    say_done(t, "restarts, one instance after the other");
}

/* 1. It is being removed: nothing, but that it goes on after a restore.
 * 2. Its routes go first, then its instances, then the record. */
static void delete_app(struct app_turn *t)
{
    if (service_state(t->before) == SERVICE_DELETING) { /* 1 */
        t->changes = strcmp(t->before->board_generation, t->s->board_generation) != 0;
        t->after->board_generation = arena_strdup(t->p->arena, t->s->board_generation);
        t->text = "removed";
        return;
    }
    t->after->generation++; /* 2 */
    t->after->board_generation = arena_strdup(t->p->arena, t->s->board_generation);
    t->after->progress_at = t->in->now.wall_ns;
    t->after->paused = false;
    if (t->s->at_once) {
        t->after->unrouted_at = t->in->now.wall_ns;
    }
    change(t, "removed");
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The requests of a client, by the trigger of the lifecycle that each is. */
static const struct action_row {
    int trigger;
    void (*decide)(struct app_turn *t);
} actions[] = {
    [BOARD__SERVICE_REQUEST__ACTION__TARGET] = {SERVICE_TRIGGER_TARGET, target_app},
    [BOARD__SERVICE_REQUEST__ACTION__SCALE] = {SERVICE_TRIGGER_SCALE, scale_app},
    [BOARD__SERVICE_REQUEST__ACTION__PAUSE] = {SERVICE_TRIGGER_PAUSE, pause_app},
    [BOARD__SERVICE_REQUEST__ACTION__RESUME] = {SERVICE_TRIGGER_RESUME, resume_app},
    [BOARD__SERVICE_REQUEST__ACTION__ROLLBACK] = {SERVICE_TRIGGER_ROLLBACK, rollback_app},
    [BOARD__SERVICE_REQUEST__ACTION__DELETE] = {SERVICE_TRIGGER_DELETE, delete_app},
    [BOARD__SERVICE_REQUEST__ACTION__RESTART] = {SERVICE_TRIGGER_RESTART, restart_service},
    [BOARD__SERVICE_REQUEST__ACTION__ABORT] = {SERVICE_TRIGGER_ABORT, abort_app},
};
enum { ACTION_COUNT = sizeof(actions) / sizeof(actions[0]) };

/* What the answer shows. */
static void set_answer(const struct app_turn *t, const Board__ServiceRecord *shown)
{
    Board__ServiceResponse *r =
        arena_message(t->p->arena, &board__service_response__descriptor);
    r->service = (Board__ServiceRecord *)(uintptr_t)shown;
    r->changed = t->changes;
    r->unled = t->s->unled;
    r->text = arena_strdup(t->p->arena, t->text);
    t->p->record = &r->base;
}

/* How far what is done at once brings the target. */
static void count_at_once(const struct app_turn *t)
{
    const struct app_snapshot *s = t->s;
    if (!s->at_once || !s->aim) {
        return;
    }
    Board__Revision *r = service_revision(t->after, s->aim);
    assert(r && t->s->adopted_count == 0);
    if (t->to != SERVICE_DELETING) {
        r->instances = t->after->instances;
    } else if (s->op.row && strcmp(s->op.row->name, "remove desired") == 0) {
        r->instances = 0;
    }
}

static const char *revision_key(const struct app_turn *t, const char *hash)
{
    return key_revision(t->p->arena, t->after->uid, t->after->path, hash);
}

/* Puts all that is changed: DesiredLRPs, what the target runs, the record. */
static void put_app(const struct app_turn *t, const char *trigger)
{
    const struct app_snapshot *s = t->s;
    count_at_once(t);
    if (s->op.row && !nested_decide(&s->op, 1, t->in, t->p)) {
        return;
    }
    bool targets = t->q->action == BOARD__SERVICE_REQUEST__ACTION__TARGET && t->changes;
    adopt_put(t->q->name, s, t->in, targets, t->p);
    if (targets && !s->kept) {
        plan_put(t->p, revision_key(t, s->aim), trigger, t->in->actor, &s->wanted->base);
    }
    if (s->oldest && t->changes) {
        service_drop(t->after, s->oldest);
    }
    if (s->oldest_kept && t->changes) {
        plan_delete(t->p, revision_key(t, s->oldest), trigger, t->in->actor);
    }
    plan_put(t->p, key_service(t->p->arena, t->after->uid, t->after->path), trigger, t->in->actor,
             &t->after->base);
    set_answer(t, t->after);
}

/* Leads the lifecycle nowhere. */
static void refuse_app(struct app_turn *t, int from)
{
    bool stands_still =
        t->before && strcmp(t->before->board_generation, t->s->board_generation) != 0;
    if (from == SERVICE_DELETING && stands_still) {
        REFUSE(ResourceConflict, "it was being removed when the board was restored: bbs rm goes on "
                                 "with it");
    } else if (from == SERVICE_DELETING) {
        REFUSE(ResourceConflict, SERVICE_IS_REMOVED_TEXT);
    } else if (from == SERVICE_NONE && t->q->system[0]) {
        REFUSE(ResourceNotFound, "there is no service %s in system \"%s\"", t->q->path,
               t->q->system);
    } else if (from == SERVICE_NONE) {
        REFUSE(ResourceNotFound, "there is no app \"%s\"", t->q->name);
    } else {
        REFUSE(ResourceConflict, "it belongs to a system: deploy a change");
    }
}

/* 1. It is looked at: as it stands.
 * 2. There is no such service, it is being removed, or it belongs to a system: refused.
 * 3. The action's own rules. */
static void app_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const Board__ServiceRequest *q = in->request;
    struct app_turn turn = {.s = snapshot, .in = in, .q = q, .p = p, .text = ""}, *t = &turn;
    t->before = adopt_service(p->arena, q->name, t->s, in);
    int from = service_state(t->before);
    if (q->action == BOARD__SERVICE_REQUEST__ACTION__NONE) { /* 1 */
        if (t->before) {
            set_answer(t, t->before);
        } else {
            refuse_app(t, from);
        }
        return;
    }
    assert((size_t)q->action < ACTION_COUNT);
    const struct action_row *row = &actions[q->action];
    bool plain = !q->system[0];
    t->to = lifecycle_transition(&service_lifecycle, from, in->actor, row->trigger,
                                 plain ? SERVICE_IF_PLAIN_APP : 0);
    if (t->to < 0) { /* 2 */
        refuse_app(t, from);
        return;
    }
    t->after = t->before ? service_copy(p->arena, t->before)
                         : app_new(p->arena, q->name, in);
    row->decide(t); /* 3 */
    const struct nested_op *domain = &t->s->domain;
    if (p->verdict == PLAN_REFUSE || (domain->row && !nested_decide(domain, 1, in, p))) {
        return;
    }
    if (t->changes || t->s->adopted_count > 0) {
        put_app(t, service_lifecycle.triggers[row->trigger]);
    } else {
        set_answer(t, t->before);
    }
}

const struct op_row service_row = {
    .name = "service",
    .target = app_target,
    .gather = app_gather,
    .decide = app_decide,
    .snapshot_size = sizeof(struct app_snapshot),
};
