/* Facts as lines of text: what the driver appends to steps/facts of a container's directory, and
 * what a shim writes of a step's end into a file of its own. Pure.
 *
 *   begun 3 at 81234567890123
 *   cut 2 timeout at 81234567890123
 *   ended 3 code 1 signal 0 oom 0 at 81234567890123
 *   ended 3 code 1 signal 0 oom 0 disk 1 at 81234567890123
 *   ended 3 code -1 signal 0 oom 0 at 81234567890123 no program /bin/nothing
 *   lost 3 at 81234567890123
 *
 * The time is the monotonic clock's. It needs no boot's id: what began in another boot of the
 * machine has no process left, and nothing of it goes on. */
#pragma once

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/contract/step_fact.h"

#include <stddef.h>

/* A step begins once and ends once; each is cut at most once, and once more as stuck. A transfer
 * may begin, and be lost, several times. */
enum {
    FACTS_OF_A_STEP_MAX = 3 + 2 * TRANSFER_BEGINS_MAX,
    FACT_TEXT_MAX = 1024,
    FACT_LINE_MAX = FACT_TEXT_MAX + 128,
};

/* Its line, with the line feed; a text is cut at FACT_TEXT_MAX, and at a line feed. */
void fact_print(const struct step_fact *fact, struct buf *out);

/* The lines of a file, in the arena, in order; of steps below `step_count` only. A last line
 * without a line feed was not written to its end, and counts for nothing. ERR_INVALID for anything
 * else that fact_print() does not write, ERR_TOO_LARGE for more than FACTS_OF_A_STEP_MAX a step.
 * With an error nothing is given. */
int facts_parse(struct arena *a, struct bytes file, size_t step_count,
                struct step_fact **ret_facts, size_t *ret_count, struct err *err);

/* The same of a container's file, which has facts of its runs, too. */
int facts_parse_all(struct arena *a, struct bytes file, struct step_fact **ret_facts,
                    size_t *ret_count, struct err *err);
