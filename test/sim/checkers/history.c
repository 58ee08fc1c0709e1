#include "test/sim/checkers/history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/model/record.h"

void history_init(struct history *h)
{
    *h = (struct history){0};
    arena_init(&h->arena);
    map_init(&h->now);
}

void history_done(struct history *h)
{
    map_done(&h->now, NULL);
    free(h->taken_ns);
    arena_done(&h->arena);
}

static const ProtobufCMessage *decoded(struct history *h, enum record_type type,
                                       const Etcd__KeyValue *kv)
{
    /* A list of the fields of the records lives on, so the bytes must too. */
    struct bytes record = {.data = arena_copy(&h->arena, kv->value.data, kv->value.len),
                           .size = kv->value.len};
    ProtobufCMessage *m;
    int status = record_decode(&h->arena, type, record, &m, NULL);
    assert(status == 0);
    return m;
}

static const Board__CauseRecord__Change *cause_of(const Board__CauseRecord *cause,
                                                  const char *key)
{
    for (size_t i = 0; cause && i < cause->n_changes; i++) {
        if (strcmp(cause->changes[i]->key, key) == 0) {
            return cause->changes[i];
        }
    }
    return NULL;
}

static struct past *take(struct history *h, const Etcd__Event *e, const char *key,
                         const Board__CauseRecord *cause, int64_t now_ns)
{
    struct past *p = ARENA_NEW(&h->arena, struct past);
    *p = (struct past){
        .before = map_get(&h->now, key),
        .key = key,
        .type = key_type(key),
        .revision = e->kv->mod_revision,
        .create_revision = e->kv->create_revision,
        .at_ns = now_ns,
        .cause = cause_of(cause, key),
    };
    if (e->type == ETCD__EVENT__TYPE__PUT) {
        p->message = decoded(h, p->type, e->kv);
    }
    map_put(&h->now, key, p);
    return p;
}

static void note_time(struct history *h, int64_t now_ns)
{
    if ((size_t)h->revision >= h->taken_capacity) {
        size_t capacity = 2 * (size_t)h->revision + 1024;
        h->taken_ns = mem_resized(h->taken_ns, capacity, sizeof(*h->taken_ns));
        memset(h->taken_ns + h->taken_capacity, 0,
               (capacity - h->taken_capacity) * sizeof(*h->taken_ns));
        h->taken_capacity = capacity;
    }
    h->taken_ns[h->revision] = now_ns;
}

int64_t history_revision_at(const struct history *h, int64_t at_ns)
{
    int64_t revision = h->revision;
    while (revision > 0 && h->taken_ns[revision] > at_ns) {
        revision--;
    }
    return revision;
}

bool history_holds(enum record_type type)
{
    return type != RECORD_CAUSE && type != RECORD_HEARTBEAT && type != RECORD_UNKNOWN;
}

/* A hole: what a later version has written nobody here can judge. What stood there before counts
 * until it can be read again. */
static bool is_later(const Etcd__Event *e)
{
    const ProtobufCBinaryData *value = &e->kv->value;
    return e->type == ETCD__EVENT__TYPE__PUT && value->len > 0 && value->data[0] != RECORD_VERSION;
}

/* A stranger's hand: what stands there is written once more, by no role. */
static bool is_written_again(const struct history *h, const Etcd__Event *e, const char *key,
                             const Board__CauseRecord *cause)
{
    const struct past *before = map_get(&h->now, key);
    const ProtobufCBinaryData *value = &e->kv->value;
    if (e->type != ETCD__EVENT__TYPE__PUT || !before || !before->message || cause_of(cause, key)) {
        return false;
    }
    SCOPED_BUF(record);
    record_encode(&record, before->message);
    return record.size == value->len && memcmp(record.data, value->data, value->len) == 0;
}

bool history_next(struct history *h, struct model_etcd *etcd, int64_t now_ns,
                  struct passage *ret_passage)
{
    if (h->revision >= model_etcd_revision(etcd)) {
        return false;
    }
    SCOPED_ARENA(a);
    Etcd__WatchResponse **list;
    int64_t from = h->revision + 1;
    size_t count = model_etcd_events_since(etcd, from > 2 ? from : 2, 1, &a, &list);
    assert(count == 1 && !list[0]->canceled);
    const Board__CauseRecord *cause = NULL;
    for (size_t i = 0; i < list[0]->n_events; i++) {
        const Etcd__KeyValue *kv = list[0]->events[i]->kv;
        const char *key = arena_strndup(&a, (const char *)kv->key.data, kv->key.len);
        if (key_type(key) == RECORD_CAUSE && list[0]->events[i]->type == ETCD__EVENT__TYPE__PUT) {
            cause = (const Board__CauseRecord *)decoded(h, RECORD_CAUSE, kv);
        }
    }
    *ret_passage = (struct passage){
        .at_ns = now_ns,
        .list = ARENA_ARRAY(&h->arena, list[0]->n_events, struct past *),
    };
    for (size_t i = 0; i < list[0]->n_events; i++) {
        const Etcd__Event *e = list[0]->events[i];
        const char *key = arena_strndup(&h->arena, (const char *)e->kv->key.data, e->kv->key.len);
        enum record_type type = key_type(key);
        h->revision = e->kv->mod_revision;
        if (history_holds(type) && !is_later(e) && !is_written_again(h, e, key, cause)) {
            ret_passage->list[ret_passage->count++] = take(h, e, key, cause, now_ns);
        }
    }
    ret_passage->revision = h->revision;
    note_time(h, now_ns);
    h->commits++;
    return true;
}

void history_restored(struct history *h, int64_t revision)
{
    MAP_EACH(&h->now, n)
    {
        struct past *p = map_value(n);
        while (p && p->revision > revision) {
            p = p->before;
        }
        if (p) {
            map_put(&h->now, map_key(n), p);
        } else {
            map_remove(&h->now, map_key(n));
        }
    }
    h->revision = revision < h->revision ? revision : h->revision;
    h->restores++;
}

static void note_board_generation(void *context, const struct past *p)
{
    int64_t *newest = context;
    *newest = p->create_revision > *newest ? p->create_revision : *newest;
}

int64_t history_board_generation(const struct history *h)
{
    int64_t newest = 0;
    history_each(h, "epoch/", note_board_generation, &newest);
    return newest;
}

const struct past *history_at(const struct history *h, const char *key, int64_t revision)
{
    const struct past *p = map_get(&h->now, key);
    while (p && p->revision > revision) {
        p = p->before;
    }
    return p;
}

const ProtobufCMessage *history_now(const struct history *h, const char *key)
{
    const struct past *p = map_get(&h->now, key);
    return p ? p->message : NULL;
}

void history_each(const struct history *h, const char *prefix,
                  void (*each)(void *context, const struct past *p), void *context)
{
    for (struct map_node *n = map_from(&h->now, prefix); n; n = map_next(n)) {
        if (strncmp(map_key(n), prefix, strlen(prefix)) != 0) {
            return;
        }
        const struct past *p = map_value(n);
        if (p->message) {
            each(context, p);
        }
    }
}
