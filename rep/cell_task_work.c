#include "rep/cell_task_work.h"

#include "rep/cell_state.h"
#include "rep/inside.h"
#include "rep/note.h"
#include "rep/cell_task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_CHARACTERS = 64 }; /* of a container, common/contract/driver.h */

static uint64_t hash_of(const char *text, uint64_t basis)
{
    for (; *text; text++) {
        basis = (basis ^ (uint8_t)*text) * 1099511628211U; /* FNV-1a */
    }
    return basis;
}

const char *cell_task_container_name(struct arena *a, const char *task_guid)
{
    enum { HEAD = NAME_MAX_CHARACTERS - 33 };
    if (strlen(task_guid) <= NAME_MAX_CHARACTERS) {
        return arena_strdup(a, task_guid);
    }
    return arena_printf(a, "%.*s-%016llx%016llx", HEAD, task_guid,
                        (unsigned long long)hash_of(task_guid, 14695981039346656037U),
                        (unsigned long long)hash_of(task_guid + HEAD, 0x9e3779b97f4a7c15U));
}

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
    note.session = r->config.session;
    note.root_fs = task->rootfs;
    note.memory_mb = task->memorymb;
    note.disk_mb = task->diskmb;
    note.max_pids = task->maxpids;
    note.n_placement_tags = task->n_placementtags;
    note.placement_tags = task->placementtags;
    return note_copy(&note);
}

/* The offer that the reservation is for, as far as both are told. */
static bool same_offer(const Rep__TaskNote *here, const Cell__Task *task)
{
    return here->offer_created_at == 0 || task->created_at == 0 ||
           (here->offer_created_at == task->created_at &&
            here->offer_rejections == task->rejections);
}

/* The auctioneer repeats what it does not see started after a while. Once the start was granted the
 * record waits for no cell: this is a late repetition, or a task of the same guid that was desired
 * anew, which is returned until the container of the one before is gone. So is another offer than the
 * one that was taken: one of the two is over. */
static bool is_here(const struct container *c, const Cell__Task *task)
{
    return container_is_task(c) && strcmp(c->about->task->guid, task->taskguid) == 0 &&
           same_offer(c->about->task, task) && c->about->task->created_at == 0 && c->phase != PHASE_COMPLETED &&
           !container_stop_asked(c) && !c->deleting;
}

static bool is_acceptable(const struct rep *r, const Cell__Task *task)
{
    return task->taskguid[0] != '\0' && task->domain[0] != '\0' && task->n_volumedrivers == 0 &&
           cell_state_has_rootfs(r, task->rootfs);
}

static bool reserve(struct rep *r, const Cell__Task *task, struct effects *out)
{
    const char *name = cell_task_container_name(out->arena, task->taskguid);
    const struct container *here = container_find(&r->containers, name);
    if (here) {
        return is_here(here, task);
    }
    if (!is_acceptable(r, task) || !capacity_take(&r->capacity, task->memorymb, task->diskmb)) {
        return false;
    }
    struct container *c = container_add(&r->containers, reservation_note(r, task, name));
    c->reserved_until_ns = r->now.mono_ns + r->config.reservation_ns;
    container_move(c, PHASE_NEWS_RESERVE, "work accepted", out);
    return true;
}

struct wish {
    Cell__Task *task;
    size_t place;
};

static int by_descending_memory(const void *left, const void *right)
{
    const struct wish *a = left, *b = right;
    if (a->task->memorymb != b->task->memorymb) {
        return a->task->memorymb > b->task->memorymb ? -1 : 1;
    }
    return a->place < b->place ? -1 : 1;
}

void cell_task_take(struct rep *r, const Cell__Work *work, bool well, Cell__Work *rest,
                    struct effects *out)
{
    rest->tasks = ARENA_ARRAY(out->arena, work->n_tasks, Cell__Task *);
    struct wish *wishes = ARENA_ARRAY(out->arena, work->n_tasks, struct wish);
    for (size_t i = 0; i < work->n_tasks; i++) {
        wishes[i] = (struct wish){work->tasks[i], i};
    }
    qsort(wishes, work->n_tasks, sizeof(*wishes), by_descending_memory);
    for (size_t i = 0; i < work->n_tasks; i++) {
        if (!well || !reserve(r, wishes[i].task, out)) {
            rest->tasks[rest->n_tasks++] = wishes[i].task;
        }
    }
}

Cell__Task *cell_task_state(struct arena *a, const struct container *c)
{
    const Rep__Note *about = c->about;
    bool over = c->phase == PHASE_COMPLETED;
    Cell__Task *to = ARENA_NEW(a, Cell__Task);
    cell__task__init(to);
    to->taskguid = about->task->guid;
    to->domain = about->task->domain;
    to->n_placementtags = about->n_placement_tags;
    to->placementtags = about->placement_tags;
    to->rootfs = about->root_fs;
    to->memorymb = about->memory_mb;
    to->diskmb = about->disk_mb;
    to->maxpids = about->max_pids;
    to->state = (char *)(over ? "Completed" : "Running");
    to->failed = task_step_failed(c->step);
    to->attempt = about->task->attempt;
    return to;
}
