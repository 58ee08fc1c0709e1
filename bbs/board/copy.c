#include "bbs/board/copy.h"

#include "common/base/memory.h"

#include <assert.h>
#include <bsd/sys/tree.h>
#include <stdlib.h>
#include <string.h>

struct copied {
    RB_ENTRY(copied) by_key;
    RB_ENTRY(copied) by_cell;
    RB_ENTRY(copied) by_owner;
    struct version *item;
    struct sighting seen, made;
};

RB_HEAD(key_tree, copied);
RB_HEAD(cell_tree, copied);
RB_HEAD(owner_tree, copied);

struct copy {
    struct key_tree by_key;
    struct cell_tree by_cell;
    struct owner_tree by_owner;
    size_t count;
};

static int compare_keys(const struct copied *a, const struct copied *b)
{
    return strcmp(version_key(a->item), version_key(b->item));
}

static int compare_tags(const struct copied *a, const struct copied *b, enum tag tag)
{
    int order = strcmp(version_tag(a->item, tag), version_tag(b->item, tag));
    return order ? order : compare_keys(a, b);
}

static int compare_cells(const struct copied *a, const struct copied *b)
{
    return compare_tags(a, b, TAG_CELL);
}

static int compare_owners(const struct copied *a, const struct copied *b)
{
    return compare_tags(a, b, TAG_OWNER);
}

#define TREE static __attribute__((unused))
RB_GENERATE_INTERNAL(key_tree, copied, by_key, compare_keys, TREE)
RB_GENERATE_INTERNAL(cell_tree, copied, by_cell, compare_cells, TREE)
RB_GENERATE_INTERNAL(owner_tree, copied, by_owner, compare_owners, TREE)

/* False if it is not readable. One of a later version has the tags that it seems to have: a cell is
 * told that its own are there, and not that they are gone. */
static bool look_at(struct arena *scratch, enum record_type type, struct bytes value,
                    const char *ret_tags[TAG_COUNT])
{
    if (!record_kind(type)->is_tagged) {
        return record_readable(type, value);
    }
    ProtobufCMessage *m = record_guess(scratch, type, value);
    if (m) {
        record_tags(scratch, type, m, ret_tags);
    }
    return m && value.data[0] == RECORD_VERSION;
}

struct version *version_new(struct arena *scratch, const char *key, struct bytes value,
                            int64_t create_revision, int64_t mod_revision)
{
    enum record_type type = key_type(key);
    const char *tags[TAG_COUNT] = {"", "", "", ""};
    bool readable = look_at(scratch, type, value, tags);
    size_t key_size = strlen(key) + 1, size = key_size, sizes[TAG_COUNT];
    for (int t = 0; t < TAG_COUNT; t++) {
        sizes[t] = strlen(tags[t]) + 1;
        size += sizes[t];
    }
    struct version *i = mem_zeroed(sizeof(*i) + size);
    i->references = 1;
    i->type = type;
    i->readable = readable;
    i->create_revision = create_revision;
    i->mod_revision = mod_revision;
    i->blob = blob_new(value.data, value.size);
    memcpy(i->text, key, key_size);
    uint32_t at = (uint32_t)key_size;
    for (int t = 0; t < TAG_COUNT; t++) {
        i->tags[t] = at;
        memcpy(i->text + at, tags[t], sizes[t]);
        at += (uint32_t)sizes[t];
    }
    return i;
}

struct version *version_ref(struct version *i)
{
    if (i) {
        assert(i->references > 0);
        i->references++;
    }
    return i;
}

void version_unref(struct version *i)
{
    if (i && --i->references == 0) {
        blob_unref(i->blob);
        free(i);
    }
}

size_t version_bytes(const struct version *i)
{
    if (!i) {
        return 0;
    }
    const char *last = version_tag(i, TAG_COUNT - 1);
    return sizeof(*i) + (size_t)(last - i->text) + strlen(last) + 1 + i->blob->size;
}

struct copy *copy_new(void)
{
    struct copy *c = mem_zeroed(sizeof(*c));
    return c;
}

void copy_free(struct copy *c)
{
    if (!c) {
        return;
    }
    struct copied *p, *next;
    for (p = RB_MIN(key_tree, &c->by_key); p; p = next) {
        next = RB_NEXT(key_tree, &c->by_key, p);
        RB_REMOVE(key_tree, &c->by_key, p);
        version_unref(p->item);
        free(p);
    }
    free(c);
}

size_t copy_count(const struct copy *c)
{
    return c->count;
}

struct copied *copy_find(const struct copy *c, const char *key)
{
    struct copied *p = RB_ROOT(&c->by_key);
    while (p) {
        int order = strcmp(key, version_key(p->item));
        if (order == 0) {
            return p;
        }
        p = order < 0 ? RB_LEFT(p, by_key) : RB_RIGHT(p, by_key);
    }
    return NULL;
}

static void index_place(struct copy *c, struct copied *p)
{
    if (*version_tag(p->item, TAG_CELL)) {
        RB_INSERT(cell_tree, &c->by_cell, p);
    }
    if (*version_tag(p->item, TAG_OWNER)) {
        RB_INSERT(owner_tree, &c->by_owner, p);
    }
}

static void unindex_place(struct copy *c, struct copied *p)
{
    if (*version_tag(p->item, TAG_CELL)) {
        RB_REMOVE(cell_tree, &c->by_cell, p);
    }
    if (*version_tag(p->item, TAG_OWNER)) {
        RB_REMOVE(owner_tree, &c->by_owner, p);
    }
}

struct version *copy_put(struct copy *c, struct version *item, struct sighting seen)
{
    struct copied *p = copy_find(c, version_key(item));
    if (p) {
        struct version *old = p->item;
        unindex_place(c, p);
        p->item = item;
        p->seen = seen;
        p->made = old->create_revision == item->create_revision ? p->made : seen;
        index_place(c, p);
        return old;
    }
    p = mem_zeroed(sizeof(*p));
    p->item = item;
    p->seen = p->made = seen;
    RB_INSERT(key_tree, &c->by_key, p);
    index_place(c, p);
    c->count++;
    return NULL;
}

struct version *copy_remove(struct copy *c, const char *key)
{
    struct copied *p = copy_find(c, key);
    if (!p) {
        return NULL;
    }
    struct version *old = p->item;
    unindex_place(c, p);
    RB_REMOVE(key_tree, &c->by_key, p);
    free(p);
    c->count--;
    return old;
}

struct version *copied_version(const struct copied *p)
{
    return p->item;
}

struct sighting copied_seen(const struct copied *p)
{
    return p->seen;
}

struct sighting copied_made(const struct copied *p)
{
    return p->made;
}

struct copied *copy_from(const struct copy *c, const char *key)
{
    struct copied *p = RB_ROOT(&c->by_key), *best = NULL;
    while (p) {
        if (strcmp(key, version_key(p->item)) <= 0) {
            best = p;
            p = RB_LEFT(p, by_key);
        } else {
            p = RB_RIGHT(p, by_key);
        }
    }
    return best;
}

struct copied *copy_next(struct copied *p)
{
    return RB_NEXT(key_tree, NULL, p);
}

struct copied *copy_last(const struct copy *c, const char *prefix)
{
    size_t size = strlen(prefix);
    struct copied *p = RB_ROOT(&c->by_key), *best = NULL;
    while (p) {
        int order = strncmp(prefix, version_key(p->item), size);
        best = order == 0 ? p : best;
        p = order >= 0 ? RB_RIGHT(p, by_key) : RB_LEFT(p, by_key);
    }
    return best;
}

struct copied *copy_tagged(const struct copy *c, enum tag tag, const char *text)
{
    assert((tag == TAG_CELL || tag == TAG_OWNER) && *text);
    bool cell = tag == TAG_CELL;
    struct copied *p = cell ? RB_ROOT(&c->by_cell) : RB_ROOT(&c->by_owner), *best = NULL;
    while (p) {
        if (strcmp(text, version_tag(p->item, tag)) <= 0) {
            best = p;
            p = cell ? RB_LEFT(p, by_cell) : RB_LEFT(p, by_owner);
        } else {
            p = cell ? RB_RIGHT(p, by_cell) : RB_RIGHT(p, by_owner);
        }
    }
    return best && strcmp(version_tag(best->item, tag), text) == 0 ? best : NULL;
}

struct copied *copied_next_tagged(struct copied *p, enum tag tag)
{
    struct copied *next =
        tag == TAG_CELL ? RB_NEXT(cell_tree, NULL, p) : RB_NEXT(owner_tree, NULL, p);
    bool same = next && strcmp(version_tag(next->item, tag), version_tag(p->item, tag)) == 0;
    return same ? next : NULL;
}

void copy_inherit(struct copy *c, const struct copy *old, int64_t after_ns)
{
    for (struct copied *p = copy_from(c, ""); p; p = copy_next(p)) {
        const struct copied *was = copy_find(old, version_key(p->item));
        bool same_creation = was && was->item->create_revision == p->item->create_revision;
        bool same = same_creation && was->item->mod_revision == p->item->mod_revision;
        p->seen.after_ns = p->made.after_ns = after_ns;
        p->seen = same ? was->seen : p->seen;
        p->made = same_creation ? was->made : p->made;
    }
}
