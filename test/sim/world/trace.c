/* The trace: what happened on the board and in the world, one line each, to be read aloud. Names
 * that are drawn (guids of instances, board generations, jobs) stay out of it, so that a line
 * changes only when the story does. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.pb-c.h"
#include "common/model/record.h"
#include "test/sim/world/story.h"
#include "test/sim/world/inside.h"

static void begin(struct world *w, const char *who)
{
    int64_t us = w->now_ns / MICROSECOND_NS;
    buf_printf(&w->trace, "%6lld.%06lld %-12s ", (long long)(us / 1000000),
               (long long)(us % 1000000), who);
}

void world_note(struct world *w, const char *who, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    begin(w, who);
    buf_printf(&w->trace, "%s\n", text);
}

void world_tell(struct world *w, const char *text)
{
    enum { WIDTH = 96 };
    buf_append_string(&w->trace, "\n");
    while (*text) {
        size_t size = strlen(text);
        if (size > WIDTH) {
            size = WIDTH;
            while (size > 1 && text[size] != ' ') {
                size--;
            }
        }
        buf_printf(&w->trace, "    %.*s\n", (int)size, text);
        text += size;
        text += strspn(text, " ");
    }
    buf_append_string(&w->trace, "\n");
}

void world_trace_calls(struct world *w, bool on)
{
    w->trace_calls = on;
}

void world_trace_logs(struct world *w, bool on)
{
    w->trace_logs = on;
}

const char *world_trace(struct world *w)
{
    return buf_string(&w->trace);
}

/* ---- Transactions ---- */

/* What a transaction does to one record, or in the same way to those of neighbouring indices. */
struct told_change {
    const char *head;         /* "claim by rep: "; empty when the transaction names no cause */
    const char *process_guid; /* NULL when it is about no instance */
    int first, last;
    const char *text;
};

static const ProtobufCMessage *decoded(struct arena *a, const char *key,
                                       const Etcd__PutRequest *put)
{
    ProtobufCMessage *m;
    struct bytes record = {.data = put->value.data, .size = put->value.len};
    return record_decode(a, key_type(key), record, &m, NULL) == 0 ? m : NULL;
}

static const char *head_of(struct arena *a, const Board__CauseRecord *cause, const char *key)
{
    for (size_t i = 0; cause && i < cause->n_changes; i++) {
        const Board__CauseRecord__Change *change = cause->changes[i];
        if (strcmp(change->key, key) == 0) {
            return arena_printf(a, "%s by %s: ", change->move, change->actor);
        }
    }
    return "";
}

/* False when the story does not tell of this record. `put` NULL = it is deleted. */
static bool describe(struct arena *a, const Board__CauseRecord *cause, const char *key,
                     const Etcd__PutRequest *put, struct told_change *ret)
{
    enum record_type type = key_type(key);
    const struct story *story = story_of(type);
    const ProtobufCMessage *m = put && story ? decoded(a, key, put) : NULL;
    if (!story || (put && !m)) {
        return false;
    }
    SCOPED_BUF(text);
    const struct story_subject subject = {record_type_name(type), key_component(a, key, 1)};
    if (m) {
        story->put(&text, &subject, m);
    } else {
        story->gone(&text, &subject);
    }
    *ret = (struct told_change){.head = head_of(a, cause, key),
                                .text = arena_strdup(a, buf_string(&text))};
    if (type == RECORD_ACTUAL) {
        ret->process_guid = subject.name;
        ret->first = ret->last = (int)strtol(key_component(a, key, 2), NULL, 10);
    }
    return true;
}

static void print_change(struct world *w, const char *who, const char *how,
                         const struct told_change *c)
{
    if (!c->process_guid) {
        world_note(w, who, "%s%s%s", how, c->head, c->text);
    } else if (c->first == c->last) {
        world_note(w, who, "%s%s%s/%d %s", how, c->head, c->process_guid, c->first, c->text);
    } else {
        world_note(w, who, "%s%s%s/%d to %s/%d %s", how, c->head, c->process_guid, c->first,
                   c->process_guid, c->last, c->text);
    }
}

static bool goes_on(const struct told_change *c, const struct told_change *next)
{
    return c->process_guid && next->process_guid &&
           strcmp(c->process_guid, next->process_guid) == 0 && next->first == c->last + 1 &&
           strcmp(c->head, next->head) == 0 && strcmp(c->text, next->text) == 0;
}

static const Board__CauseRecord *cause_of(struct arena *a, const Etcd__TxnRequest *t)
{
    for (size_t i = 0; i < t->n_success; i++) {
        const Etcd__RequestOp *op = t->success[i];
        if (op->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_PUT) {
            const Etcd__PutRequest *put = op->request_put;
            const char *key = arena_strndup(a, (const char *)put->key.data, put->key.len);
            if (key_type(key) == RECORD_CAUSE) {
                return (const Board__CauseRecord *)decoded(a, key, put);
            }
        }
    }
    return NULL;
}

void trace_transaction(struct world *w, const char *who, const ProtobufCMessage *txn,
                       const char *how)
{
    const Etcd__TxnRequest *t = (const Etcd__TxnRequest *)txn;
    SCOPED_ARENA(a);
    const Board__CauseRecord *cause = cause_of(&a, t);
    struct told_change last = {0}, next;
    for (size_t i = 0; i < t->n_success; i++) {
        const Etcd__RequestOp *op = t->success[i];
        bool put = op->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_PUT;
        if (!put && op->request_case != ETCD__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE) {
            continue;
        }
        ProtobufCBinaryData k = put ? op->request_put->key : op->request_delete_range->key;
        const char *key = arena_strndup(&a, (const char *)k.data, k.len);
        if (!describe(&a, cause, key, put ? op->request_put : NULL, &next)) {
            continue;
        }
        if (last.text && goes_on(&last, &next)) {
            last.last = next.last;
            continue;
        }
        if (last.text) {
            print_change(w, who, how, &last);
        }
        last = next;
    }
    if (last.text) {
        print_change(w, who, how, &last);
    }
}
