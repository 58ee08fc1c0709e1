/* bbs tasks, task, cancel. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/session_io.h"
#include "bbs/cli/task_calls_io.h"
#include "bbs/cli/tasks.h"
#include "common/cli/cli_io.h"

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

/* ---- tasks ---- */

static int show_tasks(struct session *s, const struct invocation *call, struct err *err)
{
    Models__Task **tasks, **found;
    size_t count;
    const char *domain = cli_text(call, "domain"), *cell = cli_text(call, "cell");
    struct task_selection selection = {.name = call->argument_count ? call->arguments[0] : NULL};
    int r = cli_choice(call, "state", &selection.state, err);
    r = r < 0 ? r : session_tasks(s, domain ? domain : "", cell ? cell : "", &tasks, &count, err);
    if (r < 0) {
        return r;
    }
    const struct task_selection named = {.name = selection.name};
    if (named.name && tasks_selected(&s->arena, tasks, count, &named, &found) == 0) {
        return session_no_task(s, named.name, tasks, count, err);
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
                ? session_delete_task(s, task->task_guid, err)
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
    r = session_cancel_task(s, task->task_guid, err);
    return r < 0 ? session_about(s, name, r, err)
                 : session_tell(s, task_name(task), task->task_guid, "cancelled", err);
}

int bbs_cancel_run(const struct invocation *call, struct err *err)
{
    struct session s;
    int r = session_open(call, &s, err);
    s.guid_key = "task_guid";
    for (size_t i = 0; r == 0 && i < call->argument_count && session_goes_on(&s); i++) {
        session_count(&s, call->arguments[i], cancel_one(&s, call->arguments[i], err), err);
    }
    session_close(&s);
    return r < 0 ? r : s.status;
}
