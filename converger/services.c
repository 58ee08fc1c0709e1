#include "converger/services.h"

#include "common/base/memory.h"
#include "common/lifecycle/pool.h"
#include "common/lifecycle/service.h"
#include "common/model/component_path.h"
#include "common/model/hold.h"
#include "common/model/pool_record.h"
#include "common/model/pool_state.h"
#include "common/model/rolling.h"
#include "common/model/service_owner.h"
#include "common/model/service_record.h"
#include "common/model/service_wants.h"
#include "converger/inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Services looked at in one step. */
enum { SERVICE_LOOKS_MAX = 256 };
/* Of those at rest, in a full pass whose time has come. */
enum { SERVICE_RESTING_MAX = 64 };
/* Instances of a service that are read for what is wrong with one of them. */
enum { FAULTS_READ_MAX = 8 };

static void init(void *state, const struct converger_config *c)
{
    struct services_keeper *k = state;
    (void)c;
    map_init(&k->by_key);
    map_init(&k->by_guid);
    map_init(&k->systems);
    work_init(&k->work);
}

static const struct feed_client *copy_of(const struct services_keeper *k)
{
    return &k->kept.x->life.feed_client;
}

/* ---- What runs ------------------------------------------------------------------------------- */

static void drop_process(struct services_keeper *k, struct service_process *p)
{
    map_remove(&k->by_guid, p->guid);
    map_remove(&p->of->processes, p->guid);
    seats_done(&p->seats);
    free(p);
}

static void learn_actual(struct services_keeper *k, struct service_process *p, const char *key,
                         const struct followed *record)
{
    SCOPED_ARENA(a);
    const char *index = key_component(&a, key, 2);
    int presence = key_presence(key);
    if (index && presence >= 0) {
        struct sighting seen = record ? record->seen : (struct sighting){0};
        seats_change(&p->seats, (int32_t)strtol(index, NULL, 10), presence,
                     message_of(&a, key, record), seen, k->kept.x->life.now);
    }
}

/* Its instances that are on the board already. */
static void learn_instances(struct services_keeper *k, struct service_process *p)
{
    SCOPED_ARENA(a);
    const char *prefix = key_actual_process(&a, p->guid);
    size_t size = strlen(prefix);
    for (struct map_node *n = map_from(&copy_of(k)->records, prefix);
         n && strncmp(map_key(n), prefix, size) == 0; n = map_next(n)) {
        learn_actual(k, p, map_key(n), map_value(n));
    }
}

/* Of the service's; NULL if another one named it first. */
static struct service_process *process_of(struct services_keeper *k, struct kept_service *one,
                                          const char *guid)
{
    struct service_process *p = map_get(&k->by_guid, guid);
    if (!p) {
        p = map_named(&k->by_guid, guid, offsetof(struct service_process, guid));
        p->of = one;
        seats_init(&p->seats);
        map_put(&one->processes, p->guid, p);
        learn_instances(k, p);
    }
    return p->of == one ? p : NULL;
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void learn_revisions(struct services_keeper *k, struct kept_service *one,
                            const Board__ServiceRecord *s)
{
    struct rolling_bounds bounds;
    rolling_bounds_of(s->rolling, s->instances > 0 ? s->instances : 0, &bounds);
    for (size_t i = 0; i < s->n_revisions; i++) {
        struct service_process *p = process_of(k, one, s->revisions[i]->process_guid);
        if (p) {
            p->named = true;
            seats_rule(&p->seats,
                       (struct seat_rules){.desired = s->revisions[i]->instances,
                                           .ready_ns = bounds.ready_ns,
                                           .policy = &k->kept.x->settings.crash},
                       k->kept.x->life.now);
        }
    }
}

static void learn_service(struct services_keeper *k, struct kept_service *one,
                          const Board__ServiceRecord *s)
{
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    MAP_EACH(&one->processes, n)
    {
        ((struct service_process *)map_value(n))->named = false;
    }
    learn_revisions(k, one, s);
    MAP_EACH(&one->processes, n)
    {
        struct service_process *p = map_value(n);
        if (!p->named) {
            drop_process(k, p);
        }
    }
    if (one->unrouted_at != s->unrouted_at) {
        one->unrouted_at = s->unrouted_at;
        one->unrouted_ns = now_ns;
    }
    if (one->restart.at_ns != s->restart_at) {
        one->restart = (struct seat_restart){s->restart_at, now_ns};
    }
    const Board__Revision *target = service_target(s);
    free(one->pool);
    one->pool = mem_text(target ? target->pool : "");
}

static void drop(struct services_keeper *k, struct kept_service *one)
{
    MAP_EACH(&one->processes, n)
    {
        drop_process(k, map_value(n));
    }
    map_done(&one->processes, NULL);
    work_drop(&k->work, &one->item);
    map_remove(&k->by_key, one->key);
    free(one->pool);
    free(one);
}

/* service/<uid>/<path> */
static void on_service(struct services_keeper *k, struct arena *a, const char *key,
                       const struct followed *record)
{
    struct kept_service *one = map_get(&k->by_key, key);
    if (!record && one) {
        drop(k, one);
    } else if (record) {
        one = map_named(&k->by_key, key, offsetof(struct kept_service, key));
        if (!one->item.name) {
            work_item_init(&one->item, one->key);
            map_init(&one->processes);
        }
        const Board__ServiceRecord *s = message_at(&k->kept, a, key);
        if (s) {
            learn_service(k, one, s);
        }
        work_touch(&k->work, &one->item);
    }
}

/* All services of a system; of those that are in this pool, NULL = of all. */
static void touch_services(struct services_keeper *k, struct arena *a, const char *uid,
                           const char *pool)
{
    const char *prefix = key_range_of(a, RECORD_SERVICE, uid);
    size_t size = strlen(prefix);
    for (struct map_node *n = map_from(&k->by_key, prefix);
         n && strncmp(map_key(n), prefix, size) == 0; n = map_next(n)) {
        struct kept_service *one = map_value(n);
        if (!pool || (one->pool && strcmp(one->pool, pool) == 0)) {
            work_touch(&k->work, &one->item);
        }
    }
}

/* pool/<uid>/<path:name>: those that run in it, and whose own it is. */
static void on_pool(struct services_keeper *k, struct arena *a, const char *key, const char *uid)
{
    const char *name = key_component(a, key, 2);
    if (uid && name && component_subname_leaf(name)[0]) {
        touch_services(k, a, uid, name);
    } else if (uid && name) {
        struct kept_service *own =
            map_get(&k->by_key, key_service(a, uid, component_subname_path(a, name)));
        if (own) {
            work_touch(&k->work, &own->item);
        }
    }
}

static struct kept_system *system_of(struct services_keeper *k, const char *uid)
{
    return map_named(&k->systems, uid, offsetof(struct kept_system, uid));
}

/* system/<id>: whether it may roll. What else it says is no matter of its services; it changes with
 * each deploy, and while they roll. */
static void on_system(struct services_keeper *k, struct arena *a, const char *key)
{
    const Board__SystemRecord *r = message_at(&k->kept, a, key);
    if (!r || !r->uid[0]) {
        return;
    }
    struct kept_system *one = system_of(k, r->uid);
    bool confirmed = strcmp(r->board_generation, k->kept.x->board_generation) == 0;
    if (one->confirmed != confirmed) {
        one->confirmed = confirmed;
        touch_services(k, a, r->uid, NULL);
    }
}

/* hold/<uid>: what stands still. It goes with its system. */
static void on_hold(struct services_keeper *k, struct arena *a, const char *key, const char *uid)
{
    const Board__HoldRecord *r = message_at(&k->kept, a, key);
    struct kept_system *one = system_of(k, uid);
    bool was_paused = one->paused;
    one->paused = false;
    for (size_t i = 0; r && i < r->n_holds; i++) {
        one->paused = one->paused || r->holds[i]->paused;
    }
    if (was_paused || one->paused) {
        touch_services(k, a, uid, NULL);
    }
    if (!feed_client_get(copy_of(k), key)) {
        free(map_remove(&k->systems, uid));
    }
}

/* actual/<process_guid>/..., desired/<process_guid> */
static void on_process(struct services_keeper *k, const char *key, const char *guid,
                       const struct followed *record)
{
    struct service_process *p = map_get(&k->by_guid, guid);
    if (!p) {
        return;
    }
    if (key_type(key) == RECORD_ACTUAL) {
        learn_actual(k, p, key, record);
    }
    work_touch(&k->work, &p->of->item);
}

static void change(void *state, const char *key, const struct followed *record)
{
    struct services_keeper *k = state;
    SCOPED_ARENA(a);
    const char *name = key_component(&a, key, 1);
    switch (key_type(key)) {
    case RECORD_SERVICE:
        on_service(k, &a, key, record);
        break;
    case RECORD_SYSTEM:
        on_system(k, &a, key);
        break;
    case RECORD_HOLD:
        if (name && name[0]) {
            on_hold(k, &a, key, name);
        }
        break;
    case RECORD_POOL:
        on_pool(k, &a, key, name);
        break;
    default:
        if (name) {
            on_process(k, key, name, record);
        }
        break;
    }
}

static void current(void *state)
{
    struct services_keeper *k = state;
    MAP_EACH(&k->by_key, n)
    {
        struct kept_service *one = map_value(n);
        one->full = true;
        work_touch(&k->work, &one->item);
    }
}

/* A full pass whose time has come: what is at rest is looked at in turn, some of it in each pass,
 * so that services that stand cost nothing. Changes, and what is due, find the others. */
static void touch_some(struct services_keeper *k)
{
    int resting = 0;
    char *next = NULL;
    for (struct map_node *n = map_first(&k->by_key); n; n = map_next(n)) {
        struct kept_service *one = map_value(n);
        bool in_turn = one->rests && (!k->next || strcmp(one->key, k->next) >= 0);
        if (in_turn && resting++ == SERVICE_RESTING_MAX) {
            next = mem_text(one->key);
        }
        if (!one->rests || (in_turn && resting <= SERVICE_RESTING_MAX)) {
            one->full = true;
            work_touch(&k->work, &one->item);
        }
    }
    free(k->next);
    k->next = next; /* NULL = the last was looked at: from the first on */
}

static void reset(void *state)
{
    struct services_keeper *k = state;
    MAP_EACH(&k->by_key, n)
    {
        drop(k, map_value(n));
    }
    map_done(&k->systems, free);
    map_init(&k->systems);
    assert(k->by_guid.count == 0);
}

static void done(void *state)
{
    struct services_keeper *k = state;
    reset(k);
    map_done(&k->by_key, NULL);
    map_done(&k->by_guid, NULL);
    map_done(&k->systems, NULL);
    free(k->next);
    work_done(&k->work);
}

/* ---- What is known for a look ---------------------------------------------------------------- */

/* What is wrong with this instance, "" = nothing is known. */
static const char *fault_of(const struct services_keeper *k, struct arena *a,
                            const struct service_process *p, int32_t index)
{
    const char *key = key_actual(a, p->guid, index, MODELS__ACTUAL_LRP__PRESENCE__ORDINARY);
    const Models__ActualLRP *r = message_at(&k->kept, a, key);
    if (r && r->crash_count > 0) {
        return arena_printf(a, "/%d crashed %d %s: %.1000s", (int)index, (int)r->crash_count,
                            r->crash_count == 1 ? "time" : "times",
                            r->crash_reason[0] ? r->crash_reason : "no reason was told");
    }
    return r && r->placement_error[0]
               ? arena_printf(a, "/%d has no place: %.1000s", (int)index, r->placement_error)
               : "";
}

/* Of the first instances that are not available the first with something to tell. */
static const char *fault_in(const struct services_keeper *k, struct arena *a,
                            const struct service_process *p)
{
    const char *fault = "";
    int read = 0;
    bool any = p && p->seats.counts.available < p->seats.counts.live;
    for (size_t i = 0; any && i < p->seats.size && read < FAULTS_READ_MAX && !fault[0]; i++) {
        const struct seat *seat = &p->seats.list[i];
        if (seat->live && !seat->available) {
            fault = fault_of(k, a, p, (int32_t)i);
            read++;
        }
    }
    return fault;
}

static bool is_unconfirmed(const struct services_keeper *k, struct arena *a,
                           const Board__ServiceRecord *s)
{
    const char *confirmed = s->board_generation;
    if (strcmp(s->uid, SERVICE_APPS_UID) != 0) {
        const Board__SystemRecord *system =
            s->system[0] ? message_at(&k->kept, a, key_system(a, s->system)) : NULL;
        confirmed = system && strcmp(system->uid, s->uid) == 0 ? system->board_generation : "";
    }
    return strcmp(confirmed, k->kept.x->board_generation) != 0;
}

static bool is_paused(const struct services_keeper *k, struct arena *a,
                      const Board__ServiceRecord *s)
{
    if (strcmp(s->uid, SERVICE_APPS_UID) == 0) {
        return s->paused;
    }
    const Board__HoldRecord *h = message_at(&k->kept, a, key_hold(a, s->uid));
    const Board__Hold *over = h ? hold_over(h, s->path) : NULL;
    return over && over->paused;
}

/* The DesiredLRP of a revision; NULL = none of the service's. */
static const Models__DesiredLRP *desired_of(const struct services_keeper *k, struct arena *a,
                                            const char *key, const char *process_guid)
{
    const Models__DesiredLRP *d = message_at(&k->kept, a, key_desired(a, process_guid));
    bool owned =
        d && service_owner_is(d->owner) && strcmp(service_owner_key(a, d->owner), key) == 0;
    return owned ? d : NULL;
}

static void see_revisions(const struct services_keeper *k, struct arena *a,
                          const struct kept_service *one, struct service_look *ret)
{
    static const struct seats nothing = {.next_ns = NEVER_NS};
    const Board__ServiceRecord *s = ret->record;
    struct service_revision_view *views =
        ARENA_ARRAY(a, s->n_revisions, struct service_revision_view);
    for (size_t i = 0; i < s->n_revisions; i++) {
        const struct service_process *p =
            map_get(&one->processes, s->revisions[i]->process_guid);
        const Models__DesiredLRP *d =
            desired_of(k, a, one->key, s->revisions[i]->process_guid);
        views[i] = (struct service_revision_view){p ? &p->seats : &nothing, d != NULL};
        if (strcmp(s->revisions[i]->hash, s->target) == 0) {
            ret->fits = d && service_wants_met(s, d);
            ret->fault = fault_in(k, a, p);
        }
    }
    ret->revisions = views;
}

/* A pool of its own that is to stay does so for the next service there. */
static void see_pool(const struct services_keeper *k, struct arena *a, struct service_look *ret)
{
    const Board__ServiceRecord *s = ret->record;
    const Board__Revision *target = service_target(s);
    const char *own_name = arena_printf(a, "%s:", s->path);
    const Board__PoolRecord *own = message_at(&k->kept, a, key_pool(a, s->uid, own_name));
    ret->own_pool_goes = own && !pool_newest(own);
    ret->pool = SERVICE_POOL_READY;
    if (!target || target->pool_epoch == 0) {
        return;
    }
    const Board__PoolRecord *p = message_at(&k->kept, a, key_pool(a, s->uid, target->pool));
    const Board__PoolEpoch *newest = pool_newest(p);
    bool ready = newest && newest->number == target->pool_epoch && pool_is_ready(p);
    bool failed = p && lifecycle_state(&pool_lifecycle, p->state) == POOL_FAILED;
    bool is_own = strcmp(target->pool, own_name) == 0;
    ret->pool_text = p ? p->message : "";
    ret->pool = !newest                     ? SERVICE_POOL_ABSENT
                : !ready && failed          ? SERVICE_POOL_FAILED
                : !ready                    ? SERVICE_POOL_SHORT
                : is_own && p->n_epochs > 1 ? SERVICE_POOL_OLD
                                            : SERVICE_POOL_READY;
}

/* False: its record says nothing to this version. */
static bool see(const struct services_keeper *k, struct arena *a, const struct kept_service *one,
                struct service_look *ret)
{
    const Board__ServiceRecord *s = message_at(&k->kept, a, one->key);
    if (!s || lifecycle_state(&service_lifecycle, s->state) < 0) {
        return false;
    }
    *ret = (struct service_look){
        .record = s,
        .now = k->kept.x->life.now,
        .paused = is_paused(k, a, s),
        .unconfirmed = is_unconfirmed(k, a, s),
        .fault = "",
        .drain_ns = k->kept.x->settings.drain_ns,
        .stuck_ns = one->stuck_ns,
        .unrouted_ns = one->unrouted_ns,
        .step_ns = one->step_ns,
        .observe_ns = one->observe_ns,
        .restart = one->restart,
    };
    see_pool(k, a, ret);
    see_revisions(k, a, one, ret);
    return true;
}

/* Whether what was kept of the time without progress still tells it. It does not of one that waited
 * or was stable when it was last looked at: nothing calls for a look then. */
static bool time_goes_on(const struct services_keeper *k, const struct kept_service *one)
{
    return one->term != 0 && one->term == k->kept.x->life.leader.term && !one->waited;
}

/* The time without progress begins anew with each progress, in each term, while it waits, and while
 * it is stable: one that was so for long and loses an instance has all its time. */
static void keep_time(const struct services_keeper *k, struct kept_service *one,
                      struct service_look *l)
{
    bool stable = strcmp(l->record->state, service_lifecycle.states[SERVICE_STABLE]) == 0;
    bool waits = service_waits(l) || stable;
    if (!time_goes_on(k, one) || one->progress_at != l->record->progress_at || waits) {
        one->term = k->kept.x->life.leader.term;
        one->progress_at = l->record->progress_at;
        one->stuck_ns = l->now.mono_ns;
    }
    one->waited = waits;
    l->stuck_ns = one->stuck_ns;
}

/* ---- Looking --------------------------------------------------------------------------------- */

static void add_move(struct services_keeper *k, struct kept_service *one, Board__Move *move,
                     int64_t revision)
{
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    bool observes = strcmp(move->move, "observe") == 0;
    assert(one->item.moving == 0);
    move->subject->revision = revision;
    *(observes ? &one->observe_ns : &one->step_ns) = now_ns;
    if (strcmp(move->move, "retire") == 0) {
        SCOPED_ARENA(a);
        const Board__ServiceRecord *s = message_at(&k->kept, &a, one->key);
        for (size_t i = 0; s && i < s->n_revisions; i++) {
            struct service_process *p =
                map_get(&one->processes, s->revisions[i]->process_guid);
            if (p && strcmp(s->revisions[i]->hash, move->service->revision) == 0) {
                seats_retired(&p->seats, move->service->index, one->restart);
            }
        }
    }
    mover_add(&k->kept.x->mover, &k->kept.owner, one->key, move);
    work_judged(&k->work, &one->item, &one->judged, revision, now_ns);
}

static void look_at(struct services_keeper *k, struct arena *a, struct kept_service *one)
{
    struct moment now = k->kept.x->life.now;
    const struct followed *f = feed_client_get(copy_of(k), one->key);
    struct service_look l;
    struct service_answer answer;
    if (f && work_unseen(&k->work, &one->item, &one->judged, f->mod_revision, now.mono_ns)) {
        return;
    }
    MAP_EACH(&one->processes, n)
    {
        seats_wake(&((struct service_process *)map_value(n))->seats, now, one->full);
    }
    one->full = one->rests = false;
    if (!f || !see(k, a, one, &l)) {
        return;
    }
    keep_time(k, one, &l);
    service_look_at(a, &l, &answer);
    if (answer.move) {
        add_move(k, one, answer.move, f->mod_revision);
    }
    one->rests = !answer.move && answer.due_ns == NEVER_NS;
    work_clear_due(&k->work, &one->item);
    if (answer.due_ns != NEVER_NS) {
        work_due(&k->work, &one->item,
                 earlier_ns(answer.due_ns, now.mono_ns + k->kept.x->interval_ns));
    }
}

static void look(void *state, bool all, struct effects *out)
{
    struct services_keeper *k = state;
    struct work *work = &k->work;
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    if (all && k->kept.x->by_time) {
        touch_some(k);
    } else if (all) {
        current(k);
    }
    struct work_item *item;
    while ((item = work_wake(work, now_ns))) {
        work_touch(work, item);
    }
    SCOPED_ARENA(a);
    int looks = 0;
    while (mover_room(&k->kept.x->mover, 1) && looks < SERVICE_LOOKS_MAX &&
           (item = work_next(work))) {
        look_at(k, &a, (struct kept_service *)item);
        arena_reset(&a);
        looks++;
    }
    bool more = looks == SERVICE_LOOKS_MAX && mover_room(&k->kept.x->mover, 1);
    effects_due(out, more ? now_ns : work_wake_ns(work));
}

static void settled(void *state, const char *key, enum move_end end)
{
    struct services_keeper *k = state;
    struct kept_service *one = map_get(&k->by_key, key);
    if (one) {
        work_judged_end(&k->work, &one->item, &one->judged, end, k->kept.x->life.now.mono_ns);
    }
}

/* ---- What is shown --------------------------------------------------------------------------- */

static void plan(void *state, struct plan_shown *ret)
{
    struct services_keeper *k = state;
    MAP_EACH(&k->by_key, n)
    {
        struct service_look l;
        struct service_answer answer;
        const struct kept_service *one = map_value(n);
        if (!ret->plan->more && see(k, ret->arena, one, &l)) {
            l.stuck_ns = time_goes_on(k, one) ? l.stuck_ns : l.now.mono_ns;
            service_look_at(ret->arena, &l, &answer);
            if (answer.move) {
                plan_show(ret, "service", answer.move);
            }
        }
    }
}

static void show(void *state, Converge__ConvergerState *ret, struct arena *a)
{
    const struct services_keeper *k = state;
    (void)a;
    ret->services = k->by_key.count;
    ret->services_waiting = k->work.waiting_count;
}

const struct keeper services_keeper = {.state_size = sizeof(struct services_keeper),
                                       .init = init,
                                       .done = done,
                                       .reset = reset,
                                       .change = change,
                                       .current = current,
                                       .look = look,
                                       .settled = settled,
                                       .plan = plan,
                                       .show = show};
