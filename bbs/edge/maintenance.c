#include "bbs/edge/edge.h"
#include "bbs/edge/said.h"
#include "bbs/setting/in_force.h"
#include "common/lifecycle/cloudlet.h"
#include "common/lifecycle/cloudlet_info.h"
#include "common/lifecycle/maintenance.h"
#include "common/model/edge_name.h"

#include <assert.h>
#include <string.h>

/* Of a site's instances; so many that run nowhere else are told by name. */
enum { SITE_INSTANCES_MAX = 4096, ALONE_TOLD_MAX = 10 };

struct maintenance_snapshot {
    struct edge_site site;
    const Board__ProgressRecord *progress;
    int64_t answer_ns; /* so long a CRM has to answer */
    size_t alone;      /* instances whose app runs nowhere else, of failed_over */
    const char *alone_names[ALONE_TOLD_MAX];
};

static const struct maintenance_snapshot *shot_of(const struct move_turn *t)
{
    return t->snapshot;
}

/* ---- What is read ---------------------------------------------------------------------------- */

/* Whether the app of this instance has one at another site. */
static bool runs_elsewhere(struct view *v, const char *cloudlet, const char *instance)
{
    struct arena *a = view_arena(v);
    const char *uses = key_uses(a, key_edge(a, RECORD_APP, edge_app_of(a, instance)));
    const char *here = key_edge_all(a, RECORD_APPINST, cloudlet), *from = NULL;
    for (const char *key; (key = view_peek_key(v, uses, from));
         from = arena_printf(a, "%s!", key)) {
        const char *referring = key_component(a, key, 2);
        if (referring && key_type(referring) == RECORD_APPINST &&
            strncmp(referring, here, strlen(here)) != 0) {
            return true;
        }
    }
    return false;
}

/* It is only told, and nothing is done about it: not noted. */
static void gather_alone(struct view *v, const char *name, struct maintenance_snapshot *s)
{
    const struct seen *list;
    int count = view_peek_range(v, key_edge_all(view_arena(v), RECORD_APPINST, name),
                                SITE_INSTANCES_MAX, &list);
    for (int i = 0; i < count; i++) {
        const Board__AppInstRecord *r = (const Board__AppInstRecord *)list[i].message;
        if (!runs_elsewhere(v, name, r->name)) {
            if (s->alone < ALONE_TOLD_MAX) {
                s->alone_names[s->alone] = r->name;
            }
            s->alone++;
        }
    }
}

static void maintenance_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct maintenance_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__Move *m = in->request;
    const char *name = key_edge_name(a, move_key(a, m));
    edge_site_gather(v, in, name, &s->site);
    if (s->site.cloudlet) {
        s->progress = view_message(v, key_progress(a, s->site.cloudlet->uid));
    }
    if (in->actor != ACTOR_CRM) { /* who answers begins nothing */
        s->answer_ns = settings_gather(v)->edge.maintenance_answer_ns;
    }
    if (strcmp(m->move, "failed_over") == 0) {
        gather_alone(v, name, s);
    }
}

/* ---- Guards, and what refuses ---------------------------------------------------------------- */

static uint32_t maintenance_guards(const struct move_turn *t)
{
    const struct edge_site *s = &shot_of(t)->site;
    bool ready = s->cloudlet && s->info &&
                 lifecycle_state(&cloudlet_lifecycle, s->cloudlet->state) == CLOUDLET_READY &&
                 lifecycle_state(&cloudlet_info_lifecycle, s->info->state) == CLOUDLET_INFO_READY;
    bool overdue = s->maintenance->deadline && t->in->now.wall_ns >= s->maintenance->deadline;
    return (edge_in_session(s, edge_says(t)) ? MAINTENANCE_IF_SESSION : 0) |
           (ready ? MAINTENANCE_IF_READY : 0) | (overdue ? MAINTENANCE_IF_OVERDUE : 0);
}

static void refuse_maintenance(const struct move_turn *t)
{
    const struct edge_site *s = &shot_of(t)->site;
    const Board__MaintenanceRecord *m = s->maintenance;
    if (t->in->actor == ACTOR_CONVERGER) {
        return; /* it judged by an older record */
    }
    if (t->in->actor == ACTOR_CRM && !(t->guards & MAINTENANCE_IF_SESSION)) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "session %llu of cloudlet %s is over: the board's is %llu",
                    (unsigned long long)edge_says(t)->session, m->name,
                    (unsigned long long)(s->info ? s->info->session : 0));
    } else if (t->from == MAINTENANCE_NORMAL_OPERATION && strcmp(t->row->name, "end") != 0) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "cloudlet %s is %s, and its CRM %s: maintenance begins when both are READY",
                    m->name, s->cloudlet ? s->cloudlet->state : "not there",
                    s->info ? s->info->state : "not there");
    } else {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "maintenance of cloudlet %s is at %s for %s: it takes no %s now", m->name,
                    m->state, edge_since_text(t->plan->arena, m->since, t->in->now.wall_ns),
                    t->row->name);
    }
}

/* ---- What the moves do ----------------------------------------------------------------------- */

static bool asks_somebody(int state)
{
    return state == MAINTENANCE_FAILOVER_REQUESTED || state == MAINTENANCE_CRM_REQUESTED ||
           state == MAINTENANCE_NORMAL_OPERATION_INIT;
}

static const char *alone_text(const struct move_turn *t)
{
    const struct maintenance_snapshot *s = shot_of(t);
    struct arena *a = t->plan->arena;
    const char *all = "";
    for (size_t i = 0; i < s->alone && i < ALONE_TOLD_MAX; i++) {
        all = arena_printf(a, "%s%s%s", all, i ? ", " : "", s->alone_names[i]);
    }
    return s->alone == 0               ? "all that runs there runs elsewhere too"
           : s->alone > ALONE_TOLD_MAX ? arena_printf(a, "runs nowhere else: %s and %zu more", all,
                                                      s->alone - ALONE_TOLD_MAX)
                                       : arena_printf(a, "runs nowhere else: %s", all);
}

static const char *line_of(const struct move_turn *t, const Board__MaintenanceRecord *m)
{
    struct arena *a = t->plan->arena;
    return strcmp(t->row->name, "failed_over") == 0 ? alone_text(t)
           : *m->error  ? arena_printf(a, "maintenance: %s, %s", m->state, m->error)
           : m->overdue ? arena_printf(a, "maintenance: %s, no answer in time", m->state)
                        : arena_printf(a, "maintenance: %s", m->state);
}

/* A line of its own, of no operation: it comes to an end at once, where none is under way. */
static void tell_maintenance(const struct move_turn *t, const Board__MaintenanceRecord *m)
{
    const Board__CloudletRecord *c = shot_of(t)->site.cloudlet;
    const Board__ProgressRecord *p = shot_of(t)->progress;
    if (!c || (p && strcmp(p->word, "maintenance") != 0 && !*p->end)) {
        return; /* another operation is told there */
    }
    bool over = t->to == MAINTENANCE_NORMAL_OPERATION || t->to == MAINTENANCE_UNDER_MAINTENANCE;
    const struct edge_told told = {
        .kind = "maintenance",
        .name = c->name,
        .uid = c->uid,
        /* Its requests are counted apart: each is another operation than the cloudlet's. */
        .request = (uint64_t)1 << 32 | m->request,
        .word = "maintenance",
        .line = line_of(t, m),
        .end = !over       ? NULL
               : *m->error ? "failed"
                           : "ready",
        .error = m->error,
    };
    edge_tell(t, p, &told);
}

static void change_maintenance(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    int64_t now = t->in->now.wall_ns;
    Board__MaintenanceRecord *m =
        arena_copy(a, (const Board__MaintenanceRecord *)t->record, sizeof(*m));
    bool expired = strcmp(t->row->name, "expire") == 0, fails = strcmp(t->row->name, "fail") == 0;
    assert(t->to > MAINTENANCE_NONE);
    m->request += t->in->actor == ACTOR_CLIENT;
    m->state = (char *)(uintptr_t)maintenance_lifecycle.states[t->to];
    m->since = t->to == t->from ? m->since : now;
    m->overdue = expired;
    m->deadline = asks_somebody(t->to) && !expired ? now + shot_of(t)->answer_ns : 0;
    m->error = fails ? edge_says(t)->error : arena_strdup(a, "");
    if (fails && !*m->error) {
        m->error = arena_strdup(a, "its CRM does not say why");
    }
    tell_maintenance(t, m);
    move_put(t, move_subject_key(a, t->in), t->from, t->to, &m->base);
}

static bool maintenance_begin(struct move_turn *t)
{
    const struct edge_site *s = &shot_of(t)->site;
    const Board__MaintenanceRecord *m = s->maintenance;
    t->record = m ? &m->base : NULL;
    t->from = m ? lifecycle_state(&maintenance_lifecycle, m->state) : MAINTENANCE_NONE;
    if (m && t->from < 0) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "maintenance of cloudlet %s is in state %s, which this version does not know",
                    m->name, m->state);
        return false;
    }
    if (!m && t->in->actor == ACTOR_CLIENT && t->row->absent == ABSENT_REFUSED) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceNotFound, "there is no cloudlet %s",
                    s->name);
        return false;
    }
    if (!edge_speaks(s, t, m ? m->uid : NULL, m ? m->request : 0)) {
        return false;
    }
    if (m && t->in->actor == ACTOR_CRM && edge_says(t)->request != m->request) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "request %llu of maintenance of %s is over: the board's is %llu",
                    (unsigned long long)edge_says(t)->request, m->name,
                    (unsigned long long)m->request);
        return false;
    }
    return true;
}

static void valid_maintenance(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    const char *fault =
        edge_name_fault(&a, RECORD_MAINTENANCE, key_edge_name(&a, move_key(&a, move)));
    if (fault) {
        say(v, fault);
    }
    edge_valid(v, move);
}

static void maintenance_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&maintenance_moves, snapshot, in, p);
}

static const struct op_row maintenance_op = {
    .name = "move of maintenance",
    .target = move_subject_key,
    .gather = maintenance_gather,
    .decide = maintenance_decide,
    .snapshot_size = sizeof(struct maintenance_snapshot),
};

#define MAINTENANCE_ROW(move, absents)                                                             \
    {                                                                                              \
        .name = #move, .valid = valid_maintenance, .absent = ABSENT_##absents,                     \
        .guards = maintenance_guards, .refuse = refuse_maintenance, .decide = change_maintenance,  \
        .op = &maintenance_op, .op_of_rep = &maintenance_op,                                       \
    }
static const struct move_row rows[] = {
    MAINTENANCE_ROW(start, REFUSED),
    MAINTENANCE_ROW(start_no_failover, REFUSED),
    MAINTENANCE_ROW(end, REFUSED),
    MAINTENANCE_ROW(failed_over, NOTHING),
    MAINTENANCE_ROW(under_maintenance, REFUSED),
    MAINTENANCE_ROW(fail, REFUSED),
    MAINTENANCE_ROW(normal, REFUSED),
    MAINTENANCE_ROW(expire, NOTHING),
};

const struct move_family maintenance_moves = {
    .lifecycle = &maintenance_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = maintenance_begin,
};
