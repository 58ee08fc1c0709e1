#include "test/conformance/store_random.h"

#include "test/conformance/store_tester.h"

enum { KEYS = 12, LEASES = 4, FIRST_LEASE = 101, LEASE_TTL_S = 600 };

static uint64_t below(struct store_random *r, uint64_t bound)
{
    return random_below(&r->random, bound);
}

static bool chance(struct store_random *r, unsigned percent)
{
    return below(r, 100) < percent;
}

static char *some_key(struct store_random *r, struct arena *a)
{
    uint64_t n = below(r, KEYS);
    return arena_printf(a, n < KEYS / 2 ? "k/%llu" : "k/sub/%llu", (unsigned long long)n);
}

/* NULL for one key, "" for all from there on, or a key. */
static const char *some_end(struct store_random *r, struct arena *a)
{
    switch (below(r, 8)) {
    case 0:
        return "";
    case 1:
        return "k/sub0";
    case 2:
        return some_key(r, a); /* often an empty range */
    default:
        return NULL;
    }
}

static char *some_value(struct store_random *r, struct arena *a)
{
    return arena_printf(a, "v%llu", (unsigned long long)below(r, 5));
}

static int64_t some_lease(struct store_random *r)
{
    return FIRST_LEASE + (int64_t)below(r, LEASES);
}

/* Around what can be read: from just compacted to just in the future. */
static int64_t some_revision(struct store_random *r)
{
    int64_t low = r->compacted > 2 ? r->compacted - 2 : 1;
    int64_t span = r->revision + 2 - low;
    return low + (int64_t)below(r, (uint64_t)(span > 0 ? span : 1));
}

static void some_bounds(struct store_random *r, Etcd__RangeRequest *range)
{
    int64_t *const bounds[] = {&range->min_mod_revision, &range->max_mod_revision,
                               &range->min_create_revision, &range->max_create_revision};
    *bounds[below(r, 4)] = some_revision(r);
}

Etcd__RangeRequest *store_random_range(struct store_random *r, struct arena *a)
{
    Etcd__RangeRequest *range = range_new(a, some_key(r, a), some_end(r, a));
    if (chance(r, 40)) {
        range->key = key_of("k/");
        range->range_end = key_of(chance(r, 50) ? "k0" : "k/5");
    }
    range->limit = chance(r, 40) ? (int64_t)below(r, 5) : 0;
    range->keys_only = chance(r, 15);
    range->count_only = chance(r, 15);
    return range;
}

static Etcd__RangeRequest *any_range(struct store_random *r, struct arena *a)
{
    Etcd__RangeRequest *range = store_random_range(r, a);
    range->revision = chance(r, 30) ? some_revision(r) : 0;
    range->sort_order = (Etcd__RangeRequest__SortOrder)(chance(r, 20) ? below(r, 3) : 0);
    if (chance(r, 10)) {
        some_bounds(r, range);
    }
    if (chance(r, 1)) {
        range->key = (ProtobufCBinaryData){0};
    }
    return range;
}

static Etcd__Compare *some_compare(struct store_random *r, struct arena *a)
{
    Etcd__Compare *c;
    Etcd__Compare__CompareResult result = (Etcd__Compare__CompareResult)below(r, 4);
    if (chance(r, 25)) {
        c = compare_bytes(a, some_key(r, a), some_value(r, a));
        c->result = result;
        return c;
    }
    static const Etcd__Compare__CompareTarget targets[] = {
        ETCD__COMPARE__COMPARE_TARGET__VERSION, ETCD__COMPARE__COMPARE_TARGET__CREATE,
        ETCD__COMPARE__COMPARE_TARGET__MOD, ETCD__COMPARE__COMPARE_TARGET__LEASE};
    Etcd__Compare__CompareTarget target = targets[below(r, 4)];
    int64_t number = target == ETCD__COMPARE__COMPARE_TARGET__VERSION ? (int64_t)below(r, 4)
                     : target == ETCD__COMPARE__COMPARE_TARGET__LEASE
                         ? (chance(r, 50) ? 0 : some_lease(r))
                         : (chance(r, 30) ? 0 : some_revision(r));
    return compare_number(a, some_key(r, a), some_end(r, a), target, result, number);
}

static Etcd__RequestOp *any_put(struct store_random *r, struct arena *a)
{
    Etcd__RequestOp *op = op_put(a, chance(r, 1) ? "" : some_key(r, a), some_value(r, a), 0);
    Etcd__PutRequest *put = op->request_put;
    put->prev_kv = chance(r, 30);
    put->lease = chance(r, 25) ? some_lease(r) : 0;
    if (chance(r, 10)) {
        put->ignore_value = true;
        put->value.len = chance(r, 90) ? 0 : put->value.len;
    }
    if (chance(r, 10)) {
        put->ignore_lease = true;
        put->lease = chance(r, 90) ? 0 : put->lease;
    }
    return op;
}

static struct txn *any_txn(struct store_random *r, struct arena *a, unsigned depth);

static Etcd__RequestOp *any_op(struct store_random *r, struct arena *a, unsigned depth)
{
    uint64_t kind = below(r, 100);
    if (kind < 45) {
        return any_put(r, a);
    }
    Etcd__RequestOp *op;
    if (kind < 65) {
        /* Deleting to the end of all keys beside a put is not refused as a double, and a put with
         * ignore_value of a key deleted so brings etcd 3.4 down: not asked. */
        const char *end = some_end(r, a);
        op = op_delete(a, some_key(r, a), end && !*end ? "k0" : end);
        op->request_delete_range->prev_kv = chance(r, 40);
    } else if (kind < 94 || depth == 0) {
        op = op_range(a, "k/", NULL);
        op->request_range = any_range(r, a);
    } else {
        op = op_range(a, "k/", NULL);
        op->request_case = ETCD__REQUEST_OP__REQUEST_REQUEST_TXN;
        op->request_txn = &any_txn(r, a, depth - 1)->request;
    }
    return op;
}

static struct txn *any_txn(struct store_random *r, struct arena *a, unsigned depth)
{
    struct txn *t = txn_new(a);
    for (uint64_t n = below(r, 4); n > 0; n--) {
        txn_if(t, some_compare(r, a));
    }
    for (uint64_t n = below(r, 5); n > 0; n--) {
        txn_then(t, any_op(r, a, depth));
    }
    for (uint64_t n = below(r, 4); n > 0; n--) {
        txn_else(t, any_op(r, a, depth));
    }
    return t;
}

static const ProtobufCMessage *any_compaction(struct store_random *r, struct arena *a)
{
    Etcd__CompactionRequest *c = ARENA_NEW(a, Etcd__CompactionRequest);
    *c = (Etcd__CompactionRequest)ETCD__COMPACTION_REQUEST__INIT;
    c->revision = some_revision(r);
    c->physical = true;
    return &c->base;
}

static struct random_call lease_call(struct store_random *r, struct arena *a)
{
    if (chance(r, 40)) {
        Etcd__LeaseGrantRequest *g = ARENA_NEW(a, Etcd__LeaseGrantRequest);
        *g = (Etcd__LeaseGrantRequest)ETCD__LEASE_GRANT_REQUEST__INIT;
        g->id = some_lease(r);
        g->ttl = chance(r, 90) ? LEASE_TTL_S : INT64_C(9000000001);
        return (struct random_call){STORE_LEASE_GRANT, &g->base};
    }
    if (chance(r, 60)) {
        Etcd__LeaseRevokeRequest *v = ARENA_NEW(a, Etcd__LeaseRevokeRequest);
        *v = (Etcd__LeaseRevokeRequest)ETCD__LEASE_REVOKE_REQUEST__INIT;
        v->id = some_lease(r);
        return (struct random_call){STORE_LEASE_REVOKE, &v->base};
    }
    Etcd__LeaseKeepAliveRequest *k = ARENA_NEW(a, Etcd__LeaseKeepAliveRequest);
    *k = (Etcd__LeaseKeepAliveRequest)ETCD__LEASE_KEEP_ALIVE_REQUEST__INIT;
    k->id = some_lease(r);
    return (struct random_call){STORE_LEASE_KEEP_ALIVE, &k->base};
}

struct random_call store_random_call(struct store_random *r, struct arena *a)
{
    uint64_t kind = below(r, 100);
    if (kind < 70) {
        return (struct random_call){STORE_TXN, &any_txn(r, a, 2)->request.base};
    }
    if (kind < 87) {
        return (struct random_call){STORE_RANGE, &any_range(r, a)->base};
    }
    if (kind < 90) {
        return (struct random_call){STORE_COMPACT, any_compaction(r, a)};
    }
    return lease_call(r, a);
}

/* Compares that hold often enough, and no key written twice. */
struct txn *store_random_txn(struct store_random *r, struct arena *a)
{
    struct txn *t = txn_new(a);
    for (uint64_t n = below(r, 3); n > 0; n--) {
        txn_if(t, some_compare(r, a));
    }
    bool used[KEYS] = {false};
    for (uint64_t n = below(r, 5); n > 0; n--) {
        uint64_t k = below(r, KEYS);
        if (used[k]) {
            continue;
        }
        used[k] = true;
        const char *key = arena_printf(a, "k/%llu", (unsigned long long)k);
        txn_then(t, chance(r, 70) ? op_put(a, key, some_value(r, a), 0) : op_delete(a, key, NULL));
    }
    for (uint64_t n = below(r, 3); n > 0; n--) {
        Etcd__RequestOp *op = op_range(a, "k/", NULL);
        op->request_range = store_random_range(r, a);
        txn_else(t, op);
    }
    return t;
}
