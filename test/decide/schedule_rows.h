/* Rows of before (cells), when (jobs), plan for tests of placing: where each job goes, or the text
 * of its refusal. */
#pragma once

#include "auctioneer/schedule.h"
#include "common/base/bytes.h"
#include "test/decide/cell_rows.h"

enum { SCHEDULE_ROWS_MAX = 64 };

struct schedule_rows {
    struct arena arena;
    struct schedule_rules rules;
    struct schedule_cell cells[SCHEDULE_ROWS_MAX];
    size_t cell_count;
    struct job jobs[SCHEDULE_ROWS_MAX];
    size_t job_count;
    struct schedule_taken taken[SCHEDULE_ROWS_MAX];
    size_t taken_count;
    Board__SliceRecord *slices[SCHEDULE_ROWS_MAX];
    size_t slice_count;
    const uint32_t *ranks; /* NULL: of equal cells the lower wins */
    struct buf text;
};

/* For cmocka: no cells, no jobs, rules of zeros. */
int schedule_rows_setup(void **state);
int schedule_rows_teardown(void **state);

/* Begins again, by the same rules. */
void schedule_rows_clear(struct schedule_rows *x);

/* Before: one more cell, of 1000 MB each and 100 containers, all free. */
Cell__CellState *with_cell(struct schedule_rows *x, const char *cell_id, const char *zone);

/* Before: one more slice (slice_row_new), and what is in it. */
Board__SliceRecord *with_slice(struct schedule_rows *x, const char *uid, uint32_t nodes,
                               int32_t memory_mb, const char *tags);
void with_use(struct schedule_rows *x, Board__SliceRecord *slice, const char *process_guid);

/* When: one more job, of 100 MB each on preloaded:busybox. Lists are words with blanks between. */
struct job *with_lrp(struct schedule_rows *x, const char *process_guid, int32_t index);
struct job *with_task(struct schedule_rows *x, const char *guid);
struct job *with_unit(struct schedule_rows *x, const char *service_guid, int32_t number);
void with_tags(struct schedule_rows *x, struct job *j, const char *tags);
void with_drivers(struct schedule_rows *x, struct job *j, const char *drivers);

/* The rows, as schedule() takes them; of the same life. */
struct schedule_input schedule_rows_input(const struct schedule_rows *x);

/* The plan, in the order of the jobs: "web/0=a db/0=(insufficient resources)". Valid until the next
 * of these. */
const char *plan_of(struct schedule_rows *x);

/* The same as it is given. */
const struct decision *decisions_of(struct schedule_rows *x);

/* The jobs in the order of deciding: "web/0 db/0". */
const char *order_of(struct schedule_rows *x);
