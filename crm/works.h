/* The works of a CRM: one an object, CRM_WORKS_MAX under way, begun and given up as the plan says
 * (crm/harmonise.h). Pure; time is monotonic. */
#pragma once

#include "crm/work.h"

#include "common/base/map.h"

struct crm_works {
    struct map by_uid;
    uint64_t ended; /* so far: what waited for one of them need not wait any more */
};

void crm_works_init(struct crm_works *w);
void crm_works_done(struct crm_works *w);

/* Those under way, for the plan; in the arena. */
size_t crm_works_busy(const struct crm_works *w, struct arena *a, const char *const **ret_uids);

/* For people: the work of this uid; false: there is none. Borrowed. */
struct crm_underway {
    const struct crm_work *work;
    const char *failed; /* why; NULL = it goes on */
};
bool crm_works_show(const struct crm_works *w, const char *uid, struct crm_underway *ret);

/* What the centre is to be told now; borrowed from the plan, but for the error. */
struct crm_said {
    const struct crm_planned *about;
    enum crm_say say;
    const char *error; /* of FAIL */
};

/* 1. A work that is not planned any more, or of another request, is over: nobody hears of it.
 * 2. What is planned and does not wait is begun, and said to be, until the record says so too.
 * 3. A work that failed is not begun again: it is said to have failed until the record is another
 *    one.
 * 4. What the plan says is said each time. */
size_t crm_works_follow(struct crm_works *w, struct arena *a, const struct crm_plan *plan,
                        int64_t now_ns, struct crm_said **ret_list);

/* What a work wants now. */
struct crm_wanted {
    const struct crm_work *work;
    struct crm_step step; /* STEP_WAIT: only its line of progress */
};

/* Asks each work that awaits no answer; `site` gives what the board has of a uid, in the arena. Its
 * line of progress comes once. One that is DONE is over, and the next plan says so; one that FAILED
 * stays, and the next plan says that. */
size_t crm_works_next(struct crm_works *w, struct arena *a,
                      void (*site)(void *context, struct arena *a, const char *uid,
                                   struct crm_site *ret),
                      void *context, int64_t now_ns, struct crm_wanted **ret_list);

/* The move that the work of this uid asked for has become of; nothing if it is over by now. */
void crm_works_answered(struct crm_works *w, const char *uid, uint64_t request,
                        enum crm_answer answer, const char *why, int64_t now_ns);

/* When a work wants to be asked again, though nothing changed; NEVER_NS = none does. */
int64_t crm_works_due_ns(const struct crm_works *w);
