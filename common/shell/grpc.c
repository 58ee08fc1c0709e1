#include "common/shell/grpc.h"

#include "common/contract/grpc_status.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

void grpc_frame_append(struct buf *out, const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    assert(size <= UINT32_MAX);
    uint8_t prefix[GRPC_FRAME_HEADER_BYTES] = {0, (uint8_t)(size >> 24), (uint8_t)(size >> 16),
                                               (uint8_t)(size >> 8), (uint8_t)size};
    buf_append(out, prefix, sizeof(prefix));
    buf_message(out, message);
}

int64_t grpc_frame_next(struct bytes in, size_t bound, struct bytes *ret_message)
{
    if (in.size < GRPC_FRAME_HEADER_BYTES) {
        return 0;
    }
    const uint8_t *p = in.data;
    size_t size = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
    if (p[0] != 0 || size > bound) {
        return -1;
    }
    if (in.size - GRPC_FRAME_HEADER_BYTES < size) {
        return 0;
    }
    *ret_message = (struct bytes){.data = p + GRPC_FRAME_HEADER_BYTES, .size = size};
    return (int64_t)(GRPC_FRAME_HEADER_BYTES + size);
}

void grpc_trailers_init(struct grpc_trailers *t)
{
    t->status = GRPC_NO_STATUS;
    buf_init(&t->text);
}

void grpc_trailers_done(struct grpc_trailers *t)
{
    buf_done(&t->text);
}

void grpc_trailers_clear(struct grpc_trailers *t)
{
    t->status = GRPC_NO_STATUS;
    buf_clear(&t->text);
}

static int hex_digit(uint8_t c)
{
    return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : -1;
}

static void append_percent_decoded(struct buf *out, struct bytes in)
{
    for (size_t i = 0; i < in.size; i++) {
        uint8_t c = in.data[i];
        if (c == '%' && in.size - i > 2 && hex_digit(in.data[i + 1]) >= 0 &&
            hex_digit(in.data[i + 2]) >= 0) {
            c = (uint8_t)(hex_digit(in.data[i + 1]) << 4 | hex_digit(in.data[i + 2]));
            i += 2;
        }
        buf_append(out, c ? &c : (const uint8_t *)"?", 1);
    }
}

/* A status of digits only; anything else is as good as none. */
static int parse_status(struct bytes value)
{
    int status = 0;
    for (size_t i = 0; i < value.size; i++) {
        if (!isdigit(value.data[i]) || status > 1000) {
            return GRPC_NO_STATUS;
        }
        status = status * 10 + value.data[i] - '0';
    }
    return value.size ? status : GRPC_NO_STATUS;
}

void grpc_trailers_line(struct grpc_trailers *t, struct bytes line)
{
    const uint8_t *colon = line.size ? memchr(line.data, ':', line.size) : NULL;
    if (!colon) {
        return;
    }
    size_t name_size = (size_t)(colon - line.data);
    struct bytes value = {.data = colon + 1, .size = line.size - name_size - 1};
    while (value.size && isspace(value.data[0])) {
        value.data++;
        value.size--;
    }
    while (value.size && isspace(value.data[value.size - 1])) {
        value.size--;
    }
    const char *name = (const char *)line.data;
    if (name_size == 11 && strncasecmp(name, "grpc-status", 11) == 0) {
        t->status = parse_status(value);
    } else if (name_size == 12 && strncasecmp(name, "grpc-message", 12) == 0) {
        buf_clear(&t->text);
        append_percent_decoded(&t->text, value);
    }
}

/* What etcd gives only before it proposes anything, or when applying refused as a whole. */
bool grpc_refused(int status)
{
    switch (status) {
    case GRPC_INVALID_ARGUMENT:
    case GRPC_NOT_FOUND:
    case GRPC_ALREADY_EXISTS:
    case GRPC_PERMISSION_DENIED:
    case GRPC_FAILED_PRECONDITION:
    case GRPC_OUT_OF_RANGE:
    case GRPC_UNIMPLEMENTED:
    case GRPC_UNAUTHENTICATED:
    case GRPC_RESOURCE_EXHAUSTED:
        return true;
    default:
        return false;
    }
}
