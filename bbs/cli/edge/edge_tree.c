#include "bbs/cli/edge/edge_tree.h"

#include "common/cli/table.h"
#include "common/model/edge_name.h"

#include <string.h>

/* "dev/web" of "acme/paris/dev/web" in "acme/paris"; the whole name where it is not below. */
static const char *within(const char *name, const char *above)
{
    size_t size = strlen(above);
    return strncmp(name, above, size) == 0 && name[size] == '/' ? name + size + 1 : name;
}

static void add_row(struct table *t, unsigned depth, const char *name, const char *state,
                    const char *health, const char *what, const Board__EdgeOperation *o)
{
    struct arena *a = t->arena;
    table_add(t, (const char *[]){arena_printf(a, "%*s%s", (int)(2 * depth), "", name),
                                  o && o->overdue ? arena_printf(a, "%s (overdue)", state) : state,
                                  health, what});
    if (o && *o->error) {
        table_note(t, arena_printf(a, "error: %s", o->error));
    }
}

/* With a row for each of what its site says runs. */
static void add_instance(struct table *t, const struct edge_board *b, const Board__AppInstRecord *i,
                         const char *above, unsigned depth)
{
    struct arena *a = t->arena;
    const Board__AppInstReport *r = i->reported;
    add_row(t, depth, within(i->name, above), i->state, edge_instance_health(b, i),
            arena_printf(a, "%u of %u of revision %llu", r ? r->running : 0,
                         i->spec ? i->spec->instances : 0,
                         (unsigned long long)(i->spec ? i->spec->revision : 0)),
            i->operation);
    for (size_t k = 0; r && k < r->n_runtime_ids; k++) {
        add_row(t, depth + 1, r->runtime_ids[k], NULL, NULL,
                k < r->n_endpoints ? r->endpoints[k] : NULL, NULL);
    }
}

static void add_cluster(struct table *t, const struct edge_board *b,
                        const Board__ClusterInstRecord *c, const char *cloudlet)
{
    struct arena *a = t->arena;
    add_row(t, 1, within(c->name, cloudlet), c->state, edge_cluster_health(b, c),
            c->spec ? arena_printf(a, "%u of flavor %s", c->spec->nodes, c->spec->flavor) : NULL,
            c->operation);
    for (size_t i = 0; b->instances && i < b->instances->n_instances; i++) {
        const Board__AppInstRecord *one = b->instances->instances[i];
        if (strcmp(edge_real_cluster(a, one), c->name) == 0) {
            add_instance(t, b, one, c->name, 2);
        }
    }
}

/* An instance waits for a cluster that is to be made for it. */
static bool has_cluster(struct arena *a, const struct edge_board *b, const Board__AppInstRecord *i)
{
    for (size_t k = 0; b->clusters && k < b->clusters->n_clusters; k++) {
        if (strcmp(b->clusters->clusters[k]->name, edge_real_cluster(a, i)) == 0) {
            return true;
        }
    }
    return false;
}

static void add_cloudlet(struct table *t, const struct edge_board *b,
                         const Board__CloudletRecord *c)
{
    struct arena *a = t->arena;
    const Board__CloudletInfoRecord *info = edge_info_of(b, c->name);
    add_row(t, 0, c->name, c->state, edge_cloudlet_health(a, b, c),
            info && *c->version ? arena_printf(a, "%s, version %s", info->state, c->version)
            : info              ? info->state
                                : "no crm has come",
            c->operation);
    for (size_t i = 0; b->clusters && i < b->clusters->n_clusters; i++) {
        const Board__ClusterInstRecord *one = b->clusters->clusters[i];
        if (strcmp(edge_cloudlet_of(a, one->name), c->name) == 0) {
            add_cluster(t, b, one, c->name);
        }
    }
    for (size_t i = 0; b->instances && i < b->instances->n_instances; i++) {
        const Board__AppInstRecord *one = b->instances->instances[i];
        if (strcmp(edge_cloudlet_of(a, one->name), c->name) == 0 && !has_cluster(a, b, one)) {
            add_instance(t, b, one, c->name, 1);
        }
    }
}

void edge_tree(struct arena *a, const struct edge_board *b, struct buf *out)
{
    static const char *const titles[] = {"NAME", "STATE", "HEALTH", "WHAT"};
    struct table t;
    table_init(&t, a, 4, titles);
    t.width = b->width;
    for (size_t i = 0; b->cloudlets && i < b->cloudlets->n_cloudlets; i++) {
        add_cloudlet(&t, b, b->cloudlets->cloudlets[i]);
    }
    table_print(&t, out);
}
