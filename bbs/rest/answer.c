#include "bbs/rest/answer.h"

#include "bbs/board/copy.h"
#include "common/base/memory.h"
#include "common/codec/json.h"
#include "common/model/not_done.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>

static void append(struct buf *out, const ProtobufCMessage *m)
{
    int r = json_encode(m, 0, out, NULL); /* these are nested a few levels deep */
    assert(r == 0);
    (void)r;
}

void rest_answer(struct effects *out, uint64_t request_id, int status, const ProtobufCMessage *m)
{
    SCOPED_BUF(text);
    append(&text, m);
    buf_append_string(&text, "\n");
    effects_reply(out, request_id, status, REST_TYPE, buf_bytes(&text));
}

static void refuse(struct effects *out, uint64_t request_id, int status, const char *code,
                   char *message)
{
    Board__RestError error = BOARD__REST_ERROR__INIT;
    assert(status >= 400 && *code);
    error.code = (char *)(uintptr_t)code;
    error.message = message;
    rest_answer(out, request_id, status, &error.base);
    out->list[out->count - 1].reply.retry_after_s = status == 503;
}

void rest_refuse(struct effects *out, uint64_t request_id, int status, const char *code,
                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    refuse(out, request_id, status, code, arena_vprintf(out->arena, format, args));
    va_end(args);
}

void rest_unavailable(struct effects *out, uint64_t request_id, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    refuse(out, request_id, 503, "UNAVAILABLE", arena_vprintf(out->arena, format, args));
    va_end(args);
}

void rest_not_now(struct effects *out, uint64_t request_id)
{
    rest_unavailable(out, request_id,
                     NOT_DONE "this bbs begins, or does not reach its etcd: ask again, or another "
                              "bbs");
}

void rest_refuse_now(struct rest *q, struct effects *out, int status, const char *code,
                     const char *text)
{
    rest_refuse(out, q->ask->request_id, status, code, "%s", text);
    ask_end(q->ask);
}

/* ---- A list ---------------------------------------------------------------------------------- */

struct rest_list {
    struct cursor cursor;
    rest_show *show;
    struct version **versions; /* a reference of each from `next` on */
    size_t count;
    size_t next;
    bool began;  /* the bracket is given */
    bool filled; /* and an element */
};

static void append_element(struct rest_list *l, const struct version *v, struct buf *out)
{
    SCOPED_ARENA(a);
    ProtobufCMessage *record;
    if (record_decode(&a, v->type, blob_bytes(v->blob), &record, NULL) < 0) {
        return;
    }
    const ProtobufCMessage *shown = l->show(&a, record);
    if (shown) {
        buf_append_string(out, l->filled ? ",\n" : "\n");
        append(out, shown);
        l->filled = true;
    }
}

static enum cursor_state fill(struct cursor *c, struct buf *out, size_t max)
{
    struct rest_list *l = (struct rest_list *)c;
    assert(l->next <= l->count && l->show);
    size_t end = out->size + max;
    if (!l->began) {
        buf_append_string(out, "[");
        l->began = true;
    }
    while (l->next < l->count && out->size < end) {
        struct version *v = l->versions[l->next++];
        append_element(l, v, out);
        version_unref(v);
    }
    if (l->next == l->count) {
        buf_append_string(out, l->filled ? "\n]\n" : "]\n");
        return CURSOR_END;
    }
    return CURSOR_MORE;
}

static void free_list(struct cursor *c)
{
    struct rest_list *l = (struct rest_list *)c;
    for (; l->next < l->count; l->next++) {
        version_unref(l->versions[l->next]);
    }
    free(l->versions);
    free(l);
}

static const struct cursor_ops list_ops = {.fill = fill, .free = free_list};

static int newer_first(const void *x, const void *y)
{
    int64_t a = (*(struct version *const *)x)->create_revision;
    int64_t b = (*(struct version *const *)y)->create_revision;
    return (a < b) - (a > b);
}

static struct rest_list *list_of(const struct picked *list, size_t count, bool newest_first)
{
    struct rest_list *l = mem_zeroed(sizeof(*l));
    l->cursor.ops = &list_ops;
    l->versions = mem_array(count ? count : 1, sizeof(*l->versions)); /* NOLINT: pointers */
    for (size_t i = 0; i < count; i++) {
        l->versions[l->count++] = version_ref(list[i].version);
    }
    if (newest_first) {
        qsort(l->versions, l->count, sizeof(*l->versions), newer_first);
    }
    return l;
}

void rest_answer_list(struct view *v, const struct rest_range *range, rest_show *show,
                      uint64_t request_id, struct effects *out)
{
    Board__Selector selector = BOARD__SELECTOR__INIT;
    struct picked *list;
    selector.type = arena_strdup(view_arena(v), record_type_name(range->type));
    selector.key_prefix = arena_strdup(view_arena(v), range->key);
    selector.whole_key = range->whole_key;
    size_t count = view_pick(v, &selector, &list);
    struct rest_list *l = list_of(list, count, range->newest_first);
    l->show = show;
    effects_add(out, EFFECT_REPLY)->reply = (struct reply){
        .id = request_id,
        .status = 200,
        .content_type = REST_TYPE,
        .etag = "",
        .allow = "",
        .cursor = &l->cursor,
        .size = -1,
        .channel = "",
    };
}

void rest_answer_one(struct view *v, const char *key, rest_show *show, const struct rest *q,
                     const char *what, struct effects *out)
{
    const void *record = view_peek_message(v, key);
    assert(show && q->missing);
    const ProtobufCMessage *shown = record ? show(view_arena(v), record) : NULL;
    if (shown) {
        rest_answer(out, q->ask->request_id, 200, shown);
    } else {
        rest_refuse(out, q->ask->request_id, 404, q->missing, "system %s has no %s %s", q->system,
                    what, q->name);
    }
}

void rest_answer_newest(const struct rest *q, struct view *v, enum record_type type,
                        const char *uid, rest_show *show, struct effects *out)
{
    const struct rest_range range = {
        .type = type, .key = key_range_of(view_arena(v), type, uid), .newest_first = true};
    rest_answer_list(v, &range, show, q->ask->request_id, out);
}
