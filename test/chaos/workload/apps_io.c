/* Apps that are always desired, one of them in a domain that nobody keeps fresh; and one that
 * comes, is scaled up and down, and goes again and again. */
#include "test/chaos/workload/asks.h"
#include "test/chaos/workload/work.h"

#include "models/domain.pb-c.h"
#include "models/error.pb-c.h"

enum { DOMAIN_TTL_S = 120, DOMAIN_AGAIN_S = 20 };

const struct steady_app steady_apps[WORK_APPS] = {
    {"five", CHAOS_DOMAIN, 5},
    {"one", CHAOS_DOMAIN, 1},
    {"two", CHAOS_DOMAIN, 2},
    {"stale", CHAOS_STALE_DOMAIN, 2},
};

/* Not of the judge's registers, but for what was asked of each app. */
static struct reply desire(struct worker *w, struct arena *a, const char *guid, const char *domain,
                           const char *value, int instances)
{
    struct ask_lrp lrp = {guid, domain, w->work->target.rootfs, value, instances};
    return worker_ask(
        w, a,
        &(struct asked){.op = "create",
                        .key = arena_printf(a, "lrp/%s", guid),
                        .value = value,
                        .instances = instances,
                        .path = "/v1/desired_lrp/desire.r2",
                        .request = ask_desire(a, &lrp),
                        .answer_type = &models__desired_lrplifecycle_response__descriptor});
}

static struct reply scale(struct worker *w, struct arena *a, const char *guid, const char *value,
                          int instances)
{
    return worker_ask(
        w, a,
        &(struct asked){.op = "update",
                        .key = arena_printf(a, "lrp/%s", guid),
                        .value = value,
                        .instances = instances,
                        .path = "/v1/desired_lrp/update",
                        .request = ask_update(a, guid, value, instances),
                        .answer_type = &models__desired_lrplifecycle_response__descriptor});
}

static struct reply remove_app(struct worker *w, struct arena *a, const char *guid)
{
    return worker_ask(
        w, a,
        &(struct asked){.op = "remove",
                        .key = arena_printf(a, "lrp/%s", guid),
                        .instances = -1,
                        .path = "/v1/desired_lrp/remove",
                        .request = ask_remove(a, guid),
                        .answer_type = &models__desired_lrplifecycle_response__descriptor});
}

static void upsert(struct worker *w, struct arena *a)
{
    worker_ask(w, a,
               &(struct asked){.op = "upsert",
                               .key = "domain/" CHAOS_DOMAIN,
                               .instances = -1,
                               .path = "/v1/domains/upsert",
                               .request = ask_domain(a, CHAOS_DOMAIN, DOMAIN_TTL_S),
                               .answer_type = &models__upsert_domain_response__descriptor});
}

/* Waits for a second at a time; false when the work is to rest. */
static bool pause_s(struct worker *w, int seconds)
{
    for (int i = 0; i < seconds * 10 && !atomic_load(&w->work->rest); i++) {
        chaos_sleep_ms(100);
    }
    return !atomic_load(&w->work->rest);
}

void *work_apps(void *worker)
{
    struct worker *w = worker;
    bool done[WORK_APPS] = {false};
    do {
        SCOPED_ARENA(a);
        upsert(w, &a);
        bool all = true;
        for (int i = 0; i < WORK_APPS; i++) {
            const struct steady_app *app = &steady_apps[i];
            const char *guid = arena_printf(&a, "%s-%s", w->work->run, app->name);
            struct reply r = {.outcome = OUTCOME_OK};
            if (!done[i]) {
                r = desire(w, &a, guid, app->domain, "desired", app->instances);
            }
            done[i] =
                r.outcome == OUTCOME_OK || r.error_type == MODELS__ERROR__TYPE__ResourceExists;
            all = all && done[i];
        }
        if (!pause_s(w, all ? DOMAIN_AGAIN_S : 1)) {
            return NULL;
        }
    } while (true);
}

void *work_churn(void *worker)
{
    struct worker *w = worker;
    for (unsigned long n = 0; pause_s(w, 1); n++) {
        SCOPED_ARENA(a);
        const char *guid = arena_printf(&a, "%s-churn-%lu", w->work->run, n);
        if (desire(w, &a, guid, CHAOS_DOMAIN, "begun", 2).outcome == OUTCOME_FAILED) {
            continue; /* the next one has a guid of its own */
        }
        for (int step = 0; step < 3 && pause_s(w, 5); step++) {
            scale(w, &a, guid, arena_printf(&a, "step-%d", step), 1 + (int)worker_draw(w, 4));
        }
        /* A removal whose answer was lost is asked again: it is another call, recorded as such. */
        for (int try = 0; try < 100; try++) {
            struct reply r = remove_app(w, &a, guid);
            if (r.outcome == OUTCOME_OK || r.error_type == MODELS__ERROR__TYPE__ResourceNotFound ||
                atomic_load(&w->work->stop)) {
                break;
            }
            chaos_sleep_ms(500);
        }
    }
    return NULL;
}

void work_remove_apps(struct worker *w)
{
    for (int i = 0; i < WORK_APPS; i++) {
        SCOPED_ARENA(a);
        (void)remove_app(w, &a, arena_printf(&a, "%s-%s", w->work->run, steady_apps[i].name));
    }
}
