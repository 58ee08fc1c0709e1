#include "bbs/board/inside.h"

#include <string.h>

const struct seen *seen_of(struct arena *a, struct version *item)
{
    ProtobufCMessage *m;
    if (record_decode(a, item->type, blob_bytes(item->blob), &m, NULL) < 0) {
        return NULL;
    }
    struct seen *s = ARENA_NEW(a, struct seen);
    *s = (struct seen){
        .key = arena_strdup(a, version_key(item)),
        .type = item->type,
        .message = m,
        .blob = item->blob,
        .create_revision = item->create_revision,
        .mod_revision = item->mod_revision,
    };
    return s;
}

struct view *board_view(struct board *b, struct arena *arena)
{
    struct view *v = ARENA_NEW(arena, struct view);
    v->board = b;
    v->arena = arena;
    return v;
}

struct arena *view_arena(struct view *v)
{
    return v->arena;
}

static void note(struct view *v, enum compare_kind kind, const char *key, int64_t revision)
{
    if (v->reads) {
        read_set_add(v->reads, kind, key, revision);
    }
}

const struct seen *view_peek(struct view *v, const char *key)
{
    struct copied *p = v->board->copy ? copy_find(v->board->copy, key) : NULL;
    return p ? seen_of(v->arena, copied_version(p)) : NULL;
}

const struct seen *view_get(struct view *v, const char *key)
{
    const struct seen *s = view_peek(v, key);
    if (s) {
        note(v, COMPARE_UNCHANGED, key, s->mod_revision);
    } else {
        /* Also where a record of another format version stands: then the commit is refused and the
         * record left alone. */
        note(v, COMPARE_ABSENT, key, 0);
    }
    return s;
}

const void *view_message(struct view *v, const char *key)
{
    const struct seen *s = view_get(v, key);
    return s ? s->message : NULL;
}

const void *view_peek_message(struct view *v, const char *key)
{
    const struct seen *s = view_peek(v, key);
    return s ? s->message : NULL;
}

bool view_exists(struct view *v, const char *key)
{
    bool there = v->board->copy && copy_find(v->board->copy, key);
    note(v, there ? COMPARE_EXISTS : COMPARE_ABSENT, key, 0);
    return there;
}

bool view_unreadable(struct view *v, const char *key)
{
    if (view_peek(v, key) || !v->board->copy || !copy_find(v->board->copy, key)) {
        return false;
    }
    note(v, COMPARE_EXISTS, key, 0);
    return true;
}

/* The readable ones among the records whose keys start so, and in *ret_keys how many keys do; -1 if
 * more than `max`. */
static int read_range(struct view *v, const char *prefix, size_t max, size_t *ret_keys,
                      const struct seen **ret_list)
{
    const struct copy *c = v->board->copy;
    struct copied *first = c ? copy_from(c, prefix) : NULL, *p;
    size_t count = 0, n = 0;
    for (p = first; p && text_begins(version_key(copied_version(p)), prefix); p = copy_next(p)) {
        if (++count > max) {
            return -1;
        }
    }
    struct seen *list = ARENA_ARRAY(v->arena, count, struct seen);
    for (struct copied *at = first; at != p; at = copy_next(at)) {
        const struct seen *s = seen_of(v->arena, copied_version(at));
        if (s) {
            list[n++] = *s;
        }
    }
    *ret_list = list;
    *ret_keys = count;
    return (int)n;
}

int view_peek_range(struct view *v, const char *prefix, size_t max, const struct seen **ret_list)
{
    size_t keys;
    return read_range(v, prefix, max, &keys, ret_list);
}

int view_range(struct view *v, const char *prefix, size_t max, const struct seen **ret_list)
{
    const struct seen *list;
    size_t keys;
    int count = read_range(v, prefix, max, &keys, &list);
    if (count < 0) {
        return count;
    }
    int64_t newest = 0;
    for (int i = 0; i < count; i++) {
        note(v, COMPARE_UNCHANGED, list[i].key, list[i].mod_revision);
        newest = list[i].mod_revision > newest ? list[i].mod_revision : newest;
    }
    if (!count) {
        note(v, COMPARE_RANGE_EMPTY, prefix, 0);
    } else if (v->reads) {
        /* Nothing newer than the newest member: the same at every position of the copy until the
         * range changes, so that equal ones merge in a batch. */
        read_set_add_range(v->reads, prefix, newest, (int64_t)keys);
    }
    *ret_list = list;
    return count;
}

/* Each key of the range unchanged, and nothing before, between and behind them. */
static void note_whole_range(struct view *v, const char *prefix)
{
    const char *from = prefix;
    struct copied *p = v->board->copy ? copy_from(v->board->copy, prefix) : NULL;
    for (; p && text_begins(version_key(copied_version(p)), prefix); p = copy_next(p)) {
        const struct version *item = copied_version(p);
        note(v, COMPARE_UNCHANGED, version_key(item), item->mod_revision);
        read_set_add_gap(v->reads, from, version_key(item));
        /* Before all that can follow it: keys are printable. */
        from = arena_printf(v->arena, "%s\x01", version_key(item));
    }
    if (from == prefix) {
        note(v, COMPARE_RANGE_EMPTY, prefix, 0);
    } else {
        read_set_add_gap(v->reads, from, key_range_end(v->arena, prefix));
    }
}

int view_whole_range(struct view *v, const char *prefix, size_t max, const struct seen **ret_list)
{
    size_t keys;
    int count = read_range(v, prefix, max, &keys, ret_list);
    if (count >= 0 && v->reads) {
        note_whole_range(v, prefix);
    }
    return count;
}

static struct copied *in_range(struct copied *p, const char *prefix)
{
    return p && text_begins(version_key(copied_version(p)), prefix) ? p : NULL;
}

static struct copied *first_in_range(struct view *v, const char *prefix)
{
    const struct copy *c = v->board->copy;
    return c ? in_range(copy_from(c, prefix), prefix) : NULL;
}

bool view_range_empty(struct view *v, const char *prefix)
{
    struct copied *first = first_in_range(v, prefix);
    if (first) {
        note(v, COMPARE_EXISTS, version_key(copied_version(first)), 0);
    } else {
        note(v, COMPARE_RANGE_EMPTY, prefix, 0);
    }
    return !first;
}

void view_nothing_newer(struct view *v, const char *prefix)
{
    int64_t newest = 0, members = 0;
    for (struct copied *p = first_in_range(v, prefix); p; p = in_range(copy_next(p), prefix)) {
        int64_t revision = copied_version(p)->mod_revision;
        newest = revision > newest ? revision : newest;
        members++;
    }
    if (!members) {
        note(v, COMPARE_RANGE_EMPTY, prefix, 0);
    } else if (v->reads) {
        read_set_add_range(v->reads, prefix, newest, members);
    }
}

size_t view_peek_count(struct view *v, const char *prefix)
{
    size_t count = 0;
    for (struct copied *p = first_in_range(v, prefix); p; p = in_range(copy_next(p), prefix)) {
        count++;
    }
    return count;
}

const char *view_peek_key(struct view *v, const char *prefix, const char *from)
{
    const struct copy *c = v->board->copy;
    struct copied *p = c ? in_range(copy_from(c, from ? from : prefix), prefix) : NULL;
    return p ? version_key(copied_version(p)) : NULL;
}

/* One below the prefix, NULL if there is none: where the first and the last of them part, a byte
 * between both is drawn, and so on below what that leads to. */
static struct copied *draw_below(struct view *v, const char *prefix, struct random *random)
{
    const struct copy *c = v->board->copy;
    struct copied *first = first_in_range(v, prefix);
    while (first) {
        const char *low = version_key(copied_version(first));
        const char *high = version_key(copied_version(copy_last(c, prefix)));
        size_t same = 0;
        while (low[same] && low[same] == high[same]) {
            same++;
        }
        unsigned from = (unsigned char)low[same], to = (unsigned char)high[same];
        unsigned drawn = from + (unsigned)random_below(random, to - from + 1);
        if (!drawn) {
            break; /* there is only this one, or the others go on where it ends */
        }
        char *begin = arena_strndup(v->arena, high, same + 1);
        begin[same] = (char)drawn;
        first = copy_from(c, begin);
        prefix = arena_strndup(v->arena, version_key(copied_version(first)), same + 1);
    }
    return first;
}

static bool is_one_of(const char *key, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(key, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

const char *view_witness(struct view *v, const char *prefix, const char *const *except,
                         size_t count, struct random *random)
{
    struct copied *p = draw_below(v, prefix, random);
    for (size_t tries = 0; p && tries <= count; tries++) {
        const char *key = version_key(copied_version(p));
        if (!is_one_of(key, except, count)) {
            note(v, COMPARE_EXISTS, key, 0);
            return arena_strdup(v->arena, key);
        }
        struct copied *next = in_range(copy_next(p), prefix);
        p = next ? next : first_in_range(v, prefix);
    }
    return NULL;
}

static struct picked picked_of(struct version *item)
{
    return (struct picked){.key = version_key(item),
                           .state = version_tag(item, TAG_STATE),
                           .domain = version_tag(item, TAG_DOMAIN),
                           .blob = item->blob,
                           .version = item};
}

bool view_pick_one(struct view *v, const char *key, struct picked *ret)
{
    struct copied *p = v->board->copy ? copy_find(v->board->copy, key) : NULL;
    if (p) {
        *ret = picked_of(copied_version(p));
    }
    return p != NULL;
}

/* What the selector takes of the copy. A list grows by copies that the arena keeps: so of pointers.
 */
static size_t selected(struct view *v, const Board__Selector *selector, struct version ***ret_list)
{
    struct picker p = picker_of(v->arena, selector);
    *ret_list = NULL;
    if (!v->board->copy) {
        return 0;
    }
    size_t count = 0, capacity = 64;
    struct version **list = ARENA_ARRAY(v->arena, capacity, struct version *);
    struct picker_walk w = picker_begin(&p, v->board->copy);
    for (struct version *item; (item = picker_next(&w));) {
        if (count == capacity) {
            struct version **more = ARENA_ARRAY(v->arena, 2 * capacity, struct version *);
            memcpy(more, list, count * sizeof(*list));
            list = more;
            capacity *= 2;
        }
        list[count++] = item;
    }
    *ret_list = list;
    return count;
}

size_t view_pick(struct view *v, const Board__Selector *selector, struct picked **ret_list)
{
    struct version **list;
    size_t count = selected(v, selector, &list);
    *ret_list = ARENA_ARRAY(v->arena, count, struct picked);
    for (size_t i = 0; i < count; i++) {
        (*ret_list)[i] = picked_of(list[i]);
    }
    return count;
}

size_t view_select(struct view *v, const Board__Selector *selector, struct blob ***ret_blobs)
{
    struct version **list;
    size_t count = selected(v, selector, &list);
    *ret_blobs = ARENA_ARRAY(v->arena, count, struct blob *);
    for (size_t i = 0; i < count; i++) {
        (*ret_blobs)[i] = list[i]->blob;
    }
    return count;
}

unsigned view_nested(const struct view *v)
{
    return v->nested;
}

int64_t view_revision(const struct view *v)
{
    return v->board->revision;
}

const char *view_board_generation(const struct view *v)
{
    return v->board->board_generation ? v->board->board_generation : "";
}

static struct sighting seen_now(const struct board *b)
{
    return (struct sighting){.since_ns = b->now.mono_ns, .after_ns = b->now.mono_ns};
}

struct sighting view_seen(const struct view *v, const char *key)
{
    const struct board *b = v->board;
    const struct copied *p = b->copy ? copy_find(b->copy, key) : NULL;
    return p ? copied_seen(p) : seen_now(b);
}

struct sighting view_made(const struct view *v, const char *key)
{
    const struct board *b = v->board;
    const struct copied *p = b->copy ? copy_find(b->copy, key) : NULL;
    return p ? copied_made(p) : seen_now(b);
}

struct domain_seen view_domain_seen(const struct view *v, const char *key)
{
    const struct board *b = v->board;
    const struct copied *p = b->copy ? copy_find(b->copy, key) : NULL;
    if (!p) {
        return (struct domain_seen){.at = seen_now(b)};
    }
    return (struct domain_seen){
        .at = copied_seen(p),
        .in_this_board_generation = domain_in_board_generation(copied_version(p)->mod_revision,
                                                               b->board_generation_revision),
    };
}
