#include "common/appfile/app.h"

#include "common/appfile/app_keys.h"
#include "common/codec/json.h"
#include "common/codec/json_tree.h"

#include <assert.h>
#include <string.h>

struct parse {
    struct app_source source;
    struct app *apps;
    size_t count;
    const char *domain; /* beside `apps:`, for all of them */
};

bool app_name_is_valid(const char *s)
{
    size_t size = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    return size > 0 && s[0] != '-' && s[size] == 0 && size <= APP_NAME_MAX;
}

static void set_default(json_t *lrp, const char *key, json_t *value)
{
    assert(value); /* which this takes over */
    if (json_object_get(lrp, key)) {
        json_decref(value);
    } else {
        json_object_set_new(lrp, key, value);
    }
}

void app_add_defaults(json_t *lrp, const char *name)
{
    set_default(lrp, "memory_mb", json_integer(APP_DEFAULT_MEMORY_MB));
    set_default(lrp, "disk_mb", json_integer(APP_DEFAULT_DISK_MB));
    set_default(lrp, "egress_rules", app_egress_all());
    set_default(lrp, "log_guid", json_string(name));
    /* The BBS refuses a DesiredLRP without metric tags (behaviour.md 8.1). */
    const char *source = json_string_value(json_object_get(lrp, "metrics_guid"));
    json_t *tags = json_object(), *tag = json_object();
    json_object_set_new(tag, "static", json_string(source && *source ? source : name));
    json_object_set_new(tags, "source_id", tag);
    set_default(lrp, "metric_tags", tags);
}

/* Decodes, and turns the path of a mistake into a line. */
static int decode(const struct app_source *s, const struct node *from, const json_t *lrp,
                  Models__DesiredLRP **ret_lrp)
{
    const char *path = "";
    ProtobufCMessage *m = NULL;
    int r = json_decode_tree(s->arena, &models__desired_lrp__descriptor, lrp,
                             CODEC_STRICT | CODEC_OWN, &m, &path, s->err);
    if (r < 0) {
        const char *what = arena_strdup(s->arena, s->err ? s->err->text : "");
        return app_mistake_of_api(s, from, path, what);
    }
    *ret_lrp = (Models__DesiredLRP *)m;
    return 0;
}

/* Routes are kept as the texts of their JSON. */
static int check_routes(const struct app_source *s, const struct node *from,
                        const Models__ProtoRoutes *routes)
{
    assert(from);
    size_t bytes = 0;
    for (size_t i = 0; routes && i < routes->n_routes; i++) {
        bytes += routes->routes[i]->value.len;
    }
    return bytes <= APP_ROUTES_MAX
               ? 0
               : app_mistake(s, node_given(from, "routes"), "routes",
                             arena_printf(s->arena, "is longer than %d bytes", APP_ROUTES_MAX));
}

static int check(const struct app_source *s, const struct node *from, const Models__DesiredLRP *lrp)
{
    const char **names = ARENA_ARRAY(s->arena, lrp->n_metric_tags, const char *);
    const Models__MetricTagValue **tags =
        ARENA_ARRAY(s->arena, lrp->n_metric_tags, const Models__MetricTagValue *);
    for (size_t i = 0; i < lrp->n_metric_tags; i++) {
        names[i] = lrp->metric_tags[i]->key;
        tags[i] = lrp->metric_tags[i]->value;
    }
    int r = app_check(s, from,
                      &(struct app_said){.domain = lrp->domain,
                                         .root_fs = lrp->root_fs,
                                         .log_guid = lrp->log_guid,
                                         .metrics_guid = lrp->metrics_guid,
                                         .annotation = lrp->annotation,
                                         .action = lrp->action,
                                         .setup = lrp->setup,
                                         .monitor = lrp->monitor,
                                         .sidecars = lrp->sidecars,
                                         .sidecar_count = lrp->n_sidecars,
                                         .checks = lrp->check_definition,
                                         .env = lrp->environment_variables,
                                         .env_count = lrp->n_environment_variables,
                                         .tag_names = names,
                                         .tags = tags,
                                         .tag_count = lrp->n_metric_tags,
                                         .egress = lrp->egress_rules,
                                         .egress_count = lrp->n_egress_rules,
                                         .dependencies = lrp->cached_dependencies,
                                         .dependency_count = lrp->n_cached_dependencies,
                                         .layers = lrp->image_layers,
                                         .layer_count = lrp->n_image_layers,
                                         .legacy_download_user = lrp->legacy_download_user,
                                         .volumes = lrp->volume_mounts,
                                         .volume_count = lrp->n_volume_mounts,
                                         .log_rate = lrp->log_rate_limit,
                                         .image_username = lrp->image_username,
                                         .image_password = lrp->image_password});
    return r < 0 ? r : check_routes(s, from, lrp->routes);
}

Models__Owner *app_owner(struct arena *a, const char *name)
{
    assert(name && *name);
    Models__Owner *owner = arena_message(a, &models__owner__descriptor);
    owner->kind = arena_strdup(a, APP_OWNER_KIND);
    owner->uid = arena_strdup(a, name);
    return owner;
}

int app_definition(const struct app_source *s, const struct node *from, const char *domain,
                   const char *name, Models__DesiredLRP **ret_lrp)
{
    assert(s->type == &models__desired_lrp__descriptor);
    Models__DesiredLRP *lrp = NULL;
    json_t *tree = json_object();
    int r = app_to_api(s, from, tree);
    if (r == 0) {
        set_default(tree, "domain", json_string(domain));
        set_default(tree, "instances", json_integer(1));
        app_add_defaults(tree, name);
        r = decode(s, from, tree, &lrp);
    }
    json_decref(tree);
    r = r < 0 ? r : check(s, from, lrp);
    if (r == 0) {
        *ret_lrp = lrp;
    }
    return r;
}

static int make_lrp(struct parse *p, const struct node *from, const char *name,
                    Models__DesiredLRP **ret_lrp)
{
    const struct app_source *s = &p->source;
    Models__DesiredLRP *lrp = NULL;
    int r = app_definition(s, from, p->domain, name, &lrp);
    if (r < 0) {
        return r;
    }
    lrp->process_guid = arena_strdup(s->arena, app_process_guid(s->arena, name, lrp));
    lrp->owner = app_owner(s->arena, name);
    assert(lrp->owner && *lrp->process_guid);
    *ret_lrp = lrp;
    return 0;
}

static int add_app(struct parse *p, const struct node *from)
{
    const struct app_source *s = &p->source;
    if (from->kind != NODE_MAP) {
        return app_mistake(s, from, "app", "must be a map with the keys of an app");
    }
    const struct node *name = node_given(from, "name");
    if (!name || !node_is_scalar(name) || !app_name_is_valid(name->text)) {
        return app_mistake(s, name ? name : from, "name",
                           name ? APP_NAME_RULE
                                : "is missing: what is the app called?");
    }
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->apps[i].name, name->text) == 0) {
            return err_set(s->err, ERR_INVALID, "%s:%u: name: %.60s stands at line %u already",
                           s->file, name->line, name->text, p->apps[i].line);
        }
    }
    if (p->count == APPS_MAX) {
        return err_set(s->err, ERR_TOO_LARGE, "%s: more than %d apps" NODE_DIVIDE, s->file,
                       APPS_MAX);
    }
    assert(p->count < APPS_MAX && p->domain);
    Models__DesiredLRP *lrp = NULL;
    int r = make_lrp(p, from, name->text, &lrp);
    if (r == 0) {
        p->apps[p->count++] =
            (struct app){.name = name->text,
                         .line = from->line,
                         .instances_given = node_given(from, "instances") != NULL,
                         .lrp = lrp};
    }
    return r;
}

/* A list under `apps:`; a domain beside it is for all of them. */
static int add_list(struct parse *p, const struct node *document, const struct node *list)
{
    p->domain = "default";
    for (size_t i = 0; i < document->count; i++) {
        const struct node *v = document->items[i];
        if (strcmp(document->keys[i], "domain") == 0 && node_is_scalar(v)) {
            int r = v->kind == NODE_NULL ? 0 : app_check_domain(&p->source, v, v->text);
            if (r < 0) {
                return r;
            }
            p->domain = v->kind == NODE_NULL ? p->domain : v->text;
        } else if (v != list) {
            return app_mistake(&p->source, v, document->keys[i],
                               "only domain may stand beside apps");
        }
    }
    if (list->kind != NODE_LIST) {
        return app_mistake(&p->source, list, "apps", "must be a list of apps");
    }
    for (size_t i = 0; i < list->count; i++) {
        int r = add_app(p, list->items[i]);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static int add_document(struct parse *p, const struct node *document)
{
    const struct node *list = node_member(document, "apps");
    if (document->kind == NODE_NULL) {
        return 0; /* "---" with nothing after it */
    }
    p->domain = "default";
    return list ? add_list(p, document, list) : add_app(p, document);
}

static bool ends_with(const char *s, const char *end)
{
    size_t size = strlen(s), end_size = strlen(end);
    return size >= end_size && strcmp(s + size - end_size, end) == 0;
}

int appfile_documents(struct arena *a, const char *file, struct bytes text,
                      struct node ***ret_nodes, size_t *ret_count, struct err *err)
{
    if (text.size > APPFILE_MAX_BYTES) {
        return err_set(err, ERR_TOO_LARGE, "%s: larger than %d MiB" NODE_DIVIDE, file,
                       APPFILE_MAX_BYTES >> 20);
    }
    if (!ends_with(file, ".json")) {
        return node_parse_yaml(a, file, text, ret_nodes, ret_count, err);
    }
    *ret_nodes = ARENA_NEW(a, struct node *);
    *ret_count = 1;
    return node_parse_json(a, file, text, *ret_nodes, err);
}

int appfile_parse(struct arena *a, const char *file, struct bytes text, struct app **ret_apps,
                  size_t *ret_count, struct err *err)
{
    struct node **documents = NULL;
    size_t count = 0;
    int r = appfile_documents(a, file, text, &documents, &count, err);
    struct parse p = {.source = {.arena = a,
                                 .file = file,
                                 .err = err,
                                 .type = &models__desired_lrp__descriptor},
                      .apps = ARENA_ARRAY(a, APPS_MAX, struct app)};
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = add_document(&p, documents[i]);
    }
    if (r == 0 && p.count == 0) {
        r = err_set(err, ERR_INVALID, "%s: holds no app", file);
    }
    if (r == 0) {
        assert(p.count <= APPS_MAX);
        *ret_apps = p.apps;
        *ret_count = p.count;
    }
    return r;
}
