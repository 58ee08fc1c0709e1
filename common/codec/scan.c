#include "common/codec/scan.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

enum {
    ARENA_ALIGN = 16,
    /* What protobuf-c 1.4.1 keeps for each field found on the wire: 16 of them on its stack, then
     * in blocks that double. */
    MEMBER_BYTES = 32,
    MEMBERS_ON_STACK = 16,
    TAG_BYTES_MAX = 5,
    LENGTH_BYTES_MAX = 5,
    VARINT_BYTES_MAX = 10,
    TAG_MAX = (1 << 29) - 1,
    SEEN_FIELDS = 256,
};

/* A message that is being walked. */
struct frame {
    const ProtobufCMessageDescriptor *descriptor;
    const uint8_t *end;
    size_t decoded_before; /* sum when this message began */
    size_t members;        /* fields found in it */
    size_t members_room;   /* of the blocks charged so far */
    size_t block;          /* size of the newest block, in members */
    bool merges;           /* its parent has had this field already */
    uint64_t seen[SEEN_FIELDS / 64];
};

struct scan {
    const uint8_t *at;
    size_t decoded;
    size_t decoded_max;
    unsigned depth, depth_max;
    struct err *err;
    struct frame frames[SCAN_ANSWER_DEPTH_MAX + 1];
};

/* One field as it stands on the wire. */
struct member {
    uint32_t tag;
    ProtobufCWireType wire_type;
    const uint8_t *data; /* of the value, without its length */
    size_t size;
    const ProtobufCFieldDescriptor *field; /* NULL = unknown */
};

static int malformed(struct scan *s, const char *what)
{
    return err_set(s->err, ERR_INVALID, "malformed message %s: %s",
                   s->frames[s->depth].descriptor->short_name, what);
}

static int charge(struct scan *s, size_t bytes)
{
    size_t sum = s->decoded + ((bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1));
    if (sum > s->decoded_max || sum < s->decoded) {
        return err_set(s->err, ERR_TOO_LARGE, "the message takes more than %zu bytes when decoded",
                       s->decoded_max);
    }
    s->decoded = sum;
    return 0;
}

static int open_frame(struct scan *s, const ProtobufCMessageDescriptor *descriptor,
                      const uint8_t *end, bool merges)
{
    s->frames[s->depth] = (struct frame){
        .descriptor = descriptor,
        .end = end,
        .decoded_before = s->decoded,
        .members_room = MEMBERS_ON_STACK,
        .block = MEMBERS_ON_STACK,
        .merges = merges,
    };
    return charge(s, descriptor->sizeof_message);
}

/* The varint at the front, at most `limit` bytes long: its length, 0 when it is malformed. */
static size_t read_varint(const uint8_t *at, const uint8_t *end, size_t limit, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (size_t i = 0; i < limit && at + i < end; i++) {
        value |= (uint64_t)(at[i] & 0x7f) << (7 * i);
        if (!(at[i] & 0x80)) {
            *ret_value = value;
            return i + 1;
        }
    }
    return 0;
}

/* Moves s->at behind the field. */
static int read_member(struct scan *s, struct member *ret_member)
{
    struct frame *f = &s->frames[s->depth];
    uint64_t head, length;
    size_t used = read_varint(s->at, f->end, TAG_BYTES_MAX, &head);
    if (used == 0 || head >> 3 == 0 || head >> 3 > TAG_MAX) {
        return malformed(s, "bad tag");
    }
    struct member m = {.tag = (uint32_t)(head >> 3),
                       .wire_type = (ProtobufCWireType)(head & 7),
                       .data = s->at + used};
    size_t left = (size_t)(f->end - m.data);
    switch (m.wire_type) {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
        m.size = read_varint(m.data, f->end, VARINT_BYTES_MAX, &length);
        break;
    case PROTOBUF_C_WIRE_TYPE_64BIT:
        m.size = 8;
        break;
    case PROTOBUF_C_WIRE_TYPE_32BIT:
        m.size = 4;
        break;
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
        used = read_varint(m.data, f->end, LENGTH_BYTES_MAX, &length);
        if (used == 0 || length > INT_MAX) {
            return malformed(s, "bad length");
        }
        m.data += used;
        m.size = (size_t)length;
        left -= used;
        break;
    default: /* Groups: Diego never sends them and protobuf-c cannot skip them. */
        return malformed(s, "unsupported wire type");
    }
    if (m.size > left || (m.size == 0 && m.wire_type == PROTOBUF_C_WIRE_TYPE_VARINT)) {
        return malformed(s, "cut short");
    }
    m.field = protobuf_c_message_descriptor_get_field(f->descriptor, m.tag);
    s->at = m.data + m.size;
    *ret_member = m;
    return 0;
}

static ProtobufCWireType wire_type_of(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return PROTOBUF_C_WIRE_TYPE_32BIT;
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return PROTOBUF_C_WIRE_TYPE_64BIT;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
    default:
        return PROTOBUF_C_WIRE_TYPE_VARINT;
    }
}

static size_t element_size(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    default:
        return 4;
    }
}

/* Elements in a packed array; -1 when it is malformed. */
static ptrdiff_t count_packed(const struct member *m, ProtobufCWireType wire_type)
{
    if (wire_type != PROTOBUF_C_WIRE_TYPE_VARINT) {
        size_t width = wire_type == PROTOBUF_C_WIRE_TYPE_32BIT ? 4 : 8;
        return m->size % width ? -1 : (ptrdiff_t)(m->size / width);
    }
    ptrdiff_t count = 0;
    size_t length = 0;
    for (size_t i = 0; i < m->size; i++) {
        if (++length > VARINT_BYTES_MAX) {
            return -1;
        }
        if (!(m->data[i] & 0x80)) {
            count++;
            length = 0;
        }
    }
    return length ? -1 : count;
}

static int scan_unknown(struct scan *s, const struct member *m)
{
    int r = charge(s, sizeof(ProtobufCMessageUnknownField));
    return r < 0 ? r : charge(s, m->size + LENGTH_BYTES_MAX);
}

/* Goes down into a sub-message: the main loop walks it next. */
static int enter(struct scan *s, const struct member *m)
{
    struct frame *f = &s->frames[s->depth];
    size_t i = (size_t)(m->field - f->descriptor->fields);
    bool again = false;
    if (m->field->label != PROTOBUF_C_LABEL_REPEATED) {
        again = i >= SEEN_FIELDS || (f->seen[i / 64] >> (i % 64) & 1);
        if (i < SEEN_FIELDS) {
            f->seen[i / 64] |= UINT64_C(1) << (i % 64);
        }
    }
    if (s->depth == s->depth_max) {
        return err_set(s->err, ERR_TOO_LARGE, "messages nested deeper than %u", s->depth_max);
    }
    s->depth++;
    s->at = m->data;
    return open_frame(s, m->field->descriptor, m->data + m->size, again);
}

static int scan_value(struct scan *s, const struct member *m)
{
    switch (m->field->type) {
    case PROTOBUF_C_TYPE_STRING:
        if (memchr(m->data, 0, m->size)) {
            return err_set(s->err, ERR_INVALID, "zero byte in %s.%s",
                           s->frames[s->depth].descriptor->short_name, m->field->name);
        }
        return charge(s, m->size + 1);
    case PROTOBUF_C_TYPE_BYTES:
        return charge(s, m->size);
    case PROTOBUF_C_TYPE_MESSAGE:
        return enter(s, m);
    default:
        return 0;
    }
}

static int scan_known(struct scan *s, const struct member *m)
{
    ProtobufCWireType expected = wire_type_of(m->field->type);
    bool repeated = m->field->label == PROTOBUF_C_LABEL_REPEATED;
    if (m->wire_type != expected) {
        if (!repeated || m->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED) {
            return malformed(s, "a field has another type");
        }
        ptrdiff_t count = count_packed(m, expected);
        if (count < 0) {
            return malformed(s, "bad packed array");
        }
        return charge(s, (size_t)count * element_size(m->field->type));
    }
    /* Charged one by one, rounding included: a little more than the one array that is made. */
    int r = repeated ? charge(s, element_size(m->field->type)) : 0;
    return r < 0 ? r : scan_value(s, m);
}

/* protobuf-c's list of members grows by blocks, which an arena never gets back. */
static int count_member(struct scan *s)
{
    struct frame *f = &s->frames[s->depth];
    if (++f->members <= f->members_room) {
        return 0;
    }
    f->block *= 2;
    f->members_room += f->block;
    return charge(s, f->block * MEMBER_BYTES);
}

/* When a singular sub-message comes again, protobuf-c joins the arrays of both into new ones: at
 * most as much as the enclosing message has taken so far. */
static int close_frame(struct scan *s)
{
    bool merges = s->frames[s->depth].merges;
    assert(s->depth > 0);
    s->depth--;
    return merges ? charge(s, s->decoded - s->frames[s->depth].decoded_before) : 0;
}

static int scan(const ProtobufCMessageDescriptor *descriptor, struct bytes body, unsigned depth_max,
                size_t decoded_max, size_t *ret_decoded, struct err *err)
{
    static const uint8_t nothing[1];
    struct scan s = {.decoded_max = decoded_max, .depth_max = depth_max, .err = err};
    s.at = body.size ? body.data : nothing;
    int r = open_frame(&s, descriptor, s.at + body.size, false);
    while (r == 0) {
        if (s.at == s.frames[s.depth].end) {
            if (s.depth == 0) {
                break;
            }
            r = close_frame(&s);
            continue;
        }
        struct member m = {0};
        r = read_member(&s, &m);
        r = r < 0 ? r : count_member(&s);
        r = r < 0 ? r : m.field ? scan_known(&s, &m) : scan_unknown(&s, &m);
    }
    if (r == 0 && ret_decoded) {
        *ret_decoded = s.decoded;
    }
    return r;
}

int scan_message(const ProtobufCMessageDescriptor *descriptor, struct bytes body,
                 size_t decoded_max, size_t *ret_decoded, struct err *err)
{
    return scan(descriptor, body, SCAN_DEPTH_MAX, decoded_max, ret_decoded, err);
}

static int unpack(struct arena *a, const ProtobufCMessageDescriptor *descriptor, struct bytes body,
                  ProtobufCMessage **ret_message, struct err *err)
{
    ProtobufCAllocator allocator = arena_protobuf(a);
    ProtobufCMessage *m = protobuf_c_message_unpack(descriptor, &allocator, body.size, body.data);
    if (!m) {
        return err_set(err, ERR_INVALID, "malformed message %s", descriptor->short_name);
    }
    *ret_message = m;
    return 0;
}

int scan_and_unpack(struct arena *a, const ProtobufCMessageDescriptor *descriptor,
                    struct bytes body, size_t decoded_max, ProtobufCMessage **ret_message,
                    struct err *err)
{
    int r = scan(descriptor, body, SCAN_DEPTH_MAX, decoded_max, NULL, err);
    return r < 0 ? r : unpack(a, descriptor, body, ret_message, err);
}

int scan_and_unpack_answer(struct arena *a, const ProtobufCMessageDescriptor *descriptor,
                           struct bytes body, size_t decoded_max, ProtobufCMessage **ret_message,
                           struct err *err)
{
    int r = scan(descriptor, body, SCAN_ANSWER_DEPTH_MAX, decoded_max, NULL, err);
    return r < 0 ? r : unpack(a, descriptor, body, ret_message, err);
}

/* Moves *at behind the value of a field of this wire type, which is *ret_value (its length left
 * out); false where the message ends before. */
static bool skip_value(ProtobufCWireType type, const uint8_t **at, const uint8_t *end,
                       struct bytes *ret_value)
{
    uint64_t length = 0;
    size_t used = 0;
    switch (type) {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
        length = read_varint(*at, end, VARINT_BYTES_MAX, &length);
        if (length == 0) {
            return false;
        }
        break;
    case PROTOBUF_C_WIRE_TYPE_64BIT:
        length = 8;
        break;
    case PROTOBUF_C_WIRE_TYPE_32BIT:
        length = 4;
        break;
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
        used = read_varint(*at, end, LENGTH_BYTES_MAX, &length);
        if (used == 0) {
            return false;
        }
        break;
    default:
        return false;
    }
    *at += used;
    if (length > (size_t)(end - *at)) {
        return false;
    }
    *ret_value = (struct bytes){*at, length};
    *at += length;
    return true;
}

bool message_field(struct bytes message, uint32_t number, struct bytes *ret_value)
{
    const uint8_t *at = message.data, *end = at + message.size;
    while (at < end) {
        uint64_t head;
        size_t used = read_varint(at, end, TAG_BYTES_MAX, &head);
        ProtobufCWireType type = (ProtobufCWireType)(head & 7);
        struct bytes value;
        if (used == 0) {
            return false;
        }
        at += used;
        if (!skip_value(type, &at, end, &value)) {
            return false;
        }
        if (head >> 3 == number && type == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}
