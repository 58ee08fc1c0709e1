/* What GET /metrics tells of sites and what is there (docs/edge.md, Metrics). */
#include "common/lifecycle/cloudlet_info.h"
#include "common/model/edge_name.h"
#include "converger/edge.h"
#include "converger/inside.h"

#include <assert.h>

/* What is counted by state; `noun` as in the command line. */
static const struct {
    enum record_type kind;
    const char *noun;
} counted[] = {
    {RECORD_CLOUDLET, "cloudlet"},
    {RECORD_MAINTENANCE, "maintenance"},
    {RECORD_CLUSTERINST, "cluster"},
    {RECORD_APPINST, "instance"},
};

/* STATES_MAX: no lifecycle has more; one more is a state of a newer version. */
enum { COUNTED = sizeof(counted) / sizeof(counted[0]), STATES_MAX = 32 };

struct edge_counts {
    size_t objects[COUNTED][STATES_MAX + 1];
    size_t sites[STATES_MAX + 1]; /* by what is said of their CRM */
    size_t overdue;
    int64_t oldest_deadline; /* wall clock; 0 = none */
};

static size_t place_of(int state)
{
    assert(state < STATES_MAX);
    return state < 0 ? STATES_MAX : (size_t)state;
}

static void count_one(const struct kept_edge *one, struct edge_counts *c)
{
    enum record_type kind = key_type(one->key);
    for (size_t i = 0; i < COUNTED; i++) {
        c->objects[i][place_of(one->state)] += counted[i].kind == kind;
    }
    c->sites[place_of(one->state)] += kind == RECORD_CLOUDLETINFO;
    c->overdue += one->overdue;
    if (one->deadline && kind != RECORD_PROGRESS &&
        (!c->oldest_deadline || one->deadline < c->oldest_deadline)) {
        c->oldest_deadline = one->deadline;
    }
}

static void head(struct buf *out, const char *name, const char *help)
{
    buf_printf(out, "# HELP corkboard_edge_%s %s\n# TYPE corkboard_edge_%s gauge\n", name, help,
               name);
}

/* Each state, also those that nothing is in: a series that comes and goes is hard to ask about. */
static void states(struct buf *out, const char *name, const char *more, const struct lifecycle *l,
                   const size_t *counts)
{
    for (size_t s = 1; s < l->state_count; s++) { /* 0 is `none` */
        buf_printf(out, "corkboard_edge_%s{%sstate=\"%s\"} %zu\n", name, more, l->states[s],
                   counts[s]);
    }
    if (counts[STATES_MAX]) {
        buf_printf(out, "corkboard_edge_%s{%sstate=\"unknown\"} %zu\n", name, more,
                   counts[STATES_MAX]);
    }
}

/* Who does not lead hears of no site; of one that is OFFLINE, since that is so. */
static void heard(const struct edge_keeper *k, struct arena *a, struct buf *out)
{
    const struct leading *life = &k->kept.x->life;
    head(out, "site_heard_seconds",
         "For how long no bbs has heard of a site; of one that is OFFLINE, since it is.");
    MAP_EACH(&k->by_key, n)
    {
        const struct kept_edge *one = map_value(n);
        if (key_type(one->key) != RECORD_CLOUDLETINFO || one->state < 0) {
            continue;
        }
        const char *name = key_edge_name(a, one->key);
        int64_t ns = one->state == CLOUDLET_INFO_OFFLINE
                         ? life->now.wall_ns - one->since
                         : liveness_report_silent_ns(&life->leader.liveness_report,
                                                     LIVENESS_REPORT_SITE, name);
        buf_printf(out, "corkboard_edge_site_heard_seconds{site=\"%s\"} %.1f\n", name,
                   (double)(ns > 0 ? ns : 0) / (double)SECOND_NS);
    }
}

void edge_measure(const struct edge_keeper *k, struct arena *a, struct buf *out)
{
    struct edge_counts c = {0};
    if (!map_first(&k->by_key)) {
        return; /* no centre of sites */
    }
    MAP_EACH(&k->by_key, n)
    {
        count_one(map_value(n), &c);
    }
    head(out, "sites", "Sites whose CRM has come, by what is said of it.");
    states(out, "sites", "", &cloudlet_info_lifecycle, c.sites);
    head(out, "objects", "What a centre has at its sites, by kind and state.");
    for (size_t i = 0; i < COUNTED; i++) {
        states(out, "objects", arena_printf(a, "kind=\"%s\",", counted[i].noun),
               edge_lifecycle(counted[i].kind), c.objects[i]);
    }
    head(out, "overdue_operations", "Operations whose time is over, and that go on.");
    buf_printf(out, "corkboard_edge_overdue_operations %zu\n", c.overdue);
    if (c.oldest_deadline) {
        head(out, "oldest_deadline_seconds",
             "When the first operation that is under way is to be over, in Unix time.");
        buf_printf(out, "corkboard_edge_oldest_deadline_seconds %lld\n",
                   (long long)(c.oldest_deadline / SECOND_NS));
    }
    if (k->kept.x->life.leader.leads) {
        heard(k, a, out);
    }
}
