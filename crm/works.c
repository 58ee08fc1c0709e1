#include "crm/works.h"

#include "common/base/bytes.h"
#include "common/base/memory.h"
#include "common/base/message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct running_work {
    struct crm_work work;
    bool asked;    /* an answer is awaited */
    bool failed;   /* it is over, and its record does not know yet */
    bool planned;  /* in this plan */
    char *error;   /* of a failed one */
    uint64_t told; /* hash of the last line of progress */
};

static void running_free(void *value)
{
    struct running_work *r = value;
    crm_work_done(&r->work);
    free(r->error);
    free(r);
}

void crm_works_init(struct crm_works *w)
{
    map_init(&w->by_uid);
    w->ended = 0;
}

void crm_works_done(struct crm_works *w)
{
    if (w) {
        map_done(&w->by_uid, running_free);
    }
}

size_t crm_works_busy(const struct crm_works *w, struct arena *a, const char *const **ret_uids)
{
    const char **list = ARENA_ARRAY(a, w->by_uid.count, const char *);
    size_t count = 0;
    MAP_EACH(&w->by_uid, n)
    {
        if (!((const struct running_work *)map_value(n))->failed) {
            list[count++] = arena_strdup(a, map_key(n));
        }
    }
    *ret_uids = list;
    return count;
}

bool crm_works_show(const struct crm_works *w, const char *uid, struct crm_underway *ret)
{
    const struct running_work *r = map_get(&w->by_uid, uid);
    if (r) {
        *ret = (struct crm_underway){.work = &r->work, .failed = r->failed ? r->error : NULL};
    }
    return r != NULL;
}

/* ---- The plan -------------------------------------------------------------------------------- */

static uint64_t request_of(const struct crm_planned *p)
{
    return p->record ? p->record->request : 0;
}

/* What has no record has no operation, and its removal none that waits for it. */
static int64_t limit_of(const struct crm_planned *p)
{
    return p->record && p->record->limit_ns > 0 ? p->record->limit_ns : 20 * 60 * SECOND_NS;
}

static void drop_unplanned(struct crm_works *w, const struct crm_plan *plan)
{
    MAP_EACH(&w->by_uid, n)
    {
        ((struct running_work *)map_value(n))->planned = false;
    }
    for (size_t i = 0; i < plan->count; i++) {
        const struct crm_planned *p = &plan->list[i];
        struct running_work *r = map_get(&w->by_uid, p->uid);
        if (r) {
            r->planned = p->action.work != WORK_NONE && crm_work_serves(&r->work, p, request_of(p));
        }
    }
    MAP_EACH(&w->by_uid, n)
    {
        struct running_work *r = map_value(n);
        if (!r->planned) {
            map_remove(&w->by_uid, map_key(n));
            running_free(r);
            w->ended++;
        }
    }
}

static void begin(struct crm_works *w, const struct crm_planned *p, int64_t now_ns)
{
    struct running_work *r = mem_zeroed(sizeof(*r));
    assert(!map_get(&w->by_uid, p->uid) && !p->waits_for);
    crm_work_init(&r->work, p, request_of(p), limit_of(p), now_ns);
    map_put(&w->by_uid, p->uid, r);
}

size_t crm_works_follow(struct crm_works *w, struct arena *a, const struct crm_plan *plan,
                        int64_t now_ns, struct crm_said **ret_list)
{
    struct crm_said *list = ARENA_ARRAY(a, plan->count, struct crm_said);
    size_t count = 0;
    drop_unplanned(w, plan); /* 1 */
    for (size_t i = 0; i < plan->count; i++) {
        const struct crm_planned *p = &plan->list[i];
        const struct running_work *r = map_get(&w->by_uid, p->uid);
        struct crm_said said = {.about = p, .say = p->action.say};
        if (r && r->failed) { /* 3 */
            said.say = p->record ? SAY_FAIL : SAY_NOTHING;
            said.error = arena_strdup(a, r->error);
        } else if (!r && p->waits_for) {
            said.say = p->action.say == SAY_REPORT ? SAY_REPORT : SAY_NOTHING;
        } else if (!r && p->action.work != WORK_NONE) { /* 2 */
            begin(w, p, now_ns);
        }
        assert(said.say != SAY_FAIL || said.error);
        if (said.say != SAY_NOTHING) { /* 4 */
            list[count++] = said;
        }
    }
    *ret_list = list;
    return count;
}

/* ---- The works ------------------------------------------------------------------------------- */

/* The line of progress is new. */
static bool is_news(struct running_work *r, const struct crm_step *step)
{
    uint64_t hash = step->text ? bytes_hash(bytes_of(step->text)) : r->told;
    bool news = hash != r->told;
    r->told = hash;
    return news;
}

size_t crm_works_next(struct crm_works *w, struct arena *a,
                      void (*site)(void *context, struct arena *a, const char *uid,
                                   struct crm_site *ret),
                      void *context, int64_t now_ns, struct crm_wanted **ret_list)
{
    struct crm_wanted *list = ARENA_ARRAY(a, w->by_uid.count, struct crm_wanted);
    size_t count = 0;
    MAP_EACH(&w->by_uid, n)
    {
        struct running_work *r = map_value(n);
        struct crm_site here;
        struct crm_step step;
        if (r->asked || r->failed) {
            continue;
        }
        site(context, a, map_key(n), &here);
        crm_work_next(&r->work, a, &here, now_ns, &step);
        bool news = is_news(r, &step);
        if (step.kind == STEP_DONE) {
            map_remove(&w->by_uid, map_key(n));
            running_free(r);
            w->ended++;
        } else if (step.kind == STEP_FAILED) {
            r->failed = true;
            w->ended++;
            r->error = mem_text(step.error);
        } else if (step.kind != STEP_WAIT || news) {
            step.text = news ? step.text : NULL;
            r->asked = step.kind != STEP_WAIT;
            list[count++] = (struct crm_wanted){.work = &r->work, .step = step};
        }
    }
    *ret_list = list;
    return count;
}

void crm_works_answered(struct crm_works *w, const char *uid, uint64_t request,
                        enum crm_answer answer, const char *why, int64_t now_ns)
{
    struct running_work *r = map_get(&w->by_uid, uid);
    if (r && r->asked && r->work.request == request) {
        r->asked = false;
        crm_work_answered(&r->work, answer, why, now_ns);
    }
}

int64_t crm_works_due_ns(const struct crm_works *w)
{
    int64_t due = NEVER_NS;
    MAP_EACH(&w->by_uid, n)
    {
        const struct running_work *r = map_value(n);
        int64_t one = r->asked || r->failed ? NEVER_NS : crm_work_due_ns(&r->work);
        due = one < due ? one : due;
    }
    return due;
}
