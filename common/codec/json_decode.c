#include "common/codec/json.h"
#include "common/codec/json_shape.h"
#include "common/codec/json_text.h"
#include "common/codec/json_tree.h"
#include "common/codec/nearest.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The way to the value in hand, on the stack: "action", "run", "args", [1]. */
struct json_step {
    const struct json_step *up;
    const char *key; /* NULL: an element of a list */
    size_t index;
};

struct json_reader {
    struct arena *arena;
    struct json_shapes shapes;
    unsigned flags;
    unsigned depth;
    const struct json_step *at;
    const char *path; /* where the error is; NULL while there is none */
    struct err *err;
};

static int read_message(struct json_reader *r, const ProtobufCMessageDescriptor *d,
                        const json_t *tree, ProtobufCMessage **ret_message);

static int wrong(struct json_reader *r, const char *what)
{
    return err_set(r->err, ERR_INVALID, "%s", what);
}

static void *member_of(ProtobufCMessage *m, unsigned offset)
{
    return (char *)m + offset;
}

static void render(const struct json_step *s, struct buf *out)
{
    if (!s) {
        return;
    }
    render(s->up, out);
    if (s->key) {
        buf_printf(out, "%s%.60s", out->size ? "." : "", s->key);
    } else {
        buf_printf(out, "[%zu]", s->index);
    }
}

static void go_down(struct json_reader *r, struct json_step *s)
{
    s->up = r->at;
    r->at = s;
}

/* Goes up again; the first to come up with an error notes where it was. */
static int come_up(struct json_reader *r, int e)
{
    if (e < 0 && !r->path) {
        SCOPED_BUF(path);
        render(r->at, &path);
        r->path = arena_strdup(r->arena, buf_string(&path));
    }
    r->at = r->at->up;
    return e;
}

static int read_integer(struct json_reader *r, const json_t *v, int64_t low, int64_t high,
                        int64_t *ret_value)
{
    if (!json_is_integer(v)) {
        return wrong(r, "must be a whole number");
    }
    int64_t value = json_integer_value(v);
    if (value < low || value > high) {
        return err_set(r->err, ERR_INVALID, "must be a number from %lld to %lld", (long long)low,
                       (long long)high);
    }
    *ret_value = value;
    return 0;
}

static int read_text(struct json_reader *r, const json_t *v, char **ret_text)
{
    if (!json_is_string(v)) {
        return wrong(r, "must be a text");
    }
    *ret_text = arena_strndup(r->arena, json_string_value(v), json_string_length(v));
    return 0;
}

static int read_enum(struct json_reader *r, const ProtobufCEnumDescriptor *d, const json_t *v,
                     int *out)
{
    int64_t number;
    if (json_is_integer(v)) {
        int e = read_integer(r, v, INT_MIN, INT_MAX, &number);
        *out = e < 0 ? *out : (int)number;
        return e;
    }
    if (!json_is_string(v)) {
        return wrong(r, "must be the name of a value");
    }
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value_by_name(d, json_string_value(v));
    if (value) {
        *out = value->value;
        return 0;
    }
    struct nearest n;
    nearest_begin(&n, json_string_value(v));
    for (unsigned i = 0; i < d->n_values; i++) {
        nearest_consider(&n, d->values[i].name);
    }
    return err_set(r->err, ERR_INVALID, "knows no value \"%.60s\"; did you mean \"%s\"?",
                   json_string_value(v), n.best ? n.best : d->values[0].name);
}

static int read_bytes(struct json_reader *r, const json_t *v, ProtobufCBinaryData *out)
{
    if (!json_is_string(v)) {
        return wrong(r, "must be a text in base64");
    }
    struct bytes text = {(const uint8_t *)json_string_value(v), json_string_length(v)}, bytes;
    int e = base64_decode(r->arena, text, &bytes, r->err);
    if (e < 0) {
        return e;
    }
    out->len = bytes.size;
    out->data = arena_copy(r->arena, bytes.data, bytes.size);
    return 0;
}

static int read_wide(struct json_reader *r, ProtobufCType type, const json_t *v, void *at)
{
    int64_t value,
        low = type == PROTOBUF_C_TYPE_UINT64 || type == PROTOBUF_C_TYPE_FIXED64 ? 0 : INT64_MIN;
    int e = read_integer(r, v, low, INT64_MAX, &value);
    if (e == 0) {
        *(int64_t *)at = value;
    }
    return e;
}

static int read_narrow(struct json_reader *r, ProtobufCType type, const json_t *v, void *at)
{
    bool sign = type != PROTOBUF_C_TYPE_UINT32 && type != PROTOBUF_C_TYPE_FIXED32;
    int64_t value;
    int e = read_integer(r, v, sign ? INT32_MIN : 0, sign ? INT32_MAX : UINT32_MAX, &value);
    if (e == 0) {
        *(uint32_t *)at = (uint32_t)value;
    }
    return e;
}

/* One value into a member or an element of a list. */
static int read_value(struct json_reader *r, const ProtobufCFieldDescriptor *f, const json_t *v,
                      void *at)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_BOOL:
        if (!json_is_boolean(v)) {
            return wrong(r, "must be true or false");
        }
        *(protobuf_c_boolean *)at = json_is_true(v);
        return 0;
    case PROTOBUF_C_TYPE_ENUM:
        return read_enum(r, f->descriptor, v, at);
    case PROTOBUF_C_TYPE_STRING:
        return read_text(r, v, at);
    case PROTOBUF_C_TYPE_BYTES:
        return read_bytes(r, v, at);
    case PROTOBUF_C_TYPE_MESSAGE:
        return read_message(r, f->descriptor, v, at);
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_DOUBLE:
        if (!json_is_number(v)) {
            return wrong(r, "must be a number");
        }
        if (f->type == PROTOBUF_C_TYPE_FLOAT) {
            *(float *)at = (float)json_number_value(v);
        } else {
            *(double *)at = json_number_value(v);
        }
        return 0;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return read_wide(r, f->type, v, at);
    default:
        return read_narrow(r, f->type, v, at);
    }
}

static int read_list(struct json_reader *r, const ProtobufCFieldDescriptor *f, const json_t *v,
                     ProtobufCMessage *m)
{
    if (!json_is_array(v)) {
        return wrong(r, "must be a list");
    }
    size_t count = json_array_size(v), size = json_value_size(f->type);
    char *elements = arena_array(r->arena, count, size);
    for (size_t i = 0; i < count; i++) {
        struct json_step here = {.index = i};
        go_down(r, &here);
        const json_t *element = json_array_get(v, i);
        int e = json_is_null(element) ? wrong(r, "must not be null")
                                      : read_value(r, f, element, elements + i * size);
        if (come_up(r, e) < 0) {
            return e;
        }
    }
    *(size_t *)member_of(m, f->quantifier_offset) = count;
    *(void **)member_of(m, f->offset) = elements;
    return 0;
}

/* A route's value: any JSON, kept as text. */
static int read_route(struct json_reader *r, const json_t *v, ProtobufCBinaryData *out)
{
    char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
    if (!text) {
        return wrong(r, "must be JSON");
    }
    out->len = strlen(text);
    out->data = arena_copy(r->arena, text, out->len);
    free(text);
    return 0;
}

static ProtobufCMessage *new_message(struct json_reader *r, const ProtobufCMessageDescriptor *d)
{
    ProtobufCMessage *m = arena_alloc(r->arena, d->sizeof_message);
    protobuf_c_message_init(d, m);
    return m;
}

/* Sorted, so that the same content gives the same bytes. */
static const char **sorted_keys(struct json_reader *r, const json_t *object)
{
    const char **keys = ARENA_ARRAY(r->arena, json_object_size(object), const char *);
    const char *key;
    json_t *value;
    size_t n = 0;
    json_object_foreach((json_t *)object, key, value)
    {
        keys[n++] = key;
    }
    qsort(keys, n, sizeof(*keys), text_order);
    return keys;
}

static int read_map(struct json_reader *r, const ProtobufCFieldDescriptor *f, const json_t *v,
                    ProtobufCMessage *m, bool routes)
{
    if (!json_is_object(v)) {
        return wrong(r, "must be an object");
    }
    const ProtobufCMessageDescriptor *d = f->descriptor;
    size_t count = json_object_size(v);
    const char **keys = sorted_keys(r, v);
    ProtobufCMessage **entries = ARENA_ARRAY(r->arena, count, ProtobufCMessage *);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(v, keys[i]);
        entries[i] = new_message(r, d);
        *(char **)member_of(entries[i], d->fields[0].offset) = arena_strdup(r->arena, keys[i]);
        void *at = member_of(entries[i], d->fields[1].offset);
        struct json_step here = {.key = keys[i]};
        go_down(r, &here);
        int e = routes                ? read_route(r, value, at)
                : json_is_null(value) ? wrong(r, "must not be null")
                                      : read_value(r, &d->fields[1], value, at);
        if (come_up(r, e) < 0) {
            return e;
        }
    }
    *(size_t *)member_of(m, f->quantifier_offset) = count;
    *(void **)member_of(m, f->offset) = entries;
    return 0;
}

static int read_member(struct json_reader *r, const struct json_field *f, const json_t *v,
                       ProtobufCMessage *m)
{
    if (json_is_null(v)) {
        return 0;
    }
    if (f->map) {
        return read_map(r, f->field, v, m, false);
    }
    if (f->field->label == PROTOBUF_C_LABEL_REPEATED) {
        return read_list(r, f->field, v, m);
    }
    int e = read_value(r, f->field, v, member_of(m, f->field->offset));
    if (e == 0 && (f->field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)) {
        *(uint32_t *)member_of(m, f->field->quantifier_offset) = f->field->id;
    }
    return e;
}

static bool keys_match(const char *key, const char *known, bool any_case)
{
    return any_case ? strcasecmp(key, known) == 0 : strcmp(key, known) == 0;
}

/* "Holder":{"key":value} */
static int read_holder(struct json_reader *r, const struct json_field *f, const json_t *v,
                       ProtobufCMessage *m)
{
    if (json_is_null(v)) {
        return 0;
    }
    if (!json_is_object(v)) {
        return wrong(r, "must be an object");
    }
    if (f->when == JSON_HOLDER_OMIT) {
        *(uint32_t *)member_of(m, f->field->quantifier_offset) = f->field->id;
    }
    const char *key;
    json_t *value;
    int e = 0;
    json_object_foreach((json_t *)v, key, value)
    {
        if (e < 0 || !keys_match(key, f->wire ? f->wire : f->key, true)) {
            continue;
        }
        struct json_step here = {.key = key};
        go_down(r, &here);
        e = come_up(r, read_member(r, f, value, m));
    }
    return e;
}

static bool is_inlined(const struct json_field *f)
{
    return f->when == JSON_INLINED || f->when == JSON_INLINED_IF_SET;
}

static bool takes_part(const struct json_reader *r, const struct json_field *f)
{
    return (r->flags & CODEC_OWN) || !json_field_is_own(f);
}

static bool names_field(const struct json_field *f, const char *key, bool any_case)
{
    return keys_match(key,
                      f->holder ? f->holder
                      : f->wire ? f->wire
                                : f->key,
                      any_case) ||
           (f->wire && keys_match(key, f->key, any_case));
}

/* The field that a key names, here or in an inlined message; *ret_outer is the field that inlines
 * it, or NULL. Inlining is one level deep in all of Diego's messages. */
static const struct json_field *find_field(struct json_reader *r,
                                           const ProtobufCMessageDescriptor *d, const char *key,
                                           bool any_case, const struct json_field **ret_outer)
{
    const struct json_shape *s = json_shape_of(&r->shapes, d);
    for (unsigned i = 0; i < d->n_fields; i++) {
        const struct json_field *f = &s->fields[i], *none;
        if (!takes_part(r, f)) {
            continue;
        }
        if (!is_inlined(f)) {
            if (names_field(f, key, any_case)) {
                *ret_outer = NULL;
                return f;
            }
            continue;
        }
        const struct json_field *found = find_field(r, f->field->descriptor, key, any_case, &none);
        if (found) {
            *ret_outer = f;
            return found;
        }
    }
    return NULL;
}

static void consider_keys(struct json_reader *r, const ProtobufCMessageDescriptor *d,
                          struct nearest *n)
{
    const struct json_shape *s = json_shape_of(&r->shapes, d);
    for (unsigned i = 0; i < d->n_fields; i++) {
        const struct json_field *f = &s->fields[i];
        if (is_inlined(f)) {
            consider_keys(r, f->field->descriptor, n);
        } else if (takes_part(r, f)) {
            nearest_consider(n, f->holder ? f->holder : f->key);
        }
    }
}

static int unknown_key(struct json_reader *r, const ProtobufCMessageDescriptor *d, const char *key)
{
    struct nearest n;
    nearest_begin(&n, key);
    consider_keys(r, d, &n);
    if (n.best) {
        return err_set(r->err, ERR_INVALID, "unknown key; did you mean \"%s\"?", n.best);
    }
    return wrong(r, "unknown key");
}

static int read_known(struct json_reader *r, const struct json_field *f,
                      const struct json_field *outer, const json_t *v, ProtobufCMessage *m)
{
    if (outer) {
        ProtobufCMessage **sub = member_of(m, outer->field->offset);
        m = *sub = *sub ? *sub : new_message(r, outer->field->descriptor);
    }
    bool bare = f->wire && !json_is_object(v); /* in snake_case there is no holder */
    return f->holder && !bare ? read_holder(r, f, v, m) : read_member(r, f, v, m);
}

static int read_key(struct json_reader *r, const char *key, const json_t *v, ProtobufCMessage *m)
{
    const struct json_field *outer = NULL;
    const struct json_field *f = find_field(r, m->descriptor, key, false, &outer);
    f = f ? f : find_field(r, m->descriptor, key, true, &outer);
    if (!f && !(r->flags & CODEC_STRICT)) {
        return 0;
    }
    struct json_step here = {.key = key};
    go_down(r, &here);
    return come_up(r, f ? read_known(r, f, outer, v, m) : unknown_key(r, m->descriptor, key));
}

/* Sub-messages that Diego always writes are there, whatever the text has. */
static void add_obligatory(struct json_reader *r, ProtobufCMessage *m)
{
    const struct json_shape *s = json_shape_of(&r->shapes, m->descriptor);
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const struct json_field *f = &s->fields[i];
        if (f->when == JSON_INLINED || f->when == JSON_NEVER_NULL) {
            ProtobufCMessage **sub = member_of(m, f->field->offset);
            *sub = *sub ? *sub : new_message(r, f->field->descriptor);
        }
    }
}

static int read_object(struct json_reader *r, const json_t *tree, ProtobufCMessage *m)
{
    const struct json_shape *s = json_shape_of(&r->shapes, m->descriptor);
    if (s->routes) {
        return read_map(r, s->fields[0].field, tree, m, true);
    }
    if (!json_is_object(tree)) {
        return wrong(r, "must be an object");
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)tree, key, value)
    {
        int e = read_key(r, key, value, m);
        if (e < 0) {
            return e;
        }
    }
    add_obligatory(r, m);
    return 0;
}

static int read_message(struct json_reader *r, const ProtobufCMessageDescriptor *d,
                        const json_t *tree, ProtobufCMessage **ret_message)
{
    if (r->depth == JSON_DEPTH_MAX) {
        return err_set(r->err, ERR_TOO_LARGE, "nested deeper than %d", JSON_DEPTH_MAX);
    }
    r->depth++;
    ProtobufCMessage *m = new_message(r, d);
    int e = read_object(r, tree, m);
    r->depth--;
    if (e == 0) {
        *ret_message = m;
    }
    return e;
}

static int decode(struct arena *a, const ProtobufCMessageDescriptor *descriptor, const json_t *tree,
                  unsigned flags, struct json_step *at, ProtobufCMessage **ret_message,
                  const char **ret_path, struct err *err)
{
    struct json_reader r = {.arena = a,
                       .shapes = {.arena = a, .snake_case = flags & CODEC_SNAKE_CASE},
                       .flags = flags,
                       .at = at,
                       .err = err};
    int e = read_message(&r, descriptor, tree, ret_message);
    if (at) {
        come_up(&r, e);
    }
    if (e < 0 && ret_path) {
        *ret_path = r.path ? r.path : "";
    }
    return e;
}

int json_decode_tree(struct arena *a, const ProtobufCMessageDescriptor *descriptor,
                     const json_t *tree, unsigned flags, ProtobufCMessage **ret_message,
                     const char **ret_path, struct err *err)
{
    return decode(a, descriptor, tree, flags, NULL, ret_message, ret_path, err);
}

static int parse(struct bytes text, unsigned flags, json_t **ret_tree, struct err *err)
{
    int e = json_check_bounds(text, err);
    if (e < 0) {
        return e;
    }
    json_error_t problem;
    size_t strict = flags & CODEC_STRICT ? JSON_REJECT_DUPLICATES : 0;
    const char *data = text.size ? (const char *)text.data : "";
    json_t *tree = json_loadb(data, text.size, strict, &problem);
    if (!tree) {
        return err_set(err, ERR_INVALID, "not valid JSON, line %d column %d: %s", problem.line,
                       problem.column, problem.text);
    }
    *ret_tree = tree;
    return 0;
}

static int with_path(int e, const char *path, struct err *err)
{
    return e < 0 && *path ? err_prefix(err, "%.100s", path) : e;
}

int json_decode(struct arena *a, const ProtobufCMessageDescriptor *descriptor, struct bytes text,
                unsigned flags, ProtobufCMessage **ret_message, struct err *err)
{
    json_t *tree;
    int e = parse(text, flags, &tree, err);
    if (e < 0) {
        return e;
    }
    const char *path = "";
    e = decode(a, descriptor, tree, flags, NULL, ret_message, &path, err);
    e = with_path(e, path, err);
    json_decref(tree);
    return e;
}

int json_decode_list(struct arena *a, const ProtobufCMessageDescriptor *descriptor,
                     struct bytes text, unsigned flags, ProtobufCMessage ***ret_messages,
                     size_t *ret_count, struct err *err)
{
    json_t *tree;
    int e = parse(text, flags, &tree, err);
    if (e < 0) {
        return e;
    }
    size_t count = json_array_size(tree);
    ProtobufCMessage **messages = ARENA_ARRAY(a, count, ProtobufCMessage *);
    if (!json_is_array(tree)) {
        e = err_set(err, ERR_INVALID, "must be a list");
    }
    for (size_t i = 0; e == 0 && i < count; i++) {
        struct json_step here = {.index = i};
        const char *path = "";
        e = decode(a, descriptor, json_array_get(tree, i), flags, &here, &messages[i], &path, err);
        e = with_path(e, path, err);
    }
    json_decref(tree);
    if (e == 0) {
        *ret_messages = messages;
        *ret_count = count;
    }
    return e;
}
