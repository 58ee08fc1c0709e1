/* design.md 2, "a write compares all that its decision read", of every move there is: boards,
 * callers and requests are drawn; each row gathers and decides upon them; then every record is
 * taken away, changed or added. Where the plan would have been another one, the compares of the
 * first must refuse it. What each row compares stands in test/decide/expected/read_sets.txt. */
#include "bbs/board/inside.h"
#include "bbs/limiter/limiter.h"
#include "bbs/cell/cell.h"
#include "bbs/leader_lock/leader_lock.h"
#include "bbs/lock/lock.h"
#include "bbs/lrp/desired.h"
#include "bbs/lrp/move.h"
#include "bbs/domain/domain.h"
#include "bbs/task/task.h"
#include "common/base/map.h"
#include "models/domain.pb-c.h"
#include "test/decide/laid_board.h"
#include "test/decide/lrp_rows.h"
#include "test/tool/cmocka.h"
#include "test/tool/page.h"

#include <stdio.h>
#include <string.h>

/* Boards of each row under each actor, and changes of each record. */
#ifdef __SANITIZE_ADDRESS__
enum { BOARDS = 60, CHANGES = 4 };
#else
enum { BOARDS = 200, CHANGES = 5 };
#endif
enum { BOARDS_PRINTED = 60 }; /* what is compared on these is kept */

#define EXPECTED "test/decide/expected/read_sets.txt"

enum { INDICES = 3, UNIVERSE_MAX = 64, TERM = 5, INCARNATION = 7, TASK_REVISION = 9 };

/* Every record that may stand, drawn again for each board: some do, the others are strangers. */
struct universe {
    struct arena *arena;
    struct random *random;
    struct laid_stranger list[UNIVERSE_MAX];
    size_t count;
};

static bool chance(struct random *r, unsigned percent)
{
    return random_below(r, 100) < percent;
}

#define ANY(r, ...)                                                                                \
    ({                                                                                             \
        static const char *const any[] = {__VA_ARGS__};                                            \
        any[random_below(r, sizeof(any) / sizeof(any[0]))];                                        \
    })

static void add(struct universe *u, const char *key, const ProtobufCMessage *message)
{
    assert_true(u->count < UNIVERSE_MAX);
    u->list[u->count++] = (struct laid_stranger){key, message};
}

/* ---- the records ---- */

static void add_actuals(struct universe *u)
{
    for (int index = 0; index < INDICES; index++) {
        for (int presence = 0; presence < 3; presence++) {
            struct random *r = u->random;
            const char *state = presence
                                    ? ANY(r, "RUNNING", "RUNNING", "CLAIMED")
                                    : ANY(r, "UNCLAIMED", "CLAIMED", "RUNNING", "CRASHED", "NEWER");
            bool placed = *state == 'R' || strcmp(state, "CLAIMED") == 0;
            const char *text = arena_printf(
                u->arena, "%s%s%s since=%d crash=%d%s%s", state,
                placed ? ANY(r, " a@c1", " a@c1", " b@c2", " s@c2") : "",
                ANY(r, "", "", " stopping"), (int)random_below(r, 900), (int)random_below(r, 5),
                ANY(r, "", " def=D1", " def=D2"), ANY(r, "", " error=full", " route=H tag=V"));
            add(u, key_actual(u->arena, ROWS_PROCESS, index, presence),
                &row_actual(u->arena, text, index, presence)->base);
        }
    }
}

static void add_desired(struct universe *u)
{
    struct random *r = u->random;
    const char *text = arena_printf(u->arena, "instances=%d def=%s%s%s",
                                    (int)random_below(r, INDICES + 1), ANY(r, "D1", "D2"),
                                    ANY(r, "", " hold", " stay"), ANY(r, "", " route=H tag=V"));
    Models__DesiredLRP *web = row_desired(u->arena, text);
    add(u, key_desired(u->arena, ROWS_PROCESS), &web->base);
    add(u, key_desired(u->arena, "next"), &row_desired(u->arena, "instances=1 def=D9")->base);
    add(u, key_run(u->arena, ROWS_PROCESS, "D1"), &web->base);
    add(u, key_run(u->arena, ROWS_PROCESS, "D2"), &web->base);
    Board__JobRecord *job = arena_message(u->arena, &board__job_record__descriptor);
    job->target = arena_strdup(u->arena, ROWS_PROCESS);
    job->kind = (Board__JobRecord__Kind)(1 + random_below(r, 2));
    job->domain = arena_strdup(u->arena, ANY(r, "", "d"));
    job->instances = arena_message(u->arena, &board__job_record__instances__descriptor);
    job->instances->cursor = (int32_t)random_below(r, INDICES);
    job->instances->end = INDICES;
    job->worker = arena_strdup(u->arena, ANY(r, "boot", "silent"));
    add(u, key_job(u->arena, job->target, ""), &job->base);
}

static void add_removals(struct universe *u)
{
    static const char *const definitions[] = {"D1", "D2"};
    for (size_t i = 0; i < 2; i++) {
        Board__RemovalRecord *removal = arena_message(u->arena, &board__removal_record__descriptor);
        removal->process_guid = arena_strdup(u->arena, ROWS_PROCESS);
        removal->definition_id = arena_strdup(u->arena, definitions[i]);
        removal->from_index = (int32_t)random_below(u->random, INDICES);
        removal->board_generation =
            arena_strdup(u->arena, ANY(u->random, ROWS_BOARD_GENERATION, "F"));
        add(u, key_removal(u->arena, ROWS_PROCESS, definitions[i]), &removal->base);
    }
}

static Board__DomainRecord *draw_domain(struct universe *u)
{
    Board__DomainRecord *d = arena_message(u->arena, &board__domain_record__descriptor);
    d->domain = arena_strdup(u->arena, ROWS_DOMAIN);
    d->ttl_s = (uint32_t)(chance(u->random, 50) ? 0 : 60);
    d->expires_at = d->ttl_s ? (ROWS_NOW_S + 30 - (int64_t)random_below(u->random, 60)) * SECOND_NS
                             : 0;
    return d;
}

static Board__CellRecord *draw_cell(struct universe *u, const char *cell_id)
{
    struct random *r = u->random;
    Board__CellRecord *c =
        row_cell(u->arena, arena_printf(u->arena, "%s incarnation=%d identity=I%s",
                                        ANY(r, "present", "present", "present", "lost"),
                                        chance(r, 85) ? INCARNATION : INCARNATION + 1,
                                        ANY(r, "", "", " until=1100")));
    c->presence->cell_id = arena_strdup(u->arena, cell_id);
    return c;
}

static void add_cells(struct universe *u)
{
    add(u, key_cell(u->arena, "c1"), &draw_cell(u, "c1")->base);
    add(u, key_cell(u->arena, "c2"), &draw_cell(u, "c2")->base);
    add(u, key_brake(u->arena),
        &row_limiter(u->arena, arena_printf(u->arena, "%s cells=c2:7 since=900 until=%s",
                                            ANY(u->random, "HELD", "KEPT", "RELEASED"),
                                            ANY(u->random, "950", "1050")))
             ->base);
    add(u, key_domain(u->arena, ROWS_DOMAIN), &draw_domain(u)->base);
    static const char *const roles[] = {"auctioneer", "converger"};
    for (size_t i = 0; i < 2; i++) {
        Board__LeaderLockRecord *leader_lock = ARENA_NEW(u->arena, Board__LeaderLockRecord);
        board__leader_lock_record__init(leader_lock);
        leader_lock->role = arena_strdup(u->arena, roles[i]);
        leader_lock->holder = arena_strdup(u->arena, ANY(u->random, "holder", "other"));
        add(u, key_lead(u->arena, leader_lock->role), &leader_lock->base);
    }
}

static void add_outside(struct universe *u)
{
    struct random *r = u->random;
    Models__Task *t = arena_message(u->arena, &models__task__descriptor);
    t->task_guid = arena_strdup(u->arena, "t");
    t->domain = arena_strdup(u->arena, ROWS_DOMAIN);
    t->state = (Models__Task__State)(1 + random_below(r, 4));
    bool placed = t->state == MODELS__TASK__STATE__Running || chance(r, 20);
    t->cell_id = arena_strdup(u->arena, placed ? ANY(r, "c1", "c1", "c2") : "");
    t->attempt = arena_strdup(u->arena, placed ? ANY(r, "A", "A", "B") : "");
    t->created_at = 100 * SECOND_NS;
    t->updated_at = (int64_t)(200 + random_below(r, 800)) * SECOND_NS;
    t->first_completed_at = t->state >= MODELS__TASK__STATE__Completed ? 300 * SECOND_NS : 0;
    t->rejection_count = (int32_t)random_below(r, 3);
    t->task_definition = arena_message(u->arena, &models__task_definition__descriptor);
    t->task_definition->completion_callback_url =
        arena_strdup(u->arena, ANY(r, "", "https://cc"));
    add(u, key_task(u->arena, "t"), &t->base);
    static const char *const names[] = {"name", "c1"};
    for (size_t i = 0; i < 2; i++) {
        Board__LockRecord *lock = arena_message(u->arena, &board__lock_record__descriptor);
        lock->key = arena_strdup(u->arena, names[i]);
        lock->owner = arena_strdup(u->arena, ANY(r, "me", "you"));
        lock->ttl_s = chance(r, 50) ? 1 : 600;
        add(u, key_lock(u->arena, lock->key), &lock->base);
    }
}

/* Some of them stand; the others are strangers. */
static struct laid_board *lay(struct universe *u)
{
    struct moment now = {.mono_ns = 500 * SECOND_NS, .wall_ns = ROWS_NOW_S * SECOND_NS};
    struct laid_board *l = laid_new(now, ROWS_BOARD_GENERATION);
    unsigned percent = (unsigned)random_below(u->random, 4) * 25 + 20;
    for (size_t i = 0; i < u->count; i++) {
        enum record_type type = key_type(u->list[i].key);
        bool needed = type == RECORD_CELL || type == RECORD_LEADER_LOCK || type == RECORD_TASK ||
                      type == RECORD_DESIRED;
        if (!chance(u->random, needed ? 85 : percent)) {
            continue;
        }
        int64_t revision = type == RECORD_LEADER_LOCK  ? TERM
                           : type == RECORD_TASK ? TASK_REVISION
                                                 : (int64_t)(LAID_FIRST + 10 + i);
        laid_put(l, u->list[i].key, u->list[i].message, revision, revision,
                 now.mono_ns - (int64_t)random_below(u->random, 100) * SECOND_NS);
    }
    return l;
}

/* ---- the requests ---- */

static Board__Move *draw_move(struct universe *u, const char *name, enum actor actor)
{
    struct random *r = u->random;
    const char *text = arena_printf(
        u->arena,
        "%s %s index=%d incarnation=%d%s%s presence=%d cell=%s cells=%s%s address=A zone=z", name,
        actor == ACTOR_REP ? ANY(r, "a@c1", "a@c1", "n@c1") : ANY(r, "", "a@c1", "b@c2"),
        (int)random_below(r, INDICES), INCARNATION, ANY(r, "", " def=D1", " def=D2"),
        ANY(r, "", " error=E"), chance(r, 80) ? 0 : (int)random_below(r, 3), ANY(r, "c1", "c2"),
        ANY(r, "c1:7", "c2:7", "c1:7,c2:7", ""), ANY(r, "", " tag1=k routable=true"));
    Board__Move *m = row_move(u->arena, text);
    if (actor == ACTOR_CLIENT && m->body_case == BOARD__MOVE__BODY_INSTANCE) {
        struct move_place place; /* Diego's paths name no presence */
        assert_true(move_place(u->arena, m, &place));
        const char *key =
            key_actual(u->arena, place.key.process_guid, place.key.index, 0) + strlen("actual/");
        m->subject->key = arena_strdup(u->arena, key);
    }
    if (actor == ACTOR_AUCTIONEER || actor == ACTOR_CONVERGER) {
        m->term = arena_message(u->arena, &board__term__descriptor);
        m->term->role = arena_strdup(u->arena, actor_name(actor));
        m->term->board_generation = arena_strdup(u->arena, ROWS_BOARD_GENERATION);
        m->term->term = TERM;
    }
    return m;
}

static const ProtobufCMessage *draw_task_move(struct universe *u, const char *name,
                                              enum actor actor)
{
    struct random *r = u->random;
    const Board__Move *speaks = draw_move(u, name, actor);
    Board__Move *m = move_new_task(u->arena, name, "t");
    m->incarnation = speaks->incarnation;
    m->term = speaks->term;
    m->task->error_message = move_instance(speaks)->error_message;
    m->task->cell_id = arena_strdup(u->arena, "c1");
    m->task->attempt = arena_strdup(u->arena, ANY(r, "A", "A", "B"));
    m->task->failed = chance(r, 50);
    m->task->result = arena_strdup(u->arena, ANY(r, "", "R"));
    m->subject->revision = chance(r, 80) ? TASK_REVISION : TASK_REVISION + 1;
    m->task->after_ns = chance(r, 50) ? 0 : 10 * SECOND_NS;
    m->task->created_at = chance(r, 50) ? 0 : 100 * SECOND_NS;
    return &m->base;
}

static const ProtobufCMessage *draw_lock_move(struct universe *u, const char *name,
                                              enum actor actor)
{
    const Board__Move *speaks = draw_move(u, name, actor);
    Board__Move *m = move_new(u->arena, name, key_lock(u->arena, "name"));
    m->incarnation = speaks->incarnation;
    m->term = speaks->term;
    for (size_t i = 0; i < u->count; i++) { /* as laid by lay() */
        m->subject->revision = strcmp(u->list[i].key, key_lock(u->arena, "name")) == 0
                                   ? (int64_t)(LAID_FIRST + 10 + i)
                                   : m->subject->revision;
    }
    return &m->base;
}

static const ProtobufCMessage *draw_lrp_move(struct universe *u, const char *name, enum actor actor)
{
    return &draw_move(u, name, actor)->base;
}

static Models__Resource *draw_resource(struct universe *u)
{
    Models__Resource *r = arena_message(u->arena, &models__resource__descriptor);
    r->key = arena_strdup(u->arena, ANY(u->random, "name", "name", "c1"));
    r->owner = arena_strdup(u->arena, "me");
    return r;
}

#define REQUEST(u, type, NAME)                                                                     \
    ({                                                                                             \
        type *request = ARENA_NEW((u)->arena, type);                                               \
        NAME##__init(request);                                                                     \
        request;                                                                                   \
    })

typedef const ProtobufCMessage *draw_request(struct universe *u, const char *name,
                                             enum actor actor);

static const ProtobufCMessage *draw_lock(struct universe *u, const char *name, enum actor actor)
{
    Models__LockRequest *q = REQUEST(u, Models__LockRequest, models__lock_request);
    q->resource = draw_resource(u);
    q->ttl_in_seconds = 15;
    return &q->base;
}

static const ProtobufCMessage *draw_release(struct universe *u, const char *name, enum actor actor)
{
    Models__ReleaseRequest *q = REQUEST(u, Models__ReleaseRequest, models__release_request);
    q->resource = draw_resource(u);
    return &q->base;
}

static const ProtobufCMessage *draw_desire(struct universe *u, const char *name, enum actor actor)
{
    Models__DesireLRPRequest *q = REQUEST(u, Models__DesireLRPRequest, models__desire_lrprequest);
    q->desired_lrp = row_desired(u->arena, ANY(u->random, "instances=0", "instances=2",
                                               "instances=3 hold route=H"));
    return &q->base;
}

static const ProtobufCMessage *draw_update(struct universe *u, const char *name, enum actor actor)
{
    Models__UpdateDesiredLRPRequest *q =
        REQUEST(u, Models__UpdateDesiredLRPRequest, models__update_desired_lrprequest);
    q->process_guid = arena_strdup(u->arena, ROWS_PROCESS);
    q->update = REQUEST(u, Models__DesiredLRPUpdate, models__desired_lrpupdate);
    if (chance(u->random, 80)) {
        q->update->optional_instances_case =
            MODELS__DESIRED_LRPUPDATE__OPTIONAL_INSTANCES_INSTANCES;
        q->update->instances = (int32_t)random_below(u->random, INDICES + 1);
    }
    return &q->base;
}

static const ProtobufCMessage *draw_remove(struct universe *u, const char *name, enum actor actor)
{
    Models__RemoveDesiredLRPRequest *q =
        REQUEST(u, Models__RemoveDesiredLRPRequest, models__remove_desired_lrprequest);
    q->process_guid = arena_strdup(u->arena, ROWS_PROCESS);
    q->replaced_by = arena_strdup(u->arena, ANY(u->random, "", "next"));
    return &q->base;
}

static const ProtobufCMessage *draw_upsert(struct universe *u, const char *name, enum actor actor)
{
    Models__UpsertDomainRequest *q =
        REQUEST(u, Models__UpsertDomainRequest, models__upsert_domain_request);
    q->domain = arena_strdup(u->arena, ROWS_DOMAIN);
    q->ttl = chance(u->random, 50) ? 0 : 120;
    return &q->base;
}

static const ProtobufCMessage *draw_incarnation(struct universe *u, const char *name,
                                                enum actor actor)
{
    Board__CellRequest *q = REQUEST(u, Board__CellRequest, board__cell_request);
    q->cell = draw_cell(u, "c1");
    q->cell->incarnation += random_below(u->random, 2);
    q->leave = chance(u->random, 20);
    q->known = chance(u->random, 30);
    return &q->base;
}

static const ProtobufCMessage *draw_leader_lock(struct universe *u, const char *name,
                                                enum actor actor)
{
    Board__LeaderLockRequest *q = REQUEST(u, Board__LeaderLockRequest, board__leader_lock_request);
    q->leader_lock = REQUEST(u, Board__LeaderLockRecord, board__leader_lock_record);
    q->leader_lock->role = arena_strdup(u->arena, actor_name(actor));
    q->leader_lock->holder = arena_strdup(u->arena, "holder");
    q->displace = chance(u->random, 60) ? TERM : 0;
    q->release = chance(u->random, 20) ? TERM : 0;
    return &q->base;
}

static const ProtobufCMessage *draw_word(struct universe *u, const char *name, enum actor actor)
{
    Board__LimiterRequest *q = REQUEST(u, Board__LimiterRequest, board__limiter_request);
    q->confirm = chance(u->random, 50);
    q->keep = !q->confirm;
    return &q->base;
}

static const ProtobufCMessage *draw_task(struct universe *u, const char *name, enum actor actor)
{
    Models__DesireTaskRequest *q =
        REQUEST(u, Models__DesireTaskRequest, models__desire_task_request);
    q->task_guid = arena_strdup(u->arena, "t");
    q->domain = arena_strdup(u->arena, ROWS_DOMAIN);
    q->task_definition = REQUEST(u, Models__TaskDefinition, models__task_definition);
    return &q->base;
}

/* As the job that stands, or one that stood before. */
static const ProtobufCMessage *draw_job(struct universe *u, const char *name, enum actor actor)
{
    const char *key = key_job(u->arena, ROWS_PROCESS, "");
    for (size_t i = 0; i < u->count; i++) {
        if (strcmp(u->list[i].key, key) == 0) {
            return u->list[i].message;
        }
    }
    return NULL;
}

/* ---- what holds ---- */

struct tried {
    unsigned rows;
    struct map reads; /* "move by actor: key kind" */
    struct buf fault;
    unsigned commits; /* of this row and actor */
};

/* An index that is wanted no more may get an EVACUATING record meanwhile: the move that makes one
 * takes the ORDINARY or the SUSPECT record away, which was read (bbs/lrp/instances.c). Only where
 * neither was there, after a restore, the new one stands unmarked until its cell's evacuation ends.
 */
static bool excused(const struct op_row *row, const char *key, bool added)
{
    bool settles = row == &update_row || row == &remove_row || row == &desire_row ||
                   row == &instances_job_row;
    return settles && added && key_type(key) == RECORD_ACTUAL && key_presence(key) == 1;
}

/* Which index it is does not matter. */
static const char *any_index(struct arena *a, const char *key)
{
    if (key_type(key) != RECORD_ACTUAL) {
        return key;
    }
    int presence = key_presence(key);
    return presence < 0 ? "actual/web/INDEX/"
                        : arena_printf(a, "actual/web/INDEX/%d", presence);
}

static void note_reads(struct tried *t, struct laid_board *l, const struct op_row *row,
                       const struct op_input *in)
{
    SCOPED_ARENA(a);
    struct laid_plan p;
    laid_decide(l, row, in, &a, &p);
    for (size_t i = 0; p.plan.verdict == PLAN_COMMIT && i < p.reads.count; i++) {
        const struct compare *c = &p.reads.list[i];
        map_put(&t->reads,
                arena_printf(&a, "%s by %s: %s %s", row->name, actor_name(in->actor),
                             any_index(&a, c->key), compare_kind_name(c->kind)),
                t);
    }
}

typedef void valid_move(struct validation *v, const Board__Move *move);

static bool is_valid(valid_move *valid, const Board__Move *move)
{
    struct validation v = {0};
    valid(&v, move);
    bool ok = validation_ok(&v);
    validation_done(&v);
    return ok;
}

/* `valid` says which moves are let through to the op; NULL = the request is no move. */
static void try_once(struct tried *t, unsigned number, const struct op_row *row, const char *name,
                     enum actor actor, draw_request *draw, valid_move *valid)
{
    SCOPED_ARENA(a);
    struct random random;
    random_seed(&random, (uint64_t[2]){t->rows, number});
    struct universe u = {.arena = &a, .random = &random};
    add_actuals(&u);
    add_desired(&u);
    add_cells(&u);
    add_outside(&u);
    add_removals(&u);
    struct laid_board *l = lay(&u);
    struct random unused;
    struct op_input in = row_input(actor, &unused, draw(&u, name, actor));
    if (valid && !is_valid(valid, in.request)) {
        laid_free(l);
        return;
    }
    if (actor == ACTOR_BBS && draw == draw_job) {
        in.peer_name = "boot";
    }
    t->commits += laid_hold(l, row, &in, u.list, u.count, &random, CHANGES, excused, &t->fault) ==
                  PLAN_COMMIT;
    if (number < BOARDS_PRINTED) {
        note_reads(t, l, row, &in);
    }
    laid_free(l);
    if (t->fault.size) {
        fail_msg("%s", buf_string(&t->fault));
    }
}

static void try_row(struct tried *t, const struct op_row *row, const char *name, enum actor actor,
                    draw_request *draw, valid_move *valid)
{
    t->commits = 0;
    t->rows++;
    for (unsigned i = 0; i < BOARDS; i++) {
        try_once(t, i, row, name, actor, draw, valid);
    }
    /* `ask` and `refresh` only tell others. */
    bool writes = strcmp(name, "ask") != 0 && strcmp(name, "refresh") != 0 &&
                  strcmp(name, "deliver") != 0;
    if (writes && !t->commits) {
        fail_msg("%s by %s never writes anything on %d boards: nothing was tried", row->name,
                 actor_name(actor), BOARDS);
    }
}

static const enum actor actors[] = {ACTOR_CLIENT, ACTOR_BBS, ACTOR_REP, ACTOR_AUCTIONEER,
                                    ACTOR_CONVERGER};

/* Every move of the family, in the order of its lifecycle's triggers, by each actor who may bring
 * it. */
static void try_moves(struct tried *t, const struct move_family *family,
                      const char *what, draw_request *draw)
{
    for (size_t n = 0; n < family->lifecycle->trigger_count; n++) {
        const struct move_row *row = move_row_named(family, family->lifecycle->triggers[n]);
        for (size_t i = 0; i < sizeof(actors) / sizeof(actors[0]); i++) {
            if (row && move_permitted(family, row, actors[i])) {
                struct op_row op = actors[i] == ACTOR_REP ? *row->op_of_rep : *row->op;
                char name[64];
                snprintf(name, sizeof(name), "%s%s", row->name, what);
                op.name = name;
                try_row(t, &op, row->name, actors[i], draw, row->valid);
            }
        }
    }
}

static void try_all(struct tried *t)
{
    try_moves(t, &lrp_moves, "", draw_lrp_move);
    try_moves(t, &domain_moves, "", draw_lrp_move);
    try_moves(t, &cell_moves, "", draw_lrp_move);
    try_moves(t, &limiter_moves, "", draw_lrp_move);
    try_moves(t, &task_moves, " task", draw_task_move);
    try_moves(t, &lock_moves, " lock", draw_lock_move);
    try_row(t, &desire_row, "desire", ACTOR_CLIENT, draw_desire, NULL);
    try_row(t, &update_row, "update", ACTOR_CLIENT, draw_update, NULL);
    try_row(t, &remove_row, "remove", ACTOR_CLIENT, draw_remove, NULL);
    try_row(t, &instances_job_row, "portion", ACTOR_BBS, draw_job, NULL);
    try_row(t, &job_adopt_row, "adopt", ACTOR_BBS, draw_job, NULL);
    try_row(t, &upsert_domain_row, "upsert", ACTOR_CLIENT, draw_upsert, NULL);
    try_row(t, &cell_row, "open", ACTOR_REP, draw_incarnation, NULL);
    try_row(t, &leader_lock_row, "acquire", ACTOR_AUCTIONEER, draw_leader_lock, NULL);
    try_row(t, &leader_lock_row, "acquire", ACTOR_CONVERGER, draw_leader_lock, NULL);
    try_row(t, &limiter_word_row, "word", ACTOR_CLIENT, draw_word, NULL);
    try_row(t, &desire_task_row, "desire", ACTOR_CLIENT, draw_task, NULL);
    try_row(t, &lock_row, "lock", ACTOR_CLIENT, draw_lock, NULL);
    try_row(t, &release_lock_row, "release", ACTOR_CLIENT, draw_release, NULL);
}

/* All rows, and what they compared as text; needs a buf. */
static void try_and_print(struct buf *out)
{
    struct tried t = {0};
    map_init(&t.reads);
    buf_init(&t.fault);
    try_all(&t);
    MAP_EACH(&t.reads, n)
    {
        buf_printf(out, "%s\n", map_key(n));
    }
    map_done(&t.reads, NULL);
    buf_done(&t.fault);
}

static void every_write_compares_what_it_rests_on(void **state)
{
    SCOPED_BUF(out);
    try_and_print(&out);
    page_equals(EXPECTED, buf_string(&out), "test_read_sets print > " EXPECTED);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "print") == 0) {
        SCOPED_BUF(out);
        try_and_print(&out);
        fputs(buf_string(&out), stdout);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_write_compares_what_it_rests_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
