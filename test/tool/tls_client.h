/* A blocking HTTPS client for tests, byte by byte under the test's control. Every wait is bounded
 * (CLIENT_WAIT_MS). */
#pragma once

#include "common/base/bytes.h"
#include "common/shell/host_io.h"
#include "test/tool/patience.h"

#include <openssl/ssl.h>

enum { CLIENT_WAIT_MS = PATIENCE_MS };

struct tls_client {
    SSL_CTX *ctx;
    SSL *ssl; /* NULL: plain text */
    int fd;
    struct buf input; /* read and not yet taken */
    bool ended;       /* the server closed */
    bool reset;       /* ... with an error */
};

/* Connects to 127.0.0.1. `files` NULL: plain text; files->cert NULL: no client certificate. False
 * when the connection or the handshake fails. `receive_bytes` > 0 sets the socket's buffer. */
bool client_open(struct tls_client *c, int port, const struct tls_files *files, int receive_bytes);
/* The same, offering one protocol by ALPN ("h2"); NULL = no ALPN. */
bool client_open_as(struct tls_client *c, int port, const struct tls_files *files,
                    int receive_bytes, const char *alpn);
void client_close(struct tls_client *c);

/* False when the server has closed. */
bool client_write(struct tls_client *c, const void *data, size_t size);
bool client_print(struct tls_client *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads what is there, waiting for at most wait_ms for the first byte. False at the end. */
bool client_read(struct tls_client *c, int wait_ms);

/* True when the server closes within wait_ms; what it sends before is kept in `input`. */
bool client_closed(struct tls_client *c, int wait_ms);

/* Reads one answer: status (0 = none came), head and body into the given bufs (either may be NULL).
 * Understands Content-Length and chunks; `no_body` for HEAD. */
int client_answer(struct tls_client *c, struct buf *head, struct buf *body, bool no_body);

/* A whole exchange: method, target and body; the answer's status, its body in `body`. */
int client_ask(struct tls_client *c, const char *method, const char *target, const void *data,
               size_t size, struct buf *body);
