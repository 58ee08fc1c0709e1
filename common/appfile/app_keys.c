#include "common/appfile/app_keys.h"

#include "common/appfile/app.h"
#include "common/appfile/task_app.h"
#include "common/codec/nearest.h"
#include "common/model/image_name.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CONVERTER(name)                                                                            \
    static int convert_##name(const struct app_source *s, const struct app_key *k,                 \
                              const struct node *v, json_t *definition)
CONVERTER(nothing);
CONVERTER(as_in_the_api);
CONVERTER(command);
CONVERTER(action);
CONVERTER(env);
CONVERTER(texts);
CONVERTER(egress);
CONVERTER(rootfs);
CONVERTER(image);
CONVERTER(args);
CONVERTER(size);
CONVERTER(weight);
CONVERTER(ports);
CONVERTER(tags);
CONVERTER(layers);
CONVERTER(policy);
CONVERTER(refused);
CONVERTER(made);

static const struct app_key keys[] = {
#define KEY(places, name, member, converter, inside, least, most, value, otherwise, meaning)       \
    {name,  KEY_##places, member,    convert_##converter, KEY_##inside, least, most,               \
     value, otherwise,    meaning,   NULL,                NULL},
#define REFUSED(places, name, why)                                                                 \
    {name, KEY_##places, "", convert_refused, KEY_NOWHERE, 0, 0, NULL, NULL, NULL, why, NULL},
#define MADE(places, name, what)                                                                   \
    {name, KEY_##places, "", convert_made, KEY_NOWHERE, 0, 0, NULL, NULL, NULL, NULL, what},
#include "common/appfile/app_keys.def"
};

enum { KEY_COUNT = sizeof(keys) / sizeof(keys[0]) };

const struct app_key *app_keys(size_t *ret_count)
{
    *ret_count = KEY_COUNT;
    return keys;
}

/* `compare` gives 0 for names that are the same. */
static const struct app_key *find_key(const char *name, unsigned place,
                                      int (*compare)(const char *x, const char *y))
{
    assert(name && place);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if ((keys[i].places & place) && compare(keys[i].name, name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

int app_mistake(const struct app_source *s, const struct node *at, const char *key,
                const char *what)
{
    assert(at && key && what);
    return err_set(s->err, ERR_INVALID, "%s:%u: %.100s: %s", s->file, at->line, key, what);
}

/* 0 is no limit, or none. */
static int check_bounds(const struct app_source *s, const struct app_key *k, const struct node *at,
                        int64_t value)
{
    assert(k->least <= k->most);
    if ((k->least == 0 && k->most == 0) || value == 0) {
        return 0;
    }
    if (value < 0) {
        return app_mistake(s, at, k->name, "must not be negative");
    }
    if (value > k->most) {
        return app_mistake(s, at, k->name,
                           arena_printf(s->arena, "must be %lld at most", (long long)k->most));
    }
    return value < k->least
               ? app_mistake(s, at, k->name,
                             arena_printf(s->arena,
                                          "must be %lld MB at least, which a container needs to "
                                          "begin, or 0 for no limit",
                                          (long long)k->least))
               : 0;
}

static int put(const struct app_source *s, const struct app_key *k, const struct node *at,
               json_t *definition, json_t *value)
{
    assert(*k->member); /* a key that makes nothing has none */
    if (!value) {
        return app_mistake(s, at, k->name, "is not UTF-8");
    }
    if (json_object_get(definition, k->member)) {
        json_decref(value);
        return app_mistake(s, at, k->name, "is said already, by another key");
    }
    int64_t number = json_is_integer(value) ? json_integer_value(value) : 0;
    json_object_set_new(definition, k->member, value);
    return check_bounds(s, k, at, number);
}

CONVERTER(nothing)
{
    (void)definition;
    return node_is_scalar(v) ? 0 : app_mistake(s, v, k->name, "must be a text");
}

CONVERTER(made)
{
    (void)definition;
    return app_mistake(s, v, k->name, k->made);
}

/* Whether the value asks for something: an API's own JSON has the members that are not used, too.
 */
static bool asks_for_something(const struct node *v)
{
    switch (v->kind) {
    case NODE_NULL:
    case NODE_FALSE:
        return false;
    case NODE_INTEGER:
        return v->integer != 0;
    case NODE_TEXT:
        return *v->text != 0;
    case NODE_LIST:
        return v->count > 0;
    default:
        return true;
    }
}

static int refuse(const struct app_source *s, const char *path, const struct app_key *k,
                  const struct node *v)
{
    assert(k->refused);
    return asks_for_something(v)
               ? app_mistake(s, v, path,
                             arena_printf(s->arena, "no cell can do it yet: %s", k->refused))
               : 0;
}

CONVERTER(refused)
{
    (void)definition;
    return refuse(s, k->name, k, v);
}

json_t *app_egress_all(void)
{
    return json_pack("[{s:s, s:[s]}]", "protocol", "all", "destinations", "0.0.0.0/0");
}

/* What stands in a value may be what no cell can do. Mistakes are left to whoever decodes it, and
 * reads keys without regard to case. */
static int check_inside(const struct app_source *s, const char *path, const struct node *v,
                        enum app_key_place place)
{
    if (place == KEY_NOWHERE) {
        return 0;
    }
    for (size_t i = 0; v->kind == NODE_LIST && i < v->count; i++) {
        int r = check_inside(s, arena_printf(s->arena, "%s[%zu]", path, i), v->items[i], place);
        if (r < 0) {
            return r;
        }
    }
    for (size_t i = 0; v->kind == NODE_MAP && i < v->count; i++) {
        const struct app_key *k = find_key(v->keys[i], place, strcasecmp);
        const char *inner = arena_printf(s->arena, "%s.%s", path, v->keys[i]);
        int r = !k           ? 0
                : k->refused ? refuse(s, inner, k, v->items[i])
                             : check_inside(s, inner, v->items[i], k->inside);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

CONVERTER(as_in_the_api)
{
    return put(s, k, v, definition, node_to_json(v));
}

CONVERTER(action)
{
    int r = check_inside(s, k->name, v, k->inside);
    return r < 0 ? r : convert_as_in_the_api(s, k, v, definition);
}

/* Whoever decodes it reads keys without regard to case. */
static void put_if_left_out(json_t *map, const char *name, const char *value)
{
    const char *key;
    json_t *given;
    json_object_foreach(map, key, given) {
        if (strcasecmp(key, name) == 0 && !json_is_null(given)) {
            return;
        }
    }
    json_object_set_new(map, name, json_string(value));
}

/* The API wants both said. */
CONVERTER(layers)
{
    int r = check_inside(s, k->name, v, k->inside);
    json_t *list = r < 0 ? NULL : node_to_json(v), *layer;
    size_t i;
    json_array_foreach(list, i, layer) {
        if (json_is_object(layer)) {
            put_if_left_out(layer, "layer_type", "SHARED");
            put_if_left_out(layer, "media_type", "TGZ");
        }
    }
    return r < 0 ? r : put(s, k, v, definition, list);
}

/* path and args of the run action. */
static int command_words(const struct app_source *s, const struct node *v, json_t *run)
{
    assert(run && json_object_size(run) == 0);
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

CONVERTER(command)
{
    json_t *action = json_object(), *run = json_object();
    json_object_set_new(action, "run", run);
    int r = command_words(s, v, run);
    if (r < 0) {
        json_decref(action);
        return r;
    }
    return put(s, k, v, definition, action);
}

/* The API's list, in which a number is a text as written, too: {name: PORT, value: 8080}. */
static json_t *env_list(const struct node *v)
{
    json_t *list = node_to_json(v);
    for (size_t i = 0; list && i < v->count; i++) {
        const struct node *value = node_member(v->items[i], "value");
        if (value && node_is_scalar(value) && value->kind != NODE_NULL) {
            json_object_set_new(json_array_get(list, i), "value", json_string(value->text));
        }
    }
    return list;
}

/* Texts, in YAML often without quotes: [1.10, ssd] is "1.10" and "ssd". */
CONVERTER(texts)
{
    if (v->kind != NODE_LIST) {
        return app_mistake(s, v, k->name, "must be a list of texts, like [ssd, zone-1]");
    }
    json_t *list = json_array();
    for (size_t i = 0; i < v->count; i++) {
        const struct node *item = v->items[i];
        bool text = node_is_scalar(item) && item->kind != NODE_NULL;
        if (!text || json_array_append_new(list, json_string(item->text)) < 0) {
            json_decref(list);
            return app_mistake(s, item, arena_printf(s->arena, "%s[%zu]", k->name, i),
                               text ? "is not UTF-8" : "must be a text");
        }
    }
    return put(s, k, v, definition, list);
}

CONVERTER(env)
{
    if (v->kind == NODE_LIST && (v->count == 0 || v->items[0]->kind == NODE_MAP)) {
        return put(s, k, v, definition, env_list(v));
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
    return put(s, k, v, definition, list);
}

/* They become a member later: complete_command(). */
CONVERTER(args)
{
    (void)definition;
    for (size_t i = 0; v->kind == NODE_LIST && i < v->count; i++) {
        if (!node_is_scalar(v->items[i])) {
            return app_mistake(s, v->items[i], k->name, "must be a list of texts");
        }
        json_t *word = json_string(v->items[i]->text);
        if (!word) {
            return app_mistake(s, v->items[i], k->name, "is not UTF-8");
        }
        json_decref(word);
    }
    return v->kind == NODE_LIST ? 0 : app_mistake(s, v, k->name, "must be a list of texts");
}

CONVERTER(egress)
{
    const char *word = node_is_scalar(v) ? v->text : "";
    if (strcmp(word, "all") == 0) {
        return put(s, k, v, definition, app_egress_all());
    }
    if (strcmp(word, "none") == 0) {
        return put(s, k, v, definition, json_array());
    }
    return v->kind == NODE_LIST
               ? put(s, k, v, definition, node_to_json(v))
               : app_mistake(s, v, k->name, "must be all, none, or a list of rules");
}

CONVERTER(rootfs)
{
    static const char forms[] = "must be preloaded:NAME, of a NAME in bbs cells, or the name of an "
                                "image, as in image: busybox:1.36";
    struct image_name name;
    struct err why;
    if (!node_is_scalar(v) || !strchr(v->text, ':')) {
        return app_mistake(s, v, k->name, forms);
    }
    if (image_name_parse(s->arena, v->text, &name, &why) < 0) {
        return app_mistake(s, v, k->name, arena_strdup(s->arena, why.text));
    }
    return name.scheme != IMAGE_PRELOADED || *name.name
               ? put(s, k, v, definition, json_string(v->text))
               : app_mistake(s, v, k->name, forms);
}

CONVERTER(image)
{
    const char *name = NULL;
    struct err why;
    if (!node_is_scalar(v) || !*v->text) {
        return app_mistake(s, v, k->name,
                           "must be [HOST/]REPOSITORY[:TAG][@DIGEST], as in busybox:1.36");
    }
    if (image_name_of(s->arena, v->text, &name, &why) < 0) {
        return app_mistake(s, v, k->name, arena_strdup(s->arena, why.text));
    }
    return image_name_is_pulled(name)
               ? put(s, k, v, definition, json_string(name))
               : app_mistake(s, v, k->name, "is no image; say rootfs");
}

/* "1", "1.5": digits, and digits after a point. Gives its letters, 0 when it is none. */
static size_t number_size(const char *text)
{
    static const char digits[] = "0123456789";
    size_t whole = strspn(text, digits);
    size_t part = whole && text[whole] == '.' ? strspn(text + whole + 1, digits) : 0;
    assert(whole + part <= strlen(text));
    return part ? whole + 1 + part : whole;
}

/* K, M, G or T, with B or iB after it; without one only 0 is clear. */
static bool read_size(const char *text, int64_t *ret_mb)
{
    static const char units[] = "KMGT";
    const char *end = text + number_size(text);
    if (end == text) {
        return false;
    }
    double value = strtod(text, NULL);
    end += strspn(end, " ");
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (!unit) {
        *ret_mb = 0;
        return !*end && value == 0;
    }
    end++;
    if (*end && strcasecmp(end, "b") != 0 && strcasecmp(end, "ib") != 0) {
        return false;
    }
    value = *unit == 'K' ? value / 1024 : *unit == 'M' ? value : value * 1024;
    value = *unit == 'T' ? value * 1024 : value;
    if (!(value >= 0 && value <= INT32_MAX)) {
        return false;
    }
    *ret_mb = (int64_t)value + ((double)(int64_t)value < value);
    assert(*ret_mb >= 0);
    return true;
}

CONVERTER(size)
{
    int64_t mb;
    if (!node_is_scalar(v) || !read_size(v->text, &mb)) {
        bool number = v->kind == NODE_INTEGER || v->kind == NODE_REAL;
        return app_mistake(s, v, k->name,
                           number && *v->text != '-'
                               ? "needs a unit: K, M, G or T, as in 64M"
                               : "must be a size, like 64M or 1G (K, M, G or T)");
    }
    return put(s, k, v, definition, json_integer(mb));
}

/* Who does not want one leaves it out: 0 would say the same in a way that reads like its opposite.
 */
CONVERTER(weight)
{
    if (v->kind != NODE_INTEGER || v->integer < 1 || v->integer > APP_CPU_WEIGHT_MAX) {
        return app_mistake(s, v, k->name,
                           arena_printf(s->arena, "must be a whole number from 1 to %d",
                                        APP_CPU_WEIGHT_MAX));
    }
    return put(s, k, v, definition, json_integer(v->integer));
}

CONVERTER(ports)
{
    size_t count = v->kind == NODE_LIST ? v->count : 1;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct node *port = v->kind == NODE_LIST ? v->items[i] : v;
        if (port->kind != NODE_INTEGER || port->integer < 1 || port->integer > 65535) {
            json_decref(list);
            return app_mistake(s, port, k->name, "must be numbers from 1 to 65535");
        }
        for (size_t other = 0; other < i; other++) {
            if (v->items[other]->integer == port->integer) {
                json_decref(list);
                return app_mistake(s, port, k->name,
                                   arena_printf(s->arena, "%d stands here twice",
                                                (int)port->integer));
            }
        }
        json_array_append_new(list, json_integer(port->integer));
    }
    return put(s, k, v, definition, list);
}

/* A word that is near none is not led to the one that means nothing. Of others the decoder tells.
 */
static int check_dynamic(const struct app_source *s, const char *tag, const struct node *v)
{
    const ProtobufCEnumDescriptor *words = &models__metric_tag_value__dynamic_value__descriptor;
    const char *known = "";
    struct nearest n;
    if (!v || v->kind != NODE_TEXT ||
        protobuf_c_enum_descriptor_get_value_by_name(words, v->text)) {
        return 0;
    }
    nearest_begin(&n, v->text);
    for (unsigned i = 0; i < words->n_values; i++) {
        bool means = words->values[i].value !=
                     MODELS__METRIC_TAG_VALUE__DYNAMIC_VALUE__DynamicValueInvalid;
        nearest_consider(&n, words->values[i].name);
        known = means ? arena_printf(s->arena, "%s%s%s", known, *known ? " or " : "",
                                     words->values[i].name)
                      : known;
    }
    const ProtobufCEnumValue *best =
        n.best ? protobuf_c_enum_descriptor_get_value_by_name(words, n.best) : NULL;
    return best && best->value
               ? 0
               : app_mistake(s, v, arena_printf(s->arena, "metric_tags.%s.dynamic", tag),
                             arena_printf(s->arena, "must be %s", known));
}

CONVERTER(tags)
{
    if (v->kind != NODE_MAP) {
        return app_mistake(s, v, k->name, "must be a map from tag to value");
    }
    json_t *tags = json_object();
    for (size_t i = 0; i < v->count; i++) {
        const struct node *value = v->items[i];
        int r = check_dynamic(s, v->keys[i], node_member(value, "dynamic"));
        if (r < 0) {
            json_decref(tags);
            return r;
        }
        json_t *tag = node_is_scalar(value) ? json_object() : node_to_json(value);
        if (tag && node_is_scalar(value)) {
            json_object_set_new(tag, "static", json_string(value->text));
        }
        if (!tag || json_object_set_new(tags, v->keys[i], tag) < 0) {
            json_decref(tags);
            return app_mistake(s, value, k->name, "is not UTF-8");
        }
    }
    return put(s, k, v, definition, tags);
}

/* One of the enum's names, in small letters as people write them. */
CONVERTER(policy)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(&models__desired_lrp__descriptor,
                                                         k->member);
    const ProtobufCEnumDescriptor *words = field->descriptor;
    const char *known = "";
    for (unsigned i = 0; i < words->n_values; i++) {
        const char *name = words->values[i].name;
        if (node_is_scalar(v) && strcasecmp(v->text, name) == 0) {
            return put(s, k, v, definition, json_string(name));
        }
        known = arena_printf(s->arena, "%s%s%s", known, i ? " or " : "", name);
    }
    for (char *c = (char *)known; *c; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    return app_mistake(s, v, k->name, arena_printf(s->arena, "must be %s", known));
}

static enum app_key_place place_of(const struct app_source *s)
{
    return s->type == &models__desired_lrp__descriptor ? KEY_APP : KEY_TASK;
}

/* What others' files call it. */
static const char *known_elsewhere(const char *name)
{
    static const char *const words[][2] = {
        {"cmd", "command"},         {"entrypoint", "command"},
        {"exec", "command"},        {"environment", "env"},    {"environment_variables", "env"},
        {"replicas", "instances"},  {"count", "instances"},    {"scale", "instances"},
        {"working_dir", "dir"},     {"workdir", "dir"},        {"cwd", "dir"},
        {"mem_limit", "memory"},    {"memory_limit", "memory"}, {"disk_quota", "disk"},
        {"constraints", "placement_tags"}, {"retries", "max_retries"}, {"ttl", "keep"},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(name, words[i][0]) == 0) {
            return words[i][1];
        }
    }
    return NULL;
}

static const char *probably_meant(const struct app_source *s, const char *name)
{
    const char *word = known_elsewhere(name);
    struct nearest n;
    if (word && find_key(word, place_of(s), strcmp)) {
        return word;
    }
    nearest_begin(&n, name);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        bool known = !keys[i].made && (keys[i].places & place_of(s));
        nearest_consider(&n, known ? keys[i].name : NULL);
    }
    return n.best;
}

int app_mistake_of_api(const struct app_source *s, const struct node *app, const char *path,
                       const char *what)
{
    size_t size = strcspn(path, ".[");
    const char *member = arena_strndup(s->arena, path, size);
    for (size_t i = 0; i < KEY_COUNT && !node_member(app, member); i++) {
        if ((keys[i].places & place_of(s)) && strcmp(keys[i].member, member) == 0 &&
            node_given(app, keys[i].name)) {
            path = arena_printf(s->arena, "%s%s", keys[i].name, path + size);
            break;
        }
    }
    return app_mistake(s, node_at(app, path), path, what);
}

static int unknown_key(const struct app_source *s, const struct node *at, const char *name)
{
    bool app = place_of(s) == KEY_APP;
    const struct app_key *others = find_key(name, app ? KEY_TASK : KEY_APP, strcmp);
    if (others && !others->made) {
        return app_mistake(s, at, name,
                           app ? "stands in a task, which bbs run takes; this is an app"
                               : "stands in an app, which bbs apply takes; this is a task");
    }
    const char *meant = probably_meant(s, name);
    const char *what = meant ? arena_printf(s->arena, "unknown key; did you mean \"%s\"?", meant)
                             : arena_printf(s->arena, "unknown key; see bbs %s --help",
                                            app ? "apply" : "run");
    return app_mistake(s, at, name, what);
}

/* What an image says should run, which the file may complete. */
static json_t *action_of_image(const struct node *args)
{
    json_t *action = json_object(), *run = json_object();
    json_object_set_new(action, "run", run);
    json_object_set_new(run, "from_image", json_true());
    json_t *list = json_array();
    for (size_t i = 0; args && i < args->count; i++) {
        json_array_append_new(list, json_string(args->items[i]->text));
    }
    json_object_set_new(run, "args", list);
    return action;
}

/* user and dir go to the run action that command, or its image, made; args to that of the image. */
static int complete_command(const struct app_source *s, const struct node *app, json_t *definition)
{
    static const struct {
        const char *key, *where;
    } beside[] = {
        {"user", "goes with command; say it in the action"},
        {"dir", "goes with command; say it in the action"},
        {"args", "goes with an image that says what runs: without command and action"},
    };
    const char *rootfs = json_string_value(json_object_get(definition, "rootfs"));
    const struct node *command = node_given(app, "command"), *args = node_given(app, "args");
    const struct node *user = node_given(app, "user"), *dir = node_given(app, "dir");
    bool of_image = !json_object_get(definition, "action") && rootfs &&
                    image_name_is_pulled(rootfs);
    for (size_t i = command ? 2 : 0; !of_image && i < sizeof(beside) / sizeof(beside[0]); i++) {
        const struct node *given = node_given(app, beside[i].key);
        if (given) {
            return app_mistake(s, given, beside[i].key, beside[i].where);
        }
    }
    if (of_image) {
        json_object_set_new(definition, "action", action_of_image(args));
    }
    json_t *run = json_object_get(json_object_get(definition, "action"), "run");
    if (user || command) {
        json_object_set_new(run, "user", json_string(user ? user->text : "root"));
    }
    if (dir) {
        json_object_set_new(run, "dir", json_string(dir->text));
    }
    return 0;
}

int app_to_api(const struct app_source *s, const struct node *app, json_t *definition)
{
    for (size_t i = 0; i < app->count; i++) {
        const struct node *v = app->items[i];
        const struct app_key *k = find_key(app->keys[i], place_of(s), strcmp);
        int r = !k                     ? unknown_key(s, v, app->keys[i])
                : v->kind == NODE_NULL ? 0
                                       : k->convert(s, k, v, definition);
        if (r < 0) {
            return r;
        }
    }
    return complete_command(s, app, definition);
}
