#include "rep/container/cache_plan.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- what goes ---- */

static int by_use(const void *l, const void *r, void *context)
{
    const struct cache_facts *f = context;
    const struct cache_item *a = &f->items[*(const size_t *)l], *b = &f->items[*(const size_t *)r];
    if (a->used_ns != b->used_ns) {
        return a->used_ns < b->used_ns ? -1 : 1;
    }
    int order = strcmp(a->digest, b->digest);
    return order != 0 ? order : (int)a->kind - (int)b->kind;
}

static int keys_by_use(const void *l, const void *r, void *context)
{
    const struct cache_facts *f = context;
    const struct cache_key *a = &f->keys[*(const size_t *)l], *b = &f->keys[*(const size_t *)r];
    if (a->used_ns != b->used_ns) {
        return a->used_ns < b->used_ns ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

/* What may go, the least recently used first. */
static size_t candidates(struct arena *a, const struct cache_facts *f, size_t **ret)
{
    size_t count = 0;
    *ret = ARENA_ARRAY(a, f->item_count, size_t);
    for (size_t i = 0; i < f->item_count; i++) {
        if (!f->items[i].in_use) {
            (*ret)[count++] = i;
        }
    }
    qsort_r(*ret, count, sizeof(size_t), by_use, (void *)(uintptr_t)f);
    return count;
}

/* Bytes that the disk would have too few of free. */
static int64_t disk_lacks(const struct cache_facts *f, int64_t more)
{
    return f->disk_bytes / 100 * CACHE_FREE_PERCENT - (f->disk_free - more);
}

/* Bytes that must go: 0 or less when both bounds hold already. */
static int64_t excess(const struct cache_facts *f, int64_t bytes_max, int64_t more)
{
    int64_t over = more - bytes_max, lacking = disk_lacks(f, more);
    for (size_t i = 0; i < f->item_count; i++) {
        over += f->items[i].size;
    }
    return over > lacking ? over : lacking;
}

static int no_room(const struct cache_facts *f, int64_t more, struct err *err)
{
    return disk_lacks(f, more) > 0
               ? err_set(err, ERR_TOO_LARGE,
                         "no room in the cache for %lld bytes: %d %% of its disk must stay free",
                         (long long)more, CACHE_FREE_PERCENT)
               : err_set(err, ERR_TOO_LARGE,
                         "no room in the cache for %lld bytes: too much of it is in use",
                         (long long)more);
}

/* Digests of the objects that stay, sorted. */
struct staying {
    const char **digests;
    size_t count;
};

static int by_text(const void *l, const void *r)
{
    return strcmp(*(const char *const *)l, *(const char *const *)r);
}

static struct staying stays(struct arena *a, const struct cache_facts *f,
                            const struct cache_plan *plan)
{
    struct staying s = {.digests = ARENA_ARRAY(a, f->item_count, const char *)};
    bool *goes = ARENA_ARRAY(a, f->item_count, bool);
    for (size_t i = 0; i < plan->item_count; i++) {
        goes[plan->items[i]] = true;
    }
    for (size_t i = 0; i < f->item_count; i++) {
        if (f->items[i].kind == CACHE_OBJECT && !goes[i]) {
            s.digests[s.count++] = f->items[i].digest;
        }
    }
    qsort(s.digests, s.count, sizeof(s.digests[0]), by_text);
    return s;
}

/* Keys without an object, then those that are too many. */
static void plan_keys(struct arena *a, const struct cache_facts *f, struct cache_plan *plan)
{
    struct staying s = stays(a, f, plan);
    size_t *kept = ARENA_ARRAY(a, f->key_count, size_t), kept_count = 0;
    plan->keys = ARENA_ARRAY(a, f->key_count, size_t);
    for (size_t i = 0; i < f->key_count; i++) {
        const char *digest = f->keys[i].digest;
        if (bsearch(&digest, s.digests, s.count, sizeof(s.digests[0]), by_text)) {
            kept[kept_count++] = i;
        } else {
            plan->keys[plan->key_count++] = i;
        }
    }
    qsort_r(kept, kept_count, sizeof(size_t), keys_by_use, (void *)(uintptr_t)f);
    for (size_t i = 0; i + CACHE_KEYS_MAX < kept_count; i++) {
        plan->keys[plan->key_count++] = kept[i];
    }
}

/* 1. More than the whole cache may have never comes, and for it nothing goes.
 * 2. What is in use never goes.
 * 3. Of the rest the least recently used goes first, until both bounds hold: the cache's own, and
 *    the part of the disk that stays free.
 * 4. Where they cannot hold nothing comes, and nothing goes for it.
 * 5. A key goes with its object; of too many keys the least recently used go. */
int cache_plan(struct arena *a, const struct cache_facts *f, int64_t bytes_max, int64_t more,
               struct cache_plan *ret, struct err *err)
{
    assert(bytes_max >= 0 && more >= 0);
    struct cache_plan plan = {0};
    if (more > bytes_max) { /* 1 */
        return err_set(err, ERR_TOO_LARGE,
                       "%lld bytes are more than the whole cache may have (%lld bytes)",
                       (long long)more, (long long)bytes_max);
    }
    size_t count = candidates(a, f, &plan.items); /* 2 */
    int64_t left = excess(f, bytes_max, more);
    while (left > 0 && plan.item_count < count) { /* 3 */
        left -= f->items[plan.items[plan.item_count++]].size;
    }
    if (left > 0 && more > 0) { /* 4 */
        return no_room(f, more, err);
    }
    plan_keys(a, f, &plan); /* 5 */
    assert(plan.item_count <= f->item_count && plan.key_count <= f->key_count);
    *ret = plan;
    return 0;
}

/* ---- what is in use ---- */

static bool hex(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (!isdigit((unsigned char)text[i]) && !(text[i] >= 'a' && text[i] <= 'f')) {
            return false;
        }
    }
    return true;
}

bool cache_digest_valid(const char *text)
{
    return strlen(text) == CACHE_DIGEST_BYTES && strncmp(text, "sha256-", 7) == 0 &&
           hex(text + 7, 64);
}

/* The next line, taken off the front; false when nothing is left. */
static bool next_line(struct bytes *in, struct bytes *ret)
{
    if (in->size == 0) {
        return false;
    }
    const uint8_t *end = memchr(in->data, '\n', in->size);
    size_t size = end ? (size_t)(end - in->data) : in->size, taken = size + (end != NULL);
    *ret = (struct bytes){in->data, size};
    *in = (struct bytes){in->data + taken, in->size - taken};
    return true;
}

int cache_uses_parse(struct arena *a, struct bytes file, struct cache_uses *ret, struct err *err)
{
    struct cache_uses uses = {.digests =
                                  ARENA_ARRAY(a, file.size / CACHE_DIGEST_BYTES + 1, const char *)};
    struct bytes line;
    while (next_line(&file, &line)) {
        if (line.size == 0) {
            continue;
        }
        char *text = arena_strndup(a, (const char *)line.data, line.size);
        if (!cache_digest_valid(text)) {
            return err_set(err, ERR_INVALID, "in what is in use: \"%.80s\" is no digest", text);
        }
        uses.digests[uses.count++] = text;
    }
    qsort(uses.digests, uses.count, sizeof(uses.digests[0]), by_text);
    *ret = uses;
    return 0;
}

bool cache_uses_has(const struct cache_uses *uses, const char *digest)
{
    return uses->count > 0 &&
           bsearch(&digest, uses->digests, uses->count, sizeof(uses->digests[0]), by_text);
}

/* ---- keys ---- */

bool cache_validator_valid(struct bytes value)
{
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] < 0x20 || value.data[i] == 0x7f) {
            return false;
        }
    }
    return value.size > 0 && value.size <= CACHE_VALIDATOR_BYTES;
}

static bool text_read(struct bytes v, char *ret, size_t most)
{
    if (!cache_validator_valid(v) || v.size > most) {
        return false;
    }
    memcpy(ret, v.data, v.size);
    ret[v.size] = '\0';
    return true;
}

static bool digest_read(struct bytes v, struct cache_record *r)
{
    return text_read(v, r->digest, CACHE_DIGEST_BYTES) && cache_digest_valid(r->digest);
}

static bool size_read(struct bytes v, struct cache_record *r)
{
    r->size = 0;
    for (size_t i = 0; i < v.size && i < 18; i++) {
        if (!isdigit(v.data[i])) {
            return false;
        }
        r->size = r->size * 10 + (v.data[i] - '0');
    }
    return v.size > 0 && v.size <= 18 && (v.size == 1 || v.data[0] != '0');
}

static bool etag_read(struct bytes v, struct cache_record *r)
{
    return text_read(v, r->etag, CACHE_VALIDATOR_BYTES);
}

static bool modified_read(struct bytes v, struct cache_record *r)
{
    return text_read(v, r->modified, CACHE_VALIDATOR_BYTES);
}

static bool checksum_read(struct bytes v, struct cache_record *r)
{
    return text_read(v, r->checksum, CACHE_CHECKSUM_BYTES);
}

/* The lines of a key's file, in their order; the first two must be there. */
static const struct field {
    const char *name;
    bool (*read)(struct bytes value, struct cache_record *r);
} fields[] = {
    {"digest", digest_read},     {"size", size_read},         {"etag", etag_read},
    {"modified", modified_read}, {"checksum", checksum_read},
};
enum { FIELDS = sizeof(fields) / sizeof(fields[0]), FIELDS_REQUIRED = 2 };

/* One line, "NAME VALUE", of the field *next or a later one that is not required. */
static bool field_read(struct bytes line, size_t *next, struct cache_record *r)
{
    for (size_t i = *next; i < FIELDS; i++) {
        size_t n = strlen(fields[i].name);
        if (line.size > n && memcmp(line.data, fields[i].name, n) == 0 && line.data[n] == ' ') {
            *next = i + 1;
            return fields[i].read((struct bytes){line.data + n + 1, line.size - n - 1}, r);
        }
        if (i < FIELDS_REQUIRED) {
            return false;
        }
    }
    return false;
}

int cache_record_parse(struct bytes file, struct cache_record *ret, struct err *err)
{
    struct cache_record r = {0};
    struct bytes line;
    size_t next = 0;
    if (file.size == 0 || file.data[file.size - 1] != '\n') {
        return err_set(err, ERR_INVALID, "the key's file is cut");
    }
    while (next_line(&file, &line)) {
        if (!field_read(line, &next, &r)) {
            return err_set(err, ERR_INVALID, "the key's file has the line \"%.*s\"",
                           (int)(line.size < 80 ? line.size : 80), (const char *)line.data);
        }
    }
    if (next < FIELDS_REQUIRED) {
        return err_set(err, ERR_INVALID, "the key's file has no size");
    }
    *ret = r;
    return 0;
}

void cache_record_print(const struct cache_record *r, struct buf *out)
{
    assert(cache_digest_valid(r->digest) && r->size >= 0);
    buf_printf(out, "digest %s\nsize %lld\n", r->digest, (long long)r->size);
    const char *const optional[][2] = {
        {"etag", r->etag}, {"modified", r->modified}, {"checksum", r->checksum}};
    for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
        if (optional[i][1][0]) {
            buf_printf(out, "%s %s\n", optional[i][0], optional[i][1]);
        }
    }
}

/* 1. Without its object a key is worth nothing.
 * 2. A checksum that the object is known to have needs no question. For another one the server's
 *    word that nothing changed says nothing: all of it again.
 * 3. With something to ask by, the server is asked. */
enum cache_way cache_way(const struct cache_record *known, bool present, const char *checksum)
{
    if (!known || !present) { /* 1 */
        return CACHE_FETCH;
    }
    if (checksum) { /* 2 */
        return strcmp(checksum, known->checksum) == 0 ? CACHE_USE : CACHE_FETCH;
    }
    return known->etag[0] || known->modified[0] ? CACHE_ASK : CACHE_FETCH; /* 3 */
}
