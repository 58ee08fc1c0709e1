/* Who needs what a build resolved: until nobody does, its tree stays. */
#include "bbs/system/build.h"
#include "common/lifecycle/deploy.h"
#include "common/lifecycle/job_run.h"

#include <string.h>

enum { RANGE_MAX = 2 * ACTIONS_MAX }; /* records that are looked at */

struct build_names {
    const char *uid;
    const Board__BuildRecord *build;
};

/* ---- Who names it ---------------------------------------------------------------------------- */

static bool names_tree(const Board__BuildRecord *b, const char *tree)
{
    return *tree && strcmp(b->tree, tree) == 0;
}

static bool in_roots(const Board__BuildRecord *b, Board__Root *const *roots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (names_tree(b, roots[i]->tree) || strcmp(roots[i]->build, b->id) == 0) {
            return true;
        }
    }
    return false;
}

/* One that is not over names its build; any that is kept, what stood before it, for it can be
 * undone. */
static const char *deploy_naming(struct view *v, const struct build_names *s)
{
    struct arena *a = view_arena(v);
    const struct seen *list;
    const char *prefix = key_range_of(a, RECORD_DEPLOY, s->uid);
    int count = view_peek_range(v, prefix, RANGE_MAX, &list);
    view_nothing_newer(v, prefix);
    for (int i = 0; i < count; i++) {
        const Board__DeployRecord *d = (const Board__DeployRecord *)list[i].message;
        int state = lifecycle_state(&deploy_lifecycle, d->state);
        bool over = state == DEPLOY_SUCCEEDED || state == DEPLOY_FAILED;
        if ((!over && strcmp(d->build, s->build->id) == 0) ||
            in_roots(s->build, d->before, d->n_before)) {
            return arena_printf(a, "deploy %s", d->id);
        }
    }
    return count < 0 ? "one of very many deploys" : NULL;
}

/* Neither services nor runs are compared: only what the head names gets a name of theirs, and the
 * head is compared. */
static const char *service_naming(struct view *v, const struct build_names *s)
{
    struct arena *a = view_arena(v);
    const struct seen *list;
    int count =
        view_peek_range(v, key_range_of(a, RECORD_SERVICE, s->uid), COMPONENTS_MAX, &list);
    for (int i = 0; i < count; i++) {
        const Board__ServiceRecord *r = (const Board__ServiceRecord *)list[i].message;
        for (size_t n = 0; n < r->n_revisions; n++) {
            if (r->revisions[n]->instances > 0 && names_tree(s->build, r->revisions[n]->tree)) {
                return arena_printf(a, "service %s", r->path);
            }
        }
    }
    return count < 0 ? "one of very many services" : NULL;
}

static const char *run_naming(struct view *v, const struct build_names *s)
{
    struct arena *a = view_arena(v);
    const struct seen *list;
    int count = view_peek_range(v, key_range_of(a, RECORD_JOB_RUN, s->uid), RANGE_MAX, &list);
    for (int i = 0; i < count; i++) {
        const Board__JobRunRecord *r = (const Board__JobRunRecord *)list[i].message;
        int state = lifecycle_state(&job_run_lifecycle, r->state);
        bool over = state == JOB_RUN_SUCCEEDED || state == JOB_RUN_FAILED;
        if (!over && names_tree(s->build, r->tree)) {
            return arena_printf(a, "run %s", r->id);
        }
    }
    return count < 0 ? "one of very many runs" : NULL;
}

/* Those that are over are kept for a while. How many there are is not compared: there are only more
 * of them when this one is looked at again. */
static const char *last_naming(struct view *v, const struct build_names *s)
{
    struct arena *a = view_arena(v);
    const struct seen *list;
    int count = view_peek_range(v, key_range_of(a, RECORD_BUILD, s->uid), RANGE_MAX, &list);
    struct over_when *over = ARENA_ARRAY(a, count > 0 ? (size_t)count : 0, struct over_when);
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        const Board__BuildRecord *b = (const Board__BuildRecord *)list[i].message;
        if (b->completed_at) {
            over[n++] = (struct over_when){b->completed_at, b->id};
        }
    }
    const struct over_when own = {s->build->completed_at, s->build->id};
    return kept_enough(over, n, own, BUILDS_KEPT_MAX) ? NULL : "the list of the last ones";
}

/* 1. Its system goes: nothing names it.
 * 2. The head does; 3. a deploy; 4. a service that runs of it; 5. a run.
 * 6. It is one of the last that are over. */
const char *build_named_by(struct view *v, const struct system_facts *f,
                           const Board__BuildRecord *build)
{
    struct arena *a = view_arena(v);
    const struct build_names s = {.uid = f->uid, .build = build};
    if (system_facts_gone(f)) { /* 1 */
        return NULL;
    }
    const Board__HeadRecord *head = view_message(v, key_head(a, f->uid));
    if (head && in_roots(build, head->roots, head->n_roots)) { /* 2 */
        return "the definition that stands";
    }
    const char *named = deploy_naming(v, &s);      /* 3 */
    named = named ? named : service_naming(v, &s); /* 4 */
    named = named ? named : run_naming(v, &s);     /* 5 */
    return named ? named : last_naming(v, &s);     /* 6 */
}
