#include "test/api/diego_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Waits until the bytes have `mark`; the length up to and with it, 0 when it does not come. */
static size_t want_mark(struct tls_client *c, const char *mark)
{
    int64_t end_ms = patience_now_ms() + CLIENT_WAIT_MS;
    for (;;) {
        void *at = c->input.size ? memmem(c->input.data, c->input.size, mark, strlen(mark)) : NULL;
        if (at) {
            return (size_t)((uint8_t *)at - c->input.data) + strlen(mark);
        }
        if (!client_read(c, 100) || patience_now_ms() > end_ms) {
            return 0;
        }
    }
}

int diego_stream_open(struct diego_stream *s, int port, const struct tls_files *files,
                    const char *method, const char *path, struct bytes body, struct buf *head)
{
    *s = (struct diego_stream){0};
    buf_init(&s->body);
    if (!client_open(&s->client, port, files, 0)) {
        return 0;
    }
    client_print(&s->client, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", method,
                 path, body.size);
    client_write(&s->client, body.data, body.size);
    size_t size = want_mark(&s->client, "\r\n\r\n");
    int status = 0;
    if (size) {
        s->client.input.data[size - 1] = '\0'; /* of the mark: sscanf reads a text to its end */
        sscanf((const char *)s->client.input.data, "HTTP/1.%*d %d", &status);
        s->client.input.data[size - 1] = '\n';
        if (head) {
            buf_append(head, s->client.input.data, size);
        }
        buf_consume(&s->client.input, size);
    }
    return status;
}

/* Takes one chunk into the body. */
static bool take_chunk(struct diego_stream *s)
{
    struct tls_client *c = &s->client;
    size_t line = want_mark(c, "\r\n");
    if (!line) {
        return false;
    }
    size_t size = strtoul((const char *)c->input.data, NULL, 16);
    int64_t end_ms = patience_now_ms() + CLIENT_WAIT_MS;
    while (c->input.size < line + size + 2) {
        if (!client_read(c, 100) || patience_now_ms() > end_ms) {
            return false;
        }
    }
    buf_append(&s->body, c->input.data + line, size);
    buf_consume(&c->input, line + size + 2);
    s->ended = size == 0;
    return true;
}

static bool decode_base64(const char *text, size_t size, struct buf *out)
{
    buf_clear(out);
    if (size % 4 != 0 || size == 0) {
        return false;
    }
    buf_reserve(out, size);
    int n = EVP_DecodeBlock(out->data, (const unsigned char *)text, (int)size);
    if (n < 0) {
        return false;
    }
    out->size = (size_t)n - (text[size - 1] == '=') - (text[size - 2] == '=');
    return true;
}

bool diego_stream_next(struct diego_stream *s, struct buf *name, struct buf *message,
                       struct buf *why)
{
    void *end;
    while (!(end = s->body.size ? memmem(s->body.data, s->body.size, "\n\n", 2) : NULL)) {
        if (s->ended || !take_chunk(s)) {
            buf_append_string(why,
                              s->ended || s->client.ended ? "the stream ended" : "no event comes");
            return false;
        }
    }
    *(char *)end = '\0';
    size_t size = (size_t)((uint8_t *)end - s->body.data) + 2;
    unsigned id = 0;
    char event[64] = "";
    int data = 0;
    sscanf((const char *)s->body.data, "id: %u\nevent: %63[^\n]\ndata: %n", &id, event, &data);
    const char *text = (const char *)s->body.data + data;
    bool good = data > 0 && id == s->next_id && decode_base64(text, strlen(text), message);
    if (good) {
        s->next_id++;
        buf_clear(name);
        buf_append_string(name, event);
    } else {
        buf_printf(why, "bad frame, where id %u was due: %s", s->next_id,
                   (const char *)s->body.data);
    }
    buf_consume(&s->body, size);
    return good;
}

void diego_stream_close(struct diego_stream *s)
{
    client_close(&s->client);
    buf_done(&s->body);
}
