/* A unary gRPC call as its server sees it, without the wire: the words of its headers, and the body
 * that must hold exactly one message. (Frames and trailers of clients: grpc.h.) Pure. */
#pragma once

#include "common/base/bytes.h"
#include "common/contract/grpc_status.h"

/* Why a call is refused before anybody looks at its message. `text` is constant. */
struct grpc_fault {
    enum grpc_status status; /* GRPC_OK = none */
    int http_status;         /* for a peer that speaks no gRPC at all */
    const char *text;
};

/* The headers of a request, one after the other, in any order. Zero is empty. */
struct grpc_head {
    char *path, *trace_id; /* owned; NULL = not given */
    bool post, grpc_type;
    bool compressed;       /* grpc-encoding is not identity */
    bool bad_timeout;
    bool too_large;        /* beyond GRPC_HEAD_BYTES: nothing was kept of what came then */
    int64_t timeout_ns;    /* 0 = none */
    size_t bytes;          /* as HTTP/2 counts a header list */
};

enum {
    GRPC_HEAD_BYTES = 8 * 1024,
    GRPC_HEADER_OVERHEAD = 32, /* of each header, in a header list's size (RFC 9113, 6.5.2) */
};

void grpc_head_done(struct grpc_head *h);

/* Takes one header; pseudo-headers have their colon. */
void grpc_head_add(struct grpc_head *h, struct bytes name, struct bytes value);

/* What is wrong with them, when all are there. */
struct grpc_fault grpc_head_fault(const struct grpc_head *h);

/* "1S", "250m", ...: at most eight digits and a unit (H M S m u n). False when it is none. What is
 * longer than a day is a day. */
bool grpc_timeout_parse(struct bytes text, int64_t *ret_ns);

/* What the first bytes of a body show already: a flag of compression, or a length beyond `bound`.
 */
struct grpc_fault grpc_body_fault(struct bytes body, size_t bound);

/* The only message of a whole body. */
struct grpc_fault grpc_body_message(struct bytes body, size_t bound, struct bytes *ret_message);

/* Appends a text as grpc-message wants it: bytes outside the printable ASCII, and "%", escaped. */
void grpc_message_encode(struct buf *out, const char *text);
