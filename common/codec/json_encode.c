#include "common/codec/json.h"
#include "common/codec/json_shape.h"
#include "common/codec/json_syntax.h"
#include "common/codec/json_text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    struct buf *out;
    struct json_shapes shapes;
    unsigned flags;
    unsigned depth; /* objects and arrays that are open */
    bool first;     /* nothing stands in the innermost one yet */
    bool too_deep;
};

static void write_message(struct writer *w, const ProtobufCMessage *m);
static void write_members(struct writer *w, const ProtobufCMessage *m);

static void new_line(struct writer *w)
{
    if (w->flags & CODEC_PRETTY) {
        buf_printf(w->out, "\n%*s", (int)(2 * w->depth), "");
    }
}

static void next_element(struct writer *w)
{
    if (!w->first) {
        buf_append(w->out, ",", 1);
    }
    w->first = false;
    new_line(w);
}

static void write_key(struct writer *w, const char *key)
{
    next_element(w);
    json_string_text(bytes_of(key), w->out);
    buf_append_string(w->out, w->flags & CODEC_PRETTY ? ": " : ":");
}

static void open_bracket(struct writer *w, const char *bracket)
{
    buf_append(w->out, bracket, 1);
    w->depth++;
    w->first = true;
}

static void close_bracket(struct writer *w, const char *bracket)
{
    w->depth--;
    if (!w->first) {
        new_line(w);
    }
    buf_append(w->out, bracket, 1);
    w->first = false;
}

/* With as few digits as tell it from all others, which are 17 at most. */
static void write_double(struct writer *w, double value)
{
    char text[40];
    int digits = 15;
    if (!isfinite(value)) {
        buf_append_string(w->out, "null");
        return;
    }
    do {
        snprintf(text, sizeof(text), "%.*g", digits, value);
    } while (strtod(text, NULL) != value && ++digits <= 17);
    buf_append_string(w->out, text);
}

static void write_enum(struct writer *w, const ProtobufCFieldDescriptor *f, int value)
{
    const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(f->descriptor, value);
    if (v) {
        json_string_text(bytes_of(v->name), w->out);
    } else {
        buf_printf(w->out, "%d", value);
    }
}

static void write_bytes(struct writer *w, const ProtobufCBinaryData *data)
{
    buf_append(w->out, "\"", 1);
    base64_encode((struct bytes){data->data, data->len}, w->out);
    buf_append(w->out, "\"", 1);
}

/* One value, in a member or as an element of a list. */
static void write_value(struct writer *w, const ProtobufCFieldDescriptor *f, const void *at)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        buf_printf(w->out, "%" PRId32, *(const int32_t *)at);
        break;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        buf_printf(w->out, "%" PRIu32, *(const uint32_t *)at);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        buf_printf(w->out, "%" PRId64, *(const int64_t *)at);
        break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        buf_printf(w->out, "%" PRIu64, *(const uint64_t *)at);
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        write_double(w, *(const float *)at);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        write_double(w, *(const double *)at);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        buf_append_string(w->out, *(const protobuf_c_boolean *)at ? "true" : "false");
        break;
    case PROTOBUF_C_TYPE_ENUM:
        write_enum(w, f, *(const int *)at);
        break;
    case PROTOBUF_C_TYPE_STRING:
        json_string_text(bytes_of(*(const char *const *)at), w->out);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        write_bytes(w, at);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        write_message(w, *(const ProtobufCMessage *const *)at);
        break;
    }
}

static const void *member_of(const ProtobufCMessage *m, unsigned offset)
{
    return (const char *)m + offset;
}

static const char *entry_key(const ProtobufCMessage *entry)
{
    const ProtobufCFieldDescriptor *key = &entry->descriptor->fields[0];
    assert(key->type == PROTOBUF_C_TYPE_STRING);
    return *(const char *const *)member_of(entry, key->offset);
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp(entry_key(*(ProtobufCMessage *const *)a),
                  entry_key(*(ProtobufCMessage *const *)b));
}

/* A route's value is JSON already and is shown as it was written, also where readers of JSON differ
 * (1e400, half a surrogate pair). One that is not (the board never holds such) is shown as text. */
static void write_route(struct writer *w, const ProtobufCBinaryData *value)
{
    struct bytes text = {value->data, value->len};
    if (json_syntax_valid(text)) {
        json_as_written(text, w->out);
    } else {
        json_string_text(text, w->out);
    }
}

static void write_map(struct writer *w, const struct json_field *f, const ProtobufCMessage *m,
                      bool routes)
{
    size_t count = *(const size_t *)member_of(m, f->field->quantifier_offset);
    ProtobufCMessage **entries = ARENA_ARRAY(w->shapes.arena, count, ProtobufCMessage *);
    if (count) {
        memcpy(entries, *(ProtobufCMessage *const *const *)member_of(m, f->field->offset),
               count * sizeof(*entries));
        qsort(entries, count, sizeof(*entries), compare_entries);
    }
    open_bracket(w, "{");
    for (size_t i = 0; i < count; i++) {
        const ProtobufCFieldDescriptor *value = &entries[i]->descriptor->fields[1];
        /* Of entries with one key the last counts, as in protobuf. qsort may turn equal ones round,
         * but then they come from no encoder that knows maps. */
        if (i + 1 < count && strcmp(entry_key(entries[i]), entry_key(entries[i + 1])) == 0) {
            continue;
        }
        write_key(w, entry_key(entries[i]));
        if (routes) {
            write_route(w, member_of(entries[i], value->offset));
        } else {
            write_value(w, value, member_of(entries[i], value->offset));
        }
    }
    close_bracket(w, "}");
}

static void write_list(struct writer *w, const struct json_field *f, const ProtobufCMessage *m)
{
    size_t count = *(const size_t *)member_of(m, f->field->quantifier_offset);
    size_t size = json_value_size(f->field->type);
    const char *at = *(const char *const *)member_of(m, f->field->offset);
    open_bracket(w, "[");
    for (size_t i = 0; i < count; i++) {
        next_element(w);
        write_value(w, f->field, at + i * size);
    }
    close_bracket(w, "]");
}

/* Zero, empty or absent: what a key is left out for. */
static bool is_empty(const ProtobufCFieldDescriptor *f, const ProtobufCMessage *m)
{
    static const char zeros[8];
    const void *at = member_of(m, f->offset);
    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
        return *(const size_t *)member_of(m, f->quantifier_offset) == 0;
    }
    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING: {
        const char *s = *(const char *const *)at;
        return !s || !*s;
    }
    case PROTOBUF_C_TYPE_BYTES:
        return ((const ProtobufCBinaryData *)at)->len == 0;
    default:
        return memcmp(at, zeros, json_value_size(f->type)) == 0;
    }
}

static bool oneof_is_set(const ProtobufCFieldDescriptor *f, const ProtobufCMessage *m)
{
    return *(const uint32_t *)member_of(m, f->quantifier_offset) == f->id;
}

static void write_content(struct writer *w, const struct json_field *f, const ProtobufCMessage *m)
{
    if (f->map) {
        write_map(w, f, m, false);
    } else if (f->field->label == PROTOBUF_C_LABEL_REPEATED) {
        write_list(w, f, m);
    } else {
        write_value(w, f->field, member_of(m, f->field->offset));
    }
}

/* A message of its type with nothing set, for those that Diego always shows. */
static const ProtobufCMessage *empty_message(struct writer *w, const ProtobufCFieldDescriptor *f)
{
    const ProtobufCMessageDescriptor *d = f->descriptor;
    ProtobufCMessage *m = arena_alloc(w->shapes.arena, d->sizeof_message);
    protobuf_c_message_init(d, m);
    return m;
}

static void write_always(struct writer *w, const struct json_field *f, const ProtobufCMessage *m)
{
    bool may_be_null =
        f->field->label == PROTOBUF_C_LABEL_REPEATED || f->field->type == PROTOBUF_C_TYPE_MESSAGE;
    write_key(w, f->key);
    if (!may_be_null || !is_empty(f->field, m)) {
        write_content(w, f, m);
    } else if (f->when == JSON_NEVER_NULL) {
        write_message(w, empty_message(w, f->field));
    } else {
        buf_append_string(w->out, "null");
    }
}

static void write_inlined(struct writer *w, const struct json_field *f, const ProtobufCMessage *m)
{
    const ProtobufCMessage *sub = *(ProtobufCMessage *const *)member_of(m, f->field->offset);
    if (sub) {
        write_members(w, sub);
    } else if (f->when == JSON_INLINED) {
        write_members(w, empty_message(w, f->field));
    }
}

static void write_holder(struct writer *w, const struct json_field *f, const ProtobufCMessage *m)
{
    write_key(w, f->holder);
    if (!oneof_is_set(f->field, m)) {
        buf_append_string(w->out, "null");
        return;
    }
    open_bracket(w, "{");
    if (f->when == JSON_HOLDER || !is_empty(f->field, m)) {
        write_key(w, f->key);
        write_content(w, f, m);
    }
    close_bracket(w, "}");
}

static void write_member(struct writer *w, const struct json_field *f, const ProtobufCMessage *m)
{
    switch (f->when) {
    case JSON_ALWAYS:
    case JSON_NEVER_NULL:
        write_always(w, f, m);
        return;
    case JSON_INLINED:
    case JSON_INLINED_IF_SET:
        write_inlined(w, f, m);
        return;
    case JSON_HOLDER:
    case JSON_HOLDER_OMIT:
        if (!w->shapes.snake_case) {
            write_holder(w, f, m);
            return;
        }
        break;
    case JSON_IF_THERE:
        if (*(void *const *)member_of(m, f->field->offset)) {
            write_key(w, f->key);
            write_content(w, f, m);
        }
        return;
    case JSON_OMIT:
    case JSON_ONLY_IF_SET:
        break;
    }
    bool oneof = f->field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF;
    if (oneof ? oneof_is_set(f->field, m) : !is_empty(f->field, m)) {
        write_key(w, f->key);
        write_content(w, f, m);
    }
}

static void write_members(struct writer *w, const ProtobufCMessage *m)
{
    const struct json_shape *s = json_shape_of(&w->shapes, m->descriptor);
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        if ((w->flags & CODEC_OWN) || !json_field_is_own(&s->fields[i])) {
            write_member(w, &s->fields[i], m);
        }
    }
}

static void write_message(struct writer *w, const ProtobufCMessage *m)
{
    if (!m || w->depth >= JSON_DEPTH_MAX) {
        w->too_deep |= m != NULL;
        buf_append_string(w->out, "null");
        return;
    }
    const struct json_shape *s = json_shape_of(&w->shapes, m->descriptor);
    if (s->routes) {
        write_map(w, &s->fields[0], m, true);
        return;
    }
    open_bracket(w, "{");
    write_members(w, m);
    close_bracket(w, "}");
}

int json_encode(const ProtobufCMessage *message, unsigned flags, struct buf *out, struct err *err)
{
    SCOPED_ARENA(scratch);
    struct writer w = {.out = out,
                       .shapes = {.arena = &scratch, .snake_case = flags & CODEC_SNAKE_CASE},
                       .flags = flags};
    write_message(&w, message);
    if (w.too_deep) {
        return err_set(err, ERR_TOO_LARGE, "message %s is nested deeper than %d",
                       message->descriptor->short_name, JSON_DEPTH_MAX);
    }
    return 0;
}
