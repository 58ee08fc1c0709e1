/* The HTTP server shell with the echo role behind it, in a process of its own, so that tests may
 * speak to it with blocking calls and limit its descriptors. Beside the role's paths it answers
 * /stats with "connections=N heap_kb=N cpu_ms=N", and holds descriptors: /hold takes all but one
 * that are free, /release gives them back. */
#pragma once

#include "common/shell/http_server_io.h"

#include <sys/types.h>

struct echo_server {
    pid_t pid;
    int port;
};

/* The address is any free port of 127.0.0.1. `files_max` > 0 lowers the descriptor limit. `log` is
 * a descriptor, -1 for none. Ends the test program when it does not start. */
void echo_server_start(struct echo_server *s, const struct http_server_config *config,
                       int files_max, int log);

/* Ends it by SIGTERM; false unless it ended well (no sanitizer report, no crash). */
bool echo_server_stop(struct echo_server *s);
