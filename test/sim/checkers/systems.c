/* Nothing is left of a system that is gone, and nothing comes without one (Y9). Systems at rest:
 * each is what its services and pools make of it (Y5), every deploy, teardown, build, run and
 * deletion has ended (YL1), no service is between two states (YL2), and nothing changes any more
 * (YL3). */
#include "common/lifecycle/service.h"
#include "test/sim/checkers/checkers.h"

#include <string.h>

#define STILL_NS (3 * SECOND_NS)

static bool of_systems(enum record_type type)
{
    return type == RECORD_SYSTEM || type == RECORD_HEAD || type == RECORD_HOLD ||
           type == RECORD_BUILD || type == RECORD_DEPLOY || type == RECORD_TEARDOWN ||
           type == RECORD_SERVICE || type == RECORD_TREE || type == RECORD_INDEX ||
           type == RECORD_JOB_RUN || type == RECORD_POOL;
}

/* ---- Y9: nothing of a uid without its system ------------------------------------------------- */

static const enum record_type of_uid[] = {RECORD_HEAD,    RECORD_HOLD,     RECORD_BUILD,
                                          RECORD_DEPLOY,  RECORD_TEARDOWN, RECORD_SERVICE,
                                          RECORD_REVISION, RECORD_JOB_RUN, RECORD_SECRET,
                                          RECORD_VERSIONS, RECORD_POOL};

static void report_left(void *context, const struct past *p)
{
    checkers_report(context, "Y9", "%s is left of a system that is gone", p->key);
}

/* The key itself, or those below it: a uid is never the beginning of another one. */
static void check_gone(struct checkers *k, const char *uid)
{
    SCOPED_ARENA(a);
    for (size_t i = 0; i < sizeof(of_uid) / sizeof(of_uid[0]); i++) {
        const char *range = key_range_of(&a, of_uid[i], uid);
        history_each(&k->history, arena_strndup(&a, range, strlen(range) - 1), report_left, k);
    }
}

struct owner_sought {
    const char *uid;
    bool found;
};

static void note_owner(void *context, const struct past *p)
{
    struct owner_sought *s = context;
    s->found = s->found || strcmp(((const Board__SystemRecord *)p->message)->uid, s->uid) == 0;
}

/* What comes new has a system. */
static void check_owned(struct checkers *k, const struct past *p)
{
    SCOPED_ARENA(a);
    bool owned = false;
    for (size_t i = 0; i < sizeof(of_uid) / sizeof(of_uid[0]); i++) {
        owned = owned || p->type == of_uid[i];
    }
    struct owner_sought s = {owned ? key_component(&a, p->key, 1) : "apps", false};
    if (strcmp(s.uid, "apps") != 0) {
        history_each(&k->history, "system/", note_owner, &s);
        if (!s.found) {
            checkers_report(k, "Y9", "%s is made, and its system is not there", p->key);
        }
    }
}

static void check_system_parts(struct checkers *k, const struct past *p)
{
    bool was = p->before && p->before->message;
    if (p->type == RECORD_SYSTEM && was && !p->message) {
        check_gone(k, ((const Board__SystemRecord *)p->before->message)->uid);
    } else if (!was && p->message) {
        check_owned(k, p);
    }
}

void note_system_changes(struct checkers *k, const struct passage *p,
                         const struct world_commit *commit)
{
    (void)commit;
    for (size_t i = 0; i < p->count; i++) {
        check_system_parts(k, p->list[i]);
        if (of_systems(p->list[i]->type)) {
            k->system_change_ns = p->at_ns;
        }
    }
}

/* ---- Y5 -------------------------------------------------------------------------------------- */

struct counted {
    size_t failed, moving, scaling, all;
};

static void count_service(void *context, const struct past *p)
{
    struct counted *c = context;
    const char *state = ((const Board__ServiceRecord *)p->message)->state;
    c->all++;
    c->failed += strcmp(state, "failed") == 0;
    c->scaling += strcmp(state, "scaling") == 0;
    c->moving += strcmp(state, "pending") == 0 || strcmp(state, "updating") == 0 ||
                 strcmp(state, "deleting") == 0;
}

/* A service's own is the service's affair. */
static void count_pool(void *context, const struct past *p)
{
    struct counted *c = context;
    const Board__PoolRecord *pool = (const Board__PoolRecord *)p->message;
    if (pool->name[strlen(pool->name) - 1] != ':') {
        c->failed += strcmp(pool->state, "failed") == 0;
        c->scaling += strcmp(pool->state, "scaling") == 0;
        c->moving += strcmp(pool->state, "pending") == 0 || strcmp(pool->state, "updating") == 0 ||
                     strcmp(pool->state, "deleting") == 0;
    }
}

/* The rows of design, written down anew. */
static const char *state_by_services(struct checkers *k, const char *uid)
{
    SCOPED_ARENA(a);
    struct counted c = {0};
    const Board__HeadRecord *head =
        (const Board__HeadRecord *)history_now(&k->history, key_head(&a, uid));
    history_each(&k->history, key_range_of(&a, RECORD_SERVICE, uid), count_service, &c);
    history_each(&k->history, key_range_of(&a, RECORD_POOL, uid), count_pool, &c);
    bool told = !head || head->spread >= head->generation;
    return c.failed            ? "degraded"
           : c.moving || !told ? "updating"
           : c.scaling         ? "scaling"
                               : "stable";
}

struct resting {
    struct checkers *k;
    struct buf *why;
};

/* YL1, YL2: what nobody has confirmed since a restore stands still; the swarm confirms it. */
static void rest_system(void *context, const struct past *p)
{
    struct resting *r = context;
    const Board__SystemRecord *s = (const Board__SystemRecord *)p->message;
    const char *state = state_by_services(r->k, s->uid);
    if (strcmp(s->state, "pending") == 0 || strcmp(s->state, "deleting") == 0) {
        buf_printf(r->why, "system %s is %s (YL1); ", s->id, s->state);
    } else if (strcmp(s->state, "failed") != 0 && strcmp(s->state, state) != 0) {
        buf_printf(r->why, "system %s is %s, and by its services and pools %s (Y5); ",
                   s->id, s->state, state);
    } else if (strcmp(s->state, "updating") == 0) {
        buf_printf(r->why, "system %s is updating: %s (YL2); ", s->id, s->message);
    }
}

static void rest_over(struct resting *r, const struct past *p, const char *state,
                      const char *message)
{
    if (strcmp(state, "succeeded") != 0 && strcmp(state, "failed") != 0) {
        buf_printf(r->why, "%s is %s: %s (YL1); ", p->key, state, message);
    }
}

static void rest_deploy(void *context, const struct past *p)
{
    const Board__DeployRecord *d = (const Board__DeployRecord *)p->message;
    rest_over(context, p, d->state, d->message);
}

static void rest_teardown(void *context, const struct past *p)
{
    const Board__TeardownRecord *t = (const Board__TeardownRecord *)p->message;
    rest_over(context, p, t->state, t->message);
}

static void rest_build(void *context, const struct past *p)
{
    const Board__BuildRecord *b = (const Board__BuildRecord *)p->message;
    rest_over(context, p, b->state, b->message);
    if (b->n_stale > 0) {
        buf_printf(((struct resting *)context)->why, "%s has trees to be collected; ", p->key);
    }
}

/* A run waits for its node pool for as long as that has not its cells, also when a later definition
 * has it no more: until somebody cancels it. */
static bool waits_for_pool(struct checkers *k, const Board__JobRunRecord *r)
{
    SCOPED_ARENA(a);
    const Board__PoolRecord *pool =
        *r->pool ? (const Board__PoolRecord *)history_now(&k->history,
                                                          key_pool(&a, r->uid, r->pool))
                 : NULL;
    return *r->pool && strcmp(r->state, "pending") == 0 && *r->message &&
           !(pool && strcmp(pool->state, "stable") == 0);
}

static void rest_run(void *context, const struct past *p)
{
    const Board__JobRunRecord *r = (const Board__JobRunRecord *)p->message;
    if (!waits_for_pool(((struct resting *)context)->k, r)) {
        rest_over(context, p, r->state, r->message);
    }
}

/* Of a tree that no build names nothing is left. */
static void rest_tree(void *context, const struct past *p)
{
    struct resting *r = context;
    SCOPED_ARENA(a);
    const char *tree = key_component(&a, p->key, 1);
    if (!history_now(&r->k->history, key_index(&a, tree))) {
        buf_printf(r->why, "%s is of a tree without an index; ", p->key);
    }
}

static void rest_service(void *context, const struct past *p)
{
    struct resting *r = context;
    const Board__ServiceRecord *s = (const Board__ServiceRecord *)p->message;
    if (strcmp(s->uid, "apps") != 0 && strcmp(s->state, "stable") != 0 &&
        strcmp(s->state, "failed") != 0) {
        buf_printf(r->why, "%s is %s: %s (YL2); ", p->key, s->state, s->message);
    }
}

void check_systems_rest(struct checkers *k, struct buf *ret_why)
{
    struct resting r = {k, ret_why};
    history_each(&k->history, "system/", rest_system, &r);
    history_each(&k->history, "deploy/", rest_deploy, &r);
    history_each(&k->history, "teardown/", rest_teardown, &r);
    history_each(&k->history, "build/", rest_build, &r);
    history_each(&k->history, "jobrun/", rest_run, &r);
    history_each(&k->history, "tree/", rest_tree, &r);
    history_each(&k->history, "service/", rest_service, &r);
    if (k->system_change_ns && world_now(k->cluster->world) - k->system_change_ns < STILL_NS) {
        buf_append_string(ret_why, "systems still change (YL3); ");
    }
}
