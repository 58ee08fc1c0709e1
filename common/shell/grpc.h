/* gRPC's wire format, without the wire: frames, trailers and what a status means for a call that
 * may have written something. */
#pragma once

#include "common/base/bytes.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

enum { GRPC_FRAME_HEADER_BYTES = 5, GRPC_NO_STATUS = -1 };

/* Appends one message with the prefix that gRPC wants before it. */
void grpc_frame_append(struct buf *out, const ProtobufCMessage *message);

/* The message of the frame at the front of `in`: the frame's whole length, 0 when more bytes are
 * needed, -1 when it is compressed (nobody asked for that) or longer than `bound`. */
int64_t grpc_frame_next(struct bytes in, size_t bound, struct bytes *ret_message);

/* How a stream ended, from its trailers (or its headers, when there was no message). */
struct grpc_trailers {
    int status;      /* GRPC_NO_STATUS until one came */
    struct buf text; /* grpc-message, percent-decoded */
};

void grpc_trailers_init(struct grpc_trailers *t);
void grpc_trailers_done(struct grpc_trailers *t);
void grpc_trailers_clear(struct grpc_trailers *t); /* for the next call */

/* Takes one header line ("name: value\r\n"); ignores the ones that are not its own. */
void grpc_trailers_line(struct grpc_trailers *t, struct bytes line);

/* Whether a call that ended with this status, not OK, did nothing. Unavailable, Cancelled,
 * DeadlineExceeded and the like may come after etcd proposed the write ("request timed out",
 * "leader changed", "server stopped"), so they are no refusal. For "database space exceeded" see
 * STORE_REFUSED in common/contract/store.h. */
bool grpc_refused(int status);
