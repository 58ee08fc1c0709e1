/* The rep and its bbs: incarnations, heartbeats, answers that fail, an absent bbs, batches. */
#include "common/codec/scan.h"
#include "common/model/keys.h"
#include "rep/board/incarnation.h"
#include "test/tool/cmocka.h"
#include "test/unit/bbs/board/feed_frames.h"
#include "test/unit/rep/rep_rig.h"

#include <stdio.h>
#include <string.h>

static void the_incarnation_says_who_we_are(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_start(&g);
    struct call c = rep_rig_take_call(&g, "/v1/board/cell");
    ProtobufCAllocator allocator = arena_protobuf(&g.arena);
    const Board__CellRequest *request =
        board__cell_request__unpack(&allocator, c.body.size, c.body.data);
    assert_non_null(request);
    const Board__CellRecord *cell = request->cell;
    assert_string_equal(cell->identity, "identity-1");
    assert_int_equal(cell->incarnation, 7);
    assert_string_equal(cell->presence->cell_id, RIG_CELL);
    assert_string_equal(cell->presence->rep_url, "https://cell-1:1801");
    assert_int_equal(cell->presence->capacity->memory_mb, 1000);
    assert_string_equal(cell->presence->rootfs_providers[0]->name, "preloaded");
    assert_string_equal(cell->presence->rootfs_providers[0]->properties[0], "busybox");
    assert_string_equal(cell->presence->optional_placement_tags[0], "cell:cell-1");
}

static void refuse_incarnation(struct rep_rig *g, Models__Error__Type type)
{
    struct call c = rep_rig_take_call(g, "/v1/board/cell");
    Models__Error error = MODELS__ERROR__INIT;
    error.type = type;
    error.message = (char *)"refused by hand";
    Board__CellResponse answer = BOARD__CELL_RESPONSE__INIT;
    answer.error = &error;
    drive_answer(&g->d, c.id, &answer.base);
}

static void a_stranger_with_our_name_ends_us(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_start(&g);
    refuse_incarnation(&g, MODELS__ERROR__TYPE__ResourceConflict);
    assert_true(g.exited);
    assert_int_equal(g.exit_code, 4);
    /* Nothing more is done: containers run on. */
    size_t calls = g.call_count;
    rep_rig_advance(&g, 60000);
    assert_int_equal(g.call_count, calls);
}

static void what_passes_by_itself_is_waited_for(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_start(&g);
    refuse_incarnation(&g, MODELS__ERROR__TYPE__UnknownError);
    assert_false(g.exited);
    rep_rig_advance(&g, 1000);
    assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 1);
}

static void an_absent_bbs_is_waited_for(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_start(&g);
    rep_rig_feed_open(&g);
    rep_rig_answer_list(&g, NULL, 0);
    bool other = false;
    for (int i = 0; i < 12; i++) {
        struct call c = rep_rig_take_call(&g, "/v1/board/cell");
        other |= strstr(c.url, "bbs-2") != NULL;
        if (i % 2) {
            drive_unanswered(&g.d, c.id, CALL_REFUSED);
        } else {
            drive_response(&g.d, c.id, 503, "", (struct bytes){0});
        }
        assert_int_equal(rep_rig_work(&g, "web", 1), 1); /* no incarnation: all goes back */
        assert_int_equal(rep_rig_said(&g, "warn waiting") > 0, i >= INCARNATION_CALM_FAILURES);
        rep_rig_advance(&g, 7000);
    }
    assert_true(other);
    rep_rig_answer_incarnation(&g);
    assert_int_equal(rep_rig_work(&g, "web", 1), 0);
    rep_rig_take_move(&g, "claim");
}

static void a_rejected_heartbeat_opens_the_incarnation_again(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_run(&g, "web");
    struct call heartbeat = rep_rig_take_call(&g, "/v1/board/heartbeat");
    Models__Error error = MODELS__ERROR__INIT;
    error.type = MODELS__ERROR__TYPE__ResourceConflict;
    error.message = (char *)"another incarnation";
    Board__HeartbeatResponse answer = BOARD__HEARTBEAT_RESPONSE__INIT;
    answer.error = &error;
    drive_answer(&g.d, heartbeat.id, &answer.base);
    assert_int_equal(rep_rig_work(&g, "other", 1), 1);
    rep_rig_advance(&g, 1000);
    assert_int_equal(rep_rig_calls(&g, "/v1/board/heartbeat"), 0);
    rep_rig_answer_incarnation(&g);
    assert_int_equal(rep_rig_calls(&g, "/v1/board/heartbeat"), 1);
    assert_int_equal(rep_rig_work(&g, "other", 1), 0);
    assert_int_equal(g.verb_count, 0); /* what runs was left alone */
}

/* The board's record stands in the way: lost, with this incarnation. */
static void refuse_as_lost(struct rep_rig *g, uint64_t incarnation)
{
    struct call c = rep_rig_take_call(g, "/v1/board/cell");
    Models__Error error = MODELS__ERROR__INIT;
    error.type = MODELS__ERROR__TYPE__ResourceConflict;
    error.message = (char *)"cell cell-1 is lost";
    Board__CellRecord stands = BOARD__CELL_RECORD__INIT;
    stands.state = BOARD__CELL_RECORD__STATE__LOST;
    stands.incarnation = incarnation;
    Board__CellResponse answer = BOARD__CELL_RESPONSE__INIT;
    answer.error = &error;
    answer.cell = &stands;
    drive_answer(&g->d, c.id, &answer.base);
}

static void kept(struct rep_rig *g, uint64_t incarnation, const char *text)
{
    drive_event(&g->d, (struct event){.kind = EVENT_INCARNATION,
                                      .incarnation = {.incarnation = incarnation, .text = text}});
}

static uint64_t asked_incarnation(struct rep_rig *g, const char *path, struct call *ret_call)
{
    struct call c = rep_rig_take_call(g, path);
    const ProtobufCMessageDescriptor *type = strcmp(path, "/v1/board/cell") == 0
                                                 ? &board__cell_request__descriptor
                                                 : &board__heartbeat_request__descriptor;
    ProtobufCMessage *m;
    struct err err;
    assert_int_equal(scan_and_unpack(&g->arena, type, c.body, 1 << 20, &m, &err), 0);
    *ret_call = c;
    return type == &board__cell_request__descriptor
               ? ((const Board__CellRequest *)m)->cell->incarnation
               : ((const Board__HeartbeatRequest *)m)->cell->incarnation;
}

/* Lost while it was silent: its number rises above the board's, on the disk before it is used, and
 * what runs runs on. */
static void a_lost_cell_comes_back_with_a_higher_incarnation(void **state)
{
    SCOPED_REP_RIG(g);
    struct call c;
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    struct call heartbeat = rep_rig_take_call(&g, "/v1/board/heartbeat");
    Models__Error error = MODELS__ERROR__INIT;
    error.type = MODELS__ERROR__TYPE__ResourceConflict;
    error.message = (char *)"cell cell-1 is lost: register the cell first";
    Board__HeartbeatResponse rejected = BOARD__HEARTBEAT_RESPONSE__INIT;
    rejected.error = &error;
    drive_answer(&g.d, heartbeat.id, &rejected.base);
    rep_rig_advance(&g, 1000);
    refuse_as_lost(&g, 7);
    assert_false(g.exited);
    rep_rig_advance(&g, 10000);
    assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 0); /* not before it is kept */
    assert_int_equal(rep_rig_take_incarnation(&g), 8);
    kept(&g, 9, ""); /* of nobody */
    assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 0);
    kept(&g, 8, "");
    assert_int_equal(asked_incarnation(&g, "/v1/board/cell", &c), 8);
    Board__CellResponse opened = BOARD__CELL_RESPONSE__INIT;
    Board__CellRecord cell = BOARD__CELL_RECORD__INIT;
    opened.cell = &cell;
    opened.board_generation = (char *)RIG_BOARD_GENERATION;
    drive_answer(&g.d, c.id, &opened.base);
    assert_int_equal(asked_incarnation(&g, "/v1/board/heartbeat", &c), 8);
    g.config.incarnation = 8;
    assert_int_equal(g.verb_count, 0); /* what runs was left alone */
    rep_rig_feed_delete(&g, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    rep_rig_take_move(&g, "start"); /* with the new incarnation */
}

/* A full disk: the old incarnation is tried again, later. */
static void an_incarnation_that_cannot_be_kept_is_not_used(void **state)
{
    SCOPED_REP_RIG(g);
    struct call c;
    rep_rig_start(&g);
    refuse_as_lost(&g, 41);
    assert_int_equal(rep_rig_take_incarnation(&g), 42);
    kept(&g, 42, "no space left");
    assert_false(g.exited);
    assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 0);
    rep_rig_advance(&g, 1000);
    assert_int_equal(asked_incarnation(&g, "/v1/board/cell", &c), 7);
}

/* A lost cell refuses for another reason than its incarnation: nothing would be won by raising it.
 * */
static void a_refusal_that_is_not_about_the_incarnation_ends_us(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_start(&g);
    refuse_as_lost(&g, 6);
    assert_int_equal(rep_rig_take_incarnation(&g), 0);
    assert_true(g.exited);
}

static void a_move_of_an_outdated_incarnation_destroys_nothing(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_feed_delete(&g, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    rep_rig_move_refused(&g, rep_rig_take_move(&g, "start"), MODELS__ERROR__TYPE__ResourceConflict,
                         NULL);
    assert_int_equal(g.verb_count, 0);
    rep_rig_advance(&g, 1000);
    rep_rig_answer_incarnation(&g);
    rep_rig_advance(&g, 1000);
    rep_rig_take_move(&g, "start");
    assert_int_equal(g.verb_count, 0);
}

static void a_lost_record_is_made_again(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    /* The board was emptied: a running container creates its record again. */
    rep_rig_feed_delete(&g, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    struct rep_rig_move start = rep_rig_take_move(&g, "start");
    assert_string_equal(start.move->instance->actual_lrp_instance_key->instance_guid, guid);
    rep_rig_move_done(&g, start, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    rep_rig_feed_put(&g, rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));
    rep_rig_advance(&g, 60000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
}

static void an_unsettled_claim_is_repeated_until_the_reservation_ends(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_work(&g, "web", 1000);
    int claims = 0;
    for (int s = 0; s < 70; s++) {
        while (rep_rig_calls(&g, "apply") > 0) {
            drive_response(&g.d, rep_rig_take_move(&g, "claim").id, 503, "", (struct bytes){0});
            claims++;
        }
        rep_rig_advance(&g, 1000);
    }
    assert_in_range(claims, 10, 25); /* backed off to one in 5 s */
    /* After a minute it is gone, and its memory free. */
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_int_equal(rep_rig_work(&g, "other", 1000), 0);
}

static void while_bbs_is_away_containers_are_served(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *crashes = rep_rig_run(&g, "crashes");
    const char *stops = rep_rig_run(&g, "stops");
    rep_rig_exited(&g, crashes, 1);
    drive_unanswered(&g.d, rep_rig_take_move(&g, "crash").id, CALL_REFUSED);
    rep_rig_request(&g, "bbs", "POST",
                    arena_printf(&g.arena, "/v1/lrps/stops/instances/%s/stop", stops), "",
                    (struct bytes){0});
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_SIGNAL), VERB_DONE, "");
    rep_rig_exited(&g, stops, 0);
    for (int i = 0; i < 10; i++) {
        while (rep_rig_calls(&g, "apply") > 0) {
            drive_unanswered(&g.d, rep_rig_take_call(&g, "apply").id, CALL_UNKNOWN);
        }
        rep_rig_advance(&g, 6000);
        assert_int_equal(rep_rig_verbs(&g, VERB_REMOVE), 0); /* kept until it is told */
    }
    /* It is back: both are told, in whatever batches. */
    for (int i = 0; i < 2; i++) {
        struct call c = rep_rig_take_call(&g, "apply");
        ProtobufCAllocator allocator = arena_protobuf(&g.arena);
        const Board__ApplyRequest *request =
            board__apply_request__unpack(&allocator, c.body.size, c.body.data);
        Board__MoveResult result = BOARD__MOVE_RESULT__INIT;
        result.outcome = BOARD__MOVE_RESULT__OUTCOME__DONE;
        result.revision = ++g.revision;
        Board__MoveResult *results[] = {&result, &result};
        Board__ApplyResponse answer = BOARD__APPLY_RESPONSE__INIT;
        answer.n_results = request->n_moves;
        answer.results = results;
        drive_answer(&g.d, c.id, &answer.base);
        if (request->n_moves == 2) {
            break;
        }
        rep_rig_advance(&g, 6000);
    }
    assert_int_equal(rep_rig_verbs(&g, VERB_REMOVE), 2);
}

static void waiting_moves_travel_together(void **state)
{
    enum { INSTANCES = 700 };
    SCOPED_REP_RIG(g);
    g.config.containers = INSTANCES;
    g.config.memory_mb = g.config.disk_mb = 100000;
    rep_rig_open(&g, NULL, 0);
    char name[32];
    for (int i = 0; i < INSTANCES; i++) {
        snprintf(name, sizeof(name), "web-%d", i);
        assert_int_equal(rep_rig_work(&g, name, 1), 0);
    }
    /* Four calls are under way at most, the rest waits. */
    assert_int_equal(rep_rig_calls(&g, "apply"), 4);
    size_t moves = 0;
    for (int i = 0; i < 8 && moves < INSTANCES; i++) {
        struct call c = rep_rig_take_call(&g, "apply");
        ProtobufCAllocator allocator = arena_protobuf(&g.arena);
        const Board__ApplyRequest *request =
            board__apply_request__unpack(&allocator, c.body.size, c.body.data);
        assert_in_range(request->n_moves, 1, 256);
        moves += request->n_moves;
        Board__MoveResult result = BOARD__MOVE_RESULT__INIT;
        result.outcome = BOARD__MOVE_RESULT__OUTCOME__REFUSED;
        Models__Error error = MODELS__ERROR__INIT;
        error.type = MODELS__ERROR__TYPE__ActualLRPCannotBeClaimed;
        result.error = &error;
        Board__MoveResult *results[256];
        for (size_t m = 0; m < request->n_moves; m++) {
            results[m] = &result;
        }
        Board__ApplyResponse answer = BOARD__APPLY_RESPONSE__INIT;
        answer.n_results = request->n_moves;
        answer.results = results;
        drive_answer(&g.d, c.id, &answer.base);
    }
    assert_int_equal(moves, INSTANCES);
    rep_rig_advance(&g, 1000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
}

/* A running container whose instance has so many hostnames, as the driver lists it. */
static struct container_status with_routes(struct rep_rig *g, const char *guid, size_t count)
{
    struct container_status s = rep_rig_status(g, guid, guid, CONTAINER_RUNNING);
    ProtobufCAllocator allocator = arena_protobuf(&g->arena);
    Rep__Note *note = rep__note__unpack(&allocator, s.note.size, s.note.data);
    note->n_internal_routes = count;
    note->internal_routes = ARENA_ARRAY(&g->arena, count, Models__ActualLRPInternalRoute *);
    for (size_t i = 0; i < count; i++) {
        note->internal_routes[i] = ARENA_NEW(&g->arena, Models__ActualLRPInternalRoute);
        models__actual_lrpinternal_route__init(note->internal_routes[i]);
        note->internal_routes[i]->hostname =
            arena_printf(&g->arena, "host-%06zu.apps.internal", i);
    }
    size_t size = rep__note__get_packed_size(note);
    uint8_t *packed = arena_alloc(&g->arena, size);
    rep__note__pack(note, packed);
    s.note = (struct bytes){.data = packed, .size = size};
    return s;
}

/* What a bbs takes at once is bounded in bytes too (bbs/route/route.h), and a call that is too
 * large would settle none of its moves. */
static void moves_of_many_bytes_travel_in_turns(void **state)
{
    enum { INSTANCES = 60, HOSTNAMES = 3000, BODY_MAX = 4 * 1024 * 1024 };
    SCOPED_REP_RIG(g);
    struct container_status list[INSTANCES];
    for (int i = 0; i < INSTANCES; i++) {
        list[i] = with_routes(&g, arena_printf(&g.arena, "i-%02d", i), HOSTNAMES);
    }
    rep_rig_open(&g, list, INSTANCES);
    size_t moves = 0;
    for (int i = 0; i < INSTANCES && moves < INSTANCES; i++) {
        struct call c = rep_rig_take_call(&g, "apply");
        assert_in_range(c.body.size, 1, BODY_MAX);
        ProtobufCAllocator allocator = arena_protobuf(&g.arena);
        moves += board__apply_request__unpack(&allocator, c.body.size, c.body.data)->n_moves;
        drive_unanswered(&g.d, c.id, CALL_UNKNOWN);
    }
    assert_in_range(moves, INSTANCES, 2 * INSTANCES);
}

/* A record whose routes are as long as they may be. */
static Models__ActualLRP *heavy_record(struct rep_rig *g, const char *process_guid,
                                       const char *state)
{
    enum { ROUTES = 1024, NAME_BYTES = 120 };
    Models__ActualLRP *record = rep_rig_record(g, process_guid, state, process_guid, RIG_CELL);
    record->n_actual_lrp_internal_routes = ROUTES;
    record->actual_lrp_internal_routes =
        ARENA_ARRAY(&g->arena, ROUTES, Models__ActualLRPInternalRoute *);
    Models__ActualLRPInternalRoute *route = ARENA_NEW(&g->arena, Models__ActualLRPInternalRoute);
    models__actual_lrpinternal_route__init(route);
    route->hostname = arena_printf(&g->arena, "%0*d", NAME_BYTES, 1);
    for (size_t i = 0; i < ROUTES; i++) {
        record->actual_lrp_internal_routes[i] = route;
    }
    return record;
}

/* A cell full of them is looked at one after the other: whatever their number, a step holds few of
 * their records decoded. Those without a container are told in calls of many, likewise. */
static void heavy_records_are_not_all_held_at_once(void **state)
{
    enum { RECORDS = 250, STEP_BYTES = 4 * 1024 * 1024 };
    for (int strays = 0; strays < 2; strays++) {
        SCOPED_REP_RIG(g);
        struct container_status *list = ARENA_ARRAY(&g.arena, RECORDS, struct container_status);
        for (int i = 0; i < RECORDS; i++) {
            const char *guid = arena_printf(&g.arena, "i-%03d", i);
            list[i] = rep_rig_status(&g, guid, guid, CONTAINER_RUNNING);
        }
        rep_rig_open(&g, list, strays ? 0 : RECORDS);
        g.step_bytes = 0;
        for (int i = 0; i < RECORDS; i++) {
            rep_rig_feed_put(&g, heavy_record(&g, list[i].guid, "RUNNING"));
        }
        rep_rig_advance(&g, 31000);
        assert_in_range(g.step_bytes, 1, STEP_BYTES);
    }
}

static void a_new_board_generation_forgets_the_answers_of_the_old(void **state)
{
    SCOPED_REP_RIG(g);
    g.revision = 1000000;
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    /* Restored from a backup: revisions begin again, the record is not in it. */
    drive_closed(&g.d, g.feed_id);
    drive_advance(&g.d, 1000);
    g.revision = 10;
    rep_rig_feed_open_board_generation(&g, "generation-2");
    struct rep_rig_move start = rep_rig_take_move(&g, "start");
    assert_string_equal(start.request->board_generation, "generation-2");
    assert_string_equal(start.move->instance->actual_lrp_instance_key->instance_guid, guid);
}

/* The cell restarted: what it took on is claimed and runs before the feed's first snapshot, which a
 * slow way brings from before (seed 3018781). */
static void a_first_snapshot_older_than_the_answers_ends_nothing(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_start(&g);
    rep_rig_answer_incarnation(&g);
    rep_rig_answer_list(&g, NULL, 0);
    rep_rig_work(&g, "web", 100);
    struct rep_rig_move claim = rep_rig_take_move(&g, "claim");
    const char *guid = claim.move->instance->actual_lrp_instance_key->instance_guid;
    rep_rig_move_done(&g, claim, rep_rig_record(&g, "web", "CLAIMED", guid, RIG_CELL));
    rep_rig_answer_desired(&g, rep_rig_desired(&g, "web", NULL, 0));
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_PREPARE), VERB_DONE, "");
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_START), VERB_DONE, "");
    rep_rig_move_done(&g, rep_rig_take_move(&g, "start"),
                      rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL));

    SCOPED_BUF(b);
    frame_reset(&b, RIG_BOARD_GENERATION);
    frame_change(&b, BOARD__FEED_FRAME__KIND__RECORD, key_actual(&g.arena, "web", 0, 0),
                 &rep_rig_record(&g, "web", "RUNNING", "its predecessor", RIG_CELL)->base, 1);
    frame_current(&b, RIG_BOARD_GENERATION, 1);
    drive_stream(&g.d, rep_rig_take_call(&g, "/v1/board/feed").id, buf_bytes(&b));
    rep_rig_advance(&g, 1000);
    assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL), 0);
    assert_int_equal(rep_rig_said(&g, "stop asked"), 0);
}

static void an_end_in_good_order_leaves_containers_alone(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_run(&g, "web");
    drive_event(&g.d, (struct event){.kind = EVENT_STOP, .stop = STOP_AT_ONCE});
    assert_true(g.exited);
    assert_int_equal(g.exit_code, 0);
    assert_int_equal(g.verb_count, 0);
}

static void useless_settings_end_the_role(void **state)
{
    struct rep_rig g;
    rep_rig_init(&g);
    g.config.boards = "http://plain:1";
    rep_rig_start(&g);
    assert_true(g.exited);
    assert_int_equal(g.exit_code, 2);
    rep_rig_done(&g);
    rep_rig_init(&g);
    g.config.port_low = 2;
    g.config.port_high = 1;
    rep_rig_start(&g);
    assert_true(g.exited);
    rep_rig_done(&g);
}

static void a_refusal_before_the_record_was_looked_at_says_nothing_of_it(void **state)
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
    rep_rig_move_refused(&g, rep_rig_take_move(&g, "start"), MODELS__ERROR__TYPE__InvalidRequest,
                         NULL);
    rep_rig_advance(&g, 500);
    rep_rig_take_move(&g, "start"); /* again, and the container runs on */
    assert_int_equal(g.verb_count, 0);
}

/* Taken for the word that there is no record, it would end the container and leave its record. */
static void a_removal_refused_before_the_record_was_looked_at_is_asked_again(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    const char *path = arena_printf(&g.arena, "/v1/lrps/web/instances/%s/stop", guid);
    rep_rig_request(&g, "bbs", "POST", path, "application/json", (struct bytes){0});
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_SIGNAL), VERB_DONE, "");
    rep_rig_exited(&g, guid, 143);
    rep_rig_move_refused(&g, rep_rig_take_move(&g, "remove"), MODELS__ERROR__TYPE__InvalidRequest,
                         NULL);
    rep_rig_advance(&g, 500);
    rep_rig_take_move(&g, "remove");
    assert_int_equal(rep_rig_verbs(&g, VERB_REMOVE), 0);
}

static void a_suspect_instance_is_left_alone_and_removed_when_it_ended(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    Models__ActualLRP *suspect = rep_rig_record(&g, "web", "RUNNING", guid, RIG_CELL);
    rep_rig_feed_delete(&g, suspect);
    suspect->presence = MODELS__ACTUAL_LRP__PRESENCE__SUSPECT;
    struct rep_rig_move start = rep_rig_take_move(&g, "start");
    rep_rig_feed_put(&g, suspect);
    rep_rig_move_done(&g, start, suspect);
    rep_rig_advance(&g, 60000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    rep_rig_exited(&g, guid, 1);
    struct rep_rig_move remove = rep_rig_take_move(&g, "remove");
    assert_int_equal(key_presence(remove.move->subject->key),
                     MODELS__ACTUAL_LRP__PRESENCE__SUSPECT);
    rep_rig_move_done(&g, remove, NULL);
    rep_rig_verb(&g, rep_rig_take_verb(&g, VERB_REMOVE), VERB_DONE, "");
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
}

/* A bbs that does not answer is not asked again. */
static void moves_go_to_another_bbs_after_a_failure(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_work(&g, "web", 100);
    struct call first = rep_rig_take_call(&g, "apply");
    assert_non_null(strstr(first.url, "bbs-1"));
    drive_unanswered(&g.d, first.id, CALL_UNKNOWN);
    rep_rig_advance(&g, 1000);
    assert_non_null(strstr(rep_rig_take_call(&g, "apply").url, "bbs-2"));
}

/* A record without a container is removed where it stands, at the key of its presence. */
static void a_suspect_record_without_a_container_is_removed_as_such(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    Models__ActualLRP *suspect = rep_rig_record(&g, "web", "RUNNING", "gone", RIG_CELL);
    suspect->presence = MODELS__ACTUAL_LRP__PRESENCE__SUSPECT;
    rep_rig_feed_put(&g, suspect);
    struct rep_rig_move remove = rep_rig_take_move(&g, "remove");
    assert_int_equal(key_presence(remove.move->subject->key),
                     MODELS__ACTUAL_LRP__PRESENCE__SUSPECT);
    assert_string_equal(remove.move->instance->actual_lrp_instance_key->instance_guid, "gone");
}

/* It went and came back while its move was on the way: the answer is of the time between (seed
 * 7254343). */
static void a_record_that_came_back_is_asked_about_again(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    Models__ActualLRP *record = rep_rig_record(&g, "web", "RUNNING", "gone", RIG_CELL);
    rep_rig_feed_put(&g, record);
    struct rep_rig_move first = rep_rig_take_move(&g, "unclaim");
    rep_rig_feed_delete(&g, record);
    int64_t between = g.revision;
    rep_rig_feed_put(&g, record);
    int64_t last = g.revision;
    g.revision = between - 1;
    rep_rig_move_refused(&g, first, MODELS__ERROR__TYPE__ResourceNotFound, NULL);
    g.revision = last;
    rep_rig_advance(&g, 1000);
    rep_rig_move_refused(&g, rep_rig_take_move(&g, "unclaim"),
                         MODELS__ERROR__TYPE__ResourceNotFound, NULL); /* of now: there is none */
    rep_rig_feed_delete(&g, record);
    rep_rig_advance(&g, 60000);
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_int_equal(rep_rig_said(&g, "no change had led to"), 0);
}

/* etcd was restored while nobody could be reached: whatever failed meanwhile is tried as soon as
 * the board is known again, and not when its back-off is over (seed 7223643). */
static void an_incarnation_of_another_board_generation_hurries_the_feed_and_the_moves(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    drive_closed(&g.d, g.feed_id);
    rep_rig_exited(&g, guid, 1);
    for (int i = 0; i < 8; i++) { /* until each waits for 5 s */
        drive_unanswered(&g.d, rep_rig_take_move(&g, "crash").id, CALL_REFUSED);
        drive_advance(&g.d, 6500);
        while (rep_rig_calls(&g, "/v1/board/feed")) { /* silent ones have been given up */
            g.feed_id = rep_rig_take_call(&g, "/v1/board/feed").id;
        }
        drive_closed(&g.d, g.feed_id);
    }
    rep_rig_move_refused(&g, rep_rig_take_move(&g, "crash"), MODELS__ERROR__TYPE__ResourceConflict,
                         NULL);
    drive_advance(&g.d, 200);
    assert_int_equal(rep_rig_calls(&g, "/v1/board/feed"), 0);
    rep_rig_answer_incarnation_board_generation(&g, "generation-2");
    drive_advance(&g.d, 1);
    g.revision = 10;
    rep_rig_feed_open_board_generation(&g, "generation-2");
    assert_string_equal(rep_rig_take_move(&g, "crash").request->board_generation, "generation-2");
}

/* A bbs refuses a call as a whole, for it speaks of a board generation that is over. */
static void refuse_generation(struct rep_rig *g, uint64_t call_id)
{
    Models__Error error = MODELS__ERROR__INIT;
    error.type = MODELS__ERROR__TYPE__ResourceConflict;
    error.message = (char *)"the board generation is generation-2, not generation-1: list again";
    Board__ApplyResponse answer = BOARD__APPLY_RESPONSE__INIT;
    answer.error = &error;
    drive_answer(&g->d, call_id, &answer.base);
}

/* After `bbs restore`: what is refused for its board generation says nothing of the cell. Its
 * incarnation stays open, its moves are asked again after a pause that grows, and the feed of the
 * new one is asked for at once. */
static void a_refused_board_generation_keeps_the_incarnation(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    drive_closed(&g.d, g.feed_id);
    rep_rig_exited(&g, guid, 1);
    refuse_generation(&g, rep_rig_take_move(&g, "crash").id);
    int refused = 1;
    for (int i = 0; i < 100; i++) { /* 10 s */
        while (rep_rig_calls(&g, "apply") > 0) {
            refuse_generation(&g, rep_rig_take_move(&g, "crash").id);
            refused++;
        }
        drive_advance(&g.d, 100);
        assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 0);
    }
    assert_in_range(refused, 3, 9);
    assert_int_equal(rep_rig_said(&g, "incarnation lost"), 0);
    assert_int_equal(rep_rig_work(&g, "other", 1), 0); /* it goes on taking work */
}

static void a_refused_board_generation_hurries_the_feed(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    const char *guid = rep_rig_run(&g, "web");
    rep_rig_exited(&g, guid, 1);
    drive_closed(&g.d, g.feed_id);
    for (int i = 0; i < 8; i++) { /* until each waits for 5 s */
        drive_unanswered(&g.d, rep_rig_take_move(&g, "crash").id, CALL_REFUSED);
        drive_advance(&g.d, 6500);
        while (rep_rig_calls(&g, "/v1/board/feed")) { /* silent ones have been given up */
            g.feed_id = rep_rig_take_call(&g, "/v1/board/feed").id;
        }
        drive_closed(&g.d, g.feed_id);
    }
    drive_advance(&g.d, 200);
    assert_int_equal(rep_rig_calls(&g, "/v1/board/feed"), 0);
    refuse_generation(&g, rep_rig_take_move(&g, "crash").id);
    drive_advance(&g.d, 1);
    g.revision = 10;
    rep_rig_feed_open_board_generation(&g, "generation-2");
    assert_string_equal(rep_rig_take_move(&g, "crash").request->board_generation, "generation-2");
    assert_int_equal(rep_rig_calls(&g, "/v1/board/cell"), 0);
}

/* Nobody can tell what it says: that there is none would end what runs. */
static void a_record_of_a_later_version_is_left_alone(void **state)
{
    SCOPED_REP_RIG(g);
    rep_rig_open(&g, NULL, 0);
    rep_rig_run(&g, "web");
    rep_rig_feed_later_version(&g, key_actual(&g.arena, "web", 0, 0));
    rep_rig_advance(&g, 100000); /* three passes */
    assert_int_equal(rep_rig_calls(&g, "apply"), 0);
    assert_int_equal(rep_rig_verbs(&g, VERB_SIGNAL), 0);
    assert_int_equal(rep_rig_verbs(&g, VERB_REMOVE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_incarnation_says_who_we_are),
        cmocka_unit_test(a_stranger_with_our_name_ends_us),
        cmocka_unit_test(what_passes_by_itself_is_waited_for),
        cmocka_unit_test(an_absent_bbs_is_waited_for),
        cmocka_unit_test(a_rejected_heartbeat_opens_the_incarnation_again),
        cmocka_unit_test(a_lost_cell_comes_back_with_a_higher_incarnation),
        cmocka_unit_test(an_incarnation_that_cannot_be_kept_is_not_used),
        cmocka_unit_test(a_refusal_that_is_not_about_the_incarnation_ends_us),
        cmocka_unit_test(a_move_of_an_outdated_incarnation_destroys_nothing),
        cmocka_unit_test(a_lost_record_is_made_again),
        cmocka_unit_test(an_unsettled_claim_is_repeated_until_the_reservation_ends),
        cmocka_unit_test(while_bbs_is_away_containers_are_served),
        cmocka_unit_test(waiting_moves_travel_together),
        cmocka_unit_test(moves_of_many_bytes_travel_in_turns),
        cmocka_unit_test(heavy_records_are_not_all_held_at_once),
        cmocka_unit_test(a_new_board_generation_forgets_the_answers_of_the_old),
        cmocka_unit_test(a_first_snapshot_older_than_the_answers_ends_nothing),
        cmocka_unit_test(an_end_in_good_order_leaves_containers_alone),
        cmocka_unit_test(useless_settings_end_the_role),
        cmocka_unit_test(a_refusal_before_the_record_was_looked_at_says_nothing_of_it),
        cmocka_unit_test(a_removal_refused_before_the_record_was_looked_at_is_asked_again),
        cmocka_unit_test(a_suspect_instance_is_left_alone_and_removed_when_it_ended),
        cmocka_unit_test(moves_go_to_another_bbs_after_a_failure),
        cmocka_unit_test(a_suspect_record_without_a_container_is_removed_as_such),
        cmocka_unit_test(a_record_that_came_back_is_asked_about_again),
        cmocka_unit_test(an_incarnation_of_another_board_generation_hurries_the_feed_and_the_moves),
        cmocka_unit_test(a_refused_board_generation_keeps_the_incarnation),
        cmocka_unit_test(a_refused_board_generation_hurries_the_feed),
        cmocka_unit_test(a_record_of_a_later_version_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
