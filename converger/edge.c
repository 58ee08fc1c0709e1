#include "converger/edge.h"

#include "common/base/memory.h"
#include "common/lifecycle/cloudlet.h"
#include "common/lifecycle/lifecycle.h"
#include "common/lifecycle/progress.h"
#include "common/lifecycle/tracked.h"
#include "common/model/edge_name.h"
#include "common/model/moves.h"
#include "converger/inside.h"
#include "converger/sites.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Records looked at in one step. */
enum { EDGE_LOOKS_MAX = 1024 };

static void init(void *state, const struct converger_config *config)
{
    struct edge_keeper *k = state;
    (void)config;
    map_init(&k->by_key);
    work_init(&k->work);
}

static struct liveness_report *report_of(const struct edge_keeper *k)
{
    return &k->kept.x->life.leader.liveness_report;
}

static int64_t silence_of(const struct edge_keeper *k)
{
    return k->kept.x->settings.edge.site_silence_ns;
}

/* ---- What a record says ---------------------------------------------------------------------- */

/* The fields that the kinds have in common. */
struct edge_view {
    const char *state, *uid;
    uint64_t request;
    int64_t since;
    const Board__EdgeOperation *operation;
    int64_t deadline; /* of the operation, or of an answer; wall clock, 0 = none */
    bool overdue;     /* that is over, and it goes on */
};

#define VIEW_OF(type, m)                                                                           \
    (struct edge_view)                                                                             \
    {                                                                                              \
        .state = ((const type *)(m))->state, .uid = ((const type *)(m))->uid,                      \
        .request = ((const type *)(m))->request, .since = ((const type *)(m))->since,              \
        .operation = ((const type *)(m))->operation,                                               \
        .deadline = ((const type *)(m))->operation ? ((const type *)(m))->operation->deadline : 0, \
        .overdue = ((const type *)(m))->operation && ((const type *)(m))->operation->overdue,      \
    }

/* That of an operation that is over goes in its time. */
static struct edge_view view_of_progress(const Board__ProgressRecord *p, int64_t keep_ns)
{
    return (struct edge_view){
        .state = progress_lifecycle.states[*p->end ? PROGRESS_ENDED : PROGRESS_UNDER_WAY],
        .uid = p->uid,
        .request = p->request,
        .since = p->ended_at,
        .deadline = *p->end ? p->ended_at + keep_ns : 0,
    };
}

static struct edge_view view_of(const struct edge_keeper *k, enum record_type kind, const void *m)
{
    const Board__CloudletInfoRecord *info = m;
    const Board__MaintenanceRecord *care = m;
    switch (kind) {
    case RECORD_CLOUDLET:
        return VIEW_OF(Board__CloudletRecord, m);
    case RECORD_CLUSTERINST:
        return VIEW_OF(Board__ClusterInstRecord, m);
    case RECORD_APPINST:
        return VIEW_OF(Board__AppInstRecord, m);
    case RECORD_PROGRESS:
        return view_of_progress(m, k->kept.x->settings.edge.progress_keep_ns);
    case RECORD_CLOUDLETINFO:
        return (struct edge_view){.state = info->state, .uid = info->uid, .since = info->since};
    default:
        assert(kind == RECORD_MAINTENANCE);
        return (struct edge_view){.state = care->state,
                                  .uid = care->uid,
                                  .request = care->request,
                                  .since = care->since,
                                  .deadline = care->deadline,
                                  .overdue = care->overdue};
    }
}

/* Since when a delete is, or was, under way that came to nothing. */
static int64_t in_vain_since(const Board__EdgeOperation *o)
{
    return o && *o->error &&
                   strcmp(o->word, tracked_lifecycle.triggers[TRACKED_TRIGGER_DELETE]) == 0
               ? o->since
               : 0;
}

/* The cluster that an instance runs in. */
static const char *cluster_of(struct arena *a, const Board__AppInstRecord *r)
{
    return *r->real_cluster ? r->real_cluster : edge_cluster_of(a, r->name);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static struct kept_edge *kept_at(const struct edge_keeper *k, struct arena *a,
                                 enum record_type kind, const char *name)
{
    return *name ? map_get(&k->by_key, key_edge(a, kind, name)) : NULL;
}

static void touch_at(struct edge_keeper *k, struct arena *a, enum record_type kind,
                     const char *name)
{
    struct kept_edge *one = kept_at(k, a, kind, name);
    if (one) {
        work_touch(&k->work, &one->item);
    }
}

static void touch_below(struct edge_keeper *k, struct arena *a, enum record_type kind,
                        const char *name)
{
    const char *prefix = key_edge_all(a, kind, name);
    for (struct map_node *n = map_from(&k->by_key, prefix);
         n && strncmp(map_key(n), prefix, strlen(prefix)) == 0; n = map_next(n)) {
        work_touch(&k->work, &((struct kept_edge *)map_value(n))->item);
    }
}

/* Of another state, new, or gone: whoever waits for it looks again. */
static void touch_around(struct edge_keeper *k, struct arena *a, const char *key, const void *m)
{
    const char *name = key_edge_name(a, key);
    switch (key_type(key)) {
    case RECORD_CLOUDLET:
        touch_below(k, a, RECORD_CLUSTERINST, name);
        break;
    case RECORD_CLUSTERINST:
        touch_at(k, a, RECORD_CLOUDLET, edge_cloudlet_of(a, name));
        touch_below(k, a, RECORD_APPINST, name);
        break;
    case RECORD_APPINST: /* of one that reserved a cluster the cluster itself tells when it is free
                          */
        touch_at(k, a, RECORD_CLOUDLET, edge_cloudlet_of(a, name));
        touch_at(k, a, RECORD_CLUSTERINST, edge_cluster_of(a, name));
        touch_at(k, a, RECORD_CLUSTERINST, m ? cluster_of(a, m) : "");
        break;
    default:
        break;
    }
}

static void drop(struct edge_keeper *k, struct kept_edge *one)
{
    SCOPED_ARENA(a);
    assert(one->item.name == one->key);
    if (key_type(one->key) == RECORD_CLOUDLETINFO) {
        sites_note(report_of(k), key_edge_name(&a, one->key), NULL);
    }
    work_drop(&k->work, &one->item);
    map_remove(&k->by_key, one->key);
    free(one->holder);
    free(one);
}

/* Who has a cluster waits for it, also when it is gone. */
static void note_holder(struct edge_keeper *k, struct arena *a, struct kept_edge *one,
                        const char *holder)
{
    if (one->holder) {
        touch_at(k, a, RECORD_APPINST, one->holder);
    }
    free(one->holder);
    one->holder = *holder ? mem_text(holder) : NULL;
    touch_at(k, a, RECORD_APPINST, holder);
}

static void change(void *state, const char *key, const struct followed *record)
{
    struct edge_keeper *k = state;
    SCOPED_ARENA(a);
    struct kept_edge *one = map_get(&k->by_key, key);
    const void *m = message_of(&a, key, record);
    if (!record) {
        if (one) {
            note_holder(k, &a, one, "");
            drop(k, one);
        }
        touch_around(k, &a, key, NULL);
        return;
    }
    bool is_new = !one;
    one = map_named(&k->by_key, key, offsetof(struct kept_edge, key));
    if (is_new) {
        work_item_init(&one->item, one->key);
    }
    struct edge_view v = m ? view_of(k, key_type(key), m) : (struct edge_view){.state = ""};
    struct kept_edge before = *one;
    one->state = lifecycle_state(edge_lifecycle(key_type(key)), v.state);
    one->in_vain_since = in_vain_since(v.operation);
    one->since = v.since;
    one->deadline = v.deadline;
    one->overdue = v.overdue;
    if (m && key_type(key) == RECORD_CLOUDLETINFO) {
        sites_note(report_of(k), key_edge_name(&a, key), m);
    }
    if (m && key_type(key) == RECORD_CLUSTERINST) {
        note_holder(k, &a, one, ((const Board__ClusterInstRecord *)m)->reserved_by);
    }
    work_clear_due(&k->work, &one->item);
    work_touch(&k->work, &one->item);
    if (is_new || one->state != before.state || one->in_vain_since != before.in_vain_since) {
        touch_around(k, &a, key, m);
    }
}

static void touch_all(struct edge_keeper *k)
{
    MAP_EACH(&k->by_key, n)
    {
        work_touch(&k->work, &((struct kept_edge *)map_value(n))->item);
    }
}

static void reset(void *state)
{
    struct edge_keeper *k = state;
    MAP_EACH(&k->by_key, n)
    {
        drop(k, map_value(n));
    }
}

static void done(void *state)
{
    struct edge_keeper *k = state;
    reset(k);
    map_done(&k->by_key, NULL);
    work_done(&k->work);
}

/* ---- What is decided by ---------------------------------------------------------------------- */

struct edge_look {
    struct edge_sight sight;
    struct edge_view view;
    const void *record;
    int64_t revision;
    int64_t due_wall_ns;  /* it is to be looked at again then; 0 = not by time */
    const char *refusing; /* key of what did not go */
};

/* What is below a key's name, of one kind: whether there is any, and whether one was to go with a
 * delete that began at `since` (0 = none is under way), and does not. */
static void see_below(const struct edge_keeper *k, struct arena *a, enum record_type kind,
                      const char *name, int64_t since, struct edge_look *l)
{
    const char *prefix = key_edge_all(a, kind, name);
    for (struct map_node *n = map_from(&k->by_key, prefix);
         n && strncmp(map_key(n), prefix, strlen(prefix)) == 0; n = map_next(n)) {
        const struct kept_edge *one = map_value(n);
        l->sight.held = true;
        if (!since) {
            return;
        }
        if (one->in_vain_since >= since) {
            l->sight.refused = true;
            l->refusing = l->refusing ? l->refusing : one->key;
        }
    }
}

static bool site_goes(const struct edge_keeper *k, struct arena *a, const char *cloudlet,
                      int64_t *ret_since)
{
    const struct kept_edge *site = kept_at(k, a, RECORD_CLOUDLET, cloudlet);
    if (!site || site->state != CLOUDLET_DELETE_PREPARE) {
        return false;
    }
    const Board__CloudletRecord *c = message_at(&k->kept, a, site->key);
    *ret_since = c && c->operation ? c->operation->since : 0;
    return c;
}

/* One that was made for instances and that nobody has: from when on it is idle for too long. */
static void see_idle(const struct edge_keeper *k, struct arena *a,
                     const Board__ClusterInstRecord *c, struct edge_look *l)
{
    int64_t since = 0, wall_ns = k->kept.x->life.now.wall_ns;
    if (!c->automatic || *c->reserved_by) {
        return;
    }
    if (site_goes(k, a, edge_cloudlet_of(a, c->name), &since)) {
        l->sight.goes = in_vain_since(c->operation) < since;
        return;
    }
    int64_t from = c->free_since > c->since ? c->free_since : c->since;
    l->due_wall_ns = from + k->kept.x->settings.edge.cluster_idle_ns;
    l->sight.goes = wall_ns >= l->due_wall_ns;
}

static void see_cluster(const struct edge_keeper *k, struct arena *a,
                        const Board__ClusterInstRecord *c, struct edge_look *l)
{
    bool prepares = l->sight.state == TRACKED_DELETE_PREPARE;
    int64_t since = prepares && c->operation ? c->operation->since : 0;
    see_below(k, a, RECORD_APPINST, c->name, since, l);
    const struct kept_edge *holder = kept_at(k, a, RECORD_APPINST, c->reserved_by);
    l->sight.held = l->sight.held || holder;
    if (holder && since && holder->in_vain_since >= since) {
        l->sight.refused = true;
        l->refusing = l->refusing ? l->refusing : holder->key;
    }
    if (l->sight.state == TRACKED_READY || l->sight.state == TRACKED_UPDATE_ERROR) {
        see_idle(k, a, c, l);
    }
}

static void see_instance(const struct edge_keeper *k, struct arena *a,
                         const Board__AppInstRecord *r, struct edge_look *l)
{
    const struct kept_edge *in = kept_at(k, a, RECORD_CLUSTERINST, cluster_of(a, r));
    bool waits = l->sight.state == TRACKED_CREATING_DEPENDENCIES;
    if (!waits && (!in || in->state != TRACKED_DELETE_PREPARE)) {
        return;
    }
    const Board__ClusterInstRecord *c = in ? message_at(&k->kept, a, in->key) : NULL;
    if (!waits) {
        l->sight.goes = c && c->operation && in_vain_since(r->operation) < c->operation->since;
        return;
    }
    bool same = c && strcmp(c->uid, r->cluster_uid) == 0;
    l->sight.ready = same && in->state == TRACKED_READY;
    l->sight.failed =
        (!in || c) && /* one of a newer version is left alone */
        (!same || in->state == TRACKED_CREATE_ERROR || in->state == TRACKED_UPDATE_ERROR ||
         in->state == TRACKED_DELETE_ERROR || in->state == TRACKED_DELETE_PREPARE ||
         in->state == TRACKED_DELETE_REQUESTED || in->state == TRACKED_DELETING);
}

static void see_site(const struct edge_keeper *k, struct arena *a, const Board__CloudletRecord *c,
                     struct edge_look *l)
{
    l->sight.stays = *c->version && !c->upgrading;
    if (l->sight.state == CLOUDLET_DELETE_PREPARE) {
        int64_t since = c->operation ? c->operation->since : 0;
        see_below(k, a, RECORD_CLUSTERINST, c->name, since, l);
        see_below(k, a, RECORD_APPINST, c->name, since, l);
    }
}

/* False: it is of a newer version, which nobody leads on. */
static bool see(const struct edge_keeper *k, struct arena *a, const struct kept_edge *one,
                struct edge_look *ret)
{
    const struct followed *record = feed_client_get(&k->kept.x->life.feed_client, one->key);
    enum record_type kind = key_type(one->key);
    const void *m = message_of(a, one->key, record);
    *ret = (struct edge_look){.sight = {.kind = kind, .state = one->state}, .record = m};
    if (!m || one->state < 0) {
        return false;
    }
    const struct edge_view *v = &ret->view;
    ret->view = view_of(k, kind, m);
    ret->revision = record->mod_revision;
    ret->due_wall_ns = v->deadline;
    ret->sight.overdue = v->deadline && k->kept.x->life.now.wall_ns >= v->deadline;
    ret->sight.restored = v->operation && v->operation->restored;
    if (kind == RECORD_CLUSTERINST) {
        see_cluster(k, a, m, ret);
    } else if (kind == RECORD_APPINST) {
        see_instance(k, a, m, ret);
    } else if (kind == RECORD_CLOUDLET) {
        see_site(k, a, m, ret);
    } else if (kind == RECORD_CLOUDLETINFO) {
        const Board__CloudletInfoRecord *info = m;
        ret->sight.silent = sites_silent(report_of(k), info->name, info->session, silence_of(k));
    }
    return true;
}

/* Why a delete comes to nothing. */
static char *refusal(const struct edge_keeper *k, struct arena *a, const char *key)
{
    const void *m = message_at(&k->kept, a, key);
    const Board__EdgeOperation *o = m ? view_of(k, key_type(key), m).operation : NULL;
    return arena_printf(a, "%s does not go: %s", key_edge_name(a, key), o ? o->error : "it failed");
}

/* The move of a repair, about this record. */
static Board__Move *move_of(const struct edge_keeper *k, struct arena *a, const char *key,
                            const struct edge_look *l, const struct edge_repair *repair)
{
    Board__Move *m = move_new(a, repair->move, key);
    assert(repair->pass && l->record);
    m->body_case = BOARD__MOVE__BODY_EDGE;
    m->edge = arena_message(a, &board__edge_move__descriptor);
    m->edge->uid = (char *)(uintptr_t)l->view.uid;
    m->edge->request = l->view.request;
    if (l->sight.kind == RECORD_CLOUDLETINFO) {
        m->edge->session = ((const Board__CloudletInfoRecord *)l->record)->session;
    }
    if (l->refusing && strcmp(repair->move, "refuse") == 0) {
        m->edge->error = refusal(k, a, l->refusing);
    }
    return m;
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* A wall clock's time, by ours. */
static int64_t mono_of(const struct edge_keeper *k, int64_t wall_ns)
{
    const struct moment *now = &k->kept.x->life.now;
    return now->mono_ns + (wall_ns - now->wall_ns);
}

static void look_at(struct edge_keeper *k, struct kept_edge *one, struct effects *out)
{
    struct edge_look l;
    struct arena *a = out->arena;
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    if (!see(k, a, one, &l)) {
        return;
    }
    struct edge_repair repair = edge_passes_run(&l.sight);
    if (!repair.pass) {
        if (l.due_wall_ns > k->kept.x->life.now.wall_ns) {
            work_due(&k->work, &one->item, mono_of(k, l.due_wall_ns));
        }
        return;
    }
    if (work_unseen(&k->work, &one->item, &one->judged, l.revision, now_ns)) {
        return;
    }
    mover_add(&k->kept.x->mover, &k->kept.owner, one->key, move_of(k, a, one->key, &l, &repair));
    work_judged(&k->work, &one->item, &one->judged, l.revision, now_ns);
    work_clear_due(&k->work, &one->item);
}

static bool has_room(const struct edge_keeper *k)
{
    return k->work.moving_count < EDGE_MOVING_MAX && mover_room(&k->kept.x->mover, 1);
}

static void touch_silent(void *context, const char *cloudlet)
{
    SCOPED_ARENA(a);
    touch_at(context, &a, RECORD_CLOUDLETINFO, cloudlet);
}

/* Silences are no changes: they are asked for. */
static void listen(struct edge_keeper *k, struct effects *out)
{
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    if (!sites_any(report_of(k))) {
        return;
    }
    if (now_ns >= k->listen_ns) {
        k->listen_ns = now_ns + LIVENESS_REPORT_TICK_NS;
        sites_each_silent(report_of(k), silence_of(k), touch_silent, k);
    }
    effects_due(out, k->listen_ns);
}

static void look(void *state, bool all, struct effects *out)
{
    struct edge_keeper *k = state;
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    if (all) {
        touch_all(k);
    }
    listen(k, out);
    struct work_item *due;
    while ((due = work_wake(&k->work, now_ns))) {
        work_touch(&k->work, due);
    }
    int looks = 0;
    struct kept_edge *one;
    while (has_room(k) && looks < EDGE_LOOKS_MAX &&
           (one = (struct kept_edge *)work_next(&k->work))) {
        look_at(k, one, out);
        looks++;
    }
    assert(looks <= EDGE_LOOKS_MAX && k->work.moving_count <= EDGE_MOVING_MAX);
    bool more = looks == EDGE_LOOKS_MAX && has_room(k);
    effects_due(out, more ? now_ns : work_wake_ns(&k->work));
}

static void settled(void *state, const char *key, enum move_end end)
{
    struct edge_keeper *k = state;
    struct kept_edge *one = map_get(&k->by_key, key);
    if (one) {
        work_judged_end(&k->work, &one->item, &one->judged, end, k->kept.x->life.now.mono_ns);
    }
}

/* ---- What is shown --------------------------------------------------------------------------- */

static void plan(void *state, struct plan_shown *ret)
{
    struct edge_keeper *k = state;
    MAP_EACH(&k->by_key, n)
    {
        const struct kept_edge *one = map_value(n);
        struct edge_look l;
        if (ret->plan->more || !see(k, ret->arena, one, &l)) {
            continue;
        }
        struct edge_repair repair = edge_passes_run(&l.sight);
        if (repair.pass) {
            plan_show(ret, repair.pass, move_of(k, ret->arena, one->key, &l, &repair));
        }
    }
}

static void measure(const void *state, struct arena *a, struct buf *out)
{
    edge_measure(state, a, out);
}

const struct keeper edge_keeper = {.state_size = sizeof(struct edge_keeper),
                                   .init = init,
                                   .done = done,
                                   .reset = reset,
                                   .change = change,
                                   .look = look,
                                   .settled = settled,
                                   .plan = plan,
                                   .measure = measure};
