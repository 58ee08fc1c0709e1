/* libcurl's multi interface in libevent's loop: sockets and timer become events, transfers that end
 * are reported after libcurl has returned, so that a callback may do anything with the multi. */
#pragma once

#include <curl/curl.h>

struct event_base;
struct curl_loop;

struct curl_loop_handlers {
    /* The transfer of `easy` (removed from the multi already) ended. */
    void (*on_done)(void *context, CURL *easy, CURLcode result);
    /* libcurl has done a piece of work; data that callbacks put aside can be handed on now. */
    void (*on_turn)(void *context);
    void *context;
};

/* The base must outlive the loop. */
struct curl_loop *curl_loop_new(struct event_base *base, const struct curl_loop_handlers *handlers);

/* All easy handles must have been removed. Accepts NULL. */
void curl_loop_free(struct curl_loop *l);

/* For setting options and for adding and removing handles; adding never calls back at once. */
CURLM *curl_loop_multi(struct curl_loop *l);
