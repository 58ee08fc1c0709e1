#include "common/codec/json_shape.h"

#include "common/codec/json.h"

#include <ctype.h>
#include <string.h>

struct json_row {
    const char *message;
    const char *field;
    const char *key;
    enum json_when when;
};

static const struct json_row rows[] = {
#define JSON_FIELD(message, field, key, when) {message, field, key, JSON_##when},
#include "common/codec/json_fields.def"
#undef JSON_FIELD
};

static bool is_map_entry(const ProtobufCFieldDescriptor *f)
{
    if (f->label != PROTOBUF_C_LABEL_REPEATED || f->type != PROTOBUF_C_TYPE_MESSAGE) {
        return false;
    }
    const ProtobufCMessageDescriptor *d = f->descriptor;
    size_t size = strlen(d->short_name);
    return d->n_fields == 2 && strcmp(d->fields[0].name, "key") == 0 &&
           strcmp(d->fields[1].name, "value") == 0 && size > 5 &&
           strcmp(d->short_name + size - 5, "Entry") == 0;
}

static void apply_row(struct arena *a, struct json_field *f, const struct json_row *row)
{
    f->when = row->when;
    if (row->key[0] == 0) {
        return;
    }
    const char *dot = strchr(row->key, '.');
    f->key = dot ? dot + 1 : row->key;
    f->holder = dot ? arena_strndup(a, row->key, (size_t)(dot - row->key)) : NULL;
}

/* A word begins at a capital after a small letter or digit, and at the last capital of several when
 * more than the "s" of a plural follows: RootFSProviders, but LRPs. */
static bool begins_word(const char *name, size_t at)
{
    if (at == 0 || !isupper((unsigned char)name[at])) {
        return false;
    }
    bool small_after = islower((unsigned char)name[at + 1]) && strcmp(name + at + 1, "s") != 0;
    return isupper((unsigned char)name[at - 1]) ? small_after : name[at - 1] != '_';
}

static const char *snake_case(struct arena *a, const char *name)
{
    char *out = arena_alloc(a, 2 * strlen(name) + 1), *to = out;
    for (size_t i = 0; name[i]; i++) {
        if (begins_word(name, i)) {
            *to++ = '_';
        }
        *to++ = (char)tolower((unsigned char)name[i]);
    }
    *to = 0;
    return out;
}

static struct json_shape *make_shape(struct arena *a, bool snake,
                                     const ProtobufCMessageDescriptor *d)
{
    struct json_shape *s = ARENA_NEW(a, struct json_shape);
    s->descriptor = d;
    s->routes = strcmp(d->name, "models.ProtoRoutes") == 0;
    s->fields = ARENA_ARRAY(a, d->n_fields, struct json_field);
    for (unsigned i = 0; i < d->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &d->fields[i];
        bool oneof = f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF;
        s->fields[i] = (struct json_field){.field = f,
                                           .key = f->name,
                                           .when = oneof ? JSON_ONLY_IF_SET : JSON_OMIT,
                                           .map = is_map_entry(f)};
    }
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        if (strcmp(rows[r].message, d->name) != 0) {
            continue;
        }
        for (unsigned i = 0; i < d->n_fields; i++) {
            if (strcmp(rows[r].field, d->fields[i].name) == 0) {
                apply_row(a, &s->fields[i], &rows[r]);
            }
        }
    }
    for (unsigned i = 0; snake && i < d->n_fields; i++) {
        s->fields[i].wire = s->fields[i].key;
        s->fields[i].key = snake_case(a, s->fields[i].key);
    }
    return s;
}

const struct json_shape *json_shape_of(struct json_shapes *shapes,
                                       const ProtobufCMessageDescriptor *descriptor)
{
    for (struct json_shape *s = shapes->first; s; s = s->next) {
        if (s->descriptor == descriptor) {
            return s;
        }
    }
    struct json_shape *s = make_shape(shapes->arena, shapes->snake_case, descriptor);
    s->next = shapes->first;
    shapes->first = s;
    return s;
}

bool json_field_is_own(const struct json_field *f)
{
    return f->field->id >= JSON_OWN_FIELD_MIN;
}

size_t json_value_size(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    default:
        return 4;
    }
}
