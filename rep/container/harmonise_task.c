#include "rep/container/harmonise_task.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

struct harmonise_task_row {
    int number;
    enum harmony_task container;
    enum harmony_task_record record;
    enum harmony_action action;
    const char *why;
};

/* 1 to 30 are the rows of docs/tasks.md, 31 to 35 those of a record that the feed does not show.
 * Row 100 stands for all containers with a record of a later version. */
static const struct harmonise_task_row rows[] = {
    {1, TASK_NOT_EXECUTING, TASK_RECORD_IS_NONE, HARMONY_DELETE, "deleted meanwhile"},
    {2, TASK_NOT_EXECUTING, TASK_RECORD_IS_PENDING, HARMONY_START, "taken here"},
    {3, TASK_NOT_EXECUTING, TASK_RECORD_IS_RUNNING_ON_A, HARMONY_GO_ON, "its start is recorded"},
    {4, TASK_NOT_EXECUTING, TASK_RECORD_IS_RUNNING_ON_O, HARMONY_DELETE, "runs elsewhere"},
    {5, TASK_NOT_EXECUTING, TASK_RECORD_IS_COMPLETED, HARMONY_DELETE, "over before it began"},
    {6, TASK_NOT_EXECUTING, TASK_RECORD_IS_RESOLVING, HARMONY_DELETE, "over before it began"},
    {7, TASK_EXECUTING, TASK_RECORD_IS_NONE, HARMONY_DELETE, "nobody waits for it"},
    {8, TASK_EXECUTING, TASK_RECORD_IS_PENDING, HARMONY_START, "executed here already"},
    {9, TASK_EXECUTING, TASK_RECORD_IS_RUNNING_ON_A, HARMONY_GO_ON, "as recorded"},
    {10, TASK_EXECUTING, TASK_RECORD_IS_RUNNING_ON_O, HARMONY_DELETE, "runs elsewhere"},
    {11, TASK_EXECUTING, TASK_RECORD_IS_COMPLETED, HARMONY_DELETE, "cancelled"},
    {12, TASK_EXECUTING, TASK_RECORD_IS_RESOLVING, HARMONY_DELETE, "cancelled"},
    {13, TASK_FINISHED, TASK_RECORD_IS_NONE, HARMONY_DELETE, "nobody waits for it"},
    {14, TASK_FINISHED, TASK_RECORD_IS_PENDING, HARMONY_DELETE, "rejected meanwhile"},
    {15, TASK_REJECTABLE, TASK_RECORD_IS_NONE, HARMONY_DELETE, "nobody waits for it"},
    {16, TASK_REJECTABLE, TASK_RECORD_IS_PENDING, HARMONY_DELETE, "rejected meanwhile"},
    {17, TASK_REJECTABLE, TASK_RECORD_IS_RUNNING_ON_A, HARMONY_REJECT, "could not be run here"},
    {18, TASK_FINISHED, TASK_RECORD_IS_RUNNING_ON_A, HARMONY_COMPLETE, "it is over"},
    {19, TASK_FINISHED, TASK_RECORD_IS_RUNNING_ON_O, HARMONY_DELETE, "runs elsewhere"},
    {20, TASK_FINISHED, TASK_RECORD_IS_COMPLETED, HARMONY_DELETE, "its outcome is recorded"},
    {21, TASK_FINISHED, TASK_RECORD_IS_RESOLVING, HARMONY_DELETE, "its outcome is recorded"},
    {22, TASK_REJECTABLE, TASK_RECORD_IS_RUNNING_ON_O, HARMONY_DELETE, "runs elsewhere"},
    {23, TASK_REJECTABLE, TASK_RECORD_IS_COMPLETED, HARMONY_DELETE, "it is over"},
    {24, TASK_REJECTABLE, TASK_RECORD_IS_RESOLVING, HARMONY_DELETE, "it is over"},
    {25, TASK_WITHOUT, TASK_RECORD_IS_NONE, HARMONY_NOTHING, "no such task"},
    {26, TASK_WITHOUT, TASK_RECORD_IS_PENDING, HARMONY_NOTHING, "waits for a cell"},
    {27, TASK_WITHOUT, TASK_RECORD_IS_RUNNING_ON_A, HARMONY_COMPLETE, "is not here"},
    {28, TASK_WITHOUT, TASK_RECORD_IS_RUNNING_ON_O, HARMONY_NOTHING, "not this cell's"},
    {29, TASK_WITHOUT, TASK_RECORD_IS_COMPLETED, HARMONY_NOTHING, "it is over"},
    {30, TASK_WITHOUT, TASK_RECORD_IS_RESOLVING, HARMONY_NOTHING, "it is over"},
    /* The feed shows no record of this cell: ask for what would be right; bbs knows the record. */
    {31, TASK_NOT_EXECUTING, TASK_RECORD_IS_UNSEEN, HARMONY_START, "taken here"},
    {32, TASK_EXECUTING, TASK_RECORD_IS_UNSEEN, HARMONY_START, "executed here"},
    {33, TASK_REJECTABLE, TASK_RECORD_IS_UNSEEN, HARMONY_REJECT, "could not be run here"},
    {34, TASK_FINISHED, TASK_RECORD_IS_UNSEEN, HARMONY_COMPLETE, "it is over"},
    {35, TASK_WITHOUT, TASK_RECORD_IS_UNSEEN, HARMONY_NOTHING, "not this cell's"},
};

static const struct harmony foreign = {100, HARMONY_NOTHING, "a state of a later version"};
static const struct harmony again = {110, HARMONY_NOTHING, "refused for now"};
static const struct harmony final = {111, HARMONY_DELETE, "refused for good"};

struct harmony harmonise_task(enum harmony_task container, enum harmony_task_record record)
{
    assert(container < HARMONY_TASK_COUNT && record < HARMONY_TASK_RECORD_COUNT);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct harmonise_task_row *r = &rows[i];
        if (r->container == container && r->record == record) {
            return (struct harmony){r->number, r->action, r->why};
        }
    }
    assert(record == TASK_RECORD_IS_FOREIGN);
    return foreign;
}

enum harmony_action harmony_task_question(enum harmony_task container)
{
    assert(container != TASK_WITHOUT);
    return harmonise_task(container, TASK_RECORD_IS_UNSEEN).action;
}

/* The others say nothing of the task: the incarnation or the board generation is outdated, an
 * internal error. A ResourceConflict that shows a task is about its attempt (moves.c). */
static bool refusal_is_final(Models__Error__Type type)
{
    return type == MODELS__ERROR__TYPE__ResourceNotFound ||
           type == MODELS__ERROR__TYPE__InvalidStateTransition ||
           type == MODELS__ERROR__TYPE__RunningOnDifferentCell ||
           type == MODELS__ERROR__TYPE__ResourceConflict;
}

struct harmony harmonise_task_refused(enum harmony_task container, enum harmony_task_record record,
                                      enum harmony_action refused, Models__Error__Type type)
{
    assert(harmony_is_move(refused));
    if (!refusal_is_final(type)) {
        return again;
    }
    struct harmony h = harmonise_task(container, record);
    return h.action == refused ? final : h;
}

enum harmony_task_record harmony_task_record_of(const Models__Task *record, const char *attempt,
                                                int64_t created_at, const char *cell_id)
{
    if (!record || (created_at && record->created_at != created_at)) {
        return TASK_RECORD_IS_NONE;
    }
    bool here = strcmp(record->cell_id, cell_id) == 0;
    switch (record->state) {
    case MODELS__TASK__STATE__Pending:
        return TASK_RECORD_IS_PENDING;
    case MODELS__TASK__STATE__Running:
        return here && (!attempt || strcmp(record->attempt, attempt) == 0)
                   ? TASK_RECORD_IS_RUNNING_ON_A
                   : TASK_RECORD_IS_RUNNING_ON_O;
    case MODELS__TASK__STATE__Completed:
        return TASK_RECORD_IS_COMPLETED;
    case MODELS__TASK__STATE__Resolving:
        return TASK_RECORD_IS_RESOLVING;
    default:
        return TASK_RECORD_IS_FOREIGN;
    }
}
