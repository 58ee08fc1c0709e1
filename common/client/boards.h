/* The bbs processes that a role talks to: which one now, which next when it fails, and calls that
 * go to another one when the first does not answer (design.md 6). Pure. */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/event.h"

enum { BOARDS_MAX = 16 };

struct boards {
    const char *urls[BOARDS_MAX]; /* "https://host:port", without trailing slash */
    size_t count;
    size_t current;
    enum call_identity identity; /* as whom they are called: ourselves, unless set afterwards */
    uint64_t *next_call_id; /* the role's counter: ids of calls and subscriptions, starts at 1 */
};

/* `list` is "url,url,..."; copied into the arena, which must outlive `b`. ERR_INVALID when it is
 * empty, too long or not https. */
int boards_init(struct boards *b, struct arena *a, const char *list, uint64_t *next_call_id,
                struct err *err);

/* The bbs to talk to now. */
const char *boards_url(const struct boards *b);

/* `url` failed: go to the next one, unless somebody already did. */
void boards_failed(struct boards *b, const char *url);

/* A fresh id for a call or subscription of the role. */
uint64_t boards_next_id(struct boards *b);

/* POSTs a message to `path` at the present bbs. Gives the call's id; the answer is the role's
 * EVENT_RESPONSE. */
uint64_t boards_call(struct boards *b, struct effects *out, const char *path, const char *trace_id,
                     const ProtobufCMessage *m, int64_t deadline_ns);

/* The message that answers such a call, in the arena. NULL when the call failed, was not answered
 * with 200, or with something else than such a message of `decoded_max` bytes at most: *ret_why
 * then says it, in the arena or borrowed from the response. */
const ProtobufCMessage *boards_answer(struct arena *a, const struct response *response,
                                      const ProtobufCMessageDescriptor *descriptor,
                                      size_t decoded_max, const char **ret_why);
