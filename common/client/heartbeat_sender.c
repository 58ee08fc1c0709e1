#include "common/client/heartbeat_sender.h"

#include "common/codec/scan.h"

#include <assert.h>

/* Decoded bytes of an answer; it holds an error and a board generation. */
enum { ANSWER_MAX = 64 * 1024 };

void heartbeat_sender_init(struct heartbeat_sender *b, struct boards *boards)
{
    *b = (struct heartbeat_sender){.boards = boards};
    board__heartbeat_request__init(&b->request);
}

static int64_t timeout_ns(const struct heartbeat_sender *b)
{
    return b->timeout_ns ? b->timeout_ns : HEARTBEAT_TIMEOUT_NS;
}

static void send(struct heartbeat_sender *b, const struct event *ev, struct effects *out)
{
    b->url = boards_url(b->boards);
    b->sent_ns = ev->now.mono_ns;
    b->next_ns = b->sent_ns + (b->interval_ns ? b->interval_ns : HEARTBEAT_INTERVAL_NS);
    b->call_id = boards_call(b->boards, out, "/v1/board/heartbeat", "", &b->request.base,
                             b->sent_ns + timeout_ns(b));
    assert(b->on && b->call_id != 0);
}

void heartbeat_sender_start(struct heartbeat_sender *b, const struct event *ev, struct effects *out)
{
    b->on = true;
    b->failures = 0;
    send(b, ev, out);
}

void heartbeat_sender_stop(struct heartbeat_sender *b)
{
    b->on = false;
    b->call_id = 0;
}

/* What the answer of a bbs means; NONE = it does not count us, try another. */
static enum heartbeat_verdict judge(const struct response *r, struct effects *out)
{
    ProtobufCMessage *m;
    if (r->outcome != CALL_ANSWERED || r->status != 200 ||
        scan_and_unpack(out->arena, &board__heartbeat_response__descriptor, r->body, ANSWER_MAX, &m,
                        NULL) < 0) {
        return HEARTBEAT_NONE;
    }
    const Board__HeartbeatResponse *answer = (const Board__HeartbeatResponse *)m;
    if (!answer->error) {
        return HEARTBEAT_TAKEN;
    }
    return answer->error->type == MODELS__ERROR__TYPE__ResourceConflict ? HEARTBEAT_REJECTED
                                                                        : HEARTBEAT_NONE;
}

/* Unanswered: to the next bbs at once (design.md 6). When all have failed in a row, a second passes
 * between two attempts: an answer "connection refused" takes no time. */
static void failed(struct heartbeat_sender *b, const struct event *ev)
{
    boards_failed(b->boards, b->url);
    b->failures++;
    assert(b->boards->count > 0);
    bool all = b->failures % b->boards->count == 0;
    b->next_ns = all ? b->sent_ns + timeout_ns(b) : ev->now.mono_ns;
}

enum heartbeat_verdict heartbeat_sender_step(struct heartbeat_sender *b, const struct event *ev,
                                             struct effects *out)
{
    enum heartbeat_verdict verdict = HEARTBEAT_NONE;
    if (!b->on) {
        return verdict;
    }
    if (b->call_id && ev->kind == EVENT_RESPONSE && ev->response.id == b->call_id) {
        b->call_id = 0;
        verdict = judge(&ev->response, out);
        if (verdict == HEARTBEAT_NONE) {
            failed(b, ev);
        } else {
            b->failures = 0;
        }
        if (verdict == HEARTBEAT_TAKEN) {
            b->taken_ns = ev->now.mono_ns;
        }
    }
    if (!b->call_id && ev->now.mono_ns >= b->next_ns) {
        send(b, ev, out);
    }
    if (!b->call_id) {
        effects_due(out, b->next_ns);
    }
    return verdict;
}
