/* The slow periodic list that verifies the copy (design.md 2): page by page, each compared with the
 * copy once that has reached the page's revision. Keys that changed since the pass began are left
 * out: what is compared has stood still. */
#include "bbs/board/inside.h"
#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define VERIFY_INTERVAL_DEFAULT_NS (600 * SECOND_NS)
#define VERIFY_SOON_NS (5 * SECOND_NS) /* between two passes, whatever the doubt */
#define VERIFY_PAUSE_NS (50 * MILLISECOND_NS) /* between two pages */

/* The ends of a part, among keys of ours: what begins with a byte beyond them is not looked at. */
static const char *part_first(unsigned part)
{
    const char *first = record_kept_part(part)->first;
    return first ? first : "\x01";
}

static const char *part_end(unsigned part)
{
    const char *end = record_kept_part(part)->end;
    return end ? end : "\x7f";
}

static int64_t interval_ns(const struct board *b)
{
    return b->config.verify_interval_ns ? b->config.verify_interval_ns
                                        : VERIFY_INTERVAL_DEFAULT_NS;
}

static void drop_page(struct board *b)
{
    struct verify *v = &b->verify;
    await_stop(&b->awaits, &v->wait);
    v->page = NULL;
    arena_done(&v->page_arena);
}

static void set_from(struct verify *v, const char *key)
{
    free(v->from);
    v->from = mem_text(key);
}

static void end_pass(struct board *b)
{
    struct verify *v = &b->verify;
    drop_page(b);
    store_forget(b, v->call_id);
    v->call_id = 0;
    v->active = false;
    v->ended_ns = b->now.mono_ns;
    v->next_ns = b->now.mono_ns + interval_ns(b);
    map_done(&v->touched, NULL);
}

void verify_touched(struct board *b, const char *key)
{
    static const char yes = 1;
    if (!b->verify.active) {
        return;
    }
    map_put(&b->verify.touched, key, (void *)(size_t)&yes);
    if (b->verify.touched.count > TOUCHED_MAX) {
        end_pass(b); /* the next one tries again */
    }
}

void verify_soon(struct board *b)
{
    struct verify *v = &b->verify;
    if (!v->active) {
        v->next_ns = earlier_ns(v->next_ns, v->ended_ns + VERIFY_SOON_NS);
    }
}

void verify_reset(struct board *b)
{
    end_pass(b);
}

void verify_free(struct board *b)
{
    drop_page(b);
    map_done(&b->verify.touched, NULL);
    free(b->verify.from);
}

/* ---- one page against the copy ---- */

static bool is_touched(const struct board *b, const char *key)
{
    return map_get(&b->verify.touched, key) != NULL;
}

static bool same(const struct version *item, const Etcd__KeyValue *kv)
{
    struct bytes value = {.data = kv->value.data, .size = kv->value.len};
    return item->mod_revision == kv->mod_revision &&
           item->create_revision == kv->create_revision &&
           bytes_equal(blob_bytes(item->blob), value);
}

/* The first key at which copy and page differ, NULL if none: both are walked side by side. `last`
 * is the end of the stretch that the page speaks of. */
static const char *difference(struct board *b, const char *after, const char *last, struct arena *a)
{
    const Etcd__RangeResponse *page = b->verify.page;
    struct copied *p = copy_from(b->copy, after);
    if (p && strcmp(version_key(copied_version(p)), after) == 0) {
        p = copy_next(p); /* the end of the page before */
    }
    size_t i = 0;
    for (;;) {
        const char *held = p ? version_key(copied_version(p)) : NULL;
        if (held && strcmp(held, last) > 0) {
            held = NULL;
        }
        const char *listed = i < page->n_kvs ? arena_strndup(a, (char *)page->kvs[i]->key.data,
                                                             page->kvs[i]->key.len)
                                             : NULL;
        if (!held && !listed) {
            return NULL;
        }
        int order = !held ? 1 : !listed ? -1 : strcmp(held, listed);
        const char *key = order <= 0 ? held : listed;
        bool well = order == 0 && same(copied_version(p), page->kvs[i]);
        if (!well && !is_touched(b, key)) {
            return arena_strdup(a, key);
        }
        p = order <= 0 ? copy_next(p) : p;
        i += order >= 0;
    }
}

static void next_page(struct board *b, const char *last, bool more)
{
    struct verify *v = &b->verify;
    if (more) {
        set_from(v, last);
    } else {
        v->part++;
        set_from(v, "");
    }
    v->next_ns = b->now.mono_ns + VERIFY_PAUSE_NS;
    if (!record_kept_part(v->part)) {
        end_pass(b);
    }
}

/* The copy has the page's revision. */
static void on_position(struct await *w, bool reached, struct effects *out)
{
    struct board *b = w->owner;
    struct verify *v = &b->verify;
    if (!reached) {
        end_pass(b);
        return;
    }
    const Etcd__RangeResponse *page = v->page;
    bool more = page->more && page->n_kvs > 0;
    const char *last = part_end(v->part);
    if (more) {
        const ProtobufCBinaryData *key = &page->kvs[page->n_kvs - 1]->key;
        last = arena_strndup(out->arena, (char *)key->data, key->len);
    }
    const char *after = *v->from ? v->from : part_first(v->part);
    const char *different = difference(b, after, last, out->arena);
    drop_page(b);
    if (different) {
        b->differences++;
        effects_log(out, LOG_ERROR_LEVEL, "the copy of the board differs from etcd", "key=\"%s\"",
                    different);
        end_pass(b);
        board_want_reload(b, "the copy differs from etcd");
        return;
    }
    next_page(b, last, more);
}

static void on_page(struct board *b, void *context, const struct store_answer *answer,
                    struct effects *out)
{
    (void)context, (void)out;
    struct verify *v = &b->verify;
    v->call_id = 0;
    const Etcd__RangeResponse *page = (const Etcd__RangeResponse *)answer->message;
    if (answer->outcome != STORE_DONE || !page || !page->header) {
        if (page_size_shrink(&v->size)) {
            v->next_ns = b->now.mono_ns + VERIFY_PAUSE_NS; /* the same page, smaller */
        } else {
            end_pass(b);
        }
        return;
    }
    page_size_answered(&v->size, page);
    /* Kept until the copy is there: a copy of the message, for the answer is borrowed. */
    size_t size = etcd__range_response__get_packed_size(page);
    uint8_t *packed = arena_alloc(&v->page_arena, size);
    etcd__range_response__pack(page, packed);
    ProtobufCAllocator allocator = arena_protobuf(&v->page_arena);
    v->page = etcd__range_response__unpack(&allocator, size, packed);
    v->wait.owner = b;
    v->wait.wake = on_position;
    await_start(&b->awaits, &v->wait, page->header->revision, b->now.mono_ns + BEHIND_MAX_NS);
}

static void ask_page(struct board *b, struct effects *out)
{
    struct arena *a = out->arena;
    struct verify *v = &b->verify;
    Etcd__RangeRequest *r = arena_message(a, &etcd__range_request__descriptor);
    r->key = key_data(part_first(v->part));
    if (*v->from) {
        r->key = key_data(arena_printf(a, "%s%s", v->from, PAGE_NEXT));
    }
    r->range_end = key_data(part_end(v->part));
    r->limit = v->size.records;
    v->call_id = store_send(b, STORE_RANGE, &r->base, PAGE_TIMEOUT_NS, on_page, NULL, out);
}

void verify_timer(struct board *b, struct effects *out)
{
    struct verify *v = &b->verify;
    if (!b->loaded || b->stop_ns || v->next_ns > b->now.mono_ns || v->call_id || v->page) {
        return;
    }
    if (!v->active) {
        v->active = true;
        v->part = 0;
        set_from(v, "");
        page_size_init(&v->size, READ_PAGE_BYTES);
    }
    ask_page(b, out);
}

int64_t verify_due_ns(const struct board *b)
{
    const struct verify *v = &b->verify;
    return b->loaded && !b->stop_ns && !v->call_id && !v->page ? v->next_ns : NEVER_NS;
}
