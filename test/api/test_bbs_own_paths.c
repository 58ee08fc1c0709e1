/* Our own paths of a running bbs on a real etcd: incarnations and heartbeats of a cell, moves in
 * batches, leaders, the limiter. The tests follow one another on one board. */
#include "board.pb-c.h"
#include "common/model/moves.h"
#include "models/cells.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "test/api/bbs_rig.h"
#include "test/tool/cmocka.h"

#include <string.h>

static struct bbs_process *const bbs = bbs_rig.bbs;

static int32_t heartbeat_cell(struct arena *a, uint64_t incarnation, struct buf *answer)
{
    Board__HeartbeatRequest r = BOARD__HEARTBEAT_REQUEST__INIT;
    Board__CellHeartbeat heartbeat = BOARD__CELL_HEARTBEAT__INIT;
    r.cell = &heartbeat;
    heartbeat.cell_id = arena_strdup(a, "cell-1");
    heartbeat.incarnation = incarnation;
    bbs_post_as(&bbs_rig.rep, "/v1/board/heartbeat", &r.base, answer);
    return bbs_error_of(answer);
}

static void incarnations_and_heartbeats(void **state)
{
    struct arena arena, *a = &arena;
    SCOPED_BUF(answer);
    arena_init(a);
    assert_int_equal(heartbeat_cell(a, 3, &answer), MODELS__ERROR__TYPE__ResourceConflict);
    assert_int_equal(bbs_open_incarnation(a, "cell-1", 3, &answer), -1);
    assert_int_equal(bbs_open_incarnation(a, "cell-1", 3, &answer), -1);
    assert_int_equal(bbs_open_incarnation(a, "cell-1", 2, &answer),
                     MODELS__ERROR__TYPE__ResourceConflict);
    assert_int_equal(heartbeat_cell(a, 3, &answer), -1);
    assert_int_equal(heartbeat_cell(a, 2, &answer), MODELS__ERROR__TYPE__ResourceConflict);
    Board__HeartbeatRequest other = BOARD__HEARTBEAT_REQUEST__INIT;
    Board__CellHeartbeat heartbeat = BOARD__CELL_HEARTBEAT__INIT;
    other.cell = &heartbeat;
    heartbeat.cell_id = arena_strdup(a, "cell-2");
    SCOPED_BUF(body);
    buf_message(&body, &other.base);
    assert_int_equal(bbs_ask_as(&bbs_rig.rep, bbs[0].port, "POST", "/v1/board/heartbeat",
                                buf_bytes(&body), NULL, &answer),
                     403);
    arena_done(a);
}

/* The definition id: what a cell claims by. */
static const char *definition_of(struct arena *a, const char *guid)
{
    Models__DesiredLRPByProcessGuidRequest r = MODELS__DESIRED_LRPBY_PROCESS_GUID_REQUEST__INIT;
    SCOPED_BUF(answer);
    r.process_guid = arena_strdup(a, guid);
    assert_int_equal(bbs_post(bbs[0].port, "/v1/desired_lrps/get_by_process_guid.r3", &r.base,
                              &answer), 200);
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Models__DesiredLRPResponse *got =
        models__desired_lrpresponse__unpack(&allocator, answer.size, answer.data);
    assert_non_null(got);
    assert_non_null(got->desired_lrp);
    return got->desired_lrp->modification_tag->epoch;
}

static Board__Move *claim_move(struct arena *a, const char *cell_id, uint64_t incarnation,
                               int32_t index)
{
    Board__Move *m = move_new_instance(a, "claim", "applied", index, 0, "");
    m->incarnation = incarnation;
    m->instance->definition_id = arena_strdup(a, definition_of(a, "applied"));
    Models__ActualLRPInstanceKey *key = ARENA_NEW(a, Models__ActualLRPInstanceKey);
    models__actual_lrpinstance_key__init(key);
    key->instance_guid = arena_strdup(a, "i");
    key->cell_id = arena_strdup(a, cell_id);
    m->instance->actual_lrp_instance_key = key;
    return m;
}

/* All the rows in one batch; then what a batch may hold. */
static void moves_in_batches(void **state)
{
    static const struct {
        const char *move, *cell_id;
        uint64_t incarnation;
        int32_t index;
        Board__MoveResult__Outcome outcome;
        int32_t error;                   /* -1 = none */
        const char *definition_id, *domain; /* NULL = the right one, and none */
    } rows[] = {
        {"claim", "cell-1", 3, 0, BOARD__MOVE_RESULT__OUTCOME__DONE, -1},
        {"claim", "cell-1", 3, 0, BOARD__MOVE_RESULT__OUTCOME__NOTHING, -1},
        {"claim", "cell-2", 3, 1, BOARD__MOVE_RESULT__OUTCOME__REFUSED,
         MODELS__ERROR__TYPE__InvalidRequest},
        {"claim", "cell-1", 2, 1, BOARD__MOVE_RESULT__OUTCOME__REFUSED,
         MODELS__ERROR__TYPE__ResourceConflict},
        {"claim", "cell-1", 3, 9, BOARD__MOVE_RESULT__OUTCOME__REFUSED,
         MODELS__ERROR__TYPE__ResourceNotFound},
        {"create", "cell-1", 3, 1, BOARD__MOVE_RESULT__OUTCOME__REFUSED,
         MODELS__ERROR__TYPE__InvalidRequest},
        {"claim", "cell-1", 3, 1, BOARD__MOVE_RESULT__OUTCOME__REFUSED,
         MODELS__ERROR__TYPE__InvalidRequest, .definition_id = ""},
        /* Another role's moves, in whatever state the record is. */
        {"stop", "cell-1", 3, 0, BOARD__MOVE_RESULT__OUTCOME__REFUSED,
         MODELS__ERROR__TYPE__InvalidRequest},
        {"restart", "cell-1", 3, 0, BOARD__MOVE_RESULT__OUTCOME__REFUSED,
         MODELS__ERROR__TYPE__InvalidRequest},
        {"expire", "cell-1", 3, 0, BOARD__MOVE_RESULT__OUTCOME__REFUSED,
         MODELS__ERROR__TYPE__InvalidRequest, .domain = "nowhere"},
    };
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    struct arena arena, *a = &arena;
    SCOPED_BUF(answer);
    arena_init(a);
    assert_int_equal(bbs_desire(bbs[1].port, "applied", 2, &answer), -1);
    Board__ApplyRequest r = BOARD__APPLY_REQUEST__INIT;
    r.moves = ARENA_ARRAY(a, 257, Board__Move *);
    for (size_t i = 0; i < ROWS; i++) {
        r.moves[i] = claim_move(a, rows[i].cell_id, rows[i].incarnation, rows[i].index);
        r.moves[i]->move = arena_strdup(a, rows[i].move);
        if (rows[i].definition_id) {
            r.moves[i]->instance->definition_id = arena_strdup(a, rows[i].definition_id);
        }
        if (rows[i].domain) {
            r.moves[i] = move_new(a, rows[i].move, key_domain(a, rows[i].domain));
        }
    }
    r.n_moves = ROWS;
    bbs_post_as(&bbs_rig.rep, "/v1/board/apply", &r.base, &answer);
    ProtobufCAllocator allocator = arena_protobuf(a);
    Board__ApplyResponse *got =
        board__apply_response__unpack(&allocator, answer.size, answer.data);
    assert_non_null(got);
    assert_int_equal(got->n_results, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const Board__MoveResult *result = got->results[i];
        assert_int_equal(result->outcome, rows[i].outcome);
        assert_int_equal(result->error ? (int32_t)result->error->type : -1, rows[i].error);
    }
    assert_string_equal(got->results[0]->record->state, "CLAIMED");
    /* Another board generation, too many, another cell. */
    r.board_generation = arena_strdup(a, "another");
    bbs_post_as(&bbs_rig.rep, "/v1/board/apply", &r.base, &answer);
    assert_int_equal(bbs_error_of(&answer), MODELS__ERROR__TYPE__ResourceConflict);
    r.board_generation = got->board_generation;
    for (r.n_moves = 0; r.n_moves < 257; r.n_moves++) {
        r.moves[r.n_moves] = r.moves[0];
    }
    bbs_post_as(&bbs_rig.rep, "/v1/board/apply", &r.base, &answer);
    assert_int_equal(bbs_error_of(&answer), MODELS__ERROR__TYPE__InvalidRequest);
    r.n_moves = 256;
    bbs_post_as(&bbs_rig.rep, "/v1/board/apply", &r.base, &answer);
    got = board__apply_response__unpack(&allocator, answer.size, answer.data);
    assert_int_equal(got->n_results, 256);
    r.n_moves = 1;
    r.cell_id = arena_strdup(a, "cell-2");
    SCOPED_BUF(body);
    buf_message(&body, &r.base);
    assert_int_equal(bbs_ask_as(&bbs_rig.rep, bbs[0].port, "POST", "/v1/board/apply",
                                buf_bytes(&body), NULL, &answer), 403);
    arena_done(a);
}

/* Gives the term after the request, 0 when the lock is free; *ret_error -1 = none. */
static int64_t ask_leader_lock_of(struct arena *a, const char *role, const char *holder,
                                  int64_t displace, int64_t release, int32_t *ret_error)
{
    Board__LeaderLockRequest r = BOARD__LEADER_LOCK_REQUEST__INIT;
    Board__LeaderLockRecord leader_lock = BOARD__LEADER_LOCK_RECORD__INIT;
    SCOPED_BUF(answer);
    r.leader_lock = &leader_lock;
    r.displace = displace;
    r.release = release;
    leader_lock.role = arena_strdup(a, role);
    leader_lock.holder = arena_strdup(a, holder);
    bbs_post_as(strcmp(role, "converger") == 0 ? &bbs_rig.converger : &bbs_rig.auctioneer,
                "/v1/board/leader_lock", &r.base, &answer);
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Board__LeaderLockResponse *got =
        board__leader_lock_response__unpack(&allocator, answer.size, answer.data);
    assert_non_null(got);
    *ret_error = got->error ? (int32_t)got->error->type : -1;
    return got->term ? got->term->term : 0;
}

static int64_t ask_leader_lock(struct arena *a, const char *holder, int64_t displace,
                               int64_t release, int32_t *ret_error)
{
    return ask_leader_lock_of(a, "auctioneer", holder, displace, release, ret_error);
}

static void leaders(void **state)
{
    struct arena arena, *a = &arena;
    int32_t error;
    arena_init(a);
    int64_t term = ask_leader_lock(a, "one", 0, 0, &error);
    assert_true(term > 0);
    assert_int_equal(error, -1);
    assert_int_equal(ask_leader_lock(a, "one", 0, 0, &error), term);
    assert_int_equal(error, -1);
    assert_int_equal(ask_leader_lock(a, "two", 0, 0, &error), term);
    assert_int_equal(error, MODELS__ERROR__TYPE__ResourceConflict);
    assert_int_equal(ask_leader_lock(a, "two", term - 1, 0, &error), term);
    assert_int_equal(error, MODELS__ERROR__TYPE__ResourceConflict);
    int64_t next = ask_leader_lock(a, "two", term, 0, &error);
    assert_int_equal(error, -1);
    assert_true(next > term);
    assert_int_equal(ask_leader_lock(a, "one", 0, term, &error), next); /* not its term any more */
    assert_int_equal(ask_leader_lock(a, "two", 0, next, &error), 0);
    assert_true(ask_leader_lock(a, "one", 0, 0, &error) > next);
    arena_done(a);
}

/* One move of the leading converger, about cell-1 in incarnation 3; the outcome. */
static Board__MoveResult__Outcome converge(struct arena *a, const char *move)
{
    int32_t error;
    SCOPED_BUF(answer);
    Board__Term term = BOARD__TERM__INIT;
    term.role = arena_strdup(a, "converger");
    term.term = ask_leader_lock_of(a, "converger", "c", 0, 0, &error);
    Board__CellHeartbeat cell = BOARD__CELL_HEARTBEAT__INIT, *cells[] = {&cell};
    cell.cell_id = arena_strdup(a, "cell-1");
    cell.incarnation = 3;
    Board__CellMove lose = BOARD__CELL_MOVE__INIT;
    lose.incarnation = cell.incarnation;
    Board__LimiterMove limiter = BOARD__LIMITER_MOVE__INIT;
    limiter.cells = cells;
    limiter.n_cells = 1;
    bool loses = strcmp(move, "lose") == 0;
    Board__Move *m = move_new(a, move, loses ? key_cell(a, cell.cell_id) : key_brake(a));
    Board__Move *moves[] = {m};
    m->term = &term;
    m->body_case = loses ? BOARD__MOVE__BODY_CELL : BOARD__MOVE__BODY_LIMITER;
    if (loses) {
        m->cell = &lose;
    } else {
        m->limiter = &limiter;
    }
    Board__ApplyRequest r = BOARD__APPLY_REQUEST__INIT;
    r.moves = moves;
    r.n_moves = 1;
    ProtobufCAllocator allocator = arena_protobuf(a);
    Board__ApplyResponse *got = NULL;
    for (int i = 0; i < 2; i++) { /* the first is refused, and tells the board generation */
        term.board_generation = got ? got->board_generation : arena_strdup(a, "");
        bbs_post_as(&bbs_rig.converger, "/v1/board/apply", &r.base, &answer);
        got = board__apply_response__unpack(&allocator, answer.size, answer.data);
        assert_non_null(got);
        assert_int_equal(got->n_results, 1);
    }
    return got->results[0]->outcome;
}

static int32_t say_limiter(bool confirm, bool keep, struct buf *answer)
{
    Board__LimiterRequest r = BOARD__LIMITER_REQUEST__INIT;
    r.confirm = confirm;
    r.keep = keep;
    assert_int_equal(bbs_post(bbs[0].port, "/v1/board/limiter", &r.base, answer), 200);
    return bbs_error_of(answer);
}

static const char *shown_state(struct arena *a, struct buf *answer)
{
    assert_int_equal(bbs_post(bbs[1].port, "/v1/board/cells", NULL, answer), 200);
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Board__CellsStatus *got =
        board__cells_status__unpack(&allocator, answer->size, answer->data);
    assert_non_null(got);
    assert_int_equal(got->n_cells, 1);
    return got->cells[0]->state;
}

/* What cells/list.r1 shows. */
static size_t count_cells(struct buf *answer)
{
    assert_int_equal(bbs_post(bbs[1].port, "/v1/cells/list.r1", NULL, answer), 200);
    Models__CellsResponse *got =
        models__cells_response__unpack(NULL, answer->size, answer->data);
    assert_non_null(got);
    size_t count = got->n_cells;
    models__cells_response__free_unpacked(got, NULL);
    return count;
}

/* A cell is held, kept, confirmed, lost, and comes back with a higher incarnation. */
static void a_cell_is_lost_and_comes_back(void **state)
{
    struct arena arena, *a = &arena;
    SCOPED_BUF(answer);
    arena_init(a);
    assert_int_equal(bbs_open_incarnation(a, "cell-1", 3, &answer), -1);
    assert_int_equal(say_limiter(true, false, &answer), MODELS__ERROR__TYPE__ResourceNotFound);
    assert_int_equal(say_limiter(true, true, &answer), MODELS__ERROR__TYPE__InvalidRequest);
    assert_string_equal(shown_state(a, &answer), "PRESENT");

    assert_int_equal(converge(a, "hold"), BOARD__MOVE_RESULT__OUTCOME__DONE);
    assert_string_equal(shown_state(a, &answer), "LOST (held)");
    assert_int_equal(count_cells(&answer), 1); /* held is not lost */
    assert_int_equal(converge(a, "lose"), BOARD__MOVE_RESULT__OUTCOME__REFUSED);
    assert_int_equal(say_limiter(false, true, &answer), -1);
    assert_int_equal(converge(a, "release"), BOARD__MOVE_RESULT__OUTCOME__REFUSED);
    assert_int_equal(say_limiter(true, false, &answer), -1);
    assert_int_equal(say_limiter(false, true, &answer), MODELS__ERROR__TYPE__ResourceConflict);

    assert_int_equal(converge(a, "lose"), BOARD__MOVE_RESULT__OUTCOME__DONE);
    assert_string_equal(shown_state(a, &answer), "LOST");
    assert_int_equal(count_cells(&answer), 0);
    assert_int_equal(heartbeat_cell(a, 3, &answer), MODELS__ERROR__TYPE__ResourceConflict);
    assert_int_equal(bbs_open_incarnation(a, "cell-1", 3, &answer),
                     MODELS__ERROR__TYPE__ResourceConflict);
    ProtobufCAllocator allocator = arena_protobuf(a);
    const Board__CellResponse *refused =
        board__cell_response__unpack(&allocator, answer.size, answer.data);
    assert_int_equal(refused->cell->state, BOARD__CELL_RECORD__STATE__LOST);
    assert_int_equal(refused->cell->incarnation, 3);
    assert_int_equal(bbs_open_incarnation(a, "cell-1", 4, &answer), -1);
    assert_string_equal(shown_state(a, &answer), "PRESENT");
    assert_int_equal(heartbeat_cell(a, 4, &answer), -1);
    arena_done(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(incarnations_and_heartbeats),
        cmocka_unit_test(moves_in_batches),
        cmocka_unit_test(leaders),
        cmocka_unit_test(a_cell_is_lost_and_comes_back),
    };
    return BBS_RIG_RUN("bbs_own_paths", tests);
}
