#include "converger/service_look.h"

#include "common/lifecycle/service.h"
#include "common/model/moves.h"
#include "common/model/rolling.h"
#include "common/model/service_owner.h"
#include "converger/roll.h"

#include <assert.h>
#include <string.h>

/* One look, while it goes on. */
struct service_turn {
    struct arena *arena;
    const struct service_look *l;
    const Board__ServiceRecord *record;
    struct rolling_bounds bounds;
    struct service_facts facts;
    size_t target; /* which revision; n_revisions = none */
    struct service_answer *ret;
};

/* ---- What it knows --------------------------------------------------------------------------- */

static const char *why_held(const struct service_look *l)
{
    bool is_app = strcmp(l->record->uid, SERVICE_APPS_UID) == 0;
    if (l->unconfirmed) {
        bool goes = strcmp(l->record->state, "deleting") == 0;
        return !is_app ? "the board was restored: nothing is done until bbs systems confirm"
               : goes  ? "the board was restored: it goes on when bbs rm asks again"
                       : "the board was restored: nothing is done until bbs apply";
    }
    return l->paused ? "paused" : "";
}

bool service_is_held(const struct service_look *l)
{
    return l->unconfirmed || l->paused;
}

bool service_waits(const struct service_look *l)
{
    bool has_pool = l->pool == SERVICE_POOL_READY || l->pool == SERVICE_POOL_OLD;
    return service_is_held(l) || !has_pool;
}

static size_t target_of(const Board__ServiceRecord *s)
{
    size_t i = 0;
    while (i < s->n_revisions && strcmp(s->revisions[i]->hash, s->target) != 0) {
        i++;
    }
    return i;
}

static int64_t overdue_ns(const struct service_turn *t)
{
    return t->l->stuck_ns + t->bounds.deadline_ns;
}

static void learn_counts(struct service_turn *t)
{
    struct service_facts *f = &t->facts;
    for (size_t i = 0; i < t->record->n_revisions; i++) {
        const struct seat_counts *c = &t->l->revisions[i].seats->counts;
        bool is_target = i == t->target;
        f->total += c->live;
        f->updated += is_target ? c->live : 0;
        f->crash = is_target ? t->l->revisions[i].seats->crash : f->crash;
        f->available += c->available;
        f->terminating += c->terminating;
        f->spent = f->spent || (is_target && c->spent > 0);
    }
    assert(f->available <= f->total && f->updated <= f->total);
}

/* As it is when the generation is taken up. */
static void learn_facts(struct service_turn *t)
{
    const Board__ServiceRecord *s = t->record;
    struct service_facts *f = &t->facts;
    *f = (struct service_facts){
        .deleting = strcmp(s->state, service_lifecycle.states[SERVICE_DELETING]) == 0,
        .generation = s->generation,
        .observed = s->generation,
        .instances = s->instances > 0 ? s->instances : 0,
        .stands = t->target < s->n_revisions && t->l->revisions[t->target].stands,
        .fits = t->l->fits,
        .held = why_held(t->l),
        .pool = t->l->pool,
        .pool_text = t->l->pool_text,
        .deadline_s = t->bounds.deadline_ns / SECOND_NS,
        .overdue = !service_waits(t->l) && t->l->now.mono_ns >= overdue_ns(t),
    };
    learn_counts(t);
}

/* ---- Moves ----------------------------------------------------------------------------------- */

static Board__ServiceMove *move_begin(struct service_turn *t, const char *name)
{
    const Board__ServiceRecord *s = t->record;
    assert(!t->ret->move);
    Board__Move *m = move_new(t->arena, name, key_service(t->arena, s->uid, s->path));
    m->body_case = BOARD__MOVE__BODY_SERVICE;
    m->service = arena_message(t->arena, &board__service_move__descriptor);
    m->service->system = s->system;
    t->ret->move = m;
    return m->service;
}

static void move_revision(struct service_turn *t, const char *name, size_t revision,
                          int32_t instances)
{
    assert(revision < t->record->n_revisions && instances >= 0);
    Board__ServiceMove *m = move_begin(t, name);
    m->revision = t->record->revisions[revision]->hash;
    m->instances = instances;
}

static void due(struct service_turn *t, int64_t due_ns)
{
    t->ret->due_ns = earlier_ns(t->ret->due_ns, due_ns);
}

/* ---- Observations ---------------------------------------------------------------------------- */

static bool counts_differ(const struct service_turn *t)
{
    static const Board__Counts none = BOARD__COUNTS__INIT;
    const Board__Counts *c = t->record->counts ? t->record->counts : &none;
    const struct service_facts *f = &t->facts;
    return c->total != f->total || c->updated != f->updated || c->available != f->available ||
           c->terminating != f->terminating;
}

/* It came nearer to what it should be; or it was as it should be until now, and its time begins. */
static bool came_nearer(const struct service_turn *t)
{
    static const Board__Counts none = BOARD__COUNTS__INIT;
    const Board__Counts *c = t->record->counts ? t->record->counts : &none;
    const struct service_facts *f = &t->facts;
    bool was_stable = strcmp(t->record->state, service_lifecycle.states[SERVICE_STABLE]) == 0;
    return f->updated > c->updated || f->available > c->available ||
           (was_stable && !service_complete(f));
}

static void observe(struct service_turn *t, const char *message)
{
    const struct service_facts *f = &t->facts;
    Board__ServiceMove *m = move_begin(t, "observe");
    Board__Counts *c = arena_message(t->arena, &board__counts__descriptor);
    c->total = f->total;
    c->updated = f->updated;
    c->available = f->available;
    c->terminating = f->terminating;
    m->counts = c;
    m->state = (char *)(uintptr_t)service_lifecycle.states[service_state_of(f)];
    m->message = arena_strdup(t->arena, message);
    m->fault = arena_strdup(t->arena, f->deleting ? "" : t->l->fault);
    m->generation = t->record->generation;
    m->progress = !f->deleting && came_nearer(t);
}

/* 5, 9. What only counts is written once a second. */
static void observe_counts(struct service_turn *t, const char *message, bool restart_over)
{
    const char *fault = t->facts.deleting ? "" : t->l->fault;
    bool differs = counts_differ(t) || strcmp(message, t->record->message) != 0 || restart_over ||
                   (fault[0] && strcmp(fault, t->record->fault) != 0);
    int64_t next_ns = t->l->observe_ns ? t->l->observe_ns + SERVICE_STEP_NS : 0;
    if (differs && t->l->now.mono_ns < next_ns) {
        due(t, next_ns);
    } else if (differs) {
        observe(t, message);
    }
}

/* ---- Deletion -------------------------------------------------------------------------------- */

static int32_t records_left(const struct service_turn *t)
{
    int32_t left = 0;
    for (size_t i = 0; i < t->record->n_revisions; i++) {
        left += t->l->revisions[i].seats->counts.records;
    }
    return left;
}

/* The first revision that is desired; n_revisions = none. */
static size_t standing(const struct service_turn *t)
{
    size_t i = 0;
    while (i < t->record->n_revisions && !t->l->revisions[i].stands) {
        i++;
    }
    return i;
}

static void look_deleting(struct service_turn *t)
{
    const Board__ServiceRecord *s = t->record;
    int64_t drained_ns = t->l->unrouted_ns + t->l->drain_ns;
    int32_t left = records_left(t);
    const char *message = "its routes go first";
    if (t->l->unconfirmed) {
        message = t->facts.held;
    } else if (s->unrouted_at == 0) {
        move_begin(t, "unroute"); /* 1 */
    } else if (t->l->now.mono_ns < drained_ns) {
        message = "its routes are gone, its instances go next";
        due(t, drained_ns); /* 2 */
    } else if (standing(t) < s->n_revisions) {
        move_revision(t, "shrink", standing(t), 0); /* 3 */
    } else if (left > 0) {
        message = arena_printf(t->arena, "%d of its instances are to end", (int)left);
    } else if (t->l->own_pool_goes) {
        message = "its instances are gone, its node pool goes next";
    } else {
        move_begin(t, "remove"); /* 4 */
    }
    if (!t->ret->move) {
        observe_counts(t, message, false); /* 5 */
    }
}

/* ---- Rolling --------------------------------------------------------------------------------- */

static struct roll_revision roll_revision_of(const struct service_turn *t, size_t i)
{
    const struct seats *seats = t->l->revisions[i].seats;
    int32_t instances = t->record->revisions[i]->instances;
    assert(seats->counts.sure <= instances);
    return (struct roll_revision){.instances = instances,
                                  .available = seats->counts.sure,
                                  .is_available = seats_costly,
                                  .of = seats};
}

/* `which` is for each old one which revision it is. */
static void roll_view_of(const struct service_turn *t, struct roll_view *ret,
                         size_t **ret_which)
{
    size_t count = t->record->n_revisions;
    struct roll_revision *old = ARENA_ARRAY(t->arena, count, struct roll_revision);
    *ret_which = ARENA_ARRAY(t->arena, count, size_t);
    *ret = (struct roll_view){
        .held = service_waits(t->l),
        .fits = !t->facts.stands || t->facts.fits,
        .waited = t->l->now.mono_ns >= t->l->stuck_ns + t->bounds.deadline_ns / 2,
        .wanted = t->facts.instances,
        .surge = t->bounds.surge,
        .unavailable = t->bounds.unavailable,
        .newest = roll_revision_of(t, t->target),
        .old = old,
    };
    for (size_t i = 0; i < count; i++) {
        if (i != t->target && (t->l->revisions[i].stands ||
                               t->record->revisions[i]->instances > 0)) {
            (*ret_which)[ret->old_count] = i;
            old[ret->old_count++] = roll_revision_of(t, i);
        }
    }
}

/* 7. */
static void roll(struct service_turn *t)
{
    struct roll_view v;
    struct roll_step step;
    size_t *which;
    roll_view_of(t, &v, &which);
    roll_decide(&v, &step);
    int64_t next_ns = t->l->step_ns ? t->l->step_ns + SERVICE_STEP_NS : 0;
    if (step.kind != ROLL_NOTHING && t->l->now.mono_ns < next_ns) {
        due(t, next_ns);
    } else if (step.kind == ROLL_ADJUST) {
        move_revision(t, "adjust", t->target, v.newest.instances);
    } else if (step.kind == ROLL_SURGE) {
        move_revision(t, "surge", t->target, step.instances);
    } else if (step.kind == ROLL_SHRINK) {
        size_t of = step.old == ROLL_NEWEST ? t->target : which[step.old];
        move_revision(t, "shrink", of, step.instances);
    }
}

/* Which index the restart replaces next, -1 = none. */
static int32_t older(const struct service_turn *t)
{
    return t->record->restarting[0]
               ? seats_to_retire(t->l->revisions[t->target].seats, t->l->restart)
               : -1;
}

/* 8. */
static void restart(struct service_turn *t)
{
    const struct service_facts *f = &t->facts;
    int32_t index = older(t);
    if (index < 0 || !service_complete(f) || service_is_held(t->l) ||
        t->l->revisions[t->target].seats->counts.sure < f->instances) {
        return;
    }
    int64_t next_ns = t->l->step_ns ? t->l->step_ns + SERVICE_STEP_NS : 0;
    if (t->l->now.mono_ns < next_ns) {
        due(t, next_ns);
    } else {
        move_revision(t, "retire", t->target, 0);
        t->ret->move->service->index = index;
    }
}

/* ---- The look -------------------------------------------------------------------------------- */

/* Whether the record says another state. It is not stable again before a restart is over, for that
 * ends the restart (bbs/service/observe.c). */
static bool state_differs(const struct service_turn *t, int state)
{
    bool restarts = state == SERVICE_STABLE && older(t) >= 0;
    bool differs = strcmp(t->record->state, service_lifecycle.states[state]) != 0 ||
                   t->record->generation > t->record->observed;
    return differs && !restarts;
}

static void look_living(struct service_turn *t)
{
    int state = service_state_of(&t->facts);
    const char *message = service_state_text(t->arena, &t->facts);
    if (state_differs(t, state)) {
        observe(t, message); /* 6 */
        return;
    }
    roll(t);
    if (!t->ret->move) {
        restart(t);
    }
    bool restart_over = t->record->restarting[0] && state == SERVICE_STABLE;
    if (!t->ret->move && (state != SERVICE_STABLE || older(t) < 0)) {
        observe_counts(t, message, restart_over); /* 9 */
    }
    if (!service_complete(&t->facts) && !service_waits(t->l)) {
        int64_t half_ns = t->l->stuck_ns + t->bounds.deadline_ns / 2;
        due(t, t->l->now.mono_ns < half_ns            ? half_ns
               : t->l->now.mono_ns < overdue_ns(t)    ? overdue_ns(t)
                                                      : NEVER_NS);
    }
}

void service_look_at(struct arena *a, const struct service_look *l, struct service_answer *ret)
{
    struct service_turn t = {.arena = a, .l = l, .record = l->record, .ret = ret};
    *ret = (struct service_answer){.due_ns = NEVER_NS};
    rolling_bounds_of(l->record->rolling, l->record->instances > 0 ? l->record->instances : 0,
                      &t.bounds);
    t.target = target_of(l->record);
    learn_facts(&t);
    for (size_t i = 0; i < l->record->n_revisions; i++) {
        const struct seats *seats = l->revisions[i].seats;
        due(&t, seats->counts.waiting > 0 ? seats->next_ns : NEVER_NS);
    }
    if (t.facts.deleting) {
        look_deleting(&t);
    } else if (t.target < l->record->n_revisions) {
        look_living(&t);
    }
}
