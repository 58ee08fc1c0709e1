/* What a server's response means for a download: whether its body is taken, and what comes after an
 * attempt. Pure. */
#pragma once

#include "common/base/bytes.h"
#include "rep/container/cache_plan.h"

#include <stdbool.h>
#include <stdint.h>

/* The headers that matter, of the latest response of a transfer; redirects and 1xx come before. */
struct server_response {
    int status; /* 0: none yet */
    char etag[CACHE_VALIDATOR_BYTES + 1];
    char modified[CACHE_VALIDATOR_BYTES + 1];
    int64_t range_start; /* of Content-Range; -1: none */
};

/* Takes a header line, with its line end; a status line begins anew. What is not understood is as
 * if it were not there. */
void response_line(struct server_response *r, struct bytes line);

/* Whether it is a strong one: only then two ranges are sure to be of the same content. */
bool etag_strong(const char *etag);

/* What an attempt asked for. */
struct part_asked {
    int64_t offset;   /* bytes that are here already; 0: all */
    const char *etag; /* of what is here; "" */
    bool conditional; /* by If-None-Match or If-Modified-Since */
};

enum take {
    TAKE_NOT,  /* the body is of no interest */
    TAKE_ANEW, /* it is the whole content */
    TAKE_ON,   /* it goes on behind what is here */
};

/* What the body of the response is. */
enum take response_take(const struct server_response *r, const struct part_asked *asked);

enum fetch_verdict {
    VERDICT_DONE,
    VERDICT_UNCHANGED, /* what the cache has is still the content */
    VERDICT_AGAIN, /* it failed and may pass: try again, going on where it stopped if possible */
    VERDICT_ANEW,  /* try again from the beginning: what is here cannot be gone on with */
    VERDICT_FAILED,
};

/* What comes after a response that was received whole. */
enum fetch_verdict response_verdict(const struct server_response *r,
                                    const struct part_asked *asked);
