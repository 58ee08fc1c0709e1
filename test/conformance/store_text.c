#include "test/conformance/store_text.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

/* Longer values are shown by their size. */
enum { VALUE_SHOWN = 64 };

static bool is_left_out(const char *name)
{
    return strcmp(name, "cluster_id") == 0 || strcmp(name, "member_id") == 0 ||
           strcmp(name, "raft_term") == 0;
}

static void text_bytes(struct buf *out, ProtobufCBinaryData bytes)
{
    if (bytes.len > VALUE_SHOWN) {
        buf_printf(out, "<%zu bytes>", bytes.len);
        return;
    }
    for (size_t i = 0; i < bytes.len; i++) {
        buf_printf(out, isprint(bytes.data[i]) ? "%c" : "\\%02x", bytes.data[i]);
    }
}

static void text_scalar(struct buf *out, const ProtobufCFieldDescriptor *f, const void *value)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_INT64:
        buf_printf(out, "%lld", (long long)*(const int64_t *)value);
        break;
    case PROTOBUF_C_TYPE_UINT64:
        buf_printf(out, "%llu", (unsigned long long)*(const uint64_t *)value);
        break;
    case PROTOBUF_C_TYPE_ENUM:
        buf_printf(out, "%d", *(const int *)value);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        buf_append_string(out, *(const protobuf_c_boolean *)value ? "true" : "false");
        break;
    case PROTOBUF_C_TYPE_STRING:
        buf_append_string(out, *(char *const *)value);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        text_bytes(out, *(const ProtobufCBinaryData *)value);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        store_text_message(out, *(ProtobufCMessage *const *)value);
        break;
    default:
        assert(!"a type of etcd.proto");
    }
}

static size_t size_of(const ProtobufCFieldDescriptor *f)
{
    return f->type == PROTOBUF_C_TYPE_MESSAGE || f->type == PROTOBUF_C_TYPE_STRING
               ? sizeof(void *)
               : sizeof(int64_t);
}

/* A field that has its default is not there. */
static bool is_set(const ProtobufCFieldDescriptor *f, const void *member, const void *quantifier)
{
    if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        return *(const uint32_t *)quantifier == f->id;
    }
    switch (f->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return *(void *const *)member;
    case PROTOBUF_C_TYPE_STRING:
        return **(char *const *)member;
    case PROTOBUF_C_TYPE_BYTES:
        return ((const ProtobufCBinaryData *)member)->len;
    case PROTOBUF_C_TYPE_BOOL:
    case PROTOBUF_C_TYPE_ENUM:
        return *(const int *)member;
    default:
        return *(const int64_t *)member;
    }
}

static void text_field(struct buf *out, const ProtobufCMessage *m,
                       const ProtobufCFieldDescriptor *f)
{
    const char *member = (const char *)m + f->offset;
    const char *quantifier = (const char *)m + f->quantifier_offset;
    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count = *(const size_t *)(const void *)quantifier;
        const char *list = *(char *const *)(const void *)member;
        for (size_t i = 0; i < count; i++) {
            buf_printf(out, " %s=", f->name);
            text_scalar(out, f, list + i * size_of(f));
        }
    } else if (is_set(f, member, quantifier)) {
        buf_printf(out, " %s=", f->name);
        text_scalar(out, f, member);
    }
}

void store_text_message(struct buf *out, const ProtobufCMessage *m)
{
    buf_append_string(out, "{");
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        if (!is_left_out(m->descriptor->fields[i].name)) {
            text_field(out, m, &m->descriptor->fields[i]);
        }
    }
    buf_append_string(out, " }");
}

void store_text_answer(struct buf *out, const struct store_answer *answer)
{
    static const char *const outcomes[] = {
        [STORE_DONE] = "done", [STORE_REFUSED] = "refused", [STORE_UNKNOWN] = "unknown"};
    buf_printf(out, "%s %d \"%s\" ", outcomes[answer->outcome], answer->grpc_status, answer->text);
    if (answer->message) {
        store_text_message(out, answer->message);
    }
}
