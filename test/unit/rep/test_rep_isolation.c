/* What a rep lets be made: privileged ones where that is allowed; each of the others with a range
 * of user ids of its own. */
#include "common/contract/driver.h"
#include "rep/container/note.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"

#include <string.h>

enum { FIRST = 1000000000 };

static void open_rig(struct rep_rig *g, unsigned ranges, const struct container_status *list,
                     size_t count)
{
    g->config.ids_first = FIRST;
    g->config.ids_count = ranges * CONTAINER_IDS;
    rep_rig_open(g, list, count);
}

/* Up to the answer about its definition. */
static void begin(struct rep_rig *g, const char *process_guid, bool privileged)
{
    assert_int_equal(rep_rig_work(g, process_guid, 10), 0);
    struct rep_rig_move claim = rep_rig_take_move(g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(g, claim,
                      rep_rig_record(g, process_guid, "CLAIMED", guid, RIG_CELL));
    Models__DesiredLRP *lrp = rep_rig_desired(g, process_guid, NULL, 0);
    lrp->privileged = privileged;
    rep_rig_answer_desired(g, lrp);
}

/* The range that it is made with, and that its note tells. */
static uint32_t ids_of(struct verb_call call)
{
    Rep__Note *note;
    assert_int_equal(note_read(call.note, call.guid, &note, NULL), 0);
    assert_int_equal(note->ids_first, call.spec->ids_first);
    rep__note__free_unpacked(note, NULL);
    return call.spec->ids_first;
}

static void each_has_a_range(void **state)
{
    SCOPED_REP_RIG(g);
    open_rig(&g, 2, NULL, 0);
    begin(&g, "web", false);
    assert_int_equal(ids_of(rep_rig_take_verb(&g, VERB_PREPARE)), FIRST);
    begin(&g, "db", false);
    assert_int_equal(ids_of(rep_rig_take_verb(&g, VERB_PREPARE)), FIRST + CONTAINER_IDS);
    begin(&g, "more", false);
    assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
    struct rep_rig_move crash = rep_rig_take_move(&g, "crash");
    assert_non_null(strstr(crash.move->instance->error_message, "no range of ids is free"));
}

static void a_range_is_free_when_nothing_is_left_of_its_container(void **state)
{
    SCOPED_REP_RIG(g);
    open_rig(&g, 1, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_exited(&g, guid, 3);
    Models__ActualLRP *unclaimed = rep_rig_record(&g, "web", "UNCLAIMED", "", "");
    rep_rig_move_done(&g, rep_rig_take_move(&g, "crash"), unclaimed);
    rep_rig_feed_put(&g, unclaimed);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    begin(&g, "db", false);
    assert_int_equal(ids_of(rep_rig_take_verb(&g, VERB_PREPARE)), FIRST);
}

static void a_privileged_one_needs_leave(void **state)
{
    for (int allowed = 0; allowed < 2; allowed++) {
        SCOPED_REP_RIG(g);
        g.config.privileged = allowed;
        open_rig(&g, 2, NULL, 0);
        begin(&g, "web", true);
        if (allowed) {
            struct verb_call call = rep_rig_take_verb(&g, VERB_PREPARE);
            assert_true(call.spec->privileged);
            assert_int_equal(ids_of(call), 0);
        } else {
            struct rep_rig_move crash = rep_rig_take_move(&g, "crash");
            assert_non_null(strstr(crash.move->instance->error_message,
                                   "privileged containers are not allowed on this cell"));
            assert_int_equal(rep_rig_verbs(&g, VERB_PREPARE), 0);
        }
    }
}

static void an_adopted_one_keeps_its_range(void **state)
{
    SCOPED_REP_RIG(g);
    struct container_status s = rep_rig_status(&g, "guid-old", "old", CONTAINER_RUNNING);
    Rep__Note *note;
    assert_int_equal(note_read(s.note, "guid-old", &note, NULL), 0);
    note->ids_first = FIRST;
    s.note = note_pack(&g.arena, note);
    rep__note__free_unpacked(note, NULL);
    open_rig(&g, 2, &s, 1);
    rep_rig_move_done(&g, rep_rig_take_move(&g, "start"),
                      rep_rig_record(&g, "old", "RUNNING", "guid-old", RIG_CELL));
    begin(&g, "web", false);
    assert_int_equal(ids_of(rep_rig_take_verb(&g, VERB_PREPARE)), FIRST + CONTAINER_IDS);
}

/* How many came back. */
static size_t offered(struct rep_rig *g, const char *driver)
{
    SCOPED_BUF(body);
    buf_printf(&body, "{\"LRPs\":[{\"process_guid\":\"web\",\"index\":0,\"domain\":\"d\","
               "\"VolumeDrivers\":[\"tmpfs\",\"%s\"],\"RootFs\":\"preloaded:busybox\","
               "\"MemoryMB\":1,\"DiskMB\":1}]}", driver);
    rep_rig_request(g, "auctioneer", "POST", "/work", "application/json", buf_bytes(&body));
    struct reply reply = rep_rig_take_reply(g);
    assert_int_equal(reply.status, 200);
    return strstr((const char *)reply.body.data, "web") ? 1 : 0;
}

static void work_needs_its_volume_drivers(void **state)
{
    static const char *const drivers[] = {"bind", "tmpfs", NULL};
    SCOPED_REP_RIG(g);
    g.config.volume_drivers = drivers;
    open_rig(&g, 2, NULL, 0);
    assert_int_equal(offered(&g, "nfs"), 1);
    assert_int_equal(offered(&g, "bind"), 0);
}

/* In JSON, which rep state reads, as well. */
static void state_tells_the_isolation(void **state)
{
    static const char *const drivers[] = {"tmpfs", NULL};
    SCOPED_REP_RIG(g);
    g.config.isolation = "user namespaces; no seccomp: why";
    g.config.volume_drivers = drivers;
    open_rig(&g, 2, NULL, 0);
    rep_rig_request(&g, "auctioneer", "GET", "/state", "", (struct bytes){0});
    struct reply reply = rep_rig_take_reply(&g);
    const char *text = arena_strndup(&g.arena, (const char *)reply.body.data, reply.body.size);
    assert_non_null(strstr(text, "\"Isolation\":\"user namespaces; no seccomp: why\""));
    assert_non_null(strstr(text, "\"VolumeDrivers\":[\"tmpfs\"]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_a_range),
        cmocka_unit_test(a_range_is_free_when_nothing_is_left_of_its_container),
        cmocka_unit_test(a_privileged_one_needs_leave),
        cmocka_unit_test(an_adopted_one_keeps_its_range),
        cmocka_unit_test(work_needs_its_volume_drivers),
        cmocka_unit_test(state_tells_the_isolation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
