#include "common/model/deploy_target.h"

#include "common/model/head.h"

#include <assert.h>
#include <string.h>

/* 3 */
static const char *fault_of_build(struct arena *a, const Board__DeployRecord *d,
                                  const Board__BuildRecord *b)
{
    if (!b) {
        return arena_printf(a, "there is no build %s: bbs builds %s lists them", d->build,
                            d->system);
    }
    if (strcmp(b->state, "failed") == 0) {
        return arena_printf(a, "build %s failed: %s", d->build, b->message);
    }
    if (*b->path && strcmp(b->path, "/") != 0) {
        return arena_printf(a, "build %s is of the path %s: only one of a whole definition can be "
                               "deployed by its id; deploy the path",
                            d->build, b->path);
    }
    if (strcmp(b->state, "succeeded") == 0 && !*b->tree) {
        return arena_printf(a, "what build %s resolved is not kept any more: deploy its version "
                               "again",
                            d->build);
    }
    return NULL;
}

/* 4 */
static const char *fault_of_undo(struct arena *a, const Board__DeployRecord *d,
                                 const Board__DeployRecord *undone)
{
    if (!undone) {
        return arena_printf(a, "there is no deploy %s to undo: bbs deploys %s lists them", d->undo,
                            d->system);
    }
    if (strcmp(undone->state, "succeeded") != 0 && strcmp(undone->state, "failed") != 0) {
        return arena_printf(a, "deploy %s is not over: bbs abort %s ends it", d->undo, d->undo);
    }
    if (undone->generation == 0) {
        return arena_printf(a, "deploy %s changed nothing: there is nothing to undo", d->undo);
    }
    return NULL;
}

bool deploy_makes_build(const Board__DeployRecord *d)
{
    return strcmp(d->target, "version") == 0 || strcmp(d->target, "path") == 0;
}

/* 6: each that holds a part of the system may add roots before it does. */
static bool has_room(const struct deploy_target_facts *f)
{
    size_t roots = f->head ? f->head->n_roots : 0;
    size_t held = f->hold ? f->hold->n_holds : 0;
    return roots + held + (f->undone ? f->undone->n_before : 1) <= HEAD_ROOTS_MAX;
}

/* 1 to 4 */
static const char *fault_of_target(struct arena *a, const struct deploy_target_facts *f)
{
    const Board__DeployRecord *d = f->deploy;
    if (strcmp(d->target, "version") == 0 && !*f->system->definition_url) { /* 1 */
        return arena_printf(a, "system %s has no repository of versions: deploy a file, or create "
                               "it with --definition URL",
                            d->system);
    }
    if (strcmp(d->target, "path") == 0 && !f->deployed) { /* 2 */
        return arena_printf(a, "nothing is deployed at %s: bbs systems tree %s shows what is",
                            d->path, d->system);
    }
    if (strcmp(d->target, "build") == 0) {
        return fault_of_build(a, d, f->build);
    }
    if (strcmp(d->target, "undo") == 0) {
        return fault_of_undo(a, d, f->undone);
    }
    return NULL;
}

const char *deploy_target_fault(struct arena *a, const struct deploy_target_facts *f)
{
    const Board__DeployRecord *d = f->deploy;
    assert(d && f->system);
    const char *fault = fault_of_target(a, f);
    if (fault) {
        return fault;
    }
    if (deploy_makes_build(d) && f->own) { /* 5 */
        return arena_printf(a, "build %s is another one: deploy again with another id", d->id);
    }
    if (!has_room(f)) { /* 6 */
        return arena_printf(a, "%d paths of system %s were deployed for themselves, which is the "
                               "most: deploy one above them",
                            HEAD_ROOTS_MAX, d->system);
    }
    return NULL;
}
