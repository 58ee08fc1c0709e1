/* Long answers made of records: as they are, through a view, as groups; and which records a group
 * shows (behaviour.md 10.5). */
#include "bbs/route/records.h"

#include "bbs/route/actual_reads.h"
#include "common/contract/cursor.h"
#include "common/model/record.h"
#include "models/actual_lrp_requests.pb-c.h"
#include "models/task_requests.pb-c.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

static struct blob *record_of(const ProtobufCMessage *m)
{
    SCOPED_BUF(b);
    record_encode(&b, m);
    return blob_new(b.data, b.size);
}

static struct blob *task_record(const char *guid, const char *domain)
{
    Models__Task task = MODELS__TASK__INIT;
    task.task_guid = (char *)(uintptr_t)guid;
    task.domain = (char *)(uintptr_t)domain;
    return record_of(&task.base);
}

static struct blob *actual_record(const char *state)
{
    Models__ActualLRP actual = MODELS__ACTUAL_LRP__INIT;
    actual.state = (char *)(uintptr_t)state;
    return record_of(&actual.base);
}

/* Takes the whole answer in chunks of `chunk` bytes; *ret_reply is the effect. */
static void take(struct records *r, size_t chunk, struct buf *body, struct reply *ret_reply)
{
    SCOPED_ARENA(a);
    struct effects out;
    effects_init(&out, &a);
    records_answer(r, 7, &out);
    assert_int_equal(out.count, 1);
    *ret_reply = out.list[0].reply;
    if (ret_reply->cursor) {
        while (cursor_fill(ret_reply->cursor, body, chunk) == CURSOR_MORE) {
        }
        assert_int_equal(body->size, ret_reply->size);
        cursor_free(ret_reply->cursor);
    } else {
        assert_int_equal(ret_reply->body.size, 0);
    }
}

/* The domain, said twice as long. */
static const ProtobufCMessage *twice(struct arena *a, ProtobufCMessage *decoded)
{
    Models__Task *task = (Models__Task *)decoded;
    task->domain = arena_printf(a, "%s%s", task->domain, task->domain);
    return decoded;
}

static const struct record_viewer viewer = {&models__task__descriptor, twice};

/* Parts are joined, views are made, and the length told before is that of the bytes, whatever the
 * chunks. */
static void messages_in_chunks(void **state)
{
    static const uint8_t other_version[] = {RECORD_VERSION + 1, 0x12, 0x01, 'x'};
    struct blob *a = task_record("a", "x"), *b = task_record("", "y"),
                *strange = blob_new(other_version, sizeof(other_version));
    for (size_t chunk = 1; chunk < 100; chunk += 7) {
        struct records *r = records_new(5);
        records_add(r, (struct blob *const[RECORD_PARTS]){a});
        records_add_view(r, (struct blob *const[RECORD_PARTS]){a}, &viewer);
        records_add_view(r, (struct blob *const[RECORD_PARTS]){a, b}, &viewer);
        /* What this version cannot read is left out. */
        records_add(r, (struct blob *const[RECORD_PARTS]){strange});
        records_add_view(r, (struct blob *const[RECORD_PARTS]){strange}, &viewer);
        SCOPED_BUF(body);
        struct reply reply;
        take(r, chunk, &body, &reply);
        Models__TasksResponse *got = models__tasks_response__unpack(NULL, body.size, body.data);
        assert_non_null(got);
        assert_int_equal(got->n_tasks, 3);
        static const char *const domains[] = {"x", "xx", "yy"};
        for (size_t i = 0; i < 3; i++) {
            assert_string_equal(got->tasks[i]->task_guid, "a");
            assert_string_equal(got->tasks[i]->domain, domains[i]);
        }
        models__tasks_response__free_unpacked(got, NULL);
    }
    assert_int_equal(a->references, 1);
    assert_int_equal(b->references, 1);
    assert_int_equal(strange->references, 1);
    blob_unref(a);
    blob_unref(b);
    blob_unref(strange);
}

static void nothing_is_an_empty_body(void **state)
{
    SCOPED_BUF(body);
    struct reply reply;
    take(records_new(0), 64, &body, &reply);
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.content_type, "application/x-protobuf");
}

/* A reader that goes away in the middle, or before the beginning, gives everything back. */
static void a_reader_that_goes_away(void **state)
{
    struct blob *a = task_record("a", "x");
    for (unsigned taken = 0; taken < 3; taken++) {
        SCOPED_ARENA(arena);
        struct effects out;
        struct records *r = records_new(3);
        SCOPED_BUF(body);
        for (unsigned i = 0; i < 3; i++) {
            records_add_view(r, (struct blob *const[RECORD_PARTS]){a}, &viewer);
        }
        effects_init(&out, &arena);
        records_answer(r, 7, &out);
        for (unsigned i = 0; i < taken; i++) {
            assert_int_equal(cursor_fill(out.list[0].reply.cursor, &body, 1), CURSOR_MORE);
        }
        cursor_free(out.list[0].reply.cursor);
        assert_int_equal(a->references, 1);
    }
    blob_unref(a);
}

static void groups_have_one_or_two(void **state)
{
    struct blob *o = actual_record("RUNNING"), *e = actual_record("CLAIMED");
    struct records *r = records_new(4);
    SCOPED_BUF(body);
    struct reply reply;
    records_add_group(r, o, e);
    records_add_group(r, o, NULL);
    records_add_group(r, NULL, e);
    records_add_group(r, NULL, NULL);
    take(r, 1, &body, &reply);
    Models__ActualLRPGroupsResponse *got =
        models__actual_lrpgroups_response__unpack(NULL, body.size, body.data);
    assert_non_null(got);
    assert_int_equal(got->n_actual_lrp_groups, 3);
    for (size_t i = 0; i < 3; i++) {
        const Models__ActualLRPGroup *g = got->actual_lrp_groups[i];
        assert_int_equal(g->instance != NULL, i < 2);
        assert_int_equal(g->evacuating != NULL, i != 1);
        assert_string_equal(g->instance ? g->instance->state : "RUNNING", "RUNNING");
        assert_string_equal(g->evacuating ? g->evacuating->state : "CLAIMED", "CLAIMED");
    }
    models__actual_lrpgroups_response__free_unpacked(got, NULL);
    blob_unref(o);
    blob_unref(e);
}

/* Every combination of an index's records: which one is shown as instance. */
static void the_best_record_is_the_instance(void **state)
{
    static const struct {
        const char *records; /* presence digit and state */
        const char *instance, *evacuating;
    } rows[] = {
        {"0UNCLAIMED", "0UNCLAIMED", NULL},
        {"0CRASHED", "0CRASHED", NULL},
        {"0RUNNING 2RUNNING", "0RUNNING", NULL},
        {"0RUNNING 2CLAIMED", "0RUNNING", NULL},
        {"0UNCLAIMED 2RUNNING", "2RUNNING", NULL},
        {"0CLAIMED 2RUNNING", "2RUNNING", NULL},
        {"0CRASHED 2RUNNING", "2RUNNING", NULL},
        {"0UNCLAIMED 2CLAIMED", "2CLAIMED", NULL},
        {"0CLAIMED 2CLAIMED", "2CLAIMED", NULL},
        {"0CRASHED 2CLAIMED", "2CLAIMED", NULL},
        {"2RUNNING", "2RUNNING", NULL},
        {"2CLAIMED", "2CLAIMED", NULL},
        {"1RUNNING", NULL, "1RUNNING"},
        {"0UNCLAIMED 1RUNNING", "0UNCLAIMED", "1RUNNING"},
        {"0RUNNING 1RUNNING", "0RUNNING", "1RUNNING"},
        {"0UNCLAIMED 1RUNNING 2RUNNING", "2RUNNING", "1RUNNING"},
        {"1RUNNING 2CLAIMED", "2CLAIMED", "1RUNNING"},
        {"7RUNNING", NULL, NULL}, /* of a newer version */
        {"0UNCLAIMED 7RUNNING", "0UNCLAIMED", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED_ARENA(a);
        struct picked list[4];
        size_t count = 0;
        char *rest = arena_strdup(&a, rows[i].records);
        for (char *save, *w = strtok_r(rest, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
            list[count++] = (struct picked){
                .key = arena_printf(&a, "actual/web/0000000000/%c", w[0]), .state = w + 1};
        }
        const struct picked *instance, *evacuating;
        group_choose(list, count, &instance, &evacuating);
        const struct picked *shown[] = {instance, evacuating};
        const char *expected[] = {rows[i].instance, rows[i].evacuating};
        for (size_t k = 0; k < 2; k++) {
            const char *is =
                shown[k] ? arena_printf(&a, "%c%s", shown[k]->key[22], shown[k]->state) : "";
            if (strcmp(is, expected[k] ? expected[k] : "") != 0) {
                fail_msg("%s: %s is %s", rows[i].records, k ? "evacuating" : "instance", is);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_in_chunks),
        cmocka_unit_test(nothing_is_an_empty_body),
        cmocka_unit_test(a_reader_that_goes_away),
        cmocka_unit_test(groups_have_one_or_two),
        cmocka_unit_test(the_best_record_is_the_instance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
