#include "test/sim/model/mvcc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What a version costs beside key and value; about what etcd's own file grows by. */
enum { VERSION_BYTES = 64 };

struct model_key {
    struct model_version **versions; /* by revision */
    size_t count, capacity;
};

static void *must(void *p)
{
    if (!p) {
        abort();
    }
    return p;
}

static void version_unref(struct model_version *v)
{
    if (v && --v->references == 0) {
        blob_unref(v->value);
        free(v);
    }
}

static struct model_version *version_ref(struct model_version *v)
{
    if (v) {
        v->references++;
    }
    return v;
}

static void key_free(void *key)
{
    struct model_key *k = key;
    for (size_t i = 0; i < k->count; i++) {
        version_unref(k->versions[i]);
    }
    free(k->versions);
    free(k);
}

static void change_done(struct model_change *c)
{
    free(c->key);
    version_unref(c->now);
    version_unref(c->before);
}

void model_mvcc_init(struct model_mvcc *s)
{
    *s = (struct model_mvcc){.revision = 1, .compacted = -1};
    map_init(&s->keys);
}

void model_mvcc_done(struct model_mvcc *s)
{
    for (size_t i = 0; i < s->log_count; i++) {
        change_done(&s->log[i]);
    }
    free(s->log);
    map_done(&s->keys, key_free);
}

static const char *text_of(struct arena *a, ProtobufCBinaryData bytes)
{
    assert(bytes.len == 0 || !memchr(bytes.data, 0, bytes.len));
    return arena_strndup(a, (const char *)bytes.data, bytes.len);
}

static bool is_zero_byte(ProtobufCBinaryData bytes)
{
    return bytes.len == 1 && bytes.data[0] == 0;
}

struct model_range model_range_of(struct arena *a, ProtobufCBinaryData key,
                                  ProtobufCBinaryData range_end)
{
    return (struct model_range){
        .low = is_zero_byte(key) ? "" : text_of(a, key),
        .high = range_end.len == 0        ? NULL
                : is_zero_byte(range_end) ? ""
                                          : text_of(a, range_end),
    };
}

bool model_range_holds(const struct model_range *r, const char *key)
{
    if (!r->high) {
        return strcmp(r->low, key) == 0;
    }
    return strcmp(key, r->low) >= 0 && (!*r->high || strcmp(key, r->high) < 0);
}

int64_t model_mvcc_reading(const struct model_mvcc *s)
{
    return s->revision + s->changed;
}

/* The version that is there at `revision`, or NULL. */
static struct model_version *version_at(const struct model_key *k, int64_t revision)
{
    for (size_t i = k->count; i-- > 0;) {
        if (k->versions[i]->mod_revision <= revision) {
            return k->versions[i]->create_revision ? k->versions[i] : NULL;
        }
    }
    return NULL;
}

size_t model_mvcc_find(const struct model_mvcc *s, const struct model_range *r, int64_t revision,
                       struct arena *a, struct model_found **ret)
{
    size_t count = 0, capacity = 0;
    struct model_found *list = NULL;
    int64_t at = revision > 0 ? revision : model_mvcc_reading(s);
    for (struct map_node *n = map_from(&s->keys, r->low); n; n = map_next(n)) {
        if (!model_range_holds(r, map_key(n))) {
            break;
        }
        struct model_version *v = version_at(map_value(n), at);
        if (!v) {
            continue;
        }
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 4;
            struct model_found *more = ARENA_ARRAY(a, capacity, struct model_found);
            if (count) {
                memcpy(more, list, count * sizeof(*list));
            }
            list = more;
        }
        list[count++] = (struct model_found){.key = map_key(n), .version = v};
    }
    *ret = list;
    return count;
}

static int64_t version_bytes(const char *key, const struct model_version *v)
{
    return VERSION_BYTES + (int64_t)strlen(key) + (v->value ? v->value->size : 0);
}

static void log_change(struct model_mvcc *s, const char *key, struct model_version *now,
                       struct model_version *before)
{
    if (s->log_count == s->log_capacity) {
        s->log_capacity = s->log_capacity ? s->log_capacity * 2 : 64;
        s->log = must(realloc(s->log, s->log_capacity * sizeof(*s->log)));
    }
    s->log[s->log_count++] = (struct model_change){
        .key = must(strdup(key)), .now = version_ref(now), .before = version_ref(before)};
}

/* Takes over the reference to `v`. */
static void add_version(struct model_mvcc *s, struct model_key *k, const char *key,
                        struct model_version *v)
{
    struct model_version *before = version_at(k, s->revision);
    if (k->count == k->capacity) {
        k->capacity = k->capacity ? k->capacity * 2 : 2;
        k->versions = must(realloc(k->versions, k->capacity * sizeof(*k->versions)));
    }
    log_change(s, key, v, before);
    k->versions[k->count++] = v;
    s->in_use += version_bytes(key, v);
    s->changed = true;
}

static struct model_version *version_new(const struct model_mvcc *s)
{
    struct model_version *v = must(calloc(1, sizeof(*v)));
    v->references = 1;
    v->mod_revision = s->revision + 1;
    return v;
}

void model_mvcc_put(struct model_mvcc *s, const char *key, ProtobufCBinaryData value, int64_t lease)
{
    struct model_key *k = map_get(&s->keys, key);
    if (!k) {
        k = must(calloc(1, sizeof(*k)));
        map_put(&s->keys, key, k);
    }
    const struct model_version *before = version_at(k, INT64_MAX);
    struct model_version *v = version_new(s);
    v->create_revision = before ? before->create_revision : v->mod_revision;
    v->version = before ? before->version + 1 : 1;
    v->lease = lease;
    v->value = blob_new(value.data, value.len);
    add_version(s, k, key, v);
}

int64_t model_mvcc_delete(struct model_mvcc *s, const struct model_range *r, struct arena *a)
{
    struct model_found *list;
    size_t count = model_mvcc_find(s, r, 0, a, &list);
    for (size_t i = 0; i < count; i++) {
        add_version(s, map_get(&s->keys, list[i].key), list[i].key, version_new(s));
    }
    return (int64_t)count;
}

void model_mvcc_commit(struct model_mvcc *s)
{
    s->revision += s->changed;
    s->changed = false;
}

/* Keeps the last version not above `revision`, unless it is a deletion, and all later ones. */
static void compact_key(struct model_mvcc *s, const char *key, struct model_key *k,
                        int64_t revision)
{
    size_t drop = 0;
    while (drop < k->count && k->versions[drop]->mod_revision <= revision) {
        drop++;
    }
    if (drop > 0 && k->versions[drop - 1]->create_revision) {
        drop--;
    }
    for (size_t i = 0; i < drop; i++) {
        s->in_use -= version_bytes(key, k->versions[i]);
        version_unref(k->versions[i]);
    }
    k->count -= drop;
    memmove(k->versions, k->versions + drop, k->count * sizeof(*k->versions));
}

static void compact_log(struct model_mvcc *s, int64_t revision)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->log_count; i++) {
        const struct model_version *now = s->log[i].now;
        bool drop = now->mod_revision < revision ||
                    (now->mod_revision == revision && !now->create_revision);
        if (drop) {
            change_done(&s->log[i]);
        } else {
            s->log[kept++] = s->log[i];
        }
    }
    s->log_count = kept;
}

void model_mvcc_compact(struct model_mvcc *s, int64_t revision)
{
    assert(revision <= s->revision && !s->changed);
    MAP_EACH(&s->keys, n)
    {
        struct model_key *k = map_value(n);
        compact_key(s, map_key(n), k, revision);
        if (k->count == 0) {
            map_remove(&s->keys, map_key(n));
            key_free(k);
        }
    }
    compact_log(s, revision);
    s->compacted = revision;
}

static void restore_key(struct model_mvcc *s, const char *key, struct model_key *k,
                        int64_t revision)
{
    while (k->count > 0 && k->versions[k->count - 1]->mod_revision > revision) {
        struct model_version *v = k->versions[--k->count];
        s->in_use -= version_bytes(key, v);
        version_unref(v);
    }
}

void model_mvcc_restore(struct model_mvcc *s, int64_t revision)
{
    assert(revision <= s->revision && revision >= s->compacted && !s->changed);
    MAP_EACH(&s->keys, n)
    {
        struct model_key *k = map_value(n);
        restore_key(s, map_key(n), k, revision);
        if (k->count == 0) {
            map_remove(&s->keys, map_key(n));
            key_free(k);
        }
    }
    size_t kept = model_mvcc_log_from(s, revision + 1);
    while (s->log_count > kept) {
        change_done(&s->log[--s->log_count]);
    }
    s->revision = revision;
}

size_t model_mvcc_log_from(const struct model_mvcc *s, int64_t revision)
{
    size_t low = 0, high = s->log_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->log[middle].now->mod_revision < revision) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static ProtobufCBinaryData copy_bytes(struct arena *a, const void *data, size_t size)
{
    return (ProtobufCBinaryData){.len = size, .data = size ? arena_copy(a, data, size) : NULL};
}

void model_kv_fill(struct arena *a, const char *key, const struct model_version *v, bool keys_only,
                   Etcd__KeyValue *ret)
{
    etcd__key_value__init(ret);
    ret->key = copy_bytes(a, key, strlen(key));
    ret->mod_revision = v->mod_revision;
    if (!v->create_revision) {
        return;
    }
    ret->create_revision = v->create_revision;
    ret->version = v->version;
    ret->lease = v->lease;
    if (!keys_only) {
        ret->value = copy_bytes(a, v->value->data, v->value->size);
    }
}
