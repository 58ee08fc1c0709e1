/* A restarted rep adopts what its driver lists; a listing tells what became of verbs without an
 * answer and of ends that nobody heard of. */
#include "rep/driver/driver_io.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"

#include <signal.h>
#include <string.h>

/* Incarnation and feed are there, with this record; the listing is not answered yet. */
static void open_with_record(struct rep_rig *g, const Models__ActualLRP *record)
{
    rep_rig_start(g);
    rep_rig_answer_incarnation(g);
    rep_rig_feed_open(g);
    rep_rig_feed_put(g, record);
}

static void what_runs_is_adopted_and_not_touched(void **state)
{
    SCOPED_REP_RIG(g);
    open_with_record(&g, rep_rig_record(&g, "web", "RUNNING", "i-1", RIG_CELL));
    struct container_status s = rep_rig_status(&g, "i-1", "web", CONTAINER_RUNNING);
    rep_rig_answer_list(&g, &s, 1);
    rep_rig_advance(&g, 1000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_int_equal(g.verb_count, 0);
    /* Its memory and its port are taken. */
    assert_int_equal(rep_rig_work(&g, "big", 901), 1);
    assert_int_equal(rep_rig_work(&g, "fits", 900), 0);
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(&g, claim, rep_rig_record(&g, "fits", "CLAIMED", guid, RIG_CELL));
    static const uint32_t ports[] = {1, 2, 3};
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "fits", ports, 3));
    struct verb_call prepare = rep_rig_take_verb(&g, VERB_PREPARE);
    assert_int_equal(prepare.spec->ports[0].host_port, 61000);
    assert_int_equal(prepare.spec->ports[1].host_port, 61002);
    assert_int_equal(prepare.spec->ports[2].host_port, 61003);
}

static void nothing_is_missing_before_adoption_ended(void **state)
{
    SCOPED_REP_RIG(g);
    open_with_record(&g, rep_rig_record(&g, "web", "RUNNING", "i-1", RIG_CELL));
    rep_rig_advance(&g, 20000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    /* Nor after a listing that failed; nor is work taken. */
    struct verb_call list = rep_rig_take_verb(&g, VERB_LIST);
    rep_rig_verb(&g, list, VERB_FAILED, "the runtime is away");
    assert_int_equal(rep_rig_work(&g, "other", 1), 1);
    rep_rig_advance(&g, 1000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    rep_rig_answer_list(&g, NULL, 0);
    rep_rig_advance(&g, 1);
    struct rep_rig_move unclaim = rep_rig_take_move(&g, "unclaim");
    assert_string_equal(unclaim.move->instance->actual_lrp_instance_key->instance_guid, "i-1");
}

static void what_ended_meanwhile_is_a_crash(void **state)
{
    SCOPED_REP_RIG(g);
    open_with_record(&g, rep_rig_record(&g, "web", "RUNNING", "i-1", RIG_CELL));
    struct container_status s = rep_rig_status(&g, "i-1", "web", CONTAINER_EXITED);
    s.exit_code = 2;
    rep_rig_answer_list(&g, &s, 1);
    assert_string_equal(rep_rig_take_move(&g, "crash").move->instance->error_message,
                        "APP/WEB: Exited with status 2");
}

static void what_ended_with_its_machine_is_a_crash(void **state)
{
    SCOPED_REP_RIG(g);
    open_with_record(&g, rep_rig_record(&g, "web", "RUNNING", "i-1", RIG_CELL));
    struct container_status s = rep_rig_status(&g, "i-1", "web", CONTAINER_EXITED);
    s.text = "its machine was restarted";
    s.rebooted = true;
    s.exit_signal = SIGKILL;
    rep_rig_answer_list(&g, &s, 1);
    assert_string_equal(rep_rig_take_move(&g, "crash").move->instance->error_message,
                        "its machine was restarted");
    assert_int_equal(rep_rig_verbs(&g, VERB_PORTS), 0); /* nobody took a port of it */
}

/* Nothing of it can be started any more: it is made anew, and has not crashed. */
static void what_was_prepared_in_another_boot_is_no_crash(void **state)
{
    SCOPED_REP_RIG(g);
    open_with_record(&g, rep_rig_record(&g, "web", "CLAIMED", "i-1", RIG_CELL));
    struct container_status s = rep_rig_status(&g, "i-1", "web", CONTAINER_PREPARED);
    s.text = "its machine was restarted";
    s.rebooted = true;
    rep_rig_answer_list(&g, &s, 1);
    assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    assert_non_null(rep_rig_take_move(&g, "unclaim").move);
}

static void what_ended_after_its_stop_was_asked_is_none(void **state)
{
    SCOPED_REP_RIG(g);
    Models__ActualLRP *stopping = rep_rig_record(&g, "web", "RUNNING", "i-1", RIG_CELL);
    stopping->stopping = true;
    open_with_record(&g, stopping);
    struct container_status s = rep_rig_status(&g, "i-1", "web", CONTAINER_EXITED);
    rep_rig_answer_list(&g, &s, 1);
    rep_rig_move_done(&g, rep_rig_take_move(&g, "remove"), NULL);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
}

static void what_never_started_is_removed(void **state)
{
    SCOPED_REP_RIG(g);
    open_with_record(&g, rep_rig_record(&g, "web", "CLAIMED", "i-1", RIG_CELL));
    struct container_status s = rep_rig_status(&g, "i-1", "web", CONTAINER_PREPARED);
    rep_rig_answer_list(&g, &s, 1);
    rep_rig_advance(&g, 1);
    assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
    struct verb_call removal = rep_rig_take_verb(&g, VERB_REMOVE);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0); /* it still counts as a container */
    rep_rig_verb(&g, removal, VERB_DONE, "");
    rep_rig_take_move(&g, "unclaim");
}

static void what_is_starting_is_waited_for(void **state)
{
    SCOPED_REP_RIG(g);
    open_with_record(&g, rep_rig_record(&g, "web", "CLAIMED", "i-1", RIG_CELL));
    struct container_status s = rep_rig_status(&g, "i-1", "web", CONTAINER_STARTING);
    rep_rig_answer_list(&g, &s, 1);
    rep_rig_advance(&g, 2000);
    assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
    s.state = CONTAINER_RUNNING;
    rep_rig_answer_list(&g, &s, 1);
    rep_rig_take_move(&g, "start");
}

/* For so many seconds every listing names it as starting. */
static void still_starting(struct rep_rig *g, struct container_status s, int seconds)
{
    s.state = CONTAINER_STARTING;
    for (int i = 0; i < seconds; i++) {
        if (rep_rig_verbs(g, VERB_LIST) > 0) {
            rep_rig_answer_list(g, &s, 1);
        }
        rep_rig_advance(g, 1000);
    }
}

/* A rep was killed while a runtime hung: nobody is left who would end that. */
static void what_starts_for_ever_is_given_up(void **state)
{
    SCOPED_REP_RIG(g);
    Models__ActualLRP *record = rep_rig_record(&g, "web", "CLAIMED", "i-1", RIG_CELL);
    open_with_record(&g, record);
    struct container_status s = rep_rig_status(&g, "i-1", "web", CONTAINER_STARTING);
    still_starting(&g, s, 25);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_int_equal(rep_rig_verbs(&g, VERB_REMOVE), 0);
    still_starting(&g, s, 15);
    struct rep_rig_move m = rep_rig_take_move(&g, "crash");
    assert_non_null(strstr(m.move->instance->error_message, "did not answer in time"));
    rep_rig_move_done(&g, m, NULL);
    rep_rig_take_verb(&g, VERB_REMOVE);
}

static void what_starts_for_ever_can_be_stopped(void **state)
{
    SCOPED_REP_RIG(g);
    Models__ActualLRP *record = rep_rig_record(&g, "web", "RUNNING", "i-1", RIG_CELL);
    record->stopping = true;
    open_with_record(&g, record);
    still_starting(&g, rep_rig_status(&g, "i-1", "web", CONTAINER_STARTING), 40);
    rep_rig_move_done(&g, rep_rig_take_move(&g, "remove"), NULL);
    rep_rig_take_verb(&g, VERB_REMOVE);
}

static void an_unreadable_note_is_removed(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_start(&g);
    rep_rig_answer_incarnation(&g);
    rep_rig_feed_open(&g);
    struct container_status s = rep_rig_status(&g, "i-1", "web", CONTAINER_RUNNING);
    s.note.size = 3;
    rep_rig_answer_list(&g, &s, 1);
    assert_string_equal(rep_rig_take_verb(&g, VERB_REMOVE).guid, "i-1");
}

/* Up to the START of an instance; gives its verb. */
static struct verb_call start_of(struct rep_rig *g)
{
    rep_rig_open(g, NULL, 0);
    rep_rig_work(g, "web", 100);
    struct rep_rig_move claim = rep_rig_take_move(g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    Models__ActualLRP *record = rep_rig_record(g, "web", "CLAIMED", guid, RIG_CELL);
    rep_rig_move_done(g, claim, record);
    rep_rig_feed_put(g, record);
    rep_rig_answer_desired(g, rep_rig_desired(g, "web", NULL, 0));
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_PREPARE), VERB_DONE, "");
    return rep_rig_take_verb(g, VERB_START);
}

static void an_uncertain_start_that_happened(void **state)
{
    SCOPED_REP_RIG(g);
    struct verb_call start = start_of(&g);
    rep_rig_verb(&g, start, VERB_UNCERTAIN, "no answer");
    rep_rig_advance(&g, 2000);
    assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
    struct container_status s = rep_rig_status(&g, start.guid, "web", CONTAINER_RUNNING);
    rep_rig_answer_list(&g, &s, 1);
    rep_rig_take_move(&g, "start");
}

static void an_uncertain_start_that_did_not(void **state)
{
    SCOPED_REP_RIG(g);
    struct verb_call start = start_of(&g);
    struct container_status s = rep_rig_status(&g, start.guid, "web", CONTAINER_PREPARED);
    for (int i = 0; i < 2; i++) {
        rep_rig_verb(&g, start, VERB_UNCERTAIN, "no answer");
        rep_rig_advance(&g, 2000);
        rep_rig_answer_list(&g, &s, 1);
        start = rep_rig_take_verb(&g, VERB_START);
    }
    rep_rig_verb(&g, start, VERB_UNCERTAIN, "no answer");
    rep_rig_advance(&g, 2000);
    rep_rig_answer_list(&g, &s, 1);
    /* Three tries are enough. */
    assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
    assert_string_equal(rep_rig_take_move(&g, "crash").move->instance->error_message,
                        "the container's driver did not answer in time");
}

static void an_uncertain_prepare_is_done_again(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_work(&g, "web", 100);
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(&g, claim, rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL));
    static const uint32_t ports[] = {1, 2, 3};
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "web", ports, 3));
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_UNCERTAIN, "no answer");
    rep_rig_feed_put(&g, rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL));
    rep_rig_advance(&g, 2000);
    rep_rig_answer_list(&g, NULL, 0);
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "web", ports, 3));
    /* The ports of the first try were given back. */
    assert_int_equal(rep_rig_take_verb(&g, VERB_PREPARE).spec->port_count, 3);
}

static void an_older_listing_does_not_judge(void **state)
{
    SCOPED_REP_RIG(g);
    struct verb_call start = start_of(&g);
    /* The periodic listing is asked while the container starts, and answered after it runs. */
    rep_rig_advance(&g, 31000);
    rep_rig_verb(&g, start, VERB_DONE, "");
    rep_rig_take_move(&g, "start");
    struct container_status s = rep_rig_status(&g, start.guid, "web", CONTAINER_PREPARED);
    rep_rig_answer_list(&g, &s, 1);
    assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
}

/* Nor does one that was asked before the container ran, and does not know it. */
static void an_older_listing_misses_nothing(void **state)
{
    SCOPED_REP_RIG(g);
    struct verb_call start = start_of(&g);
    rep_rig_advance(&g, 31000);
    rep_rig_verb(&g, start, VERB_DONE, "");
    Models__ActualLRP *record = rep_rig_record(&g, "web", "RUNNING", start.guid, RIG_CELL);
    rep_rig_move_done(&g, rep_rig_take_move(&g, "start"), record);
    rep_rig_feed_put(&g, record);
    rep_rig_answer_list(&g, NULL, 0);
    rep_rig_advance(&g, 1000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0); /* no crash */
    assert_int_equal(rep_rig_verbs(&g, VERB_REMOVE), 0);
}

/* A listing that was asked before a container went names it still: it is none to be adopted. */
static void an_older_listing_brings_nothing_back(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_advance(&g, 31000);
    rep_rig_exited(&g, guid, 1);
    rep_rig_move_done(&g, rep_rig_take_move(&g, "crash"),
                      rep_rig_record(&g, "web", "UNCLAIMED", "", ""));
    rep_rig_feed_delete(&g, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    struct container_status s = rep_rig_status(&g, guid, "web", CONTAINER_RUNNING);
    rep_rig_answer_list(&g, &s, 1);
    rep_rig_advance(&g, 1000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_int_equal(rep_rig_work(&g, "big", 1000), 0); /* its memory is free */
}

/* Of what the board says nothing is known yet. */
static void nothing_is_decided_before_the_first_snapshot(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_start(&g);
    rep_rig_answer_incarnation(&g);
    struct container_status s = rep_rig_status(&g, "i-1", "web", CONTAINER_RUNNING);
    rep_rig_answer_list(&g, &s, 1);
    drive_advance(&g.d, 2000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    rep_rig_feed_open(&g);
    rep_rig_take_move(&g, "start"); /* its record is gone: it is made again */
}

static void an_end_nobody_told_of_is_listed(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_advance(&g, 31000);
    struct container_status s = rep_rig_status(&g, guid, "web", CONTAINER_EXITED);
    s.exit_signal = SIGSEGV;
    rep_rig_answer_list(&g, &s, 1);
    assert_string_equal(rep_rig_take_move(&g, "crash").move->instance->error_message,
                        "APP/WEB: Exited with status 139");
}

static void a_container_that_vanished_is_a_crash(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_run(&g, "web");
    rep_rig_advance(&g, 31000);
    rep_rig_answer_list(&g, NULL, 0);
    assert_string_equal(rep_rig_take_move(&g, "crash").move->instance->error_message,
                        "the container disappeared");
}

/* Gives how many moves of this name the kept calls carry, refusing none and settling none. */
static size_t moves_of(struct rep_rig *g, const char *name)
{
    size_t moves = 0;
    while (rep_rig_calls(g, "apply") > 0) {
        struct call c = rep_rig_take_call(g, "apply");
        SCOPED_ARENA(a);
        ProtobufCAllocator allocator = arena_protobuf(&a);
        const Board__ApplyRequest *request =
            board__apply_request__unpack(&allocator, c.body.size, c.body.data);
        for (size_t i = 0; i < request->n_moves; i++) {
            moves += strcmp(request->moves[i]->move, name) == 0;
        }
    }
    return moves;
}

enum { MANY = 3000 };

static struct container_status *many(struct rep_rig *g)
{
    struct container_status *list = ARENA_ARRAY(&g->arena, MANY, struct container_status);
    for (int i = 0; i < MANY; i++) {
        const char *guid = arena_printf(&g->arena, "i-%06d", i);
        list[i] = rep_rig_status(g, guid, guid, CONTAINER_RUNNING);
    }
    return list;
}

/* EFFECTS_MAX is asserted where effects are made. */
static void thousands_are_adopted_in_bounded_steps(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, many(&g), MANY);
    rep_rig_advance(&g, 1);
    assert_in_range(g.logs, 1, EFFECTS_MAX / 2);
    /* What is left out of the log is counted in it. */
    size_t told = rep_rig_said(&g, "container runs");
    assert_int_equal(rep_rig_said(&g, "container changes left out"), 1);
    assert_non_null(strstr(buf_string(&g.said), arena_printf(&g.arena, "left out count=%zu\n",
                                                             MANY - told)));
    /* The first calls are full; what comes after them waits for their answers. */
    assert_int_equal(moves_of(&g, "start"), 4 * 256);
    drive_event(&g.d, (struct event){.kind = EVENT_STOP, .stop = STOP_AT_ONCE});
    assert_true(g.exited);
}

/* No event reported it: the machine was out of processes, or the driver of descriptors. */
static void all_of_a_full_cell_ends_unseen(void **state)
{
    for (int exited = 0; exited < 2; exited++) {
        SCOPED_REP_RIG(g);
        struct container_status *list =
            ARENA_ARRAY(&g.arena, DRIVER_CONTAINERS_MAX, struct container_status);
        for (int i = 0; i < DRIVER_CONTAINERS_MAX; i++) {
            const char *guid = arena_printf(&g.arena, "i-%06d", i);
            list[i] = rep_rig_status(&g, guid, guid, CONTAINER_RUNNING);
        }
        rep_rig_open(&g, list, DRIVER_CONTAINERS_MAX);
        rep_rig_advance(&g, 31000);
        for (int i = 0; i < DRIVER_CONTAINERS_MAX; i++) {
            list[i].state = CONTAINER_EXITED;
        }
        g.logs = 0;
        rep_rig_answer_list(&g, list, exited ? DRIVER_CONTAINERS_MAX : 0);
        assert_in_range(rep_rig_said(&g, "an end that no event had reported"), 1, EFFECTS_MAX / 4);
        assert_in_range(g.logs, 1, EFFECTS_MAX / 2);
    }
}

static void thousands_of_unreadable_notes_are_removed_in_turns(void **state)
{
    SCOPED_REP_RIG(g);
    struct container_status *list = many(&g);
    for (int i = 0; i < MANY; i++) {
        list[i].note.size = 1;
    }
    rep_rig_start(&g);
    rep_rig_answer_incarnation(&g);
    rep_rig_feed_open(&g);
    rep_rig_answer_list(&g, list, MANY);
    size_t removed = rep_rig_verbs(&g, VERB_REMOVE);
    assert_in_range(removed, 1, MANY - 1);
    g.verb_count = 0;
    rep_rig_advance(&g, 1500); /* the rest is not waited for: listed again at once */
    rep_rig_answer_list(&g, list + removed, MANY - removed);
    assert_true(rep_rig_verbs(&g, VERB_REMOVE) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_runs_is_adopted_and_not_touched),
        cmocka_unit_test(nothing_is_missing_before_adoption_ended),
        cmocka_unit_test(what_ended_meanwhile_is_a_crash),
        cmocka_unit_test(what_ended_with_its_machine_is_a_crash),
        cmocka_unit_test(what_was_prepared_in_another_boot_is_no_crash),
        cmocka_unit_test(what_ended_after_its_stop_was_asked_is_none),
        cmocka_unit_test(what_never_started_is_removed),
        cmocka_unit_test(what_is_starting_is_waited_for),
        cmocka_unit_test(what_starts_for_ever_is_given_up),
        cmocka_unit_test(what_starts_for_ever_can_be_stopped),
        cmocka_unit_test(an_unreadable_note_is_removed),
        cmocka_unit_test(an_uncertain_start_that_happened),
        cmocka_unit_test(an_uncertain_start_that_did_not),
        cmocka_unit_test(an_uncertain_prepare_is_done_again),
        cmocka_unit_test(an_older_listing_does_not_judge),
        cmocka_unit_test(an_older_listing_misses_nothing),
        cmocka_unit_test(an_older_listing_brings_nothing_back),
        cmocka_unit_test(nothing_is_decided_before_the_first_snapshot),
        cmocka_unit_test(an_end_nobody_told_of_is_listed),
        cmocka_unit_test(a_container_that_vanished_is_a_crash),
        cmocka_unit_test(thousands_are_adopted_in_bounded_steps),
        cmocka_unit_test(thousands_of_unreadable_notes_are_removed_in_turns),
        cmocka_unit_test(all_of_a_full_cell_ends_unseen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
