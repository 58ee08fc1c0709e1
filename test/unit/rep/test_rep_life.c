/* The life of an instance on a cell: work, claim, container, start; crash, stop, refusals. */
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"

#include <signal.h>
#include <string.h>

static const char *env_of(const struct container_spec *spec, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < spec->env_count; i++) {
        if (strcmp(spec->env[i].name, name) == 0) {
            assert_null(value); /* no name twice */
            value = spec->env[i].value;
        }
    }
    return value;
}

static void work_becomes_a_running_instance(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    assert_int_equal(rep_rig_work(&g, "web", 100), 0);

    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    assert_string_equal(claim.request->cell_id, RIG_CELL);
    assert_string_equal(claim.request->board_generation, RIG_BOARD_GENERATION);
    assert_string_equal(claim.move->subject->key, "web/0000000000/0");
    assert_string_equal(claim.move->instance->domain, "d");
    assert_string_equal(claim.move->instance->definition_id, RIG_DEFINITION);
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    assert_int_equal(strlen(guid), 28);
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
    rep_rig_move_done(&g, claim, rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL));

    static const uint32_t ports[] = {8080, 9090};
    Models__DesiredLRP *lrp = rep_rig_desired(&g, "web", ports, 2);
    Models__EnvironmentVariable own = MODELS__ENVIRONMENT_VARIABLE__INIT;
    own.name = (char *)"PORT";
    own.value = (char *)"8080";
    Models__EnvironmentVariable *env[] = {&own};
    lrp->n_environment_variables = 1;
    lrp->environment_variables = env;
    rep_rig_answer_desired(&g, lrp);

    struct verb_call prepare = rep_rig_take_verb(&g, VERB_PREPARE);
    assert_string_equal(prepare.guid, guid);
    assert_string_equal(prepare.spec->path, "/bin/httpd");
    assert_int_equal(prepare.spec->cpu_weight, 0); /* as little is said as the LRP says */
    assert_int_equal(prepare.spec->port_count, 2);
    assert_int_equal(prepare.spec->ports[1].host_port, 61001);
    assert_string_equal(env_of(prepare.spec, "INSTANCE_GUID"), guid);
    assert_string_equal(env_of(prepare.spec, "CF_INSTANCE_INDEX"), "0");
    assert_string_equal(env_of(prepare.spec, "PORT"), "61000");
    assert_string_equal(env_of(prepare.spec, "PORT_9090"), "61001");
    rep_rig_verb(&g, prepare, VERB_DONE, "");
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_START), VERB_DONE, "");

    struct rep_rig_move start = rep_rig_take_move(&g, "start");
    assert_string_equal(start.move->instance->actual_lrp_net_info->address, "10.0.0.1");
    assert_int_equal(start.move->instance->actual_lrp_net_info->n_ports, 2);
    assert_int_equal(start.move->instance->actual_lrp_net_info->ports[0]->container_port, 8080);
    assert_int_equal(start.move->instance->actual_lrp_net_info->ports[0]->host_port, 61000);
    assert_true(start.move->instance->routable);
    assert_string_equal(start.move->instance->availability_zone, "z1");
    Models__ActualLRP *running = rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL);
    rep_rig_move_done(&g, start, running);
    rep_rig_feed_put(&g, running);
    rep_rig_advance(&g, 100000); /* three passes: nothing is said twice */
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
}

static void a_lost_claim_drops_the_reservation(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_work(&g, "web", 100);
    rep_rig_move_refused(&g, rep_rig_take_move(&g, "claim"),
                         MODELS__ERROR__TYPE__ActualLRPCannotBeClaimed,
                         rep_rig_record(&g, "web", "CLAIMED", "other", "cell-2"));
    rep_rig_advance(&g, 60000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_int_equal(rep_rig_calls(&g, "desired"), 0);
    assert_int_equal(rep_rig_verbs(&g, VERB_REMOVE), 0); /* nothing was made */
    /* All of the capacity is back. */
    assert_int_equal(rep_rig_work(&g, "big", 1000), 0);
}

/* What a later version made of the record is not known here: it is left alone, and nothing is
 * started on the strength of it. */
static void a_state_of_a_later_version_starts_nothing(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_work(&g, "web", 100);
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(&g, claim, rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL));
    rep_rig_feed_put(&g, rep_rig_record(&g, "web", "PARKED", guid, RIG_CELL));
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "web", NULL, 0));
    rep_rig_advance(&g, 40000);
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    rep_rig_feed_put(&g, rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL));
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "web", NULL, 0));
    rep_rig_take_verb(&g, VERB_PREPARE);
}

static void a_refused_start_stops_the_container(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_work(&g, "web", 100);
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(&g, claim, rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL));
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "web", NULL, 0));
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_START), VERB_DONE, "");
    rep_rig_move_refused(&g, rep_rig_take_move(&g, "start"),
                         MODELS__ERROR__TYPE__ActualLRPCannotBeStarted,
                         rep_rig_record(&g, "web", "RUNNING", "other", "cell-2"));
    struct verb_call term = rep_rig_take_verb(&g, VERB_SIGNAL);
    assert_int_equal(term.signal, SIGTERM);
    rep_rig_verb(&g, term, VERB_DONE, "");
    rep_rig_exited(&g, guid, 143);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    /* The record is another's: not a word about it. */
    rep_rig_advance(&g, 60000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
}

static void a_crash_is_reported_and_the_container_deleted(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_exited(&g, guid, 3);
    struct rep_rig_move crash = rep_rig_take_move(&g, "crash");
    assert_string_equal(crash.move->instance->error_message, "APP/WEB: Exited with status 3");
    assert_int_equal(rep_rig_verbs(&g, VERB_REMOVE), 0);
    Models__ActualLRP *unclaimed = rep_rig_record(&g, "web", "UNCLAIMED", "", "");
    rep_rig_move_done(&g, crash, unclaimed);
    rep_rig_feed_delete(&g, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    rep_rig_advance(&g, 60000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
}

/* Whatever else is told: these lines no limit of the log counts together (log_io.h). */
static void each_start_and_crash_has_a_line_of_its_own(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    const char *runs = arena_printf(&g.arena, "single info container runs instance_guid=%s "
                                              "process_guid=web index=0", guid);
    assert_int_equal(rep_rig_said(&g, runs), 1);
    rep_rig_exited(&g, guid, 3);
    const char *ended = arena_printf(&g.arena, "single info container ended instance_guid=%s "
                                               "process_guid=web index=0", guid);
    assert_int_equal(rep_rig_said(&g, ended), 1);
    assert_int_equal(rep_rig_said(&g, "why=\"APP/WEB: Exited with status 3\""), 1);
}

static void out_of_memory_is_reported(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    drive_event(&g.d, (struct event){.kind = EVENT_CONTAINER,
                                     .container = {.guid = guid,
                                                   .state = CONTAINER_EXITED,
                                                   .exit_signal = SIGKILL,
                                                   .oom_killed = true,
                                                   .text = ""}});
    assert_string_equal(rep_rig_take_move(&g, "crash").move->instance->error_message,
                        "APP/WEB: Exited with status 137 (out of memory)");
}

static void out_of_disk_is_reported(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    drive_event(&g.d, (struct event){.kind = EVENT_CONTAINER,
                                     .container = {.guid = guid,
                                                   .state = CONTAINER_EXITED,
                                                   .exit_code = 1,
                                                   .disk_full = true,
                                                   .text = ""}});
    assert_string_equal(rep_rig_take_move(&g, "crash").move->instance->error_message,
                        "APP/WEB: Exited with status 1 (out of disk)");
}

static void a_crash_told_twice_counts_once(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_exited(&g, guid, 3);
    drive_unanswered(&g.d, rep_rig_take_move(&g, "crash").id, CALL_UNKNOWN);
    rep_rig_advance(&g, 1000);
    /* It had landed: the record is unclaimed by now. */
    rep_rig_move_refused(&g, rep_rig_take_move(&g, "crash"),
                         MODELS__ERROR__TYPE__ActualLRPCannotBeCrashed,
                         rep_rig_record(&g, "web", "UNCLAIMED", "", ""));
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
}

static void stop_terms_kills_removes(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_request(&g, "bbs", "POST",
                    arena_printf(&g.arena, "/v1/lrps/web/instances/%s/stop", guid), "",
                    (struct bytes){0});
    assert_int_equal(rep_rig_take_reply(&g).status, 202);
    struct verb_call term = rep_rig_take_verb(&g, VERB_SIGNAL);
    assert_int_equal(term.signal, SIGTERM);
    rep_rig_verb(&g, term, VERB_DONE, "");
    rep_rig_advance(&g, 9000);
    assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL), 0);
    rep_rig_advance(&g, 1001);
    struct verb_call killed = rep_rig_take_verb(&g, VERB_SIGNAL);
    assert_int_equal(killed.signal, SIGKILL);
    rep_rig_verb(&g, killed, VERB_DONE, "");
    rep_rig_exited(&g, guid, 137);
    rep_rig_move_done(&g, rep_rig_take_move(&g, "remove"), NULL);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    assert_int_equal(rep_rig_calls(&g, "apply"), 0); /* though the feed has not told it yet */
    rep_rig_feed_delete(&g, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    rep_rig_advance(&g, 60000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
}

static void a_stopping_record_stops_the_container(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    Models__ActualLRP *stopping = rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL);
    stopping->stopping = true;
    rep_rig_feed_put(&g, stopping);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_SIGNAL), VERB_DONE, "");
    rep_rig_exited(&g, guid, 0);
    rep_rig_move_done(&g, rep_rig_take_move(&g, "remove"), NULL);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    rep_rig_feed_delete(&g, stopping);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
}

static void stop_of_what_is_not_here(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_request(&g, "bbs", "POST", "/v1/lrps/web/instances/none/stop", "", (struct bytes){0});
    assert_int_equal(rep_rig_take_reply(&g).status, 500);
    /* A record of ours that is to be stopped, and no container: removed. */
    Models__ActualLRP *stopping = rep_rig_record(&g, "web", "RUNNING", "gone", RIG_CELL);
    stopping->stopping = true;
    rep_rig_feed_put(&g, stopping);
    struct rep_rig_move remove = rep_rig_take_move(&g, "remove");
    assert_string_equal(remove.move->instance->actual_lrp_instance_key->instance_guid, "gone");
    rep_rig_move_done(&g, remove, NULL);
    rep_rig_feed_delete(&g, stopping);
    rep_rig_advance(&g, 60000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
}

static void stopped_before_it_runs(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_work(&g, "web", 100);
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    Models__ActualLRP *record = rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL);
    rep_rig_move_done(&g, claim, record);
    record->stopping = true;
    rep_rig_feed_put(&g, record);
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "web", NULL, 0));
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
    rep_rig_move_done(&g, rep_rig_take_move(&g, "remove"), NULL);
    rep_rig_feed_delete(&g, record);
    rep_rig_advance(&g, 60000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_int_equal(rep_rig_work(&g, "big", 1000), 0);
}

/* The stop of a client, while its definition is on its way. */
static void stopped_while_it_is_fetched(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_work(&g, "web", 100);
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(&g, claim, rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL));
    rep_rig_request(&g, "bbs", "POST",
                    arena_printf(&g.arena, "/v1/lrps/web/instances/%s/stop", guid), "",
                    (struct bytes){0});
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "web", NULL, 0));
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
    rep_rig_take_move(&g, "remove");
}

static void a_missing_action_crashes(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_work(&g, "web", 100);
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    rep_rig_move_done(&g, claim,
                      rep_rig_record(&g, "web", "CLAIMED",
                                     claim.move->instance->actual_lrp_instance_key->instance_guid,
                                     RIG_CELL));
    Models__DesiredLRP *lrp = rep_rig_desired(&g, "web", NULL, 0);
    lrp->action->run_action = NULL;
    rep_rig_answer_desired(&g, lrp);
    struct rep_rig_move crash = rep_rig_take_move(&g, "crash");
    assert_string_equal(crash.move->instance->error_message, "the definition has no action");
    rep_rig_move_done(&g, crash, rep_rig_record(&g, "web", "CRASHED", "", ""));
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE) + rep_rig_verbs(&g, VERB_REMOVE), 0);
}

static void another_definition_is_not_started(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_work(&g, "web", 100);
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    Models__ActualLRP *record = rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL);
    rep_rig_move_done(&g, claim, record);
    rep_rig_feed_put(&g, record);
    Models__DesiredLRP *lrp = rep_rig_desired(&g, "web", NULL, 0);
    lrp->modification_tag->epoch = (char *)"definition-2";
    rep_rig_answer_desired(&g, lrp);
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
    /* No container is left, so the record goes back to the auctioneer. */
    struct rep_rig_move unclaim = rep_rig_take_move(&g, "unclaim");
    assert_string_equal(unclaim.move->instance->actual_lrp_instance_key->instance_guid, guid);
    rep_rig_move_done(&g, unclaim, rep_rig_record(&g, "web", "UNCLAIMED", "", ""));
    rep_rig_feed_delete(&g, record);
    rep_rig_advance(&g, 60000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
}

static void what_cannot_be_made_crashes_and_is_removed(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_work(&g, "web", 100);
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    rep_rig_move_done(&g, claim,
                      rep_rig_record(&g, "web", "CLAIMED",
                                     claim.move->instance->actual_lrp_instance_key->instance_guid,
                                     RIG_CELL));
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "web", NULL, 0));
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_START), VERB_FAILED, "no such file: /bin/httpd");
    struct rep_rig_move crash = rep_rig_take_move(&g, "crash");
    assert_string_equal(crash.move->instance->error_message,
                        "failed to start container: no such file: /bin/httpd");
    rep_rig_move_done(&g, crash, rep_rig_record(&g, "web", "CRASHED", "", ""));
    struct verb_call removal = rep_rig_take_verb(&g, VERB_REMOVE);
    rep_rig_verb(&g, removal, VERB_FAILED, "busy");
    rep_rig_advance(&g, 200);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_becomes_a_running_instance),
        cmocka_unit_test(a_lost_claim_drops_the_reservation),
        cmocka_unit_test(a_state_of_a_later_version_starts_nothing),
        cmocka_unit_test(a_refused_start_stops_the_container),
        cmocka_unit_test(a_crash_is_reported_and_the_container_deleted),
        cmocka_unit_test(each_start_and_crash_has_a_line_of_its_own),
        cmocka_unit_test(out_of_memory_is_reported),
        cmocka_unit_test(out_of_disk_is_reported),
        cmocka_unit_test(a_crash_told_twice_counts_once),
        cmocka_unit_test(stop_terms_kills_removes),
        cmocka_unit_test(a_stopping_record_stops_the_container),
        cmocka_unit_test(stop_of_what_is_not_here),
        cmocka_unit_test(stopped_before_it_runs),
        cmocka_unit_test(stopped_while_it_is_fetched),
        cmocka_unit_test(a_missing_action_crashes),
        cmocka_unit_test(another_definition_is_not_started),
        cmocka_unit_test(what_cannot_be_made_crashes_and_is_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
