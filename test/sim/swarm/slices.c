/* The CRM of a site, which leads there and makes, resizes and drops slices, quotas and such with a
 * cell of their own, and desires and removes what runs in them, through any bbs, one request after
 * the other. What has no room is refused; what comes late, or in another term, changes nothing
 * (test/sim/checkers/slices.c). When all is healed it removes all of it. */
#include "common/codec/scan.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "test/sim/swarm/inside.h"

#include <string.h>

#define ASK_LIMIT_NS (5 * SECOND_NS)

enum { SLICES_TRIED = 3, NODES_TRIED = 6, DEFINITIONS_TRIED = 2 };

struct slices_work {
    struct workload *work;
    struct arena arena; /* of the term */
    Board__Term *term;  /* NULL = it does not know that it leads */
    const ProtobufCMessageDescriptor *answers;
    bool asks; /* an answer is awaited */
    bool healed;
};

static char *text_of(const char *s)
{
    return (char *)(uintptr_t)s;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static const Models__Error *error_in(const ProtobufCMessage *m)
{
    if (m->descriptor == &board__apply_response__descriptor) {
        const Board__ApplyResponse *r = (const Board__ApplyResponse *)m;
        return r->error ? r->error : r->n_results ? r->results[0]->error : NULL;
    }
    return ((const Models__DesiredLRPLifecycleResponse *)m)->error;
}

static void take_term(struct slices_work *o, const Board__LeaderLockResponse *r)
{
    if (!r->error && r->term) {
        arena_reset(&o->arena);
        o->term = ARENA_NEW(&o->arena, Board__Term);
        board__term__init(o->term);
        o->term->role = arena_strdup(&o->arena, r->term->role);
        o->term->board_generation = arena_strdup(&o->arena, r->term->board_generation);
        o->term->term = r->term->term;
    }
}

/* After any refusal it asks again whether it leads: the board may be another one. */
static void answered(void *context, int status, struct bytes body)
{
    struct slices_work *o = context;
    struct swarm *s = o->work->swarm;
    SCOPED_ARENA(a);
    ProtobufCMessage *m = NULL;
    o->asks = false;
    world_note(s->world, "crm", "is answered %d", status);
    if (status == 0 || status == 503) {
        return;
    }
    if (status != 200 || scan_and_unpack(&a, o->answers, body, 1 << 20, &m, NULL) < 0) {
        checkers_report(&s->checkers, "slices", "the CRM is answered %d: %.*s", status,
                        (int)body.size, (const char *)body.data);
        return;
    }
    if (o->answers == &board__leader_lock_response__descriptor) {
        take_term(o, (const Board__LeaderLockResponse *)m);
        return;
    }
    const Models__Error *error = error_in(m);
    if (error) {
        world_note(s->world, "crm", "is refused: %s", error->message);
        o->term = NULL;
    }
    s->result->done[error ? DONE_SLICES_REFUSED : DONE_SLICES_DONE]++;
}

static void send(struct slices_work *o, const char *path, const ProtobufCMessage *m,
                 const ProtobufCMessageDescriptor *answers)
{
    struct swarm *s = o->work->swarm;
    SCOPED_BUF(body);
    uint64_t bbs = random_below(&o->work->random, s->cluster->options.bbs);
    o->asks = true;
    o->answers = answers;
    buf_message(&body, m);
    world_send_request(s->world, node_url(s->cluster->bbs[bbs]),
                       &(struct world_request){.method = "POST",
                                               .path = path,
                                               .peer = {.unit = "site", .name = "crm"},
                                               .content_type = "application/x-protobuf",
                                               .accept = "application/x-protobuf",
                                               .trace_id = "",
                                               .body = buf_bytes(&body)},
                       ASK_LIMIT_NS, answered, o);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void lead(struct slices_work *o)
{
    Board__LeaderLockRecord lock = BOARD__LEADER_LOCK_RECORD__INIT;
    Board__LeaderLockRequest request = BOARD__LEADER_LOCK_REQUEST__INIT;
    lock.role = text_of("site");
    lock.holder = text_of("crm");
    request.leader_lock = &lock;
    send(o, "/v1/board/leader_lock", &request.base, &board__leader_lock_response__descriptor);
}

/* `wanted` NULL: it is dropped. */
static void send_move(struct slices_work *o, const char *uid, const char *move,
                      Board__SliceMove *wanted)
{
    Board__Subject subject = BOARD__SUBJECT__INIT;
    Board__Move m = BOARD__MOVE__INIT, *moves[] = {&m};
    Board__ApplyRequest request = BOARD__APPLY_REQUEST__INIT;
    subject.kind = text_of("slice");
    subject.key = text_of(uid);
    m.subject = &subject;
    m.move = text_of(move);
    m.term = o->term;
    if (wanted) {
        m.body_case = BOARD__MOVE__BODY_SLICE;
        m.slice = wanted;
    }
    request.moves = moves;
    request.n_moves = 1;
    world_note(o->work->swarm->world, "crm", "asks for %s of slice %s, %u nodes, %zu cells", move,
               uid, wanted ? wanted->nodes : 0, wanted ? wanted->n_cells : 0);
    send(o, "/v1/board/apply", &request.base, &board__apply_response__descriptor);
}

/* The last of the slices has a cell of its own. */
static void put(struct slices_work *o, unsigned number, const char *move)
{
    SCOPED_ARENA(a);
    struct random *r = &o->work->random;
    const struct cluster *c = o->work->swarm->cluster;
    Board__NodeSize node = BOARD__NODE_SIZE__INIT;
    Board__SliceMove wanted = BOARD__SLICE_MOVE__INIT;
    char *cell = text_of(node_name(c->cells[random_below(r, c->options.cells)]));
    node.memory_mb = CLUSTER_INSTANCE_MEMORY_MB;
    node.disk_mb = CLUSTER_INSTANCE_DISK_MB;
    node.containers = 1;
    wanted.nodes = 1 + (uint32_t)random_below(r, NODES_TRIED);
    wanted.node = &node;
    wanted.owner = text_of("somebody");
    wanted.digest = arena_printf(&a, "%u", wanted.nodes);
    wanted.cells = &cell;
    wanted.n_cells = number + 1 == SLICES_TRIED;
    send_move(o, arena_printf(&a, "s%u", number), move, &wanted);
}

struct sliced {
    struct slices_work *o;
    const char *uid;
};

/* All that are of one slice have one owner: they come in the place of one another. */
static void desire_sliced(void *context, const ProtobufCMessage *m)
{
    struct sliced *d = context;
    SCOPED_ARENA(a);
    Models__DesireLRPRequest request = *(const Models__DesireLRPRequest *)m;
    Models__DesiredLRP lrp = *request.desired_lrp;
    Models__Owner owner = MODELS__OWNER__INIT;
    owner.kind = text_of("appinst");
    owner.uid = arena_printf(&a, "app-of-%s", d->uid);
    lrp.owner = &owner;
    lrp.slice = text_of(d->uid);
    lrp.domain = arena_printf(&a, "edge.%s", d->uid);
    request.desired_lrp = &lrp;
    request.term = d->o->term;
    send(d->o, "/v1/desired_lrp/desire.r2", &request.base,
         &models__desired_lrplifecycle_response__descriptor);
}

static void remove_sliced(struct slices_work *o, const char *guid)
{
    Models__RemoveDesiredLRPRequest request = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    request.process_guid = text_of(guid);
    request.term = o->term;
    send(o, "/v1/desired_lrp/remove", &request.base,
         &models__desired_lrplifecycle_response__descriptor);
}

static void begin(struct workload *w)
{
    struct slices_work *o = w->own = ARENA_NEW(&w->swarm->arena, struct slices_work);
    o->work = w;
    arena_init(&o->arena);
}

static void step(struct workload *w)
{
    struct slices_work *o = w->own;
    struct random *r = &w->random;
    w->due_ns = world_now(w->swarm->world) + (1 + (int64_t)random_below(r, 6)) * (SECOND_NS / 2);
    if (o->asks || o->healed) {
        return;
    }
    if (!o->term) {
        lead(o);
        return;
    }
    SCOPED_ARENA(a);
    unsigned number = (unsigned)random_below(r, SLICES_TRIED);
    uint64_t whim = random_below(r, 100);
    const char *uid = arena_printf(&a, "s%u", number);
    const char *guid =
        arena_printf(&a, "in-%s-%u", uid, (unsigned)random_below(r, DEFINITIONS_TRIED));
    if (whim < 20) {
        put(o, number, "make");
    } else if (whim < 35) {
        put(o, number, "resize");
    } else if (whim < 50) {
        send_move(o, uid, "drop", NULL);
    } else if (whim < 80) {
        cluster_with_desire(guid, 1 + (int)random_below(r, NODES_TRIED), desire_sliced,
                            &(struct sliced){o, uid});
    } else {
        remove_sliced(o, guid);
    }
}

/* ---- Healed ---------------------------------------------------------------------------------- */

static void heal(struct workload *w)
{
    ((struct slices_work *)w->own)->healed = true;
}

static void note_sliced(void *context, const struct past *p)
{
    const Models__DesiredLRP *d = (const Models__DesiredLRP *)p->message;
    *(const char **)context = *d->slice ? d->process_guid : *(const char **)context;
}

static void note_slice(void *context, const struct past *p)
{
    *(const char **)context = ((const Board__SliceRecord *)p->message)->uid;
}

static void settle(struct workload *w)
{
    struct slices_work *o = w->own;
    const char *guid = NULL, *uid = NULL;
    if (o->asks) {
        return;
    }
    history_each(&w->swarm->checkers.history, "desired/", note_sliced, &guid);
    history_each(&w->swarm->checkers.history, "slice/", note_slice, &uid);
    if ((guid || uid) && !o->term) {
        lead(o);
    } else if (guid) {
        remove_sliced(o, guid);
    } else if (uid) {
        send_move(o, uid, "drop", NULL);
    }
}

static void rest(struct workload *w, struct buf *ret_why)
{
    const char *uid = NULL;
    history_each(&w->swarm->checkers.history, "slice/", note_slice, &uid);
    if (uid) {
        buf_printf(ret_why, "slice %s stands yet; ", uid);
    }
}

static void done(struct workload *w)
{
    arena_done(&((struct slices_work *)w->own)->arena);
}

const struct workload_ops slices_workload = {
    .begin = begin, .step = step, .heal = heal, .settle = settle, .rest = rest, .done = done};
