#include "test/conformance/store_judge.h"

#include "common/base/map.h"
#include "test/conformance/store_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct court {
    struct judge *judge;
    struct arena arena;
    struct map state;   /* key to Etcd__KeyValue */
    struct map markers; /* marker to the struct judged_call that put it, not those that void */
    struct judged_call **by_revision;
    size_t by_revision_count;
    size_t next_answer;
    int64_t revision; /* the state is the one of this */
};

static bool wrong(struct court *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(struct court *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->judge->problem, sizeof(c->judge->problem), format, args);
    va_end(args);
    return false;
}

static char *text_of(struct arena *a, ProtobufCBinaryData bytes)
{
    return arena_strndup(a, (const char *)bytes.data, bytes.len);
}

static bool same(ProtobufCBinaryData a, ProtobufCBinaryData b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static bool is_text(ProtobufCBinaryData a, const char *text)
{
    return same(a, key_of(text));
}

static const struct store_answer *answer_of(const struct court *c, const struct judged_call *call)
{
    return c->judge->tester->answers[call->id];
}

/* The oracle's own Range and compares */

static bool in_range(ProtobufCBinaryData end, const char *low, const char *key)
{
    if (end.len == 0) {
        return strcmp(key, low) == 0;
    }
    bool open = end.len == 1 && end.data[0] == 0;
    size_t size = strlen(key) < end.len ? strlen(key) : end.len;
    int order = memcmp(key, end.data, size);
    return open || order < 0 || (order == 0 && strlen(key) < end.len);
}

static bool number_holds(const Etcd__Compare *c, int64_t is, int64_t wanted)
{
    switch (c->result) {
    case ETCD__COMPARE__COMPARE_RESULT__EQUAL:
        return is == wanted;
    case ETCD__COMPARE__COMPARE_RESULT__NOT_EQUAL:
        return is != wanted;
    case ETCD__COMPARE__COMPARE_RESULT__GREATER:
        return is > wanted;
    default:
        return is < wanted;
    }
}

static bool compare_holds_for(const Etcd__Compare *c, const Etcd__KeyValue *kv)
{
    switch (c->target) {
    case ETCD__COMPARE__COMPARE_TARGET__VERSION:
        return number_holds(c, kv->version, c->version);
    case ETCD__COMPARE__COMPARE_TARGET__CREATE:
        return number_holds(c, kv->create_revision, c->create_revision);
    case ETCD__COMPARE__COMPARE_TARGET__MOD:
        return number_holds(c, kv->mod_revision, c->mod_revision);
    case ETCD__COMPARE__COMPARE_TARGET__LEASE:
        return number_holds(c, kv->lease, c->lease);
    default: {
        size_t common = kv->value.len < c->value.len ? kv->value.len : c->value.len;
        int order = common ? memcmp(kv->value.data, c->value.data, common) : 0;
        return number_holds(c, order ? order : (int64_t)kv->value.len - (int64_t)c->value.len, 0);
    }
    }
}

static bool compare_holds(struct court *court, const Etcd__Compare *c)
{
    Etcd__KeyValue nothing = ETCD__KEY_VALUE__INIT;
    const char *low = text_of(&court->arena, c->key);
    size_t found = 0;
    for (struct map_node *n = map_from(&court->state, low);
         n && in_range(c->range_end, low, map_key(n)); n = map_next(n), found++) {
        if (!compare_holds_for(c, map_value(n))) {
            return false;
        }
    }
    return found ||
           (c->target != ETCD__COMPARE__COMPARE_TARGET__VALUE && compare_holds_for(c, &nothing));
}

static bool all_hold(struct court *court, const Etcd__TxnRequest *t)
{
    for (size_t i = 0; i < t->n_compare; i++) {
        if (!compare_holds(court, t->compare[i])) {
            return false;
        }
    }
    return true;
}

static Etcd__ResponseHeader *header(struct court *court, int64_t revision)
{
    Etcd__ResponseHeader *h = ARENA_NEW(&court->arena, Etcd__ResponseHeader);
    *h = (Etcd__ResponseHeader)ETCD__RESPONSE_HEADER__INIT;
    h->revision = revision;
    return h;
}

static Etcd__RangeResponse *expect_range(struct court *court, const Etcd__RangeRequest *r)
{
    struct arena *a = &court->arena;
    Etcd__RangeResponse *e = ARENA_NEW(a, Etcd__RangeResponse);
    *e = (Etcd__RangeResponse)ETCD__RANGE_RESPONSE__INIT;
    e->header = header(court, court->revision);
    e->kvs = ARENA_ARRAY(a, court->state.count, Etcd__KeyValue *);
    const char *low = text_of(a, r->key);
    for (struct map_node *n = map_from(&court->state, low);
         n && in_range(r->range_end, low, map_key(n)); n = map_next(n)) {
        e->count++;
        if (r->count_only) {
            continue;
        }
        if (r->limit && e->n_kvs == (size_t)r->limit) {
            e->more = true;
            continue;
        }
        Etcd__KeyValue *kv = arena_copy(a, map_value(n), sizeof(*kv));
        kv->value.len = r->keys_only ? 0 : kv->value.len;
        e->kvs[e->n_kvs++] = kv;
    }
    return e;
}

/* Answers */

static bool texts_equal(struct court *court, const struct judged_call *call,
                        const ProtobufCMessage *is, const ProtobufCMessage *expected)
{
    struct buf text[2];
    buf_init(&text[0]);
    buf_init(&text[1]);
    store_text_message(&text[0], is);
    store_text_message(&text[1], expected);
    bool equal = strcmp(buf_string(&text[0]), buf_string(&text[1])) == 0;
    if (!equal) {
        wrong(court, "call %llu at %lld: answered %.200s, expected %.200s",
              (unsigned long long)call->id, (long long)court->revision, buf_string(&text[0]),
              buf_string(&text[1]));
    }
    buf_done(&text[0]);
    buf_done(&text[1]);
    return equal;
}

static Etcd__ResponseOp *expect_op(struct court *court, const Etcd__RequestOp *op, int64_t revision)
{
    struct arena *a = &court->arena;
    Etcd__ResponseOp *e = ARENA_NEW(a, Etcd__ResponseOp);
    *e = (Etcd__ResponseOp)ETCD__RESPONSE_OP__INIT;
    if (op->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_PUT) {
        e->response_case = ETCD__RESPONSE_OP__RESPONSE_RESPONSE_PUT;
        e->response_put = ARENA_NEW(a, Etcd__PutResponse);
        *e->response_put = (Etcd__PutResponse)ETCD__PUT_RESPONSE__INIT;
        e->response_put->header = header(court, revision);
    } else if (op->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE) {
        e->response_case = ETCD__RESPONSE_OP__RESPONSE_RESPONSE_DELETE_RANGE;
        e->response_delete_range = ARENA_NEW(a, Etcd__DeleteRangeResponse);
        *e->response_delete_range = (Etcd__DeleteRangeResponse)ETCD__DELETE_RANGE_RESPONSE__INIT;
        e->response_delete_range->header = header(court, revision);
        const char *key = text_of(a, op->request_delete_range->key);
        e->response_delete_range->deleted = map_get(&court->state, key) != NULL;
    } else {
        e->response_case = ETCD__RESPONSE_OP__RESPONSE_RESPONSE_RANGE;
        e->response_range = expect_range(court, op->request_range);
    }
    return e;
}

/* The whole answer of a transaction that the state is judged by; writes happen at `revision`. */
static Etcd__TxnResponse *expect_txn(struct court *court, const Etcd__TxnRequest *t,
                                     int64_t revision)
{
    struct arena *a = &court->arena;
    Etcd__TxnResponse *e = ARENA_NEW(a, Etcd__TxnResponse);
    *e = (Etcd__TxnResponse)ETCD__TXN_RESPONSE__INIT;
    e->header = header(court, revision);
    e->succeeded = all_hold(court, t);
    e->n_responses = e->succeeded ? t->n_success : t->n_failure;
    e->responses = ARENA_ARRAY(a, e->n_responses, Etcd__ResponseOp *);
    for (size_t i = 0; i < e->n_responses; i++) {
        e->responses[i] = expect_op(court, e->succeeded ? t->success[i] : t->failure[i], revision);
    }
    return e;
}

/* Answers that changed nothing are right for the state of their revision. */
static bool check_reads(struct court *c)
{
    for (; c->next_answer < c->by_revision_count; c->next_answer++) {
        const struct judged_call *call = c->by_revision[c->next_answer];
        const struct store_answer *answer = answer_of(c, call);
        if (answer_revision(answer) != c->revision) {
            return true;
        }
        const void *request = call->message;
        const ProtobufCMessage *expected = call->call == STORE_RANGE
                                               ? &expect_range(c, request)->base
                                               : &expect_txn(c, request, c->revision)->base;
        if (!texts_equal(c, call, answer->message, expected)) {
            return false;
        }
    }
    return true;
}

/* Writes */

static bool event_follows(struct court *c, const Etcd__Event *e, int64_t revision)
{
    const char *key = text_of(&c->arena, e->kv->key);
    const Etcd__KeyValue *before = map_get(&c->state, key);
    bool is_put = e->type == ETCD__EVENT__TYPE__PUT;
    if (e->kv->mod_revision != revision) {
        return wrong(c, "%s: mod-revision %lld in revision %lld", key,
                     (long long)e->kv->mod_revision, (long long)revision);
    }
    if (!before != !e->prev_kv || (before && (before->mod_revision != e->prev_kv->mod_revision ||
                                              !same(before->value, e->prev_kv->value)))) {
        return wrong(c, "%s: the previous value at %lld is not the one before", key,
                     (long long)revision);
    }
    if (!is_put) {
        return before ||
               wrong(c, "%s: deleted at %lld without being there", key, (long long)revision);
    }
    int64_t created = before ? before->create_revision : revision;
    int64_t version = before ? before->version + 1 : 1;
    return (e->kv->create_revision == created && e->kv->version == version) ||
           wrong(c, "%s: creation or version at %lld do not follow", key, (long long)revision);
}

static const Etcd__Event *find_event(const Etcd__Event *const *events, size_t count,
                                     ProtobufCBinaryData key)
{
    for (size_t i = 0; i < count; i++) {
        if (same(events[i]->kv->key, key)) {
            return events[i];
        }
    }
    return NULL;
}

/* The revision's events are all that the transaction writes, and nothing else. */
static bool landed_wholly(struct court *c, const struct judged_call *call,
                          const Etcd__Event *const *events, size_t count)
{
    const Etcd__TxnRequest *t = (const Etcd__TxnRequest *)call->message;
    size_t expected = 0;
    for (size_t i = 0; i < t->n_success; i++) {
        const Etcd__RequestOp *op = t->success[i];
        const Etcd__Event *e;
        if (op->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_PUT) {
            e = find_event(events, count, op->request_put->key);
            if (!e || e->type != ETCD__EVENT__TYPE__PUT ||
                !same(e->kv->value, op->request_put->value)) {
                return wrong(c, "call %llu landed in part", (unsigned long long)call->id);
            }
            expected++;
        } else if (op->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE &&
                   map_get(&c->state, text_of(&c->arena, op->request_delete_range->key))) {
            e = find_event(events, count, op->request_delete_range->key);
            if (!e || e->type != ETCD__EVENT__TYPE__DELETE) {
                return wrong(c, "call %llu landed in part", (unsigned long long)call->id);
            }
            expected++;
        }
    }
    return expected == count || wrong(c, "revision of call %llu has %zu events, not %zu",
                                      (unsigned long long)call->id, count, expected);
}

/* The call that a revision is from, by its marker. */
static const struct judged_call *writer_of(struct court *c, const Etcd__Event *const *events,
                                           size_t count, bool *ret_voided)
{
    for (size_t i = 0; i < count; i++) {
        const char *key = text_of(&c->arena, events[i]->kv->key);
        if (strncmp(key, JUDGE_MARKER_PREFIX, strlen(JUDGE_MARKER_PREFIX)) == 0) {
            *ret_voided = is_text(events[i]->kv->value, JUDGE_VOID);
            return map_get(&c->markers, key);
        }
    }
    return NULL;
}

static bool check_writer(struct court *c, const Etcd__Event *const *events, size_t count,
                         int64_t revision)
{
    bool voided = false;
    const struct judged_call *call = writer_of(c, events, count, &voided);
    if (!call) {
        return wrong(c, "nobody wrote revision %lld", (long long)revision);
    }
    const struct store_answer *answer = answer_of(c, call);
    if (voided) {
        return (count == 1 && answer->outcome == STORE_UNKNOWN) ||
               wrong(c, "call %llu was voided but not unknown", (unsigned long long)call->id);
    }
    if (answer->outcome == STORE_REFUSED ||
        (answer->outcome == STORE_DONE && answer_revision(answer) != revision)) {
        return wrong(c, "call %llu, answered %d at %lld, landed at %lld",
                     (unsigned long long)call->id, answer->outcome,
                     (long long)answer_revision(answer), (long long)revision);
    }
    if (revision <= call->floor) {
        return wrong(c, "call %llu landed before it was sent", (unsigned long long)call->id);
    }
    const Etcd__TxnRequest *t = (const Etcd__TxnRequest *)call->message;
    if (!all_hold(c, t)) {
        return wrong(c, "call %llu landed though its compares do not hold",
                     (unsigned long long)call->id);
    }
    if (answer->outcome == STORE_DONE &&
        !texts_equal(c, call, answer->message, &expect_txn(c, t, revision)->base)) {
        return false;
    }
    return landed_wholly(c, call, events, count);
}

static void apply(struct court *c, const Etcd__Event *e)
{
    const char *key = text_of(&c->arena, e->kv->key);
    if (e->type == ETCD__EVENT__TYPE__PUT) {
        map_put(&c->state, key, e->kv);
    } else {
        map_remove(&c->state, key);
    }
}

/* The answer of the writer itself is judged by the state before, so it is left out after. */
static void skip_writer(struct court *c, const Etcd__Event *const *events, size_t count)
{
    bool voided = false;
    const struct judged_call *writer = writer_of(c, events, count, &voided);
    size_t kept = c->next_answer;
    for (size_t i = c->next_answer; i < c->by_revision_count; i++) {
        const struct judged_call *call = c->by_revision[i];
        const Etcd__TxnResponse *r = (const Etcd__TxnResponse *)answer_of(c, call)->message;
        bool is_void =
            voided && call->voids && strcmp(call->marker, writer->marker) == 0 && r->succeeded;
        if (!is_void && (voided || call != writer)) {
            c->by_revision[kept++] = c->by_revision[i];
        }
    }
    c->by_revision_count = kept;
}

static bool check_revision(struct court *c, const Etcd__Event *const *events, size_t count)
{
    int64_t revision = events[0]->kv->mod_revision;
    if (revision != c->revision + 1) {
        return wrong(c, "revision %lld follows %lld", (long long)revision, (long long)c->revision);
    }
    for (size_t i = 0; i < count; i++) {
        if (!event_follows(c, events[i], revision)) {
            return false;
        }
    }
    if (!check_writer(c, events, count, revision)) {
        return false;
    }
    skip_writer(c, events, count);
    for (size_t i = 0; i < count; i++) {
        apply(c, events[i]);
    }
    c->revision = revision;
    return check_reads(c);
}

/* Preparation */

static int compare_by_revision(const void *left, const void *right, void *court)
{
    const struct court *c = court;
    int64_t a = answer_revision(answer_of(c, *(struct judged_call *const *)left));
    int64_t b = answer_revision(answer_of(c, *(struct judged_call *const *)right));
    return (a > b) - (a < b);
}

/* An answer is never older than what its caller had seen before: linearisable. */
static bool prepare(struct court *c)
{
    struct judge *j = c->judge;
    c->by_revision = ARENA_ARRAY(&c->arena, j->count, struct judged_call *);
    for (size_t i = 0; i < j->count; i++) {
        struct judged_call *call = &j->calls[i];
        const struct store_answer *answer = answer_of(c, call);
        if (call->marker && !call->voids) {
            map_put(&c->markers, call->marker, call);
        }
        if (answer->outcome != STORE_DONE) {
            continue;
        }
        if (answer_revision(answer) < call->floor) {
            return wrong(c, "call %llu answered from %lld, older than %lld that was seen before",
                         (unsigned long long)call->id, (long long)answer_revision(answer),
                         (long long)call->floor);
        }
        c->by_revision[c->by_revision_count++] = call;
    }
    qsort_r(c->by_revision, c->by_revision_count, sizeof(struct judged_call *), compare_by_revision,
            c);
    return true;
}

static bool replay(struct court *c)
{
    struct judge *j = c->judge;
    c->revision = 1;
    if (!prepare(c) || !check_reads(c)) {
        return false;
    }
    for (size_t i = 0, end; i < j->event_count; i = end) {
        end = i + 1;
        while (end < j->event_count &&
               j->events[end]->kv->mod_revision == j->events[i]->kv->mod_revision) {
            end++;
        }
        if (!check_revision(c, &j->events[i], end - i)) {
            return false;
        }
    }
    return c->next_answer == c->by_revision_count ||
           wrong(c, "an answer names revision %lld, after the last one that a watch told",
                 (long long)answer_revision(answer_of(c, c->by_revision[c->next_answer])));
}

bool judge_history(struct judge *j)
{
    struct court c = {.judge = j};
    arena_init(&c.arena);
    map_init(&c.state);
    map_init(&c.markers);
    bool good = replay(&c);
    map_done(&c.state, NULL);
    map_done(&c.markers, NULL);
    arena_done(&c.arena);
    return good;
}
