/* A transfer by HTTP with its limits: nothing it does takes longer than allowed, and what it says
 * of a failure never has the URL in it. In a courier's child alone. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "rep/courier/errand_io.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    HTTP_NO_INTEREST_BYTES = 64 * 1024, /* read of a body that nobody wants */
    HTTP_PAUSE_MS = 500,                /* after the first attempt; twice that after the second */
};

struct http_limits {
    int64_t end_ms;  /* monotonic: the end of all attempts */
    int64_t idle_ms; /* without a byte */
    int redirects;   /* 0: none is followed */
    int attempts;
    struct bytes ca; /* further CAs, in PEM; none: the system's alone */
};

/* One attempt after the other, with the same handle. */
struct http {
    CURL *easy;
    struct http_limits limits;
    int64_t moved_ms, moved; /* when bytes last moved, and how many */
    bool idle;               /* it was ended for want of bytes */
    bool enough;             /* it was ended because nobody wants the rest of the body */
    int64_t unwanted;        /* of the body */
};

/* Makes the handle ready for the URL, with its limits; what is asked is the caller's. */
int http_init(struct http *h, const char *url, const struct http_limits *limits, struct err *err);
void http_done(struct http *h);

/* One attempt. True when a response was received; else err says why, and *ret_again whether another
 * attempt may do better. */
bool http_attempt(struct http *h, bool *ret_again, struct err *err);

/* For a body that nobody wants: takes it in, up to a bound. Gives what libcurl's write function is
 * to give. */
size_t http_no_interest(struct http *h, size_t size);

/* The pause after attempt `number`, from 1, if another is to follow; false when none is. */
bool http_again(const struct http *h, int number);
