/* desire: a new task (behaviour.md 13.3). */
#include "bbs/board/errors.h"
#include "bbs/task/task.h"
#include "common/lifecycle/task.h"

#include <assert.h>

static const Models__DesireTaskRequest *asked(const struct op_input *in)
{
    return (const Models__DesireTaskRequest *)in->request;
}

static const char *desire_target(struct arena *a, const struct op_input *in)
{
    return key_task(a, asked(in)->task_guid);
}

static void desire_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct task_snapshot *s = snapshot;
    s->task = view_message(v, desire_target(view_arena(v), in));
}

static Models__Task *desired_task(struct arena *a, const Models__DesireTaskRequest *r,
                                  struct moment now)
{
    Models__Task *task = arena_message(a, &models__task__descriptor);
    task->task_definition = r->task_definition;
    task->task_guid = r->task_guid;
    task->domain = r->domain;
    task->created_at = now.wall_ns;
    task->updated_at = now.wall_ns;
    task->state = MODELS__TASK__STATE__Pending;
    task->owner = r->owner;
    assert(*r->task_guid); /* the route has looked */
    if (r->optional_max_retries_case ==
        MODELS__DESIRE_TASK_REQUEST__OPTIONAL_MAX_RETRIES_MAX_RETRIES) {
        task->optional_max_retries_case = MODELS__TASK__OPTIONAL_MAX_RETRIES_MAX_RETRIES;
        task->max_retries = r->max_retries;
    }
    if (r->optional_keep_s_case == MODELS__DESIRE_TASK_REQUEST__OPTIONAL_KEEP_S_KEEP_S) {
        task->optional_keep_s_case = MODELS__TASK__OPTIONAL_KEEP_S_KEEP_S;
        task->keep_s = r->keep_s;
    }
    return task;
}

/* 1. The guid is in use, in whatever domain and state: ResourceExists.
 * 2. It would leave no room for its outcome: InvalidRequest.
 * 3. Pending, and the auctioneer is notified. */
void task_desire_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct task_snapshot *s = snapshot;
    if (s->task) { /* 1 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceExists);
        return;
    }
    int to = lifecycle_transition(&task_lifecycle, TASK_NONE, in->actor, TASK_TRIGGER_DESIRE, 0);
    assert(to == TASK_PENDING);
    Models__Task *task = desired_task(p->arena, asked(in), in->now);
    if (models__task__get_packed_size(task) > TASK_BYTES_MAX - TASK_OUTCOME_BYTES_MAX) { /* 2 */
        plan_refuse_as(p, MODELS__ERROR__TYPE__InvalidRequest);
        return;
    }
    p->record = &task->base; /* 3 */
    plan_put(p, key_task(p->arena, task->task_guid), "desire", in->actor, &task->base);
    plan_notice_task(p, task->task_guid);
}

const struct op_row desire_task_row = {
    .name = "desire task",
    .target = desire_target,
    .gather = desire_gather,
    .decide = task_desire_decide,
    .snapshot_size = sizeof(struct task_snapshot),
};
