#include "common/definition/compile_inside.h"

#include "common/appfile/app.h"
#include "common/base/message.h"
#include "common/definition/template.h"
#include "common/model/component_path.h"
#include "common/model/pool_tag.h"
#include "common/model/sealed_values.h"
#include "common/model/service_owner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { READY_S = 15, DEADLINE_S = 600, SECONDS_MAX = 86400 };


/* ---- Names ---------------------------------------------------------------------------------- */

static const char *hex(struct arena *a, uint64_t h)
{
    return arena_printf(a, "%016llx", (unsigned long long)h);
}

const char *component_app_name(struct arena *a, const char *system, const char *path)
{
    assert(*system && path[0] == '/');
    char *name = arena_printf(a, "%s%s", system, path[1] ? path : "");
    for (char *c = name; *c; c++) {
        *c = *c == '/' ? '.' : *c;
    }
    /* Longer than a guid may be: the leaf, and a hash of the whole. */
    enum { HASHED_MAX = APP_NAME_MAX - 16 };
    return strlen(name) <= HASHED_MAX
               ? name
               : arena_printf(a, "%s.%s.%s", system, component_path_leaf(path),
                              hex(a, bytes_hash(bytes_of(name))));
}

const char *component_guid(struct arena *a, const char *system, const char *path,
                           const Models__DesiredLRP *lrp)
{
    const char *guid = app_process_guid(a, component_app_name(a, system, path), lrp);
    assert(strlen(guid) <= APP_NAME_MAX);
    return guid;
}

Models__DesiredLRP *component_lrp(struct arena *a, const Board__ComponentRecord *c,
                                  const char *system, const char *uid)
{
    assert(c->run && *uid);
    Models__DesiredLRP *lrp = (Models__DesiredLRP *)message_copy(a, &c->run->base);
    lrp->domain = arena_printf(a, "system.%s", uid);
    lrp->owner = service_owner_of(a, uid, c->path);
    lrp->instances = c->instances;
    lrp->process_guid = arena_strdup(a, component_guid(a, system, c->path, lrp));
    return lrp;
}

/* ---- Pools ---------------------------------------------------------------------------------- */

static Board__NodePool *read_pool(const struct definition_source *s, const char *name,
                                  const struct node *n)
{
    Board__NodePool *pool = arena_message(s->arena, &board__node_pool__descriptor);
    const char *key = *name ? arena_printf(s->arena, "node_pools.%.63s", name) : "node_pool";
    const char *fault = *name ? component_name_fault(s->arena, name) : NULL;
    pool->name = arena_strdup(s->arena, name);
    if (fault) {
        definition_mistake(s, n, key, "%s", fault);
    }
    if (!definition_check_keys(s, n, key, DK_POOL)) {
        return pool;
    }
    pool->instance_type = arena_strdup(s->arena, definition_text(s, n, "instance_type"));
    pool->num_instances = (int32_t)definition_integer(s, n, "num_instances", 0, POOL_CELLS_MAX, 0);
    const char *bad = pool_type_fault(pool->instance_type);
    if (!*pool->instance_type) {
        definition_mistake(s, n, key, "instance_type is missing");
    } else if (bad) {
        definition_mistake(s, node_given(n, "instance_type"), key, "instance_type %s", bad);
    }
    return pool;
}

/* The pool that a name leads to; NULL = there is none. */
static const struct node *find_pool(const struct definition_compiler *c, const char *name)
{
    const char *path = component_subname_path(c->arena, name);
    for (size_t i = 0; i < c->tree->count; i++) {
        const struct definition_part *p = &c->tree->parts[i];
        if (strcmp(p->path, path) == 0 && p->kind == DEFINITION_SYSTEM) {
            const struct node *pools = node_given(p->node, "node_pools");
            return pools ? node_given(pools, component_subname_leaf(name)) : NULL;
        }
    }
    return NULL;
}

/* Whether a path lies in what a reference leads to that was not read. */
static bool is_unread(const struct definition_compiler *c, const char *path)
{
    for (size_t i = 0; i < c->tree->count; i++) {
        const struct definition_part *p = &c->tree->parts[i];
        if (p->kind == DEFINITION_REFERENCE && component_path_within(path, p->path)) {
            return true;
        }
    }
    return false;
}

static void name_pool(const struct definition_compiler *c, const struct definition_source *s,
                      const struct node *at, Board__ComponentRecord *to)
{
    const char *fault = component_subname_fault(s->arena, at->text, false);
    const struct node *pool = fault ? NULL : find_pool(c, at->text);
    if (fault) {
        definition_mistake(s, at, "node_pool", "%s", fault);
    } else if (!pool && !is_unread(c, component_subname_path(s->arena, at->text))) {
        definition_mistake(s, at, "node_pool", "there is no pool %.100s in this definition",
                           at->text);
    } else {
        to->pool = arena_strdup(s->arena, at->text);
    }
}

/* A pool of its own, a cell an instance. */
static void read_type(const struct definition_source *s, const struct node *n,
                      Board__ComponentRecord *to, const char *type)
{
    const char *fault = pool_type_fault(type);
    to->own_pool->instance_type = arena_strdup(s->arena, type);
    to->own_pool->num_instances = to->instances;
    if (fault) {
        definition_mistake(s, node_given(n, "instance_type"), "instance_type", "%s", fault);
    } else if (strcmp(type, POOL_SHARED_TYPE) != 0 && to->instances > POOL_CELLS_MAX) {
        definition_mistake(s, node_given(n, "instance_type"), "instance_type",
                           "gives each instance a cell, and a pool has at most %d: give node_pool",
                           POOL_CELLS_MAX);
    }
}

static void read_place(const struct definition_compiler *c, const struct definition_source *s,
                       const struct node *n, bool job, Board__ComponentRecord *to)
{
    const struct node *pool = node_given(n, "node_pool");
    const char *type = job ? "" : definition_text(s, n, "instance_type");
    if (!pool && !*type) {
        definition_mistake(s, n, "node_pool", "is missing: %s",
                           job ? "/path:name of a pool of the system"
                               : "/path:name of a pool, or instance_type");
    } else if (pool && *type) {
        definition_mistake(s, pool, "node_pool", "say node_pool or instance_type, not both");
    } else if (pool && node_is_scalar(pool)) {
        name_pool(c, s, pool, to);
    } else if (pool && job) {
        definition_mistake(s, pool, "node_pool",
                           "a job runs in a pool that is shared: say /path:name");
    } else {
        to->own_pool =
            pool ? read_pool(s, "", pool) : arena_message(s->arena, &board__node_pool__descriptor);
        if (!pool) {
            read_type(s, n, to, type);
        }
    }
}

/* ---- Rolling -------------------------------------------------------------------------------- */

/* "3" or "25%". -1 = it is none. */
static int64_t amount(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    bool percent = text[digits] == '%';
    if (digits == 0 || digits > 6 || text[digits + percent]) {
        return -1;
    }
    int64_t value = strtoll(text, NULL, 10);
    return percent && value > 100 ? -1 : value;
}

static const char *read_amount(const struct definition_source *s, const struct node *map,
                               const char *key, const char *otherwise)
{
    const char *text = map ? definition_text(s, map, key) : "";
    if (*text && amount(text) < 0) {
        definition_mistake(s, node_given(map, key), key, "must be a number, or percent: 25%%");
        return otherwise;
    }
    return *text ? text : otherwise;
}

static Board__Rolling *read_rolling(const struct definition_source *s, const struct node *n)
{
    Board__Rolling *r = arena_message(s->arena, &board__rolling__descriptor);
    const struct node *map = node_given(n, "rolling");
    if (map && !definition_check_keys(s, map, "rolling", DK_ROLLING)) {
        map = NULL;
    }
    r->max_surge = arena_strdup(s->arena, read_amount(s, map, "max_surge", "25%"));
    r->max_unavailable = arena_strdup(s->arena, read_amount(s, map, "max_unavailable", "0"));
    r->ready_s =
        (int32_t)(map ? definition_integer(s, map, "ready_s", 0, SECONDS_MAX, READY_S) : READY_S);
    r->deadline_s =
        (int32_t)(map ? definition_integer(s, map, "deadline_s", 1, SECONDS_MAX, DEADLINE_S)
                      : DEADLINE_S);
    if (amount(r->max_surge) == 0 && amount(r->max_unavailable) == 0) {
        definition_mistake(s, map, "rolling",
                           "max_surge and max_unavailable are both 0: nothing could be replaced");
    }
    if (r->ready_s > r->deadline_s) {
        definition_mistake(s, map, "rolling", "ready_s is %d, over deadline_s, %d", r->ready_s,
                           r->deadline_s);
    }
    return r;
}

/* ---- Workloads ------------------------------------------------------------------------------ */

static int read_policy(const struct definition_source *s, const struct node *n, const char *key,
                       const ProtobufCEnumDescriptor *words)
{
    const char *text = definition_text(s, n, key);
    for (unsigned i = 0; i < words->n_values; i++) {
        if (!*text || strcasecmp(text, words->values[i].name) == 0) {
            return words->values[i].value;
        }
    }
    definition_mistake(s, node_given(n, key), key, "must be %s",
                       words == &models__on_cell_loss__descriptor ? "replace or hold"
                                                                  : "move or stay");
    return 0;
}

/* `source_id`: the name, as of apps. */
static Models__MetricTagValue *source_tag(struct arena *a, const char *name)
{
    Models__MetricTagValue *value = arena_message(a, &models__metric_tag_value__descriptor);
    value->static_ = arena_strdup(a, name);
    return value;
}

static Models__SecurityGroupRule **egress_all(struct arena *a, size_t *ret_count)
{
    Models__SecurityGroupRule **list = ARENA_ARRAY(a, 1, Models__SecurityGroupRule *);
    list[0] = arena_message(a, &models__security_group_rule__descriptor);
    list[0]->protocol = arena_strdup(a, "all");
    list[0]->destinations = ARENA_ARRAY(a, 1, char *);
    list[0]->destinations[list[0]->n_destinations++] = arena_strdup(a, "0.0.0.0/0");
    *ret_count = 1;
    return list;
}

static void make_service(const struct definition_compiler *c, const struct definition_source *s,
                         const struct node *n, Board__ComponentRecord *to)
{
    struct arena *a = c->arena;
    struct definition_container box;
    Models__DesiredLRP *lrp = arena_message(a, &models__desired_lrp__descriptor);
    const char *name = component_app_name(a, c->target->system, to->path);
    to->run = lrp;
    to->instances =
        (int32_t)definition_integer(s, n, "num_instances", 0, DEFINITION_INSTANCES_MAX, 0);
    definition_read_container(s, n, &box);
    lrp->root_fs = arena_strdup(a, box.root_fs);
    lrp->action = box.action;
    lrp->environment_variables = box.env;
    lrp->n_environment_variables = box.env_count;
    lrp->sidecars = box.sidecars;
    lrp->n_sidecars = box.sidecar_count;
    lrp->memory_mb = box.memory_mb;
    lrp->disk_mb = box.disk_mb;
    lrp->cpu_max_percent = box.cpu_max_percent;
    lrp->log_guid = arena_strdup(a, name);
    lrp->egress_rules = egress_all(a, &lrp->n_egress_rules);
    lrp->metric_tags = ARENA_ARRAY(a, 1, Models__DesiredLRP__MetricTagsEntry *);
    lrp->metric_tags[0] = arena_message(a, &models__desired_lrp__metric_tags_entry__descriptor);
    lrp->metric_tags[0]->key = arena_strdup(a, "source_id");
    lrp->metric_tags[0]->value = source_tag(a, name);
    lrp->n_metric_tags = 1;
    lrp->on_cell_loss = read_policy(s, n, "on_cell_loss", &models__on_cell_loss__descriptor);
    lrp->on_evacuate = read_policy(s, n, "on_evacuate", &models__on_evacuate__descriptor);
    definition_read_ports(s, n, c->target, to);
    to->rolling = read_rolling(s, n);
    read_place(c, s, n, false, to);
}

static void make_job(const struct definition_compiler *c, const struct definition_source *s,
                     const struct node *n, Board__ComponentRecord *to)
{
    struct arena *a = c->arena;
    struct definition_container box;
    Models__TaskDefinition *task = arena_message(a, &models__task_definition__descriptor);
    const char *name = component_app_name(a, c->target->system, to->path);
    to->task = task;
    if (node_given(n, "sidecars")) {
        definition_mistake(s, node_given(n, "sidecars"), "sidecars",
                           "sidecars of jobs are not supported");
    }
    definition_read_container(s, n, &box);
    task->root_fs = arena_strdup(a, box.root_fs);
    task->action = box.action;
    task->environment_variables = box.env;
    task->n_environment_variables = box.env_count;
    task->memory_mb = box.memory_mb;
    task->disk_mb = box.disk_mb;
    task->cpu_max_percent = box.cpu_max_percent;
    task->log_guid = arena_strdup(a, name);
    task->egress_rules = egress_all(a, &task->n_egress_rules);
    task->metric_tags = ARENA_ARRAY(a, 1, Models__TaskDefinition__MetricTagsEntry *);
    task->metric_tags[0] =
        arena_message(a, &models__task_definition__metric_tags_entry__descriptor);
    task->metric_tags[0]->key = arena_strdup(a, "source_id");
    task->metric_tags[0]->value = source_tag(a, name);
    task->n_metric_tags = 1;
    read_place(c, s, n, true, to);
}

static void make_system(const struct definition_source *s, const struct node *n,
                        Board__ComponentRecord *to)
{
    const struct node *pools = node_given(n, "node_pools");
    if (!pools) {
        return;
    }
    if (pools->kind != NODE_MAP || pools->count > POOL_CELLS_MAX) {
        definition_mistake(s, pools, "node_pools", "must be a map of at most %d", POOL_CELLS_MAX);
        return;
    }
    to->node_pools = ARENA_ARRAY(s->arena, pools->count, Board__NodePool *);
    for (size_t i = 0; i < pools->count; i++) {
        to->node_pools[to->n_node_pools++] = read_pool(s, pools->keys[i], pools->items[i]);
    }
}

/* ---- Records -------------------------------------------------------------------------------- */

static void name_secrets(const struct definition_compiler *c, Board__ComponentRecord *to)
{
    const char **names = NULL;
    const ProtobufCMessage *m = to->run ? &to->run->base : to->task ? &to->task->base : NULL;
    size_t count = m ? sealed_names(c->arena, m, &names) : 0;
    if (count > SEALED_NAMES_MAX) {
        definition_fault(c->arena, c->faults, "%s: needs %zu secrets, more than %d", to->path,
                         count, SEALED_NAMES_MAX);
    }
    to->secrets = ARENA_ARRAY(c->arena, count, char *);
    for (size_t i = 0; i < count; i++) {
        to->secrets[to->n_secrets++] = arena_strdup(c->arena, names[i]);
    }
}

static Board__ComponentRecord *make_record(const struct definition_compiler *c,
                                           const struct definition_part *p)
{
    static const char *const kinds[] = {"system", "service", "job", "reference"};
    struct arena *a = c->arena;
    struct definition_source s = {
        .arena = a, .file = p->file, .path = p->path, .faults = c->faults};
    Board__ComponentRecord *to = arena_message(a, &board__component_record__descriptor);
    to->path = arena_strdup(a, p->path);
    to->kind = arena_strdup(a, kinds[p->kind]);
    to->description = arena_strdup(a, definition_text(&s, p->node, "description"));
    if (p->kind == DEFINITION_SERVICE) {
        make_service(c, &s, p->node, to);
    } else if (p->kind == DEFINITION_JOB) {
        make_job(c, &s, p->node, to);
    } else if (p->kind == DEFINITION_SYSTEM) {
        make_system(&s, p->node, to);
    }
    name_secrets(c, to);
    struct bytes packed = message_packed(a, &to->base);
    if (packed.size > DEFINITION_COMPONENT_BYTES_MAX) {
        definition_fault(a, c->faults, "%s: is larger than %d KiB", p->path,
                         DEFINITION_COMPONENT_BYTES_MAX >> 10);
    }
    to->hash = arena_strdup(a, hex(a, bytes_hash(packed)));
    to->tree = arena_strdup(a, c->target->tree);
    to->reference = arena_strdup(a, p->reference);
    to->commit = arena_strdup(a, p->commit);
    return to;
}

static char **copy_texts(struct arena *a, char *const *list, size_t count)
{
    char **made = ARENA_ARRAY(a, count, char *);
    for (size_t i = 0; i < count; i++) {
        made[i] = arena_strdup(a, list[i]);
    }
    return made;
}

/* The pools of whole cells that come with the component. */
static void index_pools(struct arena *a, const Board__ComponentRecord *from,
                        Board__IndexRecord__Entry *to)
{
    size_t count = from->n_node_pools + (from->own_pool != NULL);
    to->pools = ARENA_ARRAY(a, count, Board__NodePool *);
    for (size_t i = 0; i < count; i++) {
        Board__NodePool *pool = i < from->n_node_pools ? from->node_pools[i] : from->own_pool;
        if (strcmp(pool->instance_type, POOL_SHARED_TYPE) != 0) {
            to->pools[to->n_pools++] = pool;
        }
    }
}

static Board__IndexRecord *make_index(const struct definition_compiler *c, const char *path,
                                      const struct definition_records *r)
{
    struct arena *a = c->arena;
    Board__IndexRecord *index = arena_message(a, &board__index_record__descriptor);
    index->tree = arena_strdup(a, c->target->tree);
    index->uid = arena_strdup(a, c->target->uid);
    index->path = arena_strdup(a, path);
    index->entries = ARENA_ARRAY(a, r->count, Board__IndexRecord__Entry *);
    for (size_t i = 0; i < r->count; i++) {
        const Board__ComponentRecord *from = r->components[i];
        Board__IndexRecord__Entry *e = arena_message(a, &board__index_record__entry__descriptor);
        e->path = from->path;
        e->kind = from->kind;
        e->hash = from->hash;
        e->secrets = copy_texts(a, from->secrets, from->n_secrets);
        e->n_secrets = from->n_secrets;
        e->pool = from->pool;
        index_pools(a, from, e);
        index->entries[index->n_entries++] = e;
    }
    index->log = arena_strdup(a, c->tree->log);
    index->url = arena_strdup(a, c->tree->place.url);
    index->commit = arena_strdup(a, c->tree->place.commit);
    index->version = arena_strdup(a, c->tree->place.version);
    index->commits = copy_texts(a, (char *const *)c->tree->commits, c->tree->commit_count);
    index->n_commits = c->tree->commit_count;
    return index;
}

static void check_path(const struct definition_compiler *c, const char *path)
{
    bool found = false;
    for (size_t i = 0; i < c->tree->count; i++) {
        found = found || strcmp(c->tree->parts[i].path, path) == 0;
    }
    if (!found && c->faults->count == 0) {
        definition_fault(c->arena, c->faults, "%s: there is no such component in the definition",
                         path);
    }
}

static void check_sizes(const struct definition_compiler *c, const struct definition_records *r)
{
    size_t bytes = 0;
    for (size_t i = 0; i < r->count; i++) {
        bytes += board__component_record__get_packed_size(r->components[i]);
    }
    if (bytes > DEFINITION_TREE_BYTES_MAX) {
        definition_fault(c->arena, c->faults, "the definition is larger than %d MiB",
                         DEFINITION_TREE_BYTES_MAX >> 20);
    }
    if (board__index_record__get_packed_size(r->index) > DEFINITION_INDEX_BYTES_MAX) {
        definition_fault(c->arena, c->faults,
                         "the list of its components is larger than %d KiB: shorten paths",
                         DEFINITION_INDEX_BYTES_MAX >> 10);
    }
    bytes = 0;
    for (size_t i = 0; i < r->index->n_commits; i++) {
        bytes += strlen(r->index->commits[i]);
    }
    if (bytes > DEFINITION_COMMITS_BYTES_MAX) {
        definition_fault(c->arena, c->faults,
                         "the list of the repositories that it is read from is larger than %d KiB: "
                         "refer to fewer, or by shorter URLs",
                         DEFINITION_COMMITS_BYTES_MAX >> 10);
    }
}

void definition_compile(struct arena *a, struct definition_tree *tree,
                        const struct definition_target *target, struct definition_records *ret)
{
    struct definition_compiler c = {
        .arena = a, .tree = tree, .target = target, .faults = &tree->faults};
    const char *path = target->path && *target->path ? target->path : "/";
    *ret = (struct definition_records){.components =
                                           ARENA_ARRAY(a, tree->count, Board__ComponentRecord *)};
    for (size_t i = 0; i < tree->count; i++) {
        if (component_path_within(tree->parts[i].path, path)) {
            ret->components[ret->count++] = make_record(&c, &tree->parts[i]);
        }
    }
    check_path(&c, path);
    ret->index = make_index(&c, path, ret);
    check_sizes(&c, ret);
    assert(ret->index && ret->count <= tree->count);
}
