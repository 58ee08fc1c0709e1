/* What tests of the gRPC server shell share: the echo role behind it in a process of its own,
 * certificates, a client that makes its frames by hand, and what it expects. */
#pragma once

#include "common/base/bytes.h"
#include "common/shell/grpc_call.h"
#include "test/tool/certs.h"
#include "test/tool/grpc_echo.h"
#include "test/tool/h2_client.h"

struct grpc_rig {
    struct certs certs;
    struct tls_files server, client;
    struct grpc_echo echo;
    struct h2_client c;
};

/* For cmocka: certificates, and nothing that runs yet. */
int grpc_rig_setup(void **state);
int grpc_rig_teardown(void **state);

/* Starts the server and connects to it; 0 of the bounds is their default. */
void grpc_rig_begin(struct grpc_rig *f);
void grpc_rig_begin_with(struct grpc_rig *f, struct grpc_times times, unsigned connections_max);

/* Ends both sides; the server must end well. */
void grpc_rig_end(struct grpc_rig *f);

/* What must come next: this message and OK; this status and its text; the end of the connection. */
void grpc_rig_answered(struct grpc_rig *f, uint32_t stream, const char *text);
void grpc_rig_refused(struct grpc_rig *f, uint32_t stream, int status, const char *text);
void grpc_rig_goaway(struct grpc_rig *f, uint32_t code);

/* One number of what the server says of itself, asked on a connection of its own; waits until it is
 * `value`. */
unsigned grpc_rig_stat(struct grpc_rig *f, const char *name);
void grpc_rig_await(struct grpc_rig *f, const char *name, unsigned value);

/* All bytes of a call with the message "hello", as they go over the wire; `timeout` NULL = no time
 * limit. */
void grpc_rig_call(struct buf *all, const char *path, uint8_t data_flags, const char *timeout);
