/* A task's offer and attempt: work names the offer, a start repeats it, a cancel names the attempt,
 * so that no message that comes late is about another life of the task (docs/tasks.md, Once). */
#include "test/tool/cmocka.h"
#include "test/unit/rep/rep_rig.h"

#include <stdio.h>

enum { CREATED = 5000 };

/* POST /work for this offer of t-1; true if it was taken. */
static bool offer(struct rep_rig *g, int64_t created_at, int32_t rejections)
{
    Cell__Task task = CELL__TASK__INIT;
    Cell__Task *tasks[] = {&task};
    Cell__Work work = CELL__WORK__INIT;
    SCOPED_BUF(body);
    task.taskguid = (char *)"t-1";
    task.domain = (char *)"d";
    task.rootfs = (char *)"preloaded:busybox";
    task.memorymb = 100;
    task.diskmb = 10;
    task.created_at = created_at;
    task.rejections = rejections;
    work.n_tasks = 1;
    work.tasks = tasks;
    buf_message(&body, &work.base);
    rep_rig_request(g, "auctioneer", "POST", "/work", "application/x-protobuf", buf_bytes(&body));
    struct reply reply = rep_rig_take_reply(g);
    assert_int_equal(reply.status, 200);
    Cell__Work *rest = cell__work__unpack(NULL, reply.body.size, reply.body.data);
    bool taken = rest->n_tasks == 0;
    cell__work__free_unpacked(rest, NULL);
    return taken;
}

static bool names_rejections(const Board__Move *m)
{
    return m->task->optional_rejections_case ==
           BOARD__TASK_MOVE__OPTIONAL_REJECTIONS_REJECTIONS;
}

static void open_rig(struct rep_rig *g)
{
    rep_rig_init(g);
    rep_rig_open(g, NULL, 0);
}

static void a_start_repeats_the_offer(void **state)
{
    struct rep_rig g;
    open_rig(&g);
    assert_true(offer(&g, CREATED, 2));
    for (int i = 0; i < 2; i++) { /* the first is not answered */
        struct rep_rig_move start = rep_rig_take_move(&g, "start");
        assert_int_equal(start.move->task->created_at, CREATED);
        assert_true(names_rejections(start.move));
        assert_int_equal(start.move->task->rejections, 2);
        drive_event(&g.d, (struct event){.kind = EVENT_RESPONSE,
                                         .response = {.id = start.id,
                                                      .outcome = CALL_UNKNOWN,
                                                      .text = "no answer"}});
        rep_rig_advance(&g, 2000);
    }
    rep_rig_done(&g);
}

/* An auctioneer of an older version, or somebody else's, tells no offer: nothing is checked. */
static void without_an_offer_none_is_reported(void **state)
{
    struct rep_rig g;
    open_rig(&g);
    assert_true(offer(&g, 0, 0));
    struct rep_rig_move start = rep_rig_take_move(&g, "start");
    assert_int_equal(start.move->task->created_at, 0);
    assert_false(names_rejections(start.move));
    rep_rig_done(&g);
}

/* The same offer again is here already; another one is returned, whichever of the two is over. */
static void another_offer_is_returned(void **state)
{
    static const struct {
        int64_t created_at;
        int32_t rejections;
        bool taken;
    } rows[] = {
        {CREATED, 2, true},      {CREATED, 1, false}, {CREATED, 3, false},
        {CREATED + 1, 0, false}, {1, 2, false},       {0, 0, true},
    };
    struct rep_rig g;
    open_rig(&g);
    assert_true(offer(&g, CREATED, 2));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(offer(&g, rows[i].created_at, rows[i].rejections), rows[i].taken);
    }
    assert_int_equal(rep_rig_calls(&g, "apply"), 1); /* reserved once */
    rep_rig_done(&g);
}

static int cancel(struct rep_rig *g, const char *query)
{
    drive_event(&g->d, (struct event){.kind = EVENT_REQUEST,
                                      .request = {.id = ++g->request_id,
                                                  .method = "POST",
                                                  .path = "/v1/tasks/t-1/cancel",
                                                  .query = query,
                                                  .trace_id = "",
                                                  .accept = "",
                                                  .content_type = "",
                                                  .if_none_match = "",
                                                  .peer = {.unit = "bbs", .name = ""}}});
    return rep_rig_take_reply(g).status;
}

/* Late, it is about the task that had the guid before. */
static void a_cancel_is_for_its_attempt(void **state)
{
    char query[100];
    for (int i = 0; i < 3; i++) {
        struct rep_rig g;
        open_rig(&g);
        assert_true(offer(&g, CREATED, 0));
        struct rep_rig_move start = rep_rig_take_move(&g, "start");
        Models__Task *task = rep_rig_task(&g, "t-1", MODELS__TASK__STATE__Running, RIG_CELL,
                                          start.move->task->attempt);
        task->created_at = CREATED;
        rep_rig_task_answer(&g, start, MODELS__ERROR__TYPE__UnknownError, task);
        rep_rig_task_put(&g, task);
        assert_int_equal(cancel(&g, "attempt=another"), 202);
        assert_int_equal(cancel(&g, "attempt=anoth%65r"), 202);
        rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_DONE, "");
        assert_int_equal(rep_rig_verbs(&g, VERB_NOTE), 1); /* it goes on */
        snprintf(query, sizeof(query), "attempt=%s", i == 0 ? start.move->task->attempt : "");
        assert_int_equal(cancel(&g, i < 2 ? query : ""), 202);
        rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_NOTE), VERB_DONE, "");
        assert_int_equal(rep_rig_verbs(&g, VERB_START), 0);
        rep_rig_take_verb(&g, VERB_REMOVE);
        rep_rig_done(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_repeats_the_offer),
        cmocka_unit_test(without_an_offer_none_is_reported),
        cmocka_unit_test(another_offer_is_returned),
        cmocka_unit_test(a_cancel_is_for_its_attempt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
