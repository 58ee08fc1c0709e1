/* bbs tasks: show and cancel, which stand at the top, too. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/session_io.h"
#include "bbs/cli/systems_io.h"
#include "bbs/cli/task_calls_io.h"
#include "bbs/cli/tasks.h"
#include "common/cli/cli_io.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct cli_option bbs_task_options[] = {
    {.name = "rm", .help = "delete it afterwards, when it is over"},
    {0},
};

static const struct cli_option tasks_options[] = {
    {.name = "domain", .value = "DOMAIN", .help = "only those of this domain"},
    {.name = "cell", .value = "ID", .help = "only those that run, or ran, on this cell"},
    {.name = "state",
     .value = "pending|running|completed|resolving|succeeded|failed",
     .help = "only those"},
    {.name = "older", .value = "TIME", .help = "only those that are over for so long: 90s, 1h, 2d"},
    {.name = "rm", .help = "delete those of them that are over"},
    {0},
};

/* ---- tasks ---- */

static int read_selection(const struct invocation *call, struct task_selection *ret,
                          struct err *err)
{
    int64_t older_ms = -1;
    *ret = (struct task_selection){
        .name = call->argument_count ? call->arguments[0] : NULL,
        .cell = cli_text(call, "cell"),
    };
    int r = cli_choice(call, "state", &ret->state, err);
    r = r < 0 ? r : cli_age_ms(call, "older", &older_ms, err);
    if (older_ms >= 0) {
        ret->over_before_ns = cli_wall_ns() - older_ms * 1000000;
    }
    return r;
}

/* What would delete all, or nothing, was not meant so. */
static int check_removal(const struct invocation *call, const struct task_selection *s,
                         struct err *err)
{
    bool narrowed = s->name || s->cell || s->state || s->over_before_ns || cli_text(call, "domain");
    if (!narrowed) {
        return err_set(err, ERR_INVALID,
                       "--rm needs to know which: a NAME, --state, --older, --cell or --domain; "
                       "--state completed means all that are over");
    }
    if (s->state && (strcmp(s->state, "pending") == 0 || strcmp(s->state, "running") == 0)) {
        return err_set(err, ERR_INVALID,
                       "--rm deletes tasks that are over, not those %s; bbs cancel ends them",
                       s->state);
    }
    return 0;
}

static int show_tasks(struct session *s, Models__Task *const *tasks, size_t count, struct err *err)
{
    SCOPED_BUF(out);
    for (size_t i = 0; s->json && i < count; i++) {
        session_json(s, &tasks[i]->base, &out);
    }
    if (!s->json) {
        tasks_table(&s->arena, tasks, count, cli_wall_ns(), isatty(STDOUT_FILENO), &out);
    }
    return cli_print(buf_bytes(&out), err);
}

/* Each that goes is reported; a deletion that is refused leaves the others to be made, one without
 * an answer leaves them alone. The command's time is for each answer. */
static int remove_tasks(struct session *s, Models__Task **tasks, size_t count, struct err *err)
{
    size_t over = tasks_to_remove(tasks, count);
    for (size_t i = 0; i < over && session_goes_on(s); i++) {
        const char *name = task_name(tasks[i]), *guid = tasks[i]->task_guid;
        cli_client_limit(s->client, s->timeout_ms);
        int r = session_delete_task(s, guid, err);
        bool unanswered = r == -ERR_UNAVAILABLE || r == -ERR_TIMEOUT;
        r = r < 0 ? session_about(s, name, r, err) : session_line(s, name, guid, "deleted", err);
        session_count(s, name, r, err);
        if (unanswered && i + 1 < over) {
            fprintf(stderr, "bbs: %zu more were not asked for: repeat the command\n", over - i - 1);
            break;
        }
    }
    if (over == 0) {
        fprintf(stderr, "bbs: nothing was deleted: no such task is over\n");
    }
    if (count > over) {
        fprintf(stderr, "bbs: %zu %s: not over, or somebody waits for how they ended\n",
                count - over, count - over == 1 ? "stays" : "stay");
    }
    return session_end(s, err);
}

/* Of a cell on which no task is: there may be none of this id. What ran on one that has left is
 * shown all the same. */
static int check_cell(struct session *s, const char *cell_id, struct err *err)
{
    const Board__CellsStatus *cells;
    int r = session_cells(s, &cells, err);
    return r < 0 ? r : name_cell(cells, cell_id, NULL, err);
}

static int list_tasks(struct session *s, const struct invocation *call, struct err *err)
{
    Models__Task **tasks, **found;
    size_t count;
    s->guid_key = "task_guid";
    const char *domain = cli_text(call, "domain");
    struct task_selection selection;
    int r = read_selection(call, &selection, err);
    r = r < 0 || !cli_switch(call, "rm") ? r : check_removal(call, &selection, err);
    r = r < 0 ? r : session_tasks(s, domain ? domain : "", "", &tasks, &count, err);
    if (r < 0) {
        return r;
    }
    const struct task_selection named = {.name = selection.name};
    if (named.name && tasks_selected(&s->arena, tasks, count, &named, &found) == 0) {
        return session_no_task(s, named.name, tasks, count, err);
    }
    size_t n = tasks_selected(&s->arena, tasks, count, &selection, &found);
    r = n == 0 && selection.cell ? check_cell(s, selection.cell, err) : 0;
    return r < 0                  ? r
           : cli_switch(call, "rm") ? remove_tasks(s, found, n, err) : show_tasks(s, found, n, err);
}

static SESSION_RUN(run_tasks, list_tasks)

/* ---- task ---- */

static int remove_task(struct session *s, const Models__Task *task, struct err *err)
{
    const char *name = task_name(task), *guid = task->task_guid;
    if (!task_is_over(task)) {
        return err_set(err, ERR_CONFLICT, "%.60s is not over: bbs cancel %.60s ends it", name,
                       guid);
    }
    int r = session_delete_task(s, guid, err);
    return r < 0 ? session_about(s, name, r, err) : session_line(s, name, guid, "deleted", err);
}

static int show_task(struct session *s, const struct invocation *call, struct err *err)
{
    Models__Task *task;
    s->guid_key = "task_guid";
    int r = session_task(s, call->arguments[0], &task, err);
    if (r < 0) {
        return r;
    }
    SCOPED_BUF(out);
    if (s->json) {
        session_json(s, &task->base, &out);
    } else {
        session_hide(s, &task->base);
        task_text(&s->arena, task, cli_wall_ns(), &out);
    }
    r = cli_print(buf_bytes(&out), err);
    return r == 0 && cli_switch(call, "rm") ? remove_task(s, task, err) : r;
}

SESSION_RUN(bbs_task_run, show_task)

/* ---- cancel ---- */

/* One that is over cannot be cancelled, which is what the bbs says; one that is over because it was
 * cancelled is as it should be. */
static int cancel_one(struct session *s, const char *name, struct err *err)
{
    Models__Task *task;
    const char *system, *path;
    if (name_is_part(&s->arena, name, &system, &path)) {
        return session_cancel_job(s, system, path, err);
    }
    int r = session_task(s, name, &task, err);
    if (r < 0) {
        return r;
    }
    if (task_is_over(task)) {
        return err_set(err, ERR_CONFLICT, "%.60s is over already: bbs task %.60s shows how", name,
                       task->task_guid);
    }
    r = session_cancel_task(s, task->task_guid, err);
    return r < 0 ? session_about(s, name, r, err)
                 : session_line(s, task_name(task), task->task_guid, "cancelled", err);
}

static int cancel_all(struct session *s, const struct invocation *call, struct err *err)
{
    s->guid_key = "task_guid";
    for (size_t i = 0; i < call->argument_count && session_goes_on(s); i++) {
        session_count(s, call->arguments[i], cancel_one(s, call->arguments[i], err), err);
    }
    return session_end(s, err);
}

SESSION_RUN(bbs_cancel_run, cancel_all)

/* ---- The tables ---- */

static const struct cli_option *const question[] = BBS_ASKS_WITH(bbs_timeout_options);
static const struct cli_option *const list[] =
    BBS_ASKS_WITH(tasks_options, bbs_timeout_options, bbs_secrets_options);
static const struct cli_option *const one[] =
    BBS_ASKS_WITH(bbs_task_options, bbs_timeout_options, bbs_secrets_options);

static const char tasks_details[] =
    "NAME is a task's, or its guid. CELL is where it runs, or ran when it ended.\n"
    "\n"
    "A NAME that is a verb stands after --: bbs tasks -- show.\n"
    "\n"
    "  bbs tasks --rm --state succeeded --older 1h\n"
    "\n"
    "deletes those that succeeded an hour ago or before, and prints each. --rm deletes only tasks\n"
    "that are over, and leaves alone those that somebody waits for: whose callback was not "
    "notified yet,\n"
    "and those that are being resolved. bbs task GUID --rm deletes such a one, too.\n";

const char bbs_cancel_details[] = "NAME is a task's, or its guid; of several tasks of one name it "
                                  "means the one that is not over.\n"
                                  "When one is not there, or is over, that is reported and the "
                                  "others are cancelled; the exit status\n"
                                  "is that of the first that failed. A cancelled task is over, and "
                                  "has failed: bbs task GUID --rm\n"
                                  "deletes it.\n";

static const struct cli_command verbs[] = {
    {"", "[NAME]", "shows the tasks, or deletes old ones", tasks_details, list, 0, 1, run_tasks},
    {"show", "NAME", "shows one task: how it stands, or ended, and its result", NULL, one, 1, 1,
     bbs_task_run},
    {"cancel", "NAME...", "ends tasks that are not over", bbs_cancel_details, question, 1,
     CLI_ARGUMENTS_MAX, bbs_cancel_run},
    {0},
};

const struct cli_group bbs_tasks_group = {"tasks", "Tasks:", verbs};
