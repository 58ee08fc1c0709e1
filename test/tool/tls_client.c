#include "test/tool/tls_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool dial(struct tls_client *c, int port, int receive_bytes)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval wait = {.tv_sec = CLIENT_WAIT_MS / 1000};
    int on = 1;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (receive_bytes) {
        setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    }
    return c->fd >= 0 && connect(c->fd, (struct sockaddr *)&at, sizeof(at)) == 0;
}

bool client_open(struct tls_client *c, int port, const struct tls_files *files, int receive_bytes)
{
    return client_open_as(c, port, files, receive_bytes, NULL);
}

bool client_open_as(struct tls_client *c, int port, const struct tls_files *files,
                    int receive_bytes, const char *alpn)
{
    *c = (struct tls_client){.fd = -1};
    buf_init(&c->input);
    if (!dial(c, port, receive_bytes)) {
        return false;
    }
    if (!files) {
        return true;
    }
    c->ctx = SSL_CTX_new(TLS_client_method());
    if (SSL_CTX_load_verify_file(c->ctx, files->ca) != 1 ||
        (files->cert && (SSL_CTX_use_certificate_file(c->ctx, files->cert, SSL_FILETYPE_PEM) != 1 ||
                         SSL_CTX_use_PrivateKey_file(c->ctx, files->key, SSL_FILETYPE_PEM) != 1))) {
        abort();
    }
    SSL_CTX_set_verify(c->ctx, SSL_VERIFY_PEER, NULL);
    c->ssl = SSL_new(c->ctx);
    if (alpn) {
        unsigned char list[32] = {(unsigned char)strlen(alpn)};
        memcpy(list + 1, alpn, strlen(alpn));
        SSL_set_alpn_protos(c->ssl, list, 1 + list[0]);
    }
    SSL_set_fd(c->ssl, c->fd);
    bool good = SSL_connect(c->ssl) == 1;
    ERR_clear_error();
    return good;
}

void client_close(struct tls_client *c)
{
    SSL_free(c->ssl);
    SSL_CTX_free(c->ctx);
    if (c->fd >= 0) {
        close(c->fd);
    }
    buf_done(&c->input);
    *c = (struct tls_client){.fd = -1};
    ERR_clear_error();
}

bool client_write(struct tls_client *c, const void *data, size_t size)
{
    const char *at = data;
    while (size) {
        int part = size > 1 << 20 ? 1 << 20 : (int)size;
        int n = c->ssl ? SSL_write(c->ssl, at, part)
                       : (int)send(c->fd, at, (size_t)part, MSG_NOSIGNAL);
        if (n <= 0) {
            ERR_clear_error();
            return false;
        }
        at += n;
        size -= (size_t)n;
    }
    return true;
}

bool client_print(struct tls_client *c, const char *format, ...)
{
    va_list args;
    char *text;
    va_start(args, format);
    int size = vasprintf(&text, format, args);
    va_end(args);
    bool good = size >= 0 && client_write(c, text, (size_t)size);
    free(text);
    return good;
}

bool client_read(struct tls_client *c, int wait_ms)
{
    char part[16384];
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    if (c->ended) {
        return false;
    }
    if ((!c->ssl || !SSL_pending(c->ssl)) && poll(&p, 1, wait_ms) <= 0) {
        return true;
    }
    int n = c->ssl ? SSL_read(c->ssl, part, sizeof(part)) : (int)recv(c->fd, part, sizeof(part), 0);
    if (n > 0) {
        buf_append(&c->input, part, (size_t)n);
        return true;
    }
    int error = c->ssl ? SSL_get_error(c->ssl, n) : n;
    c->ended = true;
    c->reset = c->ssl ? error != SSL_ERROR_ZERO_RETURN : n < 0;
    ERR_clear_error();
    return false;
}

bool client_closed(struct tls_client *c, int wait_ms)
{
    int64_t end_ms = patience_now_ms() + wait_ms;
    while (client_read(c, (int)(end_ms - patience_now_ms() > 0 ? end_ms - patience_now_ms() : 0))) {
        if (patience_now_ms() >= end_ms) {
            return false;
        }
    }
    return true;
}

/* Waits until `input` has `size` bytes. */
static bool want(struct tls_client *c, size_t size)
{
    int64_t end_ms = patience_now_ms() + CLIENT_WAIT_MS;
    while (c->input.size < size) {
        if (!client_read(c, CLIENT_WAIT_MS) || patience_now_ms() > end_ms) {
            return false;
        }
    }
    return true;
}

/* Length of the input up to and with `mark`, 0 when it does not come. */
static size_t want_mark(struct tls_client *c, const char *mark)
{
    size_t size = strlen(mark);
    for (size_t have = 0;; have = c->input.size) {
        void *at = !have ? NULL : memmem(c->input.data, c->input.size, mark, size);
        if (at) {
            return (size_t)((uint8_t *)at - c->input.data) + size;
        }
        if (!want(c, have + 1)) {
            return 0;
        }
    }
}

static bool take(struct tls_client *c, size_t size, struct buf *out)
{
    if (!want(c, size)) {
        return false;
    }
    if (out) {
        buf_append(out, c->input.data, size);
    }
    buf_consume(&c->input, size);
    return true;
}

static bool take_chunks(struct tls_client *c, struct buf *body)
{
    for (;;) {
        size_t line = want_mark(c, "\r\n");
        if (!line) {
            return false;
        }
        size_t size = strtoul((char *)c->input.data, NULL, 16);
        buf_consume(&c->input, line);
        if (!take(c, size, body) || !take(c, 2, NULL)) {
            return false;
        }
        if (!size) {
            return true;
        }
    }
}

int client_answer(struct tls_client *c, struct buf *ret_head, struct buf *body, bool no_body)
{
    SCOPED_BUF(head);
    size_t size = want_mark(c, "\r\n\r\n");
    if (!size || !take(c, size, &head)) {
        return 0;
    }
    const char *text = buf_string(&head);
    const char *length = strcasestr(text, "\r\nContent-Length: ");
    int status = 0;
    bool good = sscanf(text, "HTTP/1.%*d %d", &status) == 1;
    if (no_body) {
    } else if (strcasestr(text, "\r\nTransfer-Encoding: chunked\r\n")) {
        good = good && take_chunks(c, body);
    } else if (length) {
        good = good && take(c, strtoul(length + strlen("\r\nContent-Length: "), NULL, 10), body);
    }
    if (ret_head) {
        buf_append(ret_head, head.data, head.size);
    }
    return good ? status : 0;
}

int client_ask(struct tls_client *c, const char *method, const char *target, const void *data,
               size_t size, struct buf *body)
{
    if (body) {
        buf_clear(body);
    }
    if (!client_print(c, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", method, target,
                      size) ||
        !client_write(c, data, size)) {
        return 0;
    }
    return client_answer(c, NULL, body, false);
}
