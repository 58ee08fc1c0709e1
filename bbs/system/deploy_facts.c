#include "bbs/system/deploy_facts.h"

#include "bbs/system/over.h"
#include "bbs/system/under.h"
#include "common/lifecycle/build.h"
#include "common/lifecycle/deploy.h"
#include "common/lifecycle/pool.h"
#include "common/lifecycle/service.h"
#include "common/model/component_path.h"
#include "common/model/deploy_target.h"
#include "common/model/head.h"

#include <string.h>

static bool is_target(const Board__DeployRecord *d, const char *target)
{
    return strcmp(d->target, target) == 0;
}

const char *secret_lack_text(struct arena *a, const char *system, struct secret_lack lack)
{
    return arena_printf(a, "%s needs secret %s: bbs secrets set %s %s", lack.path, lack.name,
                        system, lack.name);
}

/* What an undo puts back; NULL = there is none such. */
static const Board__DeployRecord *undone_of(struct view *v, const Board__DeployRecord *d)
{
    return *d->undo ? view_message(v, key_deploy(view_arena(v), d->uid, d->undo)) : NULL;
}

/* ---- Whether it can be accepted -------------------------------------------------------------- */

static void gather_target(struct view *v, struct deploy_snapshot *s)
{
    struct arena *a = view_arena(v);
    const Board__DeployRecord *d = s->deploy;
    if (!s->of.system) {
        return; /* that is reason enough */
    }
    struct deploy_target_facts f = {
        .deploy = d,
        .system = s->of.system,
        .own = deploy_makes_build(d) ? s->build : NULL,
        .head = s->head,
        .hold = s->hold,
    };
    if (is_target(d, "build")) {
        f.build = s->build;
    } else if (is_target(d, "undo")) {
        f.undone = s->undone = undone_of(v, d);
    } else if (is_target(d, "path")) {
        const Board__Root *root = s->head ? head_root(s->head, d->path) : NULL;
        f.deployed = root && *root->tree;
    }
    s->target_fault = s->head ? deploy_target_fault(a, &f) : "its system has no head";
}

/* ---- Whether it can begin -------------------------------------------------------------------- */

static void gather_undone(struct view *v, struct deploy_snapshot *s)
{
    struct arena *a = view_arena(v);
    s->undone = undone_of(v, s->deploy);
    if (!s->undone) {
        return;
    }
    const Board__DeployRecord *u = s->undone;
    const Board__IndexRecord **list = ARENA_ARRAY(a, u->n_before, const Board__IndexRecord *);
    size_t count = 0, wanted = 0;
    for (size_t i = 0; i < u->n_before; i++) {
        const Board__IndexRecord *index = index_peek(v, u->before[i]->tree);
        wanted += *u->before[i]->tree != 0;
        if (index) {
            list[count++] = index;
        }
    }
    s->build_over = s->head && u->generation > 0 && count == wanted;
    s->lack = secrets_lacking(v, s->deploy->uid, list, count);
}

/* How many services the system has elsewhere, and would have under the path. An undo puts back what
 * there was room for. */
static size_t services_then(struct view *v, const Board__DeployRecord *d,
                            const Board__IndexRecord *index)
{
    struct arena *a = view_arena(v);
    const char *own = key_service(a, d->uid, d->path);
    size_t count = 0;
    if (component_path_depth(d->path) > 0) {
        count = view_peek_count(v, key_range_of(a, RECORD_SERVICE, d->uid)) -
                view_peek_count(v, arena_printf(a, "%s%%2F", own)) -
                (view_peek_message(v, own) != NULL);
    }
    for (size_t i = 0; i < index->n_entries; i++) {
        count += strcmp(index->entries[i]->kind, "service") == 0;
    }
    return count;
}

static void gather_start(struct view *v, struct deploy_snapshot *s)
{
    const Board__BuildRecord *b = s->build;
    if (is_target(s->deploy, "undo")) {
        gather_undone(v, s);
    } else if (b && lifecycle_state(&build_lifecycle, b->state) == BUILD_SUCCEEDED) {
        const Board__IndexRecord *index = index_peek(v, b->tree);
        s->build_over = s->head && index && strcmp(b->root, s->deploy->path) == 0;
        if (index) {
            s->services = services_then(v, s->deploy, index);
            s->lack = secrets_lacking(v, s->deploy->uid, &index, 1);
        }
    }
}

/* ---- Why it should not go on ----------------------------------------------------------------- */

/* Whether the tree of its build needs the secret. */
static bool needs_secret(struct view *v, const struct deploy_snapshot *s, const char *name)
{
    const Board__IndexRecord *index = s->build ? index_peek(v, s->build->tree) : NULL;
    for (size_t i = 0; index && i < index->n_entries; i++) {
        if (entry_needs_secret(index->entries[i], name)) {
            return true;
        }
    }
    return false;
}

static enum witness by_service(const struct deploy_snapshot *s, const struct seen *found,
                               struct arena *a)
{
    if (!found) {
        return WITNESS_NONE;
    }
    const Board__ServiceRecord *r = (const Board__ServiceRecord *)found->message;
    bool told = strcmp(r->deploy, s->deploy->id) == 0 &&
                component_path_within(key_component(a, found->key, 2), s->deploy->path);
    return told && lifecycle_state(&service_lifecycle, r->state) == SERVICE_FAILED
               ? WITNESS_SERVICES
               : WITNESS_NONE;
}

/* What it told of a pool under its path hides an older failure (common/lifecycle/pool.def). */
static enum witness by_pool(const struct deploy_snapshot *s, const struct seen *found,
                            struct arena *a)
{
    const char *name = found ? key_component(a, found->key, 2) : NULL;
    const Board__PoolRecord *r = found ? (const Board__PoolRecord *)found->message : NULL;
    bool under =
        name && component_path_within(component_subname_path(a, name), s->deploy->path);
    return under && lifecycle_state(&pool_lifecycle, r->state) == POOL_FAILED ? WITNESS_SERVICES
                                                                              : WITNESS_NONE;
}

static enum witness by_build(struct view *v, const struct deploy_snapshot *s, const char *key,
                             struct arena *a)
{
    const Board__BuildRecord *b = s->build;
    const Board__IndexRecord *index = b ? index_peek(v, b->tree) : NULL;
    const char *build = s->deploy->build;
    bool own = *build && strcmp(key, key_build(a, s->deploy->uid, build)) == 0;
    bool failed = !b || lifecycle_state(&build_lifecycle, b->state) == BUILD_FAILED;
    bool crowded = index && services_then(v, s->deploy, index) > SYSTEM_SERVICES_MAX;
    return own && (failed || crowded) ? WITNESS_START : WITNESS_NONE;
}

static bool is_in_progress(const Board__DeployRecord *d)
{
    return lifecycle_state(&deploy_lifecycle, d->state) == DEPLOY_IN_PROGRESS;
}

/* The secrets that an undo lacks are those of what it puts back. */
static enum witness by_secret(struct view *v, struct deploy_snapshot *s, const char *key,
                              const struct seen *found)
{
    const char *name = key_component(view_arena(v), key, 2);
    const Board__DeployRecord *d = s->deploy;
    if (found || !name) {
        return WITNESS_NONE;
    }
    if (is_in_progress(d)) {
        bool lacks = s->head && services_lack(v, s->head, d->uid, d->path, d->id, name);
        return lacks ? WITNESS_SERVICES : WITNESS_NONE;
    }
    if (is_target(s->deploy, "undo")) {
        gather_undone(v, s);
        return s->lack.name && strcmp(s->lack.name, name) == 0 ? WITNESS_START : WITNESS_NONE;
    }
    return needs_secret(v, s, name) ? WITNESS_START : WITNESS_NONE;
}

/* 1. Another system's, or as it was not seen: it shows nothing.
 * 2. A service under its path that it told has failed, or a node pool there.
 * 3. Its build failed, is gone, or has more services than there is room for; what it undoes is
 *    gone.
 * 4. A secret that it needs is not set; of one in progress, that a service needs which it did not
 *    tell yet. */
static void gather_witness(struct view *v, const Board__DeployMove *m, struct deploy_snapshot *s)
{
    struct arena *a = view_arena(v);
    const char *uid = *m->witness ? key_component(a, m->witness, 1) : NULL;
    if (!uid || strcmp(uid, s->deploy->uid) != 0) { /* 1 */
        return;
    }
    const struct seen *found = view_get(v, m->witness);
    if ((found ? found->mod_revision : 0) != m->witness_revision) {
        return;
    }
    switch (key_type(m->witness)) {
    case RECORD_SERVICE: /* 2 */
        s->witness = by_service(s, found, a);
        break;
    case RECORD_POOL: /* 2 */
        s->witness = by_pool(s, found, a);
        break;
    case RECORD_BUILD: /* 3 */
        s->witness = by_build(v, s, m->witness, a);
        break;
    case RECORD_DEPLOY:
        s->witness = !found && *s->deploy->undo &&
                             strcmp(m->witness, key_deploy(a, uid, s->deploy->undo)) == 0
                         ? WITNESS_START
                         : WITNESS_NONE;
        break;
    case RECORD_SECRET: /* 4 */
        s->witness = by_secret(v, s, m->witness, found);
        break;
    default:
        break;
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void gather_parts(struct view *v, const Board__Move *m, unsigned reads,
                         struct deploy_snapshot *s)
{
    struct arena *a = view_arena(v);
    const Board__DeployRecord *d = s->deploy;
    s->hold = view_message(v, key_hold(a, d->uid));
    s->head = view_message(v, key_head(a, d->uid));
    if (*d->build && reads & (READ_TARGET | READ_BUILD | READ_START | READ_WITNESS)) {
        s->build = view_message(v, key_build(a, d->uid, d->build));
    }
    if (reads & READ_TARGET && lifecycle_state(&deploy_lifecycle, d->state) == DEPLOY_PENDING) {
        gather_target(v, s);
    }
    if (reads & READ_START) {
        gather_start(v, s);
    }
    if (reads & READ_WITNESS) {
        gather_witness(v, move_deploy(m), s);
    }
    /* Only one that may be over asks its services. */
    if (reads & READ_SERVICES && s->head && is_in_progress(d) && s->witness == WITNESS_NONE) {
        s->settled = services_settled(v, s->head, d->uid, d->path, d->id);
    }
    s->kept_enough = reads & READ_KEPT && deploy_kept_enough(v, &s->of, d);
}

void deploy_facts_gather(struct view *v, const struct op_input *in, unsigned reads,
                         struct deploy_snapshot *s)
{
    const Board__Move *m = in->request;
    struct arena *a = view_arena(v);
    s->of = system_facts_gather(v, move_deploy(m)->system, move_name(a, m));
    s->deploy = view_message(v, move_subject_key(a, in));
    speaker_gather(v, in, &s->by);
    if (s->deploy) {
        gather_parts(v, m, reads, s);
    }
}
