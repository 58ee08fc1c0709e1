/* A unit waits while it is alive and its place is unassigned; it says itself what it asks for. Once
 * a machine has it, it is never placed again (docs/units.md, Placement). Nobody is told on the
 * board why it has no place yet: GET /why tells. */
#include "auctioneer/backlog.h"
#include "common/model/unit_name.h"

#include <assert.h>
#include <string.h>

static bool same_offer(const struct wanted *a, const struct wanted *b)
{
    return a->revision == b->revision && strcmp(a->unit_guid, b->unit_guid) == 0;
}

static bool waits(const ProtobufCMessage *record, const char **ret_guid, int32_t *ret_index)
{
    const Board__UnitRecord *unit = (const Board__UnitRecord *)record;
    *ret_guid = unit->service_guid;
    *ret_index = wanted_unit_index(unit->number);
    return strcmp(unit->place, "unassigned") == 0 && !*unit->principal;
}

/* What was placed as another record is not placed: its assignment will be refused. */
static void seen(struct backlog *p, struct entry *e, const ProtobufCMessage *record,
                 int64_t mod_revision, int64_t now_ns)
{
    assert(e->kind == &waiting_unit);
    struct wanted *w = wanted_of_unit((const Board__UnitRecord *)record, mod_revision);
    if (e->state == ENTRY_PLACED && !same_offer(e->own, w)) {
        backlog_await_again(p, e, now_ns);
    }
    wanted_unref(e->own);
    e->own = w;
}

static bool stands(const struct entry *e, const struct wanted *as)
{
    assert(e->own);
    return same_offer(e->own, as);
}

static size_t offer(struct arena *a, const struct wanted *w, int32_t index, Cell__Work *work)
{
    (void)index;
    assert(w->kind == JOB_UNIT && *w->unit && *w->unit_guid);
    Cell__UnitOffer *u = work->units[work->n_units++] = ARENA_NEW(a, Cell__UnitOffer);
    cell__unit_offer__init(u);
    u->unit = (char *)(uintptr_t)w->unit;
    u->guid = (char *)(uintptr_t)w->unit_guid;
    u->service_guid = (char *)(uintptr_t)w->guid;
    u->memory_mb = w->memory_mb;
    u->disk_mb = w->disk_mb;
    u->max_pids = w->max_pids;
    u->rootfs = (char *)(uintptr_t)w->root_fs;
    u->n_placement_tags = w->tag_count;
    u->placement_tags = w->tags;
    u->n_volume_drivers = w->driver_count;
    u->volume_drivers = w->drivers;
    u->machine = w->machine.number;
    u->on_machine = w->machine.only;
    u->unused = w->machine.unused;
    u->created_at = w->created_at;
    u->revision = w->revision;
    return cell__unit_offer__get_packed_size(u);
}

/* A rep that does not say that it knows of units has taken none. */
static bool came_back(const Cell__Work *back, const struct wanted *w, int32_t index)
{
    (void)index;
    bool back_again = !back->answers_units;
    for (size_t i = 0; i < back->n_units; i++) {
        back_again = back_again || strcmp(back->units[i]->guid, w->unit_guid) == 0;
    }
    return back_again;
}

static void name(struct arena *a, const struct entry *e, const struct waiting_name *ret)
{
    *ret->unit = arena_strdup(a, e->own->unit);
}

const struct waiting_kind waiting_unit = {
    .record = RECORD_UNIT,
    .job = JOB_UNIT,
    .waits = waits,
    .seen = seen,
    .stands = stands,
    .offer = offer,
    .came_back = came_back,
    .name = name,
};
