#include "common/contract/effect.h"

#include "common/base/message.h"

#include <assert.h>
#include <string.h>

void effects_init(struct effects *out, struct arena *arena)
{
    *out = (struct effects){.arena = arena, .due_ns = NEVER_NS};
}

struct effect *effects_add(struct effects *out, enum effect_kind kind)
{
    assert(out->count < EFFECTS_MAX);
    if (out->count == out->capacity) {
        size_t capacity = out->capacity ? 2 * out->capacity : 8;
        struct effect *list = ARENA_ARRAY(out->arena, capacity, struct effect);
        if (out->count) {
            memcpy(list, out->list, out->count * sizeof(*list));
        }
        out->list = list;
        out->capacity = capacity;
    }
    struct effect *e = &out->list[out->count++];
    *e = (struct effect){.kind = kind};
    return e;
}

void effects_due(struct effects *out, int64_t due_ns)
{
    out->due_ns = earlier_ns(out->due_ns, due_ns);
}

void effects_reply(struct effects *out, uint64_t request_id, int status, const char *content_type,
                   struct bytes body)
{
    struct effect *e = effects_add(out, EFFECT_REPLY);
    e->reply = (struct reply){
        .id = request_id,
        .status = status,
        .content_type = content_type,
        .etag = "",
        .allow = "",
        .body = {.data = arena_copy(out->arena, body.data, body.size), .size = body.size},
        .channel = "",
    };
}

void effects_reply_message(struct effects *out, uint64_t request_id, const ProtobufCMessage *m)
{
    struct effect *e = effects_add(out, EFFECT_REPLY);
    e->reply = (struct reply){
        .id = request_id,
        .status = 200,
        .content_type = "application/x-protobuf",
        .etag = "",
        .allow = "",
        .body = message_packed(out->arena, m),
        .channel = "",
    };
}

void effects_grpc(struct effects *out, uint64_t request_id, const ProtobufCMessage *m)
{
    effects_reply_message(out, request_id, m);
    out->list[out->count - 1].reply.grpc_message = "";
}

void effects_grpc_refuse(struct effects *out, uint64_t request_id, enum grpc_status status,
                         const char *text)
{
    effects_reply(out, request_id, 200, "", (struct bytes){0});
    struct reply *r = &out->list[out->count - 1].reply;
    r->grpc_status = (int)status;
    r->grpc_message = arena_strdup(out->arena, text);
}

void effects_call_message(struct effects *out, uint64_t call_id, const char *url,
                          const char *trace_id, const ProtobufCMessage *m, int64_t deadline_ns)
{
    assert(call_id != 0);
    struct effect *e = effects_add(out, EFFECT_CALL);
    e->call = (struct call){
        .id = call_id,
        .method = "POST",
        .url = arena_strdup(out->arena, url),
        .content_type = "application/x-protobuf",
        .accept = "application/x-protobuf",
        .if_none_match = "",
        .trace_id = arena_strdup(out->arena, trace_id),
        .body = message_packed(out->arena, m),
        .deadline_ns = deadline_ns,
    };
}

__attribute__((format(printf, 3, 0)))
static void log_line(struct effects *out, struct log_line line, const char *data_format,
                     va_list args)
{
    line.data = arena_vprintf(out->arena, data_format, args);
    effects_add(out, EFFECT_LOG)->log = line;
}

void effects_log(struct effects *out, enum log_level level, const char *message,
                 const char *data_format, ...)
{
    va_list args;
    va_start(args, data_format);
    log_line(out, (struct log_line){.level = level, .message = message}, data_format, args);
    va_end(args);
}

void effects_log_single(struct effects *out, enum log_level level, const char *message,
                        const char *data_format, ...)
{
    va_list args;
    va_start(args, data_format);
    log_line(out, (struct log_line){.level = level, .message = message, .single = true},
             data_format, args);
    va_end(args);
}

void effects_exit(struct effects *out, int code, const char *text)
{
    struct effect *e = effects_add(out, EFFECT_EXIT);
    e->exit.code = code;
    e->exit.text = arena_strdup(out->arena, text);
}
