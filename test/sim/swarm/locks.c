/* Owners outside the cluster who fight for a few names, through any bbs (rep-auctioneer.md 6). Each
 * renews what it holds, gives it back at times, and at times falls silent; and each knows for how
 * long it may call a name its own: since it sent what was granted, for the time to live. No two
 * ever do at once. It goes on until the end, also when all is healed. */
#include "models/locket.pb-c.h"
#include "test/sim/swarm/inside.h"

#define ASK_LIMIT_NS (10 * SECOND_NS)
#define STEP_NS (1 * SECOND_NS)

enum { OWNERS_MAX = 5, COLLISION = -6, UNAVAILABLE = -14 };

struct locks;

/* Somebody outside who wants a name. */
struct lock_owner {
    struct locks *locks;
    struct swarm *swarm;
    unsigned number;
    unsigned life; /* part of who he is: a new one when a release may come late */
    int64_t ttl_s;
    int64_t until_ns;        /* the name is his until then, as far as he knows; 0 = it is not */
    int64_t silent_until_ns; /* he asks for nothing */
    bool asks, releases;     /* an answer is awaited; what was asked last */
    int64_t sent_ns;
    unsigned restores; /* of etcd when he asked */
};

struct locks {
    struct workload *work;
    struct lock_owner owners[OWNERS_MAX];
    unsigned count;
};

static const char *name_of(const struct lock_owner *o)
{
    return o->number % 2 ? "name-1" : "name-2";
}

static void granted(struct lock_owner *o)
{
    struct swarm *s = o->swarm;
    o->until_ns = o->sent_ns + o->ttl_s * SECOND_NS;
    s->result->done[DONE_LOCKED]++;
    if (o->until_ns <= world_now(s->world)) {
        return; /* the answer was so long on its way that what it grants is over */
    }
    for (unsigned i = 0; i < o->locks->count; i++) {
        const struct lock_owner *other = &o->locks->owners[i];
        if (other != o && other->number % 2 == o->number % 2 &&
            other->restores == o->restores && other->until_ns > world_now(s->world)) {
            checkers_report(&s->checkers, "locks", "%s is given to owner-%u, and owner-%u has it",
                            name_of(o), o->number, other->number);
        }
    }
}

static void answered(void *context, int status, struct bytes body)
{
    struct lock_owner *o = context;
    struct swarm *s = o->swarm;
    world_note(s->world, "owner", "owner-%u %s %s: %d", o->number,
               o->releases ? "releases" : "locks", name_of(o), status);
    o->asks = false;
    o->life += o->releases && status != 200 && status != COLLISION;
    /* What was granted before a restore has never been. */
    if (o->restores != s->checkers.history.restores) {
        return;
    }
    if (status == 200 && !o->releases) {
        granted(o);
    } else if (status != 200 && status != 0 && status != COLLISION && status != UNAVAILABLE) {
        checkers_report(&s->checkers, "locks", "owner-%u is answered %d: %.*s", o->number, status,
                        (int)body.size, (const char *)body.data);
    } else if (status == COLLISION && !o->releases && o->until_ns > world_now(s->world)) {
        checkers_report(&s->checkers, "locks", "owner-%u has %s and may not renew it", o->number,
                        name_of(o));
    }
}

static void send(struct lock_owner *o)
{
    struct swarm *s = o->swarm;
    Models__Resource resource = MODELS__RESOURCE__INIT;
    Models__LockRequest lock = MODELS__LOCK_REQUEST__INIT;
    Models__ReleaseRequest release = MODELS__RELEASE_REQUEST__INIT;
    resource.key = (char *)(uintptr_t)name_of(o);
    resource.owner = arena_printf(&s->arena, "owner-%u.%u", o->number, o->life);
    resource.type_code = MODELS__TYPE_CODE__LOCK;
    lock.resource = release.resource = &resource;
    lock.ttl_in_seconds = o->ttl_s;
    uint64_t bbs = random_below(&o->locks->work->random, s->cluster->options.bbs);
    o->asks = true;
    o->sent_ns = world_now(s->world);
    o->restores = s->checkers.history.restores;
    world_send(s->world, node_url(s->cluster->bbs[bbs]),
               o->releases ? "/models.Locket/Release" : "/models.Locket/Lock",
               o->releases ? &release.base : &lock.base, ASK_LIMIT_NS, answered, o);
}

static void begin(struct workload *w)
{
    struct locks *l = w->own = ARENA_NEW(&w->swarm->arena, struct locks);
    l->work = w;
    l->count = 2 + (unsigned)random_below(&w->random, OWNERS_MAX - 1);
    for (unsigned i = 0; i < l->count; i++) {
        l->owners[i] = (struct lock_owner){
            .locks = l,
            .swarm = w->swarm,
            .number = i + 1,
            .ttl_s = 2 + (int64_t)random_below(&w->random, 7),
        };
    }
}

/* A released name is no longer its own from the moment it asks. */
static void step(struct workload *w)
{
    struct swarm *s = w->swarm;
    struct locks *l = w->own;
    int64_t now = world_now(s->world);
    w->due_ns = now + STEP_NS;
    for (unsigned i = 0; i < l->count; i++) {
        struct lock_owner *o = &l->owners[i];
        uint64_t whim = random_below(&w->random, 100);
        if (o->restores != s->checkers.history.restores) {
            o->until_ns = 0;
        }
        if (o->asks || now < o->silent_until_ns) {
            continue;
        }
        o->releases = whim < 5;
        if (o->releases) {
            o->until_ns = 0;
        } else if (whim < 15) {
            o->silent_until_ns = now + 2 * o->ttl_s * SECOND_NS;
            continue;
        }
        send(o);
    }
}

const struct workload_ops locks_workload = {.begin = begin, .step = step};
