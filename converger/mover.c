#include "converger/mover.h"

#include "common/codec/scan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MAX = 16 * 1024 * 1024 };

struct queued_move {
    TAILQ_ENTRY(queued_move) link;
    const char *move;
    int32_t index;
    char *domain;
    Board__Move *judgement; /* of the judge, or of a lock: all but the term; NULL = of a pass */
    bool task;              /* `guid` is of a task */
    int64_t after_ns;       /* of a task */
    char guid[];            /* of the process, or the task; "" of a domain or lock */
};

void mover_init(struct mover *m)
{
    assert(m->boards && m->leader && m->on_end && m->on_task && m->on_judged);
    TAILQ_INIT(&m->waiting);
    m->count = 0;
    m->pause_ns = 0;
    m->repaired = m->refused = 0;
    for (size_t i = 0; i < MOVER_CALLS_MAX; i++) {
        m->calls[i].id = 0;
        TAILQ_INIT(&m->calls[i].moves);
    }
}

static void free_all(struct queued_moves *list)
{
    struct queued_move *q;
    while ((q = TAILQ_FIRST(list))) {
        TAILQ_REMOVE(list, q, link);
        free(q->domain);
        if (q->judgement) {
            board__move__free_unpacked(q->judgement, NULL);
        }
        free(q);
    }
}

void mover_stop(struct mover *m)
{
    free_all(&m->waiting);
    for (size_t i = 0; i < MOVER_CALLS_MAX; i++) {
        free_all(&m->calls[i].moves);
        m->calls[i].id = 0;
    }
    m->count = 0;
}

void mover_done(struct mover *m)
{
    mover_stop(m);
}

bool mover_room(const struct mover *m, size_t count)
{
    return m->count + count <= MOVER_WAITING_MAX;
}

/* Takes strings; the caller links it. */
static struct queued_move *new_move(const char *move, const char *guid, const char *domain)
{
    size_t size = strlen(guid) + 1;
    struct queued_move *q = calloc(1, sizeof(*q) + size);
    char *copy = strdup(domain);
    if (!q || !copy) {
        abort();
    }
    q->move = move;
    q->domain = copy;
    memcpy(q->guid, guid, size);
    return q;
}

void mover_add(struct mover *m, const char *move, const char *process_guid, int32_t index,
               const char *domain)
{
    struct queued_move *q = new_move(move, process_guid, domain);
    q->index = index;
    TAILQ_INSERT_TAIL(&m->waiting, q, link);
    m->count++;
}

void mover_add_task(struct mover *m, const char *move, const char *task_guid, int64_t after_ns)
{
    struct queued_move *q = new_move(move, task_guid, "");
    q->task = true;
    q->after_ns = after_ns;
    TAILQ_INSERT_TAIL(&m->waiting, q, link);
    m->count++;
}

/* A copy of its own. */
static Board__Move *copy_of(const Board__Move *move)
{
    struct arena a;
    arena_init(&a);
    size_t size = board__move__get_packed_size(move);
    uint8_t *packed = arena_alloc(&a, size);
    Board__Move *copy = board__move__unpack(NULL, board__move__pack(move, packed), packed);
    if (!copy) {
        abort();
    }
    arena_done(&a);
    return copy;
}

/* One that is all there but for its term; for the caller to queue. */
static struct queued_move *whole_move(struct mover *m, const char *move, const Board__Move *message)
{
    struct queued_move *q = new_move(move, "", "");
    q->judgement = copy_of(message);
    m->count++;
    return q;
}

void mover_add_judgement(struct mover *m, const char *move, const char *cell_id, uint64_t session,
                         Board__CellBeat *const *cells, size_t cell_count)
{
    Board__Move judgement = BOARD__MOVE__INIT;
    judgement.move = (char *)(uintptr_t)move;
    judgement.cell_id = (char *)(uintptr_t)cell_id;
    judgement.session = session;
    judgement.cells = (Board__CellBeat **)(uintptr_t)cells;
    judgement.n_cells = cell_count;
    struct queued_move *q = whole_move(m, move, &judgement);
    TAILQ_INSERT_HEAD(&m->waiting, q, link);
}

void mover_add_lock(struct mover *m, const char *name, int64_t revision)
{
    Board__Move expire = BOARD__MOVE__INIT;
    Board__LockWord word = BOARD__LOCK_WORD__INIT;
    word.key = (char *)(uintptr_t)name;
    word.revision = revision;
    expire.move = (char *)(uintptr_t) "expire";
    expire.lock = &word;
    struct queued_move *q = whole_move(m, "expire", &expire);
    TAILQ_INSERT_TAIL(&m->waiting, q, link);
}

/* ---- Sending --------------------------------------------------------------------------------- */

static Board__Move *message(struct arena *a, const struct queued_move *q, Board__Term *term)
{
    Board__Move *m = ARENA_NEW(a, Board__Move);
    if (q->judgement) {
        *m = *q->judgement;
        m->term = term;
        return m;
    }
    board__move__init(m);
    m->move = arena_strdup(a, q->move);
    m->term = term;
    if (*q->domain) {
        m->domain = q->domain;
        return m;
    }
    if (q->task) {
        m->task_guid = arena_strdup(a, q->guid);
        m->after_ns = q->after_ns;
        return m;
    }
    m->actual_lrp_key = ARENA_NEW(a, Models__ActualLRPKey);
    models__actual_lrpkey__init(m->actual_lrp_key);
    m->actual_lrp_key->process_guid = arena_strdup(a, q->guid);
    m->actual_lrp_key->index = q->index;
    return m;
}

static void send(struct mover *m, struct mover_call *c, struct moment now, struct effects *out)
{
    Board__ApplyRequest request = BOARD__APPLY_REQUEST__INIT;
    Board__Term term;
    leader_term(m->leader, &term);
    request.epoch = term.epoch;
    request.moves = ARENA_ARRAY(out->arena, MOVER_MOVES_MAX, Board__Move *);
    struct queued_move *q;
    while ((q = TAILQ_FIRST(&m->waiting)) && request.n_moves < MOVER_MOVES_MAX) {
        TAILQ_REMOVE(&m->waiting, q, link);
        TAILQ_INSERT_TAIL(&c->moves, q, link);
        request.moves[request.n_moves++] = message(out->arena, q, &term);
    }
    c->url = boards_url(m->boards);
    c->id = boards_call(m->boards, out, "/v1/board/apply", "", &request.base,
                        now.mono_ns + MOVER_CALL_NS);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static enum move_end end_of(const Board__MoveResult *r)
{
    switch (r->outcome) {
    case BOARD__MOVE_RESULT__OUTCOME__DONE:
    case BOARD__MOVE_RESULT__OUTCOME__NOTHING:
        return MOVE_DONE;
    case BOARD__MOVE_RESULT__OUTCOME__REFUSED:
        return MOVE_REFUSED;
    default:
        return MOVE_UNKNOWN;
    }
}

static void settle(struct mover *m, struct mover_call *c, const Board__ApplyResponse *response,
                   struct effects *out)
{
    struct queued_moves list;
    TAILQ_INIT(&list);
    TAILQ_CONCAT(&list, &c->moves, link);
    c->id = 0;
    size_t i = 0;
    struct queued_move *q;
    TAILQ_FOREACH(q, &list, link)
    {
        const Board__MoveResult *r =
            response && i < response->n_results ? response->results[i] : NULL;
        enum move_end end = r ? end_of(r) : MOVE_UNKNOWN;
        m->repaired += end == MOVE_DONE;
        m->refused += end == MOVE_REFUSED;
        if (end == MOVE_REFUSED) {
            effects_log(out, LOG_INFO_LEVEL, "a repair was refused",
                        "move=%s %s=%s index=%d domain=%s cell=%s lock=%s why=\"%s\"", q->move,
                        q->task ? "task" : "process", q->guid, q->index, q->domain,
                        q->judgement ? q->judgement->cell_id : "",
                        q->judgement && q->judgement->lock ? q->judgement->lock->key : "",
                        r->error ? r->error->message : "");
        }
        m->count--;
        i++;
        if (q->judgement && !q->judgement->lock) {
            m->on_judged(m->context, q->judgement->cell_id, end);
        } else if (q->task) {
            m->on_task(m->context, q->guid, end);
        } else {
            m->on_end(m->context, q->guid, end);
        }
    }
    free_all(&list);
}

static void on_answer(struct mover *m, struct mover_call *c, const struct event *ev,
                      struct effects *out)
{
    const struct response *a = &ev->response;
    ProtobufCMessage *decoded = NULL;
    bool answered = a->outcome == CALL_ANSWERED && a->status == 200 &&
                    scan_and_unpack(out->arena, &board__apply_response__descriptor, a->body,
                                    ANSWER_MAX, &decoded, NULL) == 0;
    const Board__ApplyResponse *response = (const Board__ApplyResponse *)decoded;
    if (!answered || response->error) {
        m->pause_ns = ev->now.mono_ns + MOVER_PAUSE_NS;
        boards_failed(m->boards, c->url);
        effects_log(out, LOG_WARN_LEVEL, "repairs not answered", "bbs=%s why=\"%s\"", c->url,
                    answered ? response->error->message : a->text);
        response = NULL;
    }
    settle(m, c, response, out);
}

void mover_hear(struct mover *m, const struct event *ev, struct effects *out)
{
    for (size_t i = 0; i < MOVER_CALLS_MAX && ev->kind == EVENT_RESPONSE; i++) {
        if (m->calls[i].id && m->calls[i].id == ev->response.id) {
            on_answer(m, &m->calls[i], ev, out);
        }
    }
}

void mover_send(struct mover *m, struct moment now, struct effects *out)
{
    for (size_t i = 0; i < MOVER_CALLS_MAX && !TAILQ_EMPTY(&m->waiting); i++) {
        if (!m->calls[i].id && now.mono_ns >= m->pause_ns) {
            send(m, &m->calls[i], now, out);
        }
    }
    if (!TAILQ_EMPTY(&m->waiting) && now.mono_ns < m->pause_ns) {
        effects_due(out, m->pause_ns);
    }
}
