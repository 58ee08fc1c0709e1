/* bbs appinsts. */
#include "bbs/cli/edge/edge_io.h"
#include "bbs/cli/edge/edge_words.h"
#include "common/cli/cli_io.h"

#include <string.h>

const struct cli_option bbs_appinst_options[] = {
    {.name = "flavor", .value = "FLAVOR", .help = "of an instance; by default the app's"},
    {.name = "env", .value = "KEY=VALUE", .help = "beside the app's own", .repeated = true},
    {0},
};

static int no_instance(struct session *s, const char *name, struct err *err)
{
    ProtobufCMessage *m;
    int r = edge_list(s, "instance", "", &board__edge_instances_response__descriptor, &m, err);
    if (r < 0) {
        return r;
    }
    const Board__EdgeInstancesResponse *all = (const Board__EdgeInstancesResponse *)m;
    const char **names = ARENA_ARRAY(&s->arena, all->n_instances, const char *);
    for (size_t i = 0; i < all->n_instances; i++) {
        names[i] = all->instances[i]->name;
    }
    return edge_not_found(s->call, "app instance", name, names, all->n_instances, err);
}

static int show(struct session *s, const struct invocation *call, struct err *err)
{
    struct edge_board b;
    const char *name = call->argument_count ? call->arguments[0] : "";
    int r = edge_read_board(s, "", &b, err);
    ProtobufCMessage *m = NULL;
    r = r < 0
            ? r
            : edge_list(s, "instance", name, &board__edge_instances_response__descriptor, &m, err);
    if (r < 0) {
        return r;
    }
    b.instances = (const Board__EdgeInstancesResponse *)m;
    if (*name && b.instances->n_instances == 0) {
        return no_instance(s, name, err);
    }
    SCOPED_BUF(out);
    for (size_t i = 0; s->json && i < b.instances->n_instances; i++) {
        session_json(s, &b.instances->instances[i]->base, &out);
    }
    if (!s->json && b.instances->n_instances == 1 &&
        strcmp(b.instances->instances[0]->name, name) == 0) {
        edge_instance_show(&s->arena, &b, b.instances->instances[0], &out);
    } else if (!s->json) {
        edge_instances_table(&s->arena, &b, &out);
    }
    return cli_print(buf_bytes(&out), err);
}

static Board__EdgeMove *move_of(struct session *s)
{
    return arena_message(&s->arena, &board__edge_move__descriptor);
}

/* `says` names an instance only where something is said of it. */
static int read_spec(struct session *s, const struct invocation *call, Board__EdgeMove *says,
                     struct err *err)
{
    const char *flavor = cli_text(call, "flavor"), *const *env = cli_list(call, "env");
    if (!flavor && !env[0]) {
        return 0;
    }
    says->instance = arena_message(&s->arena, &board__app_inst_spec__descriptor);
    says->instance->flavor = arena_strdup(&s->arena, flavor ? flavor : "");
    return edge_env_read(&s->arena, env, &says->instance->env, &says->instance->n_env, err);
}

static int create(struct session *s, const struct invocation *call, struct err *err)
{
    Board__EdgeMove *says = move_of(s);
    int r = read_spec(s, call, says, err);
    return r < 0 ? r : edge_change(s, &edge_instance_noun, "create", call->arguments[0], says, err);
}

static int update(struct session *s, const struct invocation *call, struct err *err)
{
    Board__EdgeMove *says = move_of(s);
    int r = read_spec(s, call, says, err);
    return r < 0 ? r : edge_change(s, &edge_instance_noun, "update", call->arguments[0], says, err);
}

static int rm(struct session *s, const struct invocation *call, struct err *err)
{
    return edge_change(s, &edge_instance_noun, "delete", call->arguments[0], move_of(s), err);
}

static int follow(struct session *s, const struct invocation *call, struct err *err)
{
    return edge_follow(s, &edge_instance_noun, call->arguments[0], err);
}

SESSION_RUN(bbs_appinsts_show_run, show)
SESSION_RUN(bbs_appinsts_create_run, create)
SESSION_RUN(bbs_appinsts_update_run, update)
SESSION_RUN(bbs_appinsts_rm_run, rm)
SESSION_RUN(bbs_appinsts_follow_run, follow)
