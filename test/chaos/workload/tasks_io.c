/* Tasks, one after the other and each with a guid of its own: desired, watched until it is over,
 * resolved and deleted; each tenth is cancelled. */
#include "test/chaos/workload/asks.h"
#include "test/chaos/workload/work.h"

#include <stdio.h>

enum { TASK_SECONDS_MAX = 3, TASK_PATIENCE_MS = 150000, TASK_LOOK_MS = 250 };

static const char *const state_words[] = {"Invalid", "Pending", "Running", "Completed",
                                          "Resolving"};

/* "Running", "Completed:RESULT", "Completed!REASON" of one that failed; null: there is none. */
static json_t *see_task(const ProtobufCMessage *answer)
{
    const Models__TaskResponse *r = (const void *)answer;
    const Models__Task *t = r->task;
    char text[512];
    if (!t || (unsigned)t->state >= 5) {
        return json_null();
    }
    bool over = t->state >= MODELS__TASK__STATE__Completed;
    snprintf(text, sizeof(text), "%s%s%.200s", state_words[t->state],
             !over       ? ""
             : t->failed ? "!"
                         : ":",
             !over       ? ""
             : t->failed ? t->failure_reason
                         : t->result);
    json_t *saw = json_string(text);
    return saw ? saw : json_string("unreadable");
}

static struct reply ask_task_op(struct worker *w, struct arena *a, const char *guid, const char *op,
                                const char *path)
{
    return worker_ask(w, a,
                      &(struct asked){.op = op,
                                      .key = arena_printf(a, "task/%s", guid),
                                      .instances = -1,
                                      .path = path,
                                      .request = ask_of_task(a, guid),
                                      .answer_type = &models__task_lifecycle_response__descriptor});
}

static struct reply desire(struct worker *w, struct arena *a, const char *guid)
{
    int seconds = 1 + (int)worker_draw(w, TASK_SECONDS_MAX);
    return worker_ask(
        w, a,
        &(struct asked){.op = "task_create",
                        .key = arena_printf(a, "task/%s", guid),
                        .instances = -1,
                        .path = "/v1/tasks/desire.r2",
                        .request = ask_task(a, guid, CHAOS_DOMAIN, w->work->target.rootfs, seconds),
                        .answer_type = &models__task_lifecycle_response__descriptor});
}

/* Whether it is over or gone. */
static bool is_over(struct worker *w, struct arena *a, const char *guid)
{
    struct reply r = worker_ask(w, a,
                                &(struct asked){.op = "task_get",
                                                .key = arena_printf(a, "task/%s", guid),
                                                .instances = -1,
                                                .path = "/v1/tasks/get_by_task_guid.r3",
                                                .request = ask_task_get(a, guid),
                                                .answer_type = &models__task_response__descriptor,
                                                .see = see_task});
    const Models__TaskResponse *t = (const void *)r.message;
    return r.outcome == OUTCOME_OK &&
           (!t || !t->task || t->task->state >= MODELS__TASK__STATE__Completed);
}

static void await_end(struct worker *w, struct arena *a, const char *guid)
{
    int64_t until = chaos_now_ns() + (int64_t)TASK_PATIENCE_MS * 1000000;
    while (!is_over(w, a, guid) && chaos_now_ns() < until && !atomic_load(&w->work->stop)) {
        chaos_sleep_ms(TASK_LOOK_MS);
    }
}

/* Several at a time are several of these threads. */
void *work_tasks(void *worker)
{
    struct worker *w = worker;
    for (unsigned long n = 0; !atomic_load(&w->work->rest); n++) {
        SCOPED_ARENA(a);
        const char *guid = arena_printf(&a, "%s-task-%d-%lu", w->work->run, w->number, n);
        struct reply r = desire(w, &a, guid);
        if (r.outcome != OUTCOME_FAILED) {
            if (worker_draw(w, 10) == 0) {
                chaos_sleep_ms((int64_t)worker_draw(w, 1500));
                ask_task_op(w, &a, guid, "task_cancel", "/v1/tasks/cancel");
            }
            await_end(w, &a, guid);
            ask_task_op(w, &a, guid, "task_resolve", "/v1/tasks/resolving");
            is_over(w, &a, guid);
            ask_task_op(w, &a, guid, "task_delete", "/v1/tasks/delete");
            is_over(w, &a, guid);
        }
        chaos_sleep_ms(500);
    }
    return NULL;
}
