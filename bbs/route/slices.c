/* Slices of a site. */
#include "bbs/route/read.h"

static const ProtobufCMessage *slices(const struct ask *ask, struct view *v)
{
    (void)ask;
    Board__SlicesResponse *response = ARENA_NEW(view_arena(v), Board__SlicesResponse);
    ProtobufCMessage **list;
    board__slices_response__init(response);
    response->n_slices = read_all(v, RECORD_SLICE, &list);
    response->slices = ARENA_ARRAY(view_arena(v), response->n_slices, Board__SliceRecord *);
    for (size_t i = 0; i < response->n_slices; i++) {
        response->slices[i] = (Board__SliceRecord *)list[i];
    }
    return &response->base;
}

const struct read_row read_slices = {.message = slices};
