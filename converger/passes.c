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
    *r = (struct repairs){.arena = arena, .due_wall_ns = NEVER_NS};
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
    r->list[r->count++] = (struct repair){.pass = pass->name, .move = pass->move, .index = index};
}

static int32_t index_of(const struct instance_view *i)
{
    return i->record->actual_lrp_key->index;
}

static int state_of(const struct instance_view *i)
{
    return lifecycle_state(&actual_lrp_lifecycle, i->record->state);
}

static bool is_desired(const struct process_view *v, int32_t index)
{
    return v->desired && index < v->desired->instances;
}

/* UNCLAIMED, desired, and older than the setting. A negative age counts as 0 (DESIGN 5). */
static void unplaced(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (state_of(one) == ACTUAL_LRP_UNCLAIMED && is_desired(v, index_of(one)) &&
            v->wall_ns - one->record->since > v->unplaced_after_ns) {
            add(r, pass, index_of(one));
        }
    }
}

/* A job creates and stops instances itself: nothing is missing or too many while it is at work. */
static void missing(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    size_t at = 0;
    int32_t wanted = v->desired && !v->job ? v->desired->instances : 0;
    for (int32_t index = 0; index < wanted && !r->more; index++) {
        while (at < v->count && index_of(&v->instances[at]) < index) {
            at++;
        }
        if (at == v->count || index_of(&v->instances[at]) != index) {
            add(r, pass, index);
        }
    }
}

/* Nothing is stopped for being absent unless its domain is fresh (DESIGN 6, S8). */
static void extra(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count && !v->job; i++) {
        const struct instance_view *one = &v->instances[i];
        if (!is_desired(v, index_of(one)) && one->fresh && !one->record->stopping &&
            state_of(one) >= 0) {
            add(r, pass, index_of(one));
        }
    }
}

/* Marked by an explicit request or a fresh domain: said again whatever the freshness now. */
static void stopping(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        int state = state_of(one);
        if (one->record->stopping && (state == ACTUAL_LRP_CLAIMED || state == ACTUAL_LRP_RUNNING)) {
            add(r, pass, index_of(one));
        }
    }
}

/* behaviour.md 10.4. */
static void crashed(const struct process_view *v, const struct pass *pass, struct repairs *r)
{
    for (size_t i = 0; i < v->count; i++) {
        const struct instance_view *one = &v->instances[i];
        if (state_of(one) != ACTUAL_LRP_CRASHED || !is_desired(v, index_of(one))) {
            continue;
        }
        int64_t due_ns = crash_restart_ns(v->policy, one->record->crash_count, one->record->since);
        if (due_ns <= v->wall_ns) {
            add(r, pass, index_of(one));
        } else {
            r->due_wall_ns = earlier_ns(r->due_wall_ns, due_ns);
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
