/* The moves of tasks as rows: which records they read, who decides. */
#include "bbs/task/task.h"
#include "bbs/task/validate_task.h"
#include "common/lifecycle/task.h"

#include <string.h>

static const char *task_target(struct arena *a, const struct op_input *in)
{
    return key_task(a, ((const Board__Move *)in->request)->task_guid);
}

static void task_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct task_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    const struct seen *seen = view_get(v, task_target(view_arena(v), in));
    if (seen) {
        s->task = (const Models__Task *)seen->message;
        s->revision = seen->mod_revision;
    }
    move_gather_actor(v, in, &s->by);
    if (strcmp(m->move, "disappear") == 0 && s->task && s->task->cell_id[0]) {
        const struct seen *cell = view_get(v, key_cell(view_arena(v), s->task->cell_id));
        s->cell = cell ? (const Board__CellRecord *)cell->message : NULL;
    }
}

#define TASK_OP(move)                                                                               \
    {                                                                                              \
        .name = #move " task", .target = task_target, .gather = task_gather,                       \
        .decide = task_##move##_decide, .snapshot_size = sizeof(struct task_snapshot),             \
    }

/* A rep that hears "nothing to change" executes or deletes by it, so that its answers pass the read
 * barrier too. */
#define TASK_ROW(move, wanted)                                                                      \
    {                                                                                              \
        .name = #move, .lifecycle = &task_lifecycle, .news = wanted, .valid = valid_task_##move,   \
        .op = TASK_OP(move), .op_of_rep = TASK_OP(move),                                           \
    }

static const struct move_row rows[] = {
    TASK_ROW(start, TASK_NEWS_START),
    TASK_ROW(cancel, TASK_NEWS_CANCEL),
    TASK_ROW(fail, TASK_NEWS_FAIL),
    TASK_ROW(reject, TASK_NEWS_REJECT),
    TASK_ROW(complete, TASK_NEWS_COMPLETE),
    TASK_ROW(resolving, TASK_NEWS_RESOLVING),
    TASK_ROW(delete, TASK_NEWS_DELETE),
    TASK_ROW(expire, TASK_NEWS_EXPIRE),
    TASK_ROW(ask, TASK_NEWS_ASK),
    TASK_ROW(disappear, TASK_NEWS_DISAPPEAR),
    TASK_ROW(kick, TASK_NEWS_KICK),
    TASK_ROW(deliver, TASK_NEWS_DELIVER),
    TASK_ROW(forget, TASK_NEWS_FORGET),
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
