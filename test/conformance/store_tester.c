#include "test/conformance/store_tester.h"

#include "common/base/memory.h"
#include "common/base/message.h"
#include "common/contract/moment.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

static const int64_t ask_timeout_ns = 60 * SECOND_NS;
static const int64_t watch_limit_ns = 60 * SECOND_NS;

/* Every response has a header, but etcd leaves that of a defragmentation out. */
static const Etcd__ResponseHeader *header_of(const ProtobufCMessage *m)
{
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, "header");
    return *(Etcd__ResponseHeader *const *)(const void *)((const char *)m + f->offset);
}

int64_t answer_revision(const struct store_answer *answer)
{
    const Etcd__ResponseHeader *header = answer->message ? header_of(answer->message) : NULL;
    return header ? header->revision : 0;
}

static void see(struct tester *t, int64_t revision)
{
    t->seen_revision = revision > t->seen_revision ? revision : t->seen_revision;
}

static void on_answer(void *tester, const struct store_answer *answer)
{
    struct tester *t = tester;
    if (answer->id == 0 || answer->id > t->last_id || t->answers[answer->id] || !answer->text) {
        t->wrong++;
        return;
    }
    struct store_answer *kept = ARENA_NEW(&t->arena, struct store_answer);
    *kept = *answer;
    kept->text = arena_strdup(&t->arena, answer->text);
    kept->message = message_copy(&t->arena, answer->message);
    t->answers[answer->id] = kept;
    t->open_count--;
    see(t, answer_revision(kept));
    if (t->on_answer) {
        t->on_answer(t->context, kept);
    }
}

static void keep_response(struct tester *t, struct watch_log *w, const Etcd__WatchResponse *r)
{
    if (w->count == w->capacity) {
        size_t capacity = w->capacity ? w->capacity * 2 : 16;
        Etcd__WatchResponse **list = ARENA_ARRAY(&t->arena, capacity, Etcd__WatchResponse *);
        if (w->count) {
            memcpy(list, w->list, w->count * sizeof(*list));
        }
        w->list = list;
        w->capacity = capacity;
    }
    w->list[w->count++] = (Etcd__WatchResponse *)message_copy(&t->arena, &r->base);
    for (size_t i = 0; i < r->n_events; i++) {
        int64_t revision = r->events[i]->kv->mod_revision;
        /* Revisions only rise, and no revision is told in two responses. */
        w->wrong += revision < w->last_revision || (i == 0 && revision == w->last_revision);
        w->last_revision = revision;
        see(t, revision);
    }
}

static void on_watch(void *tester, const struct watch_event *event)
{
    struct tester *t = tester;
    struct watch_log *w = NULL;
    for (size_t i = 0; i < t->watch_count; i++) {
        w = t->watches[i]->id == event->id ? t->watches[i] : w;
    }
    if (!w || w->closed || !event->text) {
        t->wrong++;
        return;
    }
    switch (event->kind) {
    case WATCH_OPEN:
        w->wrong += w->open || !event->response;
        w->open = true;
        break;
    case WATCH_EVENTS:
        w->wrong += !w->open || event->response->n_events == 0 || event->response->fragment;
        keep_response(t, w, event->response);
        break;
    case WATCH_CLOSED:
        w->closed = true;
        w->compact_revision = event->response ? event->response->compact_revision : 0;
        break;
    }
}

struct tester *tester_new(struct store_backend *backend)
{
    struct tester *t = mem_zeroed(sizeof(*t));
    t->backend = backend;
    arena_init(&t->arena);
    backend->handlers =
        (struct etcd_handlers){.on_answer = on_answer, .on_watch = on_watch, .context = t};
    return t;
}

void tester_free(struct tester *t)
{
    t->backend->ops->free(t->backend);
    arena_done(&t->arena);
    free(t);
}

uint64_t tester_send(struct tester *t, enum store_call call, const ProtobufCMessage *message,
                     int64_t timeout_ns)
{
    assert_true(t->last_id + 1 < TESTER_CALLS);
    struct store_request request = {.id = ++t->last_id,
                                    .call = call,
                                    .message = message,
                                    .deadline_ns =
                                        t->backend->ops->now_ns(t->backend) + timeout_ns};
    t->open_count++;
    t->backend->ops->call(t->backend, &request);
    assert_null(t->answers[request.id]); /* never answered from inside */
    return request.id;
}

const struct store_answer *tester_ask(struct tester *t, enum store_call call,
                                      const ProtobufCMessage *message)
{
    uint64_t id = tester_send(t, call, message, ask_timeout_ns);
    while (!t->answers[id]) {
        t->backend->ops->wait(t->backend, SECOND_NS);
    }
    return t->answers[id];
}

void tester_pass(struct tester *t, int64_t duration_ns)
{
    int64_t end_ns = t->backend->ops->now_ns(t->backend) + duration_ns;
    int64_t left_ns;
    while ((left_ns = end_ns - t->backend->ops->now_ns(t->backend)) > 0) {
        t->backend->ops->wait(t->backend, left_ns);
    }
}

void tester_settle(struct tester *t)
{
    while (t->open_count) {
        t->backend->ops->wait(t->backend, SECOND_NS);
    }
}

struct watch_log *tester_watch(struct tester *t, int64_t start_revision)
{
    assert_true(t->watch_count < TESTER_WATCHES);
    struct watch_log *w = ARENA_NEW(&t->arena, struct watch_log);
    w->id = ++t->last_id;
    t->watches[t->watch_count++] = w;
    t->backend->ops->watch(t->backend, w->id, start_revision);
    while (!w->open && !w->closed) {
        t->backend->ops->wait(t->backend, SECOND_NS);
    }
    return w;
}

void tester_unwatch(struct tester *t, struct watch_log *w)
{
    t->backend->ops->unwatch(t->backend, w->id);
    w->closed = true;
}

bool tester_watch_until(struct tester *t, const struct watch_log *w, int64_t revision)
{
    int64_t end_ns = t->backend->ops->now_ns(t->backend) + watch_limit_ns;
    while (!w->closed && w->last_revision < revision &&
           t->backend->ops->now_ns(t->backend) < end_ns) {
        t->backend->ops->wait(t->backend, SECOND_NS / 10);
    }
    return w->last_revision >= revision;
}

bool tester_watch_closes(struct tester *t, const struct watch_log *w, int64_t limit_ns)
{
    int64_t end_ns = t->backend->ops->now_ns(t->backend) + limit_ns;
    while (!w->closed && t->backend->ops->now_ns(t->backend) < end_ns) {
        t->backend->ops->wait(t->backend, SECOND_NS / 10);
    }
    return w->closed;
}

/* Requests */

ProtobufCBinaryData key_of(const char *text)
{
    return (ProtobufCBinaryData){.len = strlen(text), .data = (uint8_t *)(size_t)text};
}

static ProtobufCBinaryData copy_key(struct arena *a, const char *text)
{
    return text ? key_of(arena_strdup(a, text)) : (ProtobufCBinaryData){0};
}

/* "" stands for the end of all keys. */
static ProtobufCBinaryData copy_end(struct arena *a, const char *end)
{
    return end && !*end ? (ProtobufCBinaryData){.len = 1, .data = arena_alloc(a, 1)}
                        : copy_key(a, end);
}

static void *append(struct arena *a, void *list, size_t count, void *pointer)
{
    void **more = ARENA_ARRAY(a, count + 1, void *);
    if (count) {
        memcpy(more, list, count * sizeof(*more));
    }
    more[count] = pointer;
    return more;
}

struct txn *txn_new(struct arena *a)
{
    struct txn *t = ARENA_NEW(a, struct txn);
    t->request = (Etcd__TxnRequest)ETCD__TXN_REQUEST__INIT;
    t->arena = a;
    return t;
}

void txn_if(struct txn *t, Etcd__Compare *c)
{
    Etcd__TxnRequest *r = &t->request;
    r->compare = append(t->arena, r->compare, r->n_compare++, c);
}

void txn_then(struct txn *t, Etcd__RequestOp *op)
{
    Etcd__TxnRequest *r = &t->request;
    r->success = append(t->arena, r->success, r->n_success++, op);
}

void txn_else(struct txn *t, Etcd__RequestOp *op)
{
    Etcd__TxnRequest *r = &t->request;
    r->failure = append(t->arena, r->failure, r->n_failure++, op);
}

static Etcd__RequestOp *op_new(struct arena *a, Etcd__RequestOp__RequestCase kind)
{
    Etcd__RequestOp *op = ARENA_NEW(a, Etcd__RequestOp);
    *op = (Etcd__RequestOp)ETCD__REQUEST_OP__INIT;
    op->request_case = kind;
    return op;
}

Etcd__RequestOp *op_put(struct arena *a, const char *key, const char *value, int64_t lease)
{
    Etcd__RequestOp *op = op_new(a, ETCD__REQUEST_OP__REQUEST_REQUEST_PUT);
    op->request_put = ARENA_NEW(a, Etcd__PutRequest);
    *op->request_put = (Etcd__PutRequest)ETCD__PUT_REQUEST__INIT;
    op->request_put->key = copy_key(a, key);
    op->request_put->value = copy_key(a, value);
    op->request_put->lease = lease;
    return op;
}

Etcd__RequestOp *op_put_bytes(struct arena *a, const char *key, size_t size)
{
    Etcd__RequestOp *op = op_put(a, key, "", 0);
    op->request_put->value = (ProtobufCBinaryData){.len = size, .data = arena_alloc(a, size)};
    memset(op->request_put->value.data, 'x', size);
    return op;
}

Etcd__RequestOp *op_delete(struct arena *a, const char *key, const char *end)
{
    Etcd__RequestOp *op = op_new(a, ETCD__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE);
    op->request_delete_range = ARENA_NEW(a, Etcd__DeleteRangeRequest);
    *op->request_delete_range = (Etcd__DeleteRangeRequest)ETCD__DELETE_RANGE_REQUEST__INIT;
    op->request_delete_range->key = copy_key(a, key);
    op->request_delete_range->range_end = copy_end(a, end);
    return op;
}

Etcd__RangeRequest *range_new(struct arena *a, const char *key, const char *end)
{
    Etcd__RangeRequest *r = ARENA_NEW(a, Etcd__RangeRequest);
    *r = (Etcd__RangeRequest)ETCD__RANGE_REQUEST__INIT;
    r->key = copy_key(a, key);
    r->range_end = copy_end(a, end);
    return r;
}

Etcd__RequestOp *op_range(struct arena *a, const char *key, const char *end)
{
    Etcd__RequestOp *op = op_new(a, ETCD__REQUEST_OP__REQUEST_REQUEST_RANGE);
    op->request_range = range_new(a, key, end);
    return op;
}

Etcd__Compare *compare_number(struct arena *a, const char *key, const char *end,
                              Etcd__Compare__CompareTarget target,
                              Etcd__Compare__CompareResult result, int64_t number)
{
    Etcd__Compare *c = ARENA_NEW(a, Etcd__Compare);
    *c = (Etcd__Compare)ETCD__COMPARE__INIT;
    c->key = copy_key(a, key);
    c->range_end = copy_end(a, end);
    c->target = target;
    c->result = result;
    switch (target) {
    case ETCD__COMPARE__COMPARE_TARGET__VERSION:
        c->target_union_case = ETCD__COMPARE__TARGET_UNION_VERSION;
        c->version = number;
        break;
    case ETCD__COMPARE__COMPARE_TARGET__CREATE:
        c->target_union_case = ETCD__COMPARE__TARGET_UNION_CREATE_REVISION;
        c->create_revision = number;
        break;
    case ETCD__COMPARE__COMPARE_TARGET__MOD:
        c->target_union_case = ETCD__COMPARE__TARGET_UNION_MOD_REVISION;
        c->mod_revision = number;
        break;
    default:
        c->target_union_case = ETCD__COMPARE__TARGET_UNION_LEASE;
        c->lease = number;
        break;
    }
    return c;
}

Etcd__Compare *compare_bytes(struct arena *a, const char *key, const char *value)
{
    Etcd__Compare *c = ARENA_NEW(a, Etcd__Compare);
    *c = (Etcd__Compare)ETCD__COMPARE__INIT;
    c->key = copy_key(a, key);
    c->target = ETCD__COMPARE__COMPARE_TARGET__VALUE;
    c->target_union_case = ETCD__COMPARE__TARGET_UNION_VALUE;
    c->value = copy_key(a, value);
    return c;
}

Etcd__Compare *compare_unchanged(struct arena *a, const char *key, int64_t revision)
{
    return compare_number(a, key, NULL, ETCD__COMPARE__COMPARE_TARGET__MOD,
                          ETCD__COMPARE__COMPARE_RESULT__EQUAL, revision);
}

Etcd__Compare *compare_exists(struct arena *a, const char *key)
{
    return compare_number(a, key, NULL, ETCD__COMPARE__COMPARE_TARGET__VERSION,
                          ETCD__COMPARE__COMPARE_RESULT__GREATER, 0);
}

Etcd__Compare *compare_absent(struct arena *a, const char *key)
{
    return compare_number(a, key, NULL, ETCD__COMPARE__COMPARE_TARGET__VERSION,
                          ETCD__COMPARE__COMPARE_RESULT__EQUAL, 0);
}

Etcd__Compare *compare_range_empty(struct arena *a, const char *prefix)
{
    return compare_number(a, prefix, prefix_end(a, prefix), ETCD__COMPARE__COMPARE_TARGET__VERSION,
                          ETCD__COMPARE__COMPARE_RESULT__EQUAL, 0);
}

Etcd__Compare *compare_nothing_newer(struct arena *a, const char *prefix, int64_t revision)
{
    return compare_number(a, prefix, prefix_end(a, prefix), ETCD__COMPARE__COMPARE_TARGET__MOD,
                          ETCD__COMPARE__COMPARE_RESULT__LESS, revision + 1);
}

const char *prefix_end(struct arena *a, const char *prefix)
{
    char *end = arena_strdup(a, prefix);
    end[strlen(end) - 1]++; /* '/' to '0': never the last byte value */
    return end;
}

const Etcd__TxnResponse *tester_txn(struct tester *t, struct txn *txn)
{
    const struct store_answer *answer = tester_ask(t, STORE_TXN, &txn->request.base);
    assert_string_equal(answer->text, "");
    assert_int_equal(answer->outcome, STORE_DONE);
    return (const Etcd__TxnResponse *)answer->message;
}

const Etcd__RangeResponse *tester_range(struct tester *t, const Etcd__RangeRequest *request)
{
    const struct store_answer *answer = tester_ask(t, STORE_RANGE, &request->base);
    assert_string_equal(answer->text, "");
    assert_int_equal(answer->outcome, STORE_DONE);
    return (const Etcd__RangeResponse *)answer->message;
}

int64_t tester_put(struct tester *t, const char *key, const char *value)
{
    struct txn *txn = txn_new(&t->arena);
    txn_then(txn, op_put(&t->arena, key, value, 0));
    return tester_txn(t, txn)->header->revision;
}

const char *store_fault_name(enum store_fault fault)
{
    static const char *const names[STORE_FAULT_COUNT] = {"crash", "freeze", "cut", "silence",
                                                         "drop"};
    return names[fault];
}
