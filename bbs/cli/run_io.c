/* bbs run. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/file_kind.h"
#include "bbs/cli/session_io.h"
#include "bbs/cli/systems_io.h"
#include "bbs/cli/task_calls_io.h"
#include "bbs/cli/tasks.h"
#include "common/appfile/app_file_io.h"
#include "common/appfile/task_app.h"
#include "common/cli/cli_io.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { POLL_MS = 100, POLL_SLOW_MS = 1000, POLL_SLOW_AFTER_MS = 10000, ANSWER_MS = 10000 };

const struct cli_option bbs_run_options[] = {
    {.name = "wait", .help = "wait until it is over, and end as it did: 0 succeeded, 1 failed"},
    {.name = "rm", .help = "with --wait: delete it then; otherwise it is kept as its file says"},
    {.name = "timeout", .value = "TIME", .help = "how long to wait; it goes on", .fallback = "1h"},
    {0},
};

static const char *draw_guid(struct arena *a, const char *name)
{
    uint64_t id = 0;
    if (getrandom(&id, sizeof(id), 0) < 0) {
        id = (uint64_t)cli_wall_ns();
    }
    return arena_printf(a, "%s-%010llx", name, (unsigned long long)(id & 0xffffffffff));
}

/* How much of another text fits beside a guid: the guid must be whole, or nobody finds the task. */
static int room_beside(const char *guid)
{
    int room = 190 - (int)strlen(guid);
    return room > 20 ? room : 20;
}

/* A guid that was drawn exists only if an earlier try of ours, whose answer was lost, made it; so
 * does one that was given, if there was such a try. */
static int desire(struct session *s, struct task_app *task, struct err *err)
{
    ProtobufCMessage *m;
    if (!task->guid_given) {
        task->request->task_guid = (char *)(uintptr_t)draw_guid(&s->arena, task->name);
    }
    const char *guid = task->request->task_guid;
    cli_client_limit(s->client, s->timeout_ms < ANSWER_MS ? s->timeout_ms : ANSWER_MS);
    int r = cli_client_call(s->client, &s->arena, "/v1/tasks/desire.r2", &task->request->base,
                            &models__task_lifecycle_response__descriptor, &m, err);
    bool may_have_done = cli_client_may_have_done(s->client);
    if (r == -ERR_EXISTS && task->guid_given && !may_have_done) {
        return err_set(err, ERR_CONFLICT, "a task with the guid \"%.60s\" exists already", guid);
    }
    if (r < 0 && r != -ERR_EXISTS && may_have_done) {
        struct err inner = *err;
        return err_set(err, inner.code, "%.*s; it may run all the same: bbs task %s",
                       room_beside(guid), inner.text, guid);
    }
    return r == -ERR_EXISTS ? 0 : r;
}

static int tell_outcome(struct session *s, const struct task_app *app, Models__Task *task,
                        struct err *err)
{
    SCOPED_BUF(out);
    if (s->json) {
        session_json(s, &task->base, &out);
    } else {
        task_outcome_text(&s->arena, app->name, task, &out);
    }
    return session_print(s, buf_bytes(&out), err);
}

/* Looks once: 1 when it is over, then the task is in the session's arena. */
static int look(struct session *s, const struct task_app *app, struct cli_progress *shown,
                char *text, size_t text_size, Models__Task **ret_task, struct err *err)
{
    SCOPED_ARENA(a);
    cli_client_limit(s->client, session_look_ms(session_left_ms(s)));
    int r = session_task_by_guid(s, &a, app->request->task_guid, ret_task, err);
    if (r == 0) {
        snprintf(text, text_size, "%s", task_progress_text(&a, app->name, *ret_task));
        cli_progress(shown, text);
        r = task_is_over(*ret_task);
    }
    if (r > 0) { /* once more, to be kept */
        r = session_task_by_guid(s, &s->arena, app->request->task_guid, ret_task, err);
        r = r < 0 ? r : 1;
    }
    return r;
}

/* It was waited for in vain: by which guid the task is found again. `r`: 0 or what ended the
 * waiting. */
static int goes_on(const struct task_app *app, int r, int64_t passed_ms, const char *text,
                   struct err *err)
{
    const char *guid = app->request->task_guid;
    if (cli_interrupted()) {
        return err_set(err, ERR_UNKNOWN, "interrupted; it goes on: bbs task %s", guid);
    }
    if (r < 0) {
        struct err inner = *err;
        return err_set(err, inner.code, "%.*s; it goes on: bbs task %s", room_beside(guid),
                       inner.text, guid);
    }
    return err_set(err, ERR_TIMEOUT, "after %lld s: %.*s; it goes on: bbs task %s",
                   (long long)(passed_ms / 1000), room_beside(guid), text, guid);
}

static int wait_for(struct session *s, const struct task_app *app, Models__Task **ret_task,
                    struct err *err)
{
    struct cli_progress shown = {0};
    char text[400] = "";
    int64_t passed_ms, seen_ms = cli_now_ms();
    int r;
    for (;;) {
        int64_t now_ms = cli_now_ms();
        r = look(s, app, &shown, text, sizeof(text), ret_task, err);
        seen_ms = r == 0 ? now_ms : seen_ms; /* it was there, and not over, then or later */
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
    int64_t unseen_s = (cli_now_ms() - seen_ms) / 1000;
    return r == -ERR_NOT_FOUND
               ? err_set(err, ERR_NOT_FOUND, "%s",
                         task_gone_text(&s->arena, app->name, app->request, unseen_s))
               : goes_on(app, r, passed_ms, text, err);
}

/* A charm, or a definition of a system, is said to be one. */
static int read_task(struct session *s, const char *file, struct bytes text, struct task_app *ret,
                     struct err *err)
{
    int r = task_app_parse(&s->arena, file, text, ret, err);
    enum file_kind kind = r < 0 ? file_kind_of(&s->arena, file, text) : FILE_OF_NOTHING;
    const char *why = kind == FILE_OF_CHARM || kind == FILE_OF_EDGE || kind == FILE_OF_SYSTEM
                          ? file_kind_text(&s->arena, file, kind, "run takes the file of a task")
                          : NULL;
    return why ? err_set(err, ERR_INVALID, "%s", why) : r;
}

static int run(struct session *s, const struct invocation *call, struct err *err)
{
    struct bytes text;
    struct task_app app;
    Models__Task *task = NULL;
    s->guid_key = "task_guid";
    int r = app_file_read(&s->arena, call->arguments[0], &text, err);
    r = r < 0 ? r : read_task(s, call->arguments[0], text, &app, err);
    r = r < 0 ? r : desire(s, &app, err);
    if (r < 0) {
        return r;
    }
    s->instead = arena_printf(&s->arena, "task %s was desired; its %s could not be written",
                              app.request->task_guid, s->wait ? "outcome" : "name");
    session_warn_of_rootfs(s, app.name, app.request->task_definition->root_fs);
    if (!s->wait) {
        return session_line(s, app.name, app.request->task_guid, "desired", err);
    }
    r = wait_for(s, &app, &task, err);
    r = r < 0 ? r : tell_outcome(s, &app, task, err);
    if (r == 0 && cli_switch(call, "rm")) {
        r = session_delete_task(s, task->task_guid, err);
    }
    return r < 0 ? r : task->failed ? CLI_FAILED : CLI_DONE;
}

/* "shop:/migrate" is a job, unless a file is called so; so is "/migrate" where CORKBOARD_SYSTEM
 * says of which system. */
static bool names_job(const struct invocation *call)
{
    const char *system, *path, *name = call->arguments[0];
    bool of_default = *name == '/' && system_by_default();
    return access(name, F_OK) != 0 &&
           (of_default || name_is_part(call->arena, name, &system, &path));
}

static int refuse_of_file(const struct invocation *call, struct err *err)
{
    if (call->argument_count > 1) {
        return err_set(err, ERR_INVALID,
                       "\"%.40s\": the command of a task stands in its file; one "
                       "behind the name is for a job, SYSTEM:PATH",
                       call->arguments[1]);
    }
    bool given = *cli_list(call, "env") || *cli_list(call, "secret");
    return given ? err_set(err, ERR_INVALID,
                           "--env and --secret are for a job, SYSTEM:PATH; a task "
                           "has env: in its file")
                 : 0;
}

int bbs_run_run(const struct invocation *call, struct err *err)
{
    if (names_job(call)) {
        return cli_switch(call, "rm") ? err_set(err, ERR_INVALID,
                                                "a job's run is kept with its "
                                                "system: leave --rm out")
                                      : bbs_job_run_run(call, err);
    }
    int r = refuse_of_file(call, err);
    if (r < 0) {
        return r;
    }
    if (cli_switch(call, "rm") && !cli_switch(call, "wait")) {
        return err_set(err, ERR_INVALID, "--rm needs --wait: a task is deleted when it is over");
    }
    return session_run(call, run, err);
}
