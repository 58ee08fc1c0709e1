/* The auctioneer, driven by hand-made events: what it asks of the board and of cells, and when. */
#include "auctioneer/auctioneer.h"
#include "auctioneer/inside.h"
#include "common/model/keys.h"
#include "test/decide/cell_rows.h"
#include "test/unit/drive.h"
#include "test/unit/feed_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RECORD BOARD__FEED_FRAME__KIND__RECORD
#define PUT BOARD__FEED_FRAME__KIND__PUT
#define DELETE BOARD__FEED_FRAME__KIND__DELETE

struct fixture {
    struct drive drive;
    struct arena arena; /* of the test */
    struct auctioneer_config config;
    struct role *role;
    struct auctioneer *x;
    struct buf sent;
    int64_t revision;
    uint64_t request_id;
    struct buf text;
};

static void step(void *target, const struct event *ev, struct effects *out)
{
    role_step(target, ev, out);
}

static void begin(struct fixture *f)
{
    f->role = auctioneer_new(&f->config);
    f->x = (struct auctioneer *)f->role;
    drive_init(&f->drive, step, f->role);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    buf_init(&f->sent);
    buf_init(&f->text);
    f->revision = 10;
    f->config = (struct auctioneer_config){.name = "auctioneer-1",
                                           .boards = "https://a:1,https://b:2",
                                           .url = "https://me:9016",
                                           .zones = "",
                                           .scoring = "default"};
    begin(f);
    *state = f;
    return 0;
}

static void end(struct fixture *f)
{
    role_free(f->role);
    drive_done(&f->drive);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    end(f);
    buf_done(&f->sent);
    buf_done(&f->text);
    arena_done(&f->arena);
    free(f);
    return 0;
}

/* ---- The board ------------------------------------------------------------------------------- */

static void send(struct fixture *f)
{
    struct buf once = f->sent;
    buf_init(&f->sent);
    drive_stream(&f->drive, f->x->follower.call_id, buf_bytes(&once));
    buf_done(&once);
}

static int64_t next_revision(struct fixture *f, Board__FeedFrame__Kind kind)
{
    return kind == RECORD ? f->revision : ++f->revision;
}

static void cell(struct fixture *f, Board__FeedFrame__Kind kind, const char *id,
                 Board__CellRecord__State cell_state)
{
    Board__CellRecord record = BOARD__CELL_RECORD__INIT;
    Models__CellPresence presence = MODELS__CELL_PRESENCE__INIT;
    presence.cell_id = arena_strdup(&f->arena, id);
    presence.rep_url = arena_printf(&f->arena, "https://%s:1801", id);
    record.presence = &presence;
    record.state = cell_state;
    record.session = 1;
    frame_change(&f->sent, kind, key_cell(&f->arena, id), &record.base, next_revision(f, kind));
}

static void desired(struct fixture *f, Board__FeedFrame__Kind kind, const char *guid, int instances)
{
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
    Models__ModificationTag tag = MODELS__MODIFICATION_TAG__INIT;
    Models__VolumeMount mount = MODELS__VOLUME_MOUNT__INIT, *mounts[] = {&mount};
    lrp.process_guid = arena_strdup(&f->arena, guid);
    lrp.domain = arena_strdup(&f->arena, "some-domain");
    lrp.root_fs = arena_strdup(&f->arena, "preloaded:busybox");
    lrp.instances = instances;
    lrp.memory_mb = 100;
    lrp.disk_mb = 50;
    lrp.max_pids = 7;
    tag.epoch = arena_strdup(&f->arena, "definition-1");
    lrp.modification_tag = &tag;
    mount.driver = arena_strdup(&f->arena, "nfs");
    lrp.n_volume_mounts = 1;
    lrp.volume_mounts = mounts;
    frame_change(&f->sent, kind, key_desired(&f->arena, guid), &lrp.base, next_revision(f, kind));
}

static void actual_with(struct fixture *f, Board__FeedFrame__Kind kind, const char *guid,
                        int32_t index, const char *placement_error)
{
    Models__ActualLRP lrp = MODELS__ACTUAL_LRP__INIT;
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    key.process_guid = arena_strdup(&f->arena, guid);
    key.index = index;
    lrp.actual_lrp_key = &key;
    lrp.state = arena_strdup(&f->arena, "UNCLAIMED");
    lrp.placement_error = arena_strdup(&f->arena, placement_error);
    frame_change(&f->sent, kind, key_actual(&f->arena, guid, index, 0), &lrp.base,
                 next_revision(f, kind));
}

static void actual(struct fixture *f, Board__FeedFrame__Kind kind, const char *guid, int32_t index)
{
    actual_with(f, kind, guid, index, "");
}

static void current(struct fixture *f)
{
    frame_current(&f->sent, "e1", f->revision);
    send(f);
}

/* The answer to the question for the lock in the last step. */
static void elect(struct fixture *f)
{
    uint64_t id = drive_call(&f->drive, "/v1/board/lead", 0)->id;
    Board__LeadResponse r = BOARD__LEAD_RESPONSE__INIT;
    Board__LeadRecord lead = BOARD__LEAD_RECORD__INIT;
    Board__Term term = BOARD__TERM__INIT;
    lead.holder = f->x->leader.id;
    term.role = arena_strdup(&f->arena, "auctioneer");
    term.epoch = arena_strdup(&f->arena, "e1");
    term.term = ++f->revision;
    r.lead = &lead;
    r.term = &term;
    drive_answer(&f->drive, id, &r.base);
    assert_true(f->x->leader.leads);
}

/* Started and leading, with these cells ("a b") and nothing to place. */
static void lead(struct fixture *f, const char *cells)
{
    char **ids;
    size_t count = cell_row_words(&f->arena, cells, &ids);
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    for (size_t i = 0; i < count; i++) {
        cell(f, RECORD, ids[i], BOARD__CELL_RECORD__STATE__PRESENT);
    }
    current(f);
    elect(f);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static Cell__CellState *row(struct fixture *f, const char *id)
{
    Cell__CellState *s = cell_row(&f->arena, id, "z1", 1000, 1000);
    cell_row_drivers(&f->arena, s, "nfs");
    return s;
}

/* The question to a cell in the last step. */
static const struct call *asked_state(struct fixture *f, const char *id)
{
    const struct call *c =
        drive_call(&f->drive, arena_printf(&f->arena, "https://%s:1801/state", id), 0);
    if (c) {
        assert_string_equal(c->method, "GET");
        assert_string_equal(c->accept, "application/x-protobuf");
        assert_true(c->deadline_ns == f->drive.now.mono_ns + SECOND_NS);
    }
    return c;
}

static uint64_t state_call(struct fixture *f, const char *id)
{
    const struct call *c = asked_state(f, id);
    assert_non_null(c);
    return c->id;
}

static void tell_state(struct fixture *f, uint64_t call, const Cell__CellState *s)
{
    struct buf body;
    buf_init(&body);
    buf_message(&body, &s->base);
    drive_response(&f->drive, call, 200, "\"tag\"", buf_bytes(&body));
    buf_done(&body);
}

/* The work handed to a cell in the last step; NULL if none. */
static Cell__Work *work(struct fixture *f, const char *id, uint64_t *ret_call)
{
    const struct call *c =
        drive_call(&f->drive, arena_printf(&f->arena, "https://%s:1801/work", id), 0);
    if (!c) {
        return NULL;
    }
    assert_string_equal(c->content_type, "application/x-protobuf");
    assert_true(c->deadline_ns == f->drive.now.mono_ns + SECOND_NS);
    ProtobufCAllocator allocator = arena_protobuf(&f->arena);
    Cell__Work *w = cell__work__unpack(&allocator, c->body.size, c->body.data);
    assert_non_null(w);
    assert_string_equal(w->cell_id, id);
    *ret_call = c->id;
    return w;
}

/* The cell takes all but the first `back` of the work. */
static void take_work(struct fixture *f, const Cell__Work *w, uint64_t call, size_t back)
{
    Cell__Work answer = CELL__WORK__INIT;
    answer.lrps = w->lrps;
    answer.n_lrps = back;
    drive_answer(&f->drive, call, &answer.base);
}

/* The fail moves of the last step: "web/0=text ". */
static const char *failed(struct fixture *f, uint64_t *ret_call)
{
    const struct call *c = drive_call(&f->drive, "/v1/board/apply", 0);
    buf_clear(&f->text);
    if (!c) {
        return "";
    }
    ProtobufCAllocator allocator = arena_protobuf(&f->arena);
    Board__ApplyRequest *r = board__apply_request__unpack(&allocator, c->body.size, c->body.data);
    assert_string_equal(r->epoch, "e1");
    for (size_t i = 0; i < r->n_moves; i++) {
        const Board__Move *m = r->moves[i];
        assert_string_equal(m->move, "fail");
        assert_string_equal(m->actual_lrp_key->domain, "some-domain");
        assert_string_equal(m->term->role, "auctioneer");
        assert_string_equal(m->term->epoch, "e1");
        assert_int_equal(m->term->term, f->x->leader.term);
        buf_printf(&f->text, "%s/%d=%s ", m->actual_lrp_key->process_guid, m->actual_lrp_key->index,
                   m->error_message);
    }
    *ret_call = c->id;
    return buf_string(&f->text);
}

static void applied(struct fixture *f, uint64_t call, size_t moves)
{
    Board__ApplyResponse r = BOARD__APPLY_RESPONSE__INIT;
    Board__MoveResult result = BOARD__MOVE_RESULT__INIT;
    result.outcome = BOARD__MOVE_RESULT__OUTCOME__DONE;
    r.results = ARENA_ARRAY(&f->arena, moves, Board__MoveResult *);
    for (r.n_results = 0; r.n_results < moves; r.n_results++) {
        r.results[r.n_results] = &result;
    }
    drive_answer(&f->drive, call, &r.base);
}

/* Gives the role its next timer if it is due now. */
static void go_on(struct fixture *f)
{
    drive_advance(&f->drive, 0);
}

/* ---- Leading --------------------------------------------------------------------------------- */

static void a_standby_follows_but_asks_no_cell(void **state)
{
    struct fixture *f = *state;
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    actual(f, RECORD, "web", 0);
    cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    desired(f, RECORD, "web", 1);
    Board__LeadRecord other = BOARD__LEAD_RECORD__INIT;
    other.holder = arena_strdup(&f->arena, "other");
    frame_change(&f->sent, RECORD, "lead/auctioneer", &other.base, 5);
    current(f);
    assert_null(drive_call(&f->drive, "/v1/board/lead", 0));
    assert_null(asked_state(f, "a"));
    drive_advance(&f->drive, 2000);
    assert_null(asked_state(f, "a"));
    assert_int_equal(f->x->pool.entries.count, 1);
    /* The other one gives it back: asked for, and what waits is auctioned at once. */
    frame_change(&f->sent, DELETE, "lead/auctioneer", &other.base, ++f->revision);
    send(f);
    elect(f);
    assert_non_null(asked_state(f, "a"));
}

static void places_what_the_feed_shows(void **state)
{
    struct fixture *f = *state;
    lead(f, "a");
    actual(f, PUT, "web", 0);
    send(f);
    assert_null(asked_state(f, "a")); /* not desired yet */
    desired(f, PUT, "web", 1);
    send(f);
    tell_state(f, state_call(f, "a"), row(f, "a"));
    uint64_t call;
    Cell__Work *w = work(f, "a", &call);
    assert_int_equal(w->n_lrps, 1);
    assert_string_equal(w->lrps[0]->process_guid, "web");
    assert_int_equal(w->lrps[0]->index, 0);
    assert_string_equal(w->lrps[0]->domain, "some-domain");
    assert_string_equal(w->lrps[0]->rootfs, "preloaded:busybox");
    assert_string_equal(w->lrps[0]->definition, "definition-1");
    assert_string_equal(w->lrps[0]->volumedrivers[0], "nfs");
    assert_int_equal(w->lrps[0]->memorymb, 100);
    assert_int_equal(w->lrps[0]->diskmb, 50);
    assert_int_equal(w->lrps[0]->maxpids, 7);
    take_work(f, w, call, 0);
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 1);
    actual(f, DELETE, "web", 0); /* claimed */
    send(f);
    assert_int_equal(f->x->pool.entries.count, 0);
    drive_advance(&f->drive, 3000);
    assert_null(asked_state(f, "a"));
}

static void unchanged_cells_answer_their_tag(void **state)
{
    struct fixture *f = *state;
    lead(f, "a");
    desired(f, PUT, "web", 2);
    actual(f, PUT, "web", 0);
    send(f);
    assert_string_equal(asked_state(f, "a")->if_none_match, "");
    tell_state(f, state_call(f, "a"), row(f, "a"));
    uint64_t call;
    Cell__Work *w = work(f, "a", &call);
    take_work(f, w, call, 0);
    actual(f, PUT, "web", 1);
    send(f);
    assert_string_equal(asked_state(f, "a")->if_none_match, "\"tag\"");
    drive_response(&f->drive, state_call(f, "a"), 304, "\"tag\"", (struct bytes){0});
    w = work(f, "a", &call);
    assert_int_equal(w->lrps[0]->index, 1);
}

static void a_batch_is_what_came_during_the_last_round(void **state)
{
    struct fixture *f = *state;
    lead(f, "a");
    desired(f, PUT, "web", 4);
    actual(f, PUT, "web", 0);
    send(f);
    uint64_t looked = state_call(f, "a");
    actual(f, PUT, "web", 1); /* before the cells have answered: the same batch */
    send(f);
    tell_state(f, looked, row(f, "a"));
    uint64_t call;
    Cell__Work *w = work(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
    actual(f, PUT, "web", 2); /* while work is on its way: the next batch, both together */
    actual(f, PUT, "web", 3);
    send(f);
    assert_null(asked_state(f, "a"));
    take_work(f, w, call, 0);
    go_on(f);
    tell_state(f, state_call(f, "a"), row(f, "a"));
    w = work(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
}

static void cells_that_cannot_be_relied_on_are_not_used(void **state)
{
    struct fixture *f = *state;
    lead(f, "a b c d e f");
    cell(f, PUT, "lost", BOARD__CELL_RECORD__STATE__LOST);
    desired(f, PUT, "web", 1);
    actual(f, PUT, "web", 0);
    send(f);
    assert_null(asked_state(f, "lost"));
    uint64_t calls[6];
    const char *ids[] = {"a", "b", "c", "d", "e", "f"};
    for (size_t i = 0; i < 6; i++) {
        calls[i] = state_call(f, ids[i]);
    }
    Cell__CellState *s = row(f, "a");
    s->evacuating = true;
    tell_state(f, calls[0], s);
    tell_state(f, calls[1], row(f, "somebody-else"));
    drive_response(&f->drive, calls[2], 503, "", (struct bytes){0});
    drive_response(&f->drive, calls[3], 200, "", bytes_of("\xff\xff"));
    drive_unanswered(&f->drive, calls[4], CALL_REFUSED);
    drive_sleep(&f->drive, 1000);
    drive_unanswered(&f->drive, calls[5], CALL_UNKNOWN);
    uint64_t call;
    assert_string_equal(failed(f, &call), "web/0=unable to communicate to compatible cells ");
    applied(f, call, 1);
    /* The one that did not answer in time is left alone for a while, the others are asked. */
    drive_advance(&f->drive, 1000);
    assert_non_null(asked_state(f, "a"));
    assert_null(asked_state(f, "f"));
}

/* ---- Work that comes back -------------------------------------------------------------------- */

/* Two cells, three instances: two go to a, one to b. Gives the calls. */
static void hand_out_three(struct fixture *f, Cell__Work **ret_a, uint64_t *ret_call_a,
                           uint64_t *ret_call_b)
{
    lead(f, "a b");
    desired(f, PUT, "web", 3);
    for (int i = 0; i < 3; i++) {
        actual(f, PUT, "web", i);
    }
    send(f);
    uint64_t a = state_call(f, "a"), b = state_call(f, "b");
    tell_state(f, a, row(f, "a"));
    tell_state(f, b, row(f, "b"));
    *ret_a = work(f, "a", ret_call_a);
    assert_int_equal((*ret_a)->n_lrps, 2);
    assert_int_equal(work(f, "b", ret_call_b)->n_lrps, 1);
}

static void returned_work_goes_elsewhere_at_once(void **state)
{
    struct fixture *f = *state;
    uint64_t call_a, call_b;
    Cell__Work *w;
    hand_out_three(f, &w, &call_a, &call_b);
    take_work(f, w, call_a, 1);
    assert_null(asked_state(f, "b"));
    take_work(f, w, call_b, 0);
    uint64_t call;
    Cell__Work *again = work(f, "b", &call); /* a is left out this round, and not asked again */
    assert_int_equal(again->n_lrps, 1);
    assert_int_equal(again->lrps[0]->index, w->lrps[0]->index);
    assert_null(asked_state(f, "a"));
    assert_false(map_get(&f->x->cells.by_id, "a") == NULL);
    take_work(f, again, call, 0);
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 3);
    assert_int_equal(f->x->auction.last.returned, 1);
    assert_int_equal(f->x->auction.last.placed, 3);
}

static void work_without_answer_goes_elsewhere_at_once(void **state)
{
    struct fixture *f = *state;
    uint64_t call_a, call_b, call;
    Cell__Work *w;
    hand_out_three(f, &w, &call_a, &call_b);
    take_work(f, w, call_b, 0);
    drive_sleep(&f->drive, 1000);
    drive_unanswered(&f->drive, call_a, CALL_UNKNOWN);
    Cell__Work *again = work(f, "b", &call);
    assert_int_equal(again->n_lrps, 2);
    /* b gives one back as well: nobody is left, so it waits. */
    take_work(f, again, call, 1);
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 2);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 1);
    assert_string_equal(failed(f, &call),
                        arena_printf(&f->arena, "web/%d=unable to communicate to compatible cells ",
                                     again->lrps[0]->index));
}

static void what_was_placed_before_is_reckoned_with(void **state)
{
    struct fixture *f = *state;
    uint64_t call_a, call_b, call;
    Cell__Work *w;
    lead(f, "a b");
    desired(f, PUT, "web", 3);
    for (int i = 0; i < 3; i++) {
        actual(f, PUT, "web", i);
    }
    send(f);
    uint64_t a = state_call(f, "a"), b = state_call(f, "b");
    Cell__CellState *full = row(f, "b");
    full->availableresources->memorymb = 150; /* room for one */
    tell_state(f, a, row(f, "a"));
    tell_state(f, b, full);
    w = work(f, "a", &call_a);
    Cell__Work *one = work(f, "b", &call_b);
    assert_int_equal(one->n_lrps, 1);
    take_work(f, one, call_b, 0);
    take_work(f, w, call_a, w->n_lrps);
    assert_null(work(f, "b", &call));
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], w->n_lrps);
    assert_non_null(strstr(failed(f, &call), "insufficient resources: memory"));
}

/* ---- What stays unplaced
 * ------------------------------------------------------------------------- */

/* One instance that no cell takes: a is full. */
static void refuse_one(struct fixture *f, Cell__CellState **ret_full)
{
    lead(f, "a");
    desired(f, PUT, "web", 1);
    actual(f, PUT, "web", 0);
    send(f);
    *ret_full = row(f, "a");
    (*ret_full)->availableresources->memorymb = 99;
    tell_state(f, state_call(f, "a"), *ret_full);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 1);
}

static void a_refusal_is_told_once(void **state)
{
    struct fixture *f = *state;
    Cell__CellState *full;
    uint64_t call;
    refuse_one(f, &full);
    assert_string_equal(failed(f, &call), "web/0=insufficient resources: memory ");
    applied(f, call, 1);
    actual_with(f, PUT, "web", 0, "insufficient resources: memory");
    frame_heartbeat(&f->sent, "e1", f->revision);
    send(f);
    for (int i = 0; i < 14; i++) { /* the sweep after 10 s tries again, and says nothing new */
        drive_advance(&f->drive, 1000);
        if (asked_state(f, "a")) {
            tell_state(f, state_call(f, "a"), full);
        }
        assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
        frame_heartbeat(&f->sent, "e1", f->revision);
        send(f);
    }
    assert_true(f->x->auction.last.number >= 2);
    /* Another reason is told. */
    full->availableresources->diskmb = 0;
    for (int i = 0; i < 14 && !drive_call(&f->drive, "/v1/board/apply", 0); i++) {
        drive_advance(&f->drive, 1000);
        if (asked_state(f, "a")) {
            tell_state(f, state_call(f, "a"), full);
        } else {
            frame_heartbeat(&f->sent, "e1", f->revision);
            send(f);
        }
    }
    assert_string_equal(failed(f, &call), "web/0=insufficient resources: disk, memory ");
}

static void a_new_leader_does_not_repeat_what_the_record_says(void **state)
{
    struct fixture *f = *state;
    lead(f, "a");
    desired(f, PUT, "web", 1);
    actual_with(f, PUT, "web", 0, "insufficient resources: memory");
    send(f);
    Cell__CellState *full = row(f, "a");
    full->availableresources->memorymb = 99;
    tell_state(f, state_call(f, "a"), full);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 1);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
}

static void a_report_without_answer_is_repeated(void **state)
{
    struct fixture *f = *state;
    Cell__CellState *full;
    uint64_t call;
    refuse_one(f, &full);
    assert_string_equal(failed(f, &call), "web/0=insufficient resources: memory ");
    drive_unanswered(&f->drive, call, CALL_UNKNOWN);
    bool told = false;
    for (int i = 0; i < 14 && !told; i++) {
        drive_advance(&f->drive, 1000);
        if (asked_state(f, "a")) {
            tell_state(f, state_call(f, "a"), full);
        } else {
            frame_heartbeat(&f->sent, "e1", f->revision);
            send(f);
        }
        told = drive_call(&f->drive, "/v1/board/apply", 0) != NULL;
    }
    assert_true(told);
}

static void more_room_is_found_within_two_seconds(void **state)
{
    struct fixture *f = *state;
    Cell__CellState *full;
    uint64_t call;
    refuse_one(f, &full);
    drive_advance(&f->drive, 1999);
    assert_null(asked_state(f, "a"));
    drive_advance(&f->drive, 1);
    uint64_t rounds = f->x->auction.last.number;
    drive_response(&f->drive, state_call(f, "a"), 304, "\"tag\"", (struct bytes){0});
    assert_int_equal(f->x->auction.last.number, rounds); /* nothing has changed: no auction */
    frame_heartbeat(&f->sent, "e1", f->revision);
    send(f);
    drive_advance(&f->drive, 2000);
    full->availableresources->memorymb = 100;
    tell_state(f, state_call(f, "a"), full);
    assert_non_null(work(f, "a", &call));
}

static void a_new_cell_is_tried_at_once(void **state)
{
    struct fixture *f = *state;
    Cell__CellState *full;
    uint64_t call;
    refuse_one(f, &full);
    cell(f, PUT, "b", BOARD__CELL_RECORD__STATE__PRESENT);
    send(f);
    uint64_t a = state_call(f, "a"), b = state_call(f, "b");
    tell_state(f, a, full);
    tell_state(f, b, row(f, "b"));
    assert_non_null(work(f, "b", &call));
}

static void the_unplaced_are_tried_with_each_batch(void **state)
{
    struct fixture *f = *state;
    Cell__CellState *full;
    uint64_t call;
    refuse_one(f, &full);
    desired(f, PUT, "db", 1);
    actual(f, PUT, "db", 0);
    send(f);
    tell_state(f, state_call(f, "a"), row(f, "a"));
    assert_int_equal(work(f, "a", &call)->n_lrps, 2);
}

static void placed_but_unchanged_is_auctioned_again(void **state)
{
    struct fixture *f = *state;
    lead(f, "a");
    desired(f, PUT, "web", 1);
    actual(f, PUT, "web", 0);
    send(f);
    tell_state(f, state_call(f, "a"), row(f, "a"));
    uint64_t call;
    Cell__Work *w = work(f, "a", &call);
    take_work(f, w, call, 0);
    for (int i = 0; i < 4; i++) {
        drive_advance(&f->drive, 1000);
        assert_null(asked_state(f, "a"));
        frame_heartbeat(&f->sent, "e1", f->revision);
        send(f);
    }
    drive_advance(&f->drive, 1000);
    assert_non_null(asked_state(f, "a"));
}

static void what_is_not_desired_is_not_placed(void **state)
{
    struct fixture *f = *state;
    lead(f, "a");
    desired(f, PUT, "web", 1);
    actual(f, PUT, "web", 1); /* beyond the instances */
    send(f);
    assert_null(asked_state(f, "a"));
    actual(f, PUT, "web", 0);
    send(f);
    uint64_t looked = state_call(f, "a");
    desired(f, DELETE, "web", 1);
    send(f);
    tell_state(f, looked, row(f, "a"));
    uint64_t call;
    assert_null(work(f, "a", &call));
    drive_advance(&f->drive, 100);
    assert_true(f->x->auction.phase == ROUND_IDLE);
}

static void what_leaves_during_a_round_is_forgotten(void **state)
{
    struct fixture *f = *state;
    uint64_t call_a, call_b, call;
    Cell__Work *w;
    hand_out_three(f, &w, &call_a, &call_b);
    for (int i = 0; i < 3; i++) {
        actual(f, DELETE, "web", i);
    }
    desired(f, DELETE, "web", 3);
    send(f);
    assert_int_equal(f->x->pool.entries.count, 0);
    take_work(f, w, call_b, 0);
    take_work(f, w, call_a, 2);
    Cell__Work *again = work(f, "b", &call);
    take_work(f, again, call, again->n_lrps);
    assert_null(drive_call(&f->drive, "/v1/board/apply", 0));
    assert_true(f->x->auction.phase == ROUND_IDLE);
}

static void the_pool_is_bounded_and_refilled(void **state)
{
    struct fixture *f = *state;
    end(f);
    f->config.pool_max = 2;
    begin(f);
    lead(f, "a");
    desired(f, PUT, "web", 4);
    for (int i = 0; i < 4; i++) {
        actual(f, PUT, "web", i);
    }
    send(f);
    assert_int_equal(f->x->pool.entries.count, 2);
    assert_true(f->x->pool.overflowed);
    tell_state(f, state_call(f, "a"), row(f, "a"));
    uint64_t call;
    Cell__Work *w = work(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
    take_work(f, w, call, 0);
    actual(f, DELETE, "web", 0);
    actual(f, DELETE, "web", 1);
    send(f);
    assert_int_equal(f->x->pool.entries.count, 2);
    assert_false(f->x->pool.overflowed);
    tell_state(f, state_call(f, "a"), row(f, "a"));
    w = work(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
    assert_int_equal(w->lrps[0]->index + w->lrps[1]->index, 5);
}

static size_t calls_of(struct fixture *f, const char *part)
{
    size_t count = 0;
    while (drive_call(&f->drive, part, count)) {
        count++;
    }
    return count;
}

static void questions_to_cells_are_bounded(void **state)
{
    struct fixture *f = *state;
    enum { CELLS = CELL_CALLS_MAX + 3 };
    struct buf ids;
    buf_init(&ids);
    for (int i = 0; i < CELLS; i++) {
        buf_printf(&ids, "%scell-%03d", i ? " " : "", i);
    }
    lead(f, buf_string(&ids));
    buf_done(&ids);
    desired(f, PUT, "web", 1);
    actual(f, PUT, "web", 0);
    send(f);
    assert_int_equal(calls_of(f, "/state"), CELL_CALLS_MAX);
    uint64_t first = f->x->cells.open[0].id;
    drive_unanswered(&f->drive, first, CALL_REFUSED);
    assert_int_equal(calls_of(f, "/state"), 1);
    for (int i = 1; i < CELLS; i++) {
        assert_true(f->x->cells.looking);
        drive_unanswered(&f->drive, f->x->cells.open[0].id, CALL_REFUSED);
    }
    assert_false(f->x->cells.looking);
    assert_int_equal(f->x->auction.last.refused, 1);
}

static void reports_are_bounded(void **state)
{
    struct fixture *f = *state;
    enum { INSTANCES = REPORT_MOVES_MAX * REPORT_CALLS_MAX + 5 };
    lead(f, "");
    desired(f, PUT, "web", INSTANCES);
    for (int i = 0; i < INSTANCES; i++) {
        actual(f, PUT, "web", i);
    }
    send(f); /* no cell: refused at once */
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], INSTANCES);
    assert_int_equal(calls_of(f, "/v1/board/apply"), REPORT_CALLS_MAX);
    applied(f, drive_call(&f->drive, "/v1/board/apply", 0)->id, REPORT_MOVES_MAX);
    assert_int_equal(calls_of(f, "/v1/board/apply"), 1);
    uint64_t call;
    const char *text = failed(f, &call);
    for (int i = INSTANCES - 5; i < INSTANCES; i++) {
        assert_non_null(strstr(text, arena_printf(&f->arena, "web/%d=", i)));
    }
    applied(f, call, 5);
    assert_int_equal(calls_of(f, "/v1/board/apply"), 0);
}

static void a_round_takes_a_bounded_number_the_fresh_first(void **state)
{
    struct fixture *f = *state;
    lead(f, "");
    desired(f, PUT, "web", 9);
    for (int i = 0; i < 6; i++) {
        actual(f, PUT, "web", i);
    }
    send(f);
    assert_int_equal(f->x->pool.counts[ENTRY_REFUSED], 6);
    struct entry **list;
    size_t refused;
    actual(f, PUT, "web", 6);
    f->x->auction.phase = ROUND_COMMITTING; /* not now */
    f->x->auction.open_count = 1;
    send(f);
    assert_int_equal(pool_take(&f->x->pool, &f->arena, 3, &list, &refused), 3);
    assert_int_equal(refused, 2);
    assert_int_equal(list[0]->index, 6);
    assert_int_equal(list[1]->index, 0); /* has waited longest */
    assert_int_equal(list[2]->index, 1);
    for (size_t i = 0; i < 3; i++) {
        assert_true(pool_refused(&f->x->pool, list[i], NULL, 0));
    }
    assert_int_equal(pool_take(&f->x->pool, &f->arena, 2, &list, &refused), 2);
    assert_int_equal(list[0]->index, 2);
    pool_put_back(&f->x->pool, list[0], 0);
    pool_put_back(&f->x->pool, list[1], 0);
    f->x->auction.phase = ROUND_IDLE;
    f->x->auction.open_count = 0;
}

static void a_reset_keeps_what_is_seen_again(void **state)
{
    struct fixture *f = *state;
    Cell__CellState *full;
    refuse_one(f, &full);
    frame_reset(&f->sent, "e1");
    send(f);
    drive_advance(&f->drive, 3000);
    assert_null(asked_state(f, "a")); /* half a copy decides nothing */
    actual(f, RECORD, "web", 0);
    cell(f, RECORD, "a", BOARD__CELL_RECORD__STATE__PRESENT);
    desired(f, RECORD, "web", 1);
    Board__LeadRecord lead_record = BOARD__LEAD_RECORD__INIT;
    lead_record.holder = f->x->leader.id;
    frame_change(&f->sent, RECORD, "lead/auctioneer", &lead_record.base, f->x->leader.term);
    current(f);
    assert_true(f->x->leader.leads);
    assert_int_equal(f->x->pool.entries.count, 1);
    frame_reset(&f->sent, "e1");
    frame_change(&f->sent, RECORD, "lead/auctioneer", &lead_record.base, f->x->leader.term);
    current(f);
    assert_int_equal(f->x->pool.entries.count, 0);
}

static void a_deposed_leader_stops_at_once(void **state)
{
    struct fixture *f = *state;
    uint64_t call_a, call_b, call;
    Cell__Work *w;
    hand_out_three(f, &w, &call_a, &call_b);
    Board__LeadRecord other = BOARD__LEAD_RECORD__INIT;
    other.holder = arena_strdup(&f->arena, "other");
    frame_change(&f->sent, PUT, "lead/auctioneer", &other.base, ++f->revision);
    send(f);
    assert_false(f->x->leader.leads);
    take_work(f, w, call_a, 2);
    take_work(f, w, call_b, 0);
    assert_null(work(f, "b", &call));
    drive_advance(&f->drive, 3000);
    assert_null(asked_state(f, "a"));
    assert_int_equal(f->x->pool.entries.count, 3);
    assert_int_equal(f->x->pool.counts[ENTRY_FRESH], 3);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static const struct reply *ask(struct fixture *f, const char *unit, const char *method,
                               const char *path, const char *type, struct bytes body)
{
    drive_event(&f->drive, (struct event){.kind = EVENT_REQUEST,
                                          .request = {.id = ++f->request_id,
                                                      .method = method,
                                                      .path = path,
                                                      .query = "",
                                                      .trace_id = "",
                                                      .accept = "",
                                                      .content_type = type,
                                                      .if_none_match = "",
                                                      .peer = {.unit = unit, .name = "x"},
                                                      .body = body}});
    const struct effect *e = drive_effect(&f->drive, EFFECT_REPLY, 0);
    assert_non_null(e);
    assert_null(drive_effect(&f->drive, EFFECT_REPLY, 1));
    assert_int_equal(e->reply.id, f->request_id);
    return &e->reply;
}

static bool body_is(const struct reply *r, const char *text)
{
    return bytes_equal(r->body, bytes_of(text));
}

static const char hint[] =
    "[{\"process_guid\":\"web\",\"domain\":\"d\",\"indices\":[0,1],\"RootFs\":\"preloaded:x\"},"
    "{\"process_guid\":\"\",\"domain\":\"d\",\"indices\":[0],\"RootFs\":\"preloaded:x\"},"
    "{\"process_guid\":\"bad\",\"domain\":\"d\",\"indices\":[],\"RootFs\":\"preloaded:x\"},"
    "{\"process_guid\":\"bad\",\"domain\":\"d\",\"indices\":[0],\"RootFs\":\"preloaded:x\","
    "\"MemoryMB\":-1}]";

static void hints_come_sooner_than_the_feed(void **state)
{
    struct fixture *f = *state;
    lead(f, "a");
    desired(f, PUT, "web", 2);
    send(f);
    const struct reply *r = ask(f, "bbs", "POST", "/v1/lrps", "application/json", bytes_of(hint));
    assert_int_equal(r->status, 202);
    assert_true(body_is(r, "{}"));
    assert_int_equal(f->x->pool.entries.count, 2); /* invalid elements are dropped */
    tell_state(f, state_call(f, "a"), row(f, "a"));
    uint64_t call;
    Cell__Work *w = work(f, "a", &call);
    assert_int_equal(w->n_lrps, 2);
    take_work(f, w, call, 0);
    actual(f, PUT, "web", 0); /* the feed follows: placed already */
    send(f);
    go_on(f);
    assert_null(asked_state(f, "a"));
    assert_int_equal(f->x->pool.counts[ENTRY_PLACED], 2);
    /* The other one never comes: dropped after a while. */
    actual(f, DELETE, "web", 0);
    frame_heartbeat(&f->sent, "e1", f->revision);
    send(f);
    drive_advance(&f->drive, 3000);
    frame_heartbeat(&f->sent, "e1", f->revision);
    send(f);
    drive_advance(&f->drive, 2500);
    assert_int_equal(f->x->pool.entries.count, 0);
}

static void hints_in_protobuf_and_of_what_is_unknown(void **state)
{
    struct fixture *f = *state;
    lead(f, "a");
    Cell__LRPStarts starts = CELL__LRPSTARTS__INIT;
    Cell__LRPStart start = CELL__LRPSTART__INIT, *list[] = {&start};
    int32_t indices[] = {0, -1};
    start.process_guid = arena_strdup(&f->arena, "web");
    start.domain = arena_strdup(&f->arena, "d");
    start.rootfs = arena_strdup(&f->arena, "preloaded:x");
    start.indices = indices;
    start.n_indices = 2;
    starts.starts = list;
    starts.n_starts = 1;
    struct buf body;
    buf_init(&body);
    buf_message(&body, &starts.base);
    assert_int_equal(
        ask(f, "bbs", "POST", "/v1/lrps", "application/x-protobuf", buf_bytes(&body))->status, 202);
    buf_done(&body);
    assert_int_equal(f->x->pool.entries.count, 1);
    assert_null(asked_state(f, "a")); /* no DesiredLRP yet */
    drive_advance(&f->drive, 3000);
    frame_heartbeat(&f->sent, "e1", f->revision);
    send(f);
    drive_advance(&f->drive, 2500);
    assert_int_equal(f->x->pool.entries.count, 0);
}

static void a_hint_retries_what_was_refused(void **state)
{
    struct fixture *f = *state;
    Cell__CellState *full;
    refuse_one(f, &full);
    ask(f, "bbs", "POST", "/v1/lrps", "application/json", bytes_of(hint));
    assert_non_null(asked_state(f, "a"));
}

static void bad_requests(void **state)
{
    struct fixture *f = *state;
    lead(f, "a");
    static const char *const bad[] = {"", "{}", "[", "[1]", "[{\"indices\":\"x\"}]"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct reply *r =
            ask(f, "bbs", "POST", "/v1/lrps", "application/json", bytes_of(bad[i]));
        assert_int_equal(r->status, 400);
        assert_string_equal(r->content_type, "application/json");
        assert_memory_equal(r->body.data, "{\"error\":\"", 10);
    }
    assert_int_equal(
        ask(f, "bbs", "POST", "/v1/lrps", "application/x-protobuf", bytes_of("\xff"))->status, 400);
    static const char *const units[] = {"rep", "auctioneer", "converger", "", "somebody"};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        assert_int_equal(ask(f, units[i], "POST", "/v1/lrps", "", bytes_of("[]"))->status, 403);
        assert_int_equal(ask(f, units[i], "GET", "/state", "", bytes_of(""))->status, 200);
    }
    const struct reply *r = ask(f, "bbs", "GET", "/v1/lrps", "", bytes_of(""));
    assert_int_equal(r->status, 405);
    assert_string_equal(r->allow, "POST");
    assert_true(body_is(r, "Method Not Allowed\n"));
    r = ask(f, "bbs", "POST", "/v1/lrps/", "", bytes_of(""));
    assert_int_equal(r->status, 404);
    assert_true(body_is(r, "404 page not found\n"));
    assert_int_equal(f->x->pool.entries.count, 0);
    assert_true(f->role->ops->body_limit(f->role, "/v1/lrps") > 1024 * 1024);
    assert_int_equal(f->role->ops->body_limit(f->role, "/state"), 0);
}

static void a_standby_takes_no_hints(void **state)
{
    struct fixture *f = *state;
    drive_start(&f->drive);
    const struct reply *r = ask(f, "bbs", "POST", "/v1/lrps", "application/json", bytes_of(hint));
    assert_int_equal(r->status, 503);
    assert_int_equal(r->retry_after_s, 1);
    assert_int_equal(f->x->pool.entries.count, 0);
}

static void state_says_who_leads_and_what_is_unplaced(void **state)
{
    struct fixture *f = *state;
    Cell__CellState *full;
    refuse_one(f, &full);
    const struct reply *r = ask(f, "somebody", "GET", "/state", "", bytes_of(""));
    assert_string_equal(r->content_type, "application/json");
    const char *text = arena_strndup(&f->arena, (const char *)r->body.data, r->body.size);
    static const char *const parts[] = {"\"name\":\"auctioneer-1\"",
                                        "\"leads\":true",
                                        "\"term\":11",
                                        "\"epoch\":\"e1\"",
                                        "\"process_guid\":\"web\"",
                                        "\"reason\":\"insufficient resources: memory\"",
                                        "\"cell_id\":\"a\"",
                                        "\"memory_mb\":99",
                                        "\"refused\":1"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!strstr(text, parts[i])) {
            fail_msg("%s is not in %s", parts[i], text);
        }
    }
}

/* ---- Stopping and starting
 * ----------------------------------------------------------------------- */

static void stopping_gives_the_lock_back(void **state)
{
    struct fixture *f = *state;
    lead(f, "a");
    drive_event(&f->drive, (struct event){.kind = EVENT_STOP});
    assert_null(drive_effect(&f->drive, EFFECT_EXIT, 0));
    const struct call *c = drive_call(&f->drive, "/v1/board/lead", 0);
    ProtobufCAllocator allocator = arena_protobuf(&f->arena);
    Board__LeadRequest *r = board__lead_request__unpack(&allocator, c->body.size, c->body.data);
    assert_int_equal(r->release, 11);
    Board__LeadResponse answer = BOARD__LEAD_RESPONSE__INIT;
    drive_answer(&f->drive, c->id, &answer.base);
    assert_int_equal(drive_effect(&f->drive, EFFECT_EXIT, 0)->exit.code, 0);
    drive_timer(&f->drive);
    assert_int_equal(f->drive.out.count, 0);
}

static void stopping_waits_a_second_at_most(void **state)
{
    struct fixture *f = *state;
    lead(f, "a");
    drive_event(&f->drive, (struct event){.kind = EVENT_STOP});
    drive_advance(&f->drive, 999);
    assert_null(drive_effect(&f->drive, EFFECT_EXIT, 0));
    drive_advance(&f->drive, 1);
    assert_int_equal(drive_effect(&f->drive, EFFECT_EXIT, 0)->exit.code, 0);
}

static void a_standby_stops_at_once(void **state)
{
    struct fixture *f = *state;
    drive_start(&f->drive);
    drive_event(&f->drive, (struct event){.kind = EVENT_STOP});
    assert_int_equal(drive_effect(&f->drive, EFFECT_EXIT, 0)->exit.code, 0);
}

static void a_wrong_configuration_ends_it(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *boards, *zones, *scoring, *text;
    } rows[] = {
        {"", "", "default", "no bbs address"},
        {"http://a:1", "", "default", "not https"},
        {"https://a:1", "a,b,a", "default", "zone a is named twice"},
        {"https://a:1", "a,,b", "default", "zones must be"},
        {"https://a:1", "a,", "default", "end in a comma"},
        {"https://a:1", "", "best", "neither default nor diego"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        end(f);
        f->config.boards = rows[i].boards;
        f->config.zones = rows[i].zones;
        f->config.scoring = rows[i].scoring;
        begin(f);
        drive_start(&f->drive);
        const struct effect *e = drive_effect(&f->drive, EFFECT_EXIT, 0);
        assert_int_equal(e->exit.code, 2);
        assert_non_null(strstr(e->exit.text, rows[i].text));
    }
    end(f);
    f->config = (struct auctioneer_config){
        .name = "x", .boards = "https://a:1", .url = "", .zones = "z1,z2", .scoring = "diego"};
    begin(f);
    assert_int_equal(f->x->rules.zone_count, 2);
    assert_true(f->x->rules.score.starting_container_weight == 0.25);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_standby_follows_but_asks_no_cell),
        TEST(places_what_the_feed_shows),
        TEST(unchanged_cells_answer_their_tag),
        TEST(a_batch_is_what_came_during_the_last_round),
        TEST(cells_that_cannot_be_relied_on_are_not_used),
        TEST(returned_work_goes_elsewhere_at_once),
        TEST(work_without_answer_goes_elsewhere_at_once),
        TEST(what_was_placed_before_is_reckoned_with),
        TEST(a_refusal_is_told_once),
        TEST(a_new_leader_does_not_repeat_what_the_record_says),
        TEST(a_report_without_answer_is_repeated),
        TEST(more_room_is_found_within_two_seconds),
        TEST(a_new_cell_is_tried_at_once),
        TEST(the_unplaced_are_tried_with_each_batch),
        TEST(placed_but_unchanged_is_auctioned_again),
        TEST(what_is_not_desired_is_not_placed),
        TEST(what_leaves_during_a_round_is_forgotten),
        TEST(the_pool_is_bounded_and_refilled),
        TEST(questions_to_cells_are_bounded),
        TEST(reports_are_bounded),
        TEST(a_round_takes_a_bounded_number_the_fresh_first),
        TEST(a_reset_keeps_what_is_seen_again),
        TEST(a_deposed_leader_stops_at_once),
        TEST(hints_come_sooner_than_the_feed),
        TEST(hints_in_protobuf_and_of_what_is_unknown),
        TEST(a_hint_retries_what_was_refused),
        TEST(bad_requests),
        TEST(a_standby_takes_no_hints),
        TEST(state_says_who_leads_and_what_is_unplaced),
        TEST(stopping_gives_the_lock_back),
        TEST(stopping_waits_a_second_at_most),
        TEST(a_standby_stops_at_once),
        TEST(a_wrong_configuration_ends_it),
    };
    return cmocka_run_group_tests_name("auction role", tests, NULL, NULL);
}
