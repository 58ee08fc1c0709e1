/* The moves of tasks as rows: which records they read, who decides. */
#include "bbs/task/task.h"
#include "bbs/task/validate_task.h"
#include "common/lifecycle/task.h"

#include <string.h>

static const char *task_target(struct arena *a, const struct op_input *in)
{
    return key_task(a, ((const Board__Move *)in->request)->task_guid);
}

static void reads_task(struct view *v, const struct op_input *in, void *snapshot)
{
    struct task_snapshot *s = snapshot;
    const struct seen *seen = view_get(v, task_target(view_arena(v), in));
    if (seen) {
        s->task = (const Models__Task *)seen->message;
        s->revision = seen->mod_revision;
        s->seen = view_seen(v, seen->key);
        s->made = view_made(v, seen->key);
    }
    move_gather_actor(v, in, &s->by);
}

static void reads_task_and_its_cell(struct view *v, const struct op_input *in, void *snapshot)
{
    struct task_snapshot *s = snapshot;
    reads_task(v, in, snapshot);
    if (s->task && s->task->cell_id[0]) {
        const struct seen *cell = view_get(v, key_cell(view_arena(v), s->task->cell_id));
        s->cell = cell ? (const Board__CellRecord *)cell->message : NULL;
        s->cell_seen = cell ? view_seen(v, cell->key) : s->seen;
    }
}

#define TASK_OP(move, reads)                                                                        \
    {                                                                                              \
        .name = #move " task", .target = task_target, .gather = reads_##reads,                     \
        .decide = task_##move##_decide, .snapshot_size = sizeof(struct task_snapshot),             \
    }

/* A rep that hears "nothing to change" executes or deletes by it, so that its answers pass the read
 * barrier too. */
#define TASK_MOVE(move, wanted, validates, reads)                                                   \
    {                                                                                              \
        .name = #move, .lifecycle = &task_lifecycle, .news = TASK_NEWS_##wanted,                   \
        .valid = valid_task_##validates, .op = TASK_OP(move, reads),                               \
        .op_of_rep = TASK_OP(move, reads),                                                         \
    },

static const struct move_row rows[] = {
#include "bbs/task/moves.def"
};

const struct move_row *task_row_named(const char *name)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}
