/* The copy's indexes, selectors, and the feed's readers. */
#include "bbs/board/feed.h"
#include "common/base/map.h"
#include "common/model/record.h"

#include <stdio.h>
#include <string.h>

#include "models/actual_lrp.pb-c.h"
#include "models/task.pb-c.h"
#include "test/tool/cmocka.h"

static struct arena arena;

/* An ActualLRP of process `guid`, index 0. */
static struct version *actual(const char *guid, const char *cell, const char *state,
                              int64_t created, int64_t revision)
{
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    Models__ActualLRPInstanceKey instance = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
    Models__Owner owner = MODELS__OWNER__INIT;
    Models__ActualLRP m = MODELS__ACTUAL_LRP__INIT;
    key.process_guid = (char *)(size_t)guid;
    key.domain = (char *)"d";
    instance.cell_id = (char *)(size_t)cell;
    owner.kind = (char *)"cli";
    owner.uid = (char *)(size_t)guid;
    m.actual_lrp_key = &key;
    m.actual_lrp_instance_key = *cell ? &instance : NULL;
    m.state = (char *)(size_t)state;
    m.owner = &owner;
    SCOPED_BUF(b);
    record_encode(&b, &m.base);
    struct version *v =
        version_new(&arena, key_actual(&arena, guid, 0, 0), buf_bytes(&b), created, revision);
    return v;
}

/* A board small enough for one hand: a copy and its feed. */
struct desk {
    struct copy *copy;
    struct feed *feed;
    int64_t revision;
};

static struct desk desk_of(size_t ring, size_t bytes)
{
    struct desk d = {.copy = copy_new(), .feed = feed_new(ring, bytes), .revision = 10};
    feed_reset(d.feed, d.copy, "e1", d.revision);
    return d;
}

static struct desk desk_new(size_t ring)
{
    return desk_of(ring, SIZE_MAX);
}

static void desk_free(struct desk *d)
{
    feed_free(d->feed);
    copy_free(d->copy);
}

static void put(struct desk *d, const char *guid, const char *cell, const char *state)
{
    struct version *after = actual(guid, cell, state, d->revision + 1, d->revision + 1);
    struct version *before = copy_put(d->copy, version_ref(after), (struct sighting){0});
    feed_change(d->feed, ++d->revision, before, after);
    feed_advance(d->feed, d->revision);
    version_unref(before);
    version_unref(after);
}

static void drop(struct desk *d, const char *guid)
{
    struct version *before = copy_remove(d->copy, key_actual(&arena, guid, 0, 0));
    feed_change(d->feed, ++d->revision, before, NULL);
    feed_advance(d->feed, d->revision);
    version_unref(before);
}

/* All that a reader can be given now, as text: "RESET@10 RECORD:a CURRENT@10 PUT:b@11 ". */
static const char *read_all(struct cursor *c, size_t chunk, enum cursor_state *ret_last)
{
    struct buf in, text;
    buf_init(&in);
    buf_init(&text);
    enum cursor_state state;
    while ((state = cursor_fill(c, &in, chunk)) == CURSOR_MORE) {
    }
    struct bytes left = buf_bytes(&in);
    while (left.size) {
        uint64_t size;
        int head = bytes_varint(left, &size);
        assert_true(head > 0 && size <= left.size - (size_t)head);
        ProtobufCAllocator a = arena_protobuf(&arena);
        Board__FeedFrame *f = board__feed_frame__unpack(&a, size, left.data + head);
        assert_non_null(f);
        const ProtobufCEnumValue *kind = protobuf_c_enum_descriptor_get_value(
            &board__feed_frame__kind__descriptor, (int)f->kind);
        const char *name = *f->key ? key_component(&arena, f->key, 1) : "";
        buf_printf(&text, "%s%s%s@%lld ", kind->name, *name ? ":" : "", name,
                   (long long)f->revision);
        left.data += (size_t)head + size;
        left.size -= (size_t)head + size;
    }
    const char *result = arena_strdup(&arena, buf_string(&text));
    buf_done(&in);
    buf_done(&text);
    if (ret_last) {
        *ret_last = state;
    }
    return result;
}

static struct cursor *reader(struct desk *d, const char *cell, const char *state, int64_t resume)
{
    Board__Selector s = BOARD__SELECTOR__INIT, *list[] = {&s};
    Board__FeedRequest q = BOARD__FEED_REQUEST__INIT;
    s.type = (char *)"actual";
    s.cell_id = (char *)(size_t)cell;
    s.state = (char *)(size_t)state;
    q.n_selectors = 1;
    q.selectors = list;
    q.board_generation = (char *)"e1";
    q.revision = resume;
    return feed_reader(d->feed, &q);
}

static void a_reader_gets_a_snapshot_then_changes(void **state)
{
    struct desk d = desk_new(16);
    put(&d, "a", "c1", "RUNNING");
    put(&d, "b", "c2", "RUNNING");
    struct cursor *c = reader(&d, "c1", "", 0);
    assert_string_equal(read_all(c, 1, NULL), "RESET@12 RECORD:a@12 CURRENT@12 ");
    put(&d, "a", "c1", "CRASHED");
    put(&d, "b", "c1", "RUNNING"); /* comes into the selection */
    put(&d, "a", "c2", "RUNNING"); /* leaves it */
    put(&d, "z", "c2", "RUNNING"); /* never in it */
    drop(&d, "b");
    feed_heartbeat(d.feed, d.revision, 0);
    assert_true(feed_take_wake(d.feed));
    assert_false(feed_take_wake(d.feed));
    assert_string_equal(read_all(c, 65536, NULL),
                        "PUT:a@13 PUT:b@14 DELETE:a@15 DELETE:b@17 HEARTBEAT@17 ");
    assert_string_equal(read_all(c, 65536, NULL), "");
    cursor_free(c);
    desk_free(&d);
}

static void a_snapshot_is_of_one_position_though_the_board_goes_on(void **state)
{
    struct desk d = desk_new(64);
    for (int i = 0; i < 9; i++) {
        put(&d, arena_printf(&arena, "p%d", i), "c1", "RUNNING");
    }
    struct cursor *c = reader(&d, "", "", 0);
    SCOPED_BUF(some);
    assert_int_equal(cursor_fill(c, &some, 1), CURSOR_MORE); /* RESET, and the snapshot is taken */
    drop(&d, "p8");
    put(&d, "p0", "c1", "CRASHED");
    const char *rest = read_all(c, 100, NULL);
    assert_non_null(strstr(rest, "RECORD:p8@19 CURRENT@19 DELETE:p8@20 PUT:p0@21 "));
    cursor_free(c);
    desk_free(&d);
}

static void a_reader_resumes_where_it_was(void **state)
{
    struct desk d = desk_new(2);
    put(&d, "a", "c1", "RUNNING"); /* 11 */
    put(&d, "b", "c1", "RUNNING"); /* 12 */
    put(&d, "c", "c1", "RUNNING"); /* 13: the ring holds 12 and 13 */
    struct cursor *at_11 = reader(&d, "", "", 11), *at_10 = reader(&d, "", "", 10);
    struct cursor *ahead = reader(&d, "", "", 14);
    assert_string_equal(read_all(at_11, 65536, NULL), "PUT:b@12 PUT:c@13 ");
    assert_string_equal(read_all(at_10, 65536, NULL),
                        "RESET@13 RECORD:a@13 RECORD:b@13 RECORD:c@13 CURRENT@13 ");
    assert_string_equal(read_all(ahead, 65536, NULL), ""); /* this bbs is behind: wait */
    struct cursor *at_13 = reader(&d, "", "", 13); /* not behind: it is told so */
    feed_heartbeat(d.feed, 13, 0);
    assert_string_equal(read_all(at_13, 65536, NULL), "HEARTBEAT@13 ");
    cursor_free(at_13);
    drop(&d, "a");
    drop(&d, "b");
    assert_string_equal(read_all(ahead, 65536, NULL), "DELETE:b@15 HEARTBEAT@15 ");
    cursor_free(at_11);
    cursor_free(at_10);
    cursor_free(ahead);
    desk_free(&d);
}

static void a_reader_too_far_behind_is_cut_off(void **state)
{
    struct desk d = desk_new(2);
    struct cursor *c = reader(&d, "", "", 0);
    assert_string_equal(read_all(c, 65536, NULL), "RESET@10 CURRENT@10 ");
    put(&d, "a", "c1", "RUNNING");
    put(&d, "b", "c1", "RUNNING");
    put(&d, "c", "c1", "RUNNING");
    enum cursor_state last;
    assert_string_equal(read_all(c, 65536, &last), "");
    assert_int_equal(last, CURSOR_CUT);
    cursor_free(c);
    desk_free(&d);
}

/* A heartbeat of 5,000 cells has 150 KB and comes every 2 s; a task has up to 1 MiB at each of its
 * steps. */
static void large_records_make_the_ring_shorter(void **state)
{
    enum { LARGE = 10000, KEPT = 5, CHANGES = 40 };
    static char large[LARGE + 1];
    memset(large, 'x', LARGE);
    /* The index has the state once more. */
    struct desk d = desk_of(1000, KEPT * (2 * LARGE + 1000));
    put(&d, "a", "c1", large);
    const char *key = key_actual(&arena, "a", 0, 0);
    struct version *first = version_ref(copied_version(copy_find(d.copy, key)));
    struct cursor *slow = reader(&d, "", "", d.revision);
    assert_string_equal(read_all(slow, 65536, NULL), "");
    for (int i = 0; i < CHANGES; i++) {
        put(&d, "a", "c1", large);
    }
    assert_int_equal(first->references, 1); /* this test's: the ring has let it go */
    version_unref(first);
    enum cursor_state last;
    assert_string_equal(read_all(slow, 65536, &last), "");
    assert_int_equal(last, CURSOR_CUT);
    struct cursor *near = reader(&d, "", "", d.revision - KEPT + 1);
    struct cursor *far = reader(&d, "", "", d.revision - KEPT - 2);
    assert_string_equal(read_all(near, 65536, NULL), "PUT:a@48 PUT:a@49 PUT:a@50 PUT:a@51 ");
    assert_string_equal(read_all(far, 65536, NULL), "RESET@51 RECORD:a@51 CURRENT@51 ");
    cursor_free(slow);
    cursor_free(near);
    cursor_free(far);
    desk_free(&d);
}

/* Whatever it weighs: a reader that follows closely is never cut off. */
static void the_last_revision_stays_in_the_ring(void **state)
{
    struct desk d = desk_of(1000, 1);
    put(&d, "a", "c1", "RUNNING");
    struct cursor *c = reader(&d, "", "", d.revision);
    assert_string_equal(read_all(c, 65536, NULL), "");
    put(&d, "a", "c1", "CRASHED");
    assert_string_equal(read_all(c, 65536, NULL), "PUT:a@12 ");
    drop(&d, "a");
    assert_string_equal(read_all(c, 65536, NULL), "DELETE:a@13 ");
    cursor_free(c);
    desk_free(&d);
}

static void a_reload_resets_and_an_end_ends_every_reader(void **state)
{
    struct desk d = desk_new(4);
    put(&d, "a", "c1", "RUNNING");
    struct cursor *c = reader(&d, "", "", 0);
    read_all(c, 65536, NULL);
    feed_pause(d.feed);
    enum cursor_state last;
    assert_string_equal(read_all(c, 65536, &last), "");
    assert_int_equal(last, CURSOR_WAIT);
    feed_reset(d.feed, d.copy, "e2", 50);
    assert_string_equal(read_all(c, 65536, NULL), "RESET@50 RECORD:a@50 CURRENT@50 ");
    struct cursor *other_board_generation = reader(&d, "", "", 50);
    assert_non_null(strstr(read_all(other_board_generation, 65536, NULL), "RESET@50"));
    assert_int_equal(feed_reader_count(d.feed), 2);
    desk_free(&d);
    assert_string_equal(read_all(c, 65536, &last), "");
    assert_int_equal(last, CURSOR_END);
    cursor_free(c);
    cursor_free(other_board_generation);
}

static void indexes_give_what_a_full_walk_gives(void **state)
{
    struct copy *c = copy_new();
    static const char *const cells[] = {"", "c1", "c10", "c2"};
    static const char *const states[] = {"RUNNING", "CRASHED"};
    for (unsigned i = 0; i < 2000; i++) {
        const char *guid = arena_printf(&arena, "p%u", (i * 7919) % 150);
        if (i % 5 == 4) {
            version_unref(copy_remove(c, key_actual(&arena, guid, 0, 0)));
        } else {
            version_unref(copy_put(c, actual(guid, cells[i % 4], states[i % 2], 1, i),
                                   (struct sighting){.since_ns = (int64_t)i}));
        }
    }
    for (unsigned s = 0; s < 128; s++) {
        Board__Selector q = BOARD__SELECTOR__INIT;
        Models__Owner owner = MODELS__OWNER__INIT;
        owner.kind = (char *)"cli";
        owner.uid = (char *)"p7";
        q.cell_id = (char *)(size_t)cells[s % 4];
        q.state = (char *)(size_t)(s & 4 ? states[s & 1] : "");
        q.key_prefix = (char *)(size_t)(s & 8 ? "actual/p1" : "");
        q.owner = s & 16 ? &owner : NULL;
        q.type = (char *)(size_t)(s & 32 ? "actual" : "");
        if (s >= 64) {
            q.key_prefix = (char *)(size_t)key_actual(&arena, "p1", 0, 0);
            q.whole_key = true;
        }
        struct picker p = picker_of(&arena, &q);
        struct picker_walk w = picker_begin(&p, c);
        for (struct copied *all = copy_from(c, ""); all; all = copy_next(all)) {
            if (picker_matches(&p, copied_version(all))) {
                assert_ptr_equal(picker_next(&w), copied_version(all));
            }
        }
        assert_null(picker_next(&w));
    }
    Board__Selector unknown = BOARD__SELECTOR__INIT;
    unknown.type = (char *)"nonsense";
    struct picker p = picker_of(&arena, &unknown);
    struct picker_walk w = picker_begin(&p, c);
    assert_null(picker_next(&w));
    copy_free(c);
}

static void first_seen_times_outlive_a_reload(void **state)
{
    struct copy *old = copy_new(), *new = copy_new();
    copy_put(old, actual("a", "", "RUNNING", 1, 5), (struct sighting){100, 90});
    copy_put(old, actual("b", "", "RUNNING", 1, 6), (struct sighting){200, 190});
    copy_put(new, actual("a", "", "RUNNING", 1, 5), (struct sighting){900, 0});
    copy_put(new, actual("b", "", "RUNNING", 1, 7), (struct sighting){900, 0});
    copy_inherit(new, old, 800);
    const struct copied *a = copy_find(new, key_actual(&arena, "a", 0, 0));
    const struct copied *b = copy_find(new, key_actual(&arena, "b", 0, 0));
    assert_int_equal(copied_seen(a).since_ns, 100);
    assert_int_equal(copied_seen(a).after_ns, 90);
    assert_int_equal(copied_seen(b).since_ns, 900);
    assert_int_equal(copied_seen(b).after_ns, 800); /* the old copy was up to date then */
    copy_free(old);
    copy_free(new);
}

static void a_record_of_another_format_is_kept_with_an_empty_index(void **state)
{
    struct version *v =
        version_new(&arena, "actual/x/0000000000/0", bytes_of("\x02later"), 1, 1);
    assert_string_equal(version_tag(v, TAG_CELL), "");
    assert_int_equal(v->blob->size, 6);
    version_unref(v);
}

static int begin(void **state)
{
    arena_init(&arena);
    return 0;
}

static int end(void **state)
{
    arena_done(&arena);
    return 0;
}

static void put_task(struct desk *d, const char *guid, const char *cell, Models__Task__State state)
{
    Models__Task m = MODELS__TASK__INIT;
    Models__Owner owner = MODELS__OWNER__INIT;
    owner.kind = (char *)"cli";
    owner.uid = (char *)(size_t)guid;
    m.task_guid = (char *)(size_t)guid;
    m.domain = (char *)"d";
    m.cell_id = (char *)(size_t)cell;
    m.state = state;
    m.owner = &owner;
    SCOPED_BUF(b);
    record_encode(&b, &m.base);
    struct version *after = version_new(&arena, key_task(&arena, guid), buf_bytes(&b),
                                        d->revision + 1, d->revision + 1);
    struct version *before = copy_put(d->copy, version_ref(after), (struct sighting){0});
    feed_change(d->feed, ++d->revision, before, after);
    feed_advance(d->feed, d->revision);
    version_unref(before);
    version_unref(after);
}

static const char *tasks_of(struct desk *d, const char *cell, const char *state, const char *owner,
                            struct cursor **ret_reader)
{
    Board__Selector s = BOARD__SELECTOR__INIT, *list[] = {&s};
    Models__Owner o = MODELS__OWNER__INIT;
    Board__FeedRequest q = BOARD__FEED_REQUEST__INIT;
    s.type = (char *)"task";
    s.cell_id = (char *)(size_t)cell;
    s.state = (char *)(size_t)state;
    o.kind = (char *)"cli";
    o.uid = (char *)(size_t)owner;
    s.owner = *owner ? &o : NULL;
    q.n_selectors = 1;
    q.selectors = list;
    *ret_reader = feed_reader(d->feed, &q);
    return read_all(*ret_reader, 1 << 20, NULL);
}

/* By state for the auctioneer, by cell for a rep: a task that leaves the selection is told as gone.
 */
static void tasks(void **state)
{
    struct desk d = desk_new(64);
    struct cursor *pending, *of_cell, *of_owner;
    put(&d, "t1", "c1", "CLAIMED");
    put_task(&d, "t1", "", MODELS__TASK__STATE__Pending);
    put_task(&d, "t2", "c1", MODELS__TASK__STATE__Running);
    put_task(&d, "t3", "c2", MODELS__TASK__STATE__Running);
    assert_string_equal(tasks_of(&d, "", "Pending", "", &pending),
                        "RESET@14 RECORD:t1@14 CURRENT@14 ");
    assert_string_equal(tasks_of(&d, "c1", "", "", &of_cell), "RESET@14 RECORD:t2@14 CURRENT@14 ");
    assert_string_equal(tasks_of(&d, "", "", "t3", &of_owner), "RESET@14 RECORD:t3@14 CURRENT@14 ");
    put_task(&d, "t1", "c1", MODELS__TASK__STATE__Running);
    assert_string_equal(read_all(pending, 1 << 20, NULL), "DELETE:t1@15 ");
    assert_string_equal(read_all(of_cell, 1 << 20, NULL), "PUT:t1@15 ");
    assert_string_equal(read_all(of_owner, 1 << 20, NULL), "");
    cursor_free(pending);
    cursor_free(of_cell);
    cursor_free(of_owner);
    desk_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_gets_a_snapshot_then_changes),
        cmocka_unit_test(a_snapshot_is_of_one_position_though_the_board_goes_on),
        cmocka_unit_test(a_reader_resumes_where_it_was),
        cmocka_unit_test(a_reader_too_far_behind_is_cut_off),
        cmocka_unit_test(large_records_make_the_ring_shorter),
        cmocka_unit_test(the_last_revision_stays_in_the_ring),
        cmocka_unit_test(a_reload_resets_and_an_end_ends_every_reader),
        cmocka_unit_test(indexes_give_what_a_full_walk_gives),
        cmocka_unit_test(first_seen_times_outlive_a_reload),
        cmocka_unit_test(tasks),
        cmocka_unit_test(a_record_of_another_format_is_kept_with_an_empty_index),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
