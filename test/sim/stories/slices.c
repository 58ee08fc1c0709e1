/* Slices of a site (docs/edge.md, Slices): what they have reserved and not used is kept free. The
 * site's CRM is played by hand: it leads, and asks for slices and for what runs in them. */
#include "test/sim/stories/story.h"

#include "board.pb-c.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"

#include <string.h>

#define BBS "https://bbs-1:8889"
#define KEPT "insufficient resources: what is free is kept for slices"

struct site_crm {
    struct cluster *c;
    struct arena arena;
    Board__Term *term;
};

struct site_answer {
    int status;
    struct arena *arena;
    struct bytes body;
};

static void note_answer(void *context, int status, struct bytes body)
{
    struct site_answer *x = context;
    x->status = status;
    x->body = (struct bytes){arena_copy(x->arena, body.data, body.size), body.size};
}

static struct site_answer ask(struct site_crm *s, const char *path, const ProtobufCMessage *m)
{
    struct site_answer answer = {.status = -1, .arena = &s->arena};
    SCOPED_BUF(body);
    buf_message(&body, m);
    world_send_request(s->c->world, BBS,
                       &(struct world_request){.method = "POST",
                                               .path = path,
                                               .peer = {.unit = "site", .name = "crm-1"},
                                               .content_type = "application/x-protobuf",
                                               .accept = "application/x-protobuf",
                                               .trace_id = "",
                                               .body = buf_bytes(&body)},
                       SETTLE_NS, note_answer, &answer);
    while (answer.status < 0) {
        world_step(s->c->world, world_now(s->c->world) + SECOND_NS);
    }
    assert_int_equal(answer.status, 200);
    return answer;
}

static void lead(struct site_crm *s)
{
    Board__LeaderLockRecord lock = BOARD__LEADER_LOCK_RECORD__INIT;
    Board__LeaderLockRequest request = BOARD__LEADER_LOCK_REQUEST__INIT;
    lock.role = (char *)(uintptr_t) "site";
    lock.holder = (char *)(uintptr_t) "crm-1";
    request.leader_lock = &lock;
    struct site_answer answer = ask(s, "/v1/board/leader_lock", &request.base);
    ProtobufCAllocator allocator = arena_protobuf(&s->arena);
    s->term =
        board__leader_lock_response__unpack(&allocator, answer.body.size, answer.body.data)->term;
    assert_non_null(s->term);
}

/* "" = done; else the refusal. `nodes` 0: drop. Each node has one instance; `cell` NULL: a quota.
 */
static const char *slice(struct site_crm *s, const char *move, const char *uid, uint32_t nodes,
                         const char *cell)
{
    Board__Subject subject = BOARD__SUBJECT__INIT;
    Board__NodeSize node = BOARD__NODE_SIZE__INIT;
    Board__SliceMove body = BOARD__SLICE_MOVE__INIT;
    Board__Move m = BOARD__MOVE__INIT, *moves[] = {&m};
    Board__ApplyRequest request = BOARD__APPLY_REQUEST__INIT;
    char *cells[] = {(char *)(uintptr_t)cell};
    subject.kind = (char *)(uintptr_t) "slice";
    subject.key = (char *)(uintptr_t)uid;
    node.memory_mb = CLUSTER_INSTANCE_MEMORY_MB;
    node.disk_mb = CLUSTER_INSTANCE_DISK_MB;
    node.containers = 1;
    body.owner = arena_printf(&s->arena, "dev/%s", uid);
    body.digest = arena_printf(&s->arena, "%u", nodes);
    body.nodes = nodes;
    body.node = &node;
    body.cells = cells;
    body.n_cells = cell != NULL;
    m.subject = &subject;
    m.move = (char *)(uintptr_t)move;
    m.term = s->term;
    if (nodes) {
        m.body_case = BOARD__MOVE__BODY_SLICE;
        m.slice = &body;
    }
    request.moves = moves;
    request.n_moves = 1;
    struct site_answer answer = ask(s, "/v1/board/apply", &request.base);
    ProtobufCAllocator allocator = arena_protobuf(&s->arena);
    const Board__ApplyResponse *r =
        board__apply_response__unpack(&allocator, answer.body.size, answer.body.data);
    assert_null(r->error);
    assert_int_equal(r->n_results, 1);
    return r->results[0]->error ? r->results[0]->error->message : "";
}

struct sliced_desire {
    struct site_crm *s;
    const char *uid;
};

static void desire_in_slice(void *context, const ProtobufCMessage *m)
{
    struct sliced_desire *d = context;
    Models__DesireLRPRequest request = *(const Models__DesireLRPRequest *)m;
    Models__DesiredLRP lrp = *request.desired_lrp;
    lrp.slice = (char *)(uintptr_t)d->uid;
    lrp.domain = arena_printf(&d->s->arena, "edge.%s", d->uid);
    request.desired_lrp = &lrp;
    request.term = d->s->term;
    ask(d->s, "/v1/desired_lrp/desire.r2", &request.base);
}

static void desire_in(struct site_crm *s, const char *uid, const char *guid, int instances)
{
    cluster_with_desire(guid, instances, desire_in_slice, &(struct sliced_desire){s, uid});
}

static void remove_from(struct site_crm *s, const char *guid)
{
    Models__RemoveDesiredLRPRequest request = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    request.process_guid = (char *)(uintptr_t)guid;
    request.term = s->term;
    ask(s, "/v1/desired_lrp/remove", &request.base);
}

static void count_kept(void *context, enum record_type type, const ProtobufCMessage *m)
{
    (void)type;
    *(int *)context += strcmp(((const Models__ActualLRP *)m)->placement_error, KEPT) == 0;
}

/* So many instances run, and so many are kept off for slices; and it stays so. */
static void demand(struct cluster *c, const char *guid, int running, int kept)
{
    SCOPED_ARENA(a);
    for (int64_t until = world_now(c->world) + 2 * SETTLE_NS;;) {
        int off = 0;
        cluster_each(c, key_actual_process(&a, guid), count_kept, &off);
        if (cluster_count(c, guid, "RUNNING") == running && off == kept) {
            break;
        }
        if (world_now(c->world) >= until) {
            fail_msg("%s: %d run, %d are kept off", guid, cluster_count(c, guid, "RUNNING"), off);
        }
        world_run(c->world, SECOND_NS / 10);
    }
    world_run(c->world, 5 * SECOND_NS);
    assert_int_equal(cluster_count(c, guid, "RUNNING"), running);
}

/* Beside what else there is. */
static void demand_gone(struct cluster *c, const char *guid)
{
    for (int64_t until = world_now(c->world) + SETTLE_NS; cluster_count(c, guid, "") > 0;) {
        assert_true(world_now(c->world) < until);
        world_run(c->world, SECOND_NS / 10);
    }
}

static void begin(struct site_crm *s, struct cluster *c)
{
    *s = (struct site_crm){.c = c};
    arena_init(&s->arena);
    assert_int_equal(cluster_upsert_domain(c, 0), 0);
    lead(s);
}

void story_a_slice_keeps_its_room(struct cluster *c)
{
    struct site_crm s;
    says(c, "Two cells have room for four instances each. The site's CRM leads, and makes a slice "
            "of three nodes, an instance each. web wants eight instances, and gets the five that "
            "leave the slice its room.");
    begin(&s, c);
    assert_string_equal(slice(&s, "make", "u1", 3, NULL), "");
    assert_int_equal(cluster_desire(c, NULL, "web", 8), 0);
    demand(c, "web", 5, 3);
    says(c, "What comes into the slice has the room, though web has waited longer.");
    desire_in(&s, "u1", "shop", 3);
    demand(c, "shop", 3, 0);
    demand(c, "web", 5, 0); /* there is no room at all any more */
    says(c, "The slice is empty again: its room is kept as before. It becomes smaller, and web "
            "gets at once what is not reserved any more; and the rest when the slice goes.");
    remove_from(&s, "shop");
    demand_gone(c, "shop");
    demand(c, "web", 5, 3);
    assert_string_equal(slice(&s, "resize", "u1", 1, NULL), "");
    demand(c, "web", 7, 1);
    assert_string_equal(slice(&s, "drop", "u1", 0, NULL), "");
    demand(c, "web", 8, 0);
    arena_done(&s.arena);
}

void story_a_slice_with_a_cell_of_its_own(struct cluster *c)
{
    struct site_crm s;
    says(c,
         "A slice has cell-1 whole. web wants more than cell-2 has room for, and gets nothing of "
         "cell-1; what is in the slice runs there alone.");
    begin(&s, c);
    assert_string_equal(slice(&s, "make", "u1", 3, "cell-1"), "");
    assert_int_equal(cluster_desire(c, NULL, "web", 6), 0);
    desire_in(&s, "u1", "shop", 3);
    demand(c, "shop", 3, 0);
    demand(c, "web", 4, 0);
    assert_int_equal(cluster_on(c, c->cells[0]), 3);
    says(c, "The cell cannot be given back while something runs there. Then it is anybody's.");
    assert_string_equal(slice(&s, "drop", "u1", 0, NULL), "slice u1: cell cell-1 has work on it");
    remove_from(&s, "shop");
    demand_gone(c, "shop");
    assert_string_equal(slice(&s, "drop", "u1", 0, NULL), "");
    demand(c, "web", 6, 0);
    arena_done(&s.arena);
}
