/* EL3: whose time is over is acted on within 2 s of a converger that leads. EL1, EL2: when nothing
 * befalls a centre and its sites any more, every object is READY, gone, or in an error that says
 * why, and a site has what its records say, and no more. */
#include "test/sim/checkers/edge.h"

#include "common/lifecycle/tracked.h"
#include "common/model/edge_name.h"
#include "crm/app_lrp.h"
#include "models/desired_lrp.pb-c.h"

#include <string.h>

/* Beyond the 2 s: until a leader that was only just elected has looked, and the look itself, which
 * comes once a second. */
#define LATE_NS (5 * SECOND_NS)
#define LEADS_NS (20 * SECOND_NS)

struct late_look {
    struct checkers *k;
    int64_t wall_ns;
};

static const Board__EdgeOperation *operation_of(const struct past *p)
{
    const struct tracked_head *o = edge_head(p);
    return o                            ? o->operation
           : p->type == RECORD_CLOUDLET ? ((const Board__CloudletRecord *)p->message)->operation
                                        : NULL;
}

static void look_for_late(void *context, const struct past *p)
{
    struct late_look *x = context;
    const Board__EdgeOperation *o = operation_of(p);
    if (o && o->deadline && !o->overdue && x->wall_ns - o->deadline > LATE_NS) {
        checkers_report(x->k, "EL3", "%s: the time of its %s was over %lld s ago", p->key, o->word,
                        (long long)((x->wall_ns - o->deadline) / SECOND_NS));
    }
}

void check_edge_deadlines(struct checkers *k)
{
    struct late_look x = {.k = k, .wall_ns = world_wall(k->cluster->world)};
    if (k->edge && k->edge->centre == k &&
        world_now(k->cluster->world) - k->touched_ns >= LEADS_NS) {
        history_each(&k->history, "clusterinst/", look_for_late, &x);
        history_each(&k->history, "appinst/", look_for_late, &x);
        history_each(&k->history, "cloudlet/", look_for_late, &x);
    }
}

struct rest_look {
    const struct checkers *centre;
    const struct edge_place *place; /* of EL2 */
    struct arena *arena;
    struct buf *why;
};

static void look_at(void *context, const struct past *p)
{
    struct rest_look *x = context;
    const struct tracked_head *o = edge_head(p);
    int state = edge_state(p);
    if (edge_is_busy(state)) {
        buf_printf(x->why, "%s is %s, request %llu (EL1); ", p->key, o->state,
                   (unsigned long long)o->request);
    } else if (state != TRACKED_READY && !(o->operation && *o->operation->error)) {
        buf_printf(x->why, "%s is %s, and does not say why (EL1); ", p->key, o->state);
    }
    if (state != TRACKED_READY) {
        return;
    }
    const struct edge_place *place =
        edge_place_named(x->centre->edge, edge_cloudlet_of(x->arena, o->name));
    const struct edge_version *v = edge_life_of(x->centre->edge, o->uid)->last;
    /* Excused, for the site may have no room for it: what a client took for READY without its
     * site's word; and what a restore took from the site, for another may have come first since. */
    if (place && v->told && !place->restored &&
        edge_whole_ns(place, o->uid, v->digest) != world_now(x->centre->cluster->world)) {
        buf_printf(x->why, "%s is READY, and its site has it not whole (EL2); ", p->key);
    }
}

/* Of what stands at a site, its record. */
static const struct tracked_head *record_of(const struct rest_look *x, const char *uid)
{
    const struct edge_life *life = edge_life_of(x->centre->edge, uid);
    const struct past *p = life ? map_get(&x->centre->history.now, life->key) : NULL;
    const struct tracked_head *o = edge_head(p);
    return o && strcmp(o->uid, uid) == 0 ? o : NULL;
}

static void look_at_held(void *context, const struct past *p)
{
    struct rest_look *x = context;
    const char *uid = key_component(x->arena, p->key, 1), *digest = "";
    bool own = p->type == RECORD_SLICE || app_lrp_parse(x->arena, uid, &uid, &digest);
    if (own && !record_of(x, uid)) {
        buf_printf(x->why, "%s has %s, of which there is no record (EL2); ", x->place->cloudlet,
                   p->key);
    }
}

static void look_at_cloudlet(void *context, const struct past *p)
{
    struct rest_look *x = context;
    const Board__CloudletInfoRecord *i = (const Board__CloudletInfoRecord *)p->message;
    if (strcmp(i->state, "READY") != 0) {
        buf_printf(x->why, "the CRM of %s is %s; ", i->name, i->state);
    }
}

void check_edge_rest(struct checkers *k, struct buf *ret_why)
{
    SCOPED_ARENA(a);
    struct rest_look x = {.centre = k, .arena = &a, .why = ret_why};
    if (!k->edge || k->edge->centre != k) {
        return;
    }
    history_each(&k->history, "clusterinst/", look_at, &x);
    history_each(&k->history, "appinst/", look_at, &x);
    history_each(&k->history, "cloudletinfo/", look_at_cloudlet, &x);
    for (unsigned i = 0; i < k->edge->place_count; i++) {
        x.place = &k->edge->places[i];
        history_each(&x.place->checkers->history, "slice/", look_at_held, &x);
        history_each(&x.place->checkers->history, "desired/", look_at_held, &x);
    }
}
