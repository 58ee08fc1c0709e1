#include "bbs/cli/task_calls_io.h"

#include "bbs/cli/tasks.h"

#include <string.h>

/* What a bbs gives as the failure of a task that was cancelled (behaviour.md 13.3). */
#define TASK_CANCELLED_REASON "task was cancelled"

int session_tasks(struct session *s, const char *domain, const char *cell,
                  Models__Task ***ret_tasks, size_t *ret_count, struct err *err)
{
    Models__TasksRequest request = MODELS__TASKS_REQUEST__INIT;
    request.domain = arena_strdup(&s->arena, domain);
    request.cell_id = arena_strdup(&s->arena, cell);
    ProtobufCMessage *m;
    int r = cli_client_call(s->client, &s->arena, "/v1/tasks/list.r3", &request.base,
                            &models__tasks_response__descriptor, &m, err);
    if (r == 0) {
        const Models__TasksResponse *answer = (const Models__TasksResponse *)m;
        *ret_tasks = answer->tasks;
        *ret_count = answer->n_tasks;
    }
    return r;
}

int session_task_by_guid(struct session *s, struct arena *a, const char *guid,
                         Models__Task **ret_task, struct err *err)
{
    Models__TaskByGuidRequest request = MODELS__TASK_BY_GUID_REQUEST__INIT;
    request.task_guid = arena_strdup(a, guid);
    ProtobufCMessage *m;
    int r = cli_client_call(s->client, a, "/v1/tasks/get_by_task_guid.r3", &request.base,
                            &models__task_response__descriptor, &m, err);
    if (r == 0) {
        *ret_task = ((const Models__TaskResponse *)m)->task;
        r = *ret_task ? 0 : err_set(err, ERR_NOT_FOUND, "no such task");
    }
    return r;
}

static bool is_process(struct session *s, const char *name)
{
    Models__DesiredLRP **lrps, **found;
    size_t count;
    return session_desired(s, "", &lrps, &count, NULL) == 0 &&
           lrps_named(&s->arena, lrps, count, name, &found) > 0;
}

int session_no_task(struct session *s, const char *name, Models__Task *const *tasks, size_t count,
                    struct err *err)
{
    if (is_process(s, name)) {
        return err_set(err, ERR_NOT_FOUND,
                       "no task \"%.60s\", but a process: see bbs ps, logs, why", name);
    }
    return name_no_task(name, tasks, count, err);
}

int session_task(struct session *s, const char *name, Models__Task **ret_task, struct err *err)
{
    Models__Task **tasks, **found;
    size_t count;
    int r = session_task_by_guid(s, &s->arena, name, ret_task, err);
    if (r != -ERR_NOT_FOUND) {
        return r;
    }
    r = session_tasks(s, "", "", &tasks, &count, err);
    if (r < 0) {
        return r;
    }
    size_t named =
        tasks_selected(&s->arena, tasks, count, &(struct task_selection){.name = name}, &found);
    Models__Task *meant = task_meant(found, named);
    if (meant) {
        *ret_task = meant;
        return 0;
    }
    if (named > 0) {
        return err_set(err, ERR_CONFLICT,
                       "several tasks called \"%.60s\" are not over; give a guid: bbs tasks %.60s "
                       "shows them",
                       name, name);
    }
    return session_no_task(s, name, tasks, count, err);
}

static int post_guid(struct session *s, const char *path, const char *guid, struct err *err)
{
    Models__TaskGuidRequest request = MODELS__TASK_GUID_REQUEST__INIT;
    request.task_guid = arena_strdup(&s->arena, guid);
    ProtobufCMessage *m;
    return cli_client_call(s->client, &s->arena, path, &request.base,
                           &models__task_lifecycle_response__descriptor, &m, err);
}

int session_cancel_task(struct session *s, const char *guid, struct err *err)
{
    Models__Task *task;
    int r = post_guid(s, "/v1/tasks/cancel", guid, err);
    if (!cli_client_may_have_done(s->client)) {
        return r;
    }
    if (r == -ERR_NOT_FOUND) {
        return 0; /* it was cancelled, and deleted when its callback had been made */
    }
    struct err first = *err;
    if (r == -ERR_CONFLICT && session_task_by_guid(s, &s->arena, guid, &task, NULL) == 0 &&
        task->failed && strcmp(task->failure_reason, TASK_CANCELLED_REASON) == 0) {
        return 0;
    }
    *err = first;
    return r;
}

/* Whoever resolves it already may delete it, too: then it is gone. */
int session_delete_task(struct session *s, const char *guid, struct err *err)
{
    int r = post_guid(s, "/v1/tasks/resolving", guid, err);
    if (r == 0 || r == -ERR_CONFLICT) {
        r = post_guid(s, "/v1/tasks/delete", guid, err);
    }
    return r == -ERR_NOT_FOUND ? 0 : r;
}
