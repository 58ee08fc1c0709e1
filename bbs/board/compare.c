#include "bbs/board/compare.h"

#include "common/model/keys.h"

#include <string.h>

ProtobufCBinaryData key_data(const char *key)
{
    return (ProtobufCBinaryData){.len = strlen(key), .data = (uint8_t *)(size_t)key};
}

bool compare_is_range(enum compare_kind kind)
{
    return kind == COMPARE_RANGE_EMPTY || kind == COMPARE_GAP_EMPTY ||
           kind == COMPARE_NOTHING_NEWER;
}

bool compare_covers(const struct compare *range, const char *key)
{
    return range->kind == COMPARE_GAP_EMPTY
               ? strcmp(key, range->key) >= 0 && strcmp(key, range->end) < 0
               : text_begins(key, range->key);
}

static ProtobufCBinaryData range_end_of(struct arena *a, const struct compare *c)
{
    return key_data(c->kind == COMPARE_GAP_EMPTY ? c->end : key_range_end(a, c->key));
}

Etcd__Compare *compare_compile(struct arena *a, const struct compare *c)
{
    Etcd__Compare *e = arena_message(a, &etcd__compare__descriptor);
    e->key = key_data(c->key);
    e->result = ETCD__COMPARE__COMPARE_RESULT__EQUAL;
    e->target = ETCD__COMPARE__COMPARE_TARGET__CREATE;
    e->target_union_case = ETCD__COMPARE__TARGET_UNION_CREATE_REVISION;
    e->create_revision = 0; /* what etcd compares with where no key is */
    switch (c->kind) {
    case COMPARE_EXISTS:
        e->result = ETCD__COMPARE__COMPARE_RESULT__GREATER;
        break;
    case COMPARE_UNCHANGED:
        e->target = ETCD__COMPARE__COMPARE_TARGET__MOD;
        e->target_union_case = ETCD__COMPARE__TARGET_UNION_MOD_REVISION;
        e->mod_revision = c->revision;
        break;
    case COMPARE_NOTHING_NEWER:
        e->target = ETCD__COMPARE__COMPARE_TARGET__MOD;
        e->target_union_case = ETCD__COMPARE__TARGET_UNION_MOD_REVISION;
        e->result = ETCD__COMPARE__COMPARE_RESULT__LESS;
        e->mod_revision = c->revision + 1;
        break;
    case COMPARE_ABSENT:
    case COMPARE_RANGE_EMPTY:
    case COMPARE_GAP_EMPTY:
    case COMPARE_KIND_COUNT:
        break;
    }
    if (compare_is_range(c->kind)) {
        e->range_end = range_end_of(a, c);
    }
    return e;
}

Etcd__RequestOp *etcd_op_range(struct arena *a, const char *key)
{
    Etcd__RequestOp *op = arena_message(a, &etcd__request_op__descriptor);
    Etcd__RangeRequest *r = arena_message(a, &etcd__range_request__descriptor);
    r->key = key_data(key);
    op->request_case = ETCD__REQUEST_OP__REQUEST_REQUEST_RANGE;
    op->request_range = r;
    return op;
}

Etcd__RequestOp *compare_read(struct arena *a, const struct compare *c)
{
    Etcd__RequestOp *op = etcd_op_range(a, c->key);
    op->request_range->keys_only = true;
    if (compare_is_range(c->kind)) {
        op->request_range->range_end = range_end_of(a, c);
        op->request_range->limit = 1;
    }
    if (c->kind == COMPARE_NOTHING_NEWER) {
        op->request_range->min_mod_revision = c->revision + 1;
    }
    return op;
}

bool compare_moved(const struct compare *c, const Etcd__RangeResponse *found)
{
    bool any = found->n_kvs > 0;
    switch (c->kind) {
    case COMPARE_UNCHANGED:
        return !any || found->kvs[0]->mod_revision != c->revision;
    case COMPARE_EXISTS:
        return !any;
    case COMPARE_ABSENT:
    case COMPARE_RANGE_EMPTY:
    case COMPARE_GAP_EMPTY:
    case COMPARE_NOTHING_NEWER:
    case COMPARE_KIND_COUNT:
        break;
    }
    return any;
}

bool compare_same_read(const struct compare *a, const struct compare *b)
{
    if (compare_is_range(a->kind) != compare_is_range(b->kind) || strcmp(a->key, b->key) != 0) {
        return false;
    }
    return !compare_is_range(a->kind) || (a->kind == b->kind && a->revision == b->revision &&
                                          (!a->end || strcmp(a->end, b->end) == 0));
}

bool compare_excludes(const struct compare *a, const struct compare *b)
{
    if (compare_is_range(a->kind) || compare_is_range(b->kind) || strcmp(a->key, b->key) != 0) {
        return false;
    }
    if (a->kind == COMPARE_ABSENT || b->kind == COMPARE_ABSENT) {
        return a->kind != b->kind;
    }
    return a->kind == COMPARE_UNCHANGED && b->kind == COMPARE_UNCHANGED &&
           a->revision != b->revision;
}

Etcd__RequestOp *etcd_op_put(struct arena *a, const char *key, struct bytes value)
{
    Etcd__RequestOp *op = arena_message(a, &etcd__request_op__descriptor);
    Etcd__PutRequest *p = arena_message(a, &etcd__put_request__descriptor);
    p->key = key_data(key);
    p->value = (ProtobufCBinaryData){.len = value.size, .data = (uint8_t *)(size_t)value.data};
    op->request_case = ETCD__REQUEST_OP__REQUEST_REQUEST_PUT;
    op->request_put = p;
    return op;
}

Etcd__RequestOp *etcd_op_delete(struct arena *a, const char *key)
{
    Etcd__RequestOp *op = arena_message(a, &etcd__request_op__descriptor);
    Etcd__DeleteRangeRequest *d = arena_message(a, &etcd__delete_range_request__descriptor);
    d->key = key_data(key);
    op->request_case = ETCD__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE;
    op->request_delete_range = d;
    return op;
}

Etcd__RequestOp *etcd_op_delete_range(struct arena *a, const char *prefix)
{
    Etcd__RequestOp *op = etcd_op_delete(a, prefix);
    op->request_delete_range->range_end = key_data(key_range_end(a, prefix));
    return op;
}
