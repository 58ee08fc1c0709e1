#include "rep/work.h"

#include "rep/cell_state.h"
#include "rep/inside.h"
#include "rep/note.h"
#include "rep/room.h"
#include "rep/task_offer.h"

#include <stdlib.h>
#include <string.h>

/* Of a UUID's text, as Diego's rep cuts it. */
enum { INSTANCE_GUID_CHARACTERS = 28 };

static void new_guid(struct rep *r, char guid[GUID_BYTES])
{
    do {
        random_guid(&r->random, guid);
        guid[INSTANCE_GUID_CHARACTERS] = '\0';
    } while (container_find(&r->containers, guid));
}

static Rep__Note *reservation_note(struct rep *r, const Cell__LRP *lrp)
{
    char guid[GUID_BYTES];
    new_guid(r, guid);
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    key.process_guid = lrp->process_guid;
    key.index = lrp->index;
    key.domain = lrp->domain;
    Rep__Note note = REP__NOTE__INIT;
    note.format = NOTE_FORMAT;
    note.key = &key;
    note.instance_guid = guid;
    note.definition = lrp->definition;
    note.session = r->config.session;
    note.root_fs = lrp->rootfs;
    note.memory_mb = lrp->memorymb;
    note.disk_mb = lrp->diskmb;
    note.max_pids = lrp->maxpids;
    note.n_placement_tags = lrp->n_placementtags;
    note.placement_tags = lrp->placementtags;
    return note_copy(&note);
}

/* The auctioneer repeats what it does not see claimed after 5 s. */
static bool is_starting_here(const struct rep *r, const Cell__LRP *lrp)
{
    const struct container *c = container_of_index(&r->containers, lrp->process_guid, lrp->index);
    return c && container_is_starting(c) && !container_stop_asked(c) && !c->deleting &&
           strcmp(c->about->definition, lrp->definition) == 0;
}

static bool is_acceptable(const struct rep *r, const Cell__LRP *lrp)
{
    return lrp->process_guid[0] != '\0' && lrp->domain[0] != '\0' && lrp->index >= 0 &&
           lrp->n_volumedrivers == 0 && cell_state_has_rootfs(r, lrp->rootfs);
}

static bool reserve(struct rep *r, const Cell__LRP *lrp, struct effects *out)
{
    if (is_starting_here(r, lrp)) {
        return true;
    }
    if (!is_acceptable(r, lrp)) {
        return false;
    }
    Rep__Note *note = reservation_note(r, lrp);
    if (lrp->memorymb < 0 ||
        !capacity_take(&r->capacity, room_memory_mb(r, note), lrp->diskmb)) {
        rep__note__free_unpacked(note, NULL);
        return false;
    }
    struct container *c = container_add(&r->containers, note);
    c->reserved_until_ns = r->now.mono_ns + r->config.reservation_ns;
    container_move(c, PHASE_NEWS_RESERVE, "work accepted", out);
    return true;
}

struct wish {
    int32_t memory_mb;
    size_t place;
};

static int by_descending_memory(const void *left, const void *right)
{
    const struct wish *a = left, *b = right;
    if (a->memory_mb != b->memory_mb) {
        return a->memory_mb > b->memory_mb ? -1 : 1;
    }
    return a->place < b->place ? -1 : 1;
}

static void take_lrps(struct rep *r, const Cell__Work *work, bool well, Cell__Work *rest,
                      struct effects *out)
{
    rest->lrps = ARENA_ARRAY(out->arena, work->n_lrps, Cell__LRP *);
    struct wish *wishes = ARENA_ARRAY(out->arena, work->n_lrps, struct wish);
    for (size_t i = 0; i < work->n_lrps; i++) {
        wishes[i] = (struct wish){work->lrps[i]->memorymb, i};
    }
    qsort(wishes, work->n_lrps, sizeof(*wishes), by_descending_memory);
    for (size_t i = 0; i < work->n_lrps; i++) {
        Cell__LRP *lrp = work->lrps[wishes[i].place];
        if (!well || !reserve(r, lrp, out)) {
            rest->lrps[rest->n_lrps++] = lrp;
        }
    }
}

static void take_tasks(struct rep *r, const Cell__Work *work, bool well, Cell__Work *rest,
                       struct effects *out)
{
    rest->tasks = ARENA_ARRAY(out->arena, work->n_tasks, Cell__Task *);
    struct wish *wishes = ARENA_ARRAY(out->arena, work->n_tasks, struct wish);
    for (size_t i = 0; i < work->n_tasks; i++) {
        wishes[i] = (struct wish){work->tasks[i]->memorymb, i};
    }
    qsort(wishes, work->n_tasks, sizeof(*wishes), by_descending_memory);
    for (size_t i = 0; i < work->n_tasks; i++) {
        Cell__Task *task = work->tasks[wishes[i].place];
        if (!well || !task_offer_reserve(r, task, out)) {
            rest->tasks[rest->n_tasks++] = task;
        }
    }
}

Cell__Work *work_take(struct rep *r, const Cell__Work *work, struct effects *out)
{
    Cell__Work *rest = ARENA_NEW(out->arena, Cell__Work);
    cell__work__init(rest);
    bool well = cell_state_is_well(r) && !r->drain.on;
    take_lrps(r, work, well, rest, out);
    take_tasks(r, work, well, rest, out);
    if (rest->n_lrps + rest->n_tasks > 0) {
        effects_log(out, LOG_INFO_LEVEL, "work returned", "lrps=%zu tasks=%zu well=%d",
                    rest->n_lrps, rest->n_tasks, (int)well);
    }
    return rest;
}
