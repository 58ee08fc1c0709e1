#include "auctioneer/wanted.h"

#include "common/base/memory.h"
#include "common/model/unit_name.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Fills one block from its front: pointers first, then the strings behind them. */
struct filling {
    char *at;
};

static char *fill(struct filling *f, const char *s)
{
    size_t size = strlen(s) + 1;
    char *copy = memcpy(f->at, s, size);
    f->at += size;
    return copy;
}

static void fill_words(struct filling *f, char **to, char *const *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = fill(f, from[i]);
    }
}

static size_t words_size(char *const *list, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += sizeof(char *) + strlen(list[i]) + 1;
    }
    return size;
}

static const char *text_of(const char *s)
{
    return s ? s : "";
}

/* A copy of what `like` borrows, in one block. */
static struct wanted *copy_of(const struct wanted *like)
{
    size_t size = sizeof(*like) + strlen(like->guid) + strlen(like->domain) +
                  strlen(like->root_fs) + strlen(like->definition_id) + 4 +
                  strlen(text_of(like->unit)) + strlen(text_of(like->unit_guid)) + 2 +
                  words_size(like->tags, like->tag_count) +
                  words_size(like->drivers, like->driver_count);
    struct wanted *w = mem_zeroed(size);
    *w = *like;
    w->references = 1;
    w->tags = (char **)(void *)(w + 1);
    w->drivers = w->tags + w->tag_count;
    struct filling f = {.at = (char *)(w->drivers + w->driver_count)};
    w->guid = fill(&f, like->guid);
    w->domain = fill(&f, like->domain);
    w->root_fs = fill(&f, like->root_fs);
    w->definition_id = fill(&f, like->definition_id);
    w->unit = fill(&f, text_of(like->unit));
    w->unit_guid = fill(&f, text_of(like->unit_guid));
    fill_words(&f, w->tags, like->tags, like->tag_count);
    fill_words(&f, w->drivers, like->drivers, like->driver_count);
    assert(f.at == (char *)w + size);
    return w;
}

static char **drivers_of(struct arena *a, Models__VolumeMount *const *mounts, size_t count)
{
    char **drivers = ARENA_ARRAY(a, count, char *);
    for (size_t i = 0; i < count; i++) {
        drivers[i] = mounts[i]->driver;
    }
    return drivers;
}

struct wanted *wanted_of_lrp(const Models__DesiredLRP *lrp)
{
    SCOPED_ARENA(a);
    return copy_of(&(struct wanted){
        .kind = JOB_LRP,
        .instances = lrp->instances,
        .memory_mb = lrp->memory_mb,
        .disk_mb = lrp->disk_mb,
        .max_pids = lrp->max_pids,
        .guid = lrp->process_guid,
        .domain = lrp->domain,
        .root_fs = lrp->root_fs,
        .definition_id = lrp->modification_tag ? lrp->modification_tag->epoch : "",
        .tags = lrp->placementtags,
        .tag_count = lrp->n_placementtags,
        .drivers = drivers_of(&a, lrp->volume_mounts, lrp->n_volume_mounts),
        .driver_count = lrp->n_volume_mounts,
    });
}

struct wanted *wanted_of_task(const Models__Task *task)
{
    static const Models__TaskDefinition none = MODELS__TASK_DEFINITION__INIT;
    const Models__TaskDefinition *d = task->task_definition ? task->task_definition : &none;
    SCOPED_ARENA(a);
    return copy_of(&(struct wanted){
        .kind = JOB_TASK,
        .memory_mb = d->memory_mb,
        .disk_mb = d->disk_mb,
        .max_pids = d->max_pids,
        .guid = task->task_guid,
        .domain = task->domain,
        .root_fs = d->root_fs,
        .definition_id = "",
        .created_at = task->created_at,
        .rejections = task->rejection_count,
        .tags = d->placement_tags,
        .tag_count = d->n_placement_tags,
        .drivers = drivers_of(&a, d->volume_mounts, d->n_volume_mounts),
        .driver_count = d->n_volume_mounts,
    });
}

struct wanted *wanted_of_hint(const Cell__Task *task)
{
    return copy_of(&(struct wanted){
        .kind = JOB_TASK,
        .memory_mb = task->memorymb,
        .disk_mb = task->diskmb,
        .max_pids = task->maxpids,
        .guid = task->taskguid,
        .domain = task->domain,
        .root_fs = task->rootfs,
        .definition_id = "",
        .created_at = task->created_at,
        .rejections = task->rejections,
        .tags = task->placementtags,
        .tag_count = task->n_placementtags,
        .drivers = task->volumedrivers,
        .driver_count = task->n_volumedrivers,
    });
}

struct wanted *wanted_of_unit(const Board__UnitRecord *unit, int64_t mod_revision)
{
    static const Board__UnitNeeds none = BOARD__UNIT_NEEDS__INIT;
    const Board__UnitNeeds *n = unit->needs ? unit->needs : &none;
    SCOPED_ARENA(a);
    return copy_of(&(struct wanted){
        .kind = JOB_UNIT,
        .memory_mb = n->memory_mb,
        .disk_mb = n->disk_mb,
        .max_pids = n->max_pids,
        .guid = unit->service_guid,
        .domain = "",
        .root_fs = n->rootfs,
        .definition_id = "",
        .created_at = unit->created_at,
        .revision = mod_revision,
        .unit = unit_name_text(&a, (struct unit_name){unit->service, unit->number}),
        .unit_guid = unit->guid,
        .machine = {n->machine, n->on_machine, n->unused},
        .tags = n->placement_tags,
        .tag_count = n->n_placement_tags,
        .drivers = n->volume_drivers,
        .driver_count = n->n_volume_drivers,
    });
}

int32_t wanted_unit_index(uint32_t number)
{
    return number < INT32_MAX ? (int32_t)number : INT32_MAX;
}

struct job wanted_job(const struct wanted *w, int32_t index)
{
    return (struct job){
        .kind = w->kind,
        .guid = w->guid,
        .index = index,
        .unit = w->unit,
        .root_fs = w->root_fs,
        .tags = w->tags,
        .tag_count = w->tag_count,
        .drivers = w->drivers,
        .driver_count = w->driver_count,
        .memory_mb = w->memory_mb,
        .disk_mb = w->disk_mb,
        .machine = w->machine,
    };
}

struct wanted *wanted_ref(struct wanted *w)
{
    w->references++;
    return w;
}

void wanted_unref(struct wanted *w)
{
    if (w && --w->references == 0) {
        free(w);
    }
}
