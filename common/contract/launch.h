/* A program of the operator's that a role has run: the hook of an upgrade (docs/edge.md,
 * Cloudlets). The shell runs it in a child of the process: EFFECT_LAUNCH, answered exactly once by
 * EVENT_LAUNCHED, also when the child hangs. Its environment is PATH, HOME, LANG and TMPDIR and
 * nothing else of ours, and of our descriptors it has none: no key or certificate comes to it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    LAUNCH_TIME_S = 60,      /* then it is killed, with all that it started and did not leave to a
                              * session of its own */
    LAUNCHES_MAX = 4,        /* at once; one more fails */
    LAUNCH_WORDS_MAX = 16,   /* of a command */
    LAUNCH_LINE_BYTES = 512, /* of its last line are told */
};

struct launch {
    uint64_t id;              /* chosen by the role; not 0, unique among its open ones */
    const char *const *words; /* the program, found by PATH, and its arguments */
    size_t count;
};

/* What became of it. */
struct launched {
    uint64_t id;
    int status; /* its exit status; 128 and the number of the signal; -1 = it was never run */
    /* "" = it ended with 0; else the last line that it wrote, to standard output or error, or what
     * went wrong. Printable ASCII, never NULL. */
    const char *text;
};
