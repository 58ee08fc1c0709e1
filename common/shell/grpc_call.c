#include "common/shell/grpc_call.h"

#include "common/contract/moment.h"
#include "common/shell/grpc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MAX_NS (24 * 3600 * SECOND_NS)

static const struct grpc_fault none = {.status = GRPC_OK, .http_status = 200, .text = ""};

static struct grpc_fault fault(enum grpc_status status, const char *text)
{
    return (struct grpc_fault){.status = status, .http_status = 200, .text = text};
}

/* ---- The head -------------------------------------------------------------------------------- */

static bool is(struct bytes b, const char *text)
{
    return bytes_equal(b, bytes_of(text));
}

static void keep(char **where, struct bytes value)
{
    free(*where);
    *where = strndup((const char *)value.data, value.size);
    assert(*where);
}

void grpc_head_done(struct grpc_head *h)
{
    free(h->path);
    free(h->trace_id);
    *h = (struct grpc_head){0};
}

/* application/grpc and application/grpc+proto, with or without parameters. */
static bool grpc_type(struct bytes value)
{
    static const char *const types[] = {"application/grpc", "application/grpc+proto"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        size_t size = strlen(types[i]);
        if (value.size >= size && memcmp(value.data, types[i], size) == 0 &&
            (value.size == size || value.data[size] == ';')) {
            return true;
        }
    }
    return false;
}

bool grpc_timeout_parse(struct bytes text, int64_t *ret_ns)
{
    enum { DIGITS_MAX = 8 };
    static const char units[] = "HMSmun";
    static const int64_t unit_ns[] = {3600 * SECOND_NS, 60 * SECOND_NS, SECOND_NS,
                                      MILLISECOND_NS,   MICROSECOND_NS, 1};
    int64_t number = 0;
    if (text.size < 2 || text.size > DIGITS_MAX + 1) {
        return false;
    }
    for (size_t i = 0; i + 1 < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
        number = number * 10 + text.data[i] - '0';
    }
    const char *unit = text.data[text.size - 1] ? strchr(units, text.data[text.size - 1]) : NULL;
    if (!unit) {
        return false;
    }
    int64_t one_ns = unit_ns[unit - units];
    *ret_ns = number > TIMEOUT_MAX_NS / one_ns ? TIMEOUT_MAX_NS : number * one_ns;
    return true;
}

void grpc_head_add(struct grpc_head *h, struct bytes name, struct bytes value)
{
    h->bytes += name.size + value.size + GRPC_HEADER_OVERHEAD;
    h->too_large = h->too_large || h->bytes > GRPC_HEAD_BYTES;
    if (h->too_large) {
        return;
    }
    if (is(name, ":method")) {
        h->post = is(value, "POST");
    } else if (is(name, ":path")) {
        keep(&h->path, value);
    } else if (is(name, "content-type")) {
        h->grpc_type = grpc_type(value);
    } else if (is(name, "grpc-encoding")) {
        h->compressed = !is(value, "identity");
    } else if (is(name, "grpc-timeout")) {
        h->bad_timeout = !grpc_timeout_parse(value, &h->timeout_ns);
    } else if (is(name, "x-vcap-request-id")) {
        keep(&h->trace_id, value);
    }
}

struct grpc_fault grpc_head_fault(const struct grpc_head *h)
{
    if (h->too_large) {
        return fault(GRPC_RESOURCE_EXHAUSTED, "the headers are too large");
    }
    if (!h->post) {
        return (struct grpc_fault){GRPC_INTERNAL, 405, "a call must be a POST"};
    }
    if (!h->grpc_type) {
        return (struct grpc_fault){GRPC_INTERNAL, 415,
                                   "the content type must be application/grpc"};
    }
    if (h->bad_timeout) {
        return (struct grpc_fault){GRPC_INTERNAL, 400, "malformed grpc-timeout"};
    }
    return h->compressed ? fault(GRPC_UNIMPLEMENTED, "compression is not supported") : none;
}

/* ---- The body -------------------------------------------------------------------------------- */

struct grpc_fault grpc_body_fault(struct bytes body, size_t bound)
{
    const uint8_t *p = body.data;
    if (body.size && p[0]) {
        return fault(GRPC_UNIMPLEMENTED, "compression is not supported");
    }
    if (body.size < GRPC_FRAME_HEADER_BYTES) {
        return none;
    }
    size_t size = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
    if (size > bound) {
        return fault(GRPC_RESOURCE_EXHAUSTED, "the message is too large");
    }
    return body.size - GRPC_FRAME_HEADER_BYTES > size
               ? fault(GRPC_INTERNAL, "a unary call has one message")
               : none;
}

struct grpc_fault grpc_body_message(struct bytes body, size_t bound, struct bytes *ret_message)
{
    struct grpc_fault f = grpc_body_fault(body, bound);
    if (f.status == GRPC_OK && grpc_frame_next(body, bound, ret_message) <= 0) {
        return fault(GRPC_INTERNAL, "the message is cut off");
    }
    return f;
}

/* ---- The answer ------------------------------------------------------------------------------ */

void grpc_message_encode(struct buf *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p >= ' ' && *p <= '~' && *p != '%') {
            buf_append(out, p, 1);
        } else {
            buf_printf(out, "%%%02X", *p);
        }
    }
}
