/* The hub: a DesiredLRP is two records and told whole. */
#include "bbs/event/hub.h"

#include "bbs/board/compare.h"
#include "bbs/board/copy.h"
#include "common/model/record.h"
#include "test/tool/cmocka.h"
#include "test/unit/bbs/board/board_asks.h"
#include "test/unit/bbs/board/board_rig.h"

#include <stdlib.h>
#include <string.h>

static const struct bbs_config config = {.url = "https://bbs", .name = "bbs"};

enum { RUN_BYTES = 10000 };

struct bench {
    struct rig *rig;
    struct hub *hub;
    struct cursor *groups, *instances;
    struct arena arena;
};

static void on_change(void *context, const struct board_change *change, struct effects *out)
{
    struct bench *b = context;
    if (b->hub) {
        hub_change(b->hub, change);
    }
}

static void on_revision(void *context, int64_t revision, struct effects *out)
{
    struct bench *b = context;
    if (b->hub) {
        hub_revision(b->hub);
    }
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
    put_record(b->rig, "desired/web", &d.base);
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
    put_record(b->rig, key_actual(&b->arena, "web", index, 0), &r.base);
}

static struct bench *bench_new(void)
{
    struct bench *b = calloc(1, sizeof(*b));
    const struct board_hooks hooks = {
        .context = b, .on_change = on_change, .on_revision = on_revision};
    Models__DesiredLRP run = MODELS__DESIRED_LRP__INIT;
    arena_init(&b->arena);
    b->rig = board_rig_new(5, 1, &config, &hooks);
    run.log_source = arena_alloc(&b->arena, RUN_BYTES + 1);
    memset(run.log_source, 'r', RUN_BYTES);
    run.log_source[RUN_BYTES] = 0;
    put_record(b->rig, "run/web/now", &run.base);
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

/* What the instance stream gave since it was asked last. */
static const char *heard(struct bench *b, struct buf *got)
{
    buf_clear(got);
    while (cursor_fill(b->instances, got, CURSOR_CHUNK_BYTES) == CURSOR_MORE) {
    }
    return buf_string(got);
}

/* Before and after, each with the run part, which did not change. */
static void a_change_is_reported_whole(void **state)
{
    struct bench *b = bench_new();
    SCOPED_BUF(got);
    put_desired(b, "second");
    put_actual(b, 0, 10);
    run(b, 2 * SECOND_NS);
    const char *first = strstr(heard(b, &got), "event: desired_lrp_changed\n");
    const char *then = strstr(buf_string(&got), "event: actual_lrp_instance_created\n");
    assert_non_null(first);
    assert_non_null(then);
    assert_true(first < then);
    assert_true(got.size > 2 * RUN_BYTES);
    bench_free(b);
}

/* Its run part goes in the same transaction. */
static void a_removal_is_reported_whole(void **state)
{
    struct bench *b = bench_new();
    SCOPED_BUF(got);
    Etcd__RequestOp *ops[] = {etcd_op_delete(&b->arena, "desired/web"),
                              etcd_op_delete(&b->arena, "run/web/now")};
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    txn.n_success = 2;
    txn.success = ops;
    board_rig_ask(b->rig, &b->arena, STORE_TXN, &txn.base);
    run(b, SECOND_NS);
    assert_non_null(strstr(heard(b, &got), "event: desired_lrp_removed\n"));
    assert_true(got.size > RUN_BYTES);
    bench_free(b);
}

/* Somebody else took the run part away: what there is is told. */
static void without_a_run_part(void **state)
{
    struct bench *b = bench_new();
    SCOPED_BUF(got);
    Etcd__RequestOp *op = etcd_op_delete(&b->arena, "run/web/now");
    Etcd__TxnRequest txn = ETCD__TXN_REQUEST__INIT;
    txn.n_success = 1;
    txn.success = &op;
    board_rig_ask(b->rig, &b->arena, STORE_TXN, &txn.base);
    put_desired(b, "second");
    run(b, SECOND_NS);
    assert_non_null(strstr(heard(b, &got), "event: desired_lrp_changed\n"));
    assert_true(got.size < RUN_BYTES);
    bench_free(b);
}

/* The board keeps of why an instance crashed, or found no cell, what fits; clients are told all. */
static void a_text_is_reported_whole(void **state)
{
    static const char *const moves[] = {"crash", "evacuate_crashed", "fail"};
    enum { TEXT_BYTES = 5000 };
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        struct bench *b = bench_new();
        SCOPED_BUF(got);
        SCOPED_BUF(value);
        Models__ActualLRP r = MODELS__ACTUAL_LRP__INIT;
        Board__CauseRecord__Change cause = BOARD__CAUSE_RECORD__CHANGE__INIT;
        r.state = r.crash_reason = r.placement_error = text("cut");
        record_encode(&value, &r.base);
        cause.move = text(moves[i]);
        cause.text = arena_alloc(&b->arena, TEXT_BYTES + 1);
        memset(cause.text, 'x', TEXT_BYTES);
        cause.text[TEXT_BYTES] = 0;
        struct version *after =
            version_new(&b->arena, key_actual(&b->arena, "web", 0, 0), buf_bytes(&value), 9, 9);
        hub_change(b->hub,
                   &(struct board_change){
                       .key = "", .type = RECORD_ACTUAL, .after = after, .cause = &cause});
        hub_revision(b->hub);
        assert_non_null(strstr(heard(b, &got), "event: actual_lrp_instance_created\n"));
        assert_true(got.size > TEXT_BYTES);
        version_unref(after);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_reported_whole),
        cmocka_unit_test(a_removal_is_reported_whole),
        cmocka_unit_test(without_a_run_part),
        cmocka_unit_test(a_text_is_reported_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
