/* The lives of a centre's objects, and what each site has of them: taken down at each commit of
 * either board, for checks over two boards. A restore of the centre takes nothing of it back: what
 * a CRM heard it has heard. */
#include "test/sim/checkers/edge.h"

#include "common/lifecycle/tracked.h"
#include "crm/app_lrp.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"

#include <string.h>

enum { INDICES_MAX = 64 };

void edge_lives_init(struct edge_lives *l, struct checkers *centre)
{
    *l = (struct edge_lives){.centre = centre};
    arena_init(&l->arena);
    map_init(&l->lives);
    map_init(&l->words);
    centre->edge = l;
}

void edge_lives_add(struct edge_lives *l, struct checkers *site, const char *cloudlet)
{
    struct edge_place *p = &l->places[l->place_count++];
    *p = (struct edge_place){.checkers = site, .cloudlet = cloudlet};
    map_init(&p->held);
    site->edge = l;
}

void edge_lives_done(struct edge_lives *l)
{
    for (unsigned i = 0; i < l->place_count; i++) {
        map_done(&l->places[i].held, NULL);
    }
    map_done(&l->lives, NULL);
    map_done(&l->words, NULL);
    arena_done(&l->arena);
}

struct edge_place *edge_place_of(const struct checkers *k)
{
    for (unsigned i = 0; k->edge && i < k->edge->place_count; i++) {
        if (k->edge->places[i].checkers == k) {
            return &k->edge->places[i];
        }
    }
    return NULL;
}

struct edge_place *edge_place_named(const struct edge_lives *l, const char *cloudlet)
{
    for (unsigned i = 0; i < l->place_count; i++) {
        if (strcmp(l->places[i].cloudlet, cloudlet) == 0) {
            return (struct edge_place *)&l->places[i];
        }
    }
    return NULL;
}

void edge_heard(struct edge_lives *l, const struct node *crm)
{
    for (unsigned i = 0; i < l->place_count; i++) {
        if (l->places[i].checkers->cluster == node_cluster(crm)) {
            l->places[i].heard_ns = world_now(l->centre->cluster->world);
        }
    }
}

const struct edge_life *edge_life_of(const struct edge_lives *l, const char *uid)
{
    return map_get(&l->lives, uid);
}

int64_t edge_asked_ns(const struct edge_life *life)
{
    const struct edge_version *v = life->last;
    while (v->before && v->before->request == life->last->request &&
           strcmp(v->before->digest, life->last->digest) == 0) {
        v = v->before;
    }
    return v->at_ns;
}

/* ---- At the centre ---- */

static const char *digest_in(const struct past *p, bool former)
{
    if (p->type == RECORD_CLUSTERINST) {
        const Board__ClusterInstRecord *c = (const Board__ClusterInstRecord *)p->message;
        return former ? c->former_digest : c->digest;
    }
    const Board__AppInstRecord *r = (const Board__AppInstRecord *)p->message;
    return former ? r->former_digest : r->digest;
}

static void tell(const struct edge_lives *l, const struct edge_life *life, const struct past *p)
{
    const struct edge_version *v = life->last;
    if (l->tells &&
        !(v->before && v->before->state == v->state && v->before->request == v->request)) {
        world_note(l->centre->cluster->world, "centre", "%s %.8s is %s, request %llu, %s: %s by %s",
                   life->key, life->uid, tracked_lifecycle.states[v->state],
                   (unsigned long long)v->request, v->digest, p && p->cause ? p->cause->move : "",
                   p && p->cause ? p->cause->actor : "");
    }
}

static void add_version(struct edge_lives *l, const char *uid, const char *key,
                        const struct past *p, bool lost)
{
    struct edge_life *life = map_get(&l->lives, uid);
    int64_t now = world_now(l->centre->cluster->world);
    if (!life) {
        life = ARENA_NEW(&l->arena, struct edge_life);
        *life = (struct edge_life){.uid = arena_strdup(&l->arena, uid),
                                   .key = arena_strdup(&l->arena, key)};
        map_put(&l->lives, life->uid, life);
    }
    struct edge_version *v = ARENA_NEW(&l->arena, struct edge_version);
    bool stands = p && edge_head(p) && strcmp(edge_head(p)->uid, uid) == 0;
    *v = (struct edge_version){.before = life->last,
                               .at_ns = now,
                               .until_ns = NEVER_NS,
                               .state = stands ? edge_state(p) : TRACKED_NONE,
                               .request = stands       ? edge_head(p)->request
                                          : life->last ? life->last->request
                                                       : 0,
                               .digest = arena_strdup(&l->arena, stands ? digest_in(p, false) : ""),
                               .former_digest =
                                   arena_strdup(&l->arena, stands ? digest_in(p, true) : ""),
                               .lost = lost && !stands};
    bool ready = stands && p->cause && strcmp(p->cause->actor, "crm") == 0 &&
                 strcmp(p->cause->move, "ready") == 0;
    v->told =
        ready || (life->last && life->last->told && strcmp(life->last->digest, v->digest) == 0);
    if (life->last) {
        life->last->until_ns = now;
    }
    life->last = v;
    tell(l, life, p);
}

static void take_centre(struct edge_lives *l, const struct past *p)
{
    const struct tracked_head *is = edge_head(p), *was = edge_head(p->before);
    if (was && !(is && strcmp(is->uid, was->uid) == 0)) {
        add_version(l, was->uid, p->key, p, false);
    }
    if (is) {
        add_version(l, is->uid, p->key, p, false);
    }
}

/* ---- At a site ---- */

static const char *held_name(struct arena *a, const char *uid, const char *digest)
{
    return arena_printf(a, "%s %s", uid, digest);
}

static struct edge_held *held_of(struct edge_lives *l, struct edge_place *p, const char *uid,
                                 const char *digest)
{
    const char *name = held_name(&l->arena, uid, digest);
    struct edge_held *h = map_get(&p->held, name);
    if (!h) {
        h = ARENA_NEW(&l->arena, struct edge_held);
        *h = (struct edge_held){.last_whole_ns = NEVER_NS};
        map_put(&p->held, name, h);
    }
    return h;
}

static bool has_run(const struct edge_held *h)
{
    uint32_t wanted = h->wanted < INDICES_MAX ? h->wanted : INDICES_MAX;
    for (uint32_t i = 0; i < wanted; i++) {
        if (!(h->ran >> i & 1)) {
            return false;
        }
    }
    return true;
}

/* All that is held of an object, anew: whole is one that stands alone and has run. */
static void judge(struct edge_lives *l, struct edge_place *p, const char *uid)
{
    SCOPED_ARENA(a);
    const char *prefix = held_name(&a, uid, "");
    int64_t now = world_now(l->centre->cluster->world);
    unsigned standing = 0;
    for (int pass = 0; pass < 2; pass++) {
        struct map_node *n = map_from(&p->held, prefix);
        for (; n && strncmp(map_key(n), prefix, strlen(prefix)) == 0; n = map_next(n)) {
            struct edge_held *h = map_value(n);
            if (pass == 0) {
                standing += h->stands;
                continue;
            }
            bool whole = h->stands && standing == 1 && has_run(h);
            h->last_whole_ns = h->whole || whole ? now : h->last_whole_ns;
            h->whole = whole;
        }
    }
}

int64_t edge_whole_ns(const struct edge_place *p, const char *uid, const char *digest)
{
    SCOPED_ARENA(a);
    const struct edge_held *h = map_get(&p->held, held_name(&a, uid, digest));
    return !h ? NEVER_NS : h->whole ? world_now(p->checkers->cluster->world) : h->last_whole_ns;
}

static void take_slice(struct edge_lives *l, struct edge_place *p, const struct past *one)
{
    const Board__SliceRecord *was =
        one->before ? (const Board__SliceRecord *)one->before->message : NULL;
    const Board__SliceRecord *is = (const Board__SliceRecord *)one->message;
    if (was) {
        held_of(l, p, was->uid, was->digest)->stands = false;
        judge(l, p, was->uid);
    }
    if (is) {
        held_of(l, p, is->uid, is->digest)->stands = true;
        judge(l, p, is->uid);
    }
}

static void take_desired(struct edge_lives *l, struct edge_place *p, const struct past *one)
{
    SCOPED_ARENA(a);
    const char *uid, *digest;
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)one->message;
    if (!app_lrp_parse(&a, key_component(&a, one->key, 1), &uid, &digest)) {
        return;
    }
    struct edge_held *h = held_of(l, p, uid, digest);
    h->ran = d && h->stands ? h->ran : 0;
    h->stands = d != NULL;
    h->wanted = d ? (uint32_t)d->instances : 0;
    judge(l, p, uid);
}

static void take_actual(struct edge_lives *l, struct edge_place *p, const struct past *one)
{
    SCOPED_ARENA(a);
    const char *uid, *digest;
    const Models__ActualLRP *r = (const Models__ActualLRP *)one->message;
    if (!r || strcmp(r->state, "RUNNING") != 0 ||
        !app_lrp_parse(&a, r->actual_lrp_key->process_guid, &uid, &digest)) {
        return;
    }
    struct edge_held *h = held_of(l, p, uid, digest);
    if (r->actual_lrp_key->index < INDICES_MAX) {
        h->ran |= (uint64_t)1 << r->actual_lrp_key->index;
    }
    judge(l, p, uid);
}

/* ---- Both ---- */

void note_edge_lives(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    (void)commit;
    struct edge_place *place = edge_place_of(k);
    for (size_t i = 0; k->edge && i < p->count; i++) {
        const struct past *one = p->list[i];
        if (!place && (one->type == RECORD_CLUSTERINST || one->type == RECORD_APPINST)) {
            take_centre(k->edge, one);
        } else if (place && one->type == RECORD_SLICE) {
            take_slice(k->edge, place, one);
        } else if (place && one->type == RECORD_DESIRED) {
            take_desired(k->edge, place, one);
        } else if (place && one->type == RECORD_ACTUAL) {
            take_actual(k->edge, place, one);
        }
    }
}

/* What the centre has after a restore, against what was known: what it has not any more is lost. */
static void take_restored(struct edge_lives *l)
{
    MAP_EACH(&l->lives, n)
    {
        const struct edge_life *life = map_value(n);
        const struct past *p = map_get(&l->centre->history.now, life->key);
        bool stands = edge_head(p) && strcmp(edge_head(p)->uid, life->uid) == 0;
        if (stands || life->last->state != TRACKED_NONE) {
            add_version(l, life->uid, life->key, stands ? p : NULL, true);
        }
    }
}

static void take_board(struct edge_lives *l, struct edge_place *p, const char *prefix,
                       void (*take)(struct edge_lives *, struct edge_place *, const struct past *))
{
    struct map_node *n = map_from(&p->checkers->history.now, prefix);
    for (; n && strncmp(map_key(n), prefix, strlen(prefix)) == 0; n = map_next(n)) {
        const struct past *one = map_value(n);
        if (one->message) {
            take(l, p, &(struct past){.key = one->key, .type = one->type, .message = one->message});
        }
    }
}

/* All of a site's board anew. */
static void take_site(struct edge_lives *l, struct edge_place *p)
{
    MAP_EACH(&p->held, n)
    {
        struct edge_held *h = map_value(n);
        int64_t now = world_now(l->centre->cluster->world);
        h->last_whole_ns = h->whole ? now : h->last_whole_ns;
        h->stands = h->whole = false;
        h->ran = 0;
    }
    take_board(l, p, "slice/", take_slice);
    take_board(l, p, "desired/", take_desired);
    take_board(l, p, "actual/", take_actual);
}

void note_edge_restored(struct checkers *k)
{
    struct edge_place *p = edge_place_of(k);
    if (p) {
        p->restored = true;
        take_site(k->edge, p);
    } else if (k->edge) {
        take_restored(k->edge);
    }
}
