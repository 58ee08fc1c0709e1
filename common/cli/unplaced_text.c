#include "common/cli/unplaced_text.h"

#include <assert.h>
#include <string.h>

/* What the cells lack that fall to a filter, by the filters' names (auction.proto). */
static const struct {
    const char *filter, *lack;
} filters[] = {
#define FILTER(ID, name, lack, ...) {name, lack},
#include "common/model/filters.def"
#undef FILTER
};

/* A newer auctioneer's filter goes by its own name. */
static const char *lack_of(struct arena *a, const char *filter)
{
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        if (strcmp(filters[i].filter, filter) == 0) {
            return filters[i].lack;
        }
    }
    return arena_printf(a, "kept out by %s", filter);
}

/* NULL when it was tried, and is nowhere. */
static const char *other_state(const char *state)
{
    return strcmp(state, "not tried yet") == 0  ? "it was not tried yet"
           : strcmp(state, "being placed") == 0 ? "it is being placed"
           : strcmp(state, "placed") == 0       ? "a cell has accepted it, and begins with it"
           : strcmp(state, "not desired") == 0  ? "the auctioneer does not know of it yet"
                                                : NULL;
}

/* "of 3 cells: 1 without the root filesystem, 2 without the room" */
static const char *where_they_fall(struct arena *a, const Auction__Why *w)
{
    const char *text = arena_printf(a, "of %u cell%s:", w->cells, w->cells == 1 ? "" : "s");
    const char *between = " ";
    if (w->fit > 0) {
        text = arena_printf(a, "%s %u that would take it", text, w->fit);
        between = ", ";
    }
    for (size_t i = 0; i < w->n_filters; i++) {
        if (w->filters[i]->cells > 0) {
            text = arena_printf(a, "%s%s%u %s", text, between, w->filters[i]->cells,
                                lack_of(a, w->filters[i]->filter));
            between = ", ";
        }
    }
    return text;
}

static bool some_fall_to(const Auction__Why *w, const char *filter)
{
    for (size_t i = 0; i < w->n_filters; i++) {
        if (strcmp(w->filters[i]->filter, filter) == 0 && w->filters[i]->cells > 0) {
            return true;
        }
    }
    return false;
}

static const char *tags_text(struct arena *a, const Auction__Why *w)
{
    const char *text =
        w->n_placement_tags ? "it wants the placement tags" : "it wants no placement tags";
    for (size_t i = 0; i < w->n_placement_tags; i++) {
        text = arena_printf(a, "%s%s %s", text, i ? "," : "", w->placement_tags[i]);
    }
    return text;
}

/* "the nearest is cell-1, which lacks 20 MB of memory" */
static const char *nearest_text(struct arena *a, const Auction__NearMiss *n)
{
    const char *text = arena_printf(a, "the nearest is %s", n->cell_id);
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

size_t unplaced_lines(struct arena *a, const Auction__Why *w,
                      const char *ret_lines[UNPLACED_LINES_MAX])
{
    size_t n = 0;
    const char *other = other_state(w->state);
    if (other) {
        ret_lines[n++] = other;
    }
    if (w->in_flight_limit) {
        ret_lines[n++] = "so many containers are being started that no more may be";
    }
    ret_lines[n++] = w->cells ? where_they_fall(a, w) : "no cell is known";
    if (*w->zone) {
        ret_lines[n++] = arena_printf(a, "it may go to zone %s only", w->zone);
    }
    if (some_fall_to(w, "placement_tags")) {
        ret_lines[n++] = tags_text(a, w);
    }
    if (some_fall_to(w, "resources")) {
        ret_lines[n++] = arena_printf(a, "it wants %d MB of memory and %d MB of disk",
                                      (int)w->memory_mb, (int)w->disk_mb);
    }
    if (w->nearest) {
        ret_lines[n++] = nearest_text(a, w->nearest);
    }
    assert(n <= UNPLACED_LINES_MAX);
    return n;
}
