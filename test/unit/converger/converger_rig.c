#include "test/unit/converger/converger_rig.h"

#include "common/model/keys.h"
#include "common/model/moves.h"
#include "test/tool/cmocka.h"

#include <stdlib.h>
#include <string.h>

static void step(void *target, const struct event *ev, struct effects *out)
{
    role_step(target, ev, out);
}

void rig_begin(struct converger_rig *f, const char *boards)
{
    struct converger_config config = {
        .name = "converger-1", .boards = boards, .url = "https://me:9017"};
    f->x = (struct converger *)converger_new(&config);
    drive_init(&f->drive, step, f->x);
}

int rig_setup(void **state)
{
    struct converger_rig *f = calloc(1, sizeof(*f));
    arena_init(&f->arena);
    buf_init(&f->sent);
    buf_init(&f->text);
    f->revision = 10;
    rig_begin(f, "https://a:1,https://b:2");
    *state = f;
    return 0;
}

int rig_teardown(void **state)
{
    struct converger_rig *f = *state;
    role_free(&f->x->life.role);
    drive_done(&f->drive);
    buf_done(&f->sent);
    buf_done(&f->text);
    arena_done(&f->arena);
    free(f);
    return 0;
}

struct instances_keeper *rig_instances(struct converger_rig *f)
{
    return (struct instances_keeper *)f->x->keepers[KEEPER_instances];
}

struct tasks *rig_tasks(struct converger_rig *f)
{
    return (struct tasks *)f->x->keepers[KEEPER_tasks];
}

/* ---- The board ------------------------------------------------------------------------------- */

void rig_send(struct converger_rig *f)
{
    struct buf once = f->sent;
    buf_init(&f->sent);
    drive_stream(&f->drive, f->x->life.feed_client.call_id, buf_bytes(&once));
    buf_done(&once);
}

void rig_change(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *key,
                const ProtobufCMessage *m)
{
    frame_change(&f->sent, kind, key, m, kind == RECORD ? f->revision : ++f->revision);
}

void rig_desired(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                 int instances)
{
    Models__DesiredLRP lrp = MODELS__DESIRED_LRP__INIT;
    lrp.process_guid = arena_strdup(&f->arena, guid);
    lrp.instances = instances;
    rig_change(f, kind, key_desired(&f->arena, guid), &lrp.base);
}

void rig_actual(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                int32_t index, const char *record_state, int64_t since_ns)
{
    Models__ActualLRP lrp = MODELS__ACTUAL_LRP__INIT;
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    key.process_guid = arena_strdup(&f->arena, guid);
    key.index = index;
    key.domain = arena_strdup(&f->arena, "d");
    lrp.actual_lrp_key = &key;
    lrp.state = arena_strdup(&f->arena, record_state);
    lrp.since = since_ns;
    lrp.crash_count = strcmp(record_state, "CRASHED") == 0 ? 3 : 0;
    rig_change(f, kind, key_actual(&f->arena, guid, index, 0), &lrp.base);
}

void rig_placed(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *guid,
                int32_t index, Models__ActualLRP__Presence presence, const char *cell)
{
    Models__ActualLRP lrp = MODELS__ACTUAL_LRP__INIT;
    Models__ActualLRPKey key = MODELS__ACTUAL_LRPKEY__INIT;
    Models__ActualLRPInstanceKey instance = MODELS__ACTUAL_LRPINSTANCE_KEY__INIT;
    key.process_guid = arena_strdup(&f->arena, guid);
    key.index = index;
    key.domain = arena_strdup(&f->arena, "d");
    instance.instance_guid = arena_printf(&f->arena, "%s-%d-%s", guid, (int)index, cell);
    instance.cell_id = arena_strdup(&f->arena, cell);
    lrp.actual_lrp_key = &key;
    lrp.actual_lrp_instance_key = &instance;
    lrp.state = arena_strdup(&f->arena, "RUNNING");
    lrp.presence = presence;
    rig_change(f, kind, key_actual(&f->arena, guid, index, (int)presence), &lrp.base);
}

void rig_cell(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *id,
              Board__CellRecord__State cell_state)
{
    Board__CellRecord cell = BOARD__CELL_RECORD__INIT;
    Models__CellPresence presence = MODELS__CELL_PRESENCE__INIT;
    presence.cell_id = arena_strdup(&f->arena, id);
    cell.presence = &presence;
    cell.state = cell_state;
    cell.incarnation = 1;
    cell.since = f->drive.now.wall_ns;
    rig_change(f, kind, key_cell(&f->arena, id), &cell.base);
}

void rig_lock(struct converger_rig *f, Board__FeedFrame__Kind kind, const char *name, int64_t ttl_s)
{
    Board__LockRecord r = BOARD__LOCK_RECORD__INIT;
    r.key = arena_strdup(&f->arena, name);
    r.ttl_s = ttl_s;
    rig_change(f, kind, key_lock(&f->arena, name), &r.base);
}

Models__Task *rig_task_row(struct converger_rig *f, const char *guid, Models__Task__State state)
{
    Models__Task *task = arena_message(&f->arena, &models__task__descriptor);
    task->task_definition = arena_message(&f->arena, &models__task_definition__descriptor);
    task->task_guid = arena_strdup(&f->arena, guid);
    task->state = state;
    task->created_at = task->updated_at = task->first_completed_at = f->drive.now.wall_ns;
    return task;
}

void rig_task(struct converger_rig *f, Board__FeedFrame__Kind kind, const Models__Task *task)
{
    rig_change(f, kind, key_task(&f->arena, task->task_guid), &task->base);
}

void rig_domain(struct converger_rig *f, Board__FeedFrame__Kind kind, uint32_t ttl_s)
{
    Board__DomainRecord d = BOARD__DOMAIN_RECORD__INIT;
    d.domain = arena_strdup(&f->arena, "d");
    d.ttl_s = ttl_s;
    d.expires_at = ttl_s ? f->drive.now.wall_ns + ttl_s * SECOND_NS : 0;
    rig_change(f, kind, key_domain(&f->arena, "d"), &d.base);
}

void rig_reset(struct converger_rig *f, const char *board_generation,
               int64_t board_generation_revision)
{
    Board__BoardGenerationRecord e = BOARD__BOARD_GENERATION_RECORD__INIT;
    e.id = arena_strdup(&f->arena, board_generation);
    frame_reset(&f->sent, board_generation);
    frame_change(&f->sent, BOARD__FEED_FRAME__KIND__RECORD, key_epoch(&f->arena, board_generation),
                 &e.base, board_generation_revision);
}

void rig_current(struct converger_rig *f)
{
    frame_current(&f->sent, "e1", f->revision);
    rig_send(f);
}

void rig_elect(struct converger_rig *f)
{
    uint64_t id = drive_call(&f->drive, "/v1/board/leader_lock", 0)->id;
    Board__LeaderLockResponse r = BOARD__LEADER_LOCK_RESPONSE__INIT;
    Board__LeaderLockRecord leader_lock = BOARD__LEADER_LOCK_RECORD__INIT;
    Board__Term term = BOARD__TERM__INIT;
    leader_lock.holder = f->x->life.leader.id;
    term.role = arena_strdup(&f->arena, "converger");
    term.board_generation = arena_strdup(&f->arena, f->x->life.feed_client.board_generation);
    term.term = ++f->revision;
    r.leader_lock = &leader_lock;
    r.term = &term;
    drive_answer(&f->drive, id, &r.base);
    assert_true(f->x->life.leader.leads);
}

/* Started and leading, with what was sent before. */
void rig_leader_lock(struct converger_rig *f)
{
    struct buf rest = f->sent;
    buf_init(&f->sent);
    drive_start(&f->drive);
    rig_reset(f, "e1", 1);
    buf_append(&f->sent, rest.data, rest.size);
    buf_done(&rest);
    rig_current(f);
    rig_elect(f);
}

/* But for the limiter, which has none of its own. */
static void print_subject(struct converger_rig *f, const Board__Move *m)
{
    struct move_place place;
    const char *name = move_name(&f->arena, m);
    if (move_kind(m) == RECORD_TASK) {
        buf_printf(&f->text, "task %s ", name);
        if (m->task->after_ns) { /* else the bbs goes by the settings */
            buf_printf(&f->text, "after %lld s ", (long long)(m->task->after_ns / SECOND_NS));
        }
    } else if (move_kind(m) == RECORD_DOMAIN) {
        buf_printf(&f->text, "domain %s ", name);
    } else if (move_kind(m) == RECORD_LOCK) {
        buf_printf(&f->text, "lock %s@%lld ", name, (long long)m->subject->revision);
    } else if (move_kind(m) == RECORD_CELL) {
        buf_printf(&f->text, "%s@%llu ", name, (unsigned long long)m->cell->incarnation);
    } else if (m->body_case == BOARD__MOVE__BODY_UNITS || m->body_case == BOARD__MOVE__BODY_EDGE) {
        buf_printf(&f->text, "%s ", move_key(&f->arena, m));
    } else if (move_place(&f->arena, m, &place)) {
        buf_printf(&f->text, "%s/%d ", place.key.process_guid, place.key.index);
    }
}

/* The n-th call of moves in the last step as "create web/0 stop web/1 "; "" if there is none. */
const char *rig_moves(struct converger_rig *f, size_t n, uint64_t *ret_call)
{
    const struct call *c = drive_call(&f->drive, "/v1/board/apply", n);
    buf_clear(&f->text);
    if (!c) {
        return "";
    }
    ProtobufCAllocator allocator = arena_protobuf(&f->arena);
    Board__ApplyRequest *r = board__apply_request__unpack(&allocator, c->body.size, c->body.data);
    assert_non_null(r);
    for (size_t i = 0; i < r->n_moves; i++) {
        const Board__Move *m = r->moves[i];
        assert_string_equal(m->term->role, "converger");
        assert_int_equal(m->term->term, f->x->life.leader.term);
        buf_printf(&f->text, "%s ", m->move);
        assert_true(move_well_formed(&f->arena, m));
        for (size_t k = 0; k < move_limiter(m)->n_cells; k++) {
            buf_printf(&f->text, "%s@%llu ", m->limiter->cells[k]->cell_id,
                       (unsigned long long)m->limiter->cells[k]->incarnation);
        }
        print_subject(f, m);
    }
    *ret_call = c->id;
    return buf_string(&f->text);
}

void rig_answer(struct converger_rig *f, uint64_t call, size_t count,
                Board__MoveResult__Outcome outcome)
{
    Board__ApplyResponse r = BOARD__APPLY_RESPONSE__INIT;
    Board__MoveResult result = BOARD__MOVE_RESULT__INIT;
    result.outcome = outcome;
    r.results = ARENA_ARRAY(&f->arena, count, Board__MoveResult *);
    for (r.n_results = 0; r.n_results < count; r.n_results++) {
        r.results[r.n_results] = &result;
    }
    drive_answer(&f->drive, call, &r.base);
}

static void take_heartbeat(struct converger_rig *f)
{
    const struct call *heartbeat = drive_call(&f->drive, "/v1/board/heartbeat", 0);
    if (heartbeat) {
        Board__HeartbeatResponse taken = BOARD__HEARTBEAT_RESPONSE__INIT;
        drive_answer(&f->drive, heartbeat->id, &taken.base);
    }
}

bool rig_second(struct converger_rig *f, const char *cells)
{
    Board__HeartbeatRecord heartbeat = BOARD__HEARTBEAT_RECORD__INIT;
    drive_advance(&f->drive, 1000);
    if (drive_call(&f->drive, "/v1/board/apply", 0)) {
        return true;
    }
    take_heartbeat(f);
    heartbeat.cells = ARENA_ARRAY(&f->arena, strlen(cells), Board__CellHeartbeat *);
    for (; *cells; cells++) {
        Board__CellHeartbeat *c = heartbeat.cells[heartbeat.n_cells++] =
            ARENA_NEW(&f->arena, Board__CellHeartbeat);
        board__cell_heartbeat__init(c);
        c->cell_id = arena_strndup(&f->arena, cells, 1);
        c->incarnation = 1;
    }
    rig_change(f, PUT, key_beat(&f->arena, "bbs"), &heartbeat.base);
    frame_heartbeat(&f->sent, f->x->life.feed_client.board_generation, f->revision);
    rig_send(f);
    return drive_call(&f->drive, "/v1/board/apply", 0) != NULL;
}

bool rig_moved_within(struct converger_rig *f, int seconds)
{
    bool moved = false;
    for (int i = 0; i < seconds && !moved; i++) {
        drive_advance(&f->drive, 1000);
        moved = drive_call(&f->drive, "/v1/board/apply", 0) != NULL;
        if (!moved) {
            take_heartbeat(f);
            frame_heartbeat(&f->sent, f->x->life.feed_client.board_generation, f->revision);
            rig_send(f);
            moved = drive_call(&f->drive, "/v1/board/apply", 0) != NULL;
        }
    }
    return moved;
}
