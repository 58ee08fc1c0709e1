/* bbs clusters. */
#include "bbs/cli/edge/edge_io.h"
#include "common/cli/cli_io.h"

#include <string.h>

enum { NODES_MAX_HERE = 64 };

const struct cli_option bbs_cluster_create_options[] = {
    {.name = "flavor", .value = "FLAVOR", .help = "of its nodes", .required = true},
    {.name = "nodes", .value = "N", .help = "how many; 1 to 64", .fallback = "1", .letter = 'n'},
    {.name = "dedicated", .help = "whole cells, which nothing else may use"},
    {.name = "reservable", .help = "for whichever instance asks for one of its flavor"},
    {0},
};

const struct cli_option bbs_cluster_update_options[] = {
    {.name = "nodes", .value = "N", .help = "how many; 1 to 64", .letter = 'n', .required = true},
    {0},
};

static int no_cluster(struct session *s, const char *name, struct err *err)
{
    ProtobufCMessage *m;
    int r = edge_list(s, "cluster", "", &board__edge_clusters_response__descriptor, &m, err);
    if (r < 0) {
        return r;
    }
    const Board__EdgeClustersResponse *all = (const Board__EdgeClustersResponse *)m;
    const char **names = ARENA_ARRAY(&s->arena, all->n_clusters, const char *);
    for (size_t i = 0; i < all->n_clusters; i++) {
        names[i] = all->clusters[i]->name;
    }
    return edge_not_found(s->call, "cluster", name, names, all->n_clusters, err);
}

static int show(struct session *s, const struct invocation *call, struct err *err)
{
    struct edge_board b;
    const char *name = call->argument_count ? call->arguments[0] : "";
    int r = edge_read_board(s, "", &b, err);
    ProtobufCMessage *m = NULL;
    r = r < 0 ? r
              : edge_list(s, "cluster", name, &board__edge_clusters_response__descriptor, &m, err);
    if (r < 0) {
        return r;
    }
    b.clusters = (const Board__EdgeClustersResponse *)m;
    if (*name && b.clusters->n_clusters == 0) {
        return no_cluster(s, name, err);
    }
    SCOPED_BUF(out);
    for (size_t i = 0; s->json && i < b.clusters->n_clusters; i++) {
        session_json(s, &b.clusters->clusters[i]->base, &out);
    }
    if (!s->json && b.clusters->n_clusters == 1 &&
        strcmp(b.clusters->clusters[0]->name, name) == 0) {
        edge_cluster_show(&s->arena, &b, b.clusters->clusters[0], &out);
    } else if (!s->json) {
        edge_clusters_table(&s->arena, &b, &out);
    }
    return cli_print(buf_bytes(&out), err);
}

static int read_nodes(const struct invocation *call, Board__EdgeMove *says, struct err *err)
{
    int64_t nodes = 0;
    int r = cli_number(call, "nodes", 1, NODES_MAX_HERE, &nodes, err);
    says->cluster->nodes = (uint32_t)nodes;
    return r;
}

static Board__EdgeMove *move_of(struct session *s)
{
    Board__EdgeMove *says = arena_message(&s->arena, &board__edge_move__descriptor);
    says->cluster = arena_message(&s->arena, &board__cluster_spec__descriptor);
    return says;
}

static int create(struct session *s, const struct invocation *call, struct err *err)
{
    Board__EdgeMove *says = move_of(s);
    int r = read_nodes(call, says, err);
    says->cluster->flavor = arena_strdup(&s->arena, cli_text(call, "flavor"));
    says->cluster->dedicated = cli_switch(call, "dedicated");
    says->reservable = cli_switch(call, "reservable");
    return r < 0 ? r : edge_change(s, &edge_cluster_noun, "create", call->arguments[0], says, err);
}

static int update(struct session *s, const struct invocation *call, struct err *err)
{
    Board__EdgeMove *says = move_of(s);
    int r = read_nodes(call, says, err);
    return r < 0 ? r : edge_change(s, &edge_cluster_noun, "update", call->arguments[0], says, err);
}

static int rm(struct session *s, const struct invocation *call, struct err *err)
{
    Board__EdgeMove *says = arena_message(&s->arena, &board__edge_move__descriptor);
    return edge_change(s, &edge_cluster_noun, "delete", call->arguments[0], says, err);
}

static int follow(struct session *s, const struct invocation *call, struct err *err)
{
    return edge_follow(s, &edge_cluster_noun, call->arguments[0], err);
}

SESSION_RUN(bbs_clusters_show_run, show)
SESSION_RUN(bbs_clusters_create_run, create)
SESSION_RUN(bbs_clusters_update_run, update)
SESSION_RUN(bbs_clusters_rm_run, rm)
SESSION_RUN(bbs_clusters_follow_run, follow)
