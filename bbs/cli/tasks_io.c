/* bbs run, tasks, task, cancel. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/session_io.h"
#include "bbs/cli/tasks.h"
#include "common/appfile/app_file_io.h"
#include "common/appfile/task_app.h"
#include "common/cli/cli_io.h"
#include "common/codec/nearest.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum { POLL_MS = 100, POLL_SLOW_MS = 1000, POLL_SLOW_AFTER_MS = 10000, ANSWER_MS = 10000 };

const struct cli_option bbs_run_options[] = {
    {.name = "wait", .help = "wait until it is over, and end as it did: 0 succeeded, 1 failed"},
    {.name = "rm", .help = "with --wait: delete it then; otherwise it is kept as its file says"},
    {.name = "timeout", .value = "TIME", .help = "how long to wait; it goes on", .fallback = "1h"},
    {0},
};

const struct cli_option bbs_task_options[] = {
    {.name = "rm", .help = "delete it afterwards, when it is over"},
    {0},
};

const struct cli_option bbs_tasks_options[] = {
    {.name = "domain", .value = "DOMAIN", .help = "only those of this domain"},
    {.name = "cell", .value = "ID", .help = "only those on this cell"},
    {.name = "state",
     .value = "pending|running|completed|resolving|succeeded|failed",
     .help = "only those"},
    {0},
};

static int get_tasks(struct session *s, const char *domain, const char *cell,
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

static int get_task(struct session *s, struct arena *a, const char *guid, Models__Task **ret_task,
                    struct err *err)
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

int session_task(struct session *s, const char *name, Models__Task **ret_task, struct err *err)
{
    Models__Task **tasks, **found;
    size_t count;
    struct nearest n;
    int r = get_task(s, &s->arena, name, ret_task, err);
    if (r != -ERR_NOT_FOUND) {
        return r;
    }
    r = get_tasks(s, "", "", &tasks, &count, err);
    if (r < 0) {
        return r;
    }
    size_t named =
        tasks_selected(&s->arena, tasks, count, &(struct task_selection){.name = name}, &found);
    if (named == 1) {
        *ret_task = found[0];
        return 0;
    }
    if (named > 1) {
        return err_set(err, ERR_CONFLICT,
                       "%zu tasks are called \"%.60s\"; give a guid: bbs tasks %.60s shows them",
                       named, name, name);
    }
    nearest_begin(&n, name);
    for (size_t i = 0; i < count; i++) {
        nearest_consider(&n, task_name(tasks[i]));
        nearest_consider(&n, tasks[i]->task_guid);
    }
    return n.best ? err_set(err, ERR_NOT_FOUND, "no task \"%.60s\"; did you mean \"%.60s\"?", name,
                            n.best)
                  : err_set(err, ERR_NOT_FOUND, "no task \"%.60s\"; bbs tasks shows all", name);
}

static int post_guid(struct session *s, const char *path, const char *guid, struct err *err)
{
    Models__TaskGuidRequest request = MODELS__TASK_GUID_REQUEST__INIT;
    request.task_guid = arena_strdup(&s->arena, guid);
    ProtobufCMessage *m;
    return cli_client_call(s->client, &s->arena, path, &request.base,
                           &models__task_lifecycle_response__descriptor, &m, err);
}

/* As Diego's clients do. Whoever resolves it already may delete it, too: then it is gone. */
static int delete_task(struct session *s, const char *guid, struct err *err)
{
    int r = post_guid(s, "/v1/tasks/resolving", guid, err);
    if (r == 0 || r == -ERR_CONFLICT) {
        r = post_guid(s, "/v1/tasks/delete", guid, err);
    }
    return r == -ERR_NOT_FOUND ? 0 : r;
}

/* ---- tasks ---- */

static int show_tasks(struct session *s, const struct invocation *call, struct err *err)
{
    Models__Task **tasks, **found;
    size_t count;
    const char *domain = cli_text(call, "domain"), *cell = cli_text(call, "cell");
    struct task_selection selection = {.name = call->argument_count ? call->arguments[0] : NULL};
    int r = cli_choice(call, "state", &selection.state, err);
    r = r < 0 ? r : get_tasks(s, domain ? domain : "", cell ? cell : "", &tasks, &count, err);
    if (r < 0) {
        return r;
    }
    struct buf out;
    buf_init(&out);
    size_t n = tasks_selected(&s->arena, tasks, count, &selection, &found);
    for (size_t i = 0; s->json && i < n; i++) {
        session_json(s, &found[i]->base, &out);
    }
    if (!s->json) {
        tasks_table(&s->arena, found, n, cli_wall_ns(), &out);
    }
    r = cli_print(buf_bytes(&out), err);
    buf_done(&out);
    return r;
}

int bbs_tasks_run(const struct invocation *call, struct err *err)
{
    struct session s;
    int r = session_open(call, &s, err);
    r = r < 0 ? r : show_tasks(&s, call, err);
    session_close(&s);
    return r;
}

/* ---- task ---- */

static int show_task(struct session *s, const struct invocation *call, struct err *err)
{
    Models__Task *task;
    int r = session_task(s, call->arguments[0], &task, err);
    if (r < 0) {
        return r;
    }
    struct buf out;
    buf_init(&out);
    if (s->json) {
        session_json(s, &task->base, &out);
    } else {
        session_hide(s, &task->base);
        task_text(&s->arena, task, cli_wall_ns(), &out);
    }
    r = cli_print(buf_bytes(&out), err);
    buf_done(&out);
    if (r == 0 && cli_switch(call, "rm")) {
        r = task_is_over(task)
                ? delete_task(s, task->task_guid, err)
                : err_set(err, ERR_CONFLICT, "%.60s is not over: bbs cancel %.60s ends it",
                          task_name(task), task->task_guid);
    }
    return r;
}

int bbs_task_run(const struct invocation *call, struct err *err)
{
    struct session s;
    int r = session_open(call, &s, err);
    r = r < 0 ? r : show_task(&s, call, err);
    session_close(&s);
    return r;
}

/* ---- cancel ---- */

/* One that is over cannot be cancelled, which is what the bbs says; one that is over because it was
 * cancelled is as it should be. */
static int cancel_one(struct session *s, const char *name, struct err *err)
{
    Models__Task *task;
    int r = session_task(s, name, &task, err);
    if (r < 0) {
        return r;
    }
    if (task_is_over(task)) {
        return err_set(err, ERR_CONFLICT, "%.60s is over already: bbs task %.60s tells how", name,
                       task->task_guid);
    }
    r = post_guid(s, "/v1/tasks/cancel", task->task_guid, err);
    return r < 0 ? r : session_tell(s, task_name(task), task->task_guid, "cancelled", err);
}

int bbs_cancel_run(const struct invocation *call, struct err *err)
{
    struct session s;
    int r = session_open(call, &s, err);
    s.guid_key = "task_guid";
    for (size_t i = 0; r == 0 && i < call->argument_count; i++) {
        r = cancel_one(&s, call->arguments[i], err);
    }
    session_close(&s);
    return r;
}

/* ---- run ---- */

static const char *draw_guid(struct arena *a, const char *name)
{
    uint64_t id = 0;
    if (getrandom(&id, sizeof(id), 0) < 0) {
        id = (uint64_t)cli_wall_ns();
    }
    return arena_printf(a, "%s-%010llx", name, (unsigned long long)(id & 0xffffffffff));
}

/* A guid that was drawn exists only if an earlier try of ours, whose answer was lost, made it. */
static int desire(struct session *s, struct task_app *task, struct err *err)
{
    ProtobufCMessage *m;
    if (!task->guid_given) {
        task->request->task_guid = (char *)(uintptr_t)draw_guid(&s->arena, task->name);
    }
    int r = cli_client_call(s->client, &s->arena, "/v1/tasks/desire.r2", &task->request->base,
                            &models__task_lifecycle_response__descriptor, &m, err);
    if (r == -ERR_EXISTS && task->guid_given) {
        return err_set(err, ERR_CONFLICT, "a task with the guid \"%.60s\" exists already",
                       task->request->task_guid);
    }
    return r == -ERR_EXISTS ? 0 : r;
}

static int tell_outcome(struct session *s, const struct task_app *app, Models__Task *task,
                        struct err *err)
{
    struct buf out;
    buf_init(&out);
    if (s->json) {
        session_json(s, &task->base, &out);
    } else {
        task_outcome_text(&s->arena, app->name, task, &out);
    }
    int r = cli_print(buf_bytes(&out), err);
    buf_done(&out);
    return r;
}

/* Looks once: 1 when it is over, then the task is in the session's arena. */
static int look(struct session *s, const struct task_app *app, struct cli_progress *shown,
                char *text, size_t text_size, Models__Task **ret_task, struct err *err)
{
    struct arena a;
    arena_init(&a);
    cli_client_limit(s->client, ANSWER_MS);
    int r = get_task(s, &a, app->request->task_guid, ret_task, err);
    if (r == 0) {
        snprintf(text, text_size, "%s", task_progress_text(&a, app->name, *ret_task));
        cli_progress(shown, text);
        r = task_is_over(*ret_task);
    }
    arena_done(&a);
    return r > 0 ? (r = get_task(s, &s->arena, app->request->task_guid, ret_task, err)) < 0 ? r : 1
                 : r;
}

static int wait_for(struct session *s, const struct task_app *app, Models__Task **ret_task,
                    struct err *err)
{
    struct cli_progress shown = {0};
    char text[400] = "";
    int64_t passed_ms;
    int r;
    for (;;) {
        r = look(s, app, &shown, text, sizeof(text), ret_task, err);
        passed_ms = cli_now_ms() - s->begun_ms;
        bool again = r == 0 || r == -ERR_UNAVAILABLE || r == -ERR_TIMEOUT;
        if (!again || passed_ms >= s->timeout_ms || cli_interrupted()) {
            break;
        }
        cli_sleep_ms(passed_ms < POLL_SLOW_AFTER_MS ? POLL_MS : POLL_SLOW_MS);
    }
    cli_progress(&shown, NULL);
    if (r > 0) {
        return 0;
    }
    if (r == -ERR_NOT_FOUND) {
        return *app->request->task_definition->completion_callback_url
                   ? err_set(err, ERR_NOT_FOUND,
                             "%.60s is over, and its callback was told how; it has been deleted",
                             app->name)
                   : err_set(err, ERR_NOT_FOUND, "%.60s was deleted by somebody else", app->name);
    }
    if (cli_interrupted()) {
        return err_set(err, ERR_UNKNOWN, "interrupted");
    }
    return r < 0 ? r
                 : err_set(err, ERR_TIMEOUT, "after %lld s: %.150s; it goes on: bbs task %.60s",
                           (long long)(passed_ms / 1000), text, app->request->task_guid);
}

static int run(struct session *s, const struct invocation *call, struct err *err)
{
    struct bytes text;
    struct task_app app;
    Models__Task *task = NULL;
    int r = app_file_read(&s->arena, call->arguments[0], &text, err);
    r = r < 0 ? r : task_app_parse(&s->arena, call->arguments[0], text, &app, err);
    r = r < 0 ? r : desire(s, &app, err);
    if (r < 0) {
        return r;
    }
    if (!s->wait) {
        return session_tell(s, app.name, app.request->task_guid, "desired", err);
    }
    r = wait_for(s, &app, &task, err);
    r = r < 0 ? r : tell_outcome(s, &app, task, err);
    if (r == 0 && cli_switch(call, "rm")) {
        r = delete_task(s, task->task_guid, err);
    }
    return r < 0 ? r : task->failed ? CLI_FAILED : CLI_DONE;
}

int bbs_run_run(const struct invocation *call, struct err *err)
{
    struct session s;
    if (cli_switch(call, "rm") && !cli_switch(call, "wait")) {
        return err_set(err, ERR_INVALID, "--rm needs --wait: a task is deleted when it is over");
    }
    int r = session_open(call, &s, err);
    s.guid_key = "task_guid";
    r = r < 0 ? r : run(&s, call, err);
    session_close(&s);
    return r;
}
