#include "common/appfile/app_keys.h"

#include "common/codec/json_shape.h"
#include "common/codec/nearest.h"
#include "models/desired_lrp.pb-c.h"
#include "models/task.pb-c.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { APP = 1, TASK = 2, BOTH = APP | TASK };

struct key {
    const char *name;
    const char *api; /* the member it becomes: the two may not stand together */
    int (*convert)(const struct app_source *s, const struct key *k, const struct node *v,
                   json_t *lrp);
    int kinds; /* of files that have it */
};

static int convert_command(const struct app_source *s, const struct key *k, const struct node *v,
                           json_t *lrp);
static int convert_env(const struct app_source *s, const struct key *k, const struct node *v,
                       json_t *lrp);
static int convert_image(const struct app_source *s, const struct key *k, const struct node *v,
                         json_t *lrp);
static int convert_rootfs(const struct app_source *s, const struct key *k, const struct node *v,
                          json_t *lrp);
static int convert_size(const struct app_source *s, const struct key *k, const struct node *v,
                        json_t *lrp);
static int convert_ports(const struct app_source *s, const struct key *k, const struct node *v,
                         json_t *lrp);
static int convert_tags(const struct app_source *s, const struct key *k, const struct node *v,
                        json_t *lrp);
static int convert_policy(const struct app_source *s, const struct key *k, const struct node *v,
                          json_t *lrp);
static int convert_nothing(const struct app_source *s, const struct key *k, const struct node *v,
                           json_t *lrp);
static int refuse(const struct app_source *s, const struct key *k, const struct node *v,
                  json_t *lrp);

static const struct key keys[] = {
    {"name", "", convert_nothing, BOTH},
    {"command", "action", convert_command, BOTH},
    {"user", "", convert_nothing, BOTH}, /* these two go with command */
    {"dir", "", convert_nothing, BOTH},
    {"env", "env", convert_env, BOTH},
    {"image", "rootfs", convert_image, BOTH},
    {"rootfs", "rootfs", convert_rootfs, BOTH},
    {"memory", "memory_mb", convert_size, BOTH},
    {"disk", "disk_mb", convert_size, BOTH},
    {"ports", "ports", convert_ports, APP},
    {"metric_tags", "metric_tags", convert_tags, BOTH},
    {"on_cell_loss", "on_cell_loss", convert_policy, APP},
    {"on_evacuate", "on_evacuate", convert_policy, APP},
    {"process_guid", "", refuse, APP},
    {"modification_tag", "", refuse, APP},
    {"task_guid", "", convert_nothing, TASK}, /* these are read by task_app.c */
    {"domain", "", convert_nothing, TASK},
    {"max_retries", "", convert_nothing, TASK},
    {"keep", "", convert_nothing, TASK},
};

enum { KEY_COUNT = sizeof(keys) / sizeof(keys[0]) };

int app_mistake(const struct app_source *s, const struct node *at, const char *key,
                const char *what)
{
    return err_set(s->err, ERR_INVALID, "%s:%u: %.100s: %s", s->file, at->line, key, what);
}

static int put(const struct app_source *s, const struct key *k, const struct node *at, json_t *lrp,
               json_t *value)
{
    if (!value) {
        return app_mistake(s, at, k->name, "is not UTF-8");
    }
    if (json_object_get(lrp, k->api)) {
        json_decref(value);
        return app_mistake(s, at, k->name, "is said already, by another key");
    }
    json_object_set_new(lrp, k->api, value);
    return 0;
}

static int convert_nothing(const struct app_source *s, const struct key *k, const struct node *v,
                           json_t *lrp)
{
    (void)lrp;
    return node_is_scalar(v) ? 0 : app_mistake(s, v, k->name, "must be a text");
}

static int refuse(const struct app_source *s, const struct key *k, const struct node *v,
                  json_t *lrp)
{
    (void)lrp;
    return app_mistake(s, v, k->name, "is made by corkboard; give the app a \"name\"");
}

/* path and args of the run action. */
static int command_words(const struct app_source *s, const struct node *v, json_t *run)
{
    json_t *args = json_array();
    json_object_set_new(run, "args", args);
    if (node_is_scalar(v)) {
        json_object_set_new(run, "path", json_string("/bin/sh"));
        json_array_append_new(args, json_string("-c"));
        json_array_append_new(args, json_string(v->text));
        return *v->text ? 0 : app_mistake(s, v, "command", "must not be empty");
    }
    if (v->kind != NODE_LIST || v->count == 0) {
        return app_mistake(s, v, "command", "must be a text or a list of texts");
    }
    for (size_t i = 0; i < v->count; i++) {
        if (!node_is_scalar(v->items[i])) {
            return app_mistake(s, v->items[i], "command", "must be a list of texts");
        }
        json_t *word = json_string(v->items[i]->text);
        if (!word) {
            return app_mistake(s, v->items[i], "command", "is not UTF-8");
        }
        if (i == 0) {
            json_object_set_new(run, "path", word);
        } else {
            json_array_append_new(args, word);
        }
    }
    return *v->items[0]->text ? 0 : app_mistake(s, v, "command", "must begin with a program");
}

static int convert_command(const struct app_source *s, const struct key *k, const struct node *v,
                           json_t *lrp)
{
    json_t *action = json_object(), *run = json_object();
    json_object_set_new(action, "run", run);
    int r = command_words(s, v, run);
    if (r < 0) {
        json_decref(action);
        return r;
    }
    return put(s, k, v, lrp, action);
}

static int convert_env(const struct app_source *s, const struct key *k, const struct node *v,
                       json_t *lrp)
{
    if (v->kind == NODE_LIST && (v->count == 0 || v->items[0]->kind == NODE_MAP)) {
        return put(s, k, v, lrp, node_to_json(v)); /* as in the API */
    }
    if (v->kind != NODE_MAP) {
        return app_mistake(s, v, k->name, "must be a map, like {KEY: value}");
    }
    json_t *list = json_array();
    for (size_t i = 0; i < v->count; i++) {
        if (!node_is_scalar(v->items[i])) {
            json_decref(list);
            return app_mistake(s, v->items[i], arena_printf(s->arena, "env.%s", v->keys[i]),
                               "must be a text");
        }
        json_t *variable = json_object();
        json_object_set_new(variable, "name", json_string(v->keys[i]));
        json_object_set_new(variable, "value", json_string(v->items[i]->text));
        json_array_append_new(list, variable);
    }
    return put(s, k, v, lrp, list);
}

static bool has_scheme(const char *url)
{
    if (!isalpha((unsigned char)*url)) {
        return false;
    }
    size_t size = strspn(url, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
    /* "busybox:1.36" is an image with a tag, "preloaded:busybox" is not. */
    return url[size] == ':' && (strncmp(url, "preloaded", 9) == 0 || url[size + 1] == '/');
}

static int convert_rootfs(const struct app_source *s, const struct key *k, const struct node *v,
                          json_t *lrp)
{
    if (!node_is_scalar(v) || !has_scheme(v->text)) {
        return app_mistake(s, v, k->name,
                           "needs a scheme, like preloaded:busybox or docker:///library/busybox");
    }
    return put(s, k, v, lrp, json_string(v->text));
}

/* "busybox", "user/app:tag" and "host.tld/user/app:tag" as Docker writes them: DesiredLRP wants
 * docker:///library/busybox, docker:///user/app#tag, docker://host.tld/user/app#tag. A digest
 * ("app@sha256:...") stays as it is. */
static int convert_image(const struct app_source *s, const struct key *k, const struct node *v,
                         json_t *lrp)
{
    if (!node_is_scalar(v) || !*v->text) {
        return app_mistake(s, v, k->name, "must be the name of an image");
    }
    if (has_scheme(v->text)) {
        return put(s, k, v, lrp, json_string(v->text));
    }
    const char *slash = strchr(v->text, '/');
    size_t first = slash ? (size_t)(slash - v->text) : 0;
    bool host = slash && (memchr(v->text, '.', first) || memchr(v->text, ':', first) ||
                          strncmp(v->text, "localhost/", 10) == 0);
    char *url = arena_printf(s->arena, "docker://%s%s%s", host ? "" : "/", slash ? "" : "library/",
                             v->text);
    char *tag = strrchr(url, ':');
    if (tag > strrchr(url, '/') && !strchr(url, '@')) {
        *tag = '#';
    }
    return put(s, k, v, lrp, json_string(url));
}

/* A plain number is megabytes; K, M, G and T may follow, with B or iB. */
static bool read_size(const char *text, int64_t *ret_mb)
{
    static const char units[] = "KMGT";
    char *end;
    double value = strtod(text, &end);
    if (end == text || !isdigit((unsigned char)*text)) {
        return false;
    }
    end += strspn(end, " ");
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : &units[1];
    if (!unit) {
        return false;
    }
    end += *end != 0;
    if (*end && strcasecmp(end, "b") != 0 && strcasecmp(end, "ib") != 0) {
        return false;
    }
    value = *unit == 'K' ? value / 1024 : *unit == 'M' ? value : value * 1024;
    value = *unit == 'T' ? value * 1024 : value;
    if (!(value >= 0 && value <= INT32_MAX)) {
        return false;
    }
    *ret_mb = (int64_t)value + ((double)(int64_t)value < value);
    return true;
}

static int convert_size(const struct app_source *s, const struct key *k, const struct node *v,
                        json_t *lrp)
{
    int64_t mb;
    if (!node_is_scalar(v) || !read_size(v->text, &mb)) {
        return app_mistake(s, v, k->name, "must be a size, like 64M or 1G");
    }
    return put(s, k, v, lrp, json_integer(mb));
}

static int convert_ports(const struct app_source *s, const struct key *k, const struct node *v,
                         json_t *lrp)
{
    size_t count = v->kind == NODE_LIST ? v->count : 1;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct node *port = v->kind == NODE_LIST ? v->items[i] : v;
        if (port->kind != NODE_INTEGER || port->integer < 1 || port->integer > 65535) {
            json_decref(list);
            return app_mistake(s, port, k->name, "must be numbers from 1 to 65535");
        }
        json_array_append_new(list, json_integer(port->integer));
    }
    return put(s, k, v, lrp, list);
}

static int convert_tags(const struct app_source *s, const struct key *k, const struct node *v,
                        json_t *lrp)
{
    if (v->kind != NODE_MAP) {
        return app_mistake(s, v, k->name, "must be a map from tag to value");
    }
    json_t *tags = json_object();
    for (size_t i = 0; i < v->count; i++) {
        const struct node *value = v->items[i];
        json_t *tag = node_is_scalar(value) ? json_object() : node_to_json(value);
        if (tag && node_is_scalar(value)) {
            json_object_set_new(tag, "static", json_string(value->text));
        }
        if (!tag || json_object_set_new(tags, v->keys[i], tag) < 0) {
            json_decref(tags);
            return app_mistake(s, value, k->name, "is not UTF-8");
        }
    }
    return put(s, k, v, lrp, tags);
}

/* One of the enum's names, in small letters as people write them. */
static int convert_policy(const struct app_source *s, const struct key *k, const struct node *v,
                          json_t *lrp)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(&models__desired_lrp__descriptor, k->api);
    const ProtobufCEnumDescriptor *words = field->descriptor;
    const char *known = "";
    for (unsigned i = 0; i < words->n_values; i++) {
        const char *name = words->values[i].name;
        if (node_is_scalar(v) && strcasecmp(v->text, name) == 0) {
            return put(s, k, v, lrp, json_string(name));
        }
        known = arena_printf(s->arena, "%s%s%s", known, i ? " or " : "", name);
    }
    for (char *c = (char *)known; *c; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    return app_mistake(s, v, k->name, arena_printf(s->arena, "must be %s", known));
}

static int kind_of(const struct app_source *s)
{
    return s->type == &models__desired_lrp__descriptor ? APP : TASK;
}

static bool is_api_key(const struct json_shape *shape, const char *name)
{
    for (unsigned i = 0; i < shape->descriptor->n_fields; i++) {
        if (!json_field_is_own(&shape->fields[i]) && strcmp(shape->fields[i].key, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether the other kind of file has it: then the file was given to the wrong command. */
static bool is_key_of_the_other(const struct app_source *s, const char *name)
{
    struct json_shapes shapes = {.arena = s->arena};
    int other = BOTH & ~kind_of(s);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, name) == 0) {
            return keys[i].convert != refuse && (keys[i].kinds & other);
        }
    }
    return is_api_key(json_shape_of(&shapes, other == APP ? &models__desired_lrp__descriptor
                                                          : &models__task_definition__descriptor),
                      name);
}

static int unknown_key(const struct app_source *s, const struct node *at, const char *name,
                       const struct json_shape *shape)
{
    struct nearest n;
    if (is_key_of_the_other(s, name)) {
        return app_mistake(s, at, name,
                           kind_of(s) == APP
                               ? "stands in a task, which bbs run takes; this is an app"
                               : "stands in an app, which bbs apply takes; this is a "
                                 "task");
    }
    nearest_begin(&n, name);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        bool known = keys[i].convert != refuse && (keys[i].kinds & kind_of(s));
        nearest_consider(&n, known ? keys[i].name : NULL);
    }
    for (unsigned i = 0; i < shape->descriptor->n_fields; i++) {
        nearest_consider(&n, json_field_is_own(&shape->fields[i]) ? NULL : shape->fields[i].key);
    }
    const char *what = n.best ? arena_printf(s->arena, "unknown key; did you mean \"%s\"?", n.best)
                              : arena_printf(s->arena, "unknown key; see bbs %s --help",
                                             kind_of(s) == APP ? "apply" : "run");
    return app_mistake(s, at, name, what);
}

static int convert_member(const struct app_source *s, const struct json_shape *shape,
                          const char *name, const struct node *v, json_t *lrp)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, name) == 0 && (keys[i].kinds & kind_of(s))) {
            return keys[i].convert(s, &keys[i], v, lrp);
        }
    }
    if (!is_api_key(shape, name)) {
        return unknown_key(s, v, name, shape);
    }
    const struct key api = {.name = name, .api = name};
    return put(s, &api, v, lrp, node_to_json(v));
}

/* user and dir go to the run action that command made. */
static int complete_command(const struct app_source *s, const struct node *app, json_t *lrp)
{
    const struct node *command = node_member(app, "command");
    const struct node *user = node_member(app, "user"), *dir = node_member(app, "dir");
    if (!command) {
        return user  ? app_mistake(s, user, "user", "goes with command; say it in the action")
               : dir ? app_mistake(s, dir, "dir", "goes with command; say it in the action")
                     : 0;
    }
    json_t *run = json_object_get(json_object_get(lrp, "action"), "run");
    json_object_set_new(run, "user", json_string(user ? user->text : "root"));
    if (dir) {
        json_object_set_new(run, "dir", json_string(dir->text));
    }
    return 0;
}

int app_to_api(const struct app_source *s, const struct node *app, json_t *lrp)
{
    struct json_shapes shapes = {.arena = s->arena};
    const struct json_shape *shape = json_shape_of(&shapes, s->type);
    for (size_t i = 0; i < app->count; i++) {
        int r = convert_member(s, shape, app->keys[i], app->items[i], lrp);
        if (r < 0) {
            return r;
        }
    }
    return complete_command(s, app, lrp);
}
