/* What nobody reads any more is deleted, by a job: settings of relations and charms of services
 * that are gone. */
#include "bbs/units/facts.h"
#include "bbs/units/unit_jobs.h"
#include "bbs/units/units.h"

#include <assert.h>
#include <stdlib.h>

enum { SWEPT_AT_ONCE = 60 };

struct sweep_portion {
    const Board__JobRecord *job; /* NULL = it is over */
    const char *keys[SWEPT_AT_ONCE];
    size_t count;
    bool end; /* nothing comes after these */
};

static const char *sweep_target(struct arena *a, const struct op_input *in)
{
    const Board__JobRecord *job = in->request;
    return key_job(a, job->target, job->name);
}

/* That it is gone is compared. A service may be there again, by the same name: then its charms
 * stay, and go with that one. A relation never is. */
static bool is_gone(struct view *v, const char *range)
{
    struct arena *a = view_arena(v);
    const char *owner = key_component(a, range, 1);
    if (key_type(range) == RECORD_CHARM) {
        return owner && !view_exists(v, key_unit_service(a, owner));
    }
    return owner && key_type(range) == RECORD_RELATION_SETTINGS &&
           !view_exists(v, key_relation(a, (uint32_t)strtoul(owner, NULL, 10)));
}

static void sweep_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct sweep_portion *s = snapshot;
    s->job = units_job_gather(v, in);
    for (size_t i = 0; s->job && i < s->job->units->n_keys; i++) {
        const char *range = s->job->units->keys[i], *key = "";
        while (*range && is_gone(v, range) && (key = units_key_after(v, range, key))) {
            if (s->count == SWEPT_AT_ONCE) {
                return;
            }
            view_get(v, key);
            s->keys[s->count++] = key;
        }
    }
    s->end = true;
}

/* 1. The job is over: nothing.
 * 2. As much as a portion holds goes; with the last of it the job ends. */
static void sweep_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct sweep_portion *s = snapshot;
    if (!s->job) { /* 1 */
        return;
    }
    for (size_t i = 0; i < s->count; i++) { /* 2 */
        plan_delete(p, s->keys[i], "sweep", in->actor);
    }
    if (s->end) {
        units_job_finish(s->job, in, p);
    }
    units_plan_check(p);
}

const struct op_row sweep_units_job_row = {
    .name = "job that sweeps",
    .target = sweep_target,
    .gather = sweep_gather,
    .decide = sweep_decide,
    .snapshot_size = sizeof(struct sweep_portion),
};
