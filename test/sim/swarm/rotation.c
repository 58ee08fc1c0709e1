/* An operator who rotates the keys of secrets: he puts a new key on each machine, restarts one bbs
 * after the other, and seals the systems by the new key when each bbs has it. Until then a bbs that
 * has it seals new systems by it, and the others cannot open what they need. He finishes whatever
 * befalls the cluster, also after all else is healed. In the end each system is sealed by it. In a
 * calm seed nothing is restarted, so nobody rotates. */
#include "test/sim/swarm/inside.h"

#include "common/codec/scan.h"
#include "secret_api.pb-c.h"

#define BEGINS_MAX_NS (30 * SECOND_NS)
#define LOOKS_NS (500 * MILLISECOND_NS)
#define DOWN_MAX_NS (2 * SECOND_NS)
#define ASK_LIMIT_NS (5 * SECOND_NS)

enum { NEW_KEYS = 2 };

struct rotation {
    struct workload *work;
    int64_t begun_ns; /* the new key is there since then; 0 = not yet */
    unsigned at;      /* of the bbs: those before have it */
    bool asks;        /* an answer is awaited */
};

static void begin(struct workload *w)
{
    struct rotation *o = w->own = ARENA_NEW(&w->swarm->arena, struct rotation);
    o->work = w;
    w->due_ns = w->swarm->calm ? NEVER_NS : (int64_t)random_below(&w->random, BEGINS_MAX_NS);
}

/* ---- Each bbs is given it -------------------------------------------------------------------- */

/* Whoever dies meanwhile has it when he is started. */
static void give_next(struct rotation *o)
{
    struct swarm *s = o->work->swarm;
    struct node *n = s->cluster->bbs[o->at];
    uint64_t reloads;
    if (!node_up(n) || node_paused(n)) {
        return;
    }
    if (node_started_ns(n) > o->begun_ns) {
        o->at += checkers_has_copy(&s->checkers, o->at, &reloads);
        return;
    }
    struct open_fault f = {.kind = FAULT_ROLLING, .node = n};
    world_note(s->world, "operator", "restarts %s with the new key", node_name(n));
    world_kill(s->world, n);
    swarm_restart_at(s, n,
                     world_now(s->world) + (int64_t)random_below(&o->work->random, DOWN_MAX_NS));
    checkers_touch(&s->checkers, -1);
    bounds_fault(s, &f);
}

/* ---- Systems are sealed by it ---------------------------------------------------------------- */

static void answered(void *context, int status, struct bytes body)
{
    struct rotation *o = context;
    struct swarm *s = o->work->swarm;
    SCOPED_ARENA(a);
    ProtobufCMessage *m;
    o->asks = false;
    world_note(s->world, "operator", "is answered %d: rewrap", status);
    if (status == 0 || status == 503) {
        return;
    }
    bool decoded = status == 200 && scan_and_unpack(&a, &board__rewrap_response__descriptor, body,
                                                    1 << 16, &m, NULL) == 0;
    const Models__Error *error = decoded ? ((const Board__RewrapResponse *)m)->error : NULL;
    if (!decoded || (error && error->type != MODELS__ERROR__TYPE__ResourceNotFound)) {
        checkers_report(&s->checkers, "Y8", "a system is not sealed by the new key: %d %s", status,
                        error ? error->message : "");
    } else {
        s->result->done[DONE_REWRAPPED] += !error;
    }
}

/* One that is sealed by an older key; NULL = none is. */
static void note_older(void *context, const struct past *p)
{
    const Board__SystemRecord *r = (const Board__SystemRecord *)p->message;
    if (r->data_key && r->data_key->key < NEW_KEYS) {
        *(const Board__SystemRecord **)context = r;
    }
}

static const Board__SystemRecord *older(const struct workload *w)
{
    const Board__SystemRecord *found = NULL;
    history_each(&w->swarm->checkers.history, "system/", note_older, &found);
    return found;
}

static void rewrap_one(struct rotation *o)
{
    struct swarm *s = o->work->swarm;
    const Board__SystemRecord *r = older(o->work);
    if (o->asks || !r) {
        return;
    }
    Board__RewrapRequest request = BOARD__REWRAP_REQUEST__INIT;
    uint64_t bbs = random_below(&o->work->random, s->cluster->options.bbs);
    request.system = r->id;
    o->asks = true;
    world_send(s->world, node_url(s->cluster->bbs[bbs]), "/v1/board/keys/rewrap", &request.base,
               ASK_LIMIT_NS, answered, o);
}

static void step(struct workload *w)
{
    struct rotation *o = w->own;
    struct cluster *c = w->swarm->cluster;
    int64_t now = world_now(w->swarm->world);
    w->due_ns = now + LOOKS_NS;
    if (!o->begun_ns) {
        world_note(w->swarm->world, "operator", "puts a new key on each machine");
        w->swarm->result->faults[FAULT_ROLLING]++;
        c->keys = NEW_KEYS;
        o->begun_ns = now;
    } else if (o->at < c->options.bbs) {
        give_next(o);
    } else {
        rewrap_one(o);
    }
}

static void rest(struct workload *w, struct buf *ret_why)
{
    const struct rotation *o = w->own;
    const Board__SystemRecord *r = o->begun_ns ? older(w) : NULL;
    if (o->begun_ns && o->at < w->swarm->cluster->options.bbs) {
        buf_append_string(ret_why, "not each bbs has the new key; ");
    }
    if (r) {
        buf_printf(ret_why, "system %s is sealed by an older key; ", r->id);
    }
}

const struct workload_ops rotation_workload = {.begin = begin, .step = step, .rest = rest};
