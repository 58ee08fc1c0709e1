/* Jobs: work that goes on in portions, by whichever bbs is there. One target may have several, of
 * which each has a name of its own.
 *
 * A portion is an op: at a bbs it takes turns with all ops of the target that its row names, and
 * its transaction compares all that it read, the job too. So each portion is done once, portions of
 * two jobs never mix, at whichever bbs they run, and each sees what the others have done. Nobody
 * says in which order they come, nor that one job ends before another one begins: a portion looks
 * at its target as it stands, and has no effect where its work is done, or is not wanted any more.
 * Two jobs that must not both be at work have one name: the later one takes the place of the
 * earlier one, in a transaction that compares it (common/lifecycle/job.def, replace). */
#pragma once

#include "bbs/board/op.h"
#include "common/base/map.h"

struct jobs {
    struct map runs;  /* job id -> struct job_run */
    int64_t due_ns;
};

extern const struct op_row job_adopt_row; /* of a silent worker's job, by another; for tests */
void board_jobs_noted(struct board *b, const char *key);  /* it was put or deleted */
void board_jobs_reset(struct board *b);                   /* the copy was loaded again */
void board_jobs_timer(struct board *b, struct effects *out); /* begins what is due */
void board_jobs_free(struct board *b);
