/* A cluster at its site is a slice. */
#include "crm/work.h"

#include <string.h>

static bool is_as_wanted(const struct crm_work *w, const struct crm_site_slice *slice)
{
    return slice->stands && strcmp(slice->digest, w->digest) == 0;
}

/* 1. A move that makes or resizes a slice is whole or nothing: there is nothing to undo.
 * 2. What is to go, or has another digest and is to be replaced, is dropped.
 * 3. It is as the record says.
 * 4. Otherwise it is made, or resized. */
void crm_slice_step(const struct crm_work *w, struct arena *a, const struct crm_site *site,
                    struct crm_step *ret)
{
    const struct crm_site_slice *slice = &site->slice;
    bool goes = w->task == WORK_REMOVE || (w->task == WORK_REPLACE && !is_as_wanted(w, slice));
    if (w->undoing) { /* 1 */
        ret->kind = STEP_DONE;
    } else if (goes && slice->stands) { /* 2 */
        ret->kind = STEP_DROP_SLICE;
    } else if (w->task == WORK_REMOVE || is_as_wanted(w, slice)) { /* 3 */
        ret->kind = STEP_DONE;
    } else { /* 4 */
        ret->kind = slice->stands ? STEP_RESIZE_SLICE : STEP_MAKE_SLICE;
        ret->number = ret->of = 1;
        ret->text =
            arena_printf(a, "the slice is %s", slice->stands ? "given its size" : "reserved");
    }
}

/* Of one that was to go. */
const char *crm_slice_leaves(const struct crm_work *w, struct arena *a, const struct crm_site *site)
{
    return w->task != WORK_MAKE && site->slice.stands ? arena_printf(a, "slice %s", w->uid) : NULL;
}
