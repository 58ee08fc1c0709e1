/* The bbs: guards the board (design.md 1, 2). A role; several run at once, all active. */
#pragma once

#include "common/contract/role.h"

struct seal;

/* Of completion callbacks (bbs/callbacks.h); 0 = the default. */
struct callback_limits {
    unsigned at_once;   /* from the move to Resolving to the end: 1,000 */
    size_t bytes;       /* of the records of these: 32 MiB; one alone may have more */
    unsigned waiting;   /* more are left to the converger: 4,096 */
    unsigned attempts;  /* without a pause: 3 */
    int64_t timeout_ns; /* of an attempt: 10 s */
};

struct bbs_config {
    const char *url;  /* where it listens, for its heartbeat record */
    const char *name; /* for logs */
    bool any_client;  /* a certificate that is none of ours is an ordinary client's */
    /* Settings; 0 = the default of design.md 2 and 6. */
    int64_t heartbeat_interval_ns;     /* 2 s */
    int64_t verify_interval_ns;   /* slow periodic list that verifies the copy: 10 min */
    int64_t compact_interval_ns;  /* 5 min */
    unsigned transactions_max;    /* in flight: 16 */
    size_t feed_ring_changes;     /* kept for resuming readers: 65536 */
    size_t feed_ring_bytes;       /* of what they replaced: 128 MiB */
    struct callback_limits callbacks;
    const struct seal *seal; /* keys for secrets, borrowed for the bbs's life; NULL = it has none */
};

/* The strings are copied. The boot id is drawn from the entropy of EVENT_START. */
struct role *bbs_new(const struct bbs_config *config);
