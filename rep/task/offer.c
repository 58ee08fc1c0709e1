#include "rep/task/cell_task.h"

#include "rep/container/note.h"
#include "rep/container/room.h"
#include "rep/inside.h"

#include <string.h>

static Rep__Note *reservation_note(struct rep *r, const Cell__Task *task, const char *name)
{
    char attempt[GUID_BYTES];
    random_guid(&r->random, attempt);
    Rep__TaskNote what = REP__TASK_NOTE__INIT;
    what.guid = task->taskguid;
    what.domain = task->domain;
    what.attempt = attempt;
    what.offer_created_at = task->created_at;
    what.offer_rejections = task->rejections;
    Rep__Note note = REP__NOTE__INIT;
    note.format = NOTE_FORMAT;
    note.task = &what;
    note.instance_guid = (char *)(uintptr_t)name;
    note.incarnation = r->config.incarnation;
    note.root_fs = task->rootfs;
    note.memory_mb = task->memorymb;
    note.disk_mb = task->diskmb;
    note.max_pids = task->maxpids;
    note.n_placement_tags = task->n_placementtags;
    note.placement_tags = task->placementtags;
    return note_copy(&note);
}

/* The offer that the reservation is for, as far as both are known. */
static bool same_offer(const Rep__TaskNote *here, const Cell__Task *task)
{
    return here->offer_created_at == 0 || task->created_at == 0 ||
           (here->offer_created_at == task->created_at &&
            here->offer_rejections == task->rejections);
}

/* The auctioneer repeats what it does not see started after a while. Once the start was granted the
 * record waits for no cell: this is a late repetition, or a task of the same guid that was desired
 * again, which is returned until the container of the one before is gone. So is another offer than
 * the one that was taken: one of the two is over. */
static bool is_here(const struct container *c, const Cell__Task *task)
{
    return c->kind == &task_kind && strcmp(c->about->task->guid, task->taskguid) == 0 &&
           same_offer(c->about->task, task) && c->about->task->created_at == 0 &&
           c->phase != PHASE_COMPLETED && !container_stop_asked(c) && !c->deleting;
}

static bool is_acceptable(const struct rep *r, const Cell__Task *task)
{
    return task->taskguid[0] != '\0' && task->domain[0] != '\0' &&
           room_has_drivers(r, task->volumedrivers, task->n_volumedrivers) &&
           room_has_rootfs(r, task->rootfs);
}

bool cell_task_reserve(struct rep *r, const Cell__Task *task, struct effects *out)
{
    const char *name = note_name_of_task(out->arena, task->taskguid);
    const struct container *here = container_find(&r->containers, name);
    if (here) {
        return is_here(here, task);
    }
    if (!is_acceptable(r, task) || !capacity_take(&r->capacity, task->memorymb, task->diskmb)) {
        return false;
    }
    struct container *c = container_add(&r->containers, reservation_note(r, task, name));
    c->reserved_until_ns = r->now.mono_ns + r->config.reservation_ns;
    container_transition(c, PHASE_TRIGGER_RESERVE, "work accepted", out);
    return true;
}
