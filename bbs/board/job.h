/* Jobs: work that goes on in slices, by whichever bbs is there */
#ifndef BBS_BOARD_JOB_H
#define BBS_BOARD_JOB_H

#include "bbs/board/op.h"
#include "common/base/map.h"

struct jobs {
    struct map runs;  /* job id -> struct job_run */
    int64_t due_ns;
};

extern const struct op_row job_adopt_row; /* of a silent worker's job, by another; for tests */
void board_jobs_noted(struct board *b, const char *key);  /* it was put or deleted */
void board_jobs_reset(struct board *b);                   /* the copy was loaded again */
void board_jobs_timer(struct board *b, struct effects *out);
void board_jobs_free(struct board *b);

#endif
