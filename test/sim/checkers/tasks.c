/* S3 and S4: what is executed of a task, and what is said of how it ended. */
#include "models/task.pb-c.h"
#include "rep_note.pb-c.h"
#include "test/sim/checkers/checkers.h"
#include "test/sim/model/containers.h"

#include <stdio.h>
#include <string.h>

/* The container of a task that a cell has made last. */
struct task_container {
    int64_t life; /* create-revision of the record that it was made for; 0 = not known */
    bool counted; /* its process was started */
    bool noted;   /* "executing" was asked to be written, durably */
    bool asked;   /* its start was */
};

/* All that cells have made of the tasks of one guid, one after the other. */
struct task_runs {
    struct task_container on[CLUSTER_CELLS_MAX];
};

/* One task, from its desire to its delete. */
struct task_life {
    bool by_clients; /* an ordinary client has started or rejected it: S3 does not hold */
    bool executed;
    unsigned cell; /* where */
};

struct tasks_seen {
    struct map runs;  /* guid -> struct task_runs, in the history's arena */
    struct map heard; /* guid@created_at: was told to who is called back */
    struct map lives; /* guid@create-revision -> struct task_life, likewise */
};

static struct tasks_seen *kept(struct checkers *k)
{
    k->tasks = k->tasks ? k->tasks : ARENA_NEW(&k->history.arena, struct tasks_seen);
    return k->tasks;
}

void tasks_done(struct checkers *k)
{
    map_done(&kept(k)->runs, NULL);
    map_done(&kept(k)->heard, NULL);
    map_done(&kept(k)->lives, NULL);
}

static const Models__Task *task_of(const struct past *p)
{
    return p && p->message ? (const Models__Task *)p->message : NULL;
}

/* ---- S4 -------------------------------------------------------------------------------------- */

static bool is_over(const Models__Task *t)
{
    return t && (t->state == MODELS__TASK__STATE__Completed ||
                 t->state == MODELS__TASK__STATE__Resolving);
}

static void check_outcome(struct checkers *k, const struct past *p)
{
    const Models__Task *was = task_of(p->before), *is = task_of(p);
    if (!is_over(was) || !is) {
        return;
    }
    if (!is_over(is) || was->failed != is->failed ||
        strcmp(was->failure_reason, is->failure_reason) != 0 ||
        strcmp(was->result, is->result) != 0 ||
        was->first_completed_at != is->first_completed_at) {
        checkers_report(k, "S4", "%s: %s by %s changes how it ended", p->key,
                        p->cause ? p->cause->move : "?", p->cause ? p->cause->actor : "?");
    }
}

/* By the server that is called back. */
static bool was_heard(struct checkers *k, const char *guid, int64_t created_at)
{
    char name[80];
    snprintf(name, sizeof(name), "%s@%lld", guid, (long long)created_at);
    return map_get(&kept(k)->heard, name) != NULL;
}

/* A callback has one trace, from its completion, or from the converger's word, to its delete. */
static void check_delete(struct checkers *k, const struct past *p)
{
    const struct past *before = p->before;
    bool removed = p->cause && strcmp(p->cause->move, "remove") == 0; /* runs.c */
    if (p->message || !before || !p->cause || removed || strcmp(p->cause->actor, "bbs") != 0) {
        return;
    }
    const Models__Task *t = task_of(before);
    if (t && k->history.restores == 0 && !was_heard(k, t->task_guid, t->created_at)) {
        checkers_report(k, "S4", "%s: a bbs deletes it, and nobody was told how it ended", p->key);
    }
    if (!before->cause || strcmp(before->cause->move, "resolving") != 0 ||
        strcmp(before->cause->actor, "bbs") != 0 ||
        strcmp(before->cause->trace_id, p->cause->trace_id) != 0) {
        checkers_report(k, "S4", "%s: a bbs deletes what it has not made Resolving itself", p->key);
    }
}

/* Nobody takes away before its time what a client wants to look at: without a URL so long after its
 * last change, and one that somebody waits for only in days. */
static void check_forgotten(struct checkers *k, const struct past *p)
{
    const Models__Task *t = task_of(p->before);
    if (p->message || !t || !p->cause || strcmp(p->cause->move, "forget") != 0) {
        return;
    }
    bool waited_for = t->task_definition && *t->task_definition->completion_callback_url;
    int64_t keep_ns = t->optional_keep_s_case ? (int64_t)t->keep_s * SECOND_NS : NEVER_NS;
    int64_t kept_ns = p->at_ns - p->before->at_ns;
    if (t->state != MODELS__TASK__STATE__Completed || waited_for || kept_ns < keep_ns) {
        checkers_report(k, "S4", "%s is forgotten after %lld ms, and was to be kept for %lld s%s",
                        p->key, (long long)(kept_ns / MILLISECOND_NS),
                        (long long)(keep_ns / SECOND_NS),
                        waited_for ? "; and it has a callback" : "");
    }
}

/* One rejection more than it may have fails it, and there is never another one. */
static void check_rejections(struct checkers *k, const struct past *p)
{
    const Models__Task *was = task_of(p->before), *is = task_of(p);
    if (!is || !was || is->rejection_count == was->rejection_count) {
        return;
    }
    int most = is->optional_max_retries_case ? is->max_retries
                                             : (int)k->settings.tasks.max_retries;
    bool spent = was->rejection_count >= most;
    if (is->rejection_count != was->rejection_count + 1 || is_over(is) != spent) {
        checkers_report(k, "S4", "%s: rejection %d of %d leaves it %s", p->key, is->rejection_count,
                        most, is_over(is) ? "over" : "waiting");
    }
}

/* A client's word of which the record's past knows. */
static bool was_told(const struct past *p, const Models__TaskCallbackResponse *told)
{
    for (; p; p = p->before) {
        const Models__Task *t = task_of(p);
        if (is_over(t) && t->created_at == told->created_at && t->failed == told->failed &&
            strcmp(t->failure_reason, told->failure_reason) == 0 &&
            strcmp(t->result, told->result) == 0) {
            return true;
        }
    }
    return false;
}

void check_callback(struct checkers *k, const Models__TaskCallbackResponse *told)
{
    SCOPED_ARENA(a);
    char name[80];
    snprintf(name, sizeof(name), "%s@%lld", told->task_guid, (long long)told->created_at);
    map_put(&kept(k)->heard, name, k);
    k->seen[SEEN_CALLBACKS]++;
    const struct past *p = map_get(&k->history.now, key_task(&a, told->task_guid));
    /* One that was under way may tell of what a restore has undone. */
    if (!was_told(p, told) && k->history.restores == 0) {
        checkers_report(k, "S4", "a callback tells of %s what the board never said: %s%s",
                        told->task_guid, told->failed ? "failed, " : "", told->failure_reason);
    }
}

/* ---- S3 -------------------------------------------------------------------------------------- */

static struct task_runs *runs_of(struct checkers *k, const char *guid)
{
    return map_get(&kept(k)->runs, guid);
}

bool task_known(struct checkers *k, const char *guid)
{
    return runs_of(k, guid) != NULL;
}

static struct task_life *life_of(struct checkers *k, const char *guid, int64_t life)
{
    char name[80];
    snprintf(name, sizeof(name), "%s@%lld", guid, (long long)life);
    struct task_life *l = map_get(&kept(k)->lives, name);
    if (!l) {
        l = ARENA_NEW(&k->history.arena, struct task_life);
        *l = (struct task_life){0};
        map_put(&kept(k)->lives, name, l);
        k->seen[SEEN_TASKS]++;
    }
    return l;
}

static void note_task(struct checkers *k, const struct past *p)
{
    const Models__Task *t = task_of(p);
    if (!t) {
        return;
    }
    if (!runs_of(k, t->task_guid)) {
        struct task_runs *r = ARENA_NEW(&k->history.arena, struct task_runs);
        *r = (struct task_runs){0};
        map_put(&kept(k)->runs, t->task_guid, r);
    }
    struct task_life *life = life_of(k, t->task_guid, p->create_revision);
    const char *move = p->cause ? p->cause->move : "";
    bool client = p->cause && strcmp(p->cause->actor, "client") == 0;
    life->by_clients = life->by_clients ||
                       (client && (strcmp(move, "start") == 0 || strcmp(move, "reject") == 0));
}

static bool runs_by(const Models__Task *t, const char *attempt)
{
    return t && t->state == MODELS__TASK__STATE__Running && strcmp(t->attempt, attempt) == 0;
}

/* An attempt that has left RUNNING never comes back in that life: neither a late start nor a
 * doubled one makes it run again. What a restore has undone was never there. */
static void check_return(struct checkers *k, const struct past *p)
{
    const Models__Task *is = task_of(p);
    if (!is || !*is->attempt || !runs_by(is, is->attempt) ||
        runs_by(task_of(p->before), is->attempt)) {
        return;
    }
    const struct past *q = p->before;
    while (q && q->create_revision == p->create_revision && !runs_by(task_of(q), is->attempt)) {
        q = q->before;
    }
    if (q && q->create_revision == p->create_revision) {
        checkers_report(k, "S3", "%s: attempt %s is over since, and %s by %s brings it back",
                        p->key, is->attempt, p->cause ? p->cause->move : "?",
                        p->cause ? p->cause->actor : "?");
    }
}

void check_tasks(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->list[i]->type == RECORD_TASK) {
            check_return(k, p->list[i]);
            check_outcome(k, p->list[i]);
            check_delete(k, p->list[i]);
            check_forgotten(k, p->list[i]);
            check_rejections(k, p->list[i]);
            note_task(k, p->list[i]);
        }
    }
}

/* The offer that the move names was open, or its attempt had started: so it stood. */
static bool is_offered(const struct past *p, const Board__Move *move)
{
    const Models__Task *t = task_of(p);
    if (!t || (move_task(move)->created_at && move_task(move)->created_at != t->created_at)) {
        return false;
    }
    bool begun = t->state == MODELS__TASK__STATE__Running &&
                 strcmp(t->attempt, move_task(move)->attempt) == 0;
    bool open = t->state == MODELS__TASK__STATE__Pending &&
                t->rejection_count <= move_task(move)->rejections;
    return begun || open;
}

/* A start of an attempt is done only while the offer that it takes stands: after a rejection it is
 * another one (docs/tasks.md, Once). */
void check_offer(struct checkers *k, const struct seen_answer *seen)
{
    SCOPED_ARENA(a);
    const Board__Move *move = seen->move;
    if (seen->result->outcome != BOARD__MOVE_RESULT__OUTCOME__DONE ||
        strcmp(move->move, "start") != 0 ||
        move_task(move)->optional_rejections_case !=
            BOARD__TASK_MOVE__OPTIONAL_REJECTIONS_REJECTIONS) {
        return;
    }
    const struct past *p = history_at(&k->history, move_key(&a, move), seen->result->revision);
    bool stood = is_offered(p, move);
    while (!stood && p && p->revision > seen->answer->arrived_revision) {
        p = p->before;
        stood = is_offered(p, move);
    }
    if (!stood) {
        checkers_report(k, "S3", "%s starts task %s for an offer that is over (%d rejections)",
                        node_name(seen->answer->from), move_name(&a, move),
                        move_task(move)->rejections);
    }
}

static bool started(const struct checkers *k, unsigned cell, const char *guid)
{
    int state = model_containers_state(node_containers(k->cluster->cells[cell]), guid);
    return state == CONTAINER_RUNNING || state == CONTAINER_EXITED;
}

/* Whether the process of its container on this cell was started, and was the first one. */
static void look_at(struct checkers *k, const char *guid, unsigned cell)
{
    struct task_container *c = &runs_of(k, guid)->on[cell];
    if (c->counted || !c->life || !started(k, cell, guid)) {
        return;
    }
    struct task_life *life = life_of(k, guid, c->life);
    c->counted = true;
    k->seen[SEEN_TASKS_RUN]++;
    if (life->executed && !life->by_clients) {
        checkers_report(k, "S3", "task %s was executed on cell-%u and is executed on cell-%u",
                        guid, life->cell + 1, cell + 1);
    }
    life->executed = true;
    life->cell = cell;
}

/* The life in which the board gave the task to this attempt. */
static int64_t life_of_attempt(struct checkers *k, const char *guid, const char *attempt)
{
    SCOPED_ARENA(a);
    const struct past *p = map_get(&k->history.now, key_task(&a, guid));
    int64_t life = 0;
    for (; p && !life; p = p->before) {
        const Models__Task *t = task_of(p);
        life = t && strcmp(t->attempt, attempt) == 0 ? p->create_revision : 0;
    }
    return life;
}

static void note_made(struct checkers *k, struct task_container *c, const struct verb_call *call)
{
    Rep__Note *note = rep__note__unpack(NULL, call->note.size, call->note.data);
    *c = (struct task_container){0};
    if (note && note->task) {
        c->life = life_of_attempt(k, call->guid, note->task->attempt);
    }
    if (!c->life && k->history.restores == 0) {
        checkers_report(k, "S12", "a container of task %s is made that the board never gave out",
                        call->guid);
    }
    if (note) {
        rep__note__free_unpacked(note, NULL);
    }
}

static bool says_executing(const struct verb_call *call)
{
    Rep__Note *note = rep__note__unpack(NULL, call->note.size, call->note.data);
    bool says = note && note->task && note->task->executing;
    if (note) {
        rep__note__free_unpacked(note, NULL);
    }
    return says;
}

/* A process is asked for once, whatever became of it, and only after the note that says so. */
static void check_order(struct checkers *k, struct task_container *c, const struct verb_call *call)
{
    if (call->verb == VERB_NOTE) {
        c->noted = c->noted || (call->durable && says_executing(call));
    } else if (call->verb == VERB_START) {
        if (c->asked || !c->noted) {
            checkers_report(k, "S3", "the process of task %s is asked for %s", call->guid,
                            c->asked ? "twice" : "before its note says so");
        }
        c->asked = true;
    }
}

/* Before it is done: what goes with it was there until now. */
void check_task_verb(struct checkers *k, struct node *cell, const struct verb_call *call)
{
    int number = checkers_cell(k, cell);
    if (number < 0 || !call->guid || !task_known(k, call->guid)) {
        return;
    }
    look_at(k, call->guid, (unsigned)number);
    struct task_container *c = &runs_of(k, call->guid)->on[number];
    if (call->verb == VERB_PREPARE &&
        model_containers_state(node_containers(cell), call->guid) < 0) {
        note_made(k, c, call);
    }
    check_order(k, c, call);
}

void check_task_containers(struct checkers *k)
{
    MAP_EACH(&kept(k)->runs, n)
    {
        for (unsigned i = 0; i < k->cluster->options.cells; i++) {
            look_at(k, map_key(n), i);
        }
    }
}

/* What was begun in another past is not counted, and its revisions come again. What its cell has
 * asked of the container stays asked. */
void forget_tasks(struct checkers *k)
{
    MAP_EACH(&kept(k)->runs, n)
    {
        struct task_runs *runs = map_value(n);
        for (unsigned i = 0; i < CLUSTER_CELLS_MAX; i++) {
            struct task_container *c = &runs->on[i];
            *c = (struct task_container){.noted = c->noted, .asked = c->asked};
        }
    }
    map_done(&kept(k)->lives, NULL);
    map_init(&kept(k)->lives);
}
