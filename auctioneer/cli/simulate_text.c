#include "auctioneer/cli/simulate_text.h"

#include "common/cli/table.h"
#include "common/cli/unplaced_text.h"
#include "common/model/pool_tag.h"

static const char *subject(struct arena *a, const Auction__SimulatedJob *j)
{
    return *j->task_guid ? arena_printf(a, "task %s", j->task_guid)
           : *j->unit    ? arena_printf(a, "unit %s", j->unit)
                         : arena_printf(a, "%s/%d", j->process_guid, (int)j->index);
}

static const char *cells_text(struct arena *a, uint32_t count)
{
    return arena_printf(a, "%u cell%s", count, count == 1 ? "" : "s");
}

static void explain(struct arena *a, const Auction__Why *w, struct table *t)
{
    const char *lines[UNPLACED_LINES_MAX];
    size_t count = unplaced_lines(a, w, lines);
    for (size_t i = 0; i < count; i++) {
        table_note(t, lines[i]);
    }
}

/* "its last 3 starts failed at once"; "its last start ...". */
static const char *failed_text(struct arena *a, uint32_t failed)
{
    return failed == 1 ? "its last start failed at once"
                       : arena_printf(a, "its last %u starts failed at once", failed);
}

/* "fits 3 cells; score 0.300, drawn from 2 equal ones". */
static const char *how_it_won(struct arena *a, const Auction__SimulatedJob *j)
{
    const char *text = arena_printf(a, "fits %s; score %.3f", cells_text(a, j->fit), j->score);
    return j->equals > 1 ? arena_printf(a, "%s, drawn from %u equal ones", text, j->equals) : text;
}

/* Where starts that failed at once had a say. */
static void explain_failed_starts(struct arena *a, const Auction__SimulatedJob *j, struct table *t)
{
    if (j->failed_starts_score > 0) {
        table_note(t, arena_printf(a, "of the score %.3f is for %s: %s", j->failed_starts_score,
                                   j->cell_id, failed_text(a, j->failed_starts)));
    }
    if (*j->spared_cell_id) {
        table_note(
            t, arena_printf(a, "%s would be chosen but for its failed starts", j->spared_cell_id));
    }
}

static void add_job(struct arena *a, const Auction__SimulatedJob *j, struct table *t)
{
    bool placed = *j->cell_id;
    const char *why = placed ? how_it_won(a, j) : j->reason;
    table_add(t, (const char *const[]){subject(a, j), placed ? j->cell_id : NULL,
                                       placed && *j->zone ? j->zone : NULL, why});
    explain_failed_starts(a, j, t);
    if (j->why) {
        explain(a, j->why, t);
    }
}

static const char *of(struct arena *a, int32_t free, int32_t total)
{
    return arena_printf(a, "%d of %d", (int)free, (int)total);
}

/* Columns that only some clusters have. */
struct cell_columns {
    bool pools, machines;
};

static struct cell_columns columns_of(const Auction__Simulation *s)
{
    struct cell_columns c = {false, false};
    for (size_t i = 0; i < s->n_cells; i++) {
        c.pools = c.pools || *s->cells[i]->pool;
        c.machines = c.machines || s->cells[i]->machine;
    }
    for (size_t i = 0; i < s->n_jobs; i++) {
        c.machines = c.machines || *s->jobs[i]->unit;
    }
    return c;
}

/* "/:main of 6f0c-2a": of a system that has this uid. */
static const char *pool_text(struct arena *a, const char *tag)
{
    struct pool_tag pool;
    return !*tag                           ? NULL
           : pool_tag_parse(a, tag, &pool) ? arena_printf(a, "%s of %.8s", pool.name, pool.uid)
                                           : tag;
}

static const char *machine_text(struct arena *a, const Auction__SimulatedMachine *m)
{
    return !m ? NULL
              : arena_printf(a, "%u%s%s", m->number, m->unused ? ", unused" : "",
                             m->open ? "" : ", closed");
}

static void add_cell(struct arena *a, const Auction__SimulatedCell *c,
                     const struct cell_columns *columns, struct table *t)
{
    const char *cells[TABLE_COLUMNS_MAX] = {c->cell_id};
    size_t n = 1;
    bool usable = !*c->unusable;
    cells[n++] = usable && *c->zone ? c->zone : NULL;
    if (columns->pools) {
        cells[n++] = pool_text(a, c->pool);
    }
    if (columns->machines) {
        cells[n++] = machine_text(a, c->machine);
    }
    if (usable) {
        cells[n++] = arena_printf(a, "%u", c->placed);
        cells[n++] = of(a, c->memory_mb, c->total_memory_mb);
        cells[n++] = of(a, c->disk_mb, c->total_disk_mb);
        cells[n++] = of(a, c->containers, c->total_containers);
    }
    table_add(t, cells);
    if (!usable) {
        table_note(t, arena_printf(a, "not usable: %s", c->unusable));
    }
    if (c->failed_starts_score > 0) {
        table_note(t, arena_printf(a, "%s: it counts as worse by %.3f for a while",
                                   failed_text(a, c->failed_starts), c->failed_starts_score));
    }
}

static void print_cells(struct arena *a, const Auction__Simulation *s, struct buf *out)
{
    struct cell_columns columns = columns_of(s);
    const char *titles[TABLE_COLUMNS_MAX] = {"CELL", "ZONE"};
    unsigned n = 2;
    struct table t;
    if (columns.pools) {
        titles[n++] = "POOL";
    }
    if (columns.machines) {
        titles[n++] = "MACHINE";
    }
    titles[n++] = "PLACED";
    titles[n++] = "FREE MEMORY/MB";
    titles[n++] = "FREE DISK/MB";
    titles[n++] = "FREE CONTAINERS";
    table_init(&t, a, n, titles);
    for (size_t i = 0; i < s->n_cells; i++) {
        add_cell(a, s->cells[i], &columns, &t);
    }
    table_print(&t, out);
}

void simulate_text(struct arena *a, const Auction__Simulation *s, struct buf *out)
{
    static const char *const job_titles[] = {"WHAT", "CELL", "ZONE", "WHY"};
    struct table jobs;
    table_init(&jobs, a, 4, job_titles);
    for (size_t i = 0; i < s->n_jobs; i++) {
        add_job(a, s->jobs[i], &jobs);
    }
    table_print(&jobs, out);
    buf_append_string(out, "\n");
    print_cells(a, s, out);
    buf_printf(out, "\n%u would be placed, %u not; nothing was changed\n", s->placed, s->refused);
}
