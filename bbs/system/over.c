#include "bbs/system/over.h"

#include "common/lifecycle/deploy.h"
#include "common/lifecycle/teardown.h"

#include <assert.h>
#include <string.h>

Board__DeployRecord *deploy_changed(struct arena *a, const Board__DeployRecord *before, int to)
{
    assert(to > DEPLOY_NONE && to < DEPLOY_STATE_COUNT);
    Board__DeployRecord *after = arena_message(a, &board__deploy_record__descriptor);
    *after = *before;
    after->state = borrowed(deploy_lifecycle.states[to]);
    return after;
}

Board__TeardownRecord *teardown_changed(struct arena *a, const Board__TeardownRecord *before,
                                        int to)
{
    assert(to > TEARDOWN_NONE && to < TEARDOWN_STATE_COUNT);
    Board__TeardownRecord *after = arena_message(a, &board__teardown_record__descriptor);
    *after = *before;
    after->state = borrowed(teardown_lifecycle.states[to]);
    return after;
}

/* No clock makes it end before it began. */
static int64_t end_of(int64_t created_at, int64_t started_at, struct moment now)
{
    int64_t least = started_at > created_at ? started_at : created_at;
    return now.wall_ns > least ? now.wall_ns : least;
}

Board__DeployRecord *deploy_over(struct arena *a, const Board__DeployRecord *before, int to,
                                 const char *message, struct moment now)
{
    assert(to == DEPLOY_SUCCEEDED || to == DEPLOY_FAILED);
    Board__DeployRecord *after = deploy_changed(a, before, to);
    after->completed_at = end_of(before->created_at, before->started_at, now);
    after->started_at = before->started_at ? before->started_at : after->completed_at;
    after->message = borrowed(message_cut(a, message));
    after->paused = false;
    return after;
}

Board__TeardownRecord *teardown_over(struct arena *a, const Board__TeardownRecord *before, int to,
                                     const char *message, struct moment now)
{
    assert(to == TEARDOWN_SUCCEEDED || to == TEARDOWN_FAILED);
    Board__TeardownRecord *after = teardown_changed(a, before, to);
    after->completed_at = end_of(before->created_at, before->started_at, now);
    after->started_at = before->started_at ? before->started_at : after->completed_at;
    after->message = borrowed(message_cut(a, message));
    return after;
}

/* ---- What is kept ---------------------------------------------------------------------------- */

enum { LOOKED_AT_MAX = 2 * ACTIONS_MAX };

bool deploy_kept_enough(struct view *v, const struct system_facts *f,
                        const Board__DeployRecord *deploy)
{
    struct arena *a = view_arena(v);
    const struct seen *list;
    if (system_facts_gone(f)) {
        return true;
    }
    int count = view_peek_range(v, key_range_of(a, RECORD_DEPLOY, f->uid), LOOKED_AT_MAX, &list);
    struct over_when *over = ARENA_ARRAY(a, count > 0 ? (size_t)count : 0, struct over_when);
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        const Board__DeployRecord *d = (const Board__DeployRecord *)list[i].message;
        if (d->completed_at) {
            over[n++] = (struct over_when){d->completed_at, d->id};
        } else if (strcmp(d->undo, deploy->id) == 0) {
            return false;
        }
    }
    const struct over_when own = {deploy->completed_at, deploy->id};
    assert(n <= LOOKED_AT_MAX);
    return kept_enough(over, n, own, ACTIONS_KEPT_MAX);
}

bool teardown_kept_enough(struct view *v, const struct system_facts *f,
                          const Board__TeardownRecord *teardown)
{
    struct arena *a = view_arena(v);
    const struct seen *list;
    if (system_facts_gone(f)) {
        return true;
    }
    int count = view_peek_range(v, key_range_of(a, RECORD_TEARDOWN, f->uid), LOOKED_AT_MAX, &list);
    struct over_when *over = ARENA_ARRAY(a, count > 0 ? (size_t)count : 0, struct over_when);
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        const Board__TeardownRecord *t = (const Board__TeardownRecord *)list[i].message;
        if (t->completed_at) {
            over[n++] = (struct over_when){t->completed_at, t->id};
        }
    }
    const struct over_when own = {teardown->completed_at, teardown->id};
    return kept_enough(over, n, own, ACTIONS_KEPT_MAX);
}
