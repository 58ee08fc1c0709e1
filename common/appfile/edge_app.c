#include "common/appfile/edge_app.h"

#include "common/appfile/app.h"
#include "common/appfile/app_keys.h"
#include "common/codec/nearest.h"
#include "common/model/edge_name.h"

#include <stdlib.h>
#include <string.h>

/* ---- Keys ------------------------------------------------------------------------------------ */

static const char *const own_keys[] = {
    "organization", "version", "flavor", "public_ports", "scale_with_cluster", "auto_delete", NULL,
};

/* Keys of app files that have no place here, and who says it instead. */
static const struct edge_foreign_key {
    const char *name, *why;
} foreign_keys[] = {
    {"memory", "is the flavor's to say"},
    {"memory_mb", "is the flavor's to say"},
    {"disk", "is the flavor's to say"},
    {"disk_mb", "is the flavor's to say"},
    {"instances", "is the centre's to say: one, or with scale_with_cluster one a node"},
    {"domain", "is the site's to say"},
    {"routes", "is the centre's to say: public_ports names what is opened"},
};

static bool is_own(const char *key)
{
    for (size_t i = 0; own_keys[i]; i++) {
        if (strcmp(own_keys[i], key) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_of_apps(const char *key)
{
    size_t count;
    const struct app_key *all = app_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if ((all[i].places & KEY_APP) && strcmp(all[i].name, key) == 0) {
            return true;
        }
    }
    return false;
}

/* The key of ours that was probably meant; NULL where one of app files is nearer, or none is near:
 * that is for app_to_api() to say. */
static const char *own_key_meant(const char *key)
{
    size_t count;
    const struct app_key *all = app_keys(&count);
    struct nearest n;
    nearest_begin(&n, key);
    for (size_t i = 0; i < count; i++) {
        nearest_consider(&n, (all[i].places & KEY_APP) ? all[i].name : NULL);
    }
    for (size_t i = 0; own_keys[i]; i++) {
        nearest_consider(&n, own_keys[i]);
    }
    return n.best && is_own(n.best) ? n.best : NULL;
}

/* `rest` is what app_definition() reads: the map without our keys. */
static int divide(const struct app_source *s, const struct node *from, struct node *rest)
{
    *rest = *from;
    rest->count = 0;
    rest->keys = ARENA_ARRAY(s->arena, from->count, const char *);
    rest->items = ARENA_ARRAY(s->arena, from->count, struct node *);
    for (size_t i = 0; i < from->count; i++) {
        const char *key = from->keys[i];
        const char *meant = is_own(key) || is_of_apps(key) ? NULL : own_key_meant(key);
        if (meant) {
            return app_mistake(s, from->items[i], key,
                               arena_printf(s->arena, "unknown key; did you mean \"%s\"?", meant));
        }
        for (size_t k = 0; k < sizeof(foreign_keys) / sizeof(foreign_keys[0]); k++) {
            if (strcmp(foreign_keys[k].name, key) == 0 && from->items[i]->kind != NODE_NULL) {
                return app_mistake(s, from->items[i], key, foreign_keys[k].why);
            }
        }
        if (!is_own(key)) {
            rest->keys[rest->count] = key;
            rest->items[rest->count++] = from->items[i];
        }
    }
    return 0;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static int read_text(const struct app_source *s, const struct node *from, const char *key,
                     const char *missing, char **ret)
{
    const struct node *v = node_given(from, key);
    if (!v || !node_is_scalar(v) || !*v->text) {
        return app_mistake(s, v ? v : from, key, v ? "must be a text" : missing);
    }
    *ret = arena_strdup(s->arena, v->text);
    return 0;
}

static int read_flag(const struct app_source *s, const struct node *from, const char *key,
                     protobuf_c_boolean *ret)
{
    const struct node *v = node_given(from, key);
    if (v && v->kind != NODE_TRUE && v->kind != NODE_FALSE) {
        return app_mistake(s, v, key, "must be true or false");
    }
    *ret = v && v->kind == NODE_TRUE;
    return 0;
}

/* Of at most five digits: 0 = it is none. Their bounds are the bbs's to check. */
static uint32_t read_number(const char **at)
{
    size_t size = strspn(*at, "0123456789");
    uint32_t value = size > 0 && size <= 5 ? (uint32_t)strtoul(*at, NULL, 10) : 0;
    *at += size;
    return value;
}

static bool read_port(const char *text, Board__EdgePort *p)
{
    p->internal = read_number(&text);
    bool sound = p->internal > 0;
    if (sound && *text == '-') {
        text++;
        p->last = read_number(&text);
        sound = p->last > p->internal;
    }
    bool udp = strcmp(text, "/udp") == 0;
    p->protocol = udp ? BOARD__EDGE_PORT__PROTOCOL__UDP : BOARD__EDGE_PORT__PROTOCOL__TCP;
    return sound && (udp || !*text || strcmp(text, "/tcp") == 0);
}

static int read_ports(const struct app_source *s, const struct node *from, Board__EdgeAppSpec *spec)
{
    const struct node *v = node_given(from, "public_ports");
    bool list = v && v->kind == NODE_LIST;
    size_t count = list ? v->count : v ? 1 : 0;
    spec->ports = ARENA_ARRAY(s->arena, count, Board__EdgePort *);
    for (size_t i = 0; i < count; i++) {
        const struct node *one = list ? v->items[i] : v;
        Board__EdgePort *port = arena_message(s->arena, &board__edge_port__descriptor);
        if (!node_is_scalar(one) || !read_port(one->text, port)) {
            return app_mistake(s, one, "public_ports",
                               "must be a port or a list of ports, like 8080, 53/udp or "
                               "8000-8010, from 1 to 65535");
        }
        spec->ports[spec->n_ports++] = port;
    }
    return 0;
}

/* ---- Apps ------------------------------------------------------------------------------------ */

struct edge_parse {
    struct app_source source;
    struct edge_app *apps;
    size_t count;
};

static int read_name(const struct app_source *s, const struct node *from, char **ret)
{
    char *organization = NULL, *name = NULL, *version = NULL;
    int r = read_text(s, from, "organization", "is missing: whose app is it?", &organization);
    r = r < 0 ? r : read_text(s, from, "name", "is missing: what is the app called?", &name);
    r = r < 0 ? r : read_text(s, from, "version", "is missing: which version is it?", &version);
    if (r < 0) {
        return r;
    }
    *ret = arena_printf(s->arena, "%s/%s/%s", organization, name, version);
    const char *fault = edge_name_fault(s->arena, RECORD_APP, *ret);
    return fault ? app_mistake(s, node_given(from, "name"), "name", fault) : 0;
}

/* What the centre and the site say is left out: a bbs refuses it from a client. */
static void leave_out(Models__DesiredLRP *lrp)
{
    static const Models__DesiredLRP none = MODELS__DESIRED_LRP__INIT;
    lrp->process_guid = none.process_guid;
    lrp->domain = none.domain;
    lrp->owner = NULL;
    lrp->instances = lrp->memory_mb = lrp->disk_mb = 0;
    lrp->routes = NULL;
    lrp->slice = none.slice;
}

static int read_app(const struct app_source *s, const struct node *from,
                    Board__EdgeAppRevisionRecord *r)
{
    struct node rest = {0};
    Board__EdgeAppSpec *spec = arena_message(s->arena, &board__edge_app_spec__descriptor);
    r->spec = spec;
    int e = divide(s, from, &rest);
    e = e < 0 ? e : read_name(s, from, &r->name);
    e = e < 0 ? e : read_text(s, from, "flavor", "is missing: how large is it?", &spec->flavor);
    e = e < 0 ? e : read_ports(s, from, spec);
    e = e < 0 ? e : read_flag(s, from, "scale_with_cluster", &spec->scale_with_cluster);
    e = e < 0 ? e : read_flag(s, from, "auto_delete", &spec->auto_delete);
    e = e < 0 ? e
              : app_definition(s, &rest, "edge", node_given(from, "name")->text, &r->definition);
    if (e == 0) {
        leave_out(r->definition);
    }
    return e;
}

static int add_app(struct edge_parse *p, const struct node *from)
{
    const struct app_source *s = &p->source;
    if (from->kind != NODE_MAP) {
        return app_mistake(s, from, "app", "must be a map with the keys of an app");
    }
    if (p->count == APPS_MAX) {
        return err_set(s->err, ERR_TOO_LARGE, "%s: more than %d apps" NODE_DIVIDE, s->file,
                       APPS_MAX);
    }
    struct edge_app app = {.line = from->line};
    app.revision = arena_message(s->arena, &board__edge_app_revision_record__descriptor);
    int r = read_app(s, from, app.revision);
    for (size_t i = 0; r == 0 && i < p->count; i++) {
        if (strcmp(p->apps[i].revision->name, app.revision->name) == 0) {
            r = err_set(s->err, ERR_INVALID, "%s:%u: name: %.90s stands at line %u already",
                        s->file, from->line, app.revision->name, p->apps[i].line);
        }
    }
    if (r == 0) {
        p->apps[p->count++] = app;
    }
    return r;
}

static int add_document(struct edge_parse *p, const struct node *document)
{
    const struct node *list = node_member(document, "apps");
    if (document->kind == NODE_NULL) {
        return 0; /* "---" with nothing after it */
    }
    if (!list) {
        return add_app(p, document);
    }
    if (list->kind != NODE_LIST || document->count > 1) {
        return app_mistake(&p->source, list, "apps", "must be a list of apps, with nothing beside");
    }
    int r = 0;
    for (size_t i = 0; r == 0 && i < list->count; i++) {
        r = add_app(p, list->items[i]);
    }
    return r;
}

int edge_app_parse(struct arena *a, const char *file, struct bytes text, struct edge_app **ret_apps,
                   size_t *ret_count, struct err *err)
{
    struct node **documents = NULL;
    size_t count = 0;
    int r = appfile_documents(a, file, text, &documents, &count, err);
    struct edge_parse p = {
        .source = {.arena = a, .file = file, .err = err, .type = &models__desired_lrp__descriptor},
        .apps = ARENA_ARRAY(a, APPS_MAX, struct edge_app)};
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = add_document(&p, documents[i]);
    }
    if (r == 0 && p.count == 0) {
        r = err_set(err, ERR_INVALID, "%s: holds no app", file);
    }
    if (r == 0) {
        *ret_apps = p.apps;
        *ret_count = p.count;
    }
    return r;
}
