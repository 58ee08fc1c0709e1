/* libcurl's multi interface on a libevent loop: a set of transfers with a connection pool of its
 * own. */
#ifndef COMMON_SHELL_TRANSFERS_IO_H
#define COMMON_SHELL_TRANSFERS_IO_H

#include <curl/curl.h>

struct event_base;
struct transfers;

/* Both are called from the loop and outside of libcurl's own callbacks, so they may add and remove
 * transfers; they may not free the set. */
struct transfers_news {
    /* A transfer ended; it is no longer in the set. */
    void (*on_done)(void *context, CURL *easy, CURLcode result);
    /* libcurl was busy: write callbacks may have been called. NULL = not wanted. */
    void (*on_progress)(void *context);
    void *context;
};

/* Ends the process when memory is short. `base` must outlive the set. */
struct transfers *transfers_new(struct event_base *base, const struct transfers_news *news);

/* Closes all connections. The transfers that are still in it are taken out, without news; they stay
 * their owner's. Accepts NULL. */
void transfers_free(struct transfers *t);

/* For curl_multi_setopt(). */
CURLM *transfers_multi(struct transfers *t);

/* Starts a transfer; nothing is called before the loop runs again. */
void transfers_add(struct transfers *t, CURL *easy);

/* Breaks a transfer off, without news. */
void transfers_remove(struct transfers *t, CURL *easy);

#endif
