#include "bbs/cli/cells.h"

#include "bbs/cli/rootfs.h"
#include "common/cli/table.h"
#include "common/model/pool_tag.h"

#include <string.h>

enum { CELLS_NAMED_MAX = 8 }; /* of a list in a sentence; the table shows all */

static void add_cell(struct table *t, const Board__CellStatus *status, int64_t now_ns)
{
    static const Models__CellPresence untold = MODELS__CELL_PRESENCE__INIT;
    const Models__CellPresence *c = status->presence ? status->presence : &untold;
    const Models__CellCapacity *k = c->capacity;
    struct arena *a = t->arena;
    const char *slice = slice_tag_uid(status->pool);
    struct pool_tag tag;
    bool pooled = pool_tag_parse(a, status->pool, &tag);
    table_add(t, (const char *[]){
                     c->cell_id,
                     c->zone,
                     status->evacuating ? arena_printf(a, "%s (evacuating)", status->state)
                                        : status->state,
                     age_text(a, now_ns - status->since),
                     k ? arena_printf(a, "%d MB", (int)k->memory_mb) : "-",
                     k ? arena_printf(a, "%d MB", (int)k->disk_mb) : "-",
                     k ? arena_printf(a, "%d", (int)k->containers) : "-",
                     rootfs_of_cell(a, c),
                     c->rep_url,
                     status->admin_url,
                     pooled  ? arena_printf(a, "%s of %.8s", tag.name, tag.uid)
                     : slice ? arena_printf(a, "slice %.8s", slice)
                             : "-",
                 });
}

/* "c1, c2 and 3 more" */
static const char *names(struct arena *a, const Board__LimiterRecord *limiter)
{
    const char *text = "";
    size_t shown = limiter->n_cells > CELLS_NAMED_MAX ? CELLS_NAMED_MAX : limiter->n_cells;
    for (size_t i = 0; i < shown; i++) {
        text = arena_printf(a, "%s%s%s", text, i ? ", " : "", limiter->cells[i]->cell_id);
    }
    return shown < limiter->n_cells
               ? arena_printf(a, "%s and %zu more", text, limiter->n_cells - shown)
               : text;
}

static const char *count(struct arena *a, const Board__LimiterRecord *limiter)
{
    return limiter->n_cells == 1 ? "1 cell" : arena_printf(a, "%zu cells", limiter->n_cells);
}

static const char *stand(struct arena *a, const Board__LimiterRecord *limiter, int64_t now_ns)
{
    const char *since = age_text(a, now_ns - limiter->since), *how;
    switch (limiter->state) {
    case BOARD__LIMITER_RECORD__STATE__HELD:
        how = arena_printf(
            a, "held for %s, %s", since,
            limiter->until > now_ns
                ? arena_printf(a, "and for %s more", age_text(a, limiter->until - now_ns))
                : "and until the converger looks again");
        break;
    case BOARD__LIMITER_RECORD__STATE__KEPT:
        how = arena_printf(a, "kept for %s, and until confirmed or back", since);
        break;
    default:
        how = arena_printf(
            a, "released %s ago; those that stay silent become LOST, a few at a time", since);
        break;
    }
    return arena_printf(a, "%s fell silent%s: %s (%s)", count(a, limiter),
                        limiter->n_cells == 1 ? "" : " together", how, names(a, limiter));
}

static void note_limiter(struct arena *a, struct table *t, const Board__LimiterRecord *limiter,
                         int64_t now_ns)
{
    table_note(t, stand(a, limiter, now_ns));
    if (limiter->state == BOARD__LIMITER_RECORD__STATE__RELEASED) {
        return;
    }
    table_note(t, "While they are held, what runs there is neither replaced nor given up.");
    table_note(t, "bbs cells confirm   they are lost: what ran there is started elsewhere");
    if (limiter->state == BOARD__LIMITER_RECORD__STATE__HELD) {
        table_note(t, "bbs cells keep      they are not: hold them until confirmed");
    }
}

void cells_table(struct arena *a, const Board__CellsStatus *cells, int64_t now_ns, struct buf *out)
{
    struct table t;
    bool pooled = false;
    for (size_t i = 0; i < cells->n_cells; i++) {
        pooled = pooled || *cells->cells[i]->pool;
    }
    /* Without node pools nothing is said of them. */
    table_init(&t, a, pooled ? 11 : 10,
               (const char *[]){"CELL", "ZONE", "STATE", "FOR", "MEMORY", "DISK", "CONTAINERS",
                                "ROOTFS", "URL", "ADMIN URL", "POOL"});
    for (size_t i = 0; i < cells->n_cells; i++) {
        add_cell(&t, cells->cells[i], now_ns);
    }
    if (cells->limiter) {
        note_limiter(a, &t, cells->limiter, now_ns);
    }
    table_print(&t, out);
}

const char *limiter_text(struct arena *a, const Board__LimiterRecord *limiter)
{
    return limiter->state == BOARD__LIMITER_RECORD__STATE__KEPT
               ? arena_printf(a,
                              "%s kept (%s): they stay held until bbs cells confirm, or until "
                              "they are back",
                              count(a, limiter), names(a, limiter))
               : arena_printf(a,
                              "%s confirmed (%s): those that stay silent become LOST, a few at "
                              "a time, and what ran there is started elsewhere",
                              count(a, limiter), names(a, limiter));
}

Board__CellsStatus *cells_only(struct arena *a, const Board__CellsStatus *cells,
                               const char *cell_id)
{
    Board__CellsStatus *only = arena_copy(a, cells, sizeof(*cells));
    only->cells = ARENA_ARRAY(a, cells->n_cells, Board__CellStatus *);
    only->n_cells = 0;
    for (size_t i = 0; i < cells->n_cells; i++) {
        const Models__CellPresence *p = cells->cells[i]->presence;
        if (p && strcmp(p->cell_id, cell_id) == 0) {
            only->cells[only->n_cells++] = cells->cells[i];
        }
    }
    return only;
}
