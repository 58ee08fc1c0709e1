#include "crm/work.h"

#include "common/base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    void (*step)(const struct crm_work *w, struct arena *a, const struct crm_site *site,
                 struct crm_step *ret);
    const char *(*leaves)(const struct crm_work *w, struct arena *a, const struct crm_site *site);
} kinds[] = {
    [CRM_CLUSTER] = {crm_slice_step, crm_slice_leaves},
    [CRM_APP] = {crm_app_step, crm_app_leaves},
};

static const char *digest_of(const struct crm_planned *planned)
{
    return planned->action.work != WORK_REMOVE && planned->record ? planned->record->digest : "";
}

static bool is_lasting(const struct crm_planned *planned)
{
    return !planned->record || planned->record->state == TRACKED_READY;
}

void crm_work_init(struct crm_work *w, const struct crm_planned *planned, uint64_t request,
                   int64_t limit_ns, int64_t now_ns)
{
    assert(planned->action.work != WORK_NONE && limit_ns > 0);
    bool lasts = is_lasting(planned);
    *w = (struct crm_work){.kind = planned->kind,
                           .task = planned->action.work,
                           .uid = mem_text(planned->uid),
                           .name = mem_text(planned->name),
                           .digest = mem_text(digest_of(planned)),
                           .request = request,
                           .lasts = lasts,
                           .gives_up_ns =
                               lasts ? INT64_MAX : now_ns + limit_ns / 10 * WORK_GIVES_UP_TENTHS,
                           .ends_ns = lasts ? INT64_MAX : now_ns + limit_ns};
}

void crm_work_done(struct crm_work *w)
{
    if (w) {
        free(w->uid);
        free(w->name);
        free(w->digest);
    }
}

bool crm_work_serves(const struct crm_work *w, const struct crm_planned *planned, uint64_t request)
{
    bool lasts = is_lasting(planned);
    return w->task == planned->action.work && w->request == request && w->lasts == lasts &&
           strcmp(w->digest, digest_of(planned)) == 0;
}

static void set_error(struct crm_work *w, const char *why)
{
    snprintf(w->error, sizeof(w->error), "%s", why);
}

static void give_up(struct crm_work *w)
{
    char last[WORK_ERROR_MAX / 2];
    snprintf(last, sizeof(last), "%.*s", (int)sizeof(last) - 1, w->error);
    snprintf(w->error, sizeof(w->error), "it did not come to an end in time%s%s", *last ? ": " : "",
             last);
    w->undoing = true;
    w->again_ns = 0;
    w->attempts = 0;
}

static void fail(const struct crm_work *w, struct arena *a, const struct crm_site *site,
                 struct crm_step *ret)
{
    const char *left = kinds[w->kind].leaves(w, a, site);
    *ret = (struct crm_step){.kind = STEP_FAILED,
                             .error = left ? arena_printf(a, "%s; left behind: %s", w->error, left)
                                           : arena_strdup(a, w->error)};
}

/* 1. What is done is done, also when its time is over.
 * 2. It gives up: what it made is to go.
 * 3. That has gone, or its time is over as well: it has failed.
 * 4. After an attempt that came to nothing it waits; and after one that was done, for the site's
 * feed to show it. */
void crm_work_next(struct crm_work *w, struct arena *a, const struct crm_site *site, int64_t now_ns,
                   struct crm_step *ret)
{
    w->again_ns = now_ns < w->again_ns ? w->again_ns : 0;
    w->settles_ns = now_ns < w->settles_ns ? w->settles_ns : 0;
    *ret = (struct crm_step){0};
    kinds[w->kind].step(w, a, site, ret);
    if (ret->kind == STEP_DONE && !w->undoing) { /* 1 */
        return;
    }
    if (ret->kind == STEP_WAIT && !w->undoing && ret->error) {
        set_error(w, ret->error);
    }
    if (!w->undoing && now_ns >= w->gives_up_ns) { /* 2 */
        give_up(w);
        *ret = (struct crm_step){0};
        kinds[w->kind].step(w, a, site, ret);
    }
    if (w->undoing && (ret->kind == STEP_DONE || now_ns >= w->ends_ns)) { /* 3 */
        fail(w, a, site, ret);
    } else if (now_ns < w->again_ns || (ret->kind == w->last && now_ns < w->settles_ns)) { /* 4 */
        *ret = (struct crm_step){.kind = STEP_WAIT};
    } else if (ret->kind != STEP_WAIT && ret->kind != STEP_DONE) {
        w->last = ret->kind;
    }
}

int64_t crm_work_due_ns(const struct crm_work *w)
{
    int64_t due_ns = w->undoing ? w->ends_ns : w->gives_up_ns;
    due_ns = w->again_ns && w->again_ns < due_ns ? w->again_ns : due_ns;
    return w->settles_ns && w->settles_ns < due_ns ? w->settles_ns : due_ns;
}

static void try_again(struct crm_work *w, int64_t now_ns)
{
    int64_t wait_ns = WORK_AGAIN_FIRST_NS;
    for (unsigned i = 0; i < w->attempts && wait_ns < WORK_AGAIN_MOST_NS; i++) {
        wait_ns *= 2;
    }
    w->attempts++;
    w->again_ns = now_ns + (wait_ns < WORK_AGAIN_MOST_NS ? wait_ns : WORK_AGAIN_MOST_NS);
}

void crm_work_answered(struct crm_work *w, enum crm_answer answer, const char *why, int64_t now_ns)
{
    if (answer == ANSWER_DONE) {
        w->again_ns = 0;
        w->attempts = 0;
        w->settles_ns = now_ns + WORK_SETTLES_NS;
        return;
    }
    if (!w->undoing) {
        set_error(w, why);
    }
    if (answer == ANSWER_REFUSED && !w->undoing && !w->lasts && w->task != WORK_REMOVE) {
        w->undoing = true;
        w->again_ns = 0;
        w->attempts = 0;
    } else {
        try_again(w, now_ns);
    }
}
