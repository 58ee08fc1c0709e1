#include "bbs/edge/edge.h"
#include "bbs/edge/said.h"
#include "common/base/message.h"
#include "common/lifecycle/cloudlet.h"
#include "common/lifecycle/cloudlet_info.h"
#include "common/model/edge_name.h"

#include <assert.h>
#include <string.h>

static const struct edge_site *site_of(const struct move_turn *t)
{
    return t->snapshot;
}

static void info_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct arena *a = view_arena(v);
    edge_site_gather(v, in, key_edge_name(a, move_key(a, in->request)), snapshot);
}

/* Where the cloudlet's own move says it: the CRM has come, and the cloudlet is not READY yet. */
static bool is_the_cloudlets(const struct edge_site *s)
{
    int state = s->cloudlet ? lifecycle_state(&cloudlet_lifecycle, s->cloudlet->state) : -1;
    return state < 0 || state == CLOUDLET_CRM_INITOK || state == CLOUDLET_CREATING ||
           state == CLOUDLET_CREATE_ERROR;
}

/* The converger names the session that it judged: another one is not silent. */
static uint32_t info_guards(const struct move_turn *t)
{
    bool ready = strcmp(t->row->name, "ready") == 0;
    bool may = !ready || (edge_says(t)->leads_site && !is_the_cloudlets(site_of(t)));
    bool session = may && edge_in_session(site_of(t), edge_says(t));
    return session ? CLOUDLET_INFO_IF_SESSION | CLOUDLET_INFO_IF_SILENT : 0;
}

static void refuse_info(const struct move_turn *t)
{
    const Board__CloudletInfoRecord *i = site_of(t)->info;
    unsigned long long session = edge_says(t)->session;
    if (t->in->actor == ACTOR_CONVERGER) {
        return; /* it is heard again, in another session */
    }
    if (strcmp(t->row->name, "ready") == 0 && is_the_cloudlets(site_of(t))) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "cloudlet %s is %s: its own move says that it is ready", i->name,
                    site_of(t)->cloudlet->state);
    } else if (session != i->session) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "session %llu of cloudlet %s is over: the board's is %llu", session, i->name,
                    (unsigned long long)i->session);
    } else {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "the CRM of cloudlet %s is %s: it takes no %s now", i->name, i->state,
                    t->row->name);
    }
}

static void change_info(const struct move_turn *t)
{
    struct arena *a = t->plan->arena;
    const Board__EdgeMove *m = edge_says(t);
    const Board__CloudletInfoRecord *before = site_of(t)->info;
    Board__CloudletInfoRecord *i = arena_copy(a, before, sizeof(*i));
    assert(t->to > CLOUDLET_INFO_NONE);
    i->state = (char *)(uintptr_t)cloudlet_info_lifecycle.states[t->to];
    i->since = t->to == t->from ? i->since : t->in->now.wall_ns;
    if (t->in->actor == ACTOR_CRM) {
        i->n_errors = m->n_errors;
        i->errors = m->errors;
        i->foreign_objects = m->foreign_objects;
        i->n_foreign = m->n_foreign;
        i->foreign = m->foreign;
        if (m->totals) {
            i->totals = m->totals;
            i->cells = m->cells;
        }
    }
    if (!message_equal(&i->base, &before->base)) {
        move_put(t, move_subject_key(a, t->in), t->from, t->to, &i->base);
    }
}

static bool info_begin(struct move_turn *t)
{
    const struct edge_site *s = site_of(t);
    const Board__CloudletInfoRecord *i = s->info;
    t->record = i ? &i->base : NULL;
    t->from = i ? lifecycle_state(&cloudlet_info_lifecycle, i->state) : CLOUDLET_INFO_NONE;
    if (i && t->from < 0) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "the CRM of cloudlet %s is in state %s, which this version does not know",
                    i->name, i->state);
        return false;
    }
    if (t->in->actor != ACTOR_CRM) {
        return speaker_authorised(&s->by, t->in, t->plan);
    }
    return edge_speaks(s, t, s->cloudlet ? s->cloudlet->uid : NULL, 0);
}

static void valid_info(struct validation *v, const Board__Move *move)
{
    edge_valid(v, move);
    if (move_edge(move)->session == 0) {
        say_field(v, "session");
    }
}

static void info_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&cloudlet_info_moves, snapshot, in, p);
}

static const struct op_row info_op = {
    .name = "move of what a CRM says",
    .target = move_subject_key,
    .gather = info_gather,
    .decide = info_decide,
    .snapshot_size = sizeof(struct edge_site),
};

#define INFO_ROW(move, absents)                                                                    \
    {                                                                                              \
        .name = #move, .valid = valid_info, .absent = ABSENT_##absents, .guards = info_guards,     \
        .refuse = refuse_info, .decide = change_info, .op = &info_op, .op_of_rep = &info_op,       \
    }
static const struct move_row rows[] = {
    INFO_ROW(sync, REFUSED), INFO_ROW(ready, REFUSED),  INFO_ROW(back, REFUSED),
    INFO_ROW(fail, REFUSED), INFO_ROW(report, REFUSED), INFO_ROW(offline, NOTHING),
};

const struct move_family cloudlet_info_moves = {
    .lifecycle = &cloudlet_info_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = info_begin,
};
