#include "converger/deploys.h"

#include "common/lifecycle/deploy.h"
#include "common/lifecycle/teardown.h"
#include "common/model/component_path.h"
#include "common/model/deploy_target.h"
#include "common/model/head.h"
#include "common/model/hold.h"
#include "converger/spread.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define GOES_TEXT "the system is being deleted"

/* One that is not over. */
struct going {
    const char *key;
    struct action_seen *seen;
    const Board__DeployRecord *deploy; /* one of these */
    const Board__TeardownRecord *teardown;
    int state;
};

static char *borrowed(const char *s)
{
    return (char *)(uintptr_t)s;
}

/* ---- Accepted -------------------------------------------------------------------------------- */

static const Board__IndexRecord *index_of(const struct watched_system *v, const char *tree)
{
    return *tree ? system_record(v, key_index(v->arena, tree), NULL) : NULL;
}

static void fail_deploy(const struct watched_system *v, const Board__DeployRecord *d,
                        const char *move, const char *why, const char *witness,
                        int64_t witness_revision, struct system_moves *out)
{
    Board__Move *m = move_of_deploy(v, move, d->id);
    m->deploy->message = borrowed(why);
    m->deploy->witness = borrowed(witness);
    m->deploy->witness_revision = witness_revision;
    system_moves_add(out, move, m);
}

static void fail_gone(const struct watched_system *v, const Board__DeployRecord *d,
                      struct system_moves *out)
{
    fail_deploy(v, d, "fail", GOES_TEXT, "", 0, out);
}

static const char *lack_text(const struct watched_system *v, const char *path, const char *secret)
{
    return arena_printf(v->arena, "%s needs secret %s: bbs secrets set %s %s", path, secret, v->id,
                        secret);
}

/* 5: the key of a secret that components of the tree under the path need and that is not set; NULL
 * = all are. */
static const char *secret_lacking(const struct watched_system *v, const Board__DeployRecord *d,
                                  const Board__IndexRecord *index, const char **ret_why)
{
    for (size_t i = 0; i < index->n_entries; i++) {
        const Board__IndexRecord__Entry *e = index->entries[i];
        for (size_t s = 0; s < e->n_secrets; s++) {
            const char *key = key_secret(v->arena, v->uid, e->secrets[s]);
            if (component_path_within(e->path, d->path) && !map_get(v->records, key)) {
                *ret_why = lack_text(v, e->path, e->secrets[s]);
                return key;
            }
        }
    }
    return NULL;
}

/* 4: one that has not come is waited for. */
static void begin_with(const struct watched_system *v, const Board__DeployRecord *d,
                       Board__Root *const *roots, size_t count, struct system_moves *out)
{
    for (size_t i = 0; i < count; i++) {
        const char *why, *lacking;
        const Board__IndexRecord *index = index_of(v, roots[i]->tree);
        if (!index && *roots[i]->tree) {
            return;
        }
        if (index && (lacking = secret_lacking(v, d, index, &why))) { /* 5 */
            fail_deploy(v, d, "fail", why, lacking, 0, out);
            return;
        }
    }
    system_moves_add(out, "begin", move_of_deploy(v, "begin", d->id)); /* 6 */
}

/* What the system has elsewhere, and what the tree has. */
static size_t services_then(const struct watched_system *v, const Board__DeployRecord *d,
                            const Board__IndexRecord *index)
{
    const struct service_seen **list;
    size_t count = v->services->count - system_services_within(v, d->path, &list);
    for (size_t i = 0; i < index->n_entries; i++) {
        count += strcmp(index->entries[i]->kind, "service") == 0;
    }
    return count;
}

/* 5: or the tree has more services than there is room for. */
static void built_deploy(const struct watched_system *v, const Board__DeployRecord *d,
                         const Board__BuildRecord *b, int64_t revision, struct system_moves *out)
{
    const Board__IndexRecord *index = index_of(v, b->tree);
    size_t services = index ? services_then(v, d, index) : 0;
    if (services > SYSTEM_SERVICES_MAX) {
        fail_deploy(v, d, "fail",
                    arena_printf(v->arena, "the system would have %zu services, and may have %d: "
                                           "make another system of a part",
                                 services, SYSTEM_SERVICES_MAX),
                    key_build(v->arena, v->uid, b->id), revision, out);
        return;
    }
    Board__Root root = BOARD__ROOT__INIT, *roots[] = {&root};
    root.tree = b->tree;
    begin_with(v, d, roots, 1, out);
}

/* What it undoes is kept while it is not over. */
static void accepted_undo(const struct watched_system *v, const Board__DeployRecord *d,
                          struct system_moves *out)
{
    int64_t revision = 0;
    const char *key = key_deploy(v->arena, v->uid, d->undo);
    const Board__DeployRecord *undone = system_record(v, key, &revision);
    if (undone) {
        begin_with(v, d, undone->before, undone->n_before, out);
    } else if (!revision) { /* 2 */
        fail_deploy(v, d, "fail", "the deploy that it undoes is gone", key, 0, out);
    }
}

static void accepted_deploy(const struct watched_system *v, const Board__DeployRecord *d,
                            struct system_moves *out)
{
    int64_t revision = 0;
    const char *key = key_build(v->arena, v->uid, *d->build ? d->build : d->id);
    const Board__BuildRecord *b = system_record(v, key, &revision);
    if (system_is_gone(v)) { /* 1 */
        fail_gone(v, d, out);
    } else if (strcmp(d->target, "undo") == 0) {
        accepted_undo(v, d, out);
    } else if (!b && revision) {
        return;      /* of a newer version */
    } else if (!b) { /* 2 */
        fail_deploy(v, d, "fail", "its build is gone", key, 0, out);
    } else if (strcmp(b->state, "failed") == 0) { /* 2 */
        fail_deploy(v, d, "fail", arena_printf(v->arena, "build %s failed: %s", b->id, b->message),
                    key, revision, out);
    } else if (strcmp(b->state, "succeeded") == 0) { /* 4 to 6 */
        built_deploy(v, d, b, revision, out);
    } else if (*b->version && !*d->version) {
        system_moves_add(out, "note", move_of_deploy(v, "note", d->id)); /* 3 */
    }
}

/* ---- Pending --------------------------------------------------------------------------------- */

/* The hold as it will be once what is planned is done. */
struct holding {
    const Board__HoldRecord *now, *then;
};

static void refuse_deploy(const struct watched_system *v, const Board__DeployRecord *d,
                          const char *why, struct system_moves *out)
{
    Board__Move *m = move_of_deploy(v, "refuse", d->id);
    m->deploy->message = borrowed(why);
    system_moves_add(out, "refuse", m);
}

static void refuse_teardown(const struct watched_system *v, const Board__TeardownRecord *t,
                            const char *why, struct system_moves *out)
{
    Board__Move *m = move_of_teardown(v, "refuse", t->id);
    m->teardown->message = borrowed(why);
    system_moves_add(out, "refuse", m);
}

/* NULL = it can be put there. */
static const char *target_fault(const struct watched_system *v, const Board__DeployRecord *d)
{
    struct deploy_target_facts f = {
        .deploy = d,
        .system = v->system,
        .own = system_record(v, key_build(v->arena, v->uid, d->id), NULL),
        .head = v->head,
        .hold = v->hold,
    };
    if (strcmp(d->target, "build") == 0) {
        f.build = system_record(v, key_build(v->arena, v->uid, d->build), NULL);
    } else if (strcmp(d->target, "undo") == 0) {
        f.undone = system_record(v, key_deploy(v->arena, v->uid, d->undo), NULL);
    } else if (strcmp(d->target, "path") == 0) {
        const Board__Root *root = head_root(v->head, d->path);
        f.deployed = root && *root->tree; /* whether the tree has the path its build finds out */
    }
    return deploy_target_fault(v->arena, &f);
}

/* Who stands against the path: NULL = nobody. */
static const char *holders(const struct watched_system *v, const char *path)
{
    const Board__Hold **list;
    size_t count = hold_conflicts(v->arena, v->hold, path, &list);
    return count > 0 ? hold_text(v->arena, list, count) : NULL;
}

/* 4: false when one that is planned before takes a part of the path. */
static bool take(const struct watched_system *v, Board__Hold__Kind kind, const char *id,
                 const char *path, struct holding *h)
{
    Board__Hold *entry = arena_message(v->arena, &board__hold__descriptor);
    Board__HoldRecord *after;
    entry->kind = kind;
    entry->id = borrowed(id);
    entry->path = borrowed(path);
    if (hold_take(v->arena, h->then, entry, &after) != HOLD_TAKEN) {
        return false;
    }
    h->then = after;
    return true;
}

/* What it is to put is there, and nothing that it needs is lacking: no build is waited for. Where
 * something lacks it is accepted, and fails as one that is. */
static bool begins_at_once(const struct watched_system *v, const Board__DeployRecord *d)
{
    struct system_moves *m = ARENA_NEW(v->arena, struct system_moves);
    m->arena = v->arena;
    accepted_deploy(v, d, m);
    return m->count == 1 && strcmp(m->list[0].move->move, "begin") == 0;
}

static void pending_deploy(const struct watched_system *v, const Board__DeployRecord *d,
                           struct holding *h, struct system_moves *out)
{
    const char *why = system_is_gone(v) ? GOES_TEXT : holders(v, d->path); /* 1, 2 */
    why = why ? why : target_fault(v, d);                                  /* 3 */
    if (why) {
        refuse_deploy(v, d, why, out);
    } else if (take(v, BOARD__HOLD__KIND__DEPLOY, d->id, d->path, h)) { /* 4 */
        const char *move = begins_at_once(v, d) ? "begin" : "accept";   /* 5, 6 */
        system_moves_add(out, move, move_of_deploy(v, move, d->id));
    }
}

static void pending_teardown(const struct watched_system *v, const Board__TeardownRecord *t,
                             struct holding *h, struct system_moves *out)
{
    const char *why = system_is_gone(v) ? GOES_TEXT : holders(v, "/"); /* 1, 2 */
    if (why) {
        refuse_teardown(v, t, why, out);
    } else if (take(v, BOARD__HOLD__KIND__TEARDOWN, t->id, "/", h)) {
        system_moves_add(out, "begin", move_of_teardown(v, "begin", t->id)); /* 3 */
    }
}

/* ---- In progress ----------------------------------------------------------------------------- */

/* It fails, or puts back what stood before if that is to be, and is not done yet. */
static void fail_or_revert(const struct watched_system *v, const Board__DeployRecord *d,
                           const char *why, const char *witness, int64_t witness_revision,
                           struct system_moves *out)
{
    bool reverts = d->rollback_on_failure && !d->reverting;
    fail_deploy(v, d, reverts ? "revert" : "fail", why, witness, witness_revision, out);
}

/* 3 */
static bool fails_for_secret(const struct watched_system *v, const Board__DeployRecord *d,
                             const struct spread *s, struct system_moves *out)
{
    const char *path, *secret = spread_lacks(s, v, &path);
    if (secret) {
        fail_or_revert(v, d, lack_text(v, path, secret),
                       key_secret(v->arena, v->uid, secret), 0, out);
    }
    return secret != NULL;
}

/* 5 */
static void failed_service(const struct watched_system *v, const Board__DeployRecord *d,
                           const struct service_seen *s, struct system_moves *out)
{
    const char *key = key_service(v->arena, v->uid, s->path);
    const Board__ServiceRecord *r = system_record(v, key, NULL);
    const char *why = r && *r->message ? r->message : r && *r->fault ? r->fault : "it failed";
    fail_or_revert(v, d, arena_printf(v->arena, "%s failed: %s", s->path, why), key, s->revision,
                   out);
}

/* 5 */
static void failed_pool(const struct watched_system *v, const Board__DeployRecord *d,
                        const struct pool_seen *p, struct system_moves *out)
{
    const char *key = key_pool(v->arena, v->uid, p->name);
    const Board__PoolRecord *r = system_record(v, key, NULL);
    const char *why = r && *r->message ? r->message : "it has too few cells";
    fail_or_revert(v, d, arena_printf(v->arena, "node pool %s failed: %s", p->name, why), key,
                   p->revision, out);
}

static void verdict_of_deploy(const struct watched_system *v, const Board__DeployRecord *d,
                              struct system_moves *out)
{
    const struct service_seen *failed;
    const struct pool_seen *pool;
    bool settled = spread_settled(v, d->path, d->id, &failed, &pool);
    if (failed) { /* 5 */
        failed_service(v, d, failed, out);
    } else if (pool) { /* 5 */
        failed_pool(v, d, pool, out);
    } else if (settled && d->reverting) { /* 6 */
        fail_deploy(v, d, "fail", d->message, "", 0, out);
    } else if (settled) {
        system_moves_add(out, "succeed", move_of_deploy(v, "succeed", d->id));
    }
}

/* What it has yet to tell, as it is kept from look to look until all is told; NULL = a tree of the
 * head has not come. */
static struct spread *spread_of(const struct watched_system *v, const Board__DeployRecord *d,
                                struct action_seen *seen)
{
    if (seen->spread && spread_generation(seen->spread) != d->generation) {
        spread_drop(&seen->spread); /* it reverts now */
    }
    if (!seen->spread) {
        seen->spread = spread_new(v, d->path, d->id, d->generation);
    }
    return seen->spread;
}

/* 3 and 4. True: it has told all. */
static bool tells_all(const struct watched_system *v, const Board__DeployRecord *d,
                      struct action_seen *seen, struct system_moves *out)
{
    struct spread *s = seen->told != d->generation ? spread_of(v, d, seen) : NULL;
    if (s && !fails_for_secret(v, d, s, out) /* 3 */ && spread_under(s, v, out)) { /* 4 */
        seen->told = d->generation;
        spread_drop(&seen->spread);
    }
    return seen->told == d->generation;
}

static void progressing_deploy(const struct watched_system *v, const Board__DeployRecord *d,
                               struct action_seen *seen, struct system_moves *out)
{
    if (system_is_gone(v)) { /* 1 */
        fail_gone(v, d, out);
        return;
    }
    if (d->aborted && !d->reverting) { /* 2 */
        fail_deploy(v, d, "revert", "it was aborted", "", 0, out);
        return;
    }
    if (d->generation > v->head->generation) {
        return; /* the head has not come yet */
    }
    if (tells_all(v, d, seen, out)) { /* 3, 4 */
        verdict_of_deploy(v, d, out);
    }
}

static void progressing_teardown(const struct watched_system *v, const Board__TeardownRecord *t,
                                 struct action_seen *seen, struct system_moves *out)
{
    if (system_is_gone(v)) { /* 1 */
        Board__Move *m = move_of_teardown(v, "fail", t->id);
        m->teardown->message = borrowed(GOES_TEXT);
        system_moves_add(out, "fail", m);
        return;
    }
    size_t planned = out->count;
    spread_nothing(v, "/", t->id, out); /* 2 */
    seen->told = out->count == planned ? t->generation : seen->told;
    if (v->tally->total == 0 && v->pools->count == 0 && t->generation <= v->head->generation) {
        system_moves_add(out, "succeed", move_of_teardown(v, "succeed", t->id)); /* 3 */
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void run_one(const struct watched_system *v, const struct going *g, struct holding *h,
                    struct system_moves *out)
{
    if (g->teardown && g->state == TEARDOWN_PENDING) {
        pending_teardown(v, g->teardown, h, out);
    } else if (g->teardown && g->state == TEARDOWN_IN_PROGRESS) {
        progressing_teardown(v, g->teardown, g->seen, out);
    } else if (g->deploy && g->state == DEPLOY_PENDING) {
        pending_deploy(v, g->deploy, h, out);
    } else if (g->deploy && g->state == DEPLOY_ACCEPTED) {
        accepted_deploy(v, g->deploy, out);
    } else if (g->deploy && g->state == DEPLOY_IN_PROGRESS) {
        progressing_deploy(v, g->deploy, g->seen, out);
    }
}

/* One of a newer version is left alone. */
static bool read_one(const struct watched_system *v, const char *key, struct action_seen *seen,
                     struct going *ret)
{
    *ret = (struct going){.key = key, .seen = seen, .state = -1};
    if (seen->type == RECORD_DEPLOY && (ret->deploy = system_record(v, key, NULL))) {
        ret->state = lifecycle_state(&deploy_lifecycle, ret->deploy->state);
    } else if (seen->type == RECORD_TEARDOWN && (ret->teardown = system_record(v, key, NULL))) {
        ret->state = lifecycle_state(&teardown_lifecycle, ret->teardown->state);
    }
    return ret->state >= 0;
}

/* Who was asked for first comes first. */
static int compare_going(const void *x, const void *y)
{
    const struct going *one = x, *other = y;
    if (one->seen->created_at != other->seen->created_at) {
        return one->seen->created_at < other->seen->created_at ? -1 : 1;
    }
    return strcmp(one->key, other->key);
}

void deploys_run(const struct watched_system *v, struct system_moves *out)
{
    struct going *list = ARENA_ARRAY(v->arena, v->going->count + 1, struct going);
    struct holding h = {v->hold, v->hold};
    size_t count = 0;
    for (struct map_node *n = map_first(v->going); n; n = map_next(n)) {
        struct action_seen *seen = map_value(n);
        if (seen->type != RECORD_BUILD && read_one(v, map_key(n), seen, &list[count])) {
            count++;
        }
    }
    assert(count <= v->going->count);
    qsort(list, count, sizeof(*list), compare_going);
    for (size_t i = 0; i < count; i++) {
        run_one(v, &list[i], &h, out);
    }
}
