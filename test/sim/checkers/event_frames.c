#include "test/sim/checkers/event_frames.h"

#include <stdio.h>
#include <string.h>

#include "common/codec/json_text.h"
#include "models/events.pb-c.h"

enum event_frame_state event_frame_take(struct buf *text, long *number, struct arena *a,
                                        char ret_name[EVENT_NAME_BYTES], struct bytes *ret_payload)
{
    uint8_t *end = text->size ? memmem(text->data, text->size, "\n\n", 2) : NULL;
    if (!end) {
        return EVENT_FRAME_NONE;
    }
    size_t size = (size_t)(end - text->data);
    char *frame = arena_strndup(a, (const char *)text->data, size);
    long id = -1;
    int data = 0;
    ret_name[0] = '\0';
    sscanf(frame, "id: %ld\nevent: %63s\ndata: %n", &id, ret_name, &data);
    buf_consume(text, size + 2);
    if (id != (*number)++ || !data ||
        base64_decode(a, bytes_of(frame + data), ret_payload, NULL) < 0) {
        *ret_payload = bytes_of(frame);
        return EVENT_FRAME_WRONG;
    }
    return EVENT_FRAME_TAKEN;
}

/* ---- records ---- */

static const char *tag_text(struct arena *a, const Models__ModificationTag *tag)
{
    return tag ? arena_printf(a, "%s.%u", tag->epoch, tag->index) : "";
}

static const char *net_text(struct arena *a, const Models__ActualLRPNetInfo *net)
{
    if (!net) {
        return "  0 0";
    }
    const char *text = arena_printf(a, "%s %s %d %zu", net->address, net->instance_address,
                                    (int)net->preferred_address, net->n_ports);
    for (size_t i = 0; i < net->n_ports; i++) {
        text = arena_printf(a, "%s %u:%u", text, net->ports[i]->container_port,
                            net->ports[i]->host_port);
    }
    return text;
}

/* What infos show, from whichever message. */
#define INFO_TEXT(a, r)                                                                            \
    arena_printf((a),                                                                              \
                 "%s %c since %lld tag %s crashes %d [%s] error [%s] net [%s] routable %d "        \
                 "zone %s",                                                                        \
                 (r)->state, "OES"[(r)->presence], (long long)(r) -> since,                        \
                 tag_text((a), (r)->modification_tag), (r) -> crash_count, (r) -> crash_reason,    \
                 (r) -> placement_error, net_text((a), (r)->actual_lrp_net_info),                  \
                 (r) -> optional_routable_case ? (r) -> routable : -1, (r) -> availability_zone)

const char *event_info_text(struct arena *a, const Models__ActualLRP *r)
{
    return INFO_TEXT(a, r);
}

const char *event_instance_text(struct arena *a, const Models__ActualLRPKey *key,
                                const Models__ActualLRPInstanceKey *instance)
{
    return arena_printf(a, "%s/%d in %s %s@%s", key ? key->process_guid : "", key ? key->index : -1,
                        key ? key->domain : "", instance ? instance->instance_guid : "",
                        instance ? instance->cell_id : "");
}

const char *event_actual_text(struct arena *a, const Models__ActualLRP *r)
{
    bool ours = r->stopping || *r->definition_id || r->owner || r->base.n_unknown_fields;
    const char *text = arena_printf(
        a, "%s %s", event_instance_text(a, r->actual_lrp_key, r->actual_lrp_instance_key),
        event_info_text(a, r));
    for (size_t i = 0; i < r->n_actual_lrp_internal_routes; i++) {
        text = arena_printf(a, "%s route %s", text, r->actual_lrp_internal_routes[i]->hostname);
    }
    for (size_t i = 0; i < r->n_metric_tags; i++) {
        text = arena_printf(a, "%s %s=%s", text, r->metric_tags[i]->key, r->metric_tags[i]->value);
    }
    return ours ? arena_printf(a, "%s OURS", text) : text;
}

const char *event_task_text(struct arena *a, const Models__Task *t)
{
    bool ours = t->owner || *t->attempt || t->optional_max_retries_case ||
                t->optional_keep_s_case || t->base.n_unknown_fields;
    const Models__TaskDefinition *d = t->task_definition;
    return arena_printf(
        a,
        "%s in %s %d on %s made %lld updated %lld over %lld failed %d [%s] result [%s] "
        "rejected %d [%s] runs %s for %s%s",
        t->task_guid, t->domain, (int)t->state, t->cell_id, (long long)t->created_at,
        (long long)t->updated_at, (long long)t->first_completed_at, t->failed, t->failure_reason,
        t->result, t->rejection_count, t->rejection_reason, d ? d->root_fs : "",
        d ? d->completion_callback_url : "", ours ? " OURS" : "");
}

const char *event_desired_text(struct arena *a, const Models__DesiredLRP *d,
                               const Models__DesiredLRP *run)
{
    const char *text = arena_printf(
        a, "%s in %s x %d tag %s note [%s] %d MB routes %zu on %s log %s runs %s env %zu",
        d->process_guid, d->domain, d->instances, tag_text(a, d->modification_tag), d->annotation,
        d->memory_mb, d->routes ? d->routes->n_routes : 0, d->root_fs, d->log_guid,
        run->action && run->action->run_action ? run->action->run_action->path : "nothing",
        run->n_environment_variables);
    for (size_t i = 0; i < d->n_metric_tags; i++) {
        const Models__DesiredLRP__MetricTagsEntry *tag = d->metric_tags[i];
        text = arena_printf(a, "%s %s=%s", text, tag->key, tag->value ? tag->value->static_ : "");
    }
    return text;
}

const char *event_traced(struct arena *a, const char *text, const char *trace_id)
{
    return *trace_id ? arena_printf(a, "%s asked by %s", text, trace_id) : text;
}

/* ---- events ---- */

static const char *group_text(struct arena *a, const Models__ActualLRPGroup *g)
{
    const char *instance = g && g->instance ? event_actual_text(a, g->instance) : "";
    const char *evacuating = g && g->evacuating ? event_actual_text(a, g->evacuating) : "";
    return arena_printf(a, "(%s|%s)", instance, evacuating);
}

static const char *info_text(struct arena *a, const Models__ActualLRPInfo *i)
{
    return i ? INFO_TEXT(a, i) : "nothing";
}

typedef const char *shows(struct arena *a, const ProtobufCMessage *m);

static const char *shows_groups(struct arena *a, const ProtobufCMessage *m)
{
    const Models__ActualLRPChangedEvent *e = (const Models__ActualLRPChangedEvent *)m;
    return arena_printf(a, "%s -> %s", group_text(a, e->before), group_text(a, e->after));
}

static const char *shows_group(struct arena *a, const ProtobufCMessage *m)
{
    return group_text(a, ((const Models__ActualLRPCreatedEvent *)m)->actual_lrp_group);
}

static const char *shows_crash(struct arena *a, const ProtobufCMessage *m)
{
    const Models__ActualLRPCrashedEvent *e = (const Models__ActualLRPCrashedEvent *)m;
    return arena_printf(a, "%s crashes %d [%s] since %lld",
                        event_instance_text(a, e->actual_lrp_key, e->actual_lrp_instance_key),
                        e->crash_count, e->crash_reason, (long long)e->since);
}

static const char *shows_infos(struct arena *a, const ProtobufCMessage *m)
{
    const Models__ActualLRPInstanceChangedEvent *e =
        (const Models__ActualLRPInstanceChangedEvent *)m;
    const char *text =
        arena_printf(a, "%s (%s) -> (%s)",
                     event_instance_text(a, e->actual_lrp_key, e->actual_lrp_instance_key),
                     info_text(a, e->before), info_text(a, e->after));
    return event_traced(a, text, e->trace_id);
}

static const char *shows_actual(struct arena *a, const ProtobufCMessage *m)
{
    const Models__ActualLRPInstanceCreatedEvent *e =
        (const Models__ActualLRPInstanceCreatedEvent *)m;
    return e->actual_lrp ? event_traced(a, event_actual_text(a, e->actual_lrp), e->trace_id) : NULL;
}

static const char *shows_desired(struct arena *a, const ProtobufCMessage *m)
{
    const Models__DesiredLRPCreatedEvent *e = (const Models__DesiredLRPCreatedEvent *)m;
    const Models__DesiredLRP *d = e->desired_lrp;
    return d ? event_traced(a, event_desired_text(a, d, d), e->trace_id) : NULL;
}

static const char *shows_two_desired(struct arena *a, const ProtobufCMessage *m)
{
    const Models__DesiredLRPChangedEvent *e = (const Models__DesiredLRPChangedEvent *)m;
    if (!e->before || !e->after) {
        return NULL;
    }
    const char *text = arena_printf(a, "(%s) -> (%s)", event_desired_text(a, e->before, e->before),
                                    event_desired_text(a, e->after, e->after));
    return event_traced(a, text, e->trace_id);
}

static const char *shows_task(struct arena *a, const ProtobufCMessage *m)
{
    const Models__Task *t = ((const Models__TaskCreatedEvent *)m)->task;
    return t ? event_task_text(a, t) : NULL;
}

static const char *shows_two_tasks(struct arena *a, const ProtobufCMessage *m)
{
    const Models__TaskChangedEvent *e = (const Models__TaskChangedEvent *)m;
    return e->before && e->after ? arena_printf(a, "(%s) -> (%s)", event_task_text(a, e->before),
                                                event_task_text(a, e->after))
                                 : NULL;
}

static const struct {
    const char *name;
    const ProtobufCMessageDescriptor *message;
    shows *shows;
} rows[] = {
    {"desired_lrp_created", &models__desired_lrpcreated_event__descriptor, shows_desired},
    {"desired_lrp_changed", &models__desired_lrpchanged_event__descriptor, shows_two_desired},
    {"desired_lrp_removed", &models__desired_lrpremoved_event__descriptor, shows_desired},
    {"actual_lrp_created", &models__actual_lrpcreated_event__descriptor, shows_group},
    {"actual_lrp_changed", &models__actual_lrpchanged_event__descriptor, shows_groups},
    {"actual_lrp_removed", &models__actual_lrpremoved_event__descriptor, shows_group},
    {"actual_lrp_crashed", &models__actual_lrpcrashed_event__descriptor, shows_crash},
    {"actual_lrp_instance_created", &models__actual_lrpinstance_created_event__descriptor,
     shows_actual},
    {"actual_lrp_instance_changed", &models__actual_lrpinstance_changed_event__descriptor,
     shows_infos},
    {"actual_lrp_instance_removed", &models__actual_lrpinstance_removed_event__descriptor,
     shows_actual},
    {"task_created", &models__task_created_event__descriptor, shows_task},
    {"task_changed", &models__task_changed_event__descriptor, shows_two_tasks},
    {"task_removed", &models__task_removed_event__descriptor, shows_task},
};

const char *event_text(struct arena *a, const char *name, struct bytes payload)
{
    ProtobufCAllocator allocator = arena_protobuf(a);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            ProtobufCMessage *m = payload.size
                                      ? protobuf_c_message_unpack(rows[i].message, &allocator,
                                                                  payload.size, payload.data)
                                      : NULL;
            const char *shown = m ? rows[i].shows(a, m) : NULL;
            return shown ? arena_printf(a, "%s %s", name, shown) : NULL;
        }
    }
    return NULL;
}
