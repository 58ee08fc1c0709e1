/* The moves of tasks as rows: which records they read, who decides. */
#include "bbs/setting/in_force.h"
#include "bbs/task/task.h"
#include "bbs/task/validate_task.h"
#include "common/lifecycle/task.h"
#include "common/model/pool_tag.h"

#include <string.h>

enum { CELL = 1, ATTEMPT = 2, SETTINGS = 4 }; /* bits of `reads` */

static void gather_cell(struct view *v, struct task_snapshot *s)
{
    if (s->task && s->task->cell_id[0]) {
        const struct seen *cell = view_get(v, key_cell(view_arena(v), s->task->cell_id));
        s->cell = cell ? (const Board__CellRecord *)cell->message : NULL;
        s->cell_seen = cell ? view_seen(v, cell->key) : s->seen;
    }
}

static void task_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct task_snapshot *s = snapshot;
    const struct seen *seen = view_get(v, move_subject_key(view_arena(v), in));
    if (seen) {
        s->task = (const Models__Task *)seen->message;
        s->revision = seen->mod_revision;
        s->seen = view_seen(v, seen->key);
        s->made = view_made(v, seen->key);
    }
    speaker_gather(v, in, &s->by);
    unsigned reads = move_row_named(&task_moves, ((const Board__Move *)in->request)->move)->reads;
    s->times = reads & SETTINGS ? &settings_gather(v)->tasks : &SETTINGS_DEFAULT.tasks;
    if (reads & CELL) {
        gather_cell(v, s);
    }
}

/* The cell takes what bears the tag of its node pool, and that alone. */
static bool pool_fits(const struct task_snapshot *s)
{
    const Models__TaskDefinition *d = s->task->task_definition;
    return !d || pool_tag_fits(s->by.cell->pool, d->placement_tags, d->n_placement_tags);
}

/* One of the same guid that was desired at another time is another task (docs/tasks.md, Once). */
static bool task_begin(struct move_turn *t)
{
    const struct task_snapshot *s = t->snapshot;
    const Board__TaskMove *m = move_task(t->move);
    if (!speaker_authorised_for(&s->by, t->in, m->cell_id, "tasks", t->plan)) {
        return false;
    }
    t->record = t->plan->record = s->task ? &s->task->base : NULL;
    t->from = task_state(s->task);
    if (s->task && s->by.cell && t->from == TASK_PENDING && strcmp(t->row->name, "start") == 0 &&
        !pool_fits(s)) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "task %s does not go with the node pool of cell %s", s->task->task_guid,
                    t->in->peer_name);
        return false;
    }
    if (s->task && m->created_at && m->created_at != s->task->created_at) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "task %s is not the one that this cell was granted: it was desired again",
                    s->task->task_guid);
        return false;
    }
    return true;
}

static void task_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&task_moves, snapshot, in, p);
}

/* A rep that hears "nothing to change" executes or deletes by it, so that its answers pass the read
 * barrier too. */
static const struct op_row task_op = {
    .name = "move of a task",
    .target = move_subject_key,
    .gather = task_gather,
    .decide = task_decide,
    .snapshot_size = sizeof(struct task_snapshot),
};

#define TRANSITION(state) task_refuse_transition(t, TASK_##state)
#define SAYS(...) plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, __VA_ARGS__)
#define GUID turn_task(t)->task_guid
#define SECONDS(field) (long long)(task_limit_ns(t, turn_times(t)->field) / SECOND_NS)

#define MOVE_ROW(move, valid, reads, guards, refusal, decide)                                      \
    static void refuse_##move(const struct move_turn *t)                                           \
    {                                                                                              \
        refusal;                                                                                   \
    }
#include "bbs/task/moves.def"

#define MOVE_ROW(move, validates, read, guard, refusal, decides)                                   \
    {                                                                                              \
        .name = #move, .valid = valid_task_##validates, .reads = read, .absent = ABSENT_REFUSED,   \
        .rep_says = (read) & ATTEMPT ? "attempt" : NULL,                                           \
        .guards = guard##_guards, .refuse = refuse_##move, .decide = task_##decides,               \
        .op = &task_op, .op_of_rep = &task_op,                                                     \
    },
static const struct move_row rows[] = {
#include "bbs/task/moves.def"
};

const struct move_family task_moves = {
    .lifecycle = &task_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = task_begin,
};
