/* A gRPC client for tests that makes its HTTP/2 frames by hand, so that it can make wrong ones.
 * Every wait is bounded (CLIENT_WAIT_MS). */
#pragma once

#include "test/tool/tls_client.h"

#include <nghttp2/nghttp2.h>

enum {
    H2_DATA = 0,
    H2_HEADERS = 1,
    H2_PRIORITY = 2,
    H2_RST_STREAM = 3,
    H2_SETTINGS = 4,
    H2_PING = 6,
    H2_GOAWAY = 7,
    H2_WINDOW_UPDATE = 8,
    H2_CONTINUATION = 9,
    H2_END_STREAM = 1,
    H2_ACK = 1,
    H2_END_HEADERS = 4,
};

struct h2_client {
    struct tls_client tls;
    nghttp2_hd_inflater *inflater;
};

/* How a call ended. */
struct h2_answer {
    int http_status; /* 0 = no headers came */
    int grpc_status; /* -1 = none */
    char message[128];
    struct buf body;   /* frames of gRPC as they came */
    int64_t reset;     /* error code of RST_STREAM; -1 = none */
    int64_t goaway;    /* of GOAWAY; -1 = none */
    bool closed;       /* the server closed */
};

/* With preface and empty SETTINGS. False when there is no connection. */
bool h2_open(struct h2_client *c, int port, const struct tls_files *files);
void h2_close(struct h2_client *c);

bool h2_frame(struct h2_client *c, int type, int flags, uint32_t stream, const void *payload,
              size_t size);

/* Appends a header as HPACK's plain literal. */
void h2_header(struct buf *block, const char *name, const char *value);

/* Appends the headers of a good gRPC call. */
void h2_call_headers(struct buf *block, const char *path);

/* Sends the headers of a call, in one frame, with END_HEADERS and these flags. */
bool h2_begin(struct h2_client *c, uint32_t stream, const char *path, int flags);

/* Appends a gRPC frame. */
void h2_message(struct buf *out, const void *data, size_t size);

/* Sends a whole call with one message. */
bool h2_call(struct h2_client *c, uint32_t stream, const char *path, const void *data, size_t size);

/* Takes frames until the stream has ended, or the connection. Of other streams nothing is kept.
 * False when nothing ends in time. */
bool h2_answer(struct h2_client *c, uint32_t stream, struct h2_answer *ret);
void h2_answer_done(struct h2_answer *a);

/* Takes frames up to the first of this type on this stream. False when it does not come. */
bool h2_await(struct h2_client *c, int type, uint32_t stream);
