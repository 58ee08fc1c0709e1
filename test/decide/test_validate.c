/* Validation of moves: a row for every rule of behaviour.md 10.3 and the lengths of 18; and how
 * long what it says may get. */
#include "test/decide/lrp_rows.h"
#include "test/decide/validate_rows.h"
#include "test/tool/cmocka.h"
#include "test/tool/fixture.h"

static void moves(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    static const struct {
        const char *move;
        const char *text;
        bool no_key;
    } rows[] = {
        {"claim a@c", "", false},
        {"claim", FIELD("actual_lrp_instance_key"), false},
        {"claim @", FIELD("cell_id") ", " FIELD("instance_guid"), false},
        {"claim a@c index=-1", FIELD("index"), false},
        {"claim a@c", FIELD("actual_lrp_key"), true},
        {"claim a@c presence=2", FIELD("presence"), false},
        {"start a@c address=A", "", false},
        {"start a@c", FIELD("address"), false},
        {"start a@c address=A", FIELD("actual_lrp_key"), true},
        {"start address=A domain=", FIELD("domain") ", " FIELD("actual_lrp_instance_key"), false},
        {"crash a@c", "", false},
        {"crash a@c index=-3 domain=", FIELD("index") ", " FIELD("domain"), false},
        {"crash", FIELD("actual_lrp_instance_key"), false},
        {"fail error=full", "", false},
        {"fail", FIELD("error_message"), false},
        {"fail", FIELD("actual_lrp_key") ", " FIELD("error_message"), true},
        {"remove", "", false},
        {"remove index=-1", FIELD("index"), false},
        {"remove @", "", false},
        {"remove a@c presence=2", "", false},
        {"remove a@c presence=3", FIELD("presence"), false},
        {"unclaim a@c", "", false},
        {"unclaim", FIELD("actual_lrp_instance_key"), false},
        {"create", "", false},
        {"create", FIELD("actual_lrp_key"), true},
        {"stop index=-1", FIELD("index"), false},
        {"restart presence=2", FIELD("presence"), false},
        {"ask presence=1", FIELD("presence"), false},
        {"expire", "", true},
        {"retire", "", false},
        {"retire domain=", FIELD("domain"), false},
        {"retire", FIELD("actual_lrp_key"), true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct validation v = {0};
        Board__Move *m = row_move(a, rows[i].move);
        if (rows[i].no_key) {
            m->subject = row_family(m->move) == &lrp_moves ? NULL : m->subject;
        }
        move_row_named(row_family(m->move), m->move)->valid(&v, m);
        assert_string_equal(said(a, &v), rows[i].text);
    }
}

static void name_process(struct arena *a, Board__Move *m, const char *process_guid)
{
    m->subject = move_new_instance(a, "", process_guid, 1, 0, "")->subject;
}

static void lengths_of_moves(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    Board__Move *m = row_move(a, "start a@c address=A");
    char *longest = repeated(a, "x", 255), *longer = repeated(a, "x", 256);
    Models__ActualLRPInstanceKey *instance = m->instance->actual_lrp_instance_key;
    char *guid = longest;
    char **fields[] = {&guid, &m->instance->domain, &instance->cell_id, &instance->instance_guid,
                       &m->instance->availability_zone};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct validation v = {0};
        *fields[i] = longest;
        valid_start(&v, m);
        assert_true(validation_ok(&v));
        *fields[i] = longer;
        name_process(a, m, guid);
        valid_start(&v, m);
        assert_string_equal(validation_text(&v), INVALID);
        *fields[i] = longest;
        name_process(a, m, guid);
        validation_done(&v);
    }
    /* What is not stored may be of any length: claim stores the instance key, the others nothing.
     */
    static const struct {
        void (*valid)(struct validation *v, const Board__Move *move);
        bool fits_place, fits_instance;
    } rows[] = {
        {valid_claim, true, false},    {valid_of_instance, true, true},
        {valid_fail, true, true},      {valid_at_key, true, true},
        {valid_start, false, false},   {valid_evacuate_crashed, true, true},
    };
    m->instance->error_message = TEXT("full");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t k = 0; k < 4; k++) {
            struct validation v = {0};
            *fields[k] = longer;
            name_process(a, m, guid);
            rows[i].valid(&v, m);
            assert_int_equal(validation_ok(&v), k < 2 ? rows[i].fits_place : rows[i].fits_instance);
            *fields[k] = longest;
            validation_done(&v);
        }
    }
}

/* Thousands of faults do not make an answer of megabytes. */
static void the_text_is_bounded(void **state)
{
    struct validation v = {0};
    for (unsigned i = 0; i < 100000; i++) {
        say_field(&v, "egress_rules");
    }
    assert_true(v.text.size > VALIDATION_TEXT_MAX && v.text.size < VALIDATION_TEXT_MAX + 100);
    validation_done(&v);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(moves),
        TEST(lengths_of_moves),
        TEST(the_text_is_bounded),
    };
    return cmocka_run_group_tests_name("validate", tests, NULL, NULL);
}
