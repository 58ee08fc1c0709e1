/* Tasks at running bbs on a real etcd: a client's whole way (behaviour.md 4), and a rep's moves. */
#include "board.pb-c.h"
#include "common/model/moves.h"
#include "models/task_requests.pb-c.h"
#include "test/api/bbs_rig.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <string.h>

static struct bbs_process *const bbs = bbs_rig.bbs;

static int32_t desire_task(int port, const char *guid, const char *domain, struct buf *answer)
{
    SCOPED_ARENA(a);
    assert_int_equal(bbs_post(port, "/v1/tasks/desire.r2",
                              &bbs_desire_task_of(&a, guid, domain)->base, answer), 200);
    return bbs_error_of(answer);
}

/* All the lifecycle's requests begin with the guid, and a cell or a reason. */
static int32_t task_request(int port, const char *name, const char *guid, const char *second,
                            struct buf *answer)
{
    char path[64];
    Models__FailTaskRequest r = MODELS__FAIL_TASK_REQUEST__INIT;
    snprintf(path, sizeof(path), "/v1/tasks/%s", name);
    r.task_guid = (char *)(uintptr_t)guid;
    r.failure_reason = (char *)(uintptr_t)second;
    assert_int_equal(bbs_post(port, path, &r.base, answer), 200);
    return bbs_error_of(answer);
}

static const Models__Task *task_of(struct arena *a, int port, const char *guid)
{
    Models__TaskByGuidRequest r = MODELS__TASK_BY_GUID_REQUEST__INIT;
    SCOPED_BUF(answer);
    r.task_guid = (char *)(uintptr_t)guid;
    assert_int_equal(bbs_post(port, "/v1/tasks/get_by_task_guid.r3", &r.base, &answer), 200);
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Models__TaskResponse *got =
        models__task_response__unpack(&allocator, answer.size, answer.data);
    assert_non_null(got);
    assert_int_equal(got->error ? (int32_t)got->error->type : -1,
                     got->task ? -1 : (int32_t)MODELS__ERROR__TYPE__ResourceNotFound);
    return got->task;
}

static size_t count_tasks(int port, const char *domain, const char *cell_id)
{
    Models__TasksRequest r = MODELS__TASKS_REQUEST__INIT;
    SCOPED_BUF(answer);
    r.domain = (char *)(uintptr_t)domain;
    r.cell_id = (char *)(uintptr_t)cell_id;
    assert_int_equal(bbs_post(port, "/v1/tasks/list.r3", &r.base, &answer), 200);
    Models__TasksResponse *got = models__tasks_response__unpack(NULL, answer.size, answer.data);
    assert_non_null(got);
    size_t count = got->n_tasks;
    models__tasks_response__free_unpacked(got, NULL);
    return count;
}

/* A client's whole way, each step at the other bbs. */
static void tasks_of_clients(void **state)
{
    struct arena arena, *a = &arena;
    SCOPED_BUF(answer);
    int one = bbs[0].port, other = bbs[1].port;
    arena_init(a);
    assert_null(task_of(a, one, "t1"));
    assert_int_equal(desire_task(one, "t/1", "d", &answer), MODELS__ERROR__TYPE__InvalidRequest);
    assert_int_equal(desire_task(one, "t1", "d", &answer), -1);
    assert_int_equal(answer.size, 0);
    assert_int_equal(desire_task(other, "t1", "e", &answer), MODELS__ERROR__TYPE__ResourceExists);
    assert_int_equal(desire_task(other, "t2", "e", &answer), -1);
    const Models__Task *t = task_of(a, other, "t1");
    assert_int_equal(t->state, MODELS__TASK__STATE__Pending);
    assert_true(t->created_at > 0 && t->created_at == t->updated_at);
    assert_string_equal(t->task_definition->action->run_action->path, "/bin/true");

    assert_int_equal(task_request(other, "start", "t1", "c1", &answer), -1);
    assert_int_equal(answer.size, 2);
    assert_memory_equal(answer.data, "\x10\x01", 2); /* should_start */
    assert_int_equal(task_request(one, "start", "t1", "c1", &answer), -1);
    assert_int_equal(answer.size, 0);
    assert_int_equal(task_request(one, "start", "t1", "c2", &answer),
                     MODELS__ERROR__TYPE__InvalidStateTransition);
    assert_non_null(memmem(answer.data, answer.size, "Cannot transition from Running to Running",
                           41));
    assert_int_equal(count_tasks(other, "", ""), 2);
    assert_int_equal(count_tasks(one, "e", ""), 1);
    assert_int_equal(count_tasks(one, "", "c1"), 1);
    assert_int_equal(count_tasks(one, "e", "c1"), 0);

    assert_int_equal(task_request(other, "complete", "t1", "c2", &answer),
                     MODELS__ERROR__TYPE__RunningOnDifferentCell);
    assert_non_null(memmem(answer.data, answer.size, "Running on cell c1 not c2", 25));
    assert_int_equal(task_request(one, "complete", "t1", "c1", &answer), -1);
    assert_int_equal(task_request(one, "cancel", "t1", "", &answer),
                     MODELS__ERROR__TYPE__InvalidStateTransition);
    t = task_of(a, other, "t1");
    assert_int_equal(t->state, MODELS__TASK__STATE__Completed);
    assert_false(t->failed);
    assert_string_equal(t->cell_id, "");
    assert_int_equal(t->first_completed_at, t->updated_at);
    assert_int_equal(task_request(one, "delete", "t1", "", &answer),
                     MODELS__ERROR__TYPE__InvalidStateTransition);
    assert_int_equal(task_request(other, "resolving", "t1", "", &answer), -1);
    assert_int_equal(task_request(one, "delete", "t1", "", &answer), -1);
    assert_null(task_of(a, other, "t1"));
    assert_int_equal(task_request(one, "delete", "t1", "", &answer),
                     MODELS__ERROR__TYPE__ResourceNotFound);

    assert_int_equal(task_request(one, "reject", "t2", "", &answer),
                     MODELS__ERROR__TYPE__InvalidRequest);
    for (int i = 0; i < 4; i++) { /* with three retries the fourth fails it */
        assert_int_equal(task_of(a, one, "t2")->rejection_count, i);
        assert_int_equal(task_request(i % 2 ? one : other, "reject", "t2", "full", &answer), -1);
    }
    t = task_of(a, other, "t2");
    assert_int_equal(t->state, MODELS__TASK__STATE__Completed);
    assert_true(t->failed);
    assert_string_equal(t->failure_reason, "full");
    assert_int_equal(desire_task(one, "t3", "d", &answer), -1);
    assert_int_equal(task_request(one, "fail", "t3", "because", &answer), -1);
    assert_string_equal(task_of(a, other, "t3")->failure_reason, "because");
    assert_int_equal(desire_task(one, "t4", "d", &answer), -1);
    assert_int_equal(task_request(one, "cancel", "t4", "", &answer), -1);
    assert_string_equal(task_of(a, other, "t4")->failure_reason, "task was cancelled");
    arena_done(a);
}

/* One move of cell-1 in incarnation 3; the result. */
static const Board__MoveResult *apply_task(struct arena *a, const char *move, const char *attempt,
                                          const char *result)
{
    Board__Move *m = move_new_task(a, move, "t5"), *moves[] = {m};
    Board__ApplyRequest r = BOARD__APPLY_REQUEST__INIT;
    SCOPED_BUF(answer);
    m->incarnation = 3;
    m->task->cell_id = arena_strdup(a, "cell-1");
    m->task->attempt = arena_strdup(a, attempt);
    m->task->result = arena_strdup(a, result);
    m->task->error_message = arena_strdup(a, strcmp(move, "reject") == 0 ? "no runtime" : "");
    r.moves = moves;
    r.n_moves = 1;
    bbs_post_as(&bbs_rig.rep, "/v1/board/apply", &r.base, &answer);
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Board__ApplyResponse *got =
        board__apply_response__unpack(&allocator, answer.size, answer.data);
    assert_non_null(got);
    assert_int_equal(got->n_results, 1);
    return got->results[0];
}

/* The same attempt gets the same answer, any other is refused. */
static void tasks_of_a_rep(void **state)
{
    static const struct {
        const char *move, *attempt, *result;
        Board__MoveResult__Outcome outcome;
        Models__Task__State state; /* as the answer shows it; Invalid = not shown */
    } rows[] = {
        {"start", "", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Invalid},
        {"cancel", "", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Invalid},
        {"kick", "A", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Invalid},
        {"claim", "A", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Invalid},
        {"start", "A", "", BOARD__MOVE_RESULT__OUTCOME__DONE, MODELS__TASK__STATE__Running},
        {"start", "A", "", BOARD__MOVE_RESULT__OUTCOME__NOTHING, MODELS__TASK__STATE__Running},
        {"start", "B", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Running},
        {"reject", "B", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Running},
        {"reject", "A", "", BOARD__MOVE_RESULT__OUTCOME__DONE, MODELS__TASK__STATE__Pending},
        {"reject", "A", "", BOARD__MOVE_RESULT__OUTCOME__NOTHING, MODELS__TASK__STATE__Pending},
        {"start", "A", "", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Pending},
        {"start", "B", "", BOARD__MOVE_RESULT__OUTCOME__DONE, MODELS__TASK__STATE__Running},
        {"complete", "A", "r", BOARD__MOVE_RESULT__OUTCOME__REFUSED, MODELS__TASK__STATE__Running},
        {"complete", "B", "r", BOARD__MOVE_RESULT__OUTCOME__DONE, MODELS__TASK__STATE__Completed},
        {"complete", "B", "r", BOARD__MOVE_RESULT__OUTCOME__NOTHING,
         MODELS__TASK__STATE__Completed},
        {"complete", "B", "s", BOARD__MOVE_RESULT__OUTCOME__REFUSED,
         MODELS__TASK__STATE__Completed},
    };
    struct arena arena, *a = &arena;
    SCOPED_BUF(answer);
    arena_init(a);
    assert_int_equal(bbs_open_incarnation(a, "cell-1", 3, &answer), -1);
    assert_int_equal(desire_task(bbs[1].port, "t5", "d", &answer), -1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const Board__MoveResult *got =
            apply_task(a, rows[i].move, rows[i].attempt, rows[i].result);
        assert_int_equal(got->outcome, rows[i].outcome);
        assert_int_equal(got->task ? got->task->state : MODELS__TASK__STATE__Invalid,
                         rows[i].state);
        assert_null(got->record);
    }
    const Models__Task *t = task_of(a, bbs[1].port, "t5");
    assert_string_equal(t->result, "r");
    assert_string_equal(t->attempt, "B");
    assert_int_equal(t->rejection_count, 1);
    arena_done(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_of_clients),
        cmocka_unit_test(tasks_of_a_rep),
    };
    return BBS_RIG_RUN("bbs_tasks", tests);
}
