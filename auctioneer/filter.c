#include "auctioneer/filter.h"

#include "common/base/bytes.h"
#include "common/model/pool_tag.h"

#include <assert.h>
#include <string.h>

size_t filter_scheme(const char *root_fs)
{
    const char *colon = strchr(root_fs, ':');
    return colon ? (size_t)(colon - root_fs) : 0;
}

static bool equal(const char *s, const char *from, size_t size)
{
    return strncmp(s, from, size) == 0 && s[size] == 0;
}

/* What a filter is asked about. */
struct filtered_cell {
    const Cell__CellState *state;
    const struct machine_sight *machine;
};

/* 5.1, 3: the scheme must be offered; a fixed set must contain the opaque part. */
static bool has_root_fs(const struct filtered_cell *c, const struct job *job)
{
    const Cell__CellState *cell = c->state;
    const char *root_fs = job->root_fs;
    size_t scheme = filter_scheme(root_fs);
    if (scheme == 0) {
        return false;
    }
    const char *opaque = root_fs + scheme + 1;
    size_t size = strcspn(opaque, "?");
    for (size_t i = 0; i < cell->n_rootfsproviders; i++) {
        const Cell__CellState__RootFSProvidersEntry *e = cell->rootfsproviders[i];
        if (!e->value || !equal(e->key, root_fs, scheme)) {
            continue;
        }
        if (strcmp(e->value->type, "arbitrary") == 0) {
            return true;
        }
        for (size_t k = 0; k < e->value->n_set; k++) {
            if (equal(e->value->set[k]->key, opaque, size)) {
                return true;
            }
        }
    }
    return false;
}

static bool contains(char *const *list, size_t count, const char *s)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], s) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_drivers(const struct filtered_cell *c, const struct job *job)
{
    const Cell__CellState *cell = c->state;
    for (size_t i = 0; i < job->driver_count; i++) {
        if (!contains(cell->volumedrivers, cell->n_volumedrivers, job->drivers[i])) {
            return false;
        }
    }
    return true;
}

/* The cell's tags are asked for, and all that is asked for is the cell's, required or optional. */
static bool tags_match(const struct filtered_cell *c, const struct job *job)
{
    const Cell__CellState *cell = c->state;
    for (size_t i = 0; i < cell->n_placementtags; i++) {
        if (!contains(job->tags, job->tag_count, cell->placementtags[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < job->tag_count; i++) {
        if (!contains(cell->placementtags, cell->n_placementtags, job->tags[i]) &&
            !contains(cell->optionalplacementtags, cell->n_optionalplacementtags, job->tags[i])) {
            return false;
        }
    }
    return true;
}

/* Of units (docs/units.md, Placement):
 * 1. One that asks for a machine goes to that alone.
 * 2. Any other goes to a cell that is none yet, and will be one,
 * 3. or to one that takes units;
 * 4. if it asks for an unused one, to such that never had one. */
static bool is_machine_for(const struct filtered_cell *c, const struct job *job)
{
    const struct machine_sight *m = c->machine;
    const struct machine_wish *wish = &job->machine;
    if (job->kind != JOB_UNIT) {
        return true;
    }
    if (!m->is) {
        return !wish->only; /* 1, 2 */
    }
    return m->open && (!wish->unused || m->clean) &&   /* 3, 4 */
           (!wish->only || m->number == wish->number); /* 1 */
}

static const struct {
    const char *name;
    bool (*passes)(const struct filtered_cell *c, const struct job *job);
    const char *refusal;
} filters[FILTER_COUNT] = {
#define FILTER(ID, name, lack, passes, refusal) {name, passes, refusal},
#include "common/model/filters.def"
#undef FILTER
};

const char *filter_name(enum filter filter)
{
    assert(filter < FILTER_COUNT);
    return filters[filter].name;
}

bool filter_machine(const struct machine_sight *machine, const struct job *job)
{
    struct filtered_cell c = {NULL, machine}; /* its state says nothing of it */
    return is_machine_for(&c, job);
}

bool filter_asks(enum filter filter, enum job_kind kind)
{
    return filter != FILTER_MACHINE || kind == JOB_UNIT;
}

enum filter filter_cell(const Cell__CellState *state, const struct machine_sight *machine,
                        const struct job *job)
{
    struct filtered_cell c = {state, machine};
    enum filter f = 0;
    while (f < FILTER_COMPATIBLE && (!filters[f].passes || filters[f].passes(&c, job))) {
        f++;
    }
    return f;
}

/* What goes to a node pool, or to a slice's cells, is told by its name; the other tags of the
 * pool's cells are its type. */
static const char *pool_text(struct arena *a, const struct job *job)
{
    struct pool_tag tag;
    for (size_t i = 0; i < job->tag_count; i++) {
        if (slice_tag_uid(job->tags[i])) {
            return arena_printf(a, "found no compatible cell in slice %s",
                                slice_tag_uid(job->tags[i]));
        }
        if (pool_tag_parse(a, job->tags[i], &tag)) {
            return arena_printf(a, "found no compatible cell in node pool %s", tag.name);
        }
    }
    return NULL;
}

/* `no placement tags`, `placement tag "a"`, `placement tags "a", "b" and "c"`. */
static const char *tags_text(struct arena *a, const struct job *job)
{
    if (job->tag_count == 0) {
        return "found no compatible cell with no placement tags";
    }
    SCOPED_BUF(b);
    buf_printf(&b, "found no compatible cell with placement tag%s ", job->tag_count > 1 ? "s" : "");
    for (size_t i = 0; i < job->tag_count; i++) {
        const char *joint = i == 0 ? "" : i + 1 == job->tag_count ? " and " : ", ";
        buf_printf(&b, "%s\"%s\"", joint, job->tags[i]);
    }
    return arena_strdup(a, buf_string(&b));
}

static const char *machine_text(struct arena *a, const struct job *job)
{
    const char *unused = job->machine.unused ? "unused and " : "";
    if (!job->machine.only) {
        return arena_printf(a, "found no compatible cell that is %sopen to units", unused);
    }
    return arena_printf(a, "found no compatible cell that is machine %u, %sopen to units",
                        job->machine.number, unused);
}

const char *filter_text(struct arena *a, enum filter furthest, const struct job *job)
{
    assert(furthest < FILTER_COMPATIBLE && furthest != FILTER_ZONE);
    if (filters[furthest].refusal) {
        return filters[furthest].refusal;
    }
    if (furthest == FILTER_MACHINE) {
        return machine_text(a, job);
    }
    const char *pool = pool_text(a, job);
    return pool ? pool : tags_text(a, job);
}

unsigned filter_shortage(const struct room *r, const struct demand *q)
{
    return (r->free_containers < 1 ? SHORT_OF_CONTAINERS : 0u) |
           (r->free_disk < q->disk_mb ? SHORT_OF_DISK : 0u) |
           (r->free_memory < room_memory_needed(r, q) ? SHORT_OF_MEMORY : 0u) |
           (q->unused && r->used ? SHORT_OF_UNUSED : 0u);
}

const char *filter_shortage_text(unsigned common)
{
    static const char *const texts[] = {
        "insufficient resources",
        "insufficient resources: containers",
        "insufficient resources: disk",
        "insufficient resources: containers, disk",
        "insufficient resources: memory",
        "insufficient resources: containers, memory",
        "insufficient resources: disk, memory",
        "insufficient resources: containers, disk, memory",
    };
    return common & SHORT_OF_UNUSED ? "insufficient machines that never had a unit" : texts[common];
}
