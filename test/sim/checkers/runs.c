/* Y10: a run of a job is of the job that stood at its path when it was asked for. It has one Task,
 * made when it is queued and of its snapshot; the Task goes with the run's end, which says what
 * that came to, and the snapshot never changes. Y7: what a run came to stays. */
#include "common/model/pool_tag.h"
#include "common/model/record.h"
#include "models/task.pb-c.h"
#include "test/sim/checkers/checkers.h"

#include <string.h>

static const Models__Task *run_task(const struct past *p)
{
    const Models__Task *t = p ? (const Models__Task *)p->message : NULL;
    return t && t->owner && strcmp(t->owner->kind, "jobrun") == 0 ? t : NULL;
}

/* Of the run that owns it, as it stands now; NULL = it is gone. */
static const Board__JobRunRecord *run_of(struct checkers *k, struct arena *a,
                                         const Models__Task *t)
{
    const char *slash = strrchr(t->owner->uid, '/');
    if (!slash) {
        return NULL;
    }
    const char *uid = arena_strndup(a, t->owner->uid, (size_t)(slash - t->owner->uid));
    return (const Board__JobRunRecord *)history_now(&k->history, key_jobrun(a, uid, slash + 1));
}

static bool same(const ProtobufCMessage *x, const ProtobufCMessage *y)
{
    SCOPED_BUF(one);
    SCOPED_BUF(other);
    buf_message(&one, x);
    buf_message(&other, y);
    return bytes_equal(buf_bytes(&one), buf_bytes(&other));
}

/* Where the logs go is the Task's own, and so is the tag of its node pool, the last. */
static bool is_snapshot(const Models__TaskDefinition *task, const Models__TaskDefinition *snapshot)
{
    Models__TaskDefinition shown = *task;
    size_t tags = shown.n_placement_tags;
    if (tags > snapshot->n_placement_tags && pool_tag_is(shown.placement_tags[tags - 1])) {
        shown.n_placement_tags--;
    }
    shown.log_guid = snapshot->log_guid;
    shown.log_source = snapshot->log_source;
    return same(&shown.base, &snapshot->base);
}

/* In this past of the board. */
static bool had_task_before(const struct past *p, const Models__Task *t)
{
    for (p = p->before; p; p = p->before) {
        const Models__Task *was = run_task(p);
        if (was && strcmp(was->owner->uid, t->owner->uid) == 0) {
            return true;
        }
    }
    return false;
}

static void check_made(struct checkers *k, const struct past *p, const Models__Task *t)
{
    SCOPED_ARENA(a);
    const Board__JobRunRecord *run = run_of(k, &a, t);
    if (!run || strcmp(run->state, "queued") != 0 || strcmp(run->task_guid, t->task_guid) != 0) {
        checkers_report(k, "Y10", "%s is made for a run that is %s", p->key,
                        run ? run->state : "gone");
    } else if (!run->task || !is_snapshot(t->task_definition, run->task)) {
        checkers_report(k, "Y10", "%s is not of the snapshot of run %s", p->key, run->id);
    } else if (had_task_before(p, t)) {
        checkers_report(k, "Y10", "%s is made a second time for run %s", p->key, run->id);
    }
}

/* By its run alone, which is over then, or goes. */
static void check_removed(struct checkers *k, const struct past *p, const Models__Task *t)
{
    SCOPED_ARENA(a);
    const Board__JobRunRecord *run = run_of(k, &a, t);
    bool at_work =
        run && (strcmp(run->state, "pending") == 0 || strcmp(run->state, "queued") == 0 ||
                strcmp(run->state, "running") == 0);
    if (p->cause && strcmp(p->cause->move, "remove") == 0 && at_work) {
        checkers_report(k, "Y10", "%s goes, and run %s is %s", p->key, run->id, run->state);
    }
    bool over = t->state == MODELS__TASK__STATE__Completed ||
                t->state == MODELS__TASK__STATE__Resolving;
    bool said = run && (strcmp(run->state, "succeeded") == 0 || strcmp(run->state, "failed") == 0);
    bool cancelled = said && strcmp(run->message, "it was cancelled") == 0;
    if (said && !cancelled && p->cause && strcmp(p->cause->move, "remove") == 0 &&
        (!over || t->failed != (strcmp(run->state, "failed") == 0) ||
         strcmp(run->result, t->result) != 0)) {
        checkers_report(k, "Y10", "run %s is %s, and its task %s", run->id, run->state,
                        !over ? "was not over" : t->failed ? "failed" : "succeeded");
    }
}

static void check_task(struct checkers *k, const struct past *p)
{
    const Models__Task *is = run_task(p), *was = run_task(p->before);
    const struct past *before = p->before;
    if (is && !(before && before->message)) {
        check_made(k, p, is);
    } else if (was && !p->message) {
        check_removed(k, p, was);
    }
    if (!was && !is && p->cause && strcmp(p->cause->move, "remove") == 0) {
        checkers_report(k, "Y10", "%s is no job run's, and is removed as one", p->key);
    }
}

/* ---- What was asked for ---------------------------------------------------------------------- */

static const Models__RunAction *program_of(const Models__TaskDefinition *t)
{
    return t && t->action ? t->action->run_action : NULL;
}

static const char *value_in(Models__EnvironmentVariable *const *list, size_t count,
                            const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < count; i++) {
        bool is_it = strcmp(list[i]->name, name) == 0;
        value = !is_it ? value : list[i]->sealed ? "(sealed)" : list[i]->value;
    }
    return value;
}

/* By the variable that says what stood there, unless the request has another value for it. */
static bool is_variant_of(const Board__JobRunRecord *run, const Board__ComponentRecord *c)
{
    static const char name[] = "VARIANT";
    const Models__RunAction *is = program_of(run->task), *was = program_of(c->task);
    const char *asked = value_in(run->environment, run->n_environment, name);
    const char *stood = was ? value_in(was->env, was->n_env, name) : NULL;
    const char *has = value_in(run->task->environment_variables,
                               run->task->n_environment_variables, name);
    has = !has && is ? value_in(is->env, is->n_env, name) : has;
    const char *wanted = asked ? asked : stood;
    return wanted ? has && strcmp(has, wanted) == 0 : !has;
}

static bool has_command(const Board__JobRunRecord *run, const Board__ComponentRecord *c)
{
    const Models__RunAction *is = program_of(run->task), *was = program_of(c->task);
    const char *path = run->n_command ? run->command[0] : was ? was->path : "";
    return is && strcmp(is->path, path) == 0 &&
           (!run->n_command || is->n_args == run->n_command - 1);
}

/* The tree that stands at the path: of two roots the longer one counts. */
static const char *tree_at(const Board__HeadRecord *head, const char *path)
{
    const Board__Root *found = NULL;
    for (size_t i = 0; head && i < head->n_roots; i++) {
        const Board__Root *r = head->roots[i];
        size_t size = strcmp(r->path, "/") == 0 ? 0 : strlen(r->path);
        bool above = strncmp(path, r->path, size) == 0 && (path[size] == '/' || !path[size]);
        found = above && (!found || strlen(r->path) > strlen(found->path)) ? r : found;
    }
    return found ? found->tree : "";
}

static void check_asked(struct checkers *k, const struct past *p, const Board__JobRunRecord *run)
{
    SCOPED_ARENA(a);
    const struct past *head = history_at(&k->history, key_head(&a, run->uid), p->revision - 1);
    const char *tree = tree_at(head ? (const Board__HeadRecord *)head->message : NULL, run->path);
    const Board__ComponentRecord *c =
        (const Board__ComponentRecord *)history_now(&k->history, key_tree(&a, tree, run->path));
    k->seen[SEEN_RUNS_MADE]++;
    if (strcmp(run->tree, tree) != 0 || !c || !c->task || !run->task) {
        checkers_report(k, "Y10", "%s is of tree %s, and %s stands at %s", p->key, run->tree, tree,
                        run->path);
    } else if (!has_command(run, c) || !is_variant_of(run, c)) {
        checkers_report(k, "Y10", "%s is not of the job that stands at %s, as it was asked for",
                        p->key, run->path);
    }
}

static bool run_over(const Board__JobRunRecord *r)
{
    return strcmp(r->state, "succeeded") == 0 || strcmp(r->state, "failed") == 0;
}

static void check_run_end(struct checkers *k, const struct past *p, const Board__JobRunRecord *was,
                          const Board__JobRunRecord *is)
{
    if (run_over(was) && strcmp(is->state, "deleting") != 0 &&
        (strcmp(was->state, is->state) != 0 || strcmp(was->result, is->result) != 0 ||
         was->completed_at != is->completed_at)) {
        checkers_report(k, "Y7", "%s was %s, and is %s", p->key, was->state, is->state);
    }
    if (run_over(is) && !run_over(was)) {
        bool well = strcmp(is->state, "succeeded") == 0;
        k->seen[well ? SEEN_RUNS_SUCCEEDED : SEEN_RUNS_FAILED]++;
    }
}

static void check_run_record(struct checkers *k, const struct past *p)
{
    const Board__JobRunRecord *is = (const Board__JobRunRecord *)p->message;
    const Board__JobRunRecord *was =
        p->before ? (const Board__JobRunRecord *)p->before->message : NULL;
    if (is && !was) {
        check_asked(k, p, is);
    } else if (is) {
        check_run_end(k, p, was, is);
    }
    bool again = is && was && *was->task_guid && strcmp(is->task_guid, was->task_guid) != 0;
    if (again || (is && was && is->task && was->task && !same(&is->task->base, &was->task->base))) {
        checkers_report(k, "Y10", "%s: %s", p->key,
                        again ? "it has another task" : "its snapshot changes");
    }
}

/* A board that was restored knows less than what it has begun. */
void check_runs(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    (void)commit;
    for (size_t i = 0; i < p->count; i++) {
        if (p->list[i]->type == RECORD_TASK) {
            check_task(k, p->list[i]);
        } else if (p->list[i]->type == RECORD_JOB_RUN) {
            check_run_record(k, p->list[i]);
        }
    }
}
