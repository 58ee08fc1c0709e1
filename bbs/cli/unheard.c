#include "bbs/cli/unheard.h"

#include <string.h>

enum { CELLS_NAMED_MAX = 3 }; /* of a list in a sentence; bbs cells shows all */

const char *cell_silence(const Board__CellsStatus *cells, const char *cell_id)
{
    for (size_t i = 0; cells && i < cells->n_cells; i++) {
        const Board__CellStatus *c = cells->cells[i];
        if (c->presence && strcmp(c->presence->cell_id, cell_id) == 0) {
            return strcmp(c->state, "PRESENT") == 0       ? NULL
                   : strcmp(c->state, "LOST (held)") == 0 ? "LOST, held"
                                                          : c->state;
        }
    }
    return cells ? "gone" : NULL;
}

size_t unheard_note(struct arena *a, const char *process_guid, int32_t from,
                    Models__ActualLRP *const *actuals, size_t count,
                    const Board__CellsStatus *cells, struct placed **ret_all)
{
    struct placed *all = ARENA_ARRAY(a, count, struct placed);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const Models__ActualLRPInstanceKey *at = actuals[i]->actual_lrp_instance_key;
        if (actuals[i]->actual_lrp_key && actuals[i]->actual_lrp_key->index >= from && at &&
            *at->cell_id) {
            all[n++] = (struct placed){process_guid, at->cell_id,
                                       cell_silence(cells, at->cell_id) != NULL};
        }
    }
    *ret_all = all;
    return n;
}

/* What is said of the cell of one that was noted; NULL = it is heard, or need not be. */
static const char *silence(const struct placed *p, const Board__CellsStatus *cells)
{
    const char *now = cells ? cell_silence(cells, p->cell_id) : p->silent ? "not heard" : NULL;
    return now && strcmp(now, "gone") == 0 && !p->silent ? NULL : now;
}

/* Cells, each once, and whether they are silent in the same way. */
struct silent_cells {
    const char *ids[CELLS_NAMED_MAX];
    size_t count, more;
    const char *state;
};

static void add_cell(struct silent_cells *s, const char *id, const char *state)
{
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp(s->ids[i], id) == 0) {
            return;
        }
    }
    if (s->count < CELLS_NAMED_MAX) {
        s->ids[s->count++] = id;
    } else {
        s->more++;
    }
    s->state = !s->state || strcmp(s->state, state) == 0 ? state : "LOST or gone";
}

/* "c1", "c1 and c2", "c1, c2, c3 and others" */
static const char *names(struct arena *a, const struct silent_cells *s)
{
    const char *text = "";
    for (size_t i = 0; i < s->count; i++) {
        bool last = i + 1 == s->count && !s->more;
        text = arena_printf(a, "%s%s%.60s", text, i == 0 ? "" : last ? " and " : ", ", s->ids[i]);
    }
    return s->more ? arena_printf(a, "%s and others", text) : text;
}

const char *unheard_text(struct arena *a, const char *process_guid, const struct placed *all,
                         size_t count, const Board__CellsStatus *cells)
{
    struct silent_cells s = {.state = NULL};
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const char *state = silence(&all[i], cells);
        if (state && strcmp(all[i].process_guid, process_guid) == 0) {
            add_cell(&s, all[i].cell_id, state);
            n++;
        }
    }
    bool several = s.count > 1;
    return n == 0 ? NULL
                  : arena_printf(a, "%zu may still run on %s, which %s %s; %s stopped when the "
                                    "cell%s back", n, names(a, &s), several ? "are" : "is",
                                 s.state, n == 1 ? "it is" : "they are",
                                 several ? "s are" : " is");
}

const char *unheard_old_text(struct arena *a, int32_t index, Models__ActualLRP *const *actuals,
                             size_t count, const Board__CellsStatus *cells)
{
    struct silent_cells s = {.state = NULL};
    for (size_t i = 0; i < count; i++) {
        const Models__ActualLRPInstanceKey *at = actuals[i]->actual_lrp_instance_key;
        bool is_it = actuals[i]->actual_lrp_key && actuals[i]->actual_lrp_key->index == index &&
                     at && *at->cell_id;
        const char *state = is_it ? cell_silence(cells, at->cell_id) : NULL;
        if (state) {
            add_cell(&s, at->cell_id, state);
        }
    }
    bool several = s.count > 1;
    return s.count == 0
               ? NULL
               : arena_printf(a, "%s may still run on %s, which %s %s, until %s back",
                              several ? "old ones" : "the old one", names(a, &s),
                              several ? "are" : "is", s.state, several ? "those are" : "that is");
}

const char *unheard_cells_text(struct arena *a, const Board__CellsStatus *cells)
{
    struct silent_cells s = {.state = NULL};
    for (size_t i = 0; cells && i < cells->n_cells; i++) {
        const Models__CellPresence *p = cells->cells[i]->presence;
        const char *state = p ? cell_silence(cells, p->cell_id) : NULL;
        if (state) {
            add_cell(&s, p->cell_id, state);
        }
    }
    return s.count == 0 ? NULL
                        : arena_printf(a, "%s %s %s and cannot be asked", names(a, &s),
                                       s.count > 1 ? "are" : "is", s.state);
}
