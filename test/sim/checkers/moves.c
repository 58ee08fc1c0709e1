/* S12: only moves in the tables happen, by the actor they name, under the guards that can be told
 * from the history. S11: crash counts fall only by the documented resets. */
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"
#include "common/lifecycle/limiter.h"
#include "common/lifecycle/cell.h"
#include "common/lifecycle/domain.h"
#include "common/lifecycle/lock.h"
#include "common/lifecycle/task.h"
#include "common/lifecycle/tracked.h"
#include "common/model/record.h"
#include "models/task.pb-c.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/checkers/edge.h"

#include <assert.h>
#include <string.h>

/* What is told may have been written so long before: the watch stalled, broke or lagged. */
#define TOLD_LATE_NS (15 * SECOND_NS)

/* What the table sees of one change. Guards in neither mask may hold or not. */
struct seen_move {
    const struct lifecycle *table;
    int from, to;
    uint32_t true_guards, unknown_guards;
};

static int actor_named(const char *name)
{
    for (int bit = ACTOR_CLIENT; bit <= ACTOR_SITE; bit <<= 1) {
        if (strcmp(actor_name((enum actor)bit), name) == 0) {
            return bit;
        }
    }
    return -1;
}

static const Models__ActualLRP *actual(const struct past *p)
{
    return p && p->message ? (const Models__ActualLRP *)p->message : NULL;
}

static int actual_state_of(const struct past *p)
{
    return actual(p) ? lifecycle_state(&actual_lrp_lifecycle, actual(p)->state) : ACTUAL_LRP_NONE;
}

/* The record of another type as it stood once the change was made: none of the moves of an instance
 * changes what its guards ask, but desire and update, which write both at once. */
static const ProtobufCMessage *beside(struct checkers *k, const char *key)
{
    return history_now(&k->history, key);
}

static bool cell_absent(struct checkers *k, struct arena *a, const Models__ActualLRP *r)
{
    if (!r || !r->actual_lrp_instance_key) {
        return true;
    }
    const char *key = key_cell(a, r->actual_lrp_instance_key->cell_id);
    const Board__CellRecord *cell = (const Board__CellRecord *)beside(k, key);
    return !cell || cell->state == BOARD__CELL_RECORD__STATE__LOST;
}

/* The record of the same index with another presence, before the change. */
static const Models__ActualLRP *sibling(struct checkers *k, struct arena *a, const struct past *p,
                                        const Models__ActualLRPKey *key, int presence)
{
    return actual(history_at(&k->history,
                             key_actual(a, key->process_guid, key->index, presence),
                             p->revision - 1));
}

static bool runs(const Models__ActualLRP *r)
{
    return r && strcmp(r->state, "RUNNING") == 0;
}

/* What the moves of SUSPECT ask of the other records of the index: `r` is any version of the one
 * that is looked at. */
static uint32_t sibling_guards(struct checkers *k, struct arena *a, const struct past *p,
                               const Models__ActualLRP *r)
{
    const Models__ActualLRP *ordinary =
        sibling(k, a, p, r->actual_lrp_key, MODELS__ACTUAL_LRP__PRESENCE__ORDINARY);
    const Models__ActualLRP *suspect =
        sibling(k, a, p, r->actual_lrp_key, MODELS__ACTUAL_LRP__PRESENCE__SUSPECT);
    return (runs(ordinary) ? ACTUAL_LRP_IF_ORDINARY_RUNS : 0) |
           (runs(suspect) ? ACTUAL_LRP_IF_SUSPECT_RUNS : 0) |
           (suspect && !cell_absent(k, a, suspect) ? ACTUAL_LRP_IF_CELL_PRESENT : 0);
}

static bool same_instance(const Models__ActualLRP *was, const Models__ActualLRP *is);

static bool same_instance(const Models__ActualLRP *was, const Models__ActualLRP *is)
{
    const Models__ActualLRPInstanceKey *a = was->actual_lrp_instance_key;
    const Models__ActualLRPInstanceKey *b = is->actual_lrp_instance_key;
    return a && b && strcmp(a->instance_guid, b->instance_guid) == 0 &&
           strcmp(a->cell_id, b->cell_id) == 0;
}

static bool definition_current(const Models__DesiredLRP *desired, const Models__ActualLRP *is)
{
    return !is || !is->definition_id[0] || !desired ||
           strcmp(desired->modification_tag->epoch, is->definition_id) == 0;
}

/* Another instance holds the ORDINARY place and runs or has crashed, or nobody holds it. To a rep
 * that says nothing while the index is desired, for then it is made again, nor while its domain is
 * not fresh, which is not to be seen here. */
static void judge_replaced(struct checkers *k, struct arena *a, const struct past *p,
                           const Models__DesiredLRP *desired, struct seen_move *m)
{
    const Models__ActualLRP *was = actual(p->before), *is = actual(p), *r = is ? is : was;
    const Models__ActualLRP *ordinary =
        sibling(k, a, p, r->actual_lrp_key, MODELS__ACTUAL_LRP__PRESENCE__ORDINARY);
    bool rep = p->cause && strcmp(p->cause->actor, actor_name(ACTOR_REP)) == 0;
    if (ordinary) {
        bool holds = runs(ordinary) || strcmp(ordinary->state, "CRASHED") == 0;
        m->true_guards |= !same_instance(ordinary, r) && holds ? ACTUAL_LRP_IF_REPLACED : 0;
    } else if (!rep || (was && was->stopping) || !definition_current(desired, is)) {
        m->true_guards |= ACTUAL_LRP_IF_REPLACED;
    } else if (!index_desired(desired, r->actual_lrp_key->index)) {
        m->unknown_guards |= ACTUAL_LRP_IF_REPLACED;
    }
}

/* Whatever the moment of the decision, the clock of who decided showed no later than this. */
static int64_t latest_wall(const struct checkers *k, const struct world_commit *c)
{
    int64_t ago_ns = world_now(k->cluster->world) - c->sent_ns;
    return world_wall(k->cluster->world) - ago_ns + c->clock_ahead_ns;
}

/* Fresh when it may have been decided, by the world's clock. */
static bool was_fresh(struct checkers *k, struct arena *a, const char *domain,
                      const struct world_commit *c)
{
    const struct past *p = map_get(&k->history.now, key_domain(a, domain));
    const Board__DomainRecord *d = domain_of_board_generation(k, a, domain);
    return d && (d->ttl_s == 0 || c->decided_ns - p->at_ns < d->ttl_s * SECOND_NS);
}

/* A bbs is started, and has its first board when etcd answers it; of another board generation it
 * has seen nothing. */
static int64_t looks_since_ns(const struct checkers *k, const struct node *bbs)
{
    int64_t since_ns = node_started_ns(bbs);
    for (unsigned i = 0; i < k->cluster->options.bbs; i++) {
        bool loaded = k->cluster->bbs[i] == bbs && k->looks_since_ns[i] > since_ns;
        since_ns = loaded ? k->looks_since_ns[i] : since_ns;
    }
    return since_ns;
}

/* Had stood for so long when it may have been decided, whatever any clock showed:
 * common/model/sighting.h. A bbs whose first board came later found it, and can only go by its
 * clock. */
static bool had_stood(const struct checkers *k, const struct world_commit *c,
                      const struct past *was, int64_t limit_ns, int64_t stamp_ns)
{
    bool found = looks_since_ns(k, c->by) > was->at_ns;
    return world_now(k->cluster->world) - was->at_ns >= limit_ns - TOLD_LATE_NS ||
           (found && latest_wall(k, c) - stamp_ns >= limit_ns);
}

/* For what cannot be taken back there is no such excuse. */
static bool had_surely_stood(const struct checkers *k, const struct past *was, int64_t limit_ns)
{
    return world_now(k->cluster->world) - was->at_ns >= limit_ns;
}

/* What the clock decides. */
static void judge_time(struct checkers *k, struct arena *a, const struct past *before,
                       const struct world_commit *c, struct seen_move *m)
{
    const Models__ActualLRP *was = actual(before);
    if (!was || !c) {
        m->unknown_guards |= ACTUAL_LRP_IF_DOMAIN_FRESH | ACTUAL_LRP_IF_CRASH_DUE;
        return;
    }
    if (was_fresh(k, a, was->actual_lrp_key->domain, c)) {
        m->true_guards |= ACTUAL_LRP_IF_DOMAIN_FRESH;
    }
    int64_t wait_ns = crash_wait_ns(&k->settings.crash, was->crash_count);
    if (wait_ns != NEVER_NS && had_stood(k, c, before, wait_ns, was->since)) {
        m->true_guards |= ACTUAL_LRP_IF_CRASH_DUE;
    }
}

static struct seen_move actual_move(struct checkers *k, struct arena *a, const struct past *p,
                                    const struct world_commit *c)
{
    const Models__ActualLRP *was = actual(p->before), *is = actual(p);
    const Models__ActualLRP *any = is ? is : was;
    const Models__ActualLRPKey *key = any->actual_lrp_key;
    const Models__DesiredLRP *desired =
        (const Models__DesiredLRP *)beside(k, key_desired(a, key->process_guid));
    struct seen_move m = {.table = &actual_lrp_lifecycle,
                          .from = actual_state_of(p->before),
                          .to = actual_state_of(p)};
    uint32_t *t = &m.true_guards;
    bool wanted = index_desired(desired, key->index);
    bool stopping = was && was->stopping;
    *t |= wanted ? ACTUAL_LRP_IF_INDEX_DESIRED : ACTUAL_LRP_IF_INDEX_UNDESIRED;
    *t |= stopping && wanted ? ACTUAL_LRP_IF_STOPPING_DESIRED : 0;
    *t |= stopping && !wanted ? ACTUAL_LRP_IF_STOPPING_FOR_GOOD : 0;
    bool at_once = is && is->crash_count < k->settings.crash.immediate_below;
    *t |= at_once ? ACTUAL_LRP_IF_CRASH_IMMEDIATE : 0;
    /* suspect makes the SUSPECT record of what the ORDINARY one was: the same cell. */
    *t |= cell_absent(k, a, was ? was : is) ? ACTUAL_LRP_IF_CELL_ABSENT : 0;
    *t |= sibling_guards(k, a, p, any);
    *t |= desired && desired->on_cell_loss == MODELS__ON_CELL_LOSS__REPLACE
              ? ACTUAL_LRP_IF_POLICY_REPLACES
              : 0;
    *t |= any->presence == MODELS__ACTUAL_LRP__PRESENCE__SUSPECT ? ACTUAL_LRP_IF_SUSPECT : 0;
    *t |= any->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING ? ACTUAL_LRP_IF_EVACUATING : 0;
    *t |= any->presence != MODELS__ACTUAL_LRP__PRESENCE__ORDINARY ? ACTUAL_LRP_IF_DISPLACED : 0;
    *t |= desired && desired->on_evacuate == MODELS__ON_EVACUATE__STAY ? ACTUAL_LRP_IF_POLICY_STAYS
                                                                      : 0;
    judge_replaced(k, a, p, desired, &m);
    judge_time(k, a, p->before, c, &m);
    bool bears = is && is->actual_lrp_instance_key && *is->actual_lrp_instance_key->instance_guid;
    if (bears) {
        *t |= definition_current(desired, is) ? ACTUAL_LRP_IF_DEFINITION_CURRENT : 0;
    } else {
        m.unknown_guards |= ACTUAL_LRP_IF_DEFINITION_CURRENT;
    }
    if (bears && was) {
        *t |= same_instance(was, is) ? ACTUAL_LRP_IF_SAME_INSTANCE : 0;
    } else {
        m.unknown_guards |= ACTUAL_LRP_IF_SAME_INSTANCE | ACTUAL_LRP_IF_NO_INSTANCE;
    }
    return m;
}

static const Board__CellRecord *cell_of(const struct past *p)
{
    return p && p->message ? (const Board__CellRecord *)p->message : NULL;
}

static int cell_state_of(const Board__CellRecord *r)
{
    if (!r) {
        return CELL_NONE;
    }
    return r->state == BOARD__CELL_RECORD__STATE__LOST ? CELL_LOST : CELL_PRESENT;
}

static bool lists(const Board__LimiterRecord *limiter, const char *cell_id)
{
    for (size_t i = 0; limiter && i < limiter->n_cells; i++) {
        if (strcmp(limiter->cells[i]->cell_id, cell_id) == 0) {
            return true;
        }
    }
    return false;
}

static const Board__LimiterRecord *limiter_before(struct checkers *k, struct arena *a,
                                                  int64_t revision)
{
    const struct past *p = history_at(&k->history, key_brake(a), revision - 1);
    return p ? (const Board__LimiterRecord *)p->message : NULL;
}

/* Which incarnation the failure detector judged does not show. */
static struct seen_move cell_move(struct checkers *k, struct arena *a, const struct past *p)
{
    const Board__CellRecord *was = cell_of(p->before), *is = cell_of(p);
    const Board__LimiterRecord *limiter = limiter_before(k, a, p->revision);
    struct seen_move m = {.table = &cell_lifecycle,
                          .from = cell_state_of(was),
                          .to = cell_state_of(is),
                          .unknown_guards = CELL_IF_SAME_INCARNATION | CELL_IF_OWN |
                                            CELL_IF_VACANT | CELL_IF_EMPTY}; /* pools.c */
    if (was && is) {
        bool same = strcmp(was->identity, is->identity) == 0;
        m.true_guards |= same && is->incarnation >= was->incarnation ? CELL_IF_SUCCESSOR : 0;
        m.true_guards |= is->incarnation > was->incarnation ? CELL_IF_HIGHER_INCARNATION : 0;
    }
    const char *id = is ? is->presence->cell_id : "";
    bool held =
        limiter && limiter->state != BOARD__LIMITER_RECORD__STATE__RELEASED && lists(limiter, id);
    m.true_guards |= held ? 0 : CELL_IF_NOT_HELD;
    m.true_guards |= was && was->pool_leaves ? CELL_IF_MARKED : 0;
    return m;
}

static int limiter_state_of(const Board__LimiterRecord *r)
{
    static const int states[] = {[BOARD__LIMITER_RECORD__STATE__HELD] = LIMITER_HELD,
                                 [BOARD__LIMITER_RECORD__STATE__KEPT] = LIMITER_KEPT,
                                 [BOARD__LIMITER_RECORD__STATE__RELEASED] = LIMITER_RELEASED};
    return r ? states[r->state] : LIMITER_NONE;
}

static struct seen_move limiter_move(struct checkers *k, const struct past *p,
                                     const struct world_commit *c)
{
    const Board__LimiterRecord *was =
        (const Board__LimiterRecord *)(p->before ? p->before->message : NULL);
    const Board__LimiterRecord *is = (const Board__LimiterRecord *)p->message;
    struct seen_move m = {.table = &limiter_lifecycle,
                          .from = limiter_state_of(was),
                          .to = limiter_state_of(is),
                          .true_guards = is ? 0 : LIMITER_IF_NO_CELLS};
    int64_t hold_ns = k->settings.limiter.hold_ns;
    bool fewer = true;
    for (size_t i = 0; is && i < is->n_cells; i++) {
        fewer = fewer && lists(was, is->cells[i]->cell_id);
    }
    m.true_guards |= fewer ? LIMITER_IF_FEWER : 0;
    const struct past *held = p->before; /* longer lists do not change how long it holds */
    while (held && held->before && held->before->message &&
           ((const Board__LimiterRecord *)held->before->message)->until == (was ? was->until : 0)) {
        held = held->before;
    }
    if (!c) {
        m.unknown_guards |= LIMITER_IF_DUE;
    } else if (was && had_stood(k, c, held, hold_ns, was->until - hold_ns)) {
        m.true_guards |= LIMITER_IF_DUE;
    }
    return m;
}

static const Models__Task *task_of(const struct past *p)
{
    return p && p->message ? (const Models__Task *)p->message : NULL;
}

static bool task_cell_gone(struct checkers *k, struct arena *a, const struct past *was)
{
    const struct past *cell =
        map_get(&k->history.now, key_cell(a, ((const Models__Task *)was->message)->cell_id));
    bool known = cell && cell->message;
    bool lost = known && ((const Board__CellRecord *)cell->message)->state ==
                             BOARD__CELL_RECORD__STATE__LOST;
    return (!known || (lost && had_surely_stood(k, cell, k->settings.tasks.loss_ns))) &&
           had_surely_stood(k, was, k->settings.tasks.loss_ns);
}

static bool task_awaited_by_somebody(const Models__Task *t)
{
    return t->task_definition && *t->task_definition->completion_callback_url;
}

static int64_t task_keep_ns(const struct checkers *k, const Models__Task *t)
{
    return task_awaited_by_somebody(t) ? k->settings.tasks.undelivered_ns
           : t->optional_keep_s_case   ? t->keep_s * SECOND_NS
                                       : k->settings.tasks.expire_completed_ns;
}

static const struct past *creation(const struct past *p)
{
    while (p->before && p->before->message) {
        p = p->before;
    }
    return p;
}

/* What the clock decides. */
static void judge_task_time(struct checkers *k, struct arena *a, const struct past *before,
                            const struct world_commit *c, struct seen_move *m)
{
    const Models__Task *was = task_of(before);
    const struct task_times *times = &k->settings.tasks;
    uint32_t *t = &m->true_guards;
    if (!c) {
        m->unknown_guards |=
            TASK_IF_EXPIRED | TASK_IF_CELL_GONE | TASK_IF_STUCK | TASK_IF_KEPT_ENOUGH;
        return;
    }
    *t |= had_surely_stood(k, creation(before), times->expire_pending_ns) ? TASK_IF_EXPIRED : 0;
    *t |= had_stood(k, c, before, times->kick_ns, was->updated_at) ? TASK_IF_STUCK : 0;
    *t |= had_surely_stood(k, before, earlier_ns(task_keep_ns(k, was), KEPT_SURE_NS))
              ? TASK_IF_KEPT_ENOUGH
              : 0;
    *t |= task_cell_gone(k, a, before) ? TASK_IF_CELL_GONE : 0;
}

/* Which cell and attempt were given shows in what start makes, else it does not. */
static struct seen_move task_change_of(struct checkers *k, struct arena *a, const struct past *p,
                                       const struct world_commit *c)
{
    const Models__Task *was = task_of(p->before), *is = task_of(p);
    struct seen_move m = {.table = &task_lifecycle,
                          .from = was ? (int)was->state : TASK_NONE,
                          .to = is ? (int)is->state : TASK_NONE,
                          .unknown_guards = TASK_IF_SAME_CELL | TASK_IF_SAME_ATTEMPT |
                                            TASK_IF_SAME_REVISION | TASK_IF_SAME_OUTCOME};
    if (!was) {
        return m;
    }
    int64_t retries =
        was->optional_max_retries_case ? was->max_retries : k->settings.tasks.max_retries;
    m.true_guards |= was->rejection_count >= retries ? TASK_IF_RETRIES_SPENT : 0;
    m.true_guards |= task_awaited_by_somebody(was) ? TASK_IF_AWAITED : 0;
    if (is && is->state == MODELS__TASK__STATE__Running) {
        bool cell = strcmp(was->cell_id, is->cell_id) == 0;
        bool attempt = cell && strcmp(was->attempt, is->attempt) == 0;
        m.unknown_guards = TASK_IF_SAME_OFFER; /* tasks.c: check_offer, check_return */
        m.true_guards |= cell ? TASK_IF_SAME_CELL : 0;
        m.true_guards |= attempt ? TASK_IF_SAME_ATTEMPT : TASK_IF_OTHER_ATTEMPT;
    }
    judge_task_time(k, a, p->before, c, &m);
    return m;
}

static bool stands(const struct past *p)
{
    return p && p->message;
}

/* Of a kind whose records are there or not; one with more states says in a function of its own
 * which state a record is in. */
/* By the text of its field "state". */
static int state_in(const struct lifecycle *table, const struct past *p)
{
    if (!p || !p->message) {
        return 0;
    }
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(p->message->descriptor, "state");
    assert(f && f->type == PROTOBUF_C_TYPE_STRING);
    return lifecycle_state(table, *(char *const *)((const char *)p->message + f->offset));
}

static struct seen_move simple(const struct lifecycle *table, const struct past *p)
{
    if (!table) {
        return (struct seen_move){0};
    }
    bool two = table->state_count == 2;
    return (struct seen_move){
        .table = table,
        .from = two ? stands(p->before) : state_in(table, p->before),
        .to = two ? stands(p) : state_in(table, p),
        .unknown_guards = (1u << table->guard_count) - 1,
    };
}

static struct seen_move of_a_system(struct checkers *k, struct arena *a, const struct past *p)
{
    struct seen_move m = simple(record_kind(p->type)->lifecycle, p);
    const struct guards_seen guards = system_guards_seen(k, a, p);
    m.true_guards = guards.held;
    m.unknown_guards = guards.unknown;
    return m;
}

/* Of a centre of sites. */
static struct seen_move of_the_edge(struct checkers *k, struct arena *a, const struct past *p,
                                    const struct world_commit *c)
{
    const struct lifecycle *own = record_kind(p->type)->lifecycle;
    struct seen_move m = simple(own ? own : &tracked_lifecycle, p);
    if (edge_is_reserved_anew(p)) {
        return (struct seen_move){0};
    }
    const struct guards_seen guards = edge_guards_seen(k, a, p, c ? latest_wall(k, c) : 0);
    m.true_guards = guards.held;
    m.unknown_guards = guards.unknown;
    return m;
}

static struct seen_move domain_move(const struct checkers *k, const struct past *p)
{
    struct seen_move m = simple(&domain_lifecycle, p);
    const Board__DomainRecord *was =
        stands(p->before) ? (const Board__DomainRecord *)p->before->message : NULL;
    m.unknown_guards = 0;
    if (was && was->ttl_s &&
        had_surely_stood(k, p->before, earlier_ns(was->ttl_s * SECOND_NS, KEPT_SURE_NS))) {
        m.true_guards |= DOMAIN_IF_EXPIRED;
    }
    return m;
}

static const Board__LockRecord *lock_of(const struct past *p)
{
    return stands(p) ? (const Board__LockRecord *)p->message : NULL;
}

/* Which revision the converger judged does not show, nor the clock of the bbs; locks.c holds them
 * to what they say. A release shows nothing of who asked. */
static struct seen_move lock_move(struct checkers *k, struct arena *a, const struct past *p)
{
    const Board__LockRecord *was = lock_of(p->before), *is = lock_of(p);
    struct seen_move m = {.table = &lock_lifecycle,
                          .from = was ? LOCK_HELD : LOCK_NONE,
                          .to = is ? LOCK_HELD : LOCK_NONE,
                          .unknown_guards = LOCK_IF_OVER | LOCK_IF_SAME_REVISION};
    if (is) {
        m.true_guards |= beside(k, key_cell(a, is->key)) ? 0 : LOCK_IF_OUTSIDE;
        m.true_guards |= was && strcmp(was->owner, is->owner) == 0 ? LOCK_IF_SAME_OWNER : 0;
    } else {
        m.unknown_guards |= LOCK_IF_SAME_OWNER;
    }
    return m;
}

static struct seen_move seen_move_of(struct checkers *k, struct arena *a, const struct past *p,
                                     const struct world_commit *c)
{
    switch (p->type) {
    case RECORD_ACTUAL:
        return actual_move(k, a, p, c);
    case RECORD_DOMAIN:
        return domain_move(k, p);
    case RECORD_LOCK:
        return lock_move(k, a, p);
    case RECORD_CELL:
        return cell_move(k, a, p);
    case RECORD_LIMITER:
        return limiter_move(k, p, c);
    case RECORD_TASK:
        return task_change_of(k, a, p, c);
    case RECORD_SYSTEM:
    case RECORD_BUILD:
    case RECORD_DEPLOY:
    case RECORD_TEARDOWN:
        return of_a_system(k, a, p);
    case RECORD_CLUSTERINST:
    case RECORD_APPINST:
    case RECORD_CLOUDLET:
    case RECORD_CLOUDLETINFO:
        return of_the_edge(k, a, p, c);
    default:
        return simple(record_kind(p->type)->lifecycle, p);
    }
}

/* Some choice of the unknown guards must lead where it went. */
static bool allowed(const struct seen_move *m, enum actor actor, int trigger)
{
    for (uint32_t chosen = m->unknown_guards;; chosen = (chosen - 1) & m->unknown_guards) {
        if (lifecycle_transition(m->table, m->from, actor, trigger, m->true_guards | chosen) ==
            m->to) {
            return true;
        }
        if (chosen == 0) {
            return false;
        }
    }
}

static void check_move(struct checkers *k, struct arena *a, const struct past *p,
                       const struct world_commit *c)
{
    struct seen_move m = seen_move_of(k, a, p, c);
    if (!m.table) {
        return;
    }
    if (!p->cause) {
        checkers_report(k, "S12", "%s changed at revision %lld without a cause", p->key,
                        (long long)p->revision);
        return;
    }
    int actor = actor_named(p->cause->actor);
    int trigger = lifecycle_trigger(m.table, p->cause->move);
    if (m.from < 0 || m.to < 0 || actor < 0 || trigger < 0 ||
        !allowed(&m, (enum actor)actor, trigger)) {
        checkers_report(k, "S12", "%s: %s by %s does not lead from %s to %s (revision %lld)",
                        p->key, p->cause->move, p->cause->actor,
                        m.from < 0 ? "?" : m.table->states[m.from],
                        m.to < 0 ? "?" : m.table->states[m.to], (long long)p->revision);
    }
}

/* A bbs may be told late that it runs, so the length of a long run is not judged to the second; a
 * new record begins at 0 (retire, removal, replacement of a lost instance), and what comes back
 * from SUSPECT brings its own. */
static void check_crash_count(struct checkers *k, struct arena *a, const struct past *p,
                              const struct world_commit *c)
{
    const Models__ActualLRP *was = actual(p->before), *is = actual(p);
    if (p->type != RECORD_ACTUAL || !was || !is || is->crash_count >= was->crash_count ||
        !p->cause) {
        return;
    }
    bool crash = strcmp(p->cause->move, "crash") == 0 ||
                 strcmp(p->cause->move, "evacuate_crashed") == 0;
    bool long_run = crash && is->crash_count == 1 &&
                    strcmp(was->state, "RUNNING") == 0 &&
                    (!c || had_stood(k, c, p->before, k->settings.crash.reset_ns, was->since));
    static const char *const again[] = {"remove", "retire", "stop", "suspect",
                                       "evacuate_stopped"};
    bool reset = false;
    for (size_t i = 0; i < sizeof(again) / sizeof(again[0]); i++) {
        reset = reset || (is->crash_count == 0 && strcmp(p->cause->move, again[i]) == 0);
    }
    if (strcmp(p->cause->move, "resolve") == 0) {
        const Models__ActualLRP *suspect =
            sibling(k, a, p, is->actual_lrp_key, MODELS__ACTUAL_LRP__PRESENCE__SUSPECT);
        reset = suspect && suspect->crash_count == is->crash_count;
    }
    if (!long_run && !reset) {
        checkers_report(k, "S11", "%s: %s lets the crash count fall from %d to %d", p->key,
                        p->cause->move, was->crash_count, is->crash_count);
    }
}

/* Whatever the table says: an instance keeps its record until it ends or is let go. Only one that
 * runs takes it over, and only from one that does not (docs/instances.md, Harmonising; resolve
 * brings back what ran before). */
static void check_bearer(struct checkers *k, const struct past *p)
{
    const Models__ActualLRP *was = actual(p->before), *is = actual(p);
    if (p->type != RECORD_ACTUAL || !was || !is || !p->cause ||
        !was->actual_lrp_instance_key || !*was->actual_lrp_instance_key->instance_guid ||
        !is->actual_lrp_instance_key || !*is->actual_lrp_instance_key->instance_guid ||
        same_instance(was, is) || strcmp(p->cause->move, "resolve") == 0 ||
        is->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING) {
        return;
    }
    if (strcmp(was->state, "CLAIMED") != 0 || strcmp(is->state, "RUNNING") != 0) {
        checkers_report(k, "S12", "%s: %s by %s gives what is %s on %s to another, %s on %s",
                        p->key, p->cause->move, p->cause->actor, was->state,
                        was->actual_lrp_instance_key->cell_id, is->state,
                        is->actual_lrp_instance_key->cell_id);
    }
}

/* run/... is written once (design.md 2). */
static void check_run(struct checkers *k, const struct past *p)
{
    if (p->type == RECORD_RUN && stands(p) && stands(p->before)) {
        checkers_report(k, "S12", "%s is written twice", p->key);
    }
}

void check_moves(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    SCOPED_ARENA(a);
    for (size_t i = 0; i < p->count; i++) {
        check_move(k, &a, p->list[i], commit);
        check_crash_count(k, &a, p->list[i], commit);
        check_bearer(k, p->list[i]);
        check_run(k, p->list[i]);
    }
}
