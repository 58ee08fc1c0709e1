#include "test/unit/auctioneer/auction_rig.h"

#include "auctioneer/auctioneer.h"
#include "common/model/keys.h"
#include "common/model/moves.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

static void step(void *target, const struct event *ev, struct effects *out)
{
    role_step(target, ev, out);
}

void play_begin(struct auction_rig *f)
{
    f->role = auctioneer_new(&f->config);
    f->x = (struct auctioneer *)f->role;
    drive_init(&f->drive, step, f->role);
}

int play_setup(void **state)
{
    struct auction_rig *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    buf_init(&f->sent);
    buf_init(&f->text);
    f->revision = 10;
    f->config = (struct auctioneer_config){.name = "auctioneer-1",
                                           .boards = "https://a:1,https://b:2",
                                           .url = "https://me:9016",
                                           .zones = "",
                                           .scoring = "default"};
    play_begin(f);
    *state = f;
    return 0;
}

void play_end(struct auction_rig *f)
{
    role_free(f->role);
    drive_done(&f->drive);
}

int play_teardown(void **state)
{
    struct auction_rig *f = *state;
    play_end(f);
    buf_done(&f->sent);
    buf_done(&f->text);
    arena_done(&f->arena);
    free(f);
    return 0;
}

/* ---- The board ------------------------------------------------------------------------------- */

void play_send(struct auction_rig *f)
{
    struct buf once = f->sent;
    buf_init(&f->sent);
    drive_stream(&f->drive, f->x->life.feed_client.call_id, buf_bytes(&once));
    buf_done(&once);
}

static int64_t next_revision(struct auction_rig *f, Board__FeedFrame__Kind kind)
{
    return kind == RECORD ? f->revision : ++f->revision;
}

void play_cell(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *id,
               Board__CellRecord__State cell_state)
{
    Board__CellRecord record = BOARD__CELL_RECORD__INIT;
    Models__CellPresence presence = MODELS__CELL_PRESENCE__INIT;
    presence.cell_id = arena_strdup(&f->arena, id);
    presence.rep_url = arena_printf(&f->arena, "https://%s:1801", id);
    record.presence = &presence;
    record.state = cell_state;
    record.incarnation = 1;
    record.pool = arena_strdup(&f->arena, f->pool ? f->pool : "");
    record.pool_leaves = f->pool_leaves;
    frame_change(&f->sent, kind, key_cell(&f->arena, id), &record.base, next_revision(f, kind));
}

void play_desired_as(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                     int instances, const char *definition_id)
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
    tag.epoch = arena_strdup(&f->arena, definition_id);
    lrp.modification_tag = &tag;
    mount.driver = arena_strdup(&f->arena, "nfs");
    lrp.n_volume_mounts = 1;
    lrp.volume_mounts = mounts;
    char *tags[] = {arena_strdup(&f->arena, f->tag ? f->tag : "")};
    lrp.n_placementtags = f->tag ? 1 : 0;
    lrp.placementtags = tags;
    frame_change(&f->sent, kind, key_desired(&f->arena, guid), &lrp.base, next_revision(f, kind));
}

void play_desired(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                  int instances)
{
    play_desired_as(f, kind, guid, instances, "definition-1");
}

void play_actual_with(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *guid,
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

void play_actual(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                 int32_t index)
{
    play_actual_with(f, kind, guid, index, "");
}

int64_t play_task(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                  int32_t rejections)
{
    Models__Task task = MODELS__TASK__INIT;
    Models__TaskDefinition definition = MODELS__TASK_DEFINITION__INIT;
    Models__VolumeMount mount = MODELS__VOLUME_MOUNT__INIT, *mounts[] = {&mount};
    task.task_guid = arena_strdup(&f->arena, guid);
    task.domain = arena_strdup(&f->arena, "some-domain");
    task.state = MODELS__TASK__STATE__Pending;
    task.rejection_count = rejections;
    task.created_at = PLAY_CREATED_AT;
    task.task_definition = &definition;
    definition.root_fs = arena_strdup(&f->arena, "preloaded:busybox");
    definition.memory_mb = 100;
    definition.disk_mb = 50;
    definition.max_pids = 7;
    mount.driver = arena_strdup(&f->arena, "nfs");
    definition.n_volume_mounts = 1;
    definition.volume_mounts = mounts;
    int64_t revision = next_revision(f, kind);
    frame_change(&f->sent, kind, key_task(&f->arena, guid), &task.base, revision);
    return revision;
}

void play_lock(struct auction_rig *f, Board__FeedFrame__Kind kind, const char *holder,
               int64_t revision)
{
    Board__LeaderLockRecord record = BOARD__LEADER_LOCK_RECORD__INIT;
    record.holder = arena_strdup(&f->arena, holder);
    frame_change(&f->sent, kind, "lead/auctioneer", &record.base, revision);
}

void play_current(struct auction_rig *f)
{
    frame_current(&f->sent, "e1", f->revision);
    play_send(f);
}

void play_heartbeat(struct auction_rig *f)
{
    frame_heartbeat(&f->sent, "e1", f->revision);
    play_send(f);
}

void play_elect(struct auction_rig *f)
{
    uint64_t id = drive_call(&f->drive, "/v1/board/leader_lock", 0)->id;
    Board__LeaderLockResponse r = BOARD__LEADER_LOCK_RESPONSE__INIT;
    Board__LeaderLockRecord leader_lock = BOARD__LEADER_LOCK_RECORD__INIT;
    Board__Term term = BOARD__TERM__INIT;
    leader_lock.holder = f->x->life.leader.id;
    term.role = arena_strdup(&f->arena, "auctioneer");
    term.board_generation = arena_strdup(&f->arena, "e1");
    term.term = ++f->revision;
    r.leader_lock = &leader_lock;
    r.term = &term;
    drive_answer(&f->drive, id, &r.base);
    assert_true(f->x->life.leader.leads);
}

void play_depose(struct auction_rig *f)
{
    play_lock(f, PUT, "other", ++f->revision);
    play_send(f);
    assert_false(f->x->life.leader.leads);
}

void play_leader_lock(struct auction_rig *f, const char *cells)
{
    char **ids;
    size_t count = cell_row_words(&f->arena, cells, &ids);
    drive_start(&f->drive);
    frame_reset(&f->sent, "e1");
    for (size_t i = 0; i < count; i++) {
        play_cell(f, RECORD, ids[i], BOARD__CELL_RECORD__STATE__PRESENT);
    }
    play_current(f);
    play_elect(f);
}

void play_unclaimed(struct auction_rig *f, const char *cells, int instances)
{
    play_leader_lock(f, cells);
    play_desired(f, PUT, "web", instances);
    for (int i = 0; i < instances; i++) {
        play_actual(f, PUT, "web", i);
    }
    play_send(f);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

Cell__CellState *play_row(struct auction_rig *f, const char *id)
{
    Cell__CellState *s = cell_row_new(&f->arena, id, "z1", 1000 - (id[0] - 'a'), 1000);
    cell_row_drivers(&f->arena, s, "nfs");
    return s;
}

const struct call *play_asked_state(struct auction_rig *f, const char *id)
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

uint64_t play_state_call(struct auction_rig *f, const char *id)
{
    const struct call *c = play_asked_state(f, id);
    assert_non_null(c);
    return c->id;
}

void play_tell_state(struct auction_rig *f, uint64_t call, const Cell__CellState *s)
{
    SCOPED_BUF(body);
    buf_message(&body, &s->base);
    drive_response(&f->drive, call, 200, "\"tag\"", buf_bytes(&body));
}

Cell__Work *play_work(struct auction_rig *f, const char *id, uint64_t *ret_call)
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

Cell__Work *play_hand_out(struct auction_rig *f, const char *id, uint64_t *ret_call)
{
    play_tell_state(f, play_state_call(f, id), play_row(f, id));
    Cell__Work *w = play_work(f, id, ret_call);
    assert_non_null(w);
    return w;
}

Cell__Work *play_hand_out_three(struct auction_rig *f, uint64_t *ret_call_a, uint64_t *ret_call_b)
{
    play_unclaimed(f, "a b", 3);
    uint64_t a = play_state_call(f, "a"), b = play_state_call(f, "b");
    play_tell_state(f, a, play_row(f, "a"));
    play_tell_state(f, b, play_row(f, "b"));
    Cell__Work *w = play_work(f, "a", ret_call_a);
    assert_int_equal(w->n_lrps, 2);
    assert_int_equal(play_work(f, "b", ret_call_b)->n_lrps, 1);
    return w;
}

void play_take_work(struct auction_rig *f, const Cell__Work *w, uint64_t call, size_t back)
{
    Cell__Work answer = CELL__WORK__INIT;
    answer.lrps = w->lrps;
    answer.n_lrps = back;
    drive_answer(&f->drive, call, &answer.base);
}

void play_take_tasks(struct auction_rig *f, const Cell__Work *w, uint64_t call, size_t back)
{
    Cell__Work answer = CELL__WORK__INIT;
    answer.tasks = w->tasks;
    answer.n_tasks = back;
    drive_answer(&f->drive, call, &answer.base);
}

Cell__CellState *play_refuse(struct auction_rig *f)
{
    Cell__CellState *full = play_row(f, "a");
    full->availableresources->memorymb = 99;
    play_tell_state(f, play_state_call(f, "a"), full);
    assert_int_equal(f->x->backlog.counts[ENTRY_REFUSED], 1);
    return full;
}

Cell__CellState *play_refuse_lrp(struct auction_rig *f)
{
    play_unclaimed(f, "a", 1);
    return play_refuse(f);
}

int64_t play_refuse_task(struct auction_rig *f, int32_t rejections, Cell__CellState **ret_full)
{
    play_leader_lock(f, "a");
    int64_t revision = play_task(f, PUT, "t", rejections);
    play_send(f);
    Cell__CellState *full = play_refuse(f);
    if (ret_full) {
        *ret_full = full;
    }
    return revision;
}

const char *play_failed(struct auction_rig *f, uint64_t *ret_call)
{
    const struct call *c = drive_call(&f->drive, "/v1/board/apply", 0);
    buf_clear(&f->text);
    if (!c) {
        return "";
    }
    ProtobufCAllocator allocator = arena_protobuf(&f->arena);
    Board__ApplyRequest *r = board__apply_request__unpack(&allocator, c->body.size, c->body.data);
    assert_string_equal(r->board_generation, "e1");
    for (size_t i = 0; i < r->n_moves; i++) {
        const Board__Move *m = r->moves[i];
        assert_string_equal(m->term->role, "auctioneer");
        assert_string_equal(m->term->board_generation, "e1");
        assert_int_equal(m->term->term, f->x->life.leader.term);
        if (move_kind(m) == RECORD_TASK) {
            assert_string_equal(m->move, "reject");
            buf_printf(&f->text, "%s@%lld=%s ", move_name(&f->arena, m),
                       (long long)m->subject->revision, m->task->error_message);
            continue;
        }
        struct move_place place;
        assert_string_equal(m->move, "fail");
        assert_true(move_place(&f->arena, m, &place));
        assert_string_equal(place.key.domain, "some-domain");
        buf_printf(&f->text, "%s/%d=%s ", place.key.process_guid, place.key.index,
                   m->instance->error_message);
    }
    *ret_call = c->id;
    return buf_string(&f->text);
}

static void answer_moves(struct auction_rig *f, uint64_t call, size_t moves,
                         Board__MoveResult__Outcome outcome)
{
    Board__ApplyResponse r = BOARD__APPLY_RESPONSE__INIT;
    Board__MoveResult result = BOARD__MOVE_RESULT__INIT;
    result.outcome = outcome;
    r.results = ARENA_ARRAY(&f->arena, moves, Board__MoveResult *);
    for (r.n_results = 0; r.n_results < moves; r.n_results++) {
        r.results[r.n_results] = &result;
    }
    drive_answer(&f->drive, call, &r.base);
}

void play_applied(struct auction_rig *f, uint64_t call, size_t moves)
{
    answer_moves(f, call, moves, BOARD__MOVE_RESULT__OUTCOME__DONE);
}

void play_refused(struct auction_rig *f, uint64_t call, size_t moves)
{
    answer_moves(f, call, moves, BOARD__MOVE_RESULT__OUTCOME__REFUSED);
}

void play_go_on(struct auction_rig *f)
{
    drive_advance(&f->drive, 0);
}

bool play_asked_within(struct auction_rig *f, int seconds)
{
    for (int i = 0; i < seconds; i++) {
        drive_advance(&f->drive, 1000);
        if (drive_call(&f->drive, "/state", 0) || drive_call(&f->drive, "/v1/board/apply", 0)) {
            return true;
        }
        play_heartbeat(f);
        if (drive_call(&f->drive, "/state", 0) || drive_call(&f->drive, "/v1/board/apply", 0)) {
            return true;
        }
    }
    return false;
}

bool play_told_within(struct auction_rig *f, int seconds, const Cell__CellState *full)
{
    for (int i = 0; i < seconds; i++) {
        if (play_asked_within(f, 1) && play_asked_state(f, "a")) {
            play_tell_state(f, play_state_call(f, "a"), full);
        }
        if (drive_call(&f->drive, "/v1/board/apply", 0)) {
            return true;
        }
    }
    return false;
}

const struct reply *play_ask(struct auction_rig *f, const char *unit, const char *method,
                             const char *path, const char *type, struct bytes body)
{
    size_t size = strcspn(path, "?");
    const char *query = path[size] ? path + size + 1 : "";
    path = arena_strndup(&f->arena, path, size);
    drive_event(&f->drive, (struct event){.kind = EVENT_REQUEST,
                                          .request = {.id = ++f->request_id,
                                                      .method = method,
                                                      .path = path,
                                                      .query = query,
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

const char play_task_hint[] = "[{\"TaskGuid\":\"t\",\"Domain\":\"d\",\"RootFs\":\"preloaded:x\"}]";

const struct reply *play_post(struct auction_rig *f, const char *unit, const char *path,
                              const char *json)
{
    return play_ask(f, unit, "POST", path, "application/json", bytes_of(json));
}

bool play_body_is(const struct reply *r, const char *text)
{
    return bytes_equal(r->body, bytes_of(text));
}
