#include "bbs/cli/system_tables.h"

#include "bbs/cli/system_tree.h"
#include "common/base/time_text.h"
#include "common/cli/table.h"
#include "common/model/component_path.h"
#include "common/model/pool_record.h"

#include <string.h>

/* "2026-01-02T03:04:05Z"; NULL of 0. */
static const char *when(struct arena *a, int64_t wall_ns)
{
    char text[WALL_TEXT_BYTES];
    return wall_ns ? arena_printf(a, "%.19sZ", wall_text(wall_ns, text)) : NULL;
}

static const char *version_or(struct arena *a, const char *path, const char *version)
{
    return *version ? arena_printf(a, "version %s", version) : arena_printf(a, "path %s", path);
}

const char *deploy_target_text(struct arena *a, const Board__DeployRecord *d)
{
    bool build = strcmp(d->target, "build") == 0, undo = strcmp(d->target, "undo") == 0;
    return build  ? arena_printf(a, "build %s", short_id(a, d->build))
           : undo ? arena_printf(a, "undo %s", short_id(a, d->undo))
           : strcmp(d->target, "definition") == 0 ? "a file"
           : strcmp(d->target, "path") == 0       ? arena_printf(a, "path %s", d->path)
                                                  : arena_printf(a, "version %s", d->version);
}

const char *build_target_text(struct arena *a, const Board__BuildRecord *b)
{
    return b->definition ? "a file" : version_or(a, b->path, b->version);
}

static void begin(struct table *t, struct arena *a, bool terminal, unsigned columns,
                  const char *const *titles)
{
    table_init(t, a, columns, titles);
    t->terminal = terminal;
}

/* What is behind a row, whole: a cell would be cut. */
static void note(struct table *t, const char *message)
{
    if (*message) {
        table_note(t, message);
    }
}

void systems_table(struct arena *a, const struct system_view *v, bool terminal, struct buf *out)
{
    struct table t;
    begin(&t, a, terminal, 4, (const char *[]){"NAME", "DEFINITION", "VERSION", "STATUS"});
    for (size_t i = 0; i < v->system_count; i++) {
        const Board__SystemRecord *s = v->systems[i];
        table_add(&t, (const char *[]){s->id, s->definition_url, s->version, s->state});
        note(&t, s->message);
    }
    table_print(&t, out);
}

static const char *const lasting[] = {"ID", "TARGET", "STATE", "STARTED", "COMPLETED"};

void builds_table(struct arena *a, const struct system_view *v, bool terminal, struct buf *out)
{
    struct table t;
    begin(&t, a, terminal, 5, lasting);
    for (size_t i = 0; i < v->build_count; i++) {
        const Board__BuildRecord *b = v->builds[i];
        table_add(&t, (const char *[]){b->id, build_target_text(a, b), b->state,
                                       when(a, b->started_at), when(a, b->completed_at)});
        note(&t, b->message);
    }
    table_print(&t, out);
}

void deploys_table(struct arena *a, const struct system_view *v, bool terminal, struct buf *out)
{
    struct table t;
    begin(&t, a, terminal, 5, lasting);
    for (size_t i = 0; i < v->deploy_count; i++) {
        const Board__DeployRecord *d = v->deploys[i];
        table_add(&t, (const char *[]){d->id, deploy_target_text(a, d), d->state,
                                       when(a, d->started_at), when(a, d->completed_at)});
        note(&t, d->message);
    }
    table_print(&t, out);
}

void teardowns_table(struct arena *a, const struct system_view *v, bool terminal, struct buf *out)
{
    struct table t;
    begin(&t, a, terminal, 4, (const char *[]){"ID", "STATE", "STARTED", "COMPLETED"});
    for (size_t i = 0; i < v->teardown_count; i++) {
        const Board__TeardownRecord *d = v->teardowns[i];
        table_add(&t, (const char *[]){d->id, d->state, when(a, d->started_at),
                                       when(a, d->completed_at)});
        note(&t, d->message);
    }
    table_print(&t, out);
}

static const char *number(struct arena *a, int32_t n)
{
    return arena_printf(a, "%d", (int)n);
}

void services_table(struct arena *a, const struct system_view *v, const char *top, bool terminal,
                    struct buf *out)
{
    static const Board__Counts none = BOARD__COUNTS__INIT;
    struct table t;
    begin(&t, a, terminal, 6,
          (const char *[]){"PATH", "STATE", "AVAILABLE", "UPDATED", "STALE", "TERMINATING"});
    for (size_t i = 0; i < v->service_count; i++) {
        const Board__ServiceRecord *s = v->services[i];
        const Board__Counts *c = s->counts ? s->counts : &none;
        if (!component_path_within(s->path, top)) {
            continue;
        }
        table_add(&t,
                  (const char *[]){s->path, s->state,
                                   arena_printf(a, "%d/%d", (int)c->available, (int)s->instances),
                                   number(a, c->updated), number(a, c->total - c->updated),
                                   number(a, c->terminating)});
        note(&t, s->message);
    }
    table_print(&t, out);
}

void runs_table(struct arena *a, const struct system_view *v, const char *top, bool terminal,
                struct buf *out)
{
    struct table t;
    begin(&t, a, terminal, 5, (const char *[]){"ID", "PATH", "STATE", "STARTED", "COMPLETED"});
    for (size_t i = 0; i < v->run_count; i++) {
        const Board__JobRunRecord *r = v->runs[i];
        if (component_path_within(r->path, top)) {
            table_add(&t, (const char *[]){r->id, r->path, r->state, when(a, r->started_at),
                                           when(a, r->completed_at)});
            note(&t, r->message);
        }
    }
    table_print(&t, out);
}

/* Behind an arrow what it gets while services are on older cells yet. */
static const char *types(struct arena *a, const Board__PoolRecord *p)
{
    bool renewed = p->n_epochs > 1;
    return renewed ? arena_printf(a, "%s -> %s", p->epochs[0]->instance_type, p->instance_type)
                   : p->instance_type;
}

void pools_table(struct arena *a, const struct system_view *v, const char *name, bool terminal,
                 struct buf *out)
{
    struct table t;
    begin(&t, a, terminal, 6,
          (const char *[]){"NAME", "TYPE", "STATE", "CELLS", "WANTED", "MESSAGE"});
    for (size_t i = 0; i < v->pool_count; i++) {
        const Board__PoolRecord *p = v->pools[i];
        if (!name || strcmp(p->name, name) == 0) {
            table_add(&t, (const char *[]){p->name, types(a, p), p->state,
                                           number(a, (int32_t)pool_cells(p)), number(a, p->wanted),
                                           *p->message ? p->message : "-"});
        }
    }
    table_print(&t, out);
}
