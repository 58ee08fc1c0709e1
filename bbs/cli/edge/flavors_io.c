/* bbs flavors. */
#include "bbs/cli/edge/edge_io.h"
#include "bbs/cli/edge/edge_words.h"
#include "common/cli/cli_io.h"
#include "models/desired_lrp_requests.pb-c.h"

#include <string.h>

enum { CONTAINERS_MAX = 1000000 };

const struct cli_option bbs_flavor_options[] = {
    {.name = "memory", .value = "SIZE", .help = "of a node or an instance: 512M", .required = true},
    {.name = "disk", .value = "SIZE", .help = "the same", .required = true},
    {.name = "containers", .value = "N", .help = "that a node may have; 16 by default"},
    {.name = "tag",
     .value = "TAG",
     .help = "placement tag that its cell must have",
     .repeated = true},
    {0},
};

static int list_flavors(struct session *s, const char *name, const Board__EdgeFlavorsResponse **ret,
                        struct err *err)
{
    ProtobufCMessage *m = NULL;
    int r = edge_list(s, "flavor", name, &board__edge_flavors_response__descriptor, &m, err);
    *ret = (const Board__EdgeFlavorsResponse *)m;
    return r;
}

static int no_flavor(struct session *s, const char *name, struct err *err)
{
    const Board__EdgeFlavorsResponse *all;
    int r = list_flavors(s, "", &all, err);
    if (r < 0) {
        return r;
    }
    const char **names = ARENA_ARRAY(&s->arena, all->n_flavors, const char *);
    for (size_t i = 0; i < all->n_flavors; i++) {
        names[i] = all->flavors[i]->name;
    }
    return edge_not_found(s->call, "flavor", name, names, all->n_flavors, err);
}

static int show(struct session *s, const struct invocation *call, struct err *err)
{
    const Board__EdgeFlavorsResponse *all;
    const char *name = call->argument_count ? call->arguments[0] : "";
    int r = list_flavors(s, name, &all, err);
    if (r < 0 || (*name && all->n_flavors == 0)) {
        return r < 0 ? r : no_flavor(s, name, err);
    }
    SCOPED_BUF(out);
    for (size_t i = 0; s->json && i < all->n_flavors; i++) {
        session_json(s, &all->flavors[i]->base, &out);
    }
    if (!s->json) {
        edge_flavors_table(&s->arena, all, cli_wall_ns(), cli_columns(), &out);
    }
    return cli_print(buf_bytes(&out), err);
}

static int set(struct session *s, const struct invocation *call, struct err *err)
{
    Board__FlavorRecord flavor = BOARD__FLAVOR_RECORD__INIT;
    Board__NodeSize size = BOARD__NODE_SIZE__INIT;
    ProtobufCMessage *answer;
    const char *name = call->arguments[0], *const *tags = cli_list(call, "tag");
    int64_t containers = 0;
    int r = edge_size_read("memory", cli_text(call, "memory"), &size.memory_mb, err);
    r = r < 0 ? r : edge_size_read("disk", cli_text(call, "disk"), &size.disk_mb, err);
    r = r < 0 ? r : cli_number(call, "containers", 1, CONTAINERS_MAX, &containers, err);
    if (r < 0) {
        return r;
    }
    flavor.name = arena_strdup(&s->arena, name);
    flavor.size = &size;
    size.containers = (int32_t)containers;
    size.placement_tags = ARENA_ARRAY(&s->arena, CLI_REPEATS_MAX, char *);
    for (size_t i = 0; tags[i]; i++) {
        size.placement_tags[size.n_placement_tags++] = arena_strdup(&s->arena, tags[i]);
    }
    r = edge_call(s, &s->arena, "flavor/set", &flavor.base,
                  &models__desired_lrplifecycle_response__descriptor, &answer, err);
    return r < 0 ? session_about(s, name, r, err)
                 : edge_done(s, name, "set", arena_printf(&s->arena, "%s is set", name), err);
}

static int rm(struct session *s, const struct invocation *call, struct err *err)
{
    Board__EdgeRemoveRequest request = BOARD__EDGE_REMOVE_REQUEST__INIT;
    ProtobufCMessage *answer;
    const char *name = call->arguments[0];
    request.name = arena_strdup(&s->arena, name);
    int r = edge_call(s, &s->arena, "flavor/remove", &request.base,
                      &models__desired_lrplifecycle_response__descriptor, &answer, err);
    return r == -ERR_NOT_FOUND ? no_flavor(s, name, err)
           : r < 0
               ? session_about(s, name, r, err)
               : edge_done(s, name, "removed", arena_printf(&s->arena, "%s is removed", name), err);
}

SESSION_RUN(bbs_flavors_show_run, show)
SESSION_RUN(bbs_flavors_set_run, set)
SESSION_RUN(bbs_flavors_rm_run, rm)
