/* DIR/target.json: the cluster that a run is about, as far as workload, ground truth and judge look
 * at it (docs/chaos.md). */
#pragma once

#include "common/base/err.h"

#include <jansson.h>
#include <stddef.h>

enum { TARGET_PROCESSES_MAX = 64, TARGET_TEXT = 256 };

struct target_process {
    char name[64];
    char url[TARGET_TEXT]; /* of a bbs; "" = none */
    char zone[64];         /* of a cell */
};

/* A certificate to speak with; empty texts = there is none. */
struct target_identity {
    char cert[TARGET_TEXT], key[TARGET_TEXT];
};

struct target {
    struct target_process bbs[TARGET_PROCESSES_MAX], cells[TARGET_PROCESSES_MAX];
    size_t bbs_count, cell_count;
    char ca[TARGET_TEXT];
    struct target_identity client, converger, rep;
    char rep_cell[64];                /* the cell whose certificate `rep` is */
    char containers[4 * TARGET_TEXT]; /* the command of that name; "" = none */
    char evacuate[4 * TARGET_TEXT];   /* the same */
    char rootfs[TARGET_TEXT];         /* what apps run in; preloaded:busybox by default */
};

/* Reads dir/target.json. ERR_INVALID says what is missing or wrong in it, ERR_IO that it cannot be
 * read. */
int target_read(const char *dir, struct target *ret_target, struct err *err);
