#include "converger/passes.h"

#include "common/lifecycle/actual_lrp.h"

enum when { ON_NEWS, IN_FULL };

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
                                          .on_news = pass->when == ON_NEWS,
                                          .move = pass->move,
                                          .index = index};
}

void desired_view_of(const Models__DesiredLRP *desired, struct desired_view *ret)
{
    *ret = (struct desired_view){.is = true,
                                 .instances = desired->instances,
                                 .hold = desired->on_cell_loss == MODELS__ON_CELL_LOSS__HOLD};
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

/* Some cell answers for it, or did. */
static bool is_placed(const struct instance_view *i)
{
    return i->state == ACTUAL_LRP_CLAIMED || i->state == ACTUAL_LRP_RUNNING;
}

/* The records of an index stand together: that of this presence, NULL if there is none. */
static const struct instance_view *beside(const struct process_view *v,
                                          const struct instance_view *one, int presence)
{
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

/* Nobody is left who would end its evacuation (behaviour.md 14.1). */
static void evacuating(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (one->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING && is_placed(one) &&
            !one->cell_present) {
            add(r, pass, one->index);
        }
    }
}

/* UNCLAIMED, desired, and older than the setting. */
static void unplaced(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (is_ordinary(one) && one->state == ACTUAL_LRP_UNCLAIMED && is_desired(v, one->index) &&
            stood_left_ns(v->unplaced_after_ns, one->since_ns, one->seen, v->now) < 0) {
            add(r, pass, one->index);
        }
    }
}

/* Its cell is absent and nobody but us can end it: another one is started in its place, or, if it
 * was to stop, it has stopped (behaviour.md 12; DESIGN 5, lost cell). One that is not desired is
 * `extra`; one that waits for its cell waits. */
static void lost(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (!is_ordinary(one) || !is_placed(one) || one->cell_present) {
            continue;
        }
        const struct instance_view *first = beside(v, one, MODELS__ACTUAL_LRP__PRESENCE__SUSPECT);
        bool replaces = is_desired(v, one->index) && !v->desired.hold;
        if (one->stopping || (replaces && !(first && first->cell_present))) {
            add(r, pass, one->index);
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

/* Nothing is stopped for being absent unless its domain is fresh (DESIGN 6, S8). */
static void extra(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count && !v->job; i++) {
        const struct instance_view *one = &v->instances[i];
        if (is_ordinary(one) && !is_desired(v, one->index) && one->fresh && !one->stopping &&
            one->state >= 0) {
            add(r, pass, one->index);
        }
    }
}

/* Marked by an explicit request or a fresh domain: said again whatever the freshness now. Of one
 * whose cell is absent nobody could be told: it is `lost`. */
static void stopping(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (is_ordinary(one) && one->stopping && is_placed(one) && one->cell_present) {
            add(r, pass, one->index);
        }
    }
}

/* Its replacement runs, its cell is back, or it is not wanted any more (behaviour.md 12). A record
 * of a newer version at its index is not written over. */
static bool is_over(const struct process_view *v, const struct instance_view *suspect)
{
    const struct instance_view *ordinary =
        beside(v, suspect, MODELS__ACTUAL_LRP__PRESENCE__ORDINARY);
    if (ordinary && ordinary->state == ACTUAL_LRP_RUNNING) {
        return true;
    }
    if (suspect->cell_present) {
        return !ordinary || ordinary->state >= 0;
    }
    return suspect->stopping || (!v->job && suspect->fresh && !is_desired(v, suspect->index));
}

static void suspect(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (one->presence == MODELS__ACTUAL_LRP__PRESENCE__SUSPECT && is_placed(one) &&
            is_over(v, one)) {
            add(r, pass, one->index);
        }
    }
}

/* behaviour.md 14.1, row 10. Its rep is told, if it is there to hear it. */
static void differs(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (is_ordinary(one) && one->state == ACTUAL_LRP_RUNNING && one->differs &&
            !one->stopping && one->cell_present && is_desired(v, one->index)) {
            add(r, pass, one->index);
        }
    }
}

/* behaviour.md 10.4. */
static void crashed(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (!is_ordinary(one) || one->state != ACTUAL_LRP_CRASHED || !is_desired(v, one->index)) {
            continue;
        }
        int64_t wait_ns = crash_wait_ns(v->policy, one->crash_count);
        if (wait_ns == NEVER_NS) {
            continue;
        }
        int64_t left_ns = stood_left_ns(wait_ns, one->since_ns, one->seen, v->now);
        if (left_ns <= 0) {
            add(r, pass, one->index);
        } else {
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
        if (full || rows[i].when == ON_NEWS) {
            rows[i].decide(v, &rows[i], r);
        }
    }
}
