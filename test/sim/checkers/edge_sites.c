/* E3, E4, E5, E8, E14: what a CRM says of its site is so, and what it does there the centre wants.
 * E9 is in these and the core's: whatever stands at a site goes for a reason that E8 knows, and a
 * container runs until the board releases it (containers.c), cut off or not. */
#include "test/sim/checkers/edge.h"

#include "common/lifecycle/tracked.h"
#include "common/model/edge_name.h"
#include "crm/app_lrp.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"

#include <string.h>

/* A CRM goes by the site's board as it was told: by a watch that stalled, or lagged. */
#define TOLD_LATE_NS (15 * SECOND_NS)
/* And by the centre's, whose feed may stand still while other calls are answered; and what it then
 * asks of the site may be under way for as long. */
#define DONE_LATE_NS (20 * SECOND_NS)

/* ---- What it says ---- */

static void check_whole(struct checkers *k, const struct past *p, const struct tracked_head *o,
                        const char *digest, int64_t since_ns, const char *invariant)
{
    SCOPED_ARENA(a);
    const struct edge_place *place = edge_place_named(k->edge, edge_cloudlet_of(&a, o->name));
    int64_t whole_ns = place ? edge_whole_ns(place, o->uid, digest) : NEVER_NS;
    if (whole_ns == NEVER_NS || whole_ns < since_ns - TOLD_LATE_NS) {
        checkers_report(k, invariant, "%s: %s of digest %s, which the site %s", p->key,
                        p->cause->move, digest,
                        whole_ns == NEVER_NS ? "never had whole" : "did not have whole then");
    }
}

struct left {
    const char *uid;
    int64_t now_ns;
    const char *key; /* of what is left; NULL = nothing */
};

/* A hole: a CRM that desired it moments ago, and is told of that late, says that nothing is there
 * when the delete comes. It goes by the next comparison; but "deleted" was told before (seed 2028).
 */
static bool is_news(const struct past *p, int64_t now_ns)
{
    const struct past *first = p;
    while (first->before && first->before->message) {
        first = first->before;
    }
    return now_ns - first->at_ns < TOLD_LATE_NS;
}

static void note_left(void *context, const struct past *p)
{
    struct left *l = context;
    if (is_news(p, l->now_ns)) {
        return;
    }
    SCOPED_ARENA(a);
    const char *uid, *digest;
    const char *guid = key_component(&a, p->key, 1);
    if (app_lrp_parse(&a, guid, &uid, &digest) && strcmp(uid, l->uid) == 0) {
        l->key = p->key;
    }
}

static void check_gone(struct checkers *k, const struct past *p, const struct tracked_head *was)
{
    SCOPED_ARENA(a);
    struct left l = {.uid = was->uid, .now_ns = world_now(k->cluster->world)};
    const struct edge_place *place = edge_place_named(k->edge, edge_cloudlet_of(&a, was->name));
    if (!place) {
        return;
    }
    const struct history *h = &place->checkers->history;
    history_each(h, "desired/", note_left, &l);
    history_each(h, "actual/", note_left, &l);
    const char *slice = key_slice(&a, was->uid);
    l.key = history_now(h, slice) ? slice : l.key;
    if (l.key) {
        checkers_report(k, "E4", "%s is deleted, and its site has %s", p->key, l.key);
    }
}

static bool is_move_of(const struct past *p, const char *actor, const char *move)
{
    return p->cause && strcmp(p->cause->actor, actor) == 0 && strcmp(p->cause->move, move) == 0;
}

static bool has_begun(int state)
{
    return state == TRACKED_CREATING || state == TRACKED_UPDATING || state == TRACKED_DELETING;
}

/* What a site has begun ends by its word, or by that of a client who takes over; and each word of
 * the site that leads it on gives it all of its time again. Whatever the table of lifecycles says,
 * which the product goes by as well. */
static void check_time(struct checkers *k, const struct past *p)
{
    const struct tracked_head *was = edge_head(p->before), *is = edge_head(p);
    int from = edge_state(p->before), to = edge_state(p);
    bool converger = p->cause && strcmp(p->cause->actor, "converger") == 0;
    if (converger && has_begun(from) && to != from) {
        checkers_report(k, "E1", "%s: %s by the converger ends what the site has begun", p->key,
                        p->cause->move);
    }
    bool crm = p->cause && strcmp(p->cause->actor, "crm") == 0;
    const Board__EdgeOperation *o = is ? is->operation : NULL;
    if (crm && was && o && from != to && edge_is_busy(to) && o->limit_ns &&
        o->deadline != is->since + o->limit_ns) {
        checkers_report(k, "E1", "%s: %s does not give it its time again", p->key, p->cause->move);
    }
}

static void check_word(struct checkers *k, const struct past *p)
{
    const struct tracked_head *was = edge_head(p->before), *is = edge_head(p);
    const struct edge_life *life = is ? edge_life_of(k->edge, is->uid) : NULL;
    bool same = is && was && strcmp(is->uid, was->uid) == 0;
    if (is_move_of(p, "crm", "ready") && same && edge_state(p) != edge_state(p->before)) {
        check_whole(k, p, is, life->last->digest, edge_asked_ns(life), "E3");
        k->seen[SEEN_READY_AT_SITES]++;
    } else if (is_move_of(p, "crm", "deleted") && !is && was) {
        check_gone(k, p, was);
        k->seen[SEEN_GONE_AT_SITES]++;
    } else if (is_move_of(p, "converger", "undo") && same &&
               edge_state(p->before) == TRACKED_UPDATE_ERROR) {
        check_whole(k, p, is, life->last->digest, p->before->at_ns, "E14");
    }
}

/* ---- What it does ---- */

/* Whether some version that its CRM may have gone by lets the site remove this digest. */
static bool may_go(const struct edge_place *place, const struct edge_life *life, const char *digest)
{
    int64_t now = world_now(place->checkers->cluster->world);
    int64_t from_ns = earlier_ns(place->heard_ns, now) - DONE_LATE_NS;
    for (const struct edge_version *v = life ? life->last : NULL; v && v->until_ns > from_ns;
         v = v->before) {
        bool gone = v->state == TRACKED_NONE && !v->lost;
        bool goes = v->state == TRACKED_DELETE_REQUESTED || v->state == TRACKED_DELETING;
        /* It gives up, and removes what it made. */
        bool undone = v->state == TRACKED_CREATE_REQUESTED || v->state == TRACKED_CREATING ||
                      v->state == TRACKED_UPDATE_REQUESTED || v->state == TRACKED_UPDATING;
        if (gone || goes || undone ||
            (v->state != TRACKED_NONE && strcmp(v->digest, digest) != 0)) {
            return true;
        }
    }
    return false;
}

/* What a restore took from the centre may go when a client has confirmed the board that is there
 * now. */
static bool is_confirmed(const struct edge_place *place)
{
    SCOPED_ARENA(a);
    const Board__CloudletRecord *c = (const Board__CloudletRecord *)history_now(
        &place->checkers->edge->centre->history, key_edge(&a, RECORD_CLOUDLET, place->cloudlet));
    return c && *c->confirmed_generation;
}

static void check_removal(struct checkers *k, const struct edge_place *place, const char *uid,
                          const char *digest, const struct past *p)
{
    const struct edge_life *life = edge_life_of(k->edge, uid);
    bool lost = life && life->last->lost;
    if (!life) {
        checkers_report(k, "E8", "%s is removed, which the centre never had", p->key);
    } else if (!may_go(place, life, digest) && !(lost && is_confirmed(place))) {
        checkers_report(k, "E8", "%s is removed, and %s is %s, request %llu, digest %s", p->key,
                        life->key,
                        life->last->lost ? "lost" : tracked_lifecycle.states[life->last->state],
                        (unsigned long long)life->last->request, life->last->digest);
    }
    k->seen[SEEN_REMOVED_AT_SITES]++;
}

static bool knew(const struct edge_life *life, const char *digest)
{
    for (const struct edge_version *v = life ? life->last : NULL; v; v = v->before) {
        if (strcmp(v->digest, digest) == 0) {
            return true;
        }
    }
    return false;
}

/* Two of one object stand beside one another only in an update: the centre wanted either. */
static void check_beside(struct checkers *k, const struct edge_place *place, const char *uid,
                         const char *digest, const struct past *p)
{
    SCOPED_ARENA(a);
    const struct edge_life *life = edge_life_of(k->edge, uid);
    const char *prefix = arena_printf(&a, "%s ", uid);
    struct map_node *n = map_from(&place->held, prefix);
    for (; n && strncmp(map_key(n), prefix, strlen(prefix)) == 0; n = map_next(n)) {
        const struct edge_held *h = map_value(n);
        const char *other = map_key(n) + strlen(prefix);
        if (h->stands && strcmp(other, digest) != 0 && !(knew(life, digest) && knew(life, other))) {
            checkers_report(k, "E5", "%s stands beside digest %s, and the centre did not want both",
                            p->key, other);
        }
    }
}

static void check_site(struct checkers *k, const struct edge_place *place, const struct past *p)
{
    SCOPED_ARENA(a);
    const char *uid = NULL, *digest = NULL;
    const Board__SliceRecord *was = p->type == RECORD_SLICE && p->before
                                        ? (const Board__SliceRecord *)p->before->message
                                        : NULL;
    if (p->type == RECORD_SLICE && was && !p->message) {
        check_removal(k, place, was->uid, was->digest, p);
    } else if (p->type == RECORD_DESIRED &&
               app_lrp_parse(&a, key_component(&a, p->key, 1), &uid, &digest)) {
        if (p->message) {
            check_beside(k, place, uid, digest, p);
        } else if (p->before && p->before->message) {
            check_removal(k, place, uid, digest, p);
        }
    }
}

void check_edge_sites(struct checkers *k, const struct passage *p,
                      const struct world_commit *commit)
{
    (void)commit;
    const struct edge_place *place = edge_place_of(k);
    for (size_t i = 0; k->edge && i < p->count; i++) {
        const struct past *one = p->list[i];
        if (place) {
            check_site(k, place, one);
        } else if (one->type == RECORD_CLUSTERINST || one->type == RECORD_APPINST) {
            check_word(k, one);
            check_time(k, one);
        }
    }
}
