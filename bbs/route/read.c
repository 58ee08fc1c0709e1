#include "bbs/route/read.h"

#include "bbs/board/errors.h"
#include "bbs/route/answer.h"

#include <assert.h>

static void add(const struct read_row *row, struct records *records, const struct picked *one)
{
    struct blob *const parts[RECORD_PARTS] = {one->blob};
    if (row->viewer && (!row->differs || row->differs(record_body(blob_bytes(one->blob))))) {
        records_add_view(records, parts, row->viewer);
    } else {
        records_add(records, parts);
    }
}

static void answer_picked(const struct read_row *row, uint64_t request_id, struct view *v,
                          const struct picked *list, size_t count, struct effects *out)
{
    struct records *records = records_new(count);
    if (row->add) {
        row->add(records, v, list, count, row->r2);
    } else {
        for (size_t i = 0; i < count; i++) {
            add(row, records, &list[i]);
        }
    }
    if (row->whole && records_count(records) == 0) {
        records_free(records);
        answer_unavailable(out, request_id);
    } else {
        records_answer(records, request_id, out);
    }
}

static void answer_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    struct ask *ask = context;
    const struct read_row *row = ask->read;
    struct picked *list = NULL;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    if (row->message || ask->json) {
        ask_reply(ask, row->message ? row->message(ask, v) : row->json(ask, v), out);
        return;
    }
    assert(row->pick);
    size_t count = row->pick(v, ask->in.request, &list);
    if (row->one && count == 0) {
        answer_error(out, ask->request_id, MODELS__ERROR__TYPE__ResourceNotFound,
                     error_text(MODELS__ERROR__TYPE__ResourceNotFound));
        return;
    }
    bool opens = row->opened && ask->in.actor == ACTOR_REP;
    const ProtobufCMessage *opened = opens ? row->opened(ask, v, &list[0]) : NULL;
    if (opened) {
        effects_reply_message(out, ask->request_id, opened);
    } else {
        answer_picked(row, ask->request_id, v, list, count, out);
    }
}

void route_read(struct ask *ask, struct effects *out)
{
    const struct read_row *row = ask->read;
    if (row->valid) {
        row->valid(&ask->faults, ask->in.request);
    }
    if (ask_valid(ask, out)) {
        ask_read(ask, answer_read, out);
    }
}

Board__Selector read_selector(struct view *v, enum record_type type)
{
    Board__Selector selector = BOARD__SELECTOR__INIT;
    selector.type = arena_strdup(view_arena(v), record_type_name(type));
    return selector;
}

size_t read_pick_one(struct view *v, const char *key, struct picked **ret_list)
{
    const struct seen *seen = view_peek(v, key);
    *ret_list = ARENA_NEW(view_arena(v), struct picked);
    (*ret_list)->blob = seen ? seen->blob : NULL;
    return seen != NULL;
}

size_t read_all(struct view *v, enum record_type type, ProtobufCMessage ***ret_list)
{
    struct arena *a = view_arena(v);
    const Board__Selector selector = read_selector(v, type);
    struct blob **blobs;
    size_t count = view_select(v, &selector, &blobs), decoded = 0;
    *ret_list = ARENA_ARRAY(a, count, ProtobufCMessage *);
    for (size_t i = 0; i < count; i++) {
        decoded += record_decode(a, type, blob_bytes(blobs[i]), &(*ret_list)[decoded], NULL) == 0;
    }
    assert(decoded <= count);
    return decoded;
}
