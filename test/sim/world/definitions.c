#include "test/sim/world/definitions.h"

#include "common/model/component_path.h"
#include "models/check_definition.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "common/base/message.h"
#include "test/sim/world/cluster.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char MOVED[] = "PATH"; /* no version is called so */

/* Quick to judge: a swarm has little time. */
enum { READY_S = 1, DEADLINE_S = 20, CHECKED_PORT = 8080 };

/* ---- One component --------------------------------------------------------------------------- */

struct copied_lrp {
    struct arena *arena;
    Models__DesiredLRP *lrp;
};

static void copy_lrp(void *context, const ProtobufCMessage *m)
{
    struct copied_lrp *c = context;
    const Models__DesireLRPRequest *request = (const Models__DesireLRPRequest *)m;
    c->lrp = (Models__DesiredLRP *)message_copy(c->arena, &request->desired_lrp->base);
}

static char *empty(void)
{
    return (char *)(uintptr_t)protobuf_c_empty_string;
}

static void add_environment(struct arena *a, Models__DesiredLRP *lrp, const char *variant,
                            const char *secret)
{
    Models__RunAction *run = lrp->action->run_action;
    run->env = ARENA_ARRAY(a, 2, Models__EnvironmentVariable *);
    run->env[run->n_env++] = arena_message(a, &models__environment_variable__descriptor);
    run->env[0]->name = arena_strdup(a, "VARIANT");
    run->env[0]->value = arena_strdup(a, variant);
    if (*secret) {
        run->env[run->n_env++] = arena_message(a, &models__environment_variable__descriptor);
        run->env[1]->name = arena_strdup(a, "SECRET");
        run->env[1]->sealed = arena_message(a, &models__sealed__descriptor);
        run->env[1]->sealed->name = arena_strdup(a, secret);
    }
}

static Models__CheckDefinition *readiness_of(struct arena *a)
{
    Models__CheckDefinition *d = arena_message(a, &models__check_definition__descriptor);
    Models__Check *check = arena_message(a, &models__check__descriptor);
    check->http_check = arena_message(a, &models__httpcheck__descriptor);
    check->http_check->port = CHECKED_PORT;
    check->http_check->path = arena_strdup(a, "/ready");
    check->http_check->interval_ms = READY_S * 1000;
    d->readiness_checks = arena_copy(a, &check, sizeof(check));
    d->n_readiness_checks = 1;
    return d;
}

static Models__DesiredLRP *lrp_of(struct arena *a, const char *says, const char *secret)
{
    struct copied_lrp c = {.arena = a};
    cluster_with_desire("none", 1, copy_lrp, &c);
    Models__DesiredLRP *lrp = c.lrp;
    char *variant = arena_strndup(a, says, strspn(says, "0123456789"));
    lrp->process_guid = lrp->domain = empty();
    lrp->instances = 0;
    add_environment(a, lrp, variant, secret);
    lrp->metric_tags[0]->key = arena_strdup(a, "version");
    lrp->metric_tags[0]->value->static_ = strchr(says, '~')   ? arena_strdup(a, "crash")
                                          : strchr(says, '%') ? arena_strdup(a, "unready")
                                                              : variant;
    if (strchr(says, '!')) {
        lrp->root_fs = arena_strdup(a, NO_ROOT_FS);
    }
    if (strchr(says, '^')) {
        lrp->memory_mb = TOO_MUCH_MEMORY_MB;
    }
    if (strchr(says, '%')) {
        lrp->check_definition = readiness_of(a);
    }
    return lrp;
}

/* A job runs what a service of its variant would. */
static Models__TaskDefinition *task_of(struct arena *a, const char *says, const char *secret)
{
    const Models__DesiredLRP *lrp = lrp_of(a, says, secret);
    Models__TaskDefinition *task = arena_message(a, &models__task_definition__descriptor);
    task->root_fs = lrp->root_fs;
    task->action = lrp->action;
    task->memory_mb = lrp->memory_mb;
    task->disk_mb = lrp->disk_mb;
    return task;
}

static Board__NodePool *pool_new(struct arena *a, const char *name, const char *type,
                                 int32_t wanted)
{
    Board__NodePool *pool = arena_message(a, &board__node_pool__descriptor);
    pool->name = arena_strdup(a, name);
    pool->instance_type = arena_strdup(a, type);
    pool->num_instances = wanted;
    return pool;
}

/* Where it runs; without a word on shared cells. */
static void place(struct arena *a, const char *says, Board__ComponentRecord *c)
{
    const char *pool = strchr(says, '@'), *own = strchr(says, '&');
    if (pool) {
        c->pool = arena_strdup(a, pool + 1);
    } else if (own) {
        const char *type = arena_strndup(a, own + 1, strspn(own + 1, "abcdefghijklmnopqrstuvwxyz"));
        c->own_pool = pool_new(a, "", type, c->instances);
    }
}

static Board__ComponentRecord *component_new(struct arena *a, const char *tree, const char *path,
                                             const char *says)
{
    Board__ComponentRecord *c = arena_message(a, &board__component_record__descriptor);
    const char *count = strchr(says, '*'), *key = strchr(says, '?');
    int named = key ? (int)strcspn(key + 1, "@&") : 0;
    char *secret =
        arena_strdup(a, key ? arena_printf(a, "%s:%.*s", path, named, key + 1) : "");
    c->tree = arena_strdup(a, tree);
    c->path = arena_strdup(a, path);
    c->kind = arena_strdup(a, !*says ? "system" : strchr(says, '=') ? "job" : "service");
    c->hash = arena_printf(a, "%s:%s", path, says);
    if (*secret) {
        c->secrets = arena_copy(a, &secret, sizeof(secret));
        c->n_secrets = 1;
    }
    if (strcmp(c->kind, "service") == 0) {
        c->run = lrp_of(a, says, secret);
        c->instances = count ? atoi(count + 1) : 1;
        c->rolling = arena_message(a, &board__rolling__descriptor);
        c->rolling->ready_s = READY_S;
        c->rolling->deadline_s = DEADLINE_S;
    } else if (strcmp(c->kind, "job") == 0) {
        c->task = task_of(a, says, secret);
    }
    place(a, says, c);
    return c;
}

/* "m#t+2" of the system. */
static void pool_add(struct arena *a, Board__ComponentRecord *c, const char *says)
{
    size_t name = strcspn(says, "#");
    const char *type = says + name + 1, *plus = strchr(type, '+');
    Board__NodePool **list = ARENA_ARRAY(a, c->n_node_pools + 1, Board__NodePool *);
    for (size_t i = 0; i < c->n_node_pools; i++) {
        list[i] = c->node_pools[i];
    }
    assert(plus);
    list[c->n_node_pools++] = pool_new(a, arena_strndup(a, says, name),
                                       arena_strndup(a, type, (size_t)(plus - type)),
                                       (int32_t)strtol(plus + 1, NULL, 10));
    c->node_pools = list;
    c->hash = arena_printf(a, "%s %s", c->hash, says);
}

/* ---- A tree ---------------------------------------------------------------------------------- */

struct growing {
    struct arena *arena;
    const char *tree, *top;
    Board__ComponentRecord **list;
    size_t count;
};

static void add(struct growing *g, const char *path, const char *says)
{
    for (size_t i = 0; i < g->count; i++) {
        if (strcmp(g->list[i]->path, path) == 0) {
            return;
        }
    }
    if (component_path_within(path, g->top)) {
        g->list[g->count++] = component_new(g->arena, g->tree, path, says);
    }
}

static void add_pool(struct growing *g, const char *path, const char *says)
{
    for (size_t i = 0; i < g->count; i++) {
        if (strcmp(g->list[i]->path, path) == 0) {
            pool_add(g->arena, g->list[i], says);
        }
    }
}

static int compare_components(const void *x, const void *y)
{
    return component_path_compare((*(Board__ComponentRecord *const *)x)->path,
                                  (*(Board__ComponentRecord *const *)y)->path);
}

static void index_them(struct arena *a, const struct growing *g, Board__IndexRecord *index)
{
    index->entries = ARENA_ARRAY(a, g->count, Board__IndexRecord__Entry *);
    for (size_t i = 0; i < g->count; i++) {
        Board__IndexRecord__Entry *e = index->entries[index->n_entries++] =
            arena_message(a, &board__index_record__entry__descriptor);
        e->path = g->list[i]->path;
        e->kind = g->list[i]->kind;
        e->hash = g->list[i]->hash;
        e->secrets = g->list[i]->secrets;
        e->n_secrets = g->list[i]->n_secrets;
        e->pool = g->list[i]->pool;
        e->pools = g->list[i]->node_pools;
        e->n_pools = g->list[i]->n_node_pools;
        if (g->list[i]->own_pool) {
            e->pools = arena_copy(a, &g->list[i]->own_pool, sizeof(Board__NodePool *));
            e->n_pools = 1;
        }
    }
}

struct resolved definition_of(struct arena *a, const char *uid, const char *tree, const char *text,
                              const char *path)
{
    enum { COMPONENTS_MAX_HERE = 512 };
    struct growing g = {a, tree, path,
                        ARENA_ARRAY(a, COMPONENTS_MAX_HERE, Board__ComponentRecord *), 0};
    for (const char *rest = text + strspn(text, " "); *rest; rest += strspn(rest, " ")) {
        size_t size = strcspn(rest, " ");
        char *word = arena_strndup(a, rest, size), *says = strchr(word, ':');
        rest += size;
        assert(says && *word == '/' && g.count < COMPONENTS_MAX_HERE / 2);
        *says++ = 0;
        add(&g, word, strchr(says, '#') ? "" : says);
        for (const char *up = component_path_parent(a, word); up;
             up = component_path_parent(a, up)) {
            add(&g, up, "");
        }
        if (strchr(says, '#')) {
            add_pool(&g, word, says);
        }
    }
    add(&g, "/", "");
    qsort(g.list, g.count, sizeof(*g.list), compare_components);
    if (g.count == 0 || strcmp(g.list[0]->path, path) != 0) {
        return (struct resolved){.fault = arena_printf(a, "%s is not in the definition", path)};
    }
    Board__IndexRecord *index = arena_message(a, &board__index_record__descriptor);
    index->tree = arena_strdup(a, tree);
    index->uid = arena_strdup(a, uid);
    index->path = arena_strdup(a, path);
    index_them(a, &g, index);
    return (struct resolved){
        .done = true, .component_count = g.count, .components = g.list, .index = index};
}

/* ---- The repositories ------------------------------------------------------------------------ */

static const char *text_of(const struct definitions *d, const struct resolve_request *r,
                           struct arena *a)
{
    const char *moved = map_get(&d->texts, MOVED);
    switch (r->what) {
    case RESOLVE_SOURCE:
        return arena_strndup(a, (const char *)r->source.data, r->source.size);
    case RESOLVE_VERSION:
        return map_get(&d->texts, r->version);
    case RESOLVE_PATH:
        return moved ? moved : map_get(&d->texts, r->commit);
    default:
        return NULL;
    }
}

/* In the order of their texts, as the versions of stories have it. */
static struct resolved tags_of(const struct definitions *d, struct arena *a)
{
    const char **versions = ARENA_ARRAY(a, d->texts.count + 1, const char *);
    size_t count = 0;
    MAP_EACH(&d->texts, n)
    {
        if (strcmp(map_key(n), MOVED) != 0) {
            versions[count++] = map_key(n);
        }
    }
    return (struct resolved){.done = true, .versions = versions, .version_count = count};
}

static struct resolved resolve(void *context, struct node *from,
                               const struct resolve_request *request, struct arena *a)
{
    const struct definitions *d = context;
    const char *text = text_of(d, request, a);
    (void)from;
    if (request->what == RESOLVE_TAGS) {
        return tags_of(d, a);
    }
    if (!text) {
        return (struct resolved){.fault = arena_printf(a, "%s has no version %s", DEFINITIONS_URL,
                                                       request->version ? request->version : "")};
    }
    struct resolved r =
        definition_of(a, request->uid, request->tree, text, request->path ? request->path : "/");
    if (r.done && request->what != RESOLVE_SOURCE) {
        const char *commit = request->what == RESOLVE_VERSION ? request->version : request->commit;
        r.commit = r.index->commit = arena_strdup(a, commit);
        r.version = r.index->version =
            arena_strdup(a, request->what == RESOLVE_VERSION ? request->version : "");
        r.index->url = arena_strdup(a, DEFINITIONS_URL);
    }
    return r;
}

void definitions_init(struct definitions *d, struct world *w)
{
    map_init(&d->texts);
    world_serve_definitions(w, resolve, d);
}

void definitions_done(struct definitions *d)
{
    map_done(&d->texts, NULL);
}

void definitions_put(struct definitions *d, const char *version, const char *text)
{
    map_put(&d->texts, version, (char *)(uintptr_t)text);
}

void definitions_move(struct definitions *d, const char *text)
{
    if (text) {
        map_put(&d->texts, MOVED, (char *)(uintptr_t)text);
    } else {
        map_remove(&d->texts, MOVED);
    }
}
