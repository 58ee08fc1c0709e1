#include "auctioneer/cli/simulate_text.h"

#include "common/cli/table.h"

#include <string.h>

static const char *subject(struct arena *a, const Auction__SimulatedJob *j)
{
    return *j->task_guid ? arena_printf(a, "task %s", j->task_guid)
                         : arena_printf(a, "%s/%d", j->process_guid, (int)j->index);
}

static const char *cells_text(struct arena *a, uint32_t count)
{
    return arena_printf(a, "%u cell%s", count, count == 1 ? "" : "s");
}

/* "3 cells: 1 unusable, 2 without the resources". */
static const char *where_they_fall(struct arena *a, const Auction__Why *w)
{
    const char *text = cells_text(a, w->cells), *between = ": ";
    for (size_t i = 0; i < w->n_filters; i++) {
        if (w->filters[i]->cells > 0) {
            text = arena_printf(a, "%s%s%u fall%s to %s", text, between, w->filters[i]->cells,
                                w->filters[i]->cells == 1 ? "s" : "", w->filters[i]->filter);
            between = ", ";
        }
    }
    return text;
}

/* "; nearest is cell-1, which lacks 20 MB of memory". */
static const char *nearest_text(struct arena *a, const Auction__NearMiss *n)
{
    const char *text = arena_printf(a, "nearest is %s", n->cell_id);
    const char *lacks = "";
    if (n->lacks_memory_mb) {
        lacks = arena_printf(a, " %d MB of memory", (int)n->lacks_memory_mb);
    }
    if (n->lacks_disk_mb) {
        lacks = arena_printf(a, "%s%s %d MB of disk", lacks, *lacks ? "," : "",
                             (int)n->lacks_disk_mb);
    }
    if (n->lacks_containers) {
        lacks = arena_printf(a, "%s%s %d container%s", lacks, *lacks ? "," : "",
                             (int)n->lacks_containers, n->lacks_containers == 1 ? "" : "s");
    }
    if (*lacks) {
        return arena_printf(a, "%s, which lacks%s", text, lacks);
    }
    return *n->why ? arena_printf(a, "%s (%s)", text, n->why) : text;
}

static void explain(struct arena *a, const Auction__Why *w, struct table *t)
{
    table_note(t, where_they_fall(a, w));
    if (*w->zone) {
        table_note(t, arena_printf(a, "it may go to zone %s only", w->zone));
    }
    if (w->nearest) {
        table_note(t, nearest_text(a, w->nearest));
    }
}

/* "fits 3 cells; score 0.300, drawn from 2 equal ones". */
static const char *how_it_won(struct arena *a, const Auction__SimulatedJob *j)
{
    const char *text = arena_printf(a, "fits %s; score %.3f", cells_text(a, j->fit), j->score);
    return j->equals > 1 ? arena_printf(a, "%s, drawn from %u equal ones", text, j->equals) : text;
}

static void add_job(struct arena *a, const Auction__SimulatedJob *j, struct table *t)
{
    bool placed = *j->cell_id;
    const char *why = placed ? how_it_won(a, j) : j->reason;
    table_add(t, (const char *const[]){subject(a, j), placed ? j->cell_id : NULL,
                                       placed && *j->zone ? j->zone : NULL, why});
    if (j->why) {
        explain(a, j->why, t);
    }
}

static const char *of(struct arena *a, int32_t free, int32_t total)
{
    return arena_printf(a, "%d of %d", (int)free, (int)total);
}

static void add_cell(struct arena *a, const Auction__SimulatedCell *c, struct table *t)
{
    if (*c->unusable) {
        table_add(t, (const char *const[]){c->cell_id, NULL, NULL, NULL, NULL, NULL});
        table_note(t, arena_printf(a, "not usable: %s", c->unusable));
        return;
    }
    table_add(t, (const char *const[]){c->cell_id, *c->zone ? c->zone : NULL,
                                       arena_printf(a, "%u", c->placed),
                                       of(a, c->memory_mb, c->total_memory_mb),
                                       of(a, c->disk_mb, c->total_disk_mb),
                                       of(a, c->containers, c->total_containers)});
}

void simulate_text(struct arena *a, const Auction__Simulation *s, struct buf *out)
{
    static const char *const job_titles[] = {"WHAT", "CELL", "ZONE", "WHY"};
    static const char *const cell_titles[] = {"CELL",          "ZONE",         "PLACED",
                                              "FREE MEMORY/MB", "FREE DISK/MB", "FREE CONTAINERS"};
    struct table jobs, cells;
    table_init(&jobs, a, 4, job_titles);
    for (size_t i = 0; i < s->n_jobs; i++) {
        add_job(a, s->jobs[i], &jobs);
    }
    table_print(&jobs, out);
    buf_append_string(out, "\n");
    table_init(&cells, a, 6, cell_titles);
    for (size_t i = 0; i < s->n_cells; i++) {
        add_cell(a, s->cells[i], &cells);
    }
    table_print(&cells, out);
    buf_printf(out, "\n%u would be placed, %u not; nothing was changed\n", s->placed, s->refused);
}
