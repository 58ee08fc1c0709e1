/* An app instance at its site is a DesiredLRP; in an update two, the new beside the old. */
#include "crm/work.h"

#include <assert.h>
#include <string.h>

enum { APP_STEPS = 3 };

static bool is_new(const struct crm_work *w, const struct crm_site_lrp *lrp)
{
    return strcmp(lrp->digest, w->digest) == 0;
}

/* The first of the new ones, or of the others, that is desired, or of which instances are there. */
static const struct crm_site_lrp *first(const struct crm_work *w, const struct crm_site *site,
                                        bool wants_new, bool desired)
{
    for (size_t i = 0; i < site->lrp_count; i++) {
        const struct crm_site_lrp *lrp = &site->lrps[i];
        if (is_new(w, lrp) == wants_new && lrp->desired == desired &&
            (desired || lrp->instances > 0)) {
            return lrp;
        }
    }
    return NULL;
}

static void tell(struct crm_step *ret, enum crm_step_kind kind, unsigned number, const char *text)
{
    ret->kind = kind;
    ret->number = number;
    ret->of = APP_STEPS;
    ret->text = text;
}

static void remove_it(struct crm_step *ret, const struct crm_site_lrp *lrp)
{
    ret->kind = STEP_REMOVE;
    ret->process_guid = lrp->process_guid;
}

/* All that is desired goes, and nothing is done before its instances have gone too. */
static bool remove_others(const struct crm_work *w, struct arena *a, const struct crm_site *site,
                          struct crm_step *ret)
{
    const struct crm_site_lrp *old = first(w, site, false, true);
    const struct crm_site_lrp *rest = first(w, site, false, false);
    if (old) {
        remove_it(ret, old);
    } else if (rest) {
        tell(ret, STEP_WAIT, APP_STEPS,
             arena_printf(a, "%u instances of the former end", rest->instances));
    }
    return old || rest;
}

/* What it made goes; but for one that has run, beside which only the old has not gone. */
static void undo(const struct crm_work *w, const struct crm_site *site, struct crm_step *ret)
{
    const struct crm_site_lrp *made = w->task == WORK_REMOVE ? NULL : first(w, site, true, true);
    const struct crm_site_lrp *rest = w->task == WORK_REMOVE ? NULL : first(w, site, true, false);
    if (made && made->ran < made->wanted) {
        remove_it(ret, made);
    } else {
        ret->kind = rest && !made ? STEP_WAIT : STEP_DONE;
    }
}

/* 1. It fails.
 * 2. What is to go goes; of a replacement what stands of other digests goes first.
 * 3. The new one is desired.
 * 4. Each of its instances is awaited.
 * 5. What stands beside it goes. */
void crm_app_step(const struct crm_work *w, struct arena *a, const struct crm_site *site,
                  struct crm_step *ret)
{
    if (w->undoing) { /* 1 */
        undo(w, site, ret);
        return;
    }
    assert(w->task != WORK_REMOVE || !*w->digest);                /* so that nothing is new */
    if (w->task != WORK_MAKE && remove_others(w, a, site, ret)) { /* 2 */
        return;
    }
    if (w->task == WORK_REMOVE) {
        ret->kind = STEP_DONE;
        return;
    }
    const struct crm_site_lrp *made = first(w, site, true, true);
    if (!made) { /* 3 */
        tell(ret, STEP_DESIRE, 1, "it is desired at the site");
    } else if (made->ran < made->wanted) { /* 4 */
        tell(ret, STEP_WAIT, 2,
             arena_printf(a, "%u of %u instances RUNNING%s%.300s", made->ran, made->wanted,
                          made->why ? ": " : "", made->why ? made->why : ""));
        ret->error = made->why;
    } else if (!remove_others(w, a, site, ret)) { /* 5 */
        ret->kind = STEP_DONE;
    }
}

const char *crm_app_leaves(const struct crm_work *w, struct arena *a, const struct crm_site *site)
{
    const char *left = NULL;
    const struct crm_site_lrp *came = first(w, site, true, true);
    bool has_run = came && came->ran >= came->wanted;
    for (size_t i = 0; i < site->lrp_count; i++) {
        const struct crm_site_lrp *lrp = &site->lrps[i];
        bool made = w->task != WORK_REMOVE && is_new(w, lrp);
        bool was_to_go = made ? !has_run : w->task != WORK_MAKE || has_run;
        if ((lrp->desired || lrp->instances > 0) && was_to_go) {
            left = left ? arena_printf(a, "%s, %s", left, lrp->process_guid)
                        : arena_strdup(a, lrp->process_guid);
        }
    }
    return left;
}
