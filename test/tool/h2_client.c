#include "test/tool/h2_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_HEAD_BYTES = 9 };

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

bool h2_open(struct h2_client *c, int port, const struct tls_files *files)
{
    c->inflater = NULL;
    if (!client_open_as(&c->tls, port, files, 0, "h2")) {
        return false;
    }
    if (nghttp2_hd_inflate_new(&c->inflater)) {
        abort();
    }
    return client_write(&c->tls, preface, sizeof(preface) - 1) &&
           h2_frame(c, H2_SETTINGS, 0, 0, NULL, 0);
}

void h2_close(struct h2_client *c)
{
    nghttp2_hd_inflate_del(c->inflater);
    client_close(&c->tls);
}

bool h2_frame(struct h2_client *c, int type, int flags, uint32_t stream, const void *payload,
              size_t size)
{
    uint8_t head[FRAME_HEAD_BYTES] = {(uint8_t)(size >> 16),   (uint8_t)(size >> 8),
                                      (uint8_t)size,           (uint8_t)type,
                                      (uint8_t)flags,          (uint8_t)(stream >> 24),
                                      (uint8_t)(stream >> 16), (uint8_t)(stream >> 8),
                                      (uint8_t)stream};
    SCOPED_BUF(b);
    buf_append(&b, head, sizeof(head));
    buf_append(&b, payload, size);
    return client_write(&c->tls, b.data, b.size);
}

/* A length with a prefix of seven bits, then the text. */
static void literal(struct buf *out, const char *text)
{
    size_t size = strlen(text);
    uint8_t first = (uint8_t)(size < 127 ? size : 127);
    buf_append(out, &first, 1);
    if (size >= 127) {
        buf_varint(out, size - 127);
    }
    buf_append(out, text, size);
}

void h2_header(struct buf *block, const char *name, const char *value)
{
    static const uint8_t never_indexed = 0x10;
    buf_append(block, &never_indexed, 1);
    literal(block, name);
    literal(block, value);
}

void h2_call_headers(struct buf *block, const char *path)
{
    h2_header(block, ":method", "POST");
    h2_header(block, ":scheme", "https");
    h2_header(block, ":path", path);
    h2_header(block, ":authority", "localhost");
    h2_header(block, "content-type", "application/grpc");
    h2_header(block, "te", "trailers");
}

bool h2_begin(struct h2_client *c, uint32_t stream, const char *path, int flags)
{
    SCOPED_BUF(block);
    h2_call_headers(&block, path);
    return h2_frame(c, H2_HEADERS, H2_END_HEADERS | flags, stream, block.data, block.size);
}

void h2_message(struct buf *out, const void *data, size_t size)
{
    uint8_t prefix[] = {0, (uint8_t)(size >> 24), (uint8_t)(size >> 16), (uint8_t)(size >> 8),
                        (uint8_t)size};
    buf_append(out, prefix, sizeof(prefix));
    buf_append(out, data, size);
}

bool h2_call(struct h2_client *c, uint32_t stream, const char *path, const void *data, size_t size)
{
    SCOPED_BUF(body);
    h2_message(&body, data, size);
    bool good = h2_begin(c, stream, path, 0) &&
                h2_frame(c, H2_DATA, H2_END_STREAM, stream, body.data, body.size);
    return good;
}

/* ---- Answers ----------------------------------------------------------------------------------
 */

static void take_headers(struct h2_client *c, const uint8_t *block, size_t size,
                         struct h2_answer *ret)
{
    for (int flags = 0; !(flags & NGHTTP2_HD_INFLATE_FINAL);) {
        nghttp2_nv nv;
        ssize_t n = nghttp2_hd_inflate_hd2(c->inflater, &nv, &flags, block, size, 1);
        if (n < 0) {
            abort();
        }
        block += n;
        size -= (size_t)n;
        if (!(flags & NGHTTP2_HD_INFLATE_EMIT) || !ret) {
            continue;
        }
        if (strcmp((char *)nv.name, ":status") == 0) {
            ret->http_status = atoi((char *)nv.value);
        } else if (strcmp((char *)nv.name, "grpc-status") == 0) {
            ret->grpc_status = atoi((char *)nv.value);
        } else if (strcmp((char *)nv.name, "grpc-message") == 0) {
            snprintf(ret->message, sizeof(ret->message), "%s", (char *)nv.value);
        }
    }
    nghttp2_hd_inflate_end_headers(c->inflater);
}

static uint32_t number(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* True when this frame ends it. */
static bool take_frame(struct h2_client *c, const uint8_t *f, size_t size, uint32_t stream,
                       struct h2_answer *ret)
{
    const uint8_t *payload = f + FRAME_HEAD_BYTES;
    bool mine = number(f + 5) == stream;
    switch (f[3]) {
    case H2_HEADERS:
        take_headers(c, payload, size, mine ? ret : NULL);
        return mine && f[4] & H2_END_STREAM;
    case H2_DATA:
        if (mine) {
            buf_append(&ret->body, payload, size);
        }
        return mine && f[4] & H2_END_STREAM;
    case H2_RST_STREAM:
        ret->reset = mine ? number(payload) : ret->reset;
        return mine;
    case H2_GOAWAY:
        ret->goaway = number(payload + 4);
        return ret->goaway != NGHTTP2_NO_ERROR;
    default:
        return false;
    }
}

/* Waits until the input has a whole frame; gives the size of its payload, or -1 when none comes. */
static ssize_t want_frame(struct h2_client *c)
{
    struct buf *in = &c->tls.input;
    for (;;) {
        size_t size = in->size < FRAME_HEAD_BYTES ? 0 : number(in->data) >> 8;
        if (in->size >= FRAME_HEAD_BYTES + size) {
            return (ssize_t)size;
        }
        size_t before = in->size;
        if (!client_read(&c->tls, CLIENT_WAIT_MS) || in->size == before) {
            return -1;
        }
    }
}

bool h2_answer(struct h2_client *c, uint32_t stream, struct h2_answer *ret)
{
    *ret = (struct h2_answer){.grpc_status = -1, .reset = -1, .goaway = -1};
    buf_init(&ret->body);
    for (bool over = false; !over;) {
        ssize_t size = want_frame(c);
        if (size < 0) {
            ret->closed = c->tls.ended;
            return ret->closed;
        }
        over = take_frame(c, c->tls.input.data, (size_t)size, stream, ret);
        buf_consume(&c->tls.input, FRAME_HEAD_BYTES + (size_t)size);
    }
    return true;
}

bool h2_await(struct h2_client *c, int type, uint32_t stream)
{
    struct h2_answer nobody = {0};
    for (bool found = false; !found;) {
        ssize_t size = want_frame(c);
        if (size < 0) {
            return false;
        }
        const uint8_t *f = c->tls.input.data;
        found = f[3] == type && number(f + 5) == stream;
        take_frame(c, f, (size_t)size, UINT32_MAX, &nobody);
        buf_consume(&c->tls.input, FRAME_HEAD_BYTES + (size_t)size);
    }
    return true;
}

void h2_answer_done(struct h2_answer *a)
{
    buf_done(&a->body);
}
