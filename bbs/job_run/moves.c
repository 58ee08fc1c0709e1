/* The moves of the converger: queue, note, observe, finish, delete, remove, forget. */
#include "bbs/board/nested.h"
#include "bbs/job_run/job_run.h"
#include "bbs/pool/pool.h"
#include "bbs/task/task.h"
#include "common/lifecycle/job_run.h"
#include "common/lifecycle/system.h"
#include "common/lifecycle/task.h"
#include "common/model/pool_record.h"
#include "common/model/pool_state.h"
#include "common/model/pool_tag.h"

#include <assert.h>
#include <string.h>

enum { TASK = 1, FREE = 2, OLDER = 4 }; /* bits of `reads` */

static char *const_text(const char *text)
{
    return (char *)(uintptr_t)text;
}

Board__JobRunRecord *job_run_changed(struct arena *a, const Board__JobRunRecord *before, int to,
                                     struct moment now)
{
    Board__JobRunRecord *after = arena_message(a, &board__job_run_record__descriptor);
    assert(to > JOB_RUN_NONE && to < JOB_RUN_STATE_COUNT);
    *after = *before;
    after->state = const_text(job_run_lifecycle.states[to]);
    after->message = const_text(to == JOB_RUN_QUEUED ? "waits for a cell" : "");
    bool over = to == JOB_RUN_SUCCEEDED || to == JOB_RUN_FAILED;
    if (over && !after->completed_at) {
        int64_t least = before->started_at ? before->started_at : before->created_at;
        after->completed_at = now.wall_ns > least ? now.wall_ns : least;
    }
    return after;
}

void job_run_drop_task(struct plan *p, const Models__Task *task)
{
    if (!task) {
        return;
    }
    int from = task_state(task);
    int to = lifecycle_transition(&task_lifecycle, from, ACTOR_BBS, TASK_TRIGGER_REMOVE, 0);
    if (to == TASK_NONE) { /* not of a newer version's */
        plan_delete(p, key_task(p->arena, task->task_guid), "remove", ACTOR_BBS);
        if (from == TASK_RUNNING) {
            plan_notice_cancel(p, task->task_guid, task->attempt, task->cell_id);
        }
    }
}

/* ---- What is read ---------------------------------------------------------------------------- */

static const struct job_run_snapshot *turn_snapshot(const struct move_turn *t)
{
    return t->snapshot;
}

/* The guid that begins as the id, or the whole of it, where another task has that one. */
static const char *free_guid(struct view *v, const Board__JobRunRecord *run)
{
    struct arena *a = view_arena(v);
    const char *guid = job_run_task_guid(a, run, false);
    return view_exists(v, key_task(a, guid)) ? job_run_task_guid(a, run, true) : guid;
}

/* In a pool it bears the tag of the newest epoch. */
static void set_tags(struct arena *a, const Board__JobRunRecord *run, const Board__PoolRecord *pool,
                     Models__TaskDefinition *task)
{
    const Board__PoolEpoch *newest = pool_newest(pool);
    if (newest) {
        const struct pool_place place = {.tag = pool_tag(a, run->uid, run->pool, newest->number)};
        task->placement_tags = pool_place_tags(a, &place, task->placement_tags,
                                               task->n_placement_tags, &task->n_placement_tags);
    }
}

static Models__DesireTaskRequest *desire_of(struct arena *a, const Board__JobRunRecord *run,
                                            const Board__PoolRecord *pool, const char *guid)
{
    Models__DesireTaskRequest *r = arena_message(a, &models__desire_task_request__descriptor);
    Models__TaskDefinition *task = arena_message(a, &models__task_definition__descriptor);
    if (run->task) {
        *task = *run->task;
    }
    set_tags(a, run, pool, task);
    task->log_guid = *task->log_guid ? task->log_guid : const_text(guid);
    task->log_source = *task->log_source ? task->log_source : const_text("JOB");
    r->task_definition = task;
    r->task_guid = const_text(guid);
    r->domain = arena_printf(a, "system.%s", run->uid);
    r->owner = arena_message(a, &models__owner__descriptor);
    r->owner->kind = const_text(JOB_RUN_OWNER_KIND);
    r->owner->uid = arena_printf(a, "%s/%s", run->uid, run->id);
    return r;
}

static void gather_queue(struct view *v, const struct op_input *in, struct job_run_snapshot *s)
{
    struct arena *a = view_arena(v);
    s->task_guid = free_guid(v, s->run);
    s->pool = *s->run->pool ? view_message(v, key_pool(a, s->run->uid, s->run->pool)) : NULL;
    s->desire = ARENA_NEW(a, struct nested_op);
    *s->desire = (struct nested_op){
        .row = &desire_task_row,
        .request = &desire_of(a, s->run, s->pool, s->task_guid)->base,
    };
    nested_gather(v, in, s->desire, 1);
}

/* Those that are over later than this one; not noted: how many are kept need not be exact. */
static size_t count_later(struct view *v, const Board__JobRunRecord *run)
{
    struct arena *a = view_arena(v);
    const struct seen *list;
    size_t later = 0;
    int count = view_peek_range(v, key_range_of(a, RECORD_JOB_RUN, run->uid), 2 * JOB_RUNS_MAX,
                                &list);
    for (int i = 0; i < count; i++) {
        later += ((const Board__JobRunRecord *)list[i].message)->completed_at > run->completed_at;
    }
    return later;
}

static void job_run_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct job_run_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const Board__Move *m = in->request;
    const char *id = move_job_run(m)->system;
    unsigned reads = move_row_named(&jobrun_moves, m->move)->reads;
    speaker_gather(v, in, &s->by);
    s->board_generation = view_board_generation(v);
    s->run = view_message(v, move_subject_key(a, in));
    if (!s->run) {
        return;
    }
    id = *s->run->system ? s->run->system : id;
    const Board__SystemRecord *system = *id ? view_message(v, key_system(a, id)) : NULL;
    s->system = system && strcmp(system->uid, s->run->uid) == 0 ? system : NULL;
    if ((reads & TASK) && *s->run->task_guid) {
        s->task = view_message(v, key_task(a, s->run->task_guid));
    }
    if (reads & FREE) {
        gather_queue(v, in, s);
    }
    if (reads & OLDER) {
        s->count = count_later(v, s->run);
    }
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static bool system_goes(const struct job_run_snapshot *s)
{
    return !s->system ||
           lifecycle_state(&system_lifecycle, s->system->state) == SYSTEM_DELETING;
}

/* Shared cells are always there. Nothing begins in a system that goes, or that nobody confirmed
 * since a restore: it may have run before. */
static uint32_t queue_run_guards(const struct move_turn *t)
{
    const struct job_run_snapshot *s = turn_snapshot(t);
    bool confirmed =
        s->system && strcmp(s->system->board_generation, s->board_generation) == 0;
    bool pool = !*s->run->pool || (s->pool && pool_is_ready(s->pool));
    return confirmed && pool && !system_goes(s) ? JOB_RUN_IF_POOL_READY : 0;
}

static uint32_t no_run_guards(const struct move_turn *t)
{
    (void)t;
    return 0;
}

static uint32_t task_run_guards(const struct move_turn *t)
{
    const struct job_run_snapshot *s = turn_snapshot(t);
    int state = task_state(s->task);
    bool over = state == TASK_COMPLETED || state == TASK_RESOLVING;
    return (state == TASK_RUNNING ? JOB_RUN_IF_TASK_RUNNING : 0) |
           (over && !s->task->failed ? JOB_RUN_IF_TASK_SUCCEEDED : 0) |
           ((over && s->task->failed) || !s->task ? JOB_RUN_IF_TASK_FAILED : 0) |
           (!s->task ? JOB_RUN_IF_NO_TASK : 0);
}

static uint32_t gone_run_guards(const struct move_turn *t)
{
    return system_goes(turn_snapshot(t)) ? JOB_RUN_IF_GONE : 0;
}

static uint32_t kept_run_guards(const struct move_turn *t)
{
    static const int64_t kept_ns = JOB_RUN_KEPT_DAYS * 86400 * SECOND_NS;
    const struct job_run_snapshot *s = turn_snapshot(t);
    bool old = s->run->completed_at + kept_ns <= t->in->now.wall_ns;
    return old || s->count >= JOB_RUNS_KEPT ? JOB_RUN_IF_KEPT_ENOUGH : 0;
}

/* ---- What they do ---------------------------------------------------------------------------- */

static const Board__JobRunRecord *turn_run(const struct move_turn *t)
{
    return turn_snapshot(t)->run;
}

static void put_run(const struct move_turn *t, const Board__JobRunRecord *after)
{
    move_put(t, key_jobrun(t->plan->arena, after->uid, after->id), t->from, t->to, &after->base);
}

/* Its one Task is made, with it. */
static void queue_run(const struct move_turn *t)
{
    const struct job_run_snapshot *s = turn_snapshot(t);
    assert(s->desire && *s->task_guid && t->to == JOB_RUN_QUEUED);
    if (!nested_decide(s->desire, 1, t->in, t->plan)) {
        return;
    }
    Board__JobRunRecord *after = job_run_changed(t->plan->arena, s->run, t->to, t->in->now);
    after->task_guid = const_text(s->task_guid);
    after->pool_epoch = s->pool ? pool_newest(s->pool)->number : 0;
    put_run(t, after);
}

/* Why it waits; said again it is nothing. */
static void note_run(const struct move_turn *t)
{
    const Board__JobRunRecord *run = turn_run(t);
    const char *message = move_job_run(t->move)->message;
    assert(t->to == JOB_RUN_PENDING);
    if (strcmp(run->message, message) != 0) {
        Board__JobRunRecord *after = job_run_changed(t->plan->arena, run, t->to, t->in->now);
        after->message = const_text(message);
        put_run(t, after);
    }
}

static int64_t not_before(int64_t wall_ns, int64_t least)
{
    return wall_ns > least ? wall_ns : least;
}

static void observe_run(const struct move_turn *t)
{
    Board__JobRunRecord *after =
        job_run_changed(t->plan->arena, turn_run(t), t->to, t->in->now);
    after->started_at = not_before(t->in->now.wall_ns, after->created_at);
    assert(t->to == JOB_RUN_RUNNING && turn_snapshot(t)->task);
    put_run(t, after);
}

/* What the Task came to is the run's, and the Task goes. */
static void finish_run(const struct move_turn *t)
{
    const struct job_run_snapshot *s = turn_snapshot(t);
    Board__JobRunRecord *after = job_run_changed(t->plan->arena, s->run, t->to, t->in->now);
    assert(t->to == JOB_RUN_SUCCEEDED || t->to == JOB_RUN_FAILED);
    if (s->task) {
        after->message = s->task->failure_reason;
        after->result = s->task->result;
        after->started_at = after->started_at || !*s->task->ran_on_cell_id
                                ? after->started_at
                                : not_before(s->task->created_at, after->created_at);
        after->completed_at = not_before(s->task->first_completed_at, after->started_at);
        after->completed_at = not_before(after->completed_at, after->created_at);
    } else {
        after->message = const_text("its task is gone: somebody deleted it");
    }
    put_run(t, after);
    job_run_drop_task(t->plan, s->task);
}

static void delete_run(const struct move_turn *t)
{
    const struct job_run_snapshot *s = turn_snapshot(t);
    Board__JobRunRecord *after = job_run_changed(t->plan->arena, s->run, t->to, t->in->now);
    after->message = const_text("its system is being deleted");
    put_run(t, after);
    job_run_drop_task(t->plan, s->task);
}

static void remove_run(const struct move_turn *t)
{
    move_delete_subject(t);
}

static void forget_run(const struct move_turn *t)
{
    move_delete_subject(t);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool job_run_begin(struct move_turn *t)
{
    const struct job_run_snapshot *s = turn_snapshot(t);
    t->record = s->run ? &s->run->base : NULL;
    t->from = s->run ? lifecycle_state(&job_run_lifecycle, s->run->state) : JOB_RUN_NONE;
    return speaker_authorised(&s->by, t->in, t->plan);
}

/* Its key is well formed (moves.h): uid and id are not empty. */
static void valid_job_run_move(struct validation *v, const Board__Move *move)
{
    if (strlen(move_job_run(move)->message) > JOB_RUN_MESSAGE_BYTES_MAX) {
        say_field(v, "message");
    }
}

static void job_run_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&jobrun_moves, snapshot, in, p);
}

static const struct op_row job_run_op = {
    .name = "move of a job run",
    .target = move_subject_key,
    .gather = job_run_gather,
    .decide = job_run_decide,
    .snapshot_size = sizeof(struct job_run_snapshot),
};

#define MOVE_ROW(move, absents, read, guard, refusal, decides)                                     \
    static void refuse_##move(const struct move_turn *t)                                           \
    {                                                                                              \
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "job run %s: %s",              \
                    turn_run(t)->id, refusal);                                                     \
    }
#include "bbs/job_run/moves.def"

#define MOVE_ROW(move, absents, read, guard, refusal, decides)                                     \
    {                                                                                              \
        .name = #move, .valid = valid_job_run_move, .reads = read, .absent = ABSENT_##absents,     \
        .guards = guard##_run_guards, .refuse = refuse_##move, .decide = decides##_run,            \
        .op = &job_run_op, .op_of_rep = &job_run_op,                                               \
    },
static const struct move_row rows[] = {
#include "bbs/job_run/moves.def"
};

const struct move_family jobrun_moves = {
    .lifecycle = &job_run_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = job_run_begin,
};
