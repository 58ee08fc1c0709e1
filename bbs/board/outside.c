/* Reads records that the copy does not keep (run/...), undecoded: keys in transactions of many ranges,
 * prefixes page by page, all at one revision. */
#include "bbs/board/inside.h"

#include "common/codec/scan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct outside_read {
    LIST_ENTRY(outside_read) link;
    struct board *board;
    const char *const *keys;
    size_t count;
    size_t next;         /* first key not yet read */
    size_t asked;        /* keys in the call that is open */
    struct buf page_key; /* of the prefix that is being paged; empty = its beginning */
    struct page_size size;
    int64_t revision; /* 0 = taken from the first answer */
    bool fixed;       /* the caller named the revision */
    unsigned restarts;
    unsigned epoch_number; /* of the board when it began */
    struct outside_taker taker;
};

enum { OUTSIDE_RESTARTS_MAX = 3 };

static void finish(struct outside_read *r, const char *text, struct effects *out)
{
    LIST_REMOVE(r, link);
    r->taker.done(r->taker.context, r->revision, text, out);
    buf_done(&r->page_key);
    free(r);
}

static bool is_prefix(const char *key)
{
    size_t size = strlen(key);
    return size > 0 && key[size - 1] == '/';
}

static void ask(struct outside_read *r, struct effects *out);

/* All of one answer was given. */
static void go_on(struct outside_read *r, struct effects *out)
{
    if (r->taker.enough && r->taker.enough(r->taker.context, out)) {
        finish(r, NULL, out);
    } else {
        ask(r, out);
    }
}

/* A failed answer: compacted away meanwhile means anew, all else ends it. False if it failed. */
static bool answered_well(struct outside_read *r, const struct store_answer *answer,
                          struct effects *out)
{
    if (r->epoch_number != r->board->epoch_number) {
        finish(r, "the board was restored meanwhile", out);
        return false;
    }
    if (answer->outcome == STORE_DONE) {
        return true;
    }
    if (answer->outcome == STORE_REFUSED && answer->grpc_status == GRPC_OUT_OF_RANGE &&
        !r->fixed && r->restarts++ < OUTSIDE_RESTARTS_MAX) {
        r->next = 0;
        r->revision = 0;
        page_size_first(&r->size);
        buf_clear(&r->page_key);
        r->taker.anew(r->taker.context);
        ask(r, out);
        return false;
    }
    finish(r, arena_strdup(out->arena, store_text(answer)), out);
    return false;
}

static void take_revision(struct outside_read *r, const Etcd__ResponseHeader *header)
{
    if (r->revision == 0 && header) {
        r->revision = header->revision;
    }
}

static void on_keys(struct board *b, void *context, const struct store_answer *answer,
                    struct effects *out)
{
    (void)b;
    struct outside_read *r = context;
    if (!answered_well(r, answer, out)) {
        return;
    }
    const Etcd__TxnResponse *t = (const Etcd__TxnResponse *)answer->message;
    take_revision(r, t->header);
    for (size_t i = 0; i < t->n_responses && i < r->asked; i++) {
        const Etcd__RangeResponse *found = t->responses[i]->response_range;
        if (t->responses[i]->response_case == ETCD__RESPONSE_OP__RESPONSE_RESPONSE_RANGE && found &&
            found->n_kvs > 0) {
            r->taker.record(r->taker.context, r->next + i, found->kvs[0]);
        }
    }
    r->next += r->asked;
    go_on(r, out);
}

static void on_page(struct board *b, void *context, const struct store_answer *answer,
                    struct effects *out)
{
    (void)b;
    struct outside_read *r = context;
    if (answer->outcome == STORE_UNKNOWN && page_size_shrink(&r->size)) {
        ask(r, out);
        return;
    }
    if (!answered_well(r, answer, out)) {
        return;
    }
    const Etcd__RangeResponse *page = (const Etcd__RangeResponse *)answer->message;
    page_size_answered(&r->size, page);
    take_revision(r, page->header);
    for (size_t i = 0; i < page->n_kvs; i++) {
        r->taker.record(r->taker.context, r->next, page->kvs[i]);
    }
    buf_clear(&r->page_key);
    if (page->more && page->n_kvs > 0) {
        const ProtobufCBinaryData *last = &page->kvs[page->n_kvs - 1]->key;
        buf_append(&r->page_key, last->data, last->len);
        buf_append_string(&r->page_key, PAGE_NEXT);
    } else {
        r->next++;
        page_size_first(&r->size);
    }
    go_on(r, out);
}

static void ask_page(struct outside_read *r, const char *prefix, struct effects *out)
{
    struct arena *a = out->arena;
    Etcd__RangeRequest *q = ARENA_NEW(a, Etcd__RangeRequest);
    etcd__range_request__init(q);
    q->key = key_data(prefix);
    if (r->page_key.size) {
        q->key.len = r->page_key.size;
        q->key.data = arena_copy(a, r->page_key.data, r->page_key.size);
    }
    q->range_end = key_data(key_range_end(a, prefix));
    q->limit = r->size.records;
    q->revision = r->revision;
    store_send(r->board, STORE_RANGE, &q->base, PAGE_TIMEOUT_NS, on_page, r, out);
}

static void ask_keys(struct outside_read *r, struct effects *out)
{
    struct arena *a = out->arena;
    Etcd__TxnRequest *t = ARENA_NEW(a, Etcd__TxnRequest);
    etcd__txn_request__init(t);
    t->success = ARENA_ARRAY(a, FETCH_KEYS, Etcd__RequestOp *);
    while (t->n_success < FETCH_KEYS && r->next + t->n_success < r->count &&
           !is_prefix(r->keys[r->next + t->n_success])) {
        Etcd__RequestOp *op = etcd_op_range(a, r->keys[r->next + t->n_success]);
        op->request_range->revision = r->revision;
        t->success[t->n_success++] = op;
    }
    r->asked = t->n_success;
    store_send(r->board, STORE_TXN, &t->base, PAGE_TIMEOUT_NS, on_keys, r, out);
}

static void ask(struct outside_read *r, struct effects *out)
{
    if (r->next == r->count) {
        finish(r, NULL, out);
    } else if (is_prefix(r->keys[r->next])) {
        ask_page(r, r->keys[r->next], out);
    } else {
        ask_keys(r, out);
    }
}

void outside_start(struct board *b, const char *const *keys, size_t count, int64_t revision,
                   const struct outside_taker *taker, struct effects *out)
{
    assert(count > 0);
    struct outside_read *r = calloc(1, sizeof(*r));
    if (!r) {
        abort();
    }
    *r = (struct outside_read){
        .board = b,
        .keys = keys,
        .count = count,
        .revision = revision,
        .fixed = revision != 0,
        .epoch_number = b->epoch_number,
        .taker = *taker,
    };
    buf_init(&r->page_key);
    page_size_init(&r->size, READ_PAGE_BYTES);
    LIST_INSERT_HEAD(&b->outside_reads, r, link);
    ask(r, out);
}

void outside_reads_free(struct board *b, struct effects *nowhere)
{
    struct outside_read *r;
    while ((r = LIST_FIRST(&b->outside_reads))) {
        finish(r, "this bbs is ending", nowhere);
        effects_forget(nowhere);
    }
}

/* Whether this version can read it: what it cannot is left alone. Nothing is decoded for it. */
static bool readable(enum record_type type, struct bytes value)
{
    const ProtobufCMessageDescriptor *descriptor = record_descriptor(type);
    return descriptor && value.size > 0 && value.data[0] == RECORD_VERSION &&
           scan_message(descriptor, record_body(value), SIZE_MAX, NULL, NULL) == 0;
}

/* ---- board_fetch ----------------------------------------------------------------------------- */

struct outside_fetch {
    struct arena *arena;
    struct outside *list;
    size_t count, capacity;
    board_fetched *got;
    void *context;
};

static void fetch_record(void *context, size_t asked, const Etcd__KeyValue *kv)
{
    (void)asked;
    struct outside_fetch *f = context;
    struct bytes value = {.data = kv->value.data, .size = kv->value.len};
    const char *key = arena_strndup(f->arena, (const char *)kv->key.data, kv->key.len);
    if (!readable(key_type(key), value)) {
        return;
    }
    if (f->count == f->capacity) {
        f->capacity = f->capacity ? 2 * f->capacity : 8;
        struct outside *list = ARENA_ARRAY(f->arena, f->capacity, struct outside);
        if (f->count) {
            memcpy(list, f->list, f->count * sizeof(*list));
        }
        f->list = list;
    }
    f->list[f->count++] = (struct outside){
        .key = key,
        .blob = blob_new(value.data, value.size),
    };
}

static void fetch_anew(void *context)
{
    struct outside_fetch *f = context;
    for (size_t i = 0; i < f->count; i++) {
        blob_unref(f->list[i].blob);
    }
    f->count = 0;
}

static void fetch_over(void *context, int64_t revision, const char *text, struct effects *out)
{
    (void)revision;
    struct outside_fetch *f = context;
    struct arena *arena = f->arena; /* `f` lives in it */
    f->got(f->context, text ? NULL : f->list, text ? 0 : f->count, text, out);
    fetch_anew(f);
    arena_done(arena);
    free(arena);
}

void board_fetch(struct board *b, struct arena *arena, const char *const *keys, size_t count,
                 int64_t revision, board_fetched *got, void *context, struct effects *out)
{
    struct outside_fetch *f = ARENA_NEW(arena, struct outside_fetch);
    *f = (struct outside_fetch){.arena = arena, .got = got, .context = context};
    const struct outside_taker taker = {
        .context = f, .record = fetch_record, .anew = fetch_anew, .done = fetch_over};
    if (count == 0 || b->ending) {
        fetch_over(f, revision, b->ending ? "this bbs is ending" : NULL, out);
        return;
    }
    outside_start(b, keys, count, revision, &taker, out);
}

/* ---- board_walk ------------------------------------------------------------------------------ */

struct outside_walk {
    const char *prefix;
    enum record_type type;
    struct board_walker walker;
    char text[];
};

static void walk_record(void *context, size_t asked, const Etcd__KeyValue *kv)
{
    (void)asked;
    struct outside_walk *w = context;
    struct bytes value = {.data = kv->value.data, .size = kv->value.len};
    if (readable(w->type, value)) {
        w->walker.record(w->walker.context,
                         (struct bytes){.data = kv->key.data, .size = kv->key.len}, value);
    }
}

static bool walk_enough(void *context, struct effects *out)
{
    (void)out;
    struct outside_walk *w = context;
    return w->walker.enough(w->walker.context);
}

static void walk_done(void *context, int64_t revision, const char *text, struct effects *out)
{
    (void)revision;
    struct outside_walk *w = context;
    w->walker.done(w->walker.context, text, out);
    free(w);
}

void board_walk(struct board *b, const char *prefix, int64_t revision,
                const struct board_walker *walker, struct effects *out)
{
    assert(revision > 0 && is_prefix(prefix));
    size_t size = strlen(prefix) + 1;
    struct outside_walk *w = calloc(1, sizeof(*w) + size);
    if (!w) {
        abort();
    }
    memcpy(w->text, prefix, size);
    w->prefix = w->text;
    w->type = key_type(prefix);
    w->walker = *walker;
    const struct outside_taker taker = { /* never anew: its revision is named */
        .context = w, .record = walk_record, .enough = walk_enough, .done = walk_done};
    if (b->ending) {
        walk_done(w, revision, "this bbs is ending", out);
        return;
    }
    outside_start(b, &w->prefix, 1, revision, &taker, out);
}
