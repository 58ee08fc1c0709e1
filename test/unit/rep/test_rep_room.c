/* What a container whose process is gone still holds: its disk and its slot until nothing of it is
 * left, its memory not. What is reserved never exceeds the capacity (S7), even if removals hang. */
#include "rep/http/cell_state.h"
#include "rep/inside.h"
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"

#include <string.h>

static struct resources left(const struct rep_rig *g)
{
    const struct rep *r = (const struct rep *)g->role;
    struct resources reserved = r->capacity.reserved, total = r->capacity.total;
    assert_true(reserved.memory_mb <= total.memory_mb && reserved.disk_mb <= total.disk_mb &&
                reserved.containers <= total.containers);
    return capacity_left(&r->capacity);
}

static void assert_left(const struct rep_rig *g, int64_t memory_mb, int64_t disk_mb,
                        int64_t containers)
{
    struct resources l = left(g);
    if (l.memory_mb != memory_mb || l.disk_mb != disk_mb || l.containers != containers) {
        fail_msg("%d MB memory, %d MB disk, %d containers are left", (int)l.memory_mb,
                 (int)l.disk_mb, (int)l.containers);
    }
}

/* POST /work for one of the whole cell's memory; true if it was taken. */
static bool take(struct rep_rig *g, const char *process_guid, int32_t disk_mb)
{
    Cell__LRP lrp = CELL__LRP__INIT, *lrps[] = {&lrp};
    Cell__Work work = CELL__WORK__INIT;
    SCOPED_BUF(body);
    lrp.process_guid = (char *)(uintptr_t)process_guid;
    lrp.domain = (char *)"d";
    lrp.rootfs = (char *)"preloaded:busybox";
    lrp.definition_id = (char *)RIG_DEFINITION;
    lrp.memorymb = 1000;
    lrp.diskmb = disk_mb;
    work.n_lrps = 1;
    work.lrps = lrps;
    buf_message(&body, &work.base);
    rep_rig_request(g, "auctioneer", "POST", "/work", "application/x-protobuf", buf_bytes(&body));
    struct reply reply = rep_rig_take_reply(g);
    assert_int_equal(reply.status, 200);
    Cell__Work *rest = cell__work__unpack(NULL, reply.body.size, reply.body.data);
    bool taken = rest->n_lrps == 0;
    cell__work__free_unpacked(rest, NULL);
    return taken;
}

/* Claimed, made and started; gives its guid. */
static const char *run(struct rep_rig *g, const char *process_guid)
{
    struct rep_rig_move claim = rep_rig_take_move(g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    Models__ActualLRP *claimed = rep_rig_record(g, process_guid, "CLAIMED", guid, RIG_CELL);
    rep_rig_move_done(g, claim, claimed);
    rep_rig_feed_put(g, claimed);
    rep_rig_answer_desired(g, rep_rig_desired(g, process_guid, NULL, 0));
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_PREPARE), VERB_DONE, "");
    rep_rig_verb(g, rep_rig_take_verb(g, VERB_START), VERB_DONE, "");
    Models__ActualLRP *running = rep_rig_record(g, process_guid, "RUNNING", guid, RIG_CELL);
    rep_rig_move_done(g, rep_rig_take_move(g, "start"), running);
    rep_rig_feed_put(g, running);
    return guid;
}

/* Its process ends, and the board knows. Gives the removal, which is under way. */
static struct verb_call crash(struct rep_rig *g, const char *process_guid, const char *guid)
{
    rep_rig_exited(g, guid, 3);
    Models__ActualLRP *unclaimed = rep_rig_record(g, process_guid, "UNCLAIMED", "", "");
    rep_rig_move_done(g, rep_rig_take_move(g, "crash"), unclaimed);
    rep_rig_feed_put(g, unclaimed);
    return rep_rig_take_verb(g, VERB_REMOVE);
}

static void memory_is_free_when_the_process_is_gone(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    assert_true(take(&g, "web", 300));
    const char *guid = run(&g, "web");
    assert_left(&g, 0, 700, 3);
    assert_false(take(&g, "web", 300));
    struct verb_call removal = crash(&g, "web", guid);
    assert_left(&g, 1000, 700, 3);
    assert_true(take(&g, "web", 300)); /* while the removal is still under way */
    assert_left(&g, 0, 400, 2);
    rep_rig_verb(&g, removal, VERB_DONE, "");
    assert_left(&g, 0, 700, 3);
    run(&g, "web");
}

/* Each that follows leaves its disk and its slot behind: there is an end to it, and no more is
 * reserved than there is. */
static void removals_that_hang_use_up_disk_and_slots(void **state)
{
    static const struct {
        int32_t disk_mb;
        int taken;
    } rows[] = {{300, 3}, {0, 4}};
    for (size_t i = 0; i < 2; i++) {
        SCOPED_REP_RIG(g);
        int taken = 0;
        rep_rig_open(&g, NULL, 0);
        for (; take(&g, "web", rows[i].disk_mb); taken++) {
            assert_true(taken < 10);
            assert_left(&g, 0, 1000 - (taken + 1) * rows[i].disk_mb, 4 - (taken + 1));
            crash(&g, "web", run(&g, "web")); /* its removal never ends */
        }
        assert_int_equal(taken, rows[i].taken);
        assert_left(&g, 1000, 1000 - taken * rows[i].disk_mb, 4 - taken);
    }
}

/* Whether it runs after all nobody can tell: its memory is not free. */
static void an_unanswered_start_keeps_its_memory(void **state)
{
    SCOPED_REP_RIG(g);
    struct container_status starting = rep_rig_status(&g, "ig-1", "web", CONTAINER_STARTING);
    rep_rig_open(&g, &starting, 1);
    struct resources before = left(&g);
    const struct rep *r = (const struct rep *)g.role;
    const struct container *c = container_find(&r->containers, "ig-1");
    for (int i = 0; c->phase == PHASE_CREATED; i++) {
        assert_true(i < 60);
        rep_rig_advance(&g, 1000);
        if (rep_rig_verbs(&g, VERB_LIST)) {
            rep_rig_answer_list(&g, &starting, 1);
        }
    }
    assert_int_equal(c->phase, PHASE_COMPLETED);
    assert_left(&g, before.memory_mb, before.disk_mb, before.containers);
}

/* A restarted rep finds it over: only its disk and its slot are set aside. */
static void what_is_adopted_over_holds_no_memory(void **state)
{
    SCOPED_REP_RIG(g);
    struct container_status list[] = {
        rep_rig_status(&g, "ig-1", "web", CONTAINER_EXITED),
        rep_rig_status(&g, "ig-2", "db", CONTAINER_RUNNING),
    };
    rep_rig_open(&g, list, 2);
    const struct rep *r = (const struct rep *)g.role;
    const Rep__Note *about = container_find(&r->containers, "ig-2")->about;
    assert_true(about->memory_mb > 0);
    assert_left(&g, 1000 - about->memory_mb, 1000 - 2 * about->disk_mb, 2);
}

/* A task that is over, and a start that failed. */
static void so_do_tasks_and_what_never_ran(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    assert_true(take(&g, "web", 300));
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    Models__ActualLRP *claimed = rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL);
    rep_rig_move_done(&g, claim, claimed);
    rep_rig_feed_put(&g, claimed);
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "web", NULL, 0));
    assert_left(&g, 0, 700, 3);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_FAILED, "no space");
    assert_left(&g, 1000, 700, 3);
    assert_true(rep_rig_task_work(&g, "t-1", 1000));
}

static const Cell__Resources *being_freed(struct rep_rig *g)
{
    return cell_state_make((const struct rep *)g->role, &g->arena)->beingfreed;
}

static bool json_tells_of_it(struct rep_rig *g)
{
    rep_rig_request(g, "somebody", "GET", "/state", "", (struct bytes){0});
    struct reply r = rep_rig_take_reply(g);
    const char *text = arena_strndup(&g->arena, (const char *)r.body.data, r.body.size);
    return strstr(text, "BeingFreed") != NULL;
}

/* From the end of its process until nothing is left; the state's tag changes with it. */
static void what_is_being_freed_is_reported(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    assert_true(take(&g, "web", 300));
    const char *guid = run(&g, "web");
    assert_null(being_freed(&g));
    assert_false(json_tells_of_it(&g));
    const char *before = cell_state_tag((const struct rep *)g.role, &g.arena, true);
    struct verb_call removal = crash(&g, "web", guid);
    const Cell__Resources *told = being_freed(&g);
    assert_non_null(told);
    assert_int_equal(told->memorymb, 0); /* it is free already */
    assert_int_equal(told->diskmb, 300);
    assert_int_equal(told->containers, 1);
    assert_true(json_tells_of_it(&g));
    const char *during = cell_state_tag((const struct rep *)g.role, &g.arena, true);
    assert_string_not_equal(before, during);
    rep_rig_verb(&g, removal, VERB_DONE, "");
    assert_null(being_freed(&g));
    assert_string_not_equal(during, cell_state_tag((const struct rep *)g.role, &g.arena, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_free_when_the_process_is_gone),
        cmocka_unit_test(removals_that_hang_use_up_disk_and_slots),
        cmocka_unit_test(an_unanswered_start_keeps_its_memory),
        cmocka_unit_test(what_is_adopted_over_holds_no_memory),
        cmocka_unit_test(what_is_being_freed_is_reported),
        cmocka_unit_test(so_do_tasks_and_what_never_ran),
    };
    return cmocka_run_group_tests_name("rep: room", tests, NULL, NULL);
}
