/* The model etcd's Range: what is found, filtered, sorted and cut, in etcd's order. */
#include "test/sim/model/inside.h"

#include <stdlib.h>
#include <string.h>

static bool outside(const Etcd__RangeRequest *r, const struct model_version *v)
{
    return (r->max_mod_revision && v->mod_revision > r->max_mod_revision) ||
           (r->min_mod_revision && v->mod_revision < r->min_mod_revision) ||
           (r->max_create_revision && v->create_revision > r->max_create_revision) ||
           (r->min_create_revision && v->create_revision < r->min_create_revision);
}

static size_t filter(const Etcd__RangeRequest *r, struct model_found *list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!outside(r, list[i].version)) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

static int sign(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_values(const struct blob *a, const struct blob *b)
{
    uint32_t common = a->size < b->size ? a->size : b->size;
    int order = memcmp(a->data, b->data, common);
    return order ? order : sign(a->size, b->size);
}

static int compare_found(const void *left, const void *right, void *target)
{
    const struct model_found *a = left, *b = right;
    switch (*(Etcd__RangeRequest__SortTarget *)target) {
    case ETCD__RANGE_REQUEST__SORT_TARGET__VERSION:
        return sign(a->version->version, b->version->version);
    case ETCD__RANGE_REQUEST__SORT_TARGET__CREATE:
        return sign(a->version->create_revision, b->version->create_revision);
    case ETCD__RANGE_REQUEST__SORT_TARGET__MOD:
        return sign(a->version->mod_revision, b->version->mod_revision);
    case ETCD__RANGE_REQUEST__SORT_TARGET__VALUE:
        return compare_values(a->version->value, b->version->value);
    default:
        return strcmp(a->key, b->key);
    }
}

static int compare_descending(const void *left, const void *right, void *target)
{
    return compare_found(right, left, target);
}

static void sort(const Etcd__RangeRequest *r, struct model_found *list, size_t count)
{
    Etcd__RangeRequest__SortTarget target = r->sort_target;
    if (count < 2 || (target == ETCD__RANGE_REQUEST__SORT_TARGET__KEY &&
                      r->sort_order != ETCD__RANGE_REQUEST__SORT_ORDER__DESCEND)) {
        return;
    }
    qsort_r(list, count, sizeof(*list),
            r->sort_order == ETCD__RANGE_REQUEST__SORT_ORDER__DESCEND ? compare_descending
                                                                      : compare_found,
            &target);
}

static void fill(const Etcd__RangeRequest *r, const struct model_found *list, size_t count,
                 struct arena *a, Etcd__RangeResponse *ret)
{
    if (r->limit > 0 && count > (size_t)r->limit) {
        count = (size_t)r->limit;
        ret->more = true;
    }
    ret->n_kvs = count;
    ret->kvs = ARENA_ARRAY(a, count, Etcd__KeyValue *);
    Etcd__KeyValue *kvs = ARENA_ARRAY(a, count, Etcd__KeyValue);
    for (size_t i = 0; i < count; i++) {
        model_kv_fill(a, list[i].key, list[i].version, r->keys_only, &kvs[i]);
        ret->kvs[i] = &kvs[i];
    }
}

struct model_refusal model_range(struct model_etcd *m, const Etcd__RangeRequest *request,
                                 bool inner, struct arena *a, Etcd__RangeResponse **ret)
{
    int64_t reading = model_mvcc_reading(&m->store);
    if (request->key.len == 0) {
        return (struct model_refusal){3, "etcdserver: key is not provided"};
    }
    if (request->revision > reading) {
        return (struct model_refusal){GRPC_OUT_OF_RANGE,
                                      "etcdserver: mvcc: required revision is a future revision"};
    }
    if (request->revision > 0 && request->revision < m->store.compacted) {
        return (struct model_refusal){GRPC_OUT_OF_RANGE,
                                      "etcdserver: mvcc: required revision has been compacted"};
    }
    struct model_range range = model_range_of(a, request->key, request->range_end);
    struct model_found *list;
    size_t count = model_mvcc_find(&m->store, &range, request->revision, a, &list);
    Etcd__RangeResponse *r = MODEL_NEW(a, Etcd__RangeResponse, ETCD__RANGE_RESPONSE);
    r->header = inner ? MODEL_NEW(a, Etcd__ResponseHeader, ETCD__RESPONSE_HEADER)
                      : model_header(m, a, reading);
    r->header->revision = reading;
    r->count = (int64_t)count;
    if (!request->count_only) {
        count = filter(request, list, count);
        sort(request, list, count);
        fill(request, list, count, a, r);
    }
    *ret = r;
    return (struct model_refusal){0};
}
