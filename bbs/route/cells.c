/* Cells, as Diego shows them and for people (behaviour.md 15; design.md 6). */
#include "bbs/limiter/limiter.h"
#include "bbs/lock/resource.h"
#include "bbs/route/read.h"

/* Ours, and those that others claim to be by Locket. */
static const ProtobufCMessage *cells(const struct ask *ask, struct view *v)
{
    struct arena *a = view_arena(v);
    ProtobufCMessage **list;
    size_t count = read_all(v, RECORD_CELL, &list);
    Models__CellPresence **others;
    size_t other_count = outside_cells(v, board_now(ask->router->board), &others);
    Models__CellsResponse *response = arena_message(a, &models__cells_response__descriptor);
    response->cells = ARENA_ARRAY(a, count + other_count, Models__CellPresence *);
    for (size_t i = 0; i < count; i++) {
        const Board__CellRecord *cell = (const Board__CellRecord *)list[i];
        if (cell->state == BOARD__CELL_RECORD__STATE__PRESENT && cell->presence) {
            response->cells[response->n_cells++] = cell->presence;
        }
    }
    for (size_t i = 0; i < other_count; i++) {
        response->cells[response->n_cells++] = others[i];
    }
    return &response->base;
}

static const ProtobufCMessage *status(const struct ask *ask, struct view *v)
{
    (void)ask;
    struct arena *a = view_arena(v);
    ProtobufCMessage **list;
    size_t count = read_all(v, RECORD_CELL, &list);
    const struct seen *limiter = view_peek(v, key_brake(a));
    Board__CellsStatus *response = arena_message(a, &board__cells_status__descriptor);
    response->limiter = limiter ? (Board__LimiterRecord *)(uintptr_t)limiter->message : NULL;
    response->cells = ARENA_ARRAY(a, count, Board__CellStatus *);
    for (size_t i = 0; i < count; i++) {
        const Board__CellRecord *cell = (const Board__CellRecord *)list[i];
        if (cell->presence) {
            Board__CellStatus *one = ARENA_NEW(a, Board__CellStatus);
            cell_status(cell, response->limiter, one);
            response->cells[response->n_cells++] = one;
        }
    }
    return &response->base;
}

const struct read_row read_cells = {.message = cells};
const struct read_row read_cells_status = {.message = status};
