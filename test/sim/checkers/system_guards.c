/* S12 of systems, builds, deploys and teardowns: which guards of their lifecycles held, as the
 * records stood just before a change. */
#include "common/lifecycle/build.h"
#include "common/lifecycle/deploy.h"
#include "common/lifecycle/system.h"
#include "common/lifecycle/teardown.h"
#include "common/model/component_path.h"
#include "test/sim/checkers/checkers.h"

#include <string.h>

static const ProtobufCMessage *just_before(struct checkers *k, const struct past *p,
                                           const char *key)
{
    const struct past *found = history_at(&k->history, key, p->revision - 1);
    return found ? found->message : NULL;
}

/* Its state before; SYSTEM_NONE of one of another uid. */
static int system_before(struct checkers *k, struct arena *a, const struct past *p, const char *id,
                         const char *uid)
{
    const Board__SystemRecord *s =
        (const Board__SystemRecord *)just_before(k, p, key_system(a, id));
    bool same = s && strcmp(s->uid, uid) == 0;
    return same ? lifecycle_state(&system_lifecycle, s->state) : SYSTEM_NONE;
}

static bool is_open(int state)
{
    return state == SYSTEM_STABLE || state == SYSTEM_UPDATING || state == SYSTEM_SCALING ||
           state == SYSTEM_DEGRADED;
}

static bool is_gone(int state)
{
    return state == SYSTEM_NONE || state == SYSTEM_DELETING;
}

/* It holds just this path; *ret_free: nobody holds a part of it. */
static bool is_held(struct checkers *k, struct arena *a, const struct past *p, const char *uid,
                    const char *id, const char *path, bool *ret_free)
{
    const Board__HoldRecord *h = (const Board__HoldRecord *)just_before(k, p, key_hold(a, uid));
    bool held = false;
    *ret_free = h != NULL;
    for (size_t i = 0; h && i < h->n_holds; i++) {
        held = held || (strcmp(h->holds[i]->id, id) == 0 && strcmp(h->holds[i]->path, path) == 0);
        *ret_free = *ret_free && !component_path_related(path, h->holds[i]->path);
    }
    return held;
}

static bool build_succeeded(struct checkers *k, struct arena *a, const struct past *p,
                            const Board__DeployRecord *d)
{
    const Board__BuildRecord *b =
        *d->build ? (const Board__BuildRecord *)just_before(k, p, key_build(a, d->uid, d->build))
                  : NULL;
    return *d->undo || (b && strcmp(b->state, "succeeded") == 0 && *b->tree);
}

static struct guards_seen of_deploy(struct checkers *k, struct arena *a, const struct past *p,
                                    const Board__DeployRecord *was, const Board__DeployRecord *is)
{
    const Board__DeployRecord *d = was ? was : is;
    bool lock_free, asked = d->aborted || d->rollback_on_failure;
    int system = system_before(k, a, p, d->system, d->uid);
    bool held = is_held(k, a, p, d->uid, d->id, d->path, &lock_free);
    return (struct guards_seen){
        .held = (is_open(system) ? DEPLOY_IF_OPEN : 0) | (is_gone(system) ? DEPLOY_IF_GONE : 0) |
                (held ? DEPLOY_IF_HELD : 0) | (lock_free ? DEPLOY_IF_LOCK_FREE : 0) |
                (build_succeeded(k, a, p, d) ? DEPLOY_IF_BUILD_OVER : 0) |
                (d->reverting ? DEPLOY_IF_REVERTING : 0) |
                (!d->reverting && !d->aborted ? DEPLOY_IF_FORWARD : 0) |
                (!d->reverting && asked ? DEPLOY_IF_MAY_REVERT : 0),
        .unknown = DEPLOY_IF_TARGET_GOOD | DEPLOY_IF_SECRETS_SET | DEPLOY_IF_SETTLED |
                   DEPLOY_IF_WITNESSED | DEPLOY_IF_KEPT_ENOUGH,
    };
}

static void count_one(void *context, const struct past *p)
{
    (void)p;
    (*(size_t *)context)++;
}

/* That no service is left is seen once the change is made: none of them comes with it. */
static struct guards_seen of_teardown(struct checkers *k, struct arena *a, const struct past *p,
                                      const Board__TeardownRecord *t)
{
    bool lock_free;
    size_t services = 0;
    int system = system_before(k, a, p, t->system, t->uid);
    bool held = is_held(k, a, p, t->uid, t->id, "/", &lock_free);
    history_each(&k->history, key_range_of(a, RECORD_SERVICE, t->uid), count_one, &services);
    return (struct guards_seen){
        .held = (is_open(system) ? TEARDOWN_IF_OPEN : 0) |
                (is_gone(system) ? TEARDOWN_IF_GONE : 0) | (held ? TEARDOWN_IF_HELD : 0) |
                (lock_free ? TEARDOWN_IF_LOCK_FREE : 0) | (services ? 0 : TEARDOWN_IF_EMPTY),
        .unknown = TEARDOWN_IF_KEPT_ENOUGH,
    };
}

static struct guards_seen of_build(struct checkers *k, struct arena *a, const struct past *p,
                                   const Board__BuildRecord *was, const Board__BuildRecord *is)
{
    const Board__BuildRecord *b = was ? was : is;
    int system = system_before(k, a, p, b->system, b->uid);
    bool same = was && is && strcmp(was->tree, is->tree) == 0;
    return (struct guards_seen){
        .held = (is_open(system) ? BUILD_IF_OPEN : 0) | (same ? BUILD_IF_SAME_TREE : 0) |
                (b->written == b->components ? BUILD_IF_ALL_WRITTEN : 0),
        .unknown = BUILD_IF_UNNAMED | BUILD_IF_STALE | BUILD_IF_COLLECTED,
    };
}

/* What its state is by its services others hold (systems.c). */
static struct guards_seen of_system(struct checkers *k, struct arena *a, const struct past *p,
                                    const Board__SystemRecord *was)
{
    const char *uid = was ? was->uid : "";
    bool whole = *uid && just_before(k, p, key_head(a, uid)) && just_before(k, p, key_hold(a, uid));
    size_t left = 0;
    static const enum record_type owned[] = {RECORD_BUILD,  RECORD_DEPLOY,  RECORD_SECRET,
                                             RECORD_SERVICE, RECORD_TEARDOWN, RECORD_REVISION,
                                             RECORD_JOB_RUN, RECORD_POOL};
    for (size_t i = 0; *uid && i < sizeof(owned) / sizeof(owned[0]); i++) {
        history_each(&k->history, key_range_of(a, owned[i], uid), count_one, &left);
    }
    return (struct guards_seen){
        .held = (whole ? SYSTEM_IF_CHECKED : 0) | (left ? 0 : SYSTEM_IF_NOTHING_LEFT) |
                (was && was->tries >= 5 ? SYSTEM_IF_TRIED : 0),
        .unknown = SYSTEM_IF_SEEN_STABLE | SYSTEM_IF_SEEN_UPDATING | SYSTEM_IF_SEEN_SCALING |
                   SYSTEM_IF_SEEN_DEGRADED | SYSTEM_IF_HEAD_STANDS,
    };
}

struct guards_seen system_guards_seen(struct checkers *k, struct arena *a, const struct past *p)
{
    const ProtobufCMessage *was = p->before ? p->before->message : NULL, *is = p->message;
    if (!was && !is) {
        return (struct guards_seen){0};
    }
    switch (p->type) {
    case RECORD_DEPLOY:
        return of_deploy(k, a, p, (const Board__DeployRecord *)was,
                         (const Board__DeployRecord *)is);
    case RECORD_TEARDOWN:
        return of_teardown(k, a, p, (const Board__TeardownRecord *)(was ? was : is));
    case RECORD_BUILD:
        return of_build(k, a, p, (const Board__BuildRecord *)was, (const Board__BuildRecord *)is);
    default:
        return of_system(k, a, p, (const Board__SystemRecord *)was);
    }
}
