/* The gRPC server shell in a process of its own, with a service behind it, so that tests may speak
 * to it with blocking calls. */
#pragma once

#include "common/shell/grpc_server_io.h"

#include <sys/types.h>

/* /echo.Echo/Say      the message comes back
 * /echo.Echo/Who      "UNIT/NAME" of the peer
 * /echo.Echo/Never    no answer
 * /echo.Echo/Wake     answers every Never first, with an empty message
 * /echo.Echo/Big      a message of 1 MiB
 * /echo.Echo/Stats    "connections=N requests=N hangups=N heap_kb=N"
 * anything else       status 5, "50% of\n nothing" */
struct grpc_echo {
    pid_t pid;
    int port;
};

/* On any free port of 127.0.0.1. Ends the test program when it does not start. */
void grpc_echo_start(struct grpc_echo *s, const struct grpc_server_config *config);

/* Ends it by SIGTERM; false unless it ended well (no sanitizer report, no crash). */
bool grpc_echo_stop(struct grpc_echo *s);
