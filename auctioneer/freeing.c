#include "auctioneer/freeing.h"

#include <assert.h>

void freeing_init(struct freeing *f)
{
    *f = (struct freeing){.look_ns = NEVER_NS};
}

static int32_t lesser(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* An LRP asks for its proxy's memory as well, others do not. */
void freeing_refused(struct freeing *f, const struct demand *q)
{
    if (!f->lacking) {
        f->least = *q;
    }
    f->lacking = true;
    f->least.kind = q->kind != JOB_LRP ? q->kind : f->least.kind;
    f->least.memory_mb = lesser(f->least.memory_mb, q->memory_mb);
    f->least.disk_mb = lesser(f->least.disk_mb, q->disk_mb);
}

/* Whether something that was refused may fit when the cell is done. */
static bool may_fit(const struct freeing *f, const struct cell *cell)
{
    const Cell__Resources *freed = cell->usable && cell->state ? cell->state->beingfreed : NULL;
    struct room room;
    if (!f->lacking || !freed) {
        return false;
    }
    room_init(&room, cell->state);
    room.free_memory += freed->memorymb;
    room.free_disk += freed->diskmb;
    room.free_containers += freed->containers;
    return room.whole && room_fits(&room, &f->least);
}

void freeing_plan(struct freeing *f, struct cells *c, int64_t now_ns)
{
    bool any = false;
    MAP_EACH(&c->by_id, n)
    {
        struct cell *cell = map_value(n);
        cell->awaited = may_fit(f, cell);
        any = any || cell->awaited;
        f->looks = cell->awaited && cell->frees_more ? 0 : f->looks;
        cell->frees_more = false;
    }
    if (!any) {
        f->looks = 0;
        f->look_ns = NEVER_NS;
    } else if (f->looks == 0 || now_ns >= f->look_ns) {
        bool more = f->looks < FREEING_LOOKS_MAX;
        f->look_ns = more ? now_ns + (FREEING_LOOK_NS << f->looks) : NEVER_NS;
        f->looks += more;
    }
    assert(f->looks <= FREEING_LOOKS_MAX);
}
