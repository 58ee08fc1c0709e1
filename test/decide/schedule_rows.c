#include "test/decide/schedule_rows.h"

#include "test/tool/cmocka.h"


#include <stdlib.h>

int schedule_rows_setup(void **state)
{
    struct schedule_rows *x = calloc(1, sizeof(*x));
    arena_init(&x->arena);
    buf_init(&x->text);
    *state = x;
    return 0;
}

int schedule_rows_teardown(void **state)
{
    struct schedule_rows *x = *state;
    arena_done(&x->arena);
    buf_done(&x->text);
    free(x);
    return 0;
}

void schedule_rows_clear(struct schedule_rows *x)
{
    x->cell_count = x->job_count = x->taken_count = x->slice_count = 0;
    x->ranks = NULL;
}

Cell__CellState *with_cell(struct schedule_rows *x, const char *cell_id, const char *zone)
{
    Cell__CellState *s = cell_row_new(&x->arena, cell_id, zone, 1000, 1000);
    x->cells[x->cell_count++] = (struct schedule_cell){.state = s};
    return s;
}

Board__SliceRecord *with_slice(struct schedule_rows *x, const char *uid, uint32_t nodes,
                               int32_t memory_mb, const char *tags)
{
    Board__SliceRecord *s = slice_row_new(&x->arena, uid, nodes, memory_mb, tags);
    x->slices[x->slice_count++] = s;
    return s;
}

void with_use(struct schedule_rows *x, Board__SliceRecord *slice, const char *process_guid)
{
    slice_row_use(&x->arena, slice, process_guid);
}

struct job *with_lrp(struct schedule_rows *x, const char *process_guid, int32_t index)
{
    struct job *j = &x->jobs[x->job_count++];
    *j = (struct job){.guid = process_guid,
                      .index = index,
                      .root_fs = "preloaded:busybox",
                      .memory_mb = 100,
                      .disk_mb = 100};
    return j;
}

struct job *with_task(struct schedule_rows *x, const char *guid)
{
    struct job *j = with_lrp(x, guid, 0);
    j->kind = JOB_TASK;
    return j;
}

struct job *with_unit(struct schedule_rows *x, const char *service_guid, int32_t number)
{
    struct job *j = with_lrp(x, service_guid, number);
    j->kind = JOB_UNIT;
    return j;
}

void with_tags(struct schedule_rows *x, struct job *j, const char *tags)
{
    char **list;
    j->tag_count = cell_row_words(&x->arena, tags, &list);
    j->tags = list;
}

void with_drivers(struct schedule_rows *x, struct job *j, const char *drivers)
{
    char **list;
    j->driver_count = cell_row_words(&x->arena, drivers, &list);
    j->drivers = list;
}

struct schedule_input schedule_rows_input(const struct schedule_rows *x)
{
    return (struct schedule_input){.rules = &x->rules,
                                   .cells = x->cells,
                                   .cell_count = x->cell_count,
                                   .jobs = x->jobs,
                                   .job_count = x->job_count,
                                   .taken = x->taken,
                                   .taken_count = x->taken_count,
                                   .slices = (const Board__SliceRecord *const *)x->slices,
                                   .slice_count = x->slice_count,
                                   .ranks = x->ranks};
}

const struct decision *decisions_of(struct schedule_rows *x)
{
    struct schedule_input in = schedule_rows_input(x);
    return schedule(&x->arena, &in);
}

const char *plan_of(struct schedule_rows *x)
{
    const struct decision *d = decisions_of(x);
    buf_clear(&x->text);
    for (size_t i = 0; i < x->job_count; i++) {
        buf_printf(&x->text, "%s%s/%d=", i ? " " : "", x->jobs[i].guid, x->jobs[i].index);
        if (d[i].cell < 0) {
            buf_printf(&x->text, "(%s)", d[i].refusal);
        } else {
            assert_null(d[i].refusal);
            buf_append_string(&x->text, x->cells[d[i].cell].state->cell_id);
        }
    }
    return buf_string(&x->text);
}

const char *order_of(struct schedule_rows *x)
{
    const struct decision *d = decisions_of(x);
    buf_clear(&x->text);
    for (uint32_t turn = 0; turn < x->job_count; turn++) {
        for (size_t i = 0; i < x->job_count; i++) {
            if (d[i].turn == turn) {
                buf_printf(&x->text, "%s%s/%d", turn ? " " : "", x->jobs[i].guid, x->jobs[i].index);
            }
        }
    }
    return buf_string(&x->text);
}
