#include "bbs/board/speaker.h"
#include "bbs/edge/edge.h"
#include "bbs/edge/said.h"
#include "bbs/setting/in_force.h"
#include "common/lifecycle/progress.h"

#include <assert.h>
#include <string.h>

struct forget_snapshot {
    struct speaker by;
    const Board__ProgressRecord *progress; /* NULL = none */
    int64_t keep_ns;
};

static const Board__ProgressRecord *told_of(const struct move_turn *t)
{
    return ((const struct forget_snapshot *)t->snapshot)->progress;
}

static void forget_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct forget_snapshot *s = snapshot;
    speaker_gather(v, in, &s->by);
    s->progress = view_message(v, move_subject_key(view_arena(v), in));
    s->keep_ns = settings_gather(v)->edge.progress_keep_ns;
}

/* Of another life or operation than the converger judged: nothing. */
static bool forget_begin(struct move_turn *t)
{
    const struct forget_snapshot *s = t->snapshot;
    const Board__ProgressRecord *p = s->progress;
    const Board__EdgeMove *m = edge_says(t);
    t->record = p ? &p->base : NULL;
    t->from = !p ? PROGRESS_NONE : *p->end ? PROGRESS_ENDED : PROGRESS_UNDER_WAY;
    return speaker_authorised(&s->by, t->in, t->plan) &&
           (!p || (strcmp(m->uid, p->uid) == 0 && m->request == p->request));
}

static uint32_t forget_guards(const struct move_turn *t)
{
    const struct forget_snapshot *s = t->snapshot;
    assert(told_of(t) && s->keep_ns > 0);
    return t->in->now.wall_ns - told_of(t)->ended_at >= s->keep_ns ? PROGRESS_IF_KEPT : 0;
}

/* Not yet, by our clock and the settings in force, or it goes on again. */
static void refuse_forget(const struct move_turn *t)
{
    assert(t->in->actor == ACTOR_CONVERGER);
    (void)t;
}

static void forget_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&progress_moves, snapshot, in, p);
}

static const struct op_row forget_op = {
    .name = "move of progress",
    .target = move_subject_key,
    .gather = forget_gather,
    .decide = forget_decide,
    .snapshot_size = sizeof(struct forget_snapshot),
};

static void valid_forget(struct validation *v, const Board__Move *move)
{
    edge_valid(v, move);
}

/* tell and end are no moves: each move of the operation tells in its own transaction. */
static const struct move_row rows[] = {
    {.name = "forget",
     .valid = valid_forget,
     .absent = ABSENT_NOTHING,
     .guards = forget_guards,
     .refuse = refuse_forget,
     .decide = move_delete_subject,
     .op = &forget_op,
     .op_of_rep = &forget_op},
};

const struct move_family progress_moves = {
    .lifecycle = &progress_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = forget_begin,
};
