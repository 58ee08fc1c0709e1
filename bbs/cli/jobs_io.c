/* bbs services, bbs jobs; and the job that bbs run and bbs cancel may name. */
#include "bbs/cli/commands_io.h"
#include "bbs/cli/system_tables.h"
#include "bbs/cli/system_why.h"
#include "bbs/cli/systems_io.h"
#include "common/base/query.h"
#include "common/base/message.h"
#include "common/cli/cli_io.h"
#include "common/codec/json.h"
#include "common/model/component_path.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct cli_option bbs_job_options[] = {
    {.name = "env", .value = "NAME=V", .help = "an environment variable of it", .repeated = true},
    {.name = "secret",
     .value = "NAME=/PATH:NAME",
     .help = "one whose value is a secret of the system",
     .repeated = true},
    {0},
};

/* ---- Services ---- */

static int services(struct session *s, const struct invocation *call, struct err *err)
{
    struct system_view v;
    const char *system, *path;
    struct bytes answer;
    int r = system_target(call, &system, &path, err);
    r = r < 0 ? r : system_get(s, system, &v, err);
    if (r == 0 && s->json) {
        bool all = strcmp(path, "/") == 0;
        const char *rest =
            all ? "/services"
                : arena_printf(&s->arena, "/services?path=%s", percent_encoded(&s->arena, path));
        r = system_rest(s, "GET", system, rest, NULL, &answer, err);
        return r < 0 ? r : system_print_json(s, answer, err);
    }
    if (r < 0) {
        return r;
    }
    SCOPED_BUF(out);
    services_table(&s->arena, &v, path, isatty(STDOUT_FILENO), &out);
    return cli_print(buf_bytes(&out), err);
}

static SESSION_RUN(run_services, services)

    static int pools(struct session *s, const struct invocation *call, struct err *err)
{
    struct system_view v;
    const char *system, *path, *name = NULL;
    struct bytes answer;
    int r = system_target_id(s, call, &system, &path, &name, err);
    r = r < 0 ? r : system_get(s, system, &v, err);
    if (r == 0 && name && !system_view_pool(&v, name)) {
        r = err_set(err, ERR_NOT_FOUND,
                    "%.63s has no node pool \"%.100s\"; bbs pools %.63s shows all", system, name,
                    system);
    }
    if (r == 0 && s->json) {
        const char *rest =
            name ? arena_printf(&s->arena, "/node-pools/%s", percent_encoded(&s->arena, name))
                 : "/node-pools";
        r = system_rest(s, "GET", system, rest, NULL, &answer, err);
        return r < 0 ? r : system_print_json(s, answer, err);
    }
    if (r < 0) {
        return r;
    }
    SCOPED_BUF(out);
    pools_table(&s->arena, &v, name, isatty(STDOUT_FILENO), &out);
    return cli_print(buf_bytes(&out), err);
}

static SESSION_RUN(run_pools, pools)

    /* ---- Job runs ---- */

    /* The exit status that a run ends with. */
    static int status_of(const Board__JobRunRecord *r)
{
    return strcmp(r->state, "failed") == 0 ? CLI_FAILED : CLI_DONE;
}

static int show_run(struct session *s, const struct system_view *v, const Board__JobRunRecord *run,
                    struct err *err)
{
    SCOPED_BUF(out);
    struct system_why w;
    system_why_run(&s->arena, v, run, cli_wall_ns(), &w);
    system_add_lack(s, v, &w);
    system_why_print(&w, false, &out);
    if (*run->result) {
        buf_printf(&out, "  its result: %s\n", run->result);
    }
    int r = cli_print(buf_bytes(&out), err);
    return r < 0 ? r : status_of(run);
}

static int print_json(struct session *s, const char *system, const char *id, struct err *err)
{
    struct bytes answer;
    const char *rest = id ? arena_printf(&s->arena, "/jobs/%s", id) : "/jobs";
    int r = system_rest(s, "GET", system, rest, NULL, &answer, err);
    return r < 0 ? r : system_print_json(s, answer, err);
}

static int jobs(struct session *s, const struct invocation *call, struct err *err)
{
    struct system_view v;
    const char *system, *path, *id = NULL;
    int r = system_target_id(s, call, &system, &path, &id, err);
    r = r < 0 ? r : system_get(s, system, &v, err);
    const Board__JobRunRecord *run = r == 0 && id ? system_view_run(&v, id) : NULL;
    if (r == 0 && id && !run) {
        r = system_no_such(s, &v, RECORD_JOB_RUN, id, err);
    }
    if (r < 0 || s->json) {
        return r < 0 ? r : print_json(s, system, run ? run->id : NULL, err);
    }
    if (run) {
        return show_run(s, &v, run, err);
    }
    SCOPED_BUF(out);
    runs_table(&s->arena, &v, path, isatty(STDOUT_FILENO), &out);
    return cli_print(buf_bytes(&out), err);
}

/* One that is waited for. */
struct run_wait {
    struct session *s;
    const char *id;
    struct cli_progress progress;
    const Board__JobRunRecord *run; /* as it was seen last; NULL = not yet */
    bool gone;
};

static int look_at_run(void *owner, struct arena *a, const struct system_view *v, bool fresh,
                       struct err *err)
{
    struct run_wait *w = owner;
    const Board__JobRunRecord *run = system_view_run(v, w->id);
    (void)err;
    w->gone = !run && (w->run || (fresh && !v->system));
    if (run && !run->completed_at) { /* its end is told when the wait is over */
        cli_progress(&w->progress,
                     arena_printf(a, "%s:%s: %s%s%s", run->system, run->path, run->state,
                                  *run->message ? ": " : "", run->message));
    }
    if (run) {
        w->run = run->completed_at || !w->run
                     ? (const Board__JobRunRecord *)message_copy(&w->s->arena, &run->base)
                     : w->run;
    }
    return w->gone || (run && run->completed_at);
}

static int wait_for_run(struct session *s, const Board__SystemRecord *system, const char *id,
                        int64_t limit_ms, struct err *err)
{
    struct run_wait w = {.s = s, .id = id};
    struct system_follow f = {.id = system->id,
                              .uid = system->uid,
                              .limit_ms = limit_ms,
                              .look = look_at_run,
                              .owner = &w};
    int r = system_follow(s, &f, err);
    cli_progress(&w.progress, NULL);
    if (r < 0) {
        struct err inner = *err;
        return err_set(err, inner.code, "%s; the run goes on: bbs jobs %.63s %s",
                       cli_interrupted() ? "interrupted" : "it is not over in time", system->id,
                       id);
    }
    if (w.gone) {
        return err_set(err, ERR_NOT_FOUND, "%.63s: the run has gone with its system", system->id);
    }
    if (s->json) {
        r = print_json(s, system->id, id, err);
        return r < 0 ? r : status_of(w.run);
    }
    fprintf(stderr, "%s:%s: %s%s%s%s%s\n", w.run->system, w.run->path, w.run->state,
            *w.run->message ? ": " : "", w.run->message, *w.run->result ? ": " : "", w.run->result);
    return status_of(w.run);
}

/* NAME=VALUE pairs as members of an object. */
static int add_pairs(const struct invocation *call, const char *option, bool secret,
                     struct buf *body, struct err *err)
{
    for (const char *const *p = cli_list(call, option); p && *p; p++) {
        const char *equals = strchr(*p, '=');
        if (!equals || equals == *p) {
            return err_set(err, ERR_INVALID, "--%s \"%.60s\": write NAME=%s", option, *p,
                           secret ? "/PATH:NAME" : "VALUE");
        }
        const char *fault = secret ? component_subname_fault(call->arena, equals + 1, false) : NULL;
        if (fault) {
            return err_set(err, ERR_INVALID, "--%s \"%.60s\": %.120s", option, *p, fault);
        }
        buf_append_string(body, body->data[body->size - 1] == '{' ? "" : ",");
        json_string_text((struct bytes){(const uint8_t *)*p, (size_t)(equals - *p)}, body);
        buf_append_string(body, secret ? ":{\"$secret_ref\":" : ":");
        json_string_text(bytes_of(equals + 1), body);
        buf_append_string(body, secret ? "}" : "");
    }
    return 0;
}

/* {"id","path","command","environment"} */
static int job_body(const struct invocation *call, const char *id, const char *path,
                    struct buf *body, struct err *err)
{
    buf_printf(body, "{\"id\":\"%s\",\"path\":", id);
    json_string_text(bytes_of(path), body);
    for (size_t i = 1; i < call->argument_count; i++) {
        buf_append_string(body, i == 1 ? ",\"command\":[" : ",");
        json_string_text(bytes_of(call->arguments[i]), body);
    }
    buf_append_string(body, call->argument_count > 1 ? "]" : "");
    buf_append_string(body, ",\"environment\":{");
    int r = add_pairs(call, "env", false, body, err);
    r = r < 0 ? r : add_pairs(call, "secret", true, body, err);
    buf_append_string(body, "}}");
    return r;
}

static int job_run(struct session *s, const struct invocation *call, struct err *err)
{
    SCOPED_BUF(body);
    struct bytes answer;
    const Board__SystemRecord *record;
    const char *system, *path, *id = draw_uuid(&s->arena);
    int64_t limit_ms = system_patience(s);
    int r = system_target(call, &system, &path, err);
    if (r == 0 && strcmp(path, "/") == 0) {
        r = err_set(err, ERR_INVALID, "which job of %.63s? write %.63s:/PATH", system, system);
    }
    r = r < 0 ? r : job_body(call, id, path, &body, err);
    r = r < 0 ? r : systems_find(s, system, &record, err);
    r = r < 0 ? r : system_rest(s, "POST", system, "/jobs", buf_string(&body), &answer, err);
    if (r < 0) {
        return r;
    }
    if (!s->json) {
        r = cli_print_or(
            bytes_of(arena_printf(&s->arena, "%s:%s run %s\n", system, path, id)),
            arena_printf(&s->arena, "run %s was begun, but that could not be written", id), err);
    } else if (!s->wait) {
        r = system_print_json(s, answer, err);
    }
    return r < 0 || !s->wait ? r : wait_for_run(s, record, id, limit_ms, err);
}

int bbs_job_run_run(const struct invocation *call, struct err *err)
{
    return session_run(call, job_run, err);
}

static int cancel_run(struct session *s, const char *system, const char *id, struct err *err)
{
    struct bytes answer;
    const char *rest = arena_printf(&s->arena, "/jobs/%s", id);
    int r = system_rest(s, "DELETE", system, rest, NULL, &answer, err);
    if (r < 0 || s->json) {
        return r < 0 ? r : system_print_json(s, answer, err);
    }
    return cli_print(bytes_of(arena_printf(&s->arena, "%s run %s cancelled\n", system, id)), err);
}

static int job_cancel(struct session *s, const struct invocation *call, struct err *err)
{
    struct system_view v;
    const char *system, *path, *id = NULL;
    int r = system_target_id(s, call, &system, &path, &id, err);
    r = r < 0 ? r : system_needs_id(call, id, err);
    r = r < 0 ? r : system_get(s, system, &v, err);
    const Board__JobRunRecord *run = r == 0 ? system_view_run(&v, id) : NULL;
    if (r == 0 && !run) {
        r = system_no_such(s, &v, RECORD_JOB_RUN, id, err);
    }
    return r < 0 ? r : cancel_run(s, system, run->id, err);
}

int session_cancel_job(struct session *s, const char *system, const char *path, struct err *err)
{
    struct system_view v;
    size_t cancelled = 0;
    int r = system_get(s, system, &v, err);
    for (size_t i = 0; r == 0 && i < v.run_count; i++) {
        if (!v.runs[i]->completed_at && component_path_within(v.runs[i]->path, path)) {
            r = cancel_run(s, system, v.runs[i]->id, err);
            cancelled++;
        }
    }
    return r < 0 || cancelled ? r
                              : err_set(err, ERR_CONFLICT,
                                        "no run of %.63s:%.100s is under way; bbs "
                                        "jobs %.63s shows all",
                                        system, path, system);
}

int session_newest_run(struct session *s, const char *system, const char *path,
                       const char **ret_guid, struct err *err)
{
    struct system_view v;
    int r = system_get(s, system, &v, err);
    const Board__JobRunRecord *newest = NULL;
    for (size_t i = 0; r == 0 && i < v.run_count && !newest; i++) {
        newest = strcmp(v.runs[i]->path, path) == 0 ? v.runs[i] : NULL;
    }
    const char *kind = r == 0 ? system_view_kind(&v, path) : NULL;
    bool job = kind ? strcmp(kind, "job") == 0 : newest != NULL;
    *ret_guid = !job ? NULL : newest ? newest->task_guid : "";
    if (r < 0 || !job || **ret_guid) {
        return r;
    }
    return newest ? err_set(err, ERR_NOT_FOUND,
                            "the newest run of %.63s:%.100s has written nothing: it is %s; bbs why "
                            "%.63s:%.100s says why",
                            system, path, newest->state, system, path)
                  : err_set(err, ERR_NOT_FOUND,
                            "%.63s:%.100s is a job that was never run: bbs run %.63s:%.100s runs "
                            "it",
                            system, path, system, path);
}

static SESSION_RUN(run_jobs, jobs)
static SESSION_RUN(run_job_cancel, job_cancel)

    /* ---- The tables ---- */

    static const struct cli_option run_wait_options[] = {
        {.name = "wait", .help = "wait until it is over, and end as it did: 0 succeeded, 1 failed"},
        {.name = "timeout",
         .value = "TIME",
         .help = "how long to wait; it goes on",
         .fallback = "1h"},
        {0},
};

static const struct cli_option *const question[] = BBS_ASKS_WITH(bbs_timeout_options);
static const struct cli_option *const run[] = BBS_ASKS_WITH(bbs_job_options, run_wait_options);

static const char services_details[] =
    "AVAILABLE are instances that have been ready for long enough, of those that are wanted;\n"
    "UPDATED those of the newest revision, STALE the others, TERMINATING those that are told to\n"
    "stop. bbs why SYSTEM:PATH explains a state. SYSTEM may come from CORKBOARD_SYSTEM, and /PATH\n"
    "may stand alone then.\n";

static const char jobs_details[] =
    "A run does a job of a system once, as the job was defined when it was asked for. SYSTEM may\n"
    "come from CORKBOARD_SYSTEM, and /PATH or ID may stand alone then; ID may be cut to what no\n"
    "other begins with, four letters at least.\n";

static const char run_details[] =
    "A command behind -- is run instead of the job's own:\n"
    "\n"
    "  bbs jobs run shop:/migrate --env STEP=2 -- /bin/migrate --to 2\n"
    "\n"
    "It runs once, and is not started again. What it writes: bbs logs SYSTEM:PATH. With\n"
    "CORKBOARD_SYSTEM set /PATH will do.\n";

static const struct cli_command service_verbs[] = {
    {"", "[SYSTEM[:PATH]]", "shows the services of a system", services_details, question, 0, 1,
     run_services},
    {0},
};

static const char pools_details[] =
    "A node pool has whole cells for itself: NAME is PATH:NAME, as /:main, or /api: of the "
    "service\n"
    "/api alone. CELLS are those that it has, WANTED those that its definition says. bbs why\n"
    "SYSTEM:NAME explains a state. Pools of instance type shared are no pools of cells.\n";

static const struct cli_command pool_verbs[] = {
    {"", "[SYSTEM [NAME]]", "shows the node pools of a system", pools_details, question, 0, 2,
     run_pools},
    {0},
};

static const struct cli_command job_verbs[] = {
    {"", "[SYSTEM[:PATH] [ID]]", "shows the runs of a system's jobs, or one", jobs_details,
     question, 0, 2, run_jobs},
    {"run", "SYSTEM:PATH [-- COMMAND...]", "runs a job, once", run_details, run, 1,
     CLI_ARGUMENTS_MAX, bbs_job_run_run},
    {"cancel", "[SYSTEM] ID", "ends a run that is not over", NULL, question, 1, 2, run_job_cancel},
    {0},
};

const struct cli_group bbs_services_group = {"services", "Services:", service_verbs};
const struct cli_group bbs_pools_group = {"pools", "Node pools:", pool_verbs};
const struct cli_group bbs_jobs_group = {"jobs", "Job runs:", job_verbs};
