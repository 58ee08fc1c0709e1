#include "common/model/deploy_target.h"

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

const char *deploy_target_fault(struct arena *a, const struct deploy_target_facts *f)
{
    const Board__DeployRecord *d = f->deploy;
    assert(d && f->system);
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
