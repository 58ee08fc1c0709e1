#include "bbs/board/cell_users.h"

static bool has_on_cell(struct view *v, enum record_type type, const char *cell_id)
{
    Board__Selector on = BOARD__SELECTOR__INIT;
    struct blob **blobs;
    on.type = (char *)(uintptr_t)record_type_name(type);
    on.cell_id = (char *)(uintptr_t)cell_id;
    view_nothing_newer(v, arena_printf(view_arena(v), "%s/", on.type));
    return view_select(v, &on, &blobs) > 0;
}

bool cell_is_used(struct view *v, const char *cell_id)
{
    return has_on_cell(v, RECORD_ACTUAL, cell_id) || has_on_cell(v, RECORD_TASK, cell_id) ||
           has_on_cell(v, RECORD_UNIT, cell_id);
}
