#include "rep/task/cell_task.h"

#include "common/model/moves.h"
#include "rep/container/note.h"
#include "rep/inside.h"

/* ---- Of a container -------------------------------------------------------------------------- */

static Board__Move *new_move(const struct rep *r, struct arena *a, enum harmony_action action,
                             const char *task_guid, const char *attempt)
{
    Board__Move *move = move_new_task(a, harmony_action_name(action), task_guid);
    move->task->attempt = arena_strdup(a, attempt);
    move->task->cell_id = (char *)r->config.cell_id;
    move->incarnation = r->config.incarnation;
    return move;
}

/* A start is for the offer that was taken, so that none that comes late brings back what is over.
 * */
static void tell_offer(const Rep__TaskNote *task, Board__TaskMove *move)
{
    if (task->offer_created_at) {
        move->created_at = task->offer_created_at;
        move->optional_rejections_case = BOARD__TASK_MOVE__OPTIONAL_REJECTIONS_REJECTIONS;
        move->rejections = task->offer_rejections;
    }
}

Board__Move *cell_task_move(const struct rep *r, struct arena *a, struct container *c,
                            struct move_order *o)
{
    enum harmony_action action = o->action;
    Board__Move *move = new_move(r, a, action, c->about->task->guid, c->about->task->attempt);
    move->task->created_at = c->about->task->created_at;
    if (action == HARMONY_START) {
        tell_offer(c->about->task, move->task);
    }
    if (c->step == STEP_OFFERED) {
        c->step = STEP_ASKED;
    } else if (task_step_failed(c->step)) {
        move->task->failed = action == HARMONY_COMPLETE;
        move->task->error_message = arena_strdup(a, c->exit_text);
    } else if (action == HARMONY_COMPLETE && c->result) {
        move->task->result = arena_strdup(a, c->result);
    }
    return move;
}

void cell_task_learn(struct rep *r, const char *key, const Board__MoveResult *result)
{
    bool absent = result->outcome == BOARD__MOVE_RESULT__OUTCOME__REFUSED && result->error &&
                  result->error->type == MODELS__ERROR__TYPE__ResourceNotFound;
    if (result->task || absent) {
        knowledge_answer(&r->knowledge, key, result->task ? &result->task->base : NULL,
                         result->revision);
    }
}

/* ---- Of a record without a container --------------------------------------------------------- */

/* The record at this key, in the arena, if this cell is to complete it; NULL if not. */
static const Models__Task *read_stray(const struct rep *r, struct arena *a, const char *key)
{
    const char *guid = key_component(a, key, 1);
    enum harmony_task_record seen;
    Rep__TaskNote nothing = REP__TASK_NOTE__INIT;
    nothing.guid = (char *)(uintptr_t)guid;
    const Models__Task *record = knowledge_task(&r->knowledge, a, &nothing, &seen);
    bool is = !container_find(&r->containers, note_name_of_task(a, guid)) &&
              harmonise_task(TASK_WITHOUT, seen).action == HARMONY_COMPLETE;
    return is ? record : NULL;
}

enum harmony_action cell_task_stray(const struct rep *r, const char *key)
{
    SCOPED_ARENA(scratch);
    bool is = read_stray(r, &scratch, key) != NULL;
    return is ? HARMONY_COMPLETE : HARMONY_NOTHING;
}

Board__Move *cell_task_stray_move(const struct rep *r, struct arena *a, struct move_order *o)
{
    Board__Move *move = NULL;
    SCOPED_ARENA(scratch);
    const Models__Task *record = read_stray(r, &scratch, o->name);
    if (record) {
        move = new_move(r, a, HARMONY_COMPLETE, key_component(a, o->name, 1), record->attempt);
        move->task->failed = true;
        move->task->created_at = record->created_at;
        move->task->error_message = (char *)"task container does not exist";
        move->task->result = move->task->error_message; /* as Diego's rep (rep-auctioneer.md 2.5) */
    }
    return move;
}

bool cell_task_stray_settled(struct rep *r, const struct move_order *o,
                             const Board__MoveResult *result)
{
    cell_task_learn(r, o->name, result);
    return true;
}
