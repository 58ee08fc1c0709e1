/* One gRPC exchange on a libcurl easy handle: one request message, then the answer's frames and its
 * trailers. Handles are kept and used again: setting one up costs more than a call. */
#pragma once

#include "common/base/err.h"
#include "common/shell/grpc.h"

#include <curl/curl.h>

/* What all exchanges of one client have in common. The strings are borrowed. */
struct exchange_options {
    const char *ca;
    const char *cert;
    const char *key;
    long connect_ms;
    long user_timeout_ms; /* TCP_USER_TIMEOUT */
    size_t answer_bytes;  /* bound of what is received and not yet taken */
    struct curl_slist *headers;
};

struct exchange {
    CURL *easy;
    const struct exchange_options *options;
    void *owner;
    struct buf request;
    size_t sent;    /* bytes of the request that libcurl took */
    bool hold_open; /* the request side stays open after the message (Watch) */
    struct buf received;
    bool overflowed; /* the answer exceeded its bound and was broken off */
    struct grpc_trailers trailers;
    char problem[CURL_ERROR_SIZE];
};

/* INVALID when the libcurl with this version number and these features is not fit for gRPC: older
 * than 8.14, or built without HTTP/2 or TLS (design.md 2). */
int exchange_check_libcurl(unsigned version_number, const char *version, int features,
                           struct err *err);

/* The headers that every gRPC request carries; freed with curl_slist_free_all(). */
struct curl_slist *exchange_headers(void);

/* `options` must outlive the exchange; `owner` comes back from exchange_of(). */
struct exchange *exchange_new(const struct exchange_options *options, void *owner);
void exchange_free(struct exchange *x); /* accepts NULL; not while it is under way */

/* Packs the request; clears what an earlier one left. With `hold_open` the request is not ended
 * after the message. */
void exchange_fill(struct exchange *x, const ProtobufCMessage *request, bool hold_open);

/* Where it goes, before it is given to channel_send(). `timeout_ms` covers all of it, 0 = no end.
 */
void exchange_aim(struct exchange *x, const char *url, long timeout_ms);

/* The exchange that owns an easy handle. */
struct exchange *exchange_of(CURL *easy);

/* Whether the request cannot have reached the server as a whole. */
bool exchange_unsent(const struct exchange *x);

/* Why it ended like this, in words, for an exchange without a status. */
void exchange_explain(const struct exchange *x, CURLcode result, struct buf *out);
