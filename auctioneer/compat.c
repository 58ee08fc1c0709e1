#include "auctioneer/compat.h"

#include "common/base/bytes.h"

#include <string.h>

enum { KINDS_EXPECTED = 256 };

void compats_init(struct compats *c)
{
    names_init(&c->schemes, c->arena, 8);
    names_init(&c->keys, c->arena, KINDS_EXPECTED);
    c->list = NULL;
    c->capacity = 0;
    for (size_t i = 0; i < c->cell_count; i++) {
        const Cell__CellState *s = c->cells[i].state;
        for (size_t k = 0; k < s->n_rootfsproviders; k++) {
            const Cell__CellState__RootFSProvidersEntry *e = s->rootfsproviders[k];
            if (e->value && strcmp(e->value->type, "arbitrary") != 0) {
                names_add(&c->schemes, e->key);
            }
        }
    }
}

uint32_t compats_slice_of(const struct compats *c, const struct job *job)
{
    return c->reserve && job->kind == JOB_LRP ? reserve_slice_of(c->reserve, job->guid)
                                              : RESERVE_NO_SLICE;
}

/* With its length, so that no two lists of words make the same text. */
static void add_word(struct buf *out, const char *word)
{
    buf_printf(out, "%zu:%s", strlen(word), word);
}

static void add_words(struct buf *out, char *const *words, size_t count)
{
    buf_printf(out, "%zu;", count);
    for (size_t i = 0; i < count; i++) {
        add_word(out, words[i]);
    }
}

/* What the filters look at, as text. Of a root filesystem whose scheme no cell offers as a fixed
 * set only the scheme matters: ten thousand docker images are then one kind. */
static void key_of(const struct compats *c, const struct job *job, struct buf *out)
{
    size_t scheme = filter_scheme(job->root_fs);
    const char *name = arena_strndup(c->arena, job->root_fs, scheme);
    bool any = scheme > 0 && names_find(&c->schemes, name) == NAME_UNKNOWN;
    buf_append_string(out, any ? "scheme " : "whole ");
    add_word(out, any ? name : job->root_fs);
    add_words(out, job->drivers, job->driver_count);
    add_words(out, job->tags, job->tag_count);
    if (job->kind == JOB_UNIT) {
        const struct machine_wish *m = &job->machine;
        buf_printf(out, " unit %u %d %d", m->number, (int)m->only, (int)m->unused);
    }
    uint32_t slice = compats_slice_of(c, job);
    if (slice != RESERVE_NO_SLICE) {
        buf_printf(out, " in %u", slice);
    }
    for (size_t i = 0; i < job->barred_count; i++) {
        buf_printf(out, " not %u", job->barred[i]);
    }
}

/* A closed cell is as none at all; so is one that is closed to this job. */
static bool is_open(const struct compats *c, const struct job *job, size_t cell)
{
    bool barred = false;
    for (size_t i = 0; i < job->barred_count; i++) {
        barred = barred || job->barred[i] == cell;
    }
    return !barred && !c->cells[cell].closed;
}

static struct compat *judge(struct compats *c, const struct job *job)
{
    struct compat *k = ARENA_NEW(c->arena, struct compat);
    uint32_t *falls = ARENA_ARRAY(c->arena, c->cell_count, uint32_t);
    k->zones = ARENA_ARRAY(c->arena, c->zone_count, struct pick_cells);
    k->reached = ARENA_ARRAY(c->arena, c->zone_count, enum filter);
    k->furthest = FILTER_UNUSABLE;
    for (size_t i = 0; i < c->cell_count; i++) {
        if (!is_open(c, job, i)) {
            continue;
        }
        enum filter fall = filter_cell(c->cells[i].state, &c->cells[i].machine, job);
        enum filter *reached = &k->reached[c->zone_of[i]];
        *reached = fall > *reached ? fall : *reached;
        k->furthest = fall > k->furthest ? fall : k->furthest;
        falls[i] = fall;
        k->zones[c->zone_of[i]].count += fall == FILTER_COMPATIBLE;
    }
    for (size_t z = 0; z < c->zone_count; z++) {
        k->zones[z].cells = ARENA_ARRAY(c->arena, k->zones[z].count, uint32_t);
        k->zones[z].count = 0;
    }
    for (size_t i = 0; i < c->cell_count; i++) {
        struct pick_cells *z = &k->zones[c->zone_of[i]];
        if (falls[i] == FILTER_COMPATIBLE) {
            z->cells[z->count++] = (uint32_t)i;
        }
    }
    return k;
}

static void remember(struct compats *c, uint32_t number, struct compat *k)
{
    if (number >= c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : KINDS_EXPECTED;
        struct compat **list = ARENA_ARRAY(c->arena, capacity, struct compat *);
        if (c->capacity) {
            memcpy(list, c->list, c->capacity * sizeof(*list));
        }
        c->list = list;
        c->capacity = capacity;
    }
    c->list[number] = k;
}

uint32_t compats_of(struct compats *c, const struct job *job)
{
    SCOPED_BUF(key);
    key_of(c, job, &key);
    uint32_t number = names_find(&c->keys, buf_string(&key));
    if (number == NAME_UNKNOWN) {
        number = names_add(&c->keys, arena_strdup(c->arena, buf_string(&key)));
        remember(c, number, judge(c, job));
    }
    return number;
}
