/* Host ports that others use: each is tried before a container is made with it, a held one is
 * passed over and told once, and who ends for one that was taken in between has not crashed. */
#include "rep/instance/host_ports.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"

static const uint32_t one_port[] = {8080};

static void answer(struct rep_rig *g, struct verb_call call, enum verb_outcome outcome,
                   const uint32_t *taken, size_t count)
{
    drive_event(&g->d, (struct event){.kind = EVENT_VERB,
                                      .verb = {.id = call.id,
                                               .verb = call.verb,
                                               .guid = call.guid,
                                               .outcome = outcome,
                                               .text = "said the driver",
                                               .taken = taken,
                                               .taken_count = count}});
}

/* From /work to the first PREPARE. */
static struct verb_call first_prepare(struct rep_rig *g, const char *process_guid)
{
    assert_int_equal(rep_rig_work(g, process_guid, 10), 0);
    struct rep_rig_move claim = rep_rig_take_move(g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(g, claim, rep_rig_record(g, process_guid, "CLAIMED", guid, RIG_CELL));
    rep_rig_answer_desired(g, rep_rig_desired(g, process_guid, one_port, 1));
    return rep_rig_take_verb(g, VERB_PREPARE);
}

static void a_held_port_is_passed_over_and_told_once(void **state)
{
    static const uint32_t first[] = {61000}, second[] = {61001};
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    struct verb_call prepare = first_prepare(&g, "web");
    assert_int_equal(prepare.spec->ports[0].host_port, 61000);
    answer(&g, prepare, VERB_FAILED, first, 1);
    /* The rest of the range is tried at once, and before anything is fetched again. */
    assert_int_equal(rep_rig_calls(&g, "get_by_process_guid"), 0);
    struct verb_call search = rep_rig_take_verb(&g, VERB_PORTS);
    assert_int_equal(search.port_count, 3);
    assert_int_equal(search.ports[0], 61001);
    answer(&g, search, VERB_DONE, second, 1);
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "web", one_port, 1));
    prepare = rep_rig_take_verb(&g, VERB_PREPARE);
    assert_int_equal(prepare.spec->ports[0].host_port, 61002);
    answer(&g, prepare, VERB_DONE, NULL, 0);
    rep_rig_take_verb(&g, VERB_START);

    prepare = first_prepare(&g, "other");
    assert_int_equal(prepare.spec->ports[0].host_port, 61003); /* and not one that is held */
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);           /* nobody has crashed */
    assert_int_equal(rep_rig_said(&g, "warn host port is held by another process port=61000"), 1);
    assert_int_equal(rep_rig_said(&g, "warn host port is held by another process port=61001"), 1);
    /* What is used up is tried once more, and not told again. */
    answer(&g, prepare, VERB_FAILED, (const uint32_t[]){61003}, 1);
    search = rep_rig_take_verb(&g, VERB_PORTS);
    assert_int_equal(search.port_count, 3);
    answer(&g, search, VERB_DONE, first, 1);
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "other", one_port, 1));
    assert_int_equal(rep_rig_take_verb(&g, VERB_PREPARE).spec->ports[0].host_port, 61001);
    assert_int_equal(rep_rig_said(&g, "process port=61000"), 1);
}

static void a_range_of_which_all_is_held_is_no_crash(void **state)
{
    static const uint32_t all[] = {61000, 61001, 61002, 61003};
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    answer(&g, first_prepare(&g, "web"), VERB_FAILED, all, 1);
    struct verb_call search = rep_rig_take_verb(&g, VERB_PORTS);
    assert_int_equal(search.port_count, 3);
    answer(&g, search, VERB_DONE, all + 1, 3);
    search = rep_rig_take_verb(&g, VERB_PORTS);
    assert_int_equal(search.port_count, 4);
    answer(&g, search, VERB_DONE, all, 4);
    assert_int_equal(rep_rig_verbs(&g, VERB_PORTS), 0);
    assert_int_equal(rep_rig_said(&g, "host port is held"), 4);
    /* Others hold them: nobody has crashed, and it is placed again. */
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    rep_rig_take_move(&g, "unclaim");
}

/* Its own instances have them all: that is the range's fault, and is told. */
static void a_range_that_is_used_up_ends(void **state)
{
    SCOPED_REP_RIG(g);
    g.config.port_high = g.config.port_low;
    rep_rig_open(&g, NULL, 0);
    answer(&g, first_prepare(&g, "web"), VERB_DONE, NULL, 0);
    rep_rig_take_verb(&g, VERB_START);
    assert_int_equal(rep_rig_work(&g, "other", 10), 0);
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(&g, claim, rep_rig_record(&g, "other", "CLAIMED", guid, RIG_CELL));
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "other", one_port, 1));
    assert_string_equal(rep_rig_take_move(&g, "crash").move->instance->error_message,
                        "no host port is free in 61000-61000");
}

static struct container_status ended_badly(struct rep_rig *g, const char *guid)
{
    struct container_status s = rep_rig_status(g, guid, "web", CONTAINER_EXITED);
    s.exit_code = 1;
    return s;
}

/* A search that tells nothing holds nobody up: PREPARE tries the ports itself. */
static void a_search_without_an_answer_is_passed_by(void **state)
{
    static const uint32_t first[] = {61000};
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    answer(&g, first_prepare(&g, "web"), VERB_FAILED, first, 1);
    answer(&g, rep_rig_take_verb(&g, VERB_PORTS), VERB_UNCERTAIN, NULL, 0);
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "web", one_port, 1));
    assert_int_equal(rep_rig_take_verb(&g, VERB_PREPARE).spec->ports[0].host_port, 61001);
}

static void given_back(struct rep_rig *g, const char *process_guid, const char *guid)
{
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_REMOVE), VERB_DONE, "");
    struct rep_rig_move m = rep_rig_take_move(g, "unclaim");
    assert_string_equal(m.move->instance->actual_lrp_instance_key->instance_guid, guid);
    rep_rig_move_done(g, m, rep_rig_record(g, process_guid, "UNCLAIMED", "", ""));
    rep_rig_feed_delete(g, rep_rig_record(g, process_guid, "RUNNING", guid, RIG_CELL));
}

static void an_end_for_a_held_port_is_no_crash(void **state)
{
    static const uint32_t taken[] = {61000};
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_exited(&g, guid, 1);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    struct verb_call doubt = rep_rig_take_verb(&g, VERB_PORTS);
    assert_int_equal(doubt.port_count, 1);
    assert_int_equal(doubt.ports[0], 61000);
    answer(&g, doubt, VERB_DONE, taken, 1);
    given_back(&g, "web", guid);
    /* The next one gets another port. */
    assert_int_equal(first_prepare(&g, "web").spec->ports[0].host_port, 61001);
}

static void crash_follows(struct rep_rig *g, const char *text)
{
    assert_int_equal(rep_rig_verbs(g, VERB_PORTS), 0);
    assert_string_equal(rep_rig_take_move(g, "crash").move->instance->error_message, text);
    rep_rig_done(g);
}

static void known_running(struct rep_rig *g)
{
    Models__ActualLRP *record = rep_rig_record(g, "web", "RUNNING", "i-1", RIG_CELL);
    rep_rig_move_done(g, rep_rig_take_move(g, "start"), record);
    rep_rig_feed_put(g, record);
}

static void other_ends_are_crashes(void **state)
{
    struct rep_rig g;
    for (int i = 0; i < 2; i++) {
        rep_rig_init(&g); /* its port is nobody's; nobody can tell */
        rep_rig_open(&g, NULL, 0);
        rep_rig_exited(&g, rep_rig_run(&g, "web"), 1);
        answer(&g, rep_rig_take_verb(&g, VERB_PORTS), i ? VERB_UNCERTAIN : VERB_DONE, NULL, 0);
        crash_follows(&g, "APP/WEB: Exited with status 1");
    }
    rep_rig_init(&g); /* it ended well */
    rep_rig_open(&g, NULL, 0);
    rep_rig_exited(&g, rep_rig_run(&g, "web"), 0);
    crash_follows(&g, "APP/WEB: Exited with status 0");
    rep_rig_init(&g); /* it ran for long */
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_advance(&g, PORT_DOUBT_NS / MILLISECOND_NS);
    rep_rig_exited(&g, guid, 1);
    crash_follows(&g, "APP/WEB: Exited with status 1");
    rep_rig_init(&g); /* an earlier rep started it, and nobody else has its port */
    struct container_status ended = ended_badly(&g, "i-1");
    rep_rig_open(&g, &ended, 1);
    rep_rig_feed_put(&g, rep_rig_record(&g, "web", "RUNNING", "i-1", RIG_CELL));
    answer(&g, rep_rig_take_verb(&g, VERB_PORTS), VERB_DONE, NULL, 0);
    crash_follows(&g, "APP/WEB: Exited with status 1");
    rep_rig_init(&g); /* it was adopted long ago */
    struct container_status runs = rep_rig_status(&g, "i-1", "web", CONTAINER_RUNNING);
    rep_rig_open(&g, &runs, 1);
    known_running(&g);
    rep_rig_advance(&g, PORT_DOUBT_NS / MILLISECOND_NS);
    rep_rig_exited(&g, "i-1", 1);
    crash_follows(&g, "APP/WEB: Exited with status 1");
}

/* Started by an earlier rep a moment ago, for all that this one knows: ended before it was adopted,
 * or soon after. */
static void an_adopted_one_has_not_crashed_either(void **state)
{
    static const uint32_t taken[] = {61001};
    for (int ended = 0; ended < 2; ended++) {
        SCOPED_REP_RIG(g);
        struct container_status s = ended ? ended_badly(&g, "i-1")
                                          : rep_rig_status(&g, "i-1", "web", CONTAINER_RUNNING);
        rep_rig_open(&g, &s, 1);
        if (ended) {
            rep_rig_feed_put(&g, rep_rig_record(&g, "web", "RUNNING", "i-1", RIG_CELL));
        } else {
            known_running(&g);
            rep_rig_exited(&g, "i-1", 1);
        }
        struct verb_call doubt = rep_rig_take_verb(&g, VERB_PORTS);
        assert_int_equal(doubt.ports[0], 61001);
        answer(&g, doubt, VERB_DONE, taken, 1);
        given_back(&g, "web", "i-1");
    }
}

/* Something that takes port after port makes no endless round. */
static void so_many_a_minute_are_given_back(void **state)
{
    struct rep_rig g;
    rep_rig_init(&g);
    g.config.port_high = 61999;
    rep_rig_open(&g, NULL, 0);
    for (int i = 0; i <= PORT_RETURNS_MAX; i++) {
        const char *guid = rep_rig_run(&g, "web");
        uint32_t port = 61000 + (uint32_t)i;
        rep_rig_exited(&g, guid, 1);
        answer(&g, rep_rig_take_verb(&g, VERB_PORTS), VERB_DONE, &port, 1);
        if (i < PORT_RETURNS_MAX) {
            given_back(&g, "web", guid);
        }
    }
    crash_follows(&g, "APP/WEB: Exited with status 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_held_port_is_passed_over_and_told_once),
        cmocka_unit_test(a_range_of_which_all_is_held_is_no_crash),
        cmocka_unit_test(a_range_that_is_used_up_ends),
        cmocka_unit_test(an_adopted_one_has_not_crashed_either),
        cmocka_unit_test(a_search_without_an_answer_is_passed_by),
        cmocka_unit_test(an_end_for_a_held_port_is_no_crash),
        cmocka_unit_test(other_ends_are_crashes),
        cmocka_unit_test(so_many_a_minute_are_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
