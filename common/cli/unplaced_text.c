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
        lacks =
            arena_printf(a, "%s%s %d MB of disk", lacks, *lacks ? "," : "", (int)n->lacks_disk_mb);
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

static bool is_short(int64_t wanted, int64_t free, int64_t kept)
{
    return wanted > 0 && free - wanted < kept;
}

/* "slices keep what is free: 512 MB of memory wanted, 768 free, 512 of it reserved and not used" */
static const char *kept_text(struct arena *a, const Auction__Why *w)
{
    const Auction__KeptFree *k = w->kept;
    const struct {
        const char *of;
        int64_t wanted, free, kept;
    } rows[] = {{" MB of memory", w->memory_mb, k->free_memory_mb, k->kept_memory_mb},
                {" MB of disk", w->disk_mb, k->free_disk_mb, k->kept_disk_mb},
                {" container", 1, k->free_containers, k->kept_containers}};
    const char *text = "slices keep what is free", *between = ": ";
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (is_short(rows[i].wanted, rows[i].free, rows[i].kept)) {
            text = arena_printf(a, "%s%s%lld%s wanted, %lld free, %lld of it reserved and not used",
                                text, between, (long long)rows[i].wanted, rows[i].of,
                                (long long)rows[i].free, (long long)rows[i].kept);
            between = "; ";
        }
    }
    return text;
}

static const char *whose(const Auction__ReservedSlice *s)
{
    return *s->owner ? s->owner : s->uid;
}

/* "2048 MB of memory, 1024 MB of disk, 3 containers" */
static const char *amount_text(struct arena *a, const Auction__ReservedSlice *s)
{
    return arena_printf(a, "%lld MB of memory, %lld MB of disk, %lld container%s",
                        (long long)s->memory_mb, (long long)s->disk_mb, (long long)s->containers,
                        s->containers == 1 ? "" : "s");
}

/* Of the first three, and how many more there are. */
static const char *reserved_text(struct arena *a, const Auction__KeptFree *k)
{
    enum { TOLD_MAX = 3 };
    const char *text = "reserved and not used";
    size_t told = k->n_slices < TOLD_MAX ? k->n_slices : TOLD_MAX;
    for (size_t i = 0; i < told; i++) {
        text = arena_printf(a, "%s%s %s has %s", text, i ? ";" : ":", whose(k->slices[i]),
                            amount_text(a, k->slices[i]));
    }
    return k->slice_count > told
               ? arena_printf(a, "%s; and %u more", text, k->slice_count - (uint32_t)told)
               : text;
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
    if (w->slice) {
        ret_lines[n++] = arena_printf(a, "it is in the slice of %s, which does not use %s",
                                      whose(w->slice), amount_text(a, w->slice));
    }
    if (some_fall_to(w, "resources") || some_fall_to(w, "slices")) {
        ret_lines[n++] = arena_printf(a, "it wants %d MB of memory and %d MB of disk",
                                      (int)w->memory_mb, (int)w->disk_mb);
    }
    if (w->kept) {
        ret_lines[n++] = kept_text(a, w);
        ret_lines[n++] = reserved_text(a, w->kept);
    }
    if (w->nearest) {
        ret_lines[n++] = nearest_text(a, w->nearest);
    }
    assert(n <= UNPLACED_LINES_MAX);
    return n;
}
