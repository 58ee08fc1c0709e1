#include "bbs/callbacks.h"

#include "bbs/inside.h"
#include "bbs/task/task.h"
#include "common/base/memory.h"
#include "common/codec/json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct callback {
    TAILQ_ENTRY(callback) link;       /* in waiting or open */
    TAILQ_ENTRY(callback) pause_link; /* in pausing */
    struct bbs *bbs;
    bool begun;       /* open, no more waiting */
    size_t bytes;     /* of the record, as it was seen when this began */
    unsigned attempts;
    unsigned deletes;
    int64_t pause_end_ns;
    int64_t revision; /* that made the task Resolving */
    char *url;
    struct buf body;
    char *trace_id;
    char *next_trace_id; /* of the one that begins when this has ended; NULL = none */
    char task_guid[];
};

void callbacks_init(struct callbacks *c, const struct callback_limits *limits)
{
    *c = (struct callbacks){.limits = *limits};
    struct callback_limits *l = &c->limits;
    l->at_once = l->at_once ? l->at_once : CALLBACKS_MAX;
    l->bytes = l->bytes ? l->bytes : CALLBACK_BYTES_MAX;
    l->waiting = l->waiting ? l->waiting : CALLBACKS_WAITING_MAX;
    l->attempts = l->attempts ? l->attempts : CALLBACK_ATTEMPTS_MAX;
    l->timeout_ns = l->timeout_ns ? l->timeout_ns : CALLBACK_TIMEOUT_NS;
    map_init(&c->by_guid);
    TAILQ_INIT(&c->waiting);
    TAILQ_INIT(&c->open);
    TAILQ_INIT(&c->pausing);
}

static void callback_free(void *value)
{
    struct callback *k = value;
    buf_done(&k->body);
    free(k->url);
    free(k->trace_id);
    free(k->next_trace_id);
    free(k);
}

void callbacks_done(struct callbacks *c)
{
    map_done(&c->by_guid, callback_free);
}

/* Whatever came of it. */
static void end(struct callback *k, struct effects *out)
{
    struct bbs *b = k->bbs;
    struct callbacks *c = &b->callbacks;
    TAILQ_REMOVE(&c->open, k, link);
    c->open_count--;
    c->bytes -= k->bytes;
    map_remove(&c->by_guid, k->task_guid);
    if (k->next_trace_id) {
        callbacks_add(b, k->task_guid, k->next_trace_id, out);
    }
    callback_free(k);
}

/* ---- The moves ------------------------------------------------------------------------------- */

/* A move of this bbs, as /v1/board/apply would bring it. */
static void move(struct callback *k, const char *name, op_done *done, struct effects *out)
{
    struct arena *a = board_arena();
    Board__Move *m = move_new_task(a, arena_strdup(a, name), k->task_guid);
    m->subject->revision = k->revision;
    struct op_input in = {.actor = ACTOR_BBS,
                          .peer_name = "",
                          .trace_id = arena_strdup(a, k->trace_id),
                          .request = &m->base};
    const struct move_row *row = move_row_named(&task_moves, name);
    assert(row);
    board_op(k->bbs->board, row->op, &in, a, done, k, out);
}

/* Somebody else resolves it, or did: it is his to end it. */
static void on_deleted(void *context, const struct op_result *result, struct effects *out)
{
    struct callback *k = context;
    struct bbs *b = k->bbs;
    if (result->end != OP_UNAVAILABLE || ++k->deletes >= CALLBACK_DELETES_MAX) {
        end(k, out);
        return;
    }
    k->pause_end_ns = board_now(b->board).mono_ns + CALLBACK_PAUSE_NS;
    TAILQ_INSERT_TAIL(&b->callbacks.pausing, k, pause_link);
    effects_due(out, k->pause_end_ns);
}

/* ---- The calls ------------------------------------------------------------------------------- */

static void on_answer(void *context, const struct response *response, struct effects *out);

static void call(struct callback *k, struct effects *out)
{
    struct board *board = k->bbs->board;
    k->attempts++;
    uint64_t id = board_next_id(board);
    askers_add(&k->bbs->askers, id, on_answer, k);
    struct bytes body = buf_bytes(&k->body);
    effects_add(out, EFFECT_CALL)->call = (struct call){
        .id = id,
        .method = "POST",
        .url = arena_strdup(out->arena, k->url),
        .content_type = "application/json",
        .accept = "",
        .if_none_match = "",
        .trace_id = arena_strdup(out->arena, k->trace_id),
        .body = {.data = arena_copy(out->arena, body.data, body.size), .size = body.size},
        .deadline_ns = board_now(board).mono_ns + k->bbs->callbacks.limits.timeout_ns,
        .outside = true,
    };
}

/* The task stays Resolving, until the converger kicks it. The URL may hold a secret. */
static void give_up(struct callback *k, const char *why, struct effects *out)
{
    effects_log(out, LOG_INFO_LEVEL, "a completion callback was not heard",
                "task_guid=%s attempts=%u why=\"%s\"", k->task_guid, k->attempts, why);
    end(k, out);
}

static bool delivered(const struct response *r)
{
    return r->outcome == CALL_ANSWERED && r->status != 503 && r->status != 504;
}

static bool worth_repeating(const struct response *r)
{
    return r->outcome == CALL_ANSWERED || r->fault == CALL_FAULT_TIMED_OUT ||
           r->fault == CALL_FAULT_CLOSED;
}

static void on_answer(void *context, const struct response *response, struct effects *out)
{
    struct callback *k = context;
    if (delivered(response)) {
        move(k, "delete", on_deleted, out);
    } else if (worth_repeating(response) && k->attempts < k->bbs->callbacks.limits.attempts) {
        call(k, out);
    } else {
        give_up(k,
                response->outcome == CALL_ANSWERED
                    ? arena_printf(out->arena, "status %d", response->status)
                    : response->text,
                out);
    }
}

/* ---- The beginning --------------------------------------------------------------------------- */

/* What is reported of the task (behaviour.md 13.4). */
static void write_body(const Models__Task *task, struct buf *out)
{
    struct err err;
    Models__TaskCallbackResponse m = MODELS__TASK_CALLBACK_RESPONSE__INIT;
    m.task_guid = task->task_guid;
    m.failed = task->failed;
    m.failure_reason = task->failure_reason;
    m.result = task->result;
    m.annotation = task->task_definition->annotation;
    m.created_at = task->created_at;
    int failed = json_encode(&m.base, 0, out, &err);
    assert(!failed); /* it nests nowhere */
    (void)failed;
}

static bool callable(const char *url)
{
    return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
}

static void on_resolving(void *context, const struct op_result *result, struct effects *out)
{
    struct callback *k = context;
    if (result->end == OP_UNAVAILABLE || result->plan->verdict != PLAN_COMMIT) {
        /* A client was faster, or the board does not answer: the converger sees to it. */
        end(k, out);
        return;
    }
    const Models__Task *task = (const Models__Task *)result->plan->record;
    k->revision = result->revision;
    k->url = mem_text(task_callback_url(task));
    write_body(task, &k->body);
    if (callable(k->url)) {
        call(k, out);
    } else {
        give_up(k, "the URL is not of http or https", out);
    }
}

/* One delivery of a task at a time: what waits reads the record when it begins; what is under way
 * may be of the record before. */
static bool joins(struct callback *k, const char *trace_id)
{
    if (k && k->begun && !k->next_trace_id) {
        k->next_trace_id = mem_text(trace_id);
    }
    return k != NULL;
}

void callbacks_add(struct bbs *b, const char *task_guid, const char *trace_id,
                   struct effects *out)
{
    struct callbacks *c = &b->callbacks;
    if (joins(map_get(&c->by_guid, task_guid), trace_id)) {
        return;
    }
    if (c->waiting_count >= c->limits.waiting) {
        effects_log(out, LOG_INFO_LEVEL, "a completion callback is left to the converger",
                    "task_guid=%s why=\"too many wait\"", task_guid);
        return;
    }
    size_t size = strlen(task_guid) + 1;
    struct callback *k = mem_zeroed(sizeof(*k) + size);
    memcpy(k->task_guid, task_guid, size);
    k->bbs = b;
    k->trace_id = mem_text(trace_id);
    buf_init(&k->body);
    map_put(&c->by_guid, task_guid, k);
    TAILQ_INSERT_TAIL(&c->waiting, k, link);
    c->waiting_count++;
}

/* Of its record, as the copy has it. */
static size_t record_bytes(const struct callback *k, struct arena *a)
{
    const struct seen *seen =
        view_peek(board_view(k->bbs->board, a), key_task(a, k->task_guid));
    return seen ? protobuf_c_message_get_packed_size(seen->message) : 0;
}

/* The first of those that wait, if there is room for it now. */
static struct callback *next_waiting(struct callbacks *c, struct arena *a)
{
    struct callback *k = TAILQ_FIRST(&c->waiting);
    if (!k || c->open_count >= c->limits.at_once) {
        return NULL;
    }
    k->bytes = record_bytes(k, a);
    if (c->open_count && c->bytes + k->bytes > c->limits.bytes) {
        return NULL;
    }
    TAILQ_REMOVE(&c->waiting, k, link);
    c->waiting_count--;
    k->begun = true;
    TAILQ_INSERT_TAIL(&c->open, k, link);
    c->open_count++;
    c->bytes += k->bytes;
    return k;
}

void callbacks_run(struct bbs *b, struct effects *out)
{
    struct callbacks *c = &b->callbacks;
    struct callback *k;
    while ((k = TAILQ_FIRST(&c->pausing)) &&
           k->pause_end_ns <= board_now(b->board).mono_ns) {
        TAILQ_REMOVE(&c->pausing, k, pause_link);
        move(k, "delete", on_deleted, out);
    }
    if (k) {
        effects_due(out, k->pause_end_ns);
    }
    while ((k = next_waiting(c, out->arena))) {
        move(k, "resolving", on_resolving, out);
    }
}
