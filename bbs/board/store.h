/* Open calls to etcd: who waits for which answer */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/store.h"

#include <sys/queue.h>

struct board;

enum { STORE_BUCKETS = 64 };

#define TXN_TIMEOUT_NS (2 * SECOND_NS)
#define PAGE_TIMEOUT_NS (5 * SECOND_NS)

typedef void store_done(struct board *b, void *context, const struct store_answer *answer,
                        struct effects *out);

struct store_open {
    LIST_ENTRY(store_open) link;
    uint64_t id;
    store_done *done;
    void *context;
    unsigned board_generation_number; /* of the board when it was sent */
    int64_t known_revision; /* likewise: a linearizable answer shows no less */
};

/* Sends a call (the message must live in out->arena) and gives its id; `done` comes once. */
uint64_t store_send(struct board *b, enum store_call call, const ProtobufCMessage *message,
                    int64_t timeout_ns, store_done *done, void *context, struct effects *out);

/* No `done` of this call comes any more; 0 and unknown ids are fine. */
void store_forget(struct board *b, uint64_t id);

/* Gives an answer to who waits for it. False if nobody here does. */
bool store_answered(struct board *b, const struct store_answer *answer, struct effects *out);

/* Whether the call certainly had no effect: etcd's own "unavailable" and "deadline exceeded" may
 * come after a proposal that still lands. */
bool store_certainly_refused(const struct store_answer *answer);

/* What went wrong, for texts. */
const char *store_text(const struct store_answer *answer);
