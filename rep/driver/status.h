/* What a shim wrote about the end of its container (rep/shim/report.c), and what it reports while
 * it works. Pure. */
#pragma once

#include "common/base/bytes.h"
#include "common/base/err.h"

#include <stdbool.h>

enum { STATUS_TEXT_BYTES = 1024 };

struct ending {
    int code;   /* 0..255; -1: it never ran */
    int signal; /* 0: none */
    bool oom_killed;
    bool disk_full;
    char text[STATUS_TEXT_BYTES + 1]; /* why it never ran, or what else there is to say; or "" */
};

/* Reads the file `status`. -ERR_INVALID for anything but what a shim writes. */
int status_parse(struct bytes file, struct ending *ret, struct err *err);

enum report_kind {
    REPORT_NONE,    /* nothing of the kind yet */
    REPORT_STARTED, /* "S PID" */
    REPORT_FAILED,  /* "F TEXT" */
    REPORT_EXITED,  /* "X CODE" and the tail of the output (exec) */
};

struct shim_report {
    enum report_kind kind;
    int64_t number; /* process id or exit code */
    struct bytes text;
};

/* The latest of a shim's reports in what it has sent so far. `whole`: it has closed the pipe. */
struct shim_report report_parse(struct bytes sent, bool whole);
