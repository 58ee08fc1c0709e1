/* Y10: a run of a job has one Task, made when it is queued and of its snapshot; the Task goes with
 * the run's end, and the snapshot never changes. */
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

/* Where the logs go is the Task's own. */
static bool is_snapshot(const Models__TaskDefinition *task, const Models__TaskDefinition *snapshot)
{
    Models__TaskDefinition shown = *task;
    shown.log_guid = snapshot->log_guid;
    shown.log_source = snapshot->log_source;
    return same(&shown.base, &snapshot->base);
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

static void check_run_record(struct checkers *k, const struct past *p)
{
    const Board__JobRunRecord *is = (const Board__JobRunRecord *)p->message;
    const Board__JobRunRecord *was =
        p->before ? (const Board__JobRunRecord *)p->before->message : NULL;
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
