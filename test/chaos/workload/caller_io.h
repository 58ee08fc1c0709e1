/* One call to one bbs, once: no other is asked and nothing is repeated, for a lost answer is what
 * the judge must hear of. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "test/chaos/workload/target_io.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { CALL_LIMIT_MS = 3000, CALL_CONNECT_MS = 1000 };

/* What came of a call. */
enum outcome {
    OUTCOME_OK,
    OUTCOME_FAILED,  /* certainly not done: refused, or never sent */
    OUTCOME_UNKNOWN, /* it may have been done, or be done later */
};

struct caller;

/* For one thread. `target` is borrowed. */
struct caller *caller_new(const struct target *target, const struct target_identity *identity);
void caller_free(struct caller *c);

struct reply {
    enum outcome outcome;
    ProtobufCMessage *message; /* of OUTCOME_OK, in the arena */
    int error_type;            /* of Models__Error, when it was refused so; else -1 */
    const char *why;           /* of the other two, in the arena */
    bool answered;
};

/* POSTs `request` (NULL: nothing) and decodes the answer. */
struct reply caller_post(struct caller *c, struct arena *a, const char *url, const char *path,
                         const ProtobufCMessage *request,
                         const ProtobufCMessageDescriptor *answer_type);

/* POSTs and hands the answer's bytes to `take` until it ends, `take` gives a negative code, nothing
 * came for `silence_ms`, or *stop. Gives why it ended; static or of the caller. */
const char *caller_stream(struct caller *c, const char *url, const char *path,
                          const ProtobufCMessage *request, int64_t silence_ms,
                          int (*take)(void *owner, struct bytes bytes), void *owner,
                          const atomic_bool *stop);
