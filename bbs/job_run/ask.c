/* What clients ask: run, cancel. */
#include "bbs/board/errors.h"
#include "bbs/job_run/job_run.h"
#include "bbs/pool/pool.h"
#include "bbs/task/validate_task.h"
#include "common/lifecycle/job_run.h"
#include "common/lifecycle/system.h"
#include "common/lifecycle/task.h"
#include "common/model/component_path.h"
#include "common/model/head.h"
#include "common/model/pool_tag.h"
#include "common/model/sealed_values.h"

#include <assert.h>
#include <string.h>

/* ---- What is asked --------------------------------------------------------------------------- */

static const Board__JobRunRequest *asked_run(const struct op_input *in)
{
    return (const Board__JobRunRequest *)in->request;
}

static const Board__CancelJobRunRequest *asked_cancel(const struct op_input *in)
{
    return (const Board__CancelJobRunRequest *)in->request;
}

/* The uid is not known yet: those of one system and id take turns. */
static const char *run_target(struct arena *a, const struct op_input *in)
{
    return key_jobrun(a, asked_run(in)->system, asked_run(in)->id);
}

static const char *cancel_target(struct arena *a, const struct op_input *in)
{
    return key_jobrun(a, asked_cancel(in)->system, asked_cancel(in)->id);
}

static void check_names(struct validation *v, const char *system, const char *id)
{
    static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    if (!*system) {
        say_field(v, "system");
    }
    if (!*id || strlen(id) > JOB_RUN_ID_BYTES_MAX || id[strspn(id, good)]) {
        SCOPED_ARENA(a);
        say(v, arena_printf(&a, "\"%.64s\" is no id: 1 to %d of A-Z a-z 0-9 - _", id,
                            JOB_RUN_ID_BYTES_MAX));
    }
}

static void check_variable(struct validation *v, const Models__EnvironmentVariable *variable)
{
    SCOPED_ARENA(a);
    if (!*variable->name || strchr(variable->name, '=')) {
        say(v, arena_printf(&a, "environment: \"%.64s\" is no name of a variable", variable->name));
    }
    const char *fault = variable->sealed
                            ? component_subname_fault(&a, variable->sealed->name, false)
                            : NULL;
    if (fault) {
        say(v, arena_printf(&a, "environment.%.64s: %s", variable->name, fault));
    }
}

void valid_run_job(struct validation *v, const Board__JobRunRequest *request)
{
    SCOPED_ARENA(a);
    const char *fault = component_path_fault(&a, request->path);
    check_names(v, request->system, request->id);
    if (fault) {
        say(v, fault);
    }
    if (request->n_command > JOB_RUN_WORDS_MAX || (request->n_command && !*request->command[0])) {
        say(v, arena_printf(&a, "command: 1 to %d words, and the first is the program",
                            JOB_RUN_WORDS_MAX));
    }
    if (request->n_environment > JOB_RUN_VARIABLES_MAX) {
        say(v, arena_printf(&a, "environment: at most %d variables", JOB_RUN_VARIABLES_MAX));
        return;
    }
    for (size_t i = 0; i < request->n_environment; i++) {
        check_variable(v, request->environment[i]);
    }
}

void valid_cancel_job(struct validation *v, const Board__CancelJobRunRequest *request)
{
    check_names(v, request->system, request->id);
}

/* ---- What is read ---------------------------------------------------------------------------- */

static int system_state_named(const Board__SystemRecord *s)
{
    return s ? lifecycle_state(&system_lifecycle, s->state) : SYSTEM_NONE;
}

static size_t count_runs(struct view *v, const char *uid)
{
    struct arena *a = view_arena(v);
    struct picked *list;
    Board__Selector selector = BOARD__SELECTOR__INIT;
    selector.type = arena_strdup(a, record_type_name(RECORD_JOB_RUN));
    selector.key_prefix = arena_strdup(a, key_range_of(a, RECORD_JOB_RUN, uid));
    return view_pick(v, &selector, &list);
}

static void run_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct job_run_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__JobRunRequest *r = asked_run(in);
    s->system = view_message(v, key_system(a, r->system));
    if (!s->system) {
        return;
    }
    const char *uid = s->system->uid;
    s->run = view_message(v, key_jobrun(a, uid, r->id));
    if (s->run) {
        return;
    }
    s->count = count_runs(v, uid);
    const Board__HeadRecord *head = view_message(v, key_head(a, uid));
    const Board__Root *root = head ? head_root(head, r->path) : NULL;
    s->component = root && *root->tree ? view_message(v, key_tree(a, root->tree, r->path)) : NULL;
    if (s->component && s->component->task) {
        s->merged = job_run_merged(a, s->component->task, r);
        const Board__NodePool *pool =
            *s->component->pool ? pool_defined(v, head, s->component->pool) : NULL;
        bool shared = pool && strcmp(pool->instance_type, POOL_SHARED_TYPE) == 0;
        s->pool_name = shared ? "" : s->component->pool;
        const char **names;
        s->name_count = sealed_names(a, &s->merged->base, &names);
        s->values = secret_values_gather(v, uid, names, s->name_count <= JOB_RUN_SECRETS_MAX
                                                            ? s->name_count
                                                            : 0);
    }
}

static void cancel_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct job_run_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__CancelJobRunRequest *r = asked_cancel(in);
    s->system = view_message(v, key_system(a, r->system));
    s->run = s->system ? view_message(v, key_jobrun(a, s->system->uid, r->id)) : NULL;
    s->task = s->run && *s->run->task_guid ? view_message(v, key_task(a, s->run->task_guid)) : NULL;
}

/* ---- What is decided ------------------------------------------------------------------------- */

/* The plan is refused, and says by which system. */
static bool system_refuses(const struct job_run_snapshot *s, const char *id, struct plan *p)
{
    switch (system_state_named(s->system)) {
    case SYSTEM_NONE:
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound,
                    "there is no system %.64s: bbs systems lists those that are", id);
        return true;
    case SYSTEM_STABLE:
    case SYSTEM_UPDATING:
    case SYSTEM_SCALING:
    case SYSTEM_DEGRADED:
        return false;
    default:
        p->record = &s->system->base;
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "system %s is %s", id,
                    s->system->state);
        return true;
    }
}

static bool same_variable(const Models__EnvironmentVariable *x,
                          const Models__EnvironmentVariable *y)
{
    return strcmp(x->name, y->name) == 0 && strcmp(x->value, y->value) == 0 &&
           strcmp(x->sealed ? x->sealed->name : "", y->sealed ? y->sealed->name : "") == 0;
}

static bool same_run(const Board__JobRunRecord *run, const Board__JobRunRequest *r)
{
    bool same = strcmp(run->path, r->path) == 0 && run->n_command == r->n_command &&
                run->n_environment == r->n_environment;
    for (size_t i = 0; same && i < r->n_command; i++) {
        same = strcmp(run->command[i], r->command[i]) == 0;
    }
    for (size_t i = 0; same && i < r->n_environment; i++) {
        same = same_variable(run->environment[i], r->environment[i]);
    }
    return same;
}

static Board__JobRunRecord *new_run(struct arena *a, const struct job_run_snapshot *s,
                                    const struct op_input *in)
{
    const Board__JobRunRequest *r = asked_run(in);
    assert(s->system && s->component);
    Board__JobRunRecord *run = arena_message(a, &board__job_run_record__descriptor);
    run->id = r->id;
    run->uid = s->system->uid;
    run->system = s->system->id;
    run->path = r->path;
    run->tree = s->component->tree;
    run->pool = (char *)(uintptr_t)s->pool_name;
    run->n_command = r->n_command;
    run->command = r->command;
    run->n_environment = r->n_environment;
    run->environment = r->environment;
    run->created_at = in->now.wall_ns;
    return run;
}

/* Whether the Task can be desired as it is; what is wrong with it otherwise. */
static bool task_is_good(const Board__JobRunRecord *run, struct plan *p)
{
    struct validation v = {0};
    Models__DesireTaskRequest request = MODELS__DESIRE_TASK_REQUEST__INIT;
    request.task_guid = job_run_task_guid(p->arena, run, true);
    request.domain = (char *)(uintptr_t) "d";
    request.task_definition = run->task;
    valid_desire_task(&v, &request);
    bool good = validation_ok(&v);
    if (!good) {
        plan_refuse(p, MODELS__ERROR__TYPE__InvalidRequest, "%s", validation_text(&v));
    }
    validation_done(&v);
    return good;
}

/* 1. The system is not there, or not open: refused.
 * 2. The id has this very run: it is the answer. Another one: ResourceExists.
 * 3. No job stands at the path: ResourceNotFound.
 * 4. There are too many runs, or secrets: ResourceConflict.
 * 5. A secret that it needs is not set: ResourceConflict.
 * 6. It cannot be executed, or is too large: InvalidRequest.
 * 7. It is made, with what stands at the path now: what is deployed later has no part in it. */
void run_job_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct job_run_snapshot *s = snapshot;
    const Board__JobRunRequest *r = asked_run(in);
    if (system_refuses(s, r->system, p)) { /* 1 */
        return;
    }
    p->record = &s->system->base;
    if (s->run) { /* 2 */
        p->record = &s->run->base;
        if (!same_run(s->run, r)) {
            plan_refuse(p, MODELS__ERROR__TYPE__ResourceExists,
                        "job run %s is of another request: leave the id out", r->id);
        }
        return;
    }
    if (!s->merged) { /* 3 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound, "system %s has no job at %s: %s",
                    r->system, r->path,
                    s->component ? "what stands there is no job" : "nothing stands there");
        return;
    }
    if (s->count >= JOB_RUNS_MAX || s->name_count > JOB_RUN_SECRETS_MAX) { /* 4 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "system %s has %d %s", r->system,
                    s->count >= JOB_RUNS_MAX ? JOB_RUNS_MAX : JOB_RUN_SECRETS_MAX,
                    s->count >= JOB_RUNS_MAX ? "job runs: wait until older ones are over and go"
                                             : "secrets in one job run, more are not possible");
        return;
    }
    static const Board__JobRunRequest nothing_more = BOARD__JOB_RUN_REQUEST__INIT;
    struct secret_values values = s->values;
    Board__JobRunRecord *run = new_run(p->arena, s, in);
    run->task = job_run_merged(p->arena, s->merged, &nothing_more);
    const char *lacks =
        sealed_values_fill_task(p->arena, run->task, secret_values_lookup, &values);
    if (lacks) { /* 5 */
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict,
                    "%s needs secret %s: bbs secrets set %s %s", r->path, lacks, r->system, lacks);
        return;
    }
    if (board__job_run_record__get_packed_size(run) > JOB_RUN_BYTES_MAX) { /* 6 */
        plan_refuse(p, MODELS__ERROR__TYPE__InvalidRequest,
                    "a job run of %s would take more than %d KiB", r->path,
                    JOB_RUN_BYTES_MAX / 1024);
    } else if (task_is_good(run, p)) { /* 7 */
        int to = lifecycle_transition(&job_run_lifecycle, JOB_RUN_NONE, in->actor,
                                      JOB_RUN_TRIGGER_RUN, JOB_RUN_IF_OPEN);
        assert(to == JOB_RUN_PENDING);
        run->state = (char *)(uintptr_t)job_run_lifecycle.states[to];
        run->message = arena_strdup(p->arena, "waits for a converger to queue it");
        p->record = &run->base;
        plan_put(p, key_jobrun(p->arena, run->uid, run->id), "run", in->actor, &run->base);
    }
}

/* 1. There is no such system, or run: ResourceNotFound.
 * 2. It is over: nothing.
 * 3. It has failed; its Task goes, with what executes it. */
void cancel_job_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct job_run_snapshot *s = snapshot;
    if (!s->run) { /* 1 */
        p->record = s->system ? &s->system->base : NULL;
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound,
                    s->system ? "system %.64s has no job run %.64s" : "there is no system %.64s",
                    asked_cancel(in)->system, asked_cancel(in)->id);
        return;
    }
    p->record = &s->run->base;
    int from = lifecycle_state(&job_run_lifecycle, s->run->state);
    int to = lifecycle_transition(&job_run_lifecycle, from, in->actor, JOB_RUN_TRIGGER_CANCEL, 0);
    if (to < 0) { /* 2 */
        return;
    }
    Board__JobRunRecord *after = job_run_changed(p->arena, s->run, to, in->now); /* 3 */
    after->message = arena_strdup(p->arena, "it was cancelled");
    p->record = &after->base;
    plan_put(p, key_jobrun(p->arena, after->uid, after->id), "cancel", in->actor, &after->base);
    job_run_drop_task(p, s->task);
}

const struct op_row run_job_row = {
    .name = "run job",
    .target = run_target,
    .gather = run_gather,
    .decide = run_job_decide,
    .snapshot_size = sizeof(struct job_run_snapshot),
};

const struct op_row cancel_job_row = {
    .name = "cancel job run",
    .target = cancel_target,
    .gather = cancel_gather,
    .decide = cancel_job_decide,
    .snapshot_size = sizeof(struct job_run_snapshot),
};
