/* What happened to a step of a container (rep/steps): a line of its history, kept by the driver
 * beside the container. Facts are only added, and what is to be done next follows from them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Most steps of a container, which are numbered from 0; and how often a transfer, which may be
 * repeated, begins at most. */
enum { STEPS_MAX = 1000, TRANSFER_BEGINS_MAX = 3 };

/* Runs (driver.h, VERB_RUN) have facts as steps have them, under numbers from RUN_FIRST to
 * RUN_LAST. So many of a container are there at once, until they are forgotten; and so many of the
 * last bytes that one wrote are kept. */
enum { RUN_FIRST = 1024, RUN_LAST = 999999999, RUNS_MAX = 64, RUN_OUTPUT_MAX = 4096 };

enum step_fact_kind {
    FACT_BEGUN, /* of a leaf: its shim has begun to start it, once and for all; a transfer that was
                 * lost begins anew */
    FACT_ENDED, /* its process has ended, or could not be started */
    FACT_LOST,  /* nobody watched its end: its shim was killed. Of the whole, which is 0: that of
                 * the container was, and all of it is being ended */
    FACT_CUT,   /* of any step: it is to end, and begins nothing more */
    FACT_KIND_COUNT
};

/* Why a step was cut. */
enum cut_why {
    CUT_STOPPED,  /* the whole: a stop of the container was asked */
    CUT_TIMEOUT,  /* a timeout: its time is over */
    CUT_BESIDE,   /* one beside it has ended */
    CUT_STUCK,    /* a leaf: killed, it did not exit */
    CUT_WHY_COUNT
};

struct step_fact {
    enum step_fact_kind kind;
    uint32_t step;
    int64_t at_ns; /* monotonic, of the boot of the machine in which the container began */
    enum cut_why why; /* of CUT */
    int exit_code;    /* of ENDED, as the next five: 0..255; -1 = it never ran */
    int exit_signal;  /* 0 = none */
    bool oom_killed;
    bool disk_full;   /* it ended badly while its container's limited disk had no room */
    int64_t moved;    /* of a transfer: bytes that came or went over the network */
    const char *text; /* why it never ran, or why a transfer failed, without a URL; of LOST of the
                       * whole, by what, if not with its shim; "" otherwise, and never NULL */
};

/* The exit code of a transfer that failed at the container's side, not at the server's. */
enum { TRANSFER_INSIDE = 4 };
