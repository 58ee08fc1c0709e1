#include "common/model/record.h"

#include "common/codec/scan.h"
#include "messages.h"

#include <assert.h>
#include <string.h>

#define NO_LIFECYCLE
#define LIFECYCLE(name) extern const struct lifecycle name##_lifecycle;
#define RECORD_ROW(ID, name, key, message, lifecycle, ...) lifecycle
#include "common/model/records.def"
#undef NO_LIFECYCLE
#undef LIFECYCLE

#define NO_LIFECYCLE NULL
#define LIFECYCLE(name) &name##_lifecycle
static const struct record_kind kinds[RECORD_TYPE_COUNT] = {
#define COPY true
#define OUTSIDE false
#define TAGS(...) true
#define NO_TAGS false
#define RECORD_ROW(ID, kind_name, key, message, kind_lifecycle, place, tags, kind_topic, ...)      \
    [RECORD_##ID] = {.name = #kind_name,                                                       \
                     .lifecycle = kind_lifecycle,                                              \
                     .topic = kind_topic,                                                      \
                     .is_kept = place,                                                         \
                     .is_tagged = tags},
#include "common/model/records.def"
#undef COPY
#undef OUTSIDE
#undef TAGS
#undef NO_TAGS
    [RECORD_UNKNOWN] = {.name = "unknown", .is_kept = true},
};

const struct record_kind *record_kind(enum record_type type)
{
    assert(type < RECORD_TYPE_COUNT);
    return &kinds[type];
}

bool record_is_kept(enum record_type type)
{
    return record_kind(type)->is_kept;
}

const struct key_part *record_kept_part(unsigned n)
{
    static const struct key_part parts[] = {{NULL,
#define PART_COPY(name)
#define PART_OUTSIDE(name) #name "/"}, {#name "0",
#define RECORD_ROW(ID, name, key, message, lifecycle, place, ...) PART_##place(name)
#include "common/model/records.def"
                                             NULL}};
    return n < sizeof(parts) / sizeof(parts[0]) ? &parts[n] : NULL;
}

const ProtobufCMessageDescriptor *record_descriptor(enum record_type type)
{
    static const ProtobufCMessageDescriptor *const descriptors[RECORD_TYPE_COUNT] = {
#define RECORD_ROW(ID, name, key, message, ...) [RECORD_##ID] = &message##__descriptor,
#include "common/model/records.def"
    };
    return type < RECORD_TYPE_COUNT ? descriptors[type] : NULL;
}

/* ---- Tags ---- */

const char *owner_text(struct arena *a, const char *kind, const char *uid)
{
    if (!*kind && !*uid) {
        return "";
    }
    /* Escaped, so that no two owners give one text. */
    const char *escaped_kind = key_domain(a, kind), *escaped_uid = key_domain(a, uid);
    size_t prefix = strlen(key_domain(a, ""));
    return arena_printf(a, "%s/%s", escaped_kind + prefix, escaped_uid + prefix);
}

static const char *owner_of(struct arena *a, const Models__Owner *o)
{
    return o ? owner_text(a, o->kind, o->uid) : "";
}

static const char *enum_text(const ProtobufCEnumDescriptor *d, int number)
{
    const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(d, number);
    return v ? v->name : "";
}

void record_tags(struct arena *a, enum record_type type, const ProtobufCMessage *message,
                 const char *ret[TAG_COUNT])
{
#define FIELD(field) m->field
#define IN(part, field) (m->part ? m->part->field : "")
#define NAME(field, enumeration) enum_text(&enumeration##__descriptor, (int)m->field)
#define OWNER(field) owner_of(a, m->field)
#define TAGS(...) {__VA_ARGS__}
#define NO_TAGS TAGS(0)
#define RECORD_ROW(ID, kind_name, key, message_name, lifecycle, place, kind_tags, ...)             \
    case RECORD_##ID: {                                                                            \
        const __typeof__(*message_name##__unpack(NULL, 0, NULL)) *m = (const void *)message;       \
        const char *const tags[TAG_COUNT] = kind_tags;                                             \
        (void)m;                                                                                   \
        memcpy(ret, tags, sizeof(tags));                                                           \
        break;                                                                                     \
    }
    switch (type) {
#include "common/model/records.def"
    case RECORD_UNKNOWN:
    case RECORD_TYPE_COUNT:
        assert(!"a kind that has a message");
    }
    for (int t = 0; t < TAG_COUNT; t++) {
        ret[t] = ret[t] ? ret[t] : "";
    }
}

/* ---- Values ---- */

void record_encode(struct buf *out, const ProtobufCMessage *message)
{
    static const uint8_t version = RECORD_VERSION;
    buf_append(out, &version, 1);
    buf_message(out, message);
}

struct bytes record_encoded(struct arena *a, const ProtobufCMessage *message)
{
    SCOPED_BUF(record);
    record_encode(&record, message);
    return (struct bytes){.data = arena_copy(a, record.data, record.size), .size = record.size};
}

struct bytes record_body(struct bytes record)
{
    if (record.size == 0 || record.data[0] != RECORD_VERSION) {
        return (struct bytes){0};
    }
    return (struct bytes){.data = record.data + 1, .size = record.size - 1};
}

bool record_readable(enum record_type type, struct bytes record)
{
    const ProtobufCMessageDescriptor *descriptor = record_descriptor(type);
    return descriptor && record.size > 0 && record.data[0] == RECORD_VERSION &&
           scan_message(descriptor, record_body(record), SIZE_MAX, NULL, NULL) == 0;
}

ProtobufCMessage *record_guess(struct arena *a, enum record_type type, struct bytes record)
{
    const ProtobufCMessageDescriptor *descriptor = record_descriptor(type);
    ProtobufCAllocator allocator = arena_protobuf(a);
    return descriptor && record.size > 0
               ? protobuf_c_message_unpack(descriptor, &allocator, record.size - 1, record.data + 1)
               : NULL;
}

int record_decode(struct arena *a, enum record_type type, struct bytes record,
                  ProtobufCMessage **ret_message, struct err *err)
{
    if (!record_descriptor(type) || record.size == 0 || record.data[0] != RECORD_VERSION) {
        return err_set(err, ERR_INVALID, "record of unknown type or format version %d",
                       record.size ? record.data[0] : -1);
    }
    ProtobufCMessage *m = record_guess(a, type, record);
    if (!m) {
        return err_set(err, ERR_INVALID, "malformed %s record of %zu bytes",
                       record_type_name(type), record.size);
    }
    *ret_message = m;
    return 0;
}
