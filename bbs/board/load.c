/* Loading the copy: all records that it keeps, page by page at one revision; then the watch
 * goes on from there (design.md 2). The first bbs ever makes the board generation. Who gives the
 * order, and what becomes of the copy, is reload.c. */
#include "bbs/board/inside.h"
#include "bbs/board/board_generation.h"

#include <stdlib.h>
#include <string.h>

static const ProtobufCBinaryData whole_space = {.len = 1, .data = (uint8_t *)(size_t)"\0"};

static void begin_part(struct load *l, unsigned part)
{
    l->part = part;
    buf_clear(&l->next_key);
    if (record_kept_part(part)) {
        const char *first = record_kept_part(part)->first;
        buf_append(&l->next_key, first ? first : "\0", first ? strlen(first) : 1);
    }
}

static void on_page(struct board *b, void *context, const struct store_answer *answer,
                    struct effects *out);

static void ask_page(struct board *b, struct effects *out)
{
    struct load *l = &b->load;
    Etcd__RangeRequest *r = arena_message(out->arena, &etcd__range_request__descriptor);
    r->key.len = l->next_key.size;
    r->key.data = arena_copy(out->arena, l->next_key.data, l->next_key.size);
    const char *end = record_kept_part(l->part)->end;
    r->range_end = end ? key_data(end) : whole_space;
    r->limit = l->page.records;
    r->revision = l->revision;
    l->call_id = store_send(b, STORE_RANGE, &r->base, PAGE_TIMEOUT_NS, on_page, NULL, out);
}

static void free_copy(struct load *l)
{
    copy_free(l->copy);
    l->copy = NULL;
    map_done(&l->strangers, NULL);
}

static void list_all(struct board *b, struct effects *out)
{
    struct load *l = &b->load;
    free_copy(l);
    l->copy = copy_new();
    l->revision = 0;
    l->asked_ns = b->now.mono_ns;
    l->retry_ns = NEVER_NS;
    page_size_first(&l->page);
    begin_part(l, 0);
    ask_page(b, out);
}

static void failed(struct board *b, const char *text, struct effects *out)
{
    struct load *l = &b->load;
    l->call_id = 0;
    l->retry_ns = b->now.mono_ns + backoff_ns(l->failures++);
    board_trouble(b, text, out);
}

/* An etcd that went back is listed when its board generation is another. */
static void on_board_generations(struct board *b, void *context, const struct store_answer *answer,
                      struct effects *out)
{
    (void)context;
    b->load.call_id = 0;
    const Etcd__RangeResponse *found = (const Etcd__RangeResponse *)answer->message;
    const char *held = key_epoch(out->arena, b->board_generation);
    if (answer->outcome != STORE_DONE) {
        failed(b, store_text(answer), out);
    } else if (found->n_kvs == 1 && found->kvs[0]->key.len == strlen(held) &&
               memcmp(found->kvs[0]->key.data, held, strlen(held)) == 0) {
        fall_mark(b, found->kvs[0], out);
        failed(b, "it went back to an older revision", out);
    } else {
        list_all(b, out);
    }
}

static void ask_board_generations(struct board *b, struct effects *out)
{
    Etcd__RangeRequest *r = ARENA_NEW(out->arena, Etcd__RangeRequest);
    board_generation_question(out->arena, r);
    b->load.retry_ns = NEVER_NS;
    b->load.call_id =
        store_send(b, STORE_RANGE, &r->base, PAGE_TIMEOUT_NS, on_board_generations, NULL, out);
}

static void begin(struct board *b, struct effects *out)
{
    if (b->fall.is) {
        ask_board_generations(b, out);
    } else {
        list_all(b, out);
    }
}

void load_begin(struct board *b, struct effects *out)
{
    struct load *l = &b->load;
    store_forget(b, l->call_id);
    l->active = true;
    l->complete = false;
    l->failures = 0;
    page_size_init(&l->page, LOAD_PAGE_BYTES);
    begin(b, out);
}

void load_timer(struct board *b, struct effects *out)
{
    struct load *l = &b->load;
    if (!l->active || l->retry_ns == NEVER_NS) {
        return;
    }
    if (l->retry_ns <= b->now.mono_ns) {
        begin(b, out);
    } else {
        effects_due(out, l->retry_ns);
    }
}

/* "The etcd is ours alone": whatever else is there is reported loudly and left alone. */
static void note_stranger(struct load *l, const char *key, struct effects *out)
{
    static const char known = 1;
    size_t size = strcspn(key, "/");
    const char *prefix = arena_strndup(out->arena, key, size);
    if (!map_get(&l->strangers, prefix) && l->strangers.count < 16) {
        map_put(&l->strangers, prefix, (void *)(size_t)&known);
        effects_log(out, LOG_ERROR_LEVEL,
                    "etcd holds keys that are not ours: give Corkboard an etcd of its own",
                    "prefix=\"%s\"", prefix);
    }
}

static void take_record(struct board *b, const Etcd__KeyValue *kv, struct arena *scratch,
                        struct effects *out)
{
    if (memchr(kv->key.data, 0, kv->key.len)) {
        note_stranger(&b->load, "key with a NUL byte", out);
        return;
    }
    const char *key = arena_strndup(scratch, (const char *)kv->key.data, kv->key.len);
    if (key_type(key) == RECORD_UNKNOWN) {
        note_stranger(&b->load, key, out);
    }
    struct bytes value = {.data = kv->value.data, .size = kv->value.len};
    struct version *item = version_new(scratch, key, value, kv->create_revision, kv->mod_revision);
    version_unref(
        copy_put(b->load.copy, item, (struct sighting){.since_ns = b->now.mono_ns}));
}

static void on_board_generation(struct board *b, void *context, const struct store_answer *answer,
                     struct effects *out)
{
    (void)context;
    b->load.call_id = 0;
    if (answer->outcome != STORE_DONE) {
        failed(b, store_text(answer), out);
        return;
    }
    /* Made by us or by another that was faster: the next load shows it. */
    begin(b, out);
}

/* First start ever: the board generation is a key with a random id. Of two bbs one wins. */
static void make_board_generation(struct board *b, struct effects *out)
{
    struct arena *a = out->arena;
    char id[GUID_BYTES];
    random_guid(&b->random, id);
    Etcd__TxnRequest *t = ARENA_NEW(a, Etcd__TxnRequest);
    board_generation_again(a, NULL, id, b->now.wall_ns, t);
    b->load.call_id =
        store_send(b, STORE_TXN, &t->base, TXN_TIMEOUT_NS, on_board_generation, NULL, out);
}

/* The youngest board generation of the copy, NULL if there is none: a restore makes it again. */
static const struct version *board_generation_in(const struct copy *c)
{
    const struct version *best = NULL;
    for (struct copied *p = copy_from(c, "epoch/"); p; p = copy_next(p)) {
        const struct version *item = copied_version(p);
        if (item->type != RECORD_BOARD_GENERATION) {
            break;
        }
        if (!best || item->create_revision > best->create_revision) {
            best = item;
        }
    }
    return best;
}

static void complete(struct board *b, struct effects *out)
{
    struct load *l = &b->load;
    l->board_generation = board_generation_in(l->copy);
    if (!l->board_generation) {
        make_board_generation(b, out);
        return;
    }
    const char *id = key_component(out->arena, version_key(l->board_generation), 1);
    if (b->fall.is && b->board_generation && strcmp(b->board_generation, id) == 0) {
        begin(b, out);
        return;
    }
    map_done(&l->strangers, NULL);
    l->active = false;
    l->complete = true;
}

static void on_page(struct board *b, void *context, const struct store_answer *answer,
                    struct effects *out)
{
    (void)context;
    struct load *l = &b->load;
    l->call_id = 0;
    if (answer->outcome != STORE_DONE) {
        page_size_shrink(&l->page);
        failed(b, store_text(answer), out);
        return;
    }
    const Etcd__RangeResponse *page = (const Etcd__RangeResponse *)answer->message;
    if (!page->header) {
        failed(b, "etcd answered a list without its revision", out);
        return;
    }
    if (l->revision == 0) {
        l->revision = page->header->revision;
    }
    SCOPED_ARENA(scratch);
    for (size_t i = 0; i < page->n_kvs; i++) {
        take_record(b, page->kvs[i], &scratch, out);
        arena_reset(&scratch);
    }
    page_size_answered(&l->page, page);
    if (page->more && page->n_kvs > 0) {
        const ProtobufCBinaryData *last = &page->kvs[page->n_kvs - 1]->key;
        buf_clear(&l->next_key);
        buf_append(&l->next_key, last->data, last->len);
        buf_append_string(&l->next_key, PAGE_NEXT);
    } else {
        begin_part(l, l->part + 1);
    }
    if (record_kept_part(l->part)) {
        ask_page(b, out);
    } else {
        complete(b, out);
    }
}

void load_done(struct board *b)
{
    free_copy(&b->load);
    buf_done(&b->load.next_key);
}
