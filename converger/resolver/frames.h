/* What a converger and its child say to each other (proto/resolver.proto), from bytes and into
 * them. Either side reads the other as it would a stranger: a child has read what strangers wrote,
 * and a child may be started by hand. */
#pragma once

#include "common/base/arena.h"
#include "common/base/err.h"
#include "common/contract/resolver.h"
#include "resolver.pb-c.h"

enum {
    RESOLVER_REQUEST_BYTES_MAX = 4 * 1024 * 1024,
    /* A tree of the largest size, its index, and room. */
    RESOLVER_ANSWER_BYTES_MAX = 40 * 1024 * 1024,
    /* What an answer takes in memory once it is unpacked. */
    RESOLVER_DECODED_MAX = 512 * 1024 * 1024,
};

/* Both results live in the arena; `ret_message` has what belongs to the child alone.
 * ERR_INVALID, ERR_TOO_LARGE: it is no request of a converger. */
int resolver_request_read(struct arena *a, struct bytes frame,
                          const Board__ResolverRequest **ret_message,
                          struct resolve_request *ret, struct err *err);

/* Borrows from `r`; what is NULL there is "". */
Board__ResolverAnswer resolver_answer_of(struct arena *a, const struct resolved *r);

/* The answer to request `id`, which asked for `what`; in the arena. It is whole: done with what was
 * asked for, or not done with a fault or a need; an index names each component in its order.
 * ERR_INVALID, ERR_TOO_LARGE: no child in its right mind says this. */
int resolver_answer_read(struct arena *a, uint64_t id, enum resolve_what what, struct bytes frame,
                         struct resolved *ret, struct err *err);
