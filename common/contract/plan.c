#include "common/contract/plan.h"

#include <assert.h>
#include <stdarg.h>

void plan_init(struct plan *p, struct arena *arena)
{
    *p = (struct plan){.arena = arena, .verdict = PLAN_NOTHING, .error_message = ""};
    p->changes_end = &p->changes;
    p->notices_end = &p->notices;
}

static struct change *add_change(struct plan *p, const char *key, const char *move,
                                 enum actor actor, const ProtobufCMessage *message)
{
    assert(p->verdict != PLAN_REFUSE);
    struct change *c = ARENA_NEW(p->arena, struct change);
    *c = (struct change){.key = key, .move = move, .actor = actor, .message = message, .text = ""};
    *p->changes_end = c;
    p->changes_end = &c->next;
    p->change_count++;
    assert(*move && *key && p->changes);
    p->verdict = PLAN_COMMIT;
    return c;
}

struct change *plan_put(struct plan *p, const char *key, const char *move, enum actor actor,
                        const ProtobufCMessage *message)
{
    assert(message);
    return add_change(p, key, move, actor, message);
}

struct change *plan_delete(struct plan *p, const char *key, const char *move, enum actor actor)
{
    return add_change(p, key, move, actor, NULL);
}

void plan_refuse(struct plan *p, Models__Error__Type type, const char *format, ...)
{
    const ProtobufCMessage *record = p->record;
    bool keep_container = p->keep_container;
    plan_init(p, p->arena);
    va_list args;
    va_start(args, format);
    p->verdict = PLAN_REFUSE;
    p->error_type = type;
    p->error_message = arena_vprintf(p->arena, format, args);
    p->record = record;
    p->keep_container = keep_container;
    va_end(args);
}

static struct notice *add_notice(struct plan *p, enum notice_kind kind, const char *process_guid)
{
    struct notice *n = ARENA_NEW(p->arena, struct notice);
    *n = (struct notice){.kind = kind,
                         .process_guid = process_guid,
                         .task_guid = "",
                         .instance_guid = "",
                         .attempt = "",
                         .cell_id = ""};
    *p->notices_end = n;
    p->notices_end = &n->next;
    return n;
}

void plan_notice_start(struct plan *p, const char *process_guid, int32_t first, int32_t end)
{
    struct notice *n = add_notice(p, NOTICE_START, process_guid);
    n->first_index = first;
    n->end_index = end;
}

void plan_notice_refresh(struct plan *p, const char *process_guid, int32_t first, int32_t end)
{
    struct notice *n = add_notice(p, NOTICE_REFRESH, process_guid);
    n->first_index = first;
    n->end_index = end;
}

void plan_notice_stop(struct plan *p, const char *process_guid, const char *instance_guid,
                      const char *cell_id)
{
    struct notice *n = add_notice(p, NOTICE_STOP, process_guid);
    n->instance_guid = instance_guid;
    n->cell_id = cell_id;
}

static struct notice *add_task_notice(struct plan *p, enum notice_kind kind,
                                      const char *task_guid)
{
    struct notice *n = add_notice(p, kind, "");
    n->task_guid = task_guid;
    return n;
}

void plan_notice_task(struct plan *p, const char *task_guid)
{
    add_task_notice(p, NOTICE_TASK, task_guid);
}

void plan_notice_cancel(struct plan *p, const char *task_guid, const char *attempt,
                        const char *cell_id)
{
    struct notice *n = add_task_notice(p, NOTICE_CANCEL, task_guid);
    n->attempt = attempt;
    n->cell_id = cell_id;
}

void plan_notice_callback(struct plan *p, const char *task_guid)
{
    add_task_notice(p, NOTICE_CALLBACK, task_guid);
}

static void print_notice(const struct notice *n, struct buf *out)
{
    switch (n->kind) {
    case NOTICE_START:
    case NOTICE_REFRESH:
        buf_printf(out, "notice %s %s %d..%d\n", n->kind == NOTICE_START ? "start" : "refresh",
                   n->process_guid, n->first_index, n->end_index);
        break;
    case NOTICE_STOP:
        buf_printf(out, "notice stop %s %s at %s\n", n->process_guid, n->instance_guid,
                   n->cell_id);
        break;
    case NOTICE_TASK:
        buf_printf(out, "notice task %s\n", n->task_guid);
        break;
    case NOTICE_CANCEL:
        buf_printf(out, "notice cancel %s/%s at %s\n", n->task_guid, n->attempt,
                   n->cell_id);
        break;
    case NOTICE_CALLBACK:
        buf_printf(out, "notice callback %s\n", n->task_guid);
        break;
    }
}

void plan_print(const struct plan *p, struct buf *out)
{
    if (p->verdict == PLAN_NOTHING) {
        buf_append_string(out, "nothing\n");
    }
    if (p->verdict == PLAN_REFUSE) {
        const ProtobufCEnumValue *v =
            protobuf_c_enum_descriptor_get_value(&models__error__type__descriptor, p->error_type);
        buf_printf(out, "refuse %s: %s\n", v ? v->name : "?", p->error_message);
    }
    for (const struct change *c = p->changes; c; c = c->next) {
        buf_printf(out, "%s %s %s by %s\n", c->message ? "put" : "delete", c->key, c->move,
                   actor_name(c->actor));
    }
    for (const struct notice *n = p->notices; n; n = n->next) {
        print_notice(n, out);
    }
}
