/* Keys and records of the board. */
#include "common/model/keys.h"
#include "common/model/record.h"
#include "models/actual_lrp.pb-c.h"
#include "models/task.pb-c.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

static void keys_are_escaped_and_read_back(void **state)
{
    SCOPED_ARENA(a);
    const char *k = key_actual(&a, "a/b %\xc3\xa9", 7, 2);
    assert_string_equal(k, "actual/a%2Fb%20%25%C3%A9/0000000007/2");
    assert_int_equal(key_type(k), RECORD_ACTUAL);
    assert_string_equal(key_component(&a, k, 0), "actual");
    assert_string_equal(key_component(&a, k, 1), "a/b %\xc3\xa9");
    assert_string_equal(key_component(&a, k, 3), "2");
    assert_null(key_component(&a, k, 4));
    assert_string_equal(key_cause(&a, "b", 12), "cause/b/0012");
    assert_string_equal(key_brake(&a), "brake/cells");
    assert_string_equal(key_run(&a, "g", "e"), "run/g/e");
    assert_string_equal(key_job(&a, "g/1", ""), "job/g%2F1");
    assert_string_equal(key_job(&a, "g/1", "roll"), "job/g%2F1/roll");
    assert_int_equal(key_type("foo/x"), RECORD_UNKNOWN);
    assert_int_equal(key_type("actual"), RECORD_UNKNOWN);
    for (enum record_type t = 0; t < RECORD_UNKNOWN; t++) {
        assert_int_equal(record_type_named(record_type_name(t)), t);
    }
}

static void byte_order_of_keys_is_order_of_indices_and_prefixes_do_not_mix(void **state)
{
    SCOPED_ARENA(a);
    assert_true(strcmp(key_actual(&a, "g", 9, 0), key_actual(&a, "g", 10, 0)) < 0);
    assert_true(strcmp(key_actual(&a, "g", 99, 0), key_actual(&a, "g", INT32_MAX, 0)) < 0);
    const char *prefix = key_actual_process(&a, "g");
    const char *end = key_range_end(&a, prefix);
    assert_string_equal(prefix, "actual/g/");
    assert_string_equal(end, "actual/g0");
    assert_true(strcmp(key_actual(&a, "g", INT32_MAX, 2), end) < 0);
    const char *other = key_actual(&a, "g-1", 0, 0);
    assert_true(strcmp(other, prefix) < 0 || strcmp(other, end) >= 0);
}

static void records_round_trip_and_strangers_are_refused(void **state)
{
    SCOPED_ARENA(a);
    SCOPED_BUF(b);
    Models__ActualLRP lrp = MODELS__ACTUAL_LRP__INIT;
    lrp.state = (char *)"RUNNING";
    record_encode(&b, &lrp.base);
    assert_int_equal(b.data[0], RECORD_VERSION);
    ProtobufCMessage *m = NULL;
    struct err err = {0};
    assert_int_equal(record_decode(&a, RECORD_ACTUAL, buf_bytes(&b), &m, &err), 0);
    assert_true(record_readable(RECORD_ACTUAL, buf_bytes(&b)));
    assert_false(record_readable(RECORD_UNKNOWN, buf_bytes(&b)));
    assert_false(record_readable(RECORD_ACTUAL, (struct bytes){b.data, b.size - 1}));
    assert_false(record_readable(RECORD_ACTUAL, (struct bytes){0}));
    assert_string_equal(((Models__ActualLRP *)m)->state, "RUNNING");
    b.data[0] = 9;
    assert_int_equal(record_decode(&a, RECORD_ACTUAL, buf_bytes(&b), &m, &err), -ERR_INVALID);
    assert_int_equal(record_body(buf_bytes(&b)).size, 0);
    b.data[0] = RECORD_VERSION;
    assert_int_equal(record_decode(&a, RECORD_UNKNOWN, buf_bytes(&b), &m, &err), -ERR_INVALID);
    assert_int_equal(record_decode(&a, RECORD_ACTUAL, (struct bytes){b.data, b.size - 1}, &m, &err),
                     -ERR_INVALID);
}

/* The copy's parts of the key space are made from the rows as they stand. */
static void kinds_stand_in_the_order_of_their_keys(void **state)
{
    for (enum record_type t = 1; t < RECORD_UNKNOWN; t++) {
        assert_true(strcmp(record_type_name(t - 1), record_type_name(t)) < 0);
    }
}

static bool in_a_kept_part(const char *key)
{
    const struct key_part *p;
    for (unsigned n = 0; (p = record_kept_part(n)); n++) {
        if ((!p->first || strcmp(key, p->first) >= 0) && (!p->end || strcmp(key, p->end) < 0)) {
            return true;
        }
    }
    return false;
}

static void the_parts_that_are_kept_leave_out_the_others_alone(void **state)
{
    SCOPED_ARENA(a);
    for (enum record_type t = 0; t < RECORD_TYPE_COUNT; t++) {
        const char *name = record_type_name(t);
        assert_int_equal(in_a_kept_part(arena_printf(&a, "%s/", name)), record_is_kept(t));
        assert_int_equal(in_a_kept_part(arena_printf(&a, "%s/~~", name)), record_is_kept(t));
        assert_true(in_a_kept_part(arena_printf(&a, "%s0", name)));
    }
}

static void what_an_empty_message_does_not_say_is_an_empty_tag(void **state)
{
    SCOPED_ARENA(a);
    for (enum record_type t = 0; t < RECORD_UNKNOWN; t++) {
        ProtobufCAllocator allocator = arena_protobuf(&a);
        ProtobufCMessage *empty =
            protobuf_c_message_unpack(record_descriptor(t), &allocator, 0, NULL);
        const char *tags[TAG_COUNT] = {0};
        record_tags(&a, t, empty, tags);
        for (int tag = 0; tag < TAG_COUNT; tag++) {
            bool is_number = t == RECORD_TASK && tag == TAG_STATE; /* a number is never unsaid */
            assert_string_equal(tags[tag], is_number ? "Invalid" : "");
        }
    }
}

static void tags_are_read_where_the_rows_say(void **state)
{
    SCOPED_ARENA(a);
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    Models__ActualLRPInstanceKey instance = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
    Models__Owner owner = MODELS__OWNER__INIT;
    Models__ActualLRP lrp = MODELS__ACTUAL_LRP__INIT;
    key.domain = (char *)"d";
    instance.cell_id = (char *)"c";
    owner.kind = (char *)"a/b";
    owner.uid = (char *)"u";
    lrp.state = (char *)"RUNNING";
    lrp.actual_lrp_key = &key;
    lrp.actual_lrp_instance_key = &instance;
    lrp.owner = &owner;
    static const char *const wanted[TAG_COUNT] = {"d", "c", "RUNNING", "a%2Fb/u"};
    const char *tags[TAG_COUNT];
    record_tags(&a, RECORD_ACTUAL, &lrp.base, tags);
    for (int tag = 0; tag < TAG_COUNT; tag++) {
        assert_string_equal(tags[tag], wanted[tag]);
    }
    Models__Task task = MODELS__TASK__INIT;
    task.state = MODELS__TASK__STATE__Resolving;
    record_tags(&a, RECORD_TASK, &task.base, tags);
    assert_string_equal(tags[TAG_STATE], "Resolving");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_escaped_and_read_back),
        cmocka_unit_test(byte_order_of_keys_is_order_of_indices_and_prefixes_do_not_mix),
        cmocka_unit_test(records_round_trip_and_strangers_are_refused),
        cmocka_unit_test(kinds_stand_in_the_order_of_their_keys),
        cmocka_unit_test(the_parts_that_are_kept_leave_out_the_others_alone),
        cmocka_unit_test(what_an_empty_message_does_not_say_is_an_empty_tag),
        cmocka_unit_test(tags_are_read_where_the_rows_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
