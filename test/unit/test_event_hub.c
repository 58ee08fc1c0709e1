/* The hub beside a store that does not answer: events that wait for a run part, and all behind them,
 * have an end, in time and in bytes; then the streams are closed, as after every gap. */
#include "bbs/event/hub.h"

#include "bbs/board/compare.h"
#include "common/model/record.h"
#include "test/unit/board_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct bbs_config config = {.url = "https://bbs", .name = "bbs"};

struct bench {
    struct rig *rig;
    struct hub *hub;
    struct cursor *groups, *instances;
    struct arena arena;
    size_t heard; /* bytes that the instance stream gave */
};

static void on_change(void *context, const struct board_change *change, struct effects *out)
{
    struct bench *b = context;
    (void)out;
    if (b->hub) {
        hub_change(b->hub, change);
    }
}

static void on_revision(void *context, int64_t revision, struct effects *out)
{
    struct bench *b = context;
    (void)out;
    if (b->hub) {
        hub_revision(b->hub, revision);
    }
}

static void put_record(struct bench *b, const char *key, const ProtobufCMessage *m)
{
    struct buf value;
    buf_init(&value);
    record_encode(&value, m);
    Etcd__RequestOp *op = etcd_op_put(&b->arena, key, buf_bytes(&value));
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    txn.n_success = 1;
    txn.success = &op;
    board_rig_ask(b->rig, &b->arena, STORE_TXN, &txn.base);
    buf_done(&value);
}

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void put_desired(struct bench *b, const char *annotation)
{
    Models__DesiredLRP d = MODELS__DESIRED_LRP__INIT;
    Models__ModificationTag tag = MODELS__MODIFICATION_TAG__INIT;
    tag.epoch = text("now");
    d.process_guid = text("web");
    d.annotation = text(annotation);
    d.modification_tag = &tag;
    put_record(b, "desired/web", &d.base);
}

/* An instance whose record has about so many bytes. */
static void put_actual(struct bench *b, int32_t index, size_t bytes)
{
    Models__ActualLRP r = MODELS__ACTUAL_LRP__INIT;
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    key.process_guid = text("web");
    key.index = index;
    r.actual_lrp_key = &key;
    r.state = text("UNCLAIMED");
    r.crash_reason = arena_alloc(&b->arena, bytes + 1);
    memset(r.crash_reason, 'x', bytes);
    r.crash_reason[bytes] = 0;
    put_record(b, key_actual(&b->arena, "web", index, 0), &r.base);
}

static struct bench *bench_new(void)
{
    struct bench *b = calloc(1, sizeof(*b));
    const struct board_hooks hooks = {
        .context = b, .on_change = on_change, .on_revision = on_revision};
    Models__DesiredLRP run = MODELS__DESIRED_LRP__INIT;
    arena_init(&b->arena);
    b->rig = board_rig_new(5, 1, &config, &hooks);
    run.log_source = arena_alloc(&b->arena, 10001);
    memset(run.log_source, 'r', 10000);
    run.log_source[10000] = 0;
    put_record(b, "run/web/now", &run.base);
    put_desired(b, "first");
    assert_true(board_rig_run_ready(b->rig, 10 * SECOND_NS));
    b->hub = hub_new(board_rig_board(b->rig, 0));
    b->groups = hub_reader(b->hub, STREAM_GROUPS, STREAM_R0, "");
    b->instances = hub_reader(b->hub, STREAM_INSTANCES, STREAM_R1, "");
    return b;
}

static void bench_free(struct bench *b)
{
    board_rig_free(b->rig);
    cursor_free(b->groups);
    cursor_free(b->instances);
    hub_free(b->hub);
    arena_done(&b->arena);
    free(b);
}

static void run(struct bench *b, int64_t duration_ns)
{
    for (int64_t end = board_rig_now(b->rig) + duration_ns; board_rig_now(b->rig) < end;) {
        struct effects *out = board_rig_begin(b->rig, 0);
        hub_timer(b->hub, board_now(board_rig_board(b->rig, 0)), out);
        board_rig_end(b->rig, 0);
        board_rig_run(b->rig, 10 * MILLISECOND_NS);
    }
}

/* Takes what the reader has; true when its stream has ended. */
static bool ended(struct bench *b, struct cursor *c)
{
    struct buf got;
    enum cursor_state state;
    buf_init(&got);
    while ((state = cursor_fill(c, &got, CURSOR_SLICE_BYTES)) == CURSOR_MORE) {
    }
    b->heard = got.size;
    buf_done(&got);
    return state == CURSOR_END;
}

/* With the answers lost that have a run part in them. */
static struct bench *bench_held(void)
{
    struct bench *b = bench_new();
    board_rig_faults(b->rig)->answer_bytes = 5000;
    put_desired(b, "second");
    run(b, SECOND_NS);
    return b;
}

/* The run part is fetched; what comes after the event that waits for it is told after it. */
static void what_waits_keeps_its_order(void **state)
{
    (void)state;
    struct bench *b = bench_new();
    struct buf got;
    buf_init(&got);
    put_desired(b, "second");
    put_actual(b, 0, 10);
    run(b, 2 * SECOND_NS);
    while (cursor_fill(b->instances, &got, CURSOR_SLICE_BYTES) == CURSOR_MORE) {
    }
    const char *first = strstr(buf_string(&got), "event: desired_lrp_changed\n");
    const char *then = strstr(buf_string(&got), "event: actual_lrp_instance_created\n");
    assert_non_null(first);
    assert_non_null(then);
    assert_true(first < then);
    assert_true(got.size > 2 * 10000); /* the run part, before and after */
    buf_done(&got);
    bench_free(b);
}

static void nobody_waits_for_ever(void **state)
{
    (void)state;
    struct bench *b = bench_held();
    put_actual(b, 0, 10);
    run(b, HUB_FETCH_MAX_NS - 1100 * MILLISECOND_NS);
    assert_false(ended(b, b->instances));
    assert_false(ended(b, b->groups));
    assert_int_equal(b->heard, 0);
    run(b, 200 * MILLISECOND_NS);
    assert_true(ended(b, b->instances));
    assert_true(ended(b, b->groups));
    assert_int_equal(b->heard, 0);
    /* Whoever subscribes now is told what comes. */
    struct cursor *again = hub_reader(b->hub, STREAM_INSTANCES, STREAM_R1, "");
    put_actual(b, 1, 10);
    run(b, 100 * MILLISECOND_NS);
    assert_false(ended(b, again));
    assert_true(b->heard > 0);
    cursor_free(again);
    bench_free(b);
}

/* Events of a MiB each (and a third more as text) behind the one that waits: at the bound, not before. */
static void not_more_than_so_many_bytes_wait(void **state)
{
    (void)state;
    struct bench *b = bench_held();
    size_t held = 0, each = 600 * 1024;
    for (int32_t index = 0; !ended(b, b->instances); index++) {
        assert_int_equal(b->heard, 0);
        assert_in_range(held, 0, HUB_HELD_BYTES_MAX);
        put_actual(b, index, each);
        held += each / 3 * 4;
        run(b, 20 * MILLISECOND_NS);
    }
    assert_in_range(held, HUB_HELD_BYTES_MAX - 64 * 1024, HUB_HELD_BYTES_MAX + 1024 * 1024);
    assert_true(ended(b, b->groups));
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waits_keeps_its_order),
        cmocka_unit_test(nobody_waits_for_ever),
        cmocka_unit_test(not_more_than_so_many_bytes_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
