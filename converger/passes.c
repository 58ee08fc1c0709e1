#include "converger/passes.h"

#include "common/lifecycle/actual_lrp.h"
#include "common/model/instance_guards.h"

#include <assert.h>

enum when { ON_CHANGE, IN_FULL };

struct pass {
    const char *name;
    enum when when;
    const char *move;
    void (*decide)(const struct process_view *v, const struct pass *pass, struct repairs *r);
};

void repairs_init(struct repairs *r, struct arena *arena)
{
    *r = (struct repairs){.arena = arena, .due_ns = NEVER_NS};
}

static void add(struct repairs *r, const struct pass *pass, int32_t index)
{
    if (!r->list) {
        r->list = ARENA_ARRAY(r->arena, REPAIRS_MAX, struct repair);
    }
    if (r->count == REPAIRS_MAX) {
        r->more = true;
        return;
    }
    r->list[r->count++] = (struct repair){.pass = pass->name,
                                          .on_change = pass->when == ON_CHANGE,
                                          .move = pass->move,
                                          .index = index};
}

void desired_view_of(const Models__DesiredLRP *desired, struct desired_view *ret)
{
    *ret = (struct desired_view){.is = true,
                                 .instances = desired->instances,
                                 .replaces = desired->on_cell_loss ==
                                             MODELS__ON_CELL_LOSS__REPLACE};
}

void instance_view_of(const Models__ActualLRP *record, int32_t index, int presence,
                      struct instance_view *ret)
{
    *ret = (struct instance_view){
        .since_ns = record->since,
        .index = index,
        .crash_count = record->crash_count,
        .presence = (uint8_t)presence,
        .state = (int8_t)lifecycle_state(&actual_lrp_lifecycle, record->state),
        .stopping = record->stopping,
    };
}

static bool is_desired(const struct process_view *v, int32_t index)
{
    return v->desired.is && index < v->desired.instances;
}

static bool is_ordinary(const struct instance_view *i)
{
    return i->presence == MODELS__ACTUAL_LRP__PRESENCE__ORDINARY;
}

/* The records of an index stand together: that of this presence, NULL if there is none. */
static const struct instance_view *beside(const struct process_view *v,
                                          const struct instance_view *one, int presence)
{
    assert(one >= v->instances && one < v->instances + v->count);
    const struct instance_view *end = v->instances + v->count;
    const struct instance_view *i = one;
    while (i > v->instances && i[-1].index == one->index) {
        i--;
    }
    for (; i < end && i->index == one->index; i++) {
        if (i->presence == presence) {
            return i;
        }
    }
    return NULL;
}

static int state_beside(const struct process_view *v, const struct instance_view *one, int presence)
{
    const struct instance_view *i = beside(v, one, presence);
    return i ? i->state : ACTUAL_LRP_NONE;
}

/* What the board tells of a record, as the bbs will see it when it decides. */
static struct instance_facts facts_of(const struct process_view *v, const struct instance_view *one)
{
    return (struct instance_facts){
        .state = one->state,
        .presence = one->presence,
        .stopping = one->stopping,
        .crash_count = one->crash_count,
        .since_ns = one->since_ns,
        .seen = one->seen,
        .desired = is_desired(v, one->index),
        .replaces = v->desired.is && v->desired.replaces,
        .cell_present = one->cell_present,
        .fresh = one->fresh,
        .ordinary_state = state_beside(v, one, MODELS__ACTUAL_LRP__PRESENCE__ORDINARY),
        .suspect_state = state_beside(v, one, MODELS__ACTUAL_LRP__PRESENCE__SUSPECT),
    };
}

/* Plans the pass's move where the lifecycle allows it to the converger; `but` is the guards that
 * are not to count. Says whether it did. */
static bool plan_but(const struct process_view *v, const struct pass *pass,
                     const struct instance_view *one, uint32_t but, struct repairs *r)
{
    const struct instance_facts facts = facts_of(v, one);
    uint32_t guards = instance_guards(&facts, v->policy, v->now) & ~but;
    int trigger = lifecycle_trigger(&actual_lrp_lifecycle, pass->move);
    assert(trigger >= 0);
    bool blocked = trigger == ACTUAL_LRP_TRIGGER_RESOLVE && instance_returns(guards) &&
                   instance_returns_as(&facts, guards) < 0;
    if (!instance_may(&facts, trigger, guards) || blocked) {
        return false;
    }
    add(r, pass, one->index);
    return true;
}

static bool plan(const struct process_view *v, const struct pass *pass,
                 const struct instance_view *one, struct repairs *r)
{
    return plan_but(v, pass, one, 0, r);
}

/* Nobody is left who would end its evacuation (behaviour.md 14.1). */
static void evacuating(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        if (v->instances[i].presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING) {
            plan(v, pass, &v->instances[i], r);
        }
    }
}

/* UNCLAIMED, and older than the setting. */
static void unplaced(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (is_ordinary(one) && one->state == ACTUAL_LRP_UNCLAIMED &&
            stood_left_ns(v->unplaced_after_ns, one->since_ns, one->seen, v->now) < 0) {
            plan(v, pass, one, r);
        }
    }
}

/* Its cell is absent and nobody but us can end it: another one is started in its place, or, if it
 * was to stop, it has stopped (behaviour.md 12; design.md 5, Lost cell). Is a SUSPECT one back
 * meanwhile, that one takes the place. */
static void lost(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (!is_ordinary(one) || one->cell_present) {
            continue;
        }
        const struct instance_view *first = beside(v, one, MODELS__ACTUAL_LRP__PRESENCE__SUSPECT);
        if (one->stopping || !first || !first->cell_present) {
            plan(v, pass, one, r);
        }
    }
}

/* A job creates and stops instances itself: nothing is missing or too many while it is at work. Who
 * took a record away sees it gone before it is made again. */
static void missing(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    size_t at = 0;
    int64_t end = v->desired.is && !v->job ? v->desired.instances : 0;
    end = v->last < end ? (int64_t)v->last + 1 : end;
    for (int64_t index = v->first > 0 ? v->first : 0; index < end && !r->more; index++) {
        while (at < v->count &&
               (v->instances[at].index < index || !is_ordinary(&v->instances[at]))) {
            at++;
        }
        if (at < v->count && v->instances[at].index == index) {
            continue;
        }
        if (v->remake_ns > v->now.mono_ns) {
            r->due_ns = earlier_ns(r->due_ns, v->remake_ns);
            return;
        }
        add(r, pass, (int32_t)index);
    }
}

/* Records that are not desired, in a fresh domain (design.md 6, S8). */
static void extra(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count && !v->job; i++) {
        const struct instance_view *one = &v->instances[i];
        if (is_ordinary(one) && !is_desired(v, one->index) && !one->stopping) {
            plan(v, pass, one, r);
        }
    }
}

/* Marked by an explicit request or a fresh domain: its rep is notified again, whatever the
 * freshness now. If the cell is absent there is no rep to tell, and `lost` ends it. */
static void stopping(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (is_ordinary(one) && one->stopping && one->cell_present) {
            plan(v, pass, one, r);
        }
    }
}

/* Its replacement runs, its cell is back, or it is not wanted any more (behaviour.md 12). A job
 * stops what is too many itself. */
static void suspect(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        if (v->instances[i].presence == MODELS__ACTUAL_LRP__PRESENCE__SUSPECT) {
            plan_but(v, pass, &v->instances[i], v->job ? ACTUAL_LRP_IF_DOMAIN_FRESH : 0, r);
        }
    }
}

/* behaviour.md 14.1, row 10. Its rep is notified, if it is there to hear it. */
static void differs(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (is_ordinary(one) && one->differs && !one->stopping && one->cell_present) {
            plan(v, pass, one, r);
        }
    }
}

/* behaviour.md 10.4. One that may not yet is looked at again when its back-off is over. */
static void crashed(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (!is_ordinary(one) || one->state != ACTUAL_LRP_CRASHED || plan(v, pass, one, r)) {
            continue;
        }
        int64_t wait_ns = crash_wait_ns(v->policy, one->crash_count);
        if (wait_ns != NEVER_NS && is_desired(v, one->index)) {
            int64_t left_ns = stood_left_ns(wait_ns, one->since_ns, one->seen, v->now);
            r->due_ns = earlier_ns(r->due_ns, v->now.mono_ns + left_ns);
        }
    }
}

#define PASS(name, when, move) {#name, when, move, name},
static const struct pass rows[] = {
#include "converger/passes.def"
};
#undef PASS

void passes_run(const struct process_view *v, bool full, struct repairs *r)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (full || rows[i].when == ON_CHANGE) {
            rows[i].decide(v, &rows[i], r);
        }
    }
}
