/* The model etcd's Txn: checks, compares and both branches, in etcd's order. */
#include "test/sim/model/inside.h"

#include <string.h>

/* etcd counts this for each put beside key and value when it looks at the quota. */
enum { PUT_OVERHEAD_BYTES = 256 };

/* What the marshalled proposal has beside the request. */
enum { PROPOSAL_HEADER_BYTES = 24, INVALID_ARGUMENT = 3, NOT_FOUND = 5 };

static const struct model_refusal fine;

static struct model_refusal invalid(const char *text)
{
    return (struct model_refusal){INVALID_ARGUMENT, text};
}

static struct model_refusal check_ops(Etcd__RequestOp *const *ops, size_t count, size_t max_ops);

static size_t largest(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct model_refusal check_txn(const Etcd__TxnRequest *t, size_t max_ops)
{
    size_t ops = largest(t->n_compare, largest(t->n_success, t->n_failure));
    if (ops > max_ops) {
        return invalid("etcdserver: too many operations in txn request");
    }
    for (size_t i = 0; i < t->n_compare; i++) {
        if (t->compare[i]->key.len == 0) {
            return invalid("etcdserver: key is not provided");
        }
    }
    struct model_refusal refusal = check_ops(t->success, t->n_success, max_ops - ops);
    return refusal.status ? refusal : check_ops(t->failure, t->n_failure, max_ops - ops);
}

static struct model_refusal check_put(const Etcd__PutRequest *p)
{
    if (p->key.len == 0) {
        return invalid("etcdserver: key is not provided");
    }
    if (p->ignore_value && p->value.len) {
        return invalid("etcdserver: value is provided");
    }
    return p->ignore_lease && p->lease ? invalid("etcdserver: lease is provided") : fine;
}

static struct model_refusal check_op(const Etcd__RequestOp *op, size_t max_ops)
{
    bool keyless = false;
    switch (op->request_case) {
    case ETCD__REQUEST_OP__REQUEST_REQUEST_RANGE:
        keyless = op->request_range->key.len == 0;
        break;
    case ETCD__REQUEST_OP__REQUEST_REQUEST_PUT:
        return check_put(op->request_put);
    case ETCD__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE:
        keyless = op->request_delete_range->key.len == 0;
        break;
    case ETCD__REQUEST_OP__REQUEST_REQUEST_TXN:
        return check_txn(op->request_txn, max_ops);
    default:
        keyless = true;
        break;
    }
    return keyless ? invalid("etcdserver: key is not provided") : fine;
}

static struct model_refusal check_ops(Etcd__RequestOp *const *ops, size_t count, size_t max_ops)
{
    for (size_t i = 0; i < count; i++) {
        struct model_refusal refusal = check_op(ops[i], max_ops);
        if (refusal.status) {
            return refusal;
        }
    }
    return fine;
}

/* What a branch puts and deletes, to find keys written twice. */
struct writes {
    struct arena *arena;
    const char **puts;
    size_t put_count;
    struct model_range *deletes;
    size_t delete_count;
};

static void add_put(struct writes *w, const char *key)
{
    const char **more = ARENA_ARRAY(w->arena, w->put_count + 1, const char *);
    if (w->put_count) {
        memcpy(more, w->puts, w->put_count * sizeof(*more));
    }
    more[w->put_count++] = key;
    w->puts = more;
}

static void add_delete(struct writes *w, struct model_range range)
{
    struct model_range *more = ARENA_ARRAY(w->arena, w->delete_count + 1, struct model_range);
    if (w->delete_count) {
        memcpy(more, w->deletes, w->delete_count * sizeof(*more));
    }
    more[w->delete_count++] = range;
    w->deletes = more;
}

static bool puts_hold(const struct writes *w, const char *key)
{
    for (size_t i = 0; i < w->put_count; i++) {
        if (strcmp(w->puts[i], key) == 0) {
            return true;
        }
    }
    return false;
}

static bool deletes_hold(const struct writes *w, const char *key)
{
    for (size_t i = 0; i < w->delete_count; i++) {
        if (model_range_holds(&w->deletes[i], key)) {
            return true;
        }
    }
    return false;
}

static bool collect(struct writes *w, Etcd__RequestOp *const *ops, size_t count);

/* The puts of a nested branch; those that `other` also has may stand twice. */
static bool join_puts(struct writes *w, const struct writes *branch, const struct writes *other)
{
    for (size_t i = 0; i < branch->put_count; i++) {
        const char *key = branch->puts[i];
        bool twice = puts_hold(w, key) && !(other && puts_hold(other, key));
        if (twice || deletes_hold(w, key)) {
            return false;
        }
        if (!puts_hold(w, key)) {
            add_put(w, key);
        }
    }
    return true;
}

static bool collect_nested(struct writes *w, const Etcd__TxnRequest *t)
{
    struct writes success = {.arena = w->arena}, failure = {.arena = w->arena};
    if (!collect(&success, t->success, t->n_success) ||
        !collect(&failure, t->failure, t->n_failure) || !join_puts(w, &success, NULL) ||
        !join_puts(w, &failure, &success)) {
        return false;
    }
    for (size_t i = 0; i < success.delete_count; i++) {
        add_delete(w, success.deletes[i]);
    }
    for (size_t i = 0; i < failure.delete_count; i++) {
        add_delete(w, failure.deletes[i]);
    }
    return true;
}

/* False when a key would be written twice. */
static bool collect(struct writes *w, Etcd__RequestOp *const *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (ops[i]->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE) {
            const Etcd__DeleteRangeRequest *d = ops[i]->request_delete_range;
            struct model_range range = model_range_of(w->arena, d->key, d->range_end);
            /* etcd 3.4 takes the end of all keys for one before them all and sees no overlap. */
            if (!range.high || *range.high) {
                add_delete(w, range);
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (ops[i]->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_TXN &&
            !collect_nested(w, ops[i]->request_txn)) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (ops[i]->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_PUT) {
            ProtobufCBinaryData key = ops[i]->request_put->key;
            const char *text = arena_strndup(w->arena, (const char *)key.data, key.len);
            if (puts_hold(w, text) || deletes_hold(w, text)) {
                return false;
            }
            add_put(w, text);
        }
    }
    return true;
}

static int64_t cost(const Etcd__TxnRequest *t)
{
    int64_t costs[2] = {0, 0};
    for (int branch = 0; branch < 2; branch++) {
        Etcd__RequestOp *const *ops = branch ? t->failure : t->success;
        size_t count = branch ? t->n_failure : t->n_success;
        for (size_t i = 0; i < count; i++) {
            if (ops[i]->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_PUT) {
                const Etcd__PutRequest *p = ops[i]->request_put;
                costs[branch] += PUT_OVERHEAD_BYTES + (int64_t)(p->key.len + p->value.len);
            }
        }
    }
    return costs[0] > costs[1] ? costs[0] : costs[1];
}

static bool is_read_only(const Etcd__TxnRequest *t)
{
    for (size_t i = 0; i < t->n_success; i++) {
        if (t->success[i]->request_case != ETCD__REQUEST_OP__REQUEST_REQUEST_RANGE) {
            return false;
        }
    }
    for (size_t i = 0; i < t->n_failure; i++) {
        if (t->failure[i]->request_case != ETCD__REQUEST_OP__REQUEST_REQUEST_RANGE) {
            return false;
        }
    }
    return true;
}

/* Compares */

static int sign(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_value(ProtobufCBinaryData want, const struct blob *is)
{
    size_t size = is ? is->size : 0;
    size_t common = size < want.len ? size : want.len;
    int order = common ? memcmp(is->data, want.data, common) : 0;
    return order ? order : sign((int64_t)size, (int64_t)want.len);
}

/* A number that the request does not give is 0. */
static int64_t wanted(const Etcd__Compare *c)
{
    switch (c->target) {
    case ETCD__COMPARE__COMPARE_TARGET__VERSION:
        return c->target_union_case == ETCD__COMPARE__TARGET_UNION_VERSION ? c->version : 0;
    case ETCD__COMPARE__COMPARE_TARGET__CREATE:
        return c->target_union_case == ETCD__COMPARE__TARGET_UNION_CREATE_REVISION
                   ? c->create_revision
                   : 0;
    case ETCD__COMPARE__COMPARE_TARGET__MOD:
        return c->target_union_case == ETCD__COMPARE__TARGET_UNION_MOD_REVISION ? c->mod_revision
                                                                                : 0;
    default:
        return c->target_union_case == ETCD__COMPARE__TARGET_UNION_LEASE ? c->lease : 0;
    }
}

static int order_of(const Etcd__Compare *c, const struct model_version *v)
{
    switch (c->target) {
    case ETCD__COMPARE__COMPARE_TARGET__VALUE:
        return compare_value(c->target_union_case == ETCD__COMPARE__TARGET_UNION_VALUE
                                 ? c->value
                                 : (ProtobufCBinaryData){0},
                             v->value);
    case ETCD__COMPARE__COMPARE_TARGET__VERSION:
        return sign(v->version, wanted(c));
    case ETCD__COMPARE__COMPARE_TARGET__CREATE:
        return sign(v->create_revision, wanted(c));
    case ETCD__COMPARE__COMPARE_TARGET__MOD:
        return sign(v->mod_revision, wanted(c));
    default:
        return sign(v->lease, wanted(c));
    }
}

static bool compare_holds(const Etcd__Compare *c, const struct model_version *v)
{
    int order = order_of(c, v);
    switch (c->result) {
    case ETCD__COMPARE__COMPARE_RESULT__EQUAL:
        return order == 0;
    case ETCD__COMPARE__COMPARE_RESULT__NOT_EQUAL:
        return order != 0;
    case ETCD__COMPARE__COMPARE_RESULT__GREATER:
        return order > 0;
    default:
        return order < 0;
    }
}

/* A range must hold for each of its keys; an empty one is compared as a key with nothing but zeros,
 * but a value that is not there fails. */
static bool compares_hold(struct model_etcd *m, const Etcd__TxnRequest *t, struct arena *a)
{
    static const struct model_version nothing;
    for (size_t i = 0; i < t->n_compare; i++) {
        const Etcd__Compare *c = t->compare[i];
        struct model_range range = model_range_of(a, c->key, c->range_end);
        struct model_found *list;
        size_t count = model_mvcc_find(&m->store, &range, 0, a, &list);
        if (count == 0 &&
            (c->target == ETCD__COMPARE__COMPARE_TARGET__VALUE || !compare_holds(c, &nothing))) {
            return false;
        }
        for (size_t k = 0; k < count; k++) {
            if (!compare_holds(c, list[k].version)) {
                return false;
            }
        }
    }
    return true;
}

/* Which branch each transaction takes, nested ones too, judged against the state before. */
struct path {
    bool succeeds;
    struct path *nested; /* one for each op of the branch */
};

static void choose_path(struct model_etcd *m, const Etcd__TxnRequest *t, struct arena *a,
                        struct path *path)
{
    path->succeeds = compares_hold(m, t, a);
    Etcd__RequestOp *const *ops = path->succeeds ? t->success : t->failure;
    size_t count = path->succeeds ? t->n_success : t->n_failure;
    path->nested = ARENA_ARRAY(a, count, struct path);
    for (size_t i = 0; i < count; i++) {
        if (ops[i]->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_TXN) {
            choose_path(m, ops[i]->request_txn, a, &path->nested[i]);
        }
    }
}

static struct model_refusal check_state_of_put(struct model_etcd *m, const Etcd__PutRequest *p,
                                               struct arena *a)
{
    if (p->ignore_value || p->ignore_lease) {
        struct model_range range = model_range_of(a, p->key, (ProtobufCBinaryData){0});
        struct model_found *list;
        if (model_mvcc_find(&m->store, &range, 0, a, &list) == 0) {
            return invalid("etcdserver: key not found");
        }
    }
    if (p->lease && !model_lease_exists(m, p->lease)) {
        return (struct model_refusal){NOT_FOUND, "etcdserver: requested lease not found"};
    }
    return fine;
}

/* What the chosen branches need of the state before: leases and keys of puts (`kind`), or revisions
 * that ranges can be read at. etcd looks at all puts first, so it is called once for each. */
static struct model_refusal check_state(struct model_etcd *m, const Etcd__TxnRequest *t,
                                        const struct path *path, Etcd__RequestOp__RequestCase kind,
                                        struct arena *a)
{
    Etcd__RequestOp *const *ops = path->succeeds ? t->success : t->failure;
    size_t count = path->succeeds ? t->n_success : t->n_failure;
    struct model_refusal refusal = fine;
    for (size_t i = 0; i < count && !refusal.status; i++) {
        Etcd__RangeResponse *ignored;
        if (ops[i]->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_TXN) {
            refusal = check_state(m, ops[i]->request_txn, &path->nested[i], kind, a);
        } else if (ops[i]->request_case != kind) {
            continue;
        } else if (kind == ETCD__REQUEST_OP__REQUEST_REQUEST_PUT) {
            refusal = check_state_of_put(m, ops[i]->request_put, a);
        } else if (ops[i]->request_range->revision) {
            refusal = model_range(m, ops[i]->request_range, true, a, &ignored);
        }
    }
    return refusal;
}

/* Carrying out */

static Etcd__ResponseHeader *inner_header(struct model_etcd *m, struct arena *a)
{
    Etcd__ResponseHeader *h = MODEL_NEW(a, Etcd__ResponseHeader, ETCD__RESPONSE_HEADER);
    h->revision = model_mvcc_reading(&m->store);
    return h;
}

static Etcd__KeyValue **fill_previous(struct arena *a, const struct model_found *list, size_t count)
{
    Etcd__KeyValue **kvs = ARENA_ARRAY(a, count, Etcd__KeyValue *);
    for (size_t i = 0; i < count; i++) {
        kvs[i] = ARENA_NEW(a, Etcd__KeyValue);
        model_kv_fill(a, list[i].key, list[i].version, false, kvs[i]);
    }
    return kvs;
}

static Etcd__PutResponse *carry_out_put(struct model_etcd *m, const Etcd__PutRequest *p,
                                        struct arena *a)
{
    Etcd__PutResponse *r = MODEL_NEW(a, Etcd__PutResponse, ETCD__PUT_RESPONSE);
    struct model_range range = model_range_of(a, p->key, (ProtobufCBinaryData){0});
    struct model_found *list;
    size_t count = model_mvcc_find(&m->store, &range, 0, a, &list);
    ProtobufCBinaryData value = p->value;
    int64_t lease = p->lease;
    if (count && p->ignore_value) {
        const struct blob *old = list[0].version->value;
        value =
            (ProtobufCBinaryData){.len = old->size, .data = arena_copy(a, old->data, old->size)};
    }
    if (count && p->ignore_lease) {
        lease = list[0].version->lease;
    }
    if (count && p->prev_kv) {
        r->prev_kv = fill_previous(a, list, 1)[0];
    }
    model_mvcc_put(&m->store, range.low, value, lease);
    r->header = inner_header(m, a);
    return r;
}

static Etcd__DeleteRangeResponse *
carry_out_delete(struct model_etcd *m, const Etcd__DeleteRangeRequest *d, struct arena *a)
{
    Etcd__DeleteRangeResponse *r =
        MODEL_NEW(a, Etcd__DeleteRangeResponse, ETCD__DELETE_RANGE_RESPONSE);
    struct model_range range = model_range_of(a, d->key, d->range_end);
    if (d->prev_kv) {
        struct model_found *list;
        r->n_prev_kvs = model_mvcc_find(&m->store, &range, 0, a, &list);
        r->prev_kvs = fill_previous(a, list, r->n_prev_kvs);
    }
    r->deleted = model_mvcc_delete(&m->store, &range, a);
    r->header = inner_header(m, a);
    return r;
}

static struct model_refusal carry_out(struct model_etcd *m, const Etcd__TxnRequest *t,
                                      const struct path *path, struct arena *a,
                                      Etcd__TxnResponse *ret);

static struct model_refusal carry_out_op(struct model_etcd *m, const Etcd__RequestOp *op,
                                         const struct path *nested, struct arena *a,
                                         Etcd__ResponseOp *ret)
{
    switch (op->request_case) {
    case ETCD__REQUEST_OP__REQUEST_REQUEST_RANGE:
        ret->response_case = ETCD__RESPONSE_OP__RESPONSE_RESPONSE_RANGE;
        return model_range(m, op->request_range, true, a, &ret->response_range);
    case ETCD__REQUEST_OP__REQUEST_REQUEST_PUT:
        ret->response_case = ETCD__RESPONSE_OP__RESPONSE_RESPONSE_PUT;
        ret->response_put = carry_out_put(m, op->request_put, a);
        return fine;
    case ETCD__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE:
        ret->response_case = ETCD__RESPONSE_OP__RESPONSE_RESPONSE_DELETE_RANGE;
        ret->response_delete_range = carry_out_delete(m, op->request_delete_range, a);
        return fine;
    default:
        ret->response_case = ETCD__RESPONSE_OP__RESPONSE_RESPONSE_TXN;
        ret->response_txn = MODEL_NEW(a, Etcd__TxnResponse, ETCD__TXN_RESPONSE);
        ret->response_txn->header = MODEL_NEW(a, Etcd__ResponseHeader, ETCD__RESPONSE_HEADER);
        return carry_out(m, op->request_txn, nested, a, ret->response_txn);
    }
}

static struct model_refusal carry_out(struct model_etcd *m, const Etcd__TxnRequest *t,
                                      const struct path *path, struct arena *a,
                                      Etcd__TxnResponse *ret)
{
    Etcd__RequestOp *const *ops = path->succeeds ? t->success : t->failure;
    ret->succeeded = path->succeeds;
    ret->n_responses = path->succeeds ? t->n_success : t->n_failure;
    ret->responses = ARENA_ARRAY(a, ret->n_responses, Etcd__ResponseOp *);
    for (size_t i = 0; i < ret->n_responses; i++) {
        ret->responses[i] = MODEL_NEW(a, Etcd__ResponseOp, ETCD__RESPONSE_OP);
        struct model_refusal refusal =
            carry_out_op(m, ops[i], &path->nested[i], a, ret->responses[i]);
        if (refusal.status) {
            return refusal;
        }
    }
    return fine;
}

struct model_refusal model_txn(struct model_etcd *m, const Etcd__TxnRequest *request,
                               struct arena *a, Etcd__TxnResponse **ret)
{
    bool read_only = is_read_only(request);
    struct model_refusal refusal = model_check_quota(m, cost(request));
    if (refusal.status || (refusal = check_txn(request, MODEL_ETCD_TXN_OPS)).status) {
        return refusal;
    }
    struct writes success = {.arena = a}, failure = {.arena = a};
    if (!collect(&success, request->success, request->n_success) ||
        !collect(&failure, request->failure, request->n_failure)) {
        return invalid("etcdserver: duplicate key given in txn request");
    }
    size_t size = etcd__txn_request__get_packed_size(request);
    if (!read_only && size + PROPOSAL_HEADER_BYTES > MODEL_ETCD_REQUEST_BYTES) {
        return invalid("etcdserver: request is too large");
    }
    struct path path;
    choose_path(m, request, a, &path);
    refusal = check_state(m, request, &path, ETCD__REQUEST_OP__REQUEST_REQUEST_PUT, a);
    if (!refusal.status) {
        refusal = check_state(m, request, &path, ETCD__REQUEST_OP__REQUEST_REQUEST_RANGE, a);
    }
    if (refusal.status) {
        return refusal;
    }
    Etcd__TxnResponse *r = MODEL_NEW(a, Etcd__TxnResponse, ETCD__TXN_RESPONSE);
    refusal = carry_out(m, request, &path, a, r);
    r->header = model_header(m, a, model_mvcc_reading(&m->store));
    model_mvcc_commit(&m->store);
    *ret = r;
    return refusal;
}
