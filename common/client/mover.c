#include "common/client/mover.h"

#include "common/base/memory.h"
#include "common/codec/scan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MAX = 16 * 1024 * 1024 };

struct queued_move {
    TAILQ_ENTRY(queued_move) link;
    const struct mover_owner *owner;
    char *subject; /* within `packed`, behind the message */
    size_t size;   /* of the message */
    uint8_t packed[];
};

void mover_init(struct mover *m)
{
    assert(m->boards && m->leader);
    TAILQ_INIT(&m->waiting);
    m->waiting_count = m->count = 0;
    m->pause_ns = 0;
    m->done = m->refused = 0;
    for (size_t i = 0; i < MOVER_CALLS_MAX; i++) {
        m->calls[i].id = 0;
        TAILQ_INIT(&m->calls[i].moves);
    }
}

/* Takes all moves out of the mover. */
static void take_all(struct mover *m, struct queued_moves *ret)
{
    TAILQ_INIT(ret);
    for (size_t i = 0; i < MOVER_CALLS_MAX; i++) {
        TAILQ_CONCAT(ret, &m->calls[i].moves, link);
        m->calls[i].id = 0;
    }
    TAILQ_CONCAT(ret, &m->waiting, link);
    assert(m->waiting_count <= m->count);
    m->waiting_count = m->count = 0;
}

static void free_first(struct queued_moves *list)
{
    struct queued_move *q = TAILQ_FIRST(list);
    TAILQ_REMOVE(list, q, link);
    free(q);
}

void mover_done(struct mover *m)
{
    struct queued_moves list;
    take_all(m, &list);
    while (!TAILQ_EMPTY(&list)) {
        free_first(&list);
    }
}

static void tell(const struct queued_move *q, enum move_end end)
{
    q->owner->settled(q->owner->context, q->subject, end);
}

void mover_stop(struct mover *m)
{
    struct queued_moves list;
    take_all(m, &list);
    while (!TAILQ_EMPTY(&list)) {
        tell(TAILQ_FIRST(&list), MOVE_FORGOTTEN);
        free_first(&list);
    }
}

/* ---- What waits ------------------------------------------------------------------------------ */

bool mover_room(const struct mover *m, size_t count)
{
    return m->count + count <= MOVER_WAITING_MAX;
}

size_t mover_ready(const struct mover *m, struct moment now)
{
    size_t places = 0;
    for (size_t i = 0; i < MOVER_CALLS_MAX && now.mono_ns >= m->pause_ns; i++) {
        places += m->calls[i].id ? 0 : MOVER_MOVES_MAX;
    }
    return places > m->waiting_count ? places - m->waiting_count : 0;
}

static struct queued_move *queued(struct mover *m, const struct mover_owner *owner,
                                  const char *subject, const Board__Move *move)
{
    assert(!move->term);
    size_t size = board__move__get_packed_size(move);
    struct queued_move *q = mem_zeroed(sizeof(*q) + size + strlen(subject) + 1);
    q->owner = owner;
    q->size = board__move__pack(move, q->packed);
    q->subject = strcpy((char *)q->packed + size, subject);
    m->waiting_count++;
    m->count++;
    assert(m->waiting_count <= m->count);
    return q;
}

void mover_add(struct mover *m, const struct mover_owner *owner, const char *subject,
               const Board__Move *move)
{
    struct queued_move *q = queued(m, owner, subject, move);
    TAILQ_INSERT_TAIL(&m->waiting, q, link);
}

void mover_add_first(struct mover *m, const struct mover_owner *owner, const char *subject,
                     const Board__Move *move)
{
    struct queued_move *q = queued(m, owner, subject, move);
    TAILQ_INSERT_HEAD(&m->waiting, q, link);
}

/* ---- Sending --------------------------------------------------------------------------------- */

static Board__Move *message(struct arena *a, const struct queued_move *q)
{
    ProtobufCAllocator allocator = arena_protobuf(a);
    Board__Move *move = board__move__unpack(&allocator, q->size, q->packed);
    assert(move);
    return move;
}

static void send(struct mover *m, struct mover_call *c, struct moment now, struct effects *out)
{
    Board__ApplyRequest request = BOARD__APPLY_REQUEST__INIT;
    Board__Term term;
    leader_term(m->leader, &term);
    request.board_generation = term.board_generation;
    request.moves = ARENA_ARRAY(out->arena, MOVER_MOVES_MAX, Board__Move *);
    struct queued_move *q;
    assert(!c->id && TAILQ_EMPTY(&c->moves));
    while ((q = TAILQ_FIRST(&m->waiting)) && request.n_moves < MOVER_MOVES_MAX) {
        TAILQ_REMOVE(&m->waiting, q, link);
        TAILQ_INSERT_TAIL(&c->moves, q, link);
        assert(m->waiting_count > 0);
        m->waiting_count--;
        Board__Move *move = request.moves[request.n_moves++] = message(out->arena, q);
        move->term = &term;
    }
    c->url = boards_url(m->boards);
    c->id = boards_call(m->boards, out, "/v1/board/apply", "", &request.base,
                        now.mono_ns + MOVER_CALL_NS);
    assert(c->id != 0 && request.n_moves > 0);
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

/* ---- Answers --------------------------------------------------------------------------------- */

static enum move_end end_of(const Board__MoveResult *r)
{
    switch (r ? r->outcome : BOARD__MOVE_RESULT__OUTCOME__UNKNOWN) {
    case BOARD__MOVE_RESULT__OUTCOME__DONE:
    case BOARD__MOVE_RESULT__OUTCOME__NOTHING:
        return MOVE_DONE;
    case BOARD__MOVE_RESULT__OUTCOME__REFUSED:
        return MOVE_REFUSED;
    default:
        return MOVE_UNKNOWN;
    }
}

static void log_refusal(const struct queued_move *q, const Board__MoveResult *r,
                        struct effects *out)
{
    const Board__Move *move = message(out->arena, q);
    effects_log(out, LOG_INFO_LEVEL, "a move was refused", "move=%s subject=%s key=%s why=\"%s\"",
                move->move, q->subject, move->subject ? move->subject->key : "",
                r->error ? r->error->message : "");
}

/* Of a response that tells of fewer moves the others are not known; NULL = of none. */
static void settle(struct mover *m, struct mover_call *c, const Board__ApplyResponse *response,
                   struct effects *out)
{
    struct queued_moves list;
    TAILQ_INIT(&list);
    TAILQ_CONCAT(&list, &c->moves, link);
    c->id = 0;
    for (size_t i = 0; !TAILQ_EMPTY(&list); i++) {
        const Board__MoveResult *r =
            response && i < response->n_results ? response->results[i] : NULL;
        enum move_end end = end_of(r);
        m->done += end == MOVE_DONE;
        m->refused += end == MOVE_REFUSED;
        assert(m->count > m->waiting_count);
        m->count--;
        if (end == MOVE_REFUSED) {
            log_refusal(TAILQ_FIRST(&list), r, out);
        }
        tell(TAILQ_FIRST(&list), end);
        free_first(&list);
    }
}

static void on_answer(struct mover *m, struct mover_call *c, const struct event *ev,
                      struct effects *out)
{
    assert(c->id && !TAILQ_EMPTY(&c->moves));
    const struct response *a = &ev->response;
    ProtobufCMessage *decoded = NULL;
    bool answered = a->outcome == CALL_ANSWERED && a->status == 200 &&
                    scan_and_unpack(out->arena, &board__apply_response__descriptor, a->body,
                                    ANSWER_MAX, &decoded, NULL) == 0;
    const Board__ApplyResponse *response = (const Board__ApplyResponse *)decoded;
    if (!answered || response->error) {
        m->pause_ns = ev->now.mono_ns + MOVER_PAUSE_NS;
        boards_failed(m->boards, c->url);
        effects_log(out, LOG_WARN_LEVEL, "moves not answered", "bbs=%s why=\"%s\"", c->url,
                    answered ? response->error->message : a->text);
        response = NULL;
    }
    settle(m, c, response, out);
}

bool mover_hear(struct mover *m, const struct event *ev, struct effects *out)
{
    for (size_t i = 0; i < MOVER_CALLS_MAX && ev->kind == EVENT_RESPONSE; i++) {
        if (m->calls[i].id && m->calls[i].id == ev->response.id) {
            on_answer(m, &m->calls[i], ev, out);
            return true;
        }
    }
    return false;
}
