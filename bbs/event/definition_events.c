#include "bbs/event/definition_events.h"

#include "common/base/message.h"
#include "common/model/definition_views.h"

#include <assert.h>
#include <string.h>

enum { LENGTH_DELIMITED = 2 };

static const char *named(const struct definition_change *c, const char *const names[3])
{
    assert(c->before || c->after);
    return !c->before ? names[0] : c->after ? names[1] : names[2];
}

const char *desired_event_name(const struct definition_change *c)
{
    static const char *const names[] = {"desired_lrp_created", "desired_lrp_changed",
                                        "desired_lrp_removed"};
    return named(c, names);
}

const char *task_event_name(const struct definition_change *c)
{
    static const char *const names[] = {"task_created", "task_changed", "task_removed"};
    return named(c, names);
}

/* ---- DesiredLRPs ----------------------------------------------------------------------------- */

static void put_length(struct buf *out, unsigned field, size_t size)
{
    buf_varint(out, field << 3 | LENGTH_DELIMITED);
    buf_varint(out, size);
}

static void put_desired(struct buf *out, unsigned field, const struct version *v,
                        const struct blob *run)
{
    struct bytes scheduling = record_body(blob_bytes(v->blob)), rest = record_body(blob_bytes(run));
    put_length(out, field, scheduling.size + rest.size);
    buf_append(out, scheduling.data, scheduling.size);
    buf_append(out, rest.data, rest.size);
}

void desired_event_r1(const struct definition_change *c, struct buf *out)
{
    unsigned field = 1;
    if (c->before) {
        put_desired(out, field++, c->before, c->run);
    }
    if (c->after) {
        put_desired(out, field++, c->after, c->run);
    }
    if (*c->trace_id) {
        put_length(out, field, strlen(c->trace_id));
        buf_append_string(out, c->trace_id);
    }
}

/* NULL when it cannot be read. */
static Models__DesiredLRP *old_desired(struct arena *a, const struct version *v,
                                       const struct blob *run)
{
    if (!v) {
        return NULL;
    }
    struct bytes scheduling = record_body(blob_bytes(v->blob)), rest = record_body(blob_bytes(run));
    uint8_t *whole = arena_alloc(a, scheduling.size + rest.size);
    memcpy(whole, scheduling.data, scheduling.size);
    if (rest.size) {
        memcpy(whole + scheduling.size, rest.data, rest.size);
    }
    ProtobufCAllocator allocator = arena_protobuf(a);
    Models__DesiredLRP *d =
        models__desired_lrp__unpack(&allocator, scheduling.size + rest.size, whole);
    if (d) {
        desired_as_r0(a, d);
    }
    return d;
}

void desired_event_r0(struct arena *a, const struct definition_change *c, struct buf *out)
{
    /* created and removed have one field less, and their trace id where changed has `after`. */
    Models__DesiredLRP *before = old_desired(a, c->before, c->run);
    Models__DesiredLRP *after = old_desired(a, c->after, c->run);
    if (c->before && c->after) {
        Models__DesiredLRPChangedEvent e = MODELS__DESIRED_LRPCHANGED_EVENT__INIT;
        e.before = before;
        e.after = after;
        e.trace_id = (char *)(uintptr_t)c->trace_id;
        buf_message(out, &e.base);
    } else {
        Models__DesiredLRPCreatedEvent e = MODELS__DESIRED_LRPCREATED_EVENT__INIT;
        e.desired_lrp = after ? after : before;
        e.trace_id = (char *)(uintptr_t)c->trace_id;
        buf_message(out, &e.base);
    }
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* A task as Diego's clients may see it. */
static Models__Task *visible(struct arena *a, const struct version *v)
{
    ProtobufCMessage *m;
    if (!v || record_decode(a, RECORD_TASK, blob_bytes(v->blob), &m, NULL) < 0) {
        return NULL;
    }
    static const Models__Task empty = MODELS__TASK__INIT;
    Models__Task *task = (Models__Task *)m;
    task->owner = NULL;
    task->attempt = empty.attempt;
    task->optional_max_retries_case = empty.optional_max_retries_case;
    task->optional_keep_s_case = empty.optional_keep_s_case;
    task->base.n_unknown_fields = 0;
    task->base.unknown_fields = NULL;
    return task;
}

static void put_readable_tasks(Models__Task *before, Models__Task *after, struct buf *out)
{
    if (before && after) {
        Models__TaskChangedEvent e = MODELS__TASK_CHANGED_EVENT__INIT;
        e.before = before;
        e.after = after;
        buf_message(out, &e.base);
    } else { /* created and removed are of one shape */
        Models__TaskCreatedEvent e = MODELS__TASK_CREATED_EVENT__INIT;
        e.task = after ? after : before;
        buf_message(out, &e.base);
    }
}

static void put_tasks(const struct definition_change *c, Models__Task *before, Models__Task *after,
                      struct buf *out)
{
    if (!before == !c->before && !after == !c->after) {
        put_readable_tasks(before, after, out);
    }
}

void task_event_r1(struct arena *a, const struct definition_change *c, struct buf *out)
{
    Models__Task *before = visible(a, c->before), *after = visible(a, c->after);
    if (!before || !after || !message_equal(&before->base, &after->base)) {
        put_tasks(c, before, after, out);
    }
}

void task_event_r0(struct arena *a, const struct definition_change *c, struct buf *out)
{
    Models__Task *before = visible(a, c->before), *after = visible(a, c->after);
    if (before) {
        task_as_r2(a, before);
    }
    if (after) {
        task_as_r2(a, after);
    }
    put_tasks(c, before, after, out);
}
