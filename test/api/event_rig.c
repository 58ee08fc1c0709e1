#include "test/api/event_rig.h"

#include "models/desired_lrp_requests.pb-c.h"
#include "models/task_requests.pb-c.h"
#include "test/tool/cmocka.h"

#include <stdio.h>

/* ---- what clients ask ------------------------------------------------------------------------ */

void ask_well(const struct bbs_process *b, const char *path, const char *trace_id,
              const ProtobufCMessage *m)
{
    struct buf body, answer;
    buf_init(&body);
    buf_init(&answer);
    buf_message(&body, m);
    assert_int_equal(bbs_process_ask(b, "POST", path, trace_id, buf_bytes(&body), NULL, &answer),
                     200);
    assert_int_equal(bbs_error_of(&answer), -1);
    buf_done(&body);
    buf_done(&answer);
}

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

void desire_lrp(const struct bbs_process *b, const char *guid, int32_t instances,
                const char *trace_id)
{
    SCOPED_ARENA(a);
    ask_well(b, "/v1/desired_lrp/desire.r2", trace_id, &bbs_desire_of(&a, guid, instances)->base);
}

void annotate_lrp(const struct bbs_process *b, const char *guid, const char *annotation)
{
    Models__UpdateDesiredLRPRequest r = MODELS__UPDATE_DESIRED_LRPREQUEST__INIT;
    Models__DesiredLRPUpdate u = MODELS__DESIRED_LRPUPDATE__INIT;
    r.process_guid = text(guid);
    r.update = &u;
    u.optional_annotation_case = MODELS__DESIRED_LRPUPDATE__OPTIONAL_ANNOTATION_ANNOTATION;
    u.annotation = text(annotation);
    ask_well(b, "/v1/desired_lrp/update", "update-id", &r.base);
}

void remove_lrp(const struct bbs_process *b, const char *guid)
{
    Models__RemoveDesiredLRPRequest r = MODELS__REMOVE_DESIRED_LRPREQUEST__INIT;
    r.process_guid = text(guid);
    ask_well(b, "/v1/desired_lrp/remove", "remove-id", &r.base);
}

void desire_task(const struct bbs_process *b, const char *guid)
{
    SCOPED_ARENA(a);
    Models__DesireTaskRequest *r = bbs_desire_task_of(&a, guid, "d");
    Models__ImageLayer layer = MODELS__IMAGE_LAYER__INIT, *layers[] = {&layer};
    r->task_definition->image_layers = layers;
    r->task_definition->n_image_layers = 1;
    layer.url = text("https://x");
    layer.destination_path = text("/y");
    layer.layer_type = MODELS__IMAGE_LAYER__TYPE__SHARED;
    layer.media_type = MODELS__IMAGE_LAYER__MEDIA_TYPE__TGZ;
    ask_well(b, "/v1/tasks/desire.r2", "", &r->base);
}

void ask_task(const struct bbs_process *b, const char *what, const char *guid)
{
    char path[64];
    Models__TaskGuidRequest r = MODELS__TASK_GUID_REQUEST__INIT;
    snprintf(path, sizeof(path), "/v1/tasks/%s", what);
    r.task_guid = text(guid);
    ask_well(b, path, "", &r.base);
}

/* ---- what is told ---------------------------------------------------------------------------- */

struct stream_item next_item(struct subscriber *s, const char *name)
{
    struct stream_item item = {0};
    if (!subscriber_next(s, PATIENCE_MS, &item)) {
        fail_msg("no event where %s was to come", name);
    }
    assert_string_equal(item.name, name);
    return item;
}

void *next_event(struct arena *a, struct subscriber *s, const char *name,
                 const ProtobufCMessageDescriptor *type)
{
    ProtobufCAllocator allocator = arena_protobuf(a);
    struct stream_item item = next_item(s, name);
    void *event = protobuf_c_message_unpack(type, &allocator, item.payload.size, item.payload.data);
    buf_done(&item.payload);
    assert_non_null(event);
    return event;
}

void pass_event(struct subscriber *s, const char *name)
{
    struct stream_item item = next_item(s, name);
    buf_done(&item.payload);
}

void pass_events(struct subscriber *s, long first, long count)
{
    struct stream_item item = {0};
    for (long i = first; i < first + count; i++) {
        assert_true(subscriber_next(s, PATIENCE_MS, &item));
        assert_int_equal(item.id, i);
    }
    buf_done(&item.payload);
}
