#include "bbs/board/board_generation.h"

#include "bbs/board/compare.h"
#include "common/model/record.h"

static const char all_board_generations[] = "epoch/";

void board_generation_question(struct arena *a, Etcd__RangeRequest *ret)
{
    etcd__range_request__init(ret);
    ret->key = key_data(all_board_generations);
    ret->range_end = key_data(key_range_end(a, all_board_generations));
    ret->limit = BOARD_GENERATIONS_MAX;
}

static void add_compare(struct arena *a, Etcd__TxnRequest *t, enum compare_kind kind,
                        const char *key, int64_t revision)
{
    const struct compare c = {.kind = kind, .key = key, .revision = revision};
    t->compare[t->n_compare++] = compare_compile(a, &c);
}

void board_generation_again(struct arena *a, const Etcd__RangeResponse *found, const char *id,
                            int64_t wall_ns, Etcd__TxnRequest *ret)
{
    size_t old = found ? found->n_kvs : 0;
    int64_t newest = 0;
    etcd__txn_request__init(ret);
    ret->compare = ARENA_ARRAY(a, old + 1, Etcd__Compare *);
    ret->success = ARENA_ARRAY(a, old + 1, Etcd__RequestOp *);
    for (size_t i = 0; i < old; i++) {
        const Etcd__KeyValue *kv = found->kvs[i];
        const char *key = arena_strndup(a, (const char *)kv->key.data, kv->key.len);
        newest = kv->mod_revision > newest ? kv->mod_revision : newest;
        add_compare(a, ret, COMPARE_UNCHANGED, key, kv->mod_revision);
        ret->success[ret->n_success++] = etcd_op_delete(a, key);
    }
    add_compare(a, ret, old ? COMPARE_NOTHING_NEWER : COMPARE_RANGE_EMPTY, all_board_generations,
                newest);
    Board__BoardGenerationRecord record = BOARD__BOARD_GENERATION_RECORD__INIT;
    record.id = (char *)(uintptr_t)id;
    record.created_at = wall_ns;
    ret->success[ret->n_success++] =
        etcd_op_put(a, key_epoch(a, id), record_encoded(a, &record.base));
}

void board_generation_rewrite(struct arena *a, const Etcd__KeyValue *kv,
                              const Board__BoardGenerationRecord *record, Etcd__TxnRequest *ret)
{
    const char *key = arena_strndup(a, (const char *)kv->key.data, kv->key.len);
    etcd__txn_request__init(ret);
    ret->compare = ARENA_ARRAY(a, 1, Etcd__Compare *);
    ret->success = ARENA_ARRAY(a, 1, Etcd__RequestOp *);
    add_compare(a, ret, COMPARE_UNCHANGED, key, kv->mod_revision);
    ret->success[ret->n_success++] = etcd_op_put(a, key, record_encoded(a, &record->base));
}
