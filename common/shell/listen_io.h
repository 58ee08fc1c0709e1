/* Listening sockets. */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>

enum { LISTEN_BACKLOG = 1024 };

/* Binds to "IP:PORT" or "[IPv6]:PORT" (port 0: any free one) and listens. TCP_NODELAY, keep-alive
 * probes, TCP_USER_TIMEOUT and a bound on what the kernel keeps unsent are set here, because
 * accepted connections inherit them (design.md 8). `what` names the address in errors: INVALID for
 * one that is none, IO when it cannot be had. */
int listen_open(const char *what, const char *address, unsigned user_timeout_ms, int *ret_fd,
                int *ret_port, struct err *err);

/* Whether nobody but this machine reaches such an address: 127.0.0.0/8 or ::1. Not for one that
 * listen_open() would refuse. */
bool listen_is_loopback(const char *address);
