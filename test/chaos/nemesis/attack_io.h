/* A fault of the schedule, made for real: its commands are run, and its probe tells whether it is
 * there. */
#pragma once

#include "test/chaos/nemesis/command_io.h"
#include "test/chaos/nemesis/schedule.h"
#include "test/chaos/nemesis/target.h"

enum {
    COMMAND_LIMIT_MS = 60000,
    PROBE_LIMIT_MS = 15000, /* so long a fault may take until it is there */
    PROBE_EVERY_MS = 100,
};

struct attack {
    struct fault fault;
    int64_t begin_ns, there_ns, heal_ns, end_ns; /* 0 as long as it is not so */
    bool healed;                                 /* whether its heal succeeded */
    bool occupied;                               /* it befalls a rep that had containers */
    char probe[1024];                            /* what the probe said last */
};

/* Puts whoever leads in the place of "ROLE-leader". Gives false when nobody leads. */
bool attack_resolve(const struct nemesis_target *t, struct attack *a);

/* Makes it and waits for its probe. Gives false when it is not there; it must be healed all the
 * same. `stop` ends the waiting. */
bool attack_begin(const struct nemesis_target *t, struct attack *a, volatile const int *stop);

/* Heals it: heal_ns is when its heal began, end_ns when it had ended. */
bool attack_end(const struct nemesis_target *t, struct attack *a);

/* As one text: "cut bbs-1 rep-2". */
void attack_words(const struct attack *a, char *ret_text, size_t size);
