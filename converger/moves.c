#include "converger/moves.h"

/* protobuf-c has no constant strings; nobody writes to them. */
static char *text(const char *borrowed)
{
    return (char *)(uintptr_t)borrowed;
}

static Board__Move *move_named(struct arena *a, const char *name)
{
    Board__Move *m = ARENA_NEW(a, Board__Move);
    board__move__init(m);
    m->move = text(name);
    return m;
}

Board__Move *move_of_instance(struct arena *a, const char *move, const char *process_guid,
                              int32_t index)
{
    Board__Move *m = move_named(a, move);
    m->actual_lrp_key = ARENA_NEW(a, Models__ActualLRPKey);
    models__actual_lrpkey__init(m->actual_lrp_key);
    m->actual_lrp_key->process_guid = text(process_guid);
    m->actual_lrp_key->index = index;
    return m;
}

Board__Move *move_of_task(struct arena *a, const char *move, const char *task_guid,
                          int64_t after_ns)
{
    Board__Move *m = move_named(a, move);
    m->task_guid = text(task_guid);
    m->after_ns = after_ns;
    return m;
}

Board__Move *move_of_domain(struct arena *a, const char *domain)
{
    Board__Move *m = move_named(a, "expire");
    m->domain = text(domain);
    return m;
}

Board__Move *move_of_lock(struct arena *a, const char *name, int64_t revision)
{
    Board__Move *m = move_named(a, "expire");
    m->lock = ARENA_NEW(a, Board__LockWord);
    board__lock_word__init(m->lock);
    m->lock->key = text(name);
    m->lock->revision = revision;
    return m;
}

Board__Move *move_of_cell(struct arena *a, const char *move, const char *cell_id, uint64_t session,
                          Board__CellBeat **cells, size_t cell_count)
{
    Board__Move *m = move_named(a, move);
    m->cell_id = text(cell_id);
    m->session = session;
    m->cells = cells;
    m->n_cells = cell_count;
    return m;
}
