#include "converger/moves.h"

#include "common/model/moves.h"

Board__Move *move_of_instance(struct arena *a, const char *move, const char *process_guid,
                              int32_t index)
{
    return move_new_instance(a, move, process_guid, index, 0, "");
}

Board__Move *move_of_task(struct arena *a, const char *move, const char *task_guid,
                          int64_t after_ns)
{
    Board__Move *m = move_new_task(a, move, task_guid);
    m->task->after_ns = after_ns;
    return m;
}

Board__Move *move_of_domain(struct arena *a, const char *domain)
{
    return move_new(a, "expire", key_domain(a, domain));
}

Board__Move *move_of_lock(struct arena *a, const char *name, int64_t revision)
{
    Board__Move *m = move_new(a, "expire", key_lock(a, name));
    m->subject->revision = revision;
    return m;
}

static Board__Move *move_of_limiter(struct arena *a, const char *move, Board__CellHeartbeat **cells,
                                    size_t cell_count)
{
    Board__Move *m = move_new(a, move, key_brake(a));
    m->body_case = BOARD__MOVE__BODY_LIMITER;
    m->limiter = arena_message(a, &board__limiter_move__descriptor);
    m->limiter->cells = cells;
    m->limiter->n_cells = cell_count;
    return m;
}

Board__Move *move_of_cell(struct arena *a, const char *move, const char *cell_id,
                          uint64_t incarnation, Board__CellHeartbeat **cells, size_t cell_count)
{
    if (!*cell_id) {
        return move_of_limiter(a, move, cells, cell_count);
    }
    Board__Move *m = move_new(a, move, key_cell(a, cell_id));
    m->body_case = BOARD__MOVE__BODY_CELL;
    m->cell = arena_message(a, &board__cell_move__descriptor);
    m->cell->incarnation = incarnation;
    return m;
}
