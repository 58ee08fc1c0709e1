/* Fetches for an op what its gather misses: records outside the copy (run/...), decoded. */
#include "bbs/board/inside.h"

#include <stdlib.h>
#include <string.h>

struct fetch {
    struct arena *arena; /* the op's */
    struct fetched *results;
    size_t count;
    fetch_done *done;
    void *context;
};

void fetched_release(struct fetched *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < list[i].count; j++) {
            blob_unref(list[i].list[j].blob);
        }
        list[i].count = 0;
    }
}

static void add_record(void *context, size_t asked, const Etcd__KeyValue *kv)
{
    struct fetch *f = context;
    struct fetched *to = &f->results[asked];
    ProtobufCMessage *m;
    const char *key = arena_strndup(f->arena, (const char *)kv->key.data, kv->key.len);
    struct bytes value = {.data = kv->value.data, .size = kv->value.len};
    if (record_decode(f->arena, key_type(key), value, &m, NULL) < 0) {
        return; /* another format version: left alone */
    }
    if ((to->count & (to->count - 1)) == 0) { /* full at each power of two */
        struct seen *list = ARENA_ARRAY(f->arena, to->count ? 2 * to->count : 1, struct seen);
        if (to->count) {
            memcpy(list, to->list, to->count * sizeof(*list));
        }
        to->list = list;
    }
    to->list[to->count++] = (struct seen){
        .key = key,
        .type = key_type(key),
        .message = m,
        .blob = blob_new(value.data, value.size),
        .create_revision = kv->create_revision,
        .mod_revision = kv->mod_revision,
    };
}

static void forget(void *context)
{
    struct fetch *f = context;
    fetched_release(f->results, f->count);
}

static void finish(void *context, int64_t revision, const char *text, struct effects *out)
{
    struct fetch *f = context;
    if (text) {
        forget(f);
    }
    const struct fetch_result result = {
        .list = f->results, .count = f->count, .revision = revision, .text = text};
    f->done(f->context, &result, out);
    free(f);
}

void fetch_start(struct board *b, struct arena *arena, const char *const *keys, size_t count,
                 fetch_done *done, void *context, struct effects *out)
{
    struct fetch *f = calloc(1, sizeof(*f));
    if (!f) {
        abort();
    }
    *f = (struct fetch){.arena = arena, .count = count, .done = done, .context = context};
    f->results = ARENA_ARRAY(arena, count, struct fetched);
    for (size_t i = 0; i < count; i++) {
        f->results[i].key = keys[i];
    }
    outside_start(b, keys, count, 0,
                  &(struct outside_taker){.context = f,
                                          .record = add_record,
                                          .anew = forget,
                                          .done = finish},
                  out);
}
