/* bbs cloudlets. */
#include "bbs/cli/edge/edge_io.h"
#include "bbs/cli/edge/edge_tree.h"
#include "bbs/cli/edge/edge_words.h"
#include "common/cli/cli_io.h"
#include "models/desired_lrp_requests.pb-c.h"

#include <string.h>

enum { QUOTA_CONTAINERS_MAX = 100000000, PERCENT_MAX = 100 };

#define CLOUDLET_OPTIONS(location_required)                                                        \
    {.name = "location",                                                                           \
     .value = "LATITUDE,LONGITUDE",                                                                \
     .help = "where it is, in degrees",                                                            \
     .required = (location_required)},                                                             \
        {.name = "memory", .value = "SIZE", .help = "quota; by default all that the site has"},    \
        {.name = "disk", .value = "SIZE", .help = "the same"},                                     \
        {.name = "containers", .value = "N", .help = "the same"},                                  \
    {                                                                                              \
        .name = "alert", .value = "PERCENT", .help = "of the quota, beyond which it is told"       \
    }

const struct cli_option bbs_cloudlet_create_options[] = {
    CLOUDLET_OPTIONS(true),
    {.name = "version", .value = "VERSION", .help = "that its CRM is to have; any by default"},
    {0},
};

const struct cli_option bbs_cloudlet_update_options[] = {
    CLOUDLET_OPTIONS(false),
    {.name = "replace-site", .help = "let another site have the name, once"},
    {0},
};

/* ---- Shown ----------------------------------------------------------------------------------- */

static int no_cloudlet(struct session *s, const char *name, struct err *err)
{
    ProtobufCMessage *m;
    int r = edge_list(s, "cloudlet", "", &board__edge_cloudlets_response__descriptor, &m, err);
    if (r < 0) {
        return r;
    }
    const Board__EdgeCloudletsResponse *all = (const Board__EdgeCloudletsResponse *)m;
    const char **names = ARENA_ARRAY(&s->arena, all->n_cloudlets, const char *);
    for (size_t i = 0; i < all->n_cloudlets; i++) {
        names[i] = all->cloudlets[i]->name;
    }
    return edge_not_found(s->call, "cloudlet", name, names, all->n_cloudlets, err);
}

static int show(struct session *s, const struct invocation *call, struct err *err)
{
    struct edge_board b;
    const char *name = call->argument_count ? call->arguments[0] : "";
    int r = edge_read_board(s, name, &b, err);
    if (r < 0 || (*name && b.cloudlets->n_cloudlets == 0)) {
        return r < 0 ? r : no_cloudlet(s, name, err);
    }
    SCOPED_BUF(out);
    for (size_t i = 0; s->json && i < b.cloudlets->n_cloudlets; i++) {
        session_json(s, &b.cloudlets->cloudlets[i]->base, &out);
    }
    if (!s->json && b.cloudlets->n_cloudlets == 1 &&
        strcmp(b.cloudlets->cloudlets[0]->name, name) == 0) {
        edge_cloudlet_show(&s->arena, &b, b.cloudlets->cloudlets[0], &out);
    } else if (!s->json) {
        edge_cloudlets_table(&s->arena, &b, &out);
    }
    return cli_print(buf_bytes(&out), err);
}

/* In JSON all records of it: cloudlets, clusters, instances. */
static int tree(struct session *s, const struct invocation *call, struct err *err)
{
    struct edge_board b;
    const char *name = call->argument_count ? call->arguments[0] : "";
    int r = edge_read_board(s, name, &b, err);
    if (r < 0 || (*name && b.cloudlets->n_cloudlets == 0)) {
        return r < 0 ? r : no_cloudlet(s, name, err);
    }
    SCOPED_BUF(out);
    for (size_t i = 0; s->json && i < b.cloudlets->n_cloudlets; i++) {
        session_json(s, &b.cloudlets->cloudlets[i]->base, &out);
    }
    for (size_t i = 0; s->json && i < b.clusters->n_clusters; i++) {
        session_json(s, &b.clusters->clusters[i]->base, &out);
    }
    for (size_t i = 0; s->json && i < b.instances->n_instances; i++) {
        session_json(s, &b.instances->instances[i]->base, &out);
    }
    if (!s->json) {
        edge_tree(&s->arena, &b, &out);
    }
    return cli_print(buf_bytes(&out), err);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static Board__EdgeMove *move_of(struct session *s)
{
    return arena_message(&s->arena, &board__edge_move__descriptor);
}

/* What the options say of the spec; what they leave out stays. */
static int read_spec(struct session *s, const struct invocation *call, Board__CloudletSpec *spec,
                     bool *ret_said, struct err *err)
{
    static const Board__EdgeResources none = BOARD__EDGE_RESOURCES__INIT;
    const char *location = cli_text(call, "location"), *memory = cli_text(call, "memory");
    const char *disk = cli_text(call, "disk"), *containers = cli_text(call, "containers");
    Board__EdgeResources *quota =
        arena_copy(&s->arena, spec->quota ? spec->quota : &none, sizeof(*quota));
    int64_t alert = spec->alert_percent;
    int32_t mb = 0;
    int r = location ? edge_location_read(location, &spec->latitude, &spec->longitude, err) : 0;
    r = r < 0 || !memory ? r : edge_size_read("memory", memory, &mb, err);
    quota->memory_mb = memory ? mb : quota->memory_mb;
    r = r < 0 || !disk ? r : edge_size_read("disk", disk, &mb, err);
    quota->disk_mb = disk ? mb : quota->disk_mb;
    r = r < 0 ? r
              : cli_number(call, "containers", 1, QUOTA_CONTAINERS_MAX, &quota->containers, err);
    r = r < 0 ? r : cli_number(call, "alert", 1, PERCENT_MAX, &alert, err);
    spec->alert_percent = (uint32_t)alert;
    spec->quota = memory || disk || containers ? quota : spec->quota;
    *ret_said = location || memory || disk || containers || cli_text(call, "alert");
    return r;
}

static int create(struct session *s, const struct invocation *call, struct err *err)
{
    Board__EdgeMove *says = move_of(s);
    const char *version = cli_text(call, "version");
    bool said;
    says->cloudlet = arena_message(&s->arena, &board__cloudlet_spec__descriptor);
    says->version = arena_strdup(&s->arena, version ? version : "");
    int r = read_spec(s, call, says->cloudlet, &said, err);
    return r < 0 ? r : edge_change(s, &edge_cloudlet_noun, "create", call->arguments[0], says, err);
}

/* A change that is done when it is answered: no site has to do anything. */
static int change_now(struct session *s, const char *path, const char *name, Board__EdgeMove *says,
                      const char *result, const char *sentence, struct err *err)
{
    Board__EdgeRequest request = BOARD__EDGE_REQUEST__INIT;
    ProtobufCMessage *answer;
    request.name = arena_strdup(&s->arena, name);
    request.says = says;
    int r = edge_call(s, &s->arena, path, &request.base,
                      &models__desired_lrplifecycle_response__descriptor, &answer, err);
    if (r == -ERR_NOT_FOUND) {
        return no_cloudlet(s, name, err);
    }
    return r < 0
               ? session_about(s, name, r, err)
               : edge_done(s, name, result, arena_printf(&s->arena, "%s %s", name, sentence), err);
}

static int update(struct session *s, const struct invocation *call, struct err *err)
{
    Board__EdgeMove *says = move_of(s);
    ProtobufCMessage *m = NULL;
    const char *name = call->arguments[0];
    bool said = false;
    int r = edge_list(s, "cloudlet", name, &board__edge_cloudlets_response__descriptor, &m, err);
    if (r < 0) {
        return r;
    }
    const Board__EdgeCloudletsResponse *all = (const Board__EdgeCloudletsResponse *)m;
    if (all->n_cloudlets != 1 || strcmp(all->cloudlets[0]->name, name) != 0) {
        return no_cloudlet(s, name, err);
    }
    Board__CloudletSpec *spec = all->cloudlets[0]->spec;
    spec = spec ? spec : arena_message(&s->arena, &board__cloudlet_spec__descriptor);
    r = read_spec(s, call, spec, &said, err);
    says->replace_site = cli_switch(call, "replace-site");
    says->cloudlet = said ? spec : NULL;
    return r < 0 ? r : change_now(s, "cloudlet/update", name, says, "updated", "is updated", err);
}

static int confirm(struct session *s, const struct invocation *call, struct err *err)
{
    Board__EdgeMove *says = move_of(s);
    says->force = true;
    return change_now(s, "cloudlet/update", call->arguments[0], says, "confirmed",
                      "is confirmed: its site may remove what the centre does not know", err);
}

static int upgrade(struct session *s, const struct invocation *call, struct err *err)
{
    Board__EdgeMove *says = move_of(s);
    says->version = arena_strdup(&s->arena, call->arguments[1]);
    return edge_change(s, &edge_cloudlet_noun, "upgrade", call->arguments[0], says, err);
}

static int maintain(struct session *s, const struct invocation *call, struct err *err)
{
    static const struct {
        const char *word, *path, *result, *sentence;
    } rows[] = {
        {"start", "maintenance/start", "requested", "maintenance: start requested"},
        {"start-no-failover", "maintenance/start_no_failover", "requested",
         "maintenance: start requested, without failover"},
        {"end", "maintenance/end", "requested", "maintenance: end requested"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(call->arguments[1], rows[i].word) == 0) {
            return change_now(s, rows[i].path, call->arguments[0], move_of(s), rows[i].result,
                              rows[i].sentence, err);
        }
    }
    return err_set(err, ERR_INVALID,
                   "\"%.40s\" is none of start, start-no-failover and end: %s NAME start",
                   call->arguments[1], call->title);
}

static int rm(struct session *s, const struct invocation *call, struct err *err)
{
    return edge_change(s, &edge_cloudlet_noun, "delete", call->arguments[0], move_of(s), err);
}

static int follow(struct session *s, const struct invocation *call, struct err *err)
{
    return edge_follow(s, &edge_cloudlet_noun, call->arguments[0], err);
}

SESSION_RUN(bbs_cloudlets_show_run, show)
SESSION_RUN(bbs_cloudlets_tree_run, tree)
SESSION_RUN(bbs_cloudlets_create_run, create)
SESSION_RUN(bbs_cloudlets_update_run, update)
SESSION_RUN(bbs_cloudlets_upgrade_run, upgrade)
SESSION_RUN(bbs_cloudlets_maintain_run, maintain)
SESSION_RUN(bbs_cloudlets_confirm_run, confirm)
SESSION_RUN(bbs_cloudlets_rm_run, rm)
SESSION_RUN(bbs_cloudlets_follow_run, follow)
