/* Reads records that the copy does not keep (run/...): keys in transactions of many ranges,
 * prefixes page by page, all at one revision. */
#include "bbs/board/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct fetch {
    LIST_ENTRY(fetch) link;
    struct board *board;
    struct arena *arena; /* the caller's */
    const char *const *keys;
    size_t count;
    size_t next; /* first key not yet read */
    size_t asked; /* keys in the call that is open */
    struct buf page_key; /* of the prefix that is being paged; empty = its beginning */
    struct page_size size;
    int64_t revision; /* 0 = taken from the first answer */
    bool fixed;       /* the caller named the revision */
    unsigned restarts;
    unsigned epoch_number; /* of the board when it began */
    struct fetched *results;
    fetch_done *done;
    void *context;
};

enum { FETCH_RESTARTS_MAX = 3 };

void fetched_release(struct fetched *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < list[i].count; j++) {
            blob_unref(list[i].list[j].blob);
        }
        list[i].count = 0;
    }
}

static void finish(struct fetch *f, const char *text, struct effects *out)
{
    struct fetch_result result = {
        .list = f->results, .count = f->count, .revision = f->revision, .text = text};
    LIST_REMOVE(f, link);
    f->done(f->context, &result, out);
    buf_done(&f->page_key);
    free(f);
}

static bool is_prefix(const char *key)
{
    size_t size = strlen(key);
    return size > 0 && key[size - 1] == '/';
}

static void add_record(struct fetch *f, struct fetched *to, const Etcd__KeyValue *kv)
{
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

static void ask(struct fetch *f, struct effects *out);

/* A failed answer: compacted away meanwhile means anew, all else ends it. False if it failed. */
static bool answered_well(struct fetch *f, const struct store_answer *answer, struct effects *out)
{
    if (f->epoch_number != f->board->epoch_number) {
        fetched_release(f->results, f->count);
        finish(f, "the board was restored meanwhile", out);
        return false;
    }
    if (answer->outcome == STORE_DONE) {
        return true;
    }
    if (answer->outcome == STORE_REFUSED && answer->grpc_status == GRPC_OUT_OF_RANGE &&
        !f->fixed && f->restarts++ < FETCH_RESTARTS_MAX) {
        f->next = 0;
        f->revision = 0;
        page_size_first(&f->size);
        buf_clear(&f->page_key);
        fetched_release(f->results, f->count);
        ask(f, out);
        return false;
    }
    fetched_release(f->results, f->count);
    finish(f, arena_strdup(f->arena, store_text(answer)), out);
    return false;
}

static void take_revision(struct fetch *f, const Etcd__ResponseHeader *header)
{
    if (f->revision == 0 && header) {
        f->revision = header->revision;
    }
}

static void on_keys(struct board *b, void *context, const struct store_answer *answer,
                    struct effects *out)
{
    (void)b;
    struct fetch *f = context;
    if (!answered_well(f, answer, out)) {
        return;
    }
    const Etcd__TxnResponse *r = (const Etcd__TxnResponse *)answer->message;
    take_revision(f, r->header);
    for (size_t i = 0; i < r->n_responses && i < f->asked; i++) {
        const Etcd__RangeResponse *found = r->responses[i]->response_range;
        if (r->responses[i]->response_case == ETCD__RESPONSE_OP__RESPONSE_RESPONSE_RANGE && found &&
            found->n_kvs > 0) {
            add_record(f, &f->results[f->next + i], found->kvs[0]);
        }
    }
    f->next += f->asked;
    ask(f, out);
}

static void on_page(struct board *b, void *context, const struct store_answer *answer,
                    struct effects *out)
{
    (void)b;
    struct fetch *f = context;
    if (answer->outcome == STORE_UNKNOWN && page_size_shrink(&f->size)) {
        ask(f, out);
        return;
    }
    if (!answered_well(f, answer, out)) {
        return;
    }
    const Etcd__RangeResponse *r = (const Etcd__RangeResponse *)answer->message;
    page_size_answered(&f->size, r);
    take_revision(f, r->header);
    for (size_t i = 0; i < r->n_kvs; i++) {
        add_record(f, &f->results[f->next], r->kvs[i]);
    }
    buf_clear(&f->page_key);
    if (r->more && r->n_kvs > 0) {
        const ProtobufCBinaryData *last = &r->kvs[r->n_kvs - 1]->key;
        buf_append(&f->page_key, last->data, last->len);
        buf_append_string(&f->page_key, PAGE_NEXT);
    } else {
        f->next++;
        page_size_first(&f->size);
    }
    ask(f, out);
}

static void ask_page(struct fetch *f, const char *prefix, struct effects *out)
{
    struct arena *a = out->arena;
    Etcd__RangeRequest *r = ARENA_NEW(a, Etcd__RangeRequest);
    etcd__range_request__init(r);
    r->key = key_data(prefix);
    if (f->page_key.size) {
        r->key.len = f->page_key.size;
        r->key.data = arena_copy(a, f->page_key.data, f->page_key.size);
    }
    r->range_end = key_data(key_range_end(a, prefix));
    r->limit = f->size.records;
    r->revision = f->revision;
    store_send(f->board, STORE_RANGE, &r->base, PAGE_TIMEOUT_NS, on_page, f, out);
}

static void ask_keys(struct fetch *f, struct effects *out)
{
    struct arena *a = out->arena;
    Etcd__TxnRequest *t = ARENA_NEW(a, Etcd__TxnRequest);
    etcd__txn_request__init(t);
    t->success = ARENA_ARRAY(a, FETCH_KEYS, Etcd__RequestOp *);
    while (t->n_success < FETCH_KEYS && f->next + t->n_success < f->count &&
           !is_prefix(f->keys[f->next + t->n_success])) {
        Etcd__RequestOp *op = etcd_op_range(a, f->keys[f->next + t->n_success]);
        op->request_range->revision = f->revision;
        t->success[t->n_success++] = op;
    }
    f->asked = t->n_success;
    store_send(f->board, STORE_TXN, &t->base, PAGE_TIMEOUT_NS, on_keys, f, out);
}

static void ask(struct fetch *f, struct effects *out)
{
    if (f->next == f->count) {
        finish(f, NULL, out);
    } else if (is_prefix(f->keys[f->next])) {
        ask_page(f, f->keys[f->next], out);
    } else {
        ask_keys(f, out);
    }
}

static void start_at(struct board *b, struct arena *arena, const char *const *keys, size_t count,
                     int64_t revision, fetch_done *done, void *context, struct effects *out)
{
    assert(count > 0);
    struct fetch *f = calloc(1, sizeof(*f));
    if (!f) {
        abort();
    }
    *f = (struct fetch){
        .board = b,
        .arena = arena,
        .keys = keys,
        .count = count,
        .revision = revision,
        .fixed = revision != 0,
        .epoch_number = b->epoch_number,
        .done = done,
        .context = context,
    };
    buf_init(&f->page_key);
    page_size_init(&f->size, READ_PAGE_BYTES);
    LIST_INSERT_HEAD(&b->fetches, f, link);
    f->results = ARENA_ARRAY(arena, count, struct fetched);
    for (size_t i = 0; i < count; i++) {
        f->results[i].key = keys[i];
    }
    ask(f, out);
}

void fetch_start(struct board *b, struct arena *arena, const char *const *keys, size_t count,
                 fetch_done *done, void *context, struct effects *out)
{
    start_at(b, arena, keys, count, 0, done, context, out);
}

void fetches_free(struct board *b, struct effects *nowhere)
{
    struct fetch *f;
    while ((f = LIST_FIRST(&b->fetches))) {
        fetched_release(f->results, f->count);
        finish(f, "this bbs is ending", nowhere);
        effects_forget(nowhere);
    }
}

/* ---- board_fetch ---- */

struct outside_read {
    struct board *board;
    struct arena *arena;
    board_fetched *got;
    void *context;
};

static void on_fetched(void *context, const struct fetch_result *result, struct effects *out)
{
    struct outside_read *o = context;
    struct outside_read read = *o; /* `o` lives in the arena */
    if (result->text) {
        read.got(read.context, NULL, 0, result->text, out);
    } else {
        size_t total = 0, n = 0;
        for (size_t i = 0; i < result->count; i++) {
            total += result->list[i].count;
        }
        struct seen *all = ARENA_ARRAY(read.arena, total, struct seen);
        for (size_t i = 0; i < result->count; i++) {
            for (size_t j = 0; j < result->list[i].count; j++) {
                all[n++] = result->list[i].list[j];
            }
        }
        read.got(read.context, all, n, NULL, out);
        fetched_release(result->list, result->count);
    }
    arena_done(read.arena);
    free(read.arena);
}

void board_fetch(struct board *b, struct arena *arena, const char *const *keys, size_t count,
                 int64_t revision, board_fetched *got, void *context, struct effects *out)
{
    struct outside_read *o = ARENA_NEW(arena, struct outside_read);
    *o = (struct outside_read){.board = b, .arena = arena, .got = got, .context = context};
    if (count == 0 || b->ending) {
        const struct fetch_result none = {.text = b->ending ? "this bbs is ending" : NULL};
        on_fetched(o, &none, out);
        return;
    }
    start_at(b, arena, keys, count, revision, on_fetched, o, out);
}
