/* What a program of this machine asks over a unix socket: one HTTP/1.1 request a connection, which
 * is a POST with a Content-Length. Pure. */
#pragma once

#include "common/base/bytes.h"

#include <stdbool.h>
#include <stddef.h>

enum { LOCAL_HEAD_BYTES = 4096, LOCAL_PATH_BYTES = 128 };

enum local_parse {
    LOCAL_MORE, /* not all of it is there */
    LOCAL_WHOLE,
    LOCAL_MALFORMED,
    LOCAL_TOO_LARGE, /* its body is beyond the limit, and is not waited for */
};

struct local_request {
    char path[LOCAL_PATH_BYTES];
    struct bytes body; /* borrowed from what was read */
};

/* Of what was read so far; *ret is whole for LOCAL_WHOLE only. */
enum local_parse local_request_parse(struct bytes read, size_t body_max, struct local_request *ret);
