/* The trace: what happened on the board and in the world, one line each, to be read aloud. Names
 * that are drawn (guids of instances, epochs, jobs) stay out of it, so that a line changes only
 * when the story does. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.pb-c.h"
#include "common/model/record.h"
#include "models/actual_lrp.pb-c.h"
#include "models/desired_lrp.pb-c.h"
#include "test/sim/world_parts.h"

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

void world_trace_logs(struct world *w, bool on)
{
    w->trace_logs = on;
}

const char *world_trace(struct world *w)
{
    return buf_string(&w->trace);
}

static void print_actual(struct buf *out, const Models__ActualLRP *r)
{
    static const char *const presences[] = {"", " EVACUATING", " SUSPECT"};
    buf_printf(out, "actual %s/%d %s%s", r->actual_lrp_key->process_guid, r->actual_lrp_key->index,
               r->state, presences[r->presence]);
    if (r->actual_lrp_instance_key && *r->actual_lrp_instance_key->cell_id) {
        buf_printf(out, " %s", r->actual_lrp_instance_key->cell_id);
    }
    if (r->stopping) {
        buf_append_string(out, " stopping");
    }
    if (r->crash_count) {
        buf_printf(out, " crashes=%d", r->crash_count);
    }
    if (*r->placement_error) {
        buf_printf(out, " (%s)", r->placement_error);
    }
}

static void print_record(struct buf *out, enum record_type type, const ProtobufCMessage *m,
                         struct arena *a, const char *key)
{
    switch (type) {
    case RECORD_ACTUAL:
        print_actual(out, (const Models__ActualLRP *)m);
        break;
    case RECORD_DESIRED: {
        const Models__DesiredLRP *r = (const Models__DesiredLRP *)m;
        buf_printf(out, "desired %s instances=%d", r->process_guid, r->instances);
        break;
    }
    case RECORD_CELL: {
        const Board__CellRecord *r = (const Board__CellRecord *)m;
        buf_printf(out, "cell %s %s session=%llu", r->presence->cell_id,
                   r->state == BOARD__CELL_RECORD__STATE__PRESENT ? "PRESENT" : "LOST",
                   (unsigned long long)r->session);
        break;
    }
    case RECORD_JOB: {
        const Board__JobRecord *r = (const Board__JobRecord *)m;
        buf_printf(out, "job %s %d..%d", r->process_guid, r->cursor, r->end);
        break;
    }
    case RECORD_LEAD: {
        const Board__LeadRecord *r = (const Board__LeadRecord *)m;
        buf_printf(out, "lead %s", r->role);
        break;
    }
    case RECORD_EPOCH:
        buf_append_string(out, "epoch");
        break;
    default:
        buf_printf(out, "%s %s", record_type_name(type), key_component(a, key, 1));
        break;
    }
}

/* Beats and causes would drown the story. */
static bool told(enum record_type type)
{
    return type != RECORD_BEAT && type != RECORD_CAUSE && type != RECORD_RUN;
}

static void trace_put(struct world *w, const char *who, struct arena *a,
                      const Etcd__PutRequest *put)
{
    const char *key = arena_strndup(a, (const char *)put->key.data, put->key.len);
    enum record_type type = key_type(key);
    ProtobufCMessage *m;
    struct bytes record = {.data = put->value.data, .size = put->value.len};
    if (!told(type) || record_decode(a, type, record, &m, NULL) < 0) {
        return;
    }
    begin(w, who);
    buf_append_string(&w->trace, "put ");
    print_record(&w->trace, type, m, a, key);
    buf_append_string(&w->trace, "\n");
}

static void trace_delete(struct world *w, const char *who, struct arena *a,
                         const Etcd__DeleteRangeRequest *delete)
{
    const char *key = arena_strndup(a, (const char *)delete->key.data, delete->key.len);
    enum record_type type = key_type(key);
    if (!told(type)) {
        return;
    }
    begin(w, who);
    if (type == RECORD_ACTUAL) {
        buf_printf(&w->trace, "delete actual %s/%d\n", key_component(a, key, 1),
                   (int)strtol(key_component(a, key, 2), NULL, 10));
    } else if (type == RECORD_JOB || type == RECORD_EPOCH) {
        buf_printf(&w->trace, "delete %s\n", record_type_name(type));
    } else {
        buf_printf(&w->trace, "delete %s %s\n", record_type_name(type), key_component(a, key, 1));
    }
}

/* Called for a transaction that changed something; a failed one writes nothing, so what it would
 * have put (its success branch) is what it did. */
void trace_commit(struct world *w, const char *who, const ProtobufCMessage *txn)
{
    const Etcd__TxnRequest *t = (const Etcd__TxnRequest *)txn;
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < t->n_success; i++) {
        const Etcd__RequestOp *op = t->success[i];
        if (op->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_PUT) {
            trace_put(w, who, &a, op->request_put);
        } else if (op->request_case == ETCD__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE) {
            trace_delete(w, who, &a, op->request_delete_range);
        }
    }
    arena_done(&a);
}
