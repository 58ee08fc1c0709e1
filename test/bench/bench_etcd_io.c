/* Bare etcd: transactions of compares and puts, so many in flight, on one connection; ranges. */
#include <assert.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/contract/moment.h"
#include "common/shell/etcd_io.h"
#include "test/bench/bench_io.h"

enum { RECORD_BYTES = 300, KEY_BYTES = 64 }; /* about what an ActualLRP takes */

struct etcd_bench {
    struct event_base *loop;
    struct etcd *etcd;
    int load; /* counts loads, for fresh keys */
    /* The load under way. */
    int records, next, total, open, failures;
    double range_bytes; /* of the last Range */
};

static void send_txn(struct etcd_bench *b)
{
    static uint8_t value[RECORD_BYTES];
    Etcd__Compare compares[BENCH_RECORDS], *compare_list[BENCH_RECORDS];
    Etcd__PutRequest puts[BENCH_RECORDS];
    Etcd__RequestOp ops[BENCH_RECORDS], *op_list[BENCH_RECORDS];
    char keys[BENCH_RECORDS][KEY_BYTES];
    int unit = b->next++;
    for (int i = 0; i < b->records; i++) {
        int size = snprintf(keys[i], KEY_BYTES, "bench/%d/%d/%08d/%d", (int)getpid(), b->load, unit,
                            i);
        ProtobufCBinaryData key = {(size_t)size, (uint8_t *)keys[i]};
        etcd__compare__init(&compares[i]);
        compares[i].target = ETCD__COMPARE__COMPARE_TARGET__CREATE;
        compares[i].target_union_case = ETCD__COMPARE__TARGET_UNION_CREATE_REVISION;
        compares[i].key = key;
        compare_list[i] = &compares[i];
        etcd__put_request__init(&puts[i]);
        puts[i].key = key;
        puts[i].value = (ProtobufCBinaryData){RECORD_BYTES, value};
        etcd__request_op__init(&ops[i]);
        ops[i].request_case = ETCD__REQUEST_OP__REQUEST_REQUEST_PUT;
        ops[i].request_put = &puts[i];
        op_list[i] = &ops[i];
    }
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    txn.n_compare = txn.n_success = (size_t)b->records;
    txn.compare = compare_list;
    txn.success = op_list;
    b->open++;
    etcd_call(b->etcd, &(struct store_request){
                           .id = (uint64_t)unit + 1,
                           .call = STORE_TXN,
                           .message = &txn.base,
                           .deadline_ns = bench_now_ns() + BENCH_ANSWER_MS * MILLISECOND_NS,
                       });
}

static void on_range(struct etcd_bench *b, const struct store_answer *answer)
{
    const Etcd__RangeResponse *r = (const Etcd__RangeResponse *)answer->message;
    if (answer->outcome != STORE_DONE) {
        fprintf(stderr, "bench: etcd: %s\n", answer->text);
        exit(1);
    }
    b->range_bytes = 0;
    for (size_t i = 0; i < r->n_kvs; i++) {
        b->range_bytes += (double)(r->kvs[i]->key.len + r->kvs[i]->value.len);
    }
    event_base_loopbreak(b->loop);
}

static void on_answer(void *context, const struct store_answer *answer)
{
    struct etcd_bench *b = context;
    if (answer->call == STORE_RANGE) {
        on_range(b, answer);
        return;
    }
    const Etcd__TxnResponse *r = (const Etcd__TxnResponse *)answer->message;
    if ((answer->outcome != STORE_DONE || !r->succeeded) && b->failures++ == 0) {
        fprintf(stderr, "bench: etcd: %s\n", answer->text);
    }
    b->open--;
    if (b->next < b->total) {
        send_txn(b);
    } else if (b->open == 0) {
        event_base_loopbreak(b->loop);
    }
}

static void on_watch(void *context, const struct watch_event *event)
{
}

struct bench_result etcd_bench_load(struct etcd_bench *b, int width, int transactions, int records)
{
    assert(records <= BENCH_RECORDS && transactions > 0);
    b->load++;
    b->records = records;
    b->next = b->open = b->failures = 0;
    b->total = transactions;
    int64_t at = bench_now_ns();
    while (b->next < width && b->next < b->total) {
        send_txn(b);
    }
    event_base_loop(b->loop, EVLOOP_NO_EXIT_ON_EMPTY);
    double seconds = (double)(bench_now_ns() - at) / 1e9;
    return (struct bench_result){
        .per_second = (double)transactions * records / seconds,
        .failures = b->failures,
    };
}

struct bench_answer etcd_bench_range(struct etcd_bench *b)
{
    char from[KEY_BYTES], end[KEY_BYTES];
    int size = snprintf(from, sizeof(from), "bench/%d/%d/", (int)getpid(), b->load);
    snprintf(end, sizeof(end), "bench/%d/%d0", (int)getpid(), b->load); /* '0' follows '/' */
    Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;
    range.key = (ProtobufCBinaryData){(size_t)size, (uint8_t *)from};
    range.range_end = (ProtobufCBinaryData){(size_t)size, (uint8_t *)end};
    int64_t at = bench_now_ns();
    etcd_call(b->etcd, &(struct store_request){
                           .id = 1,
                           .call = STORE_RANGE,
                           .message = &range.base,
                           .deadline_ns = at + BENCH_ANSWER_MS * MILLISECOND_NS,
                       });
    event_base_loop(b->loop, EVLOOP_NO_EXIT_ON_EMPTY);
    double took_ms = (double)(bench_now_ns() - at) / 1e6;
    return (struct bench_answer){took_ms, took_ms, b->range_bytes};
}

struct etcd_bench *etcd_bench_new(void)
{
    struct etcd_bench *b = calloc(1, sizeof(*b));
    assert(b);
    b->loop = event_base_new();
    struct etcd_config config = {bench_needed("BENCH_ETCD"), bench_needed("CA_CERT_FILE"),
                                 bench_needed("BENCH_ETCD_CERT"), bench_needed("BENCH_ETCD_KEY")};
    struct etcd_handlers handlers = {on_answer, on_watch, b};
    struct err err = {0};
    if (etcd_new(&config, b->loop, &handlers, &b->etcd, &err) < 0) {
        fprintf(stderr, "bench: %s\n", err.text);
        exit(1);
    }
    return b;
}

void etcd_bench_free(struct etcd_bench *b)
{
    etcd_free(b->etcd);
    event_base_free(b->loop);
    free(b);
}
