#include "rep/cli/state_table.h"

#include "common/cli/check_text.h"
#include "common/cli/table.h"

static const char *rootfs_text(struct arena *a, const Cell__CellState *s)
{
    const char *text = "";
    for (size_t i = 0; i < s->n_rootfsproviders; i++) {
        const Cell__RootFSProvider *p = s->rootfsproviders[i]->value;
        const char *scheme = s->rootfsproviders[i]->key;
        for (size_t k = 0; p && k < p->n_set; k++) {
            text = arena_printf(a, "%s%s%s:%s", text, *text ? " " : "", scheme, p->set[k]->key);
        }
        if (p && p->n_set == 0) {
            text = arena_printf(a, "%s%s%s", text, *text ? " " : "", scheme);
        }
    }
    return text;
}

static const char *words_text(struct arena *a, char *const *words, size_t count)
{
    const char *text = "";
    for (size_t i = 0; i < count; i++) {
        text = arena_printf(a, "%s%s%s", text, i ? " " : "", words[i]);
    }
    return text;
}

static const char *resource_text(struct arena *a, int32_t free, int32_t total, const char *unit)
{
    return arena_printf(a, "%d of %d%s free", (int)free, (int)total, unit);
}

void rep_state_table(struct arena *a, const Cell__CellState *s, struct buf *out)
{
    static const Cell__Resources none = CELL__RESOURCES__INIT;
    const Cell__Resources *free = s->availableresources ? s->availableresources : &none;
    const Cell__Resources *total = s->totalresources ? s->totalresources : &none;
    struct table t;
    table_init(&t, a, 2, (const char *[]){"CELL", s->cell_id});
    const char *const rows[][2] = {
        {"url", s->rep_url},
        {"zone", s->zone},
        {"evacuating", s->evacuating ? "yes" : "no"},
        {"memory", resource_text(a, free->memorymb, total->memorymb, " MB")},
        {"disk", resource_text(a, free->diskmb, total->diskmb, " MB")},
        {"containers", resource_text(a, free->containers, total->containers, "")},
        {"starting", arena_printf(a, "%d", (int)s->startingcontainercount)},
        {"failed starts", arena_printf(a, "%d lately, in a row", (int)s->failedstarts)},
        {"root filesystems", rootfs_text(a, s)},
        {"volume drivers", words_text(a, s->volumedrivers, s->n_volumedrivers)},
        {"isolation", *s->isolation ? s->isolation : "not known"},
        {"network", s->network[0] ? s->network : "host"},
        {"lrps", arena_printf(a, "%zu", s->n_lrps)},
        {"tasks", arena_printf(a, "%zu", s->n_tasks)},
        {"units", arena_printf(a, "%zu", s->n_units)},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        table_add(&t, rows[i]);
    }
    table_print(&t, out);
}

void rep_containers_table(struct arena *a, const Cell__CellState *s, int64_t now_ns,
                          struct buf *out)
{
    struct table t;
    table_init(&t, a, 6,
               (const char *[]){"CONTAINER", "PROCESS", "INDEX", "STATE", "MEMORY", "DISK"});
    for (size_t i = 0; i < s->n_lrps; i++) {
        const Cell__LRP *l = s->lrps[i];
        table_add(&t, (const char *[]){l->instance_guid, l->process_guid,
                                       arena_printf(a, "%d", (int)l->index), l->state,
                                       arena_printf(a, "%d MB", (int)l->memorymb),
                                       arena_printf(a, "%d MB", (int)l->diskmb)});
        for (size_t k = 0; k < l->n_checks; k++) {
            table_note(&t, check_text(a, l->checks[k], now_ns));
        }
    }
    for (size_t i = 0; i < s->n_tasks; i++) {
        const Cell__Task *k = s->tasks[i];
        table_add(&t, (const char *[]){k->taskguid, "task", "-", text_upper(a, k->state),
                                       arena_printf(a, "%d MB", (int)k->memorymb),
                                       arena_printf(a, "%d MB", (int)k->diskmb)});
    }
    for (size_t i = 0; i < s->n_units; i++) {
        const Cell__UnitHere *u = s->units[i];
        table_add(&t, (const char *[]){u->guid, u->unit, "-", text_upper(a, u->state),
                                       arena_printf(a, "%d MB", (int)u->memory_mb),
                                       arena_printf(a, "%d MB", (int)u->disk_mb)});
    }
    table_print(&t, out);
}

static const char *bytes_text(struct arena *a, uint64_t used, uint64_t quota)
{
    double mb = (double)used / (1024 * 1024);
    return quota ? arena_printf(a, "%.1f of %llu MB", mb,
                                (unsigned long long)(quota / (1024 * 1024)))
                 : arena_printf(a, "%.1f MB", mb);
}

static void add_metrics(struct table *t, const char *guid, const char *process, const char *index,
                        const Cell__ContainerMetrics *m)
{
    struct arena *a = t->arena;
    table_add(t, (const char *[]){guid, process, index,
                                  arena_printf(a, "%.1f%%", m->cpu_usage_fraction * 100),
                                  bytes_text(a, m->memory_usage_bytes, m->memory_quota_bytes),
                                  bytes_text(a, m->disk_usage_bytes, m->disk_quota_bytes)});
}

void rep_metrics_table(struct arena *a, const Cell__CellMetrics *metrics, struct buf *out)
{
    static const Cell__ContainerMetrics none = CELL__CONTAINER_METRICS__INIT;
    struct table t;
    table_init(&t, a, 6,
               (const char *[]){"CONTAINER", "PROCESS", "INDEX", "CPU", "MEMORY", "DISK"});
    for (size_t i = 0; i < metrics->n_lrps; i++) {
        const Cell__LRPMetrics *l = metrics->lrps[i];
        add_metrics(&t, l->instance_guid, l->process_guid, arena_printf(a, "%d", (int)l->index),
                    l->metrics ? l->metrics : &none);
    }
    for (size_t i = 0; i < metrics->n_tasks; i++) {
        const Cell__TaskMetrics *k = metrics->tasks[i];
        add_metrics(&t, k->task_guid, "task", "-", k->metrics ? k->metrics : &none);
    }
    for (size_t i = 0; i < metrics->n_units; i++) {
        const Cell__UnitMetrics *u = metrics->units[i];
        add_metrics(&t, u->guid, u->unit, "-", u->metrics ? u->metrics : &none);
    }
    table_print(&t, out);
}
