#include "common/shell/event_queue.h"

#include "common/base/memory.h"
#include "common/base/message.h"

#include <stdlib.h>

struct queued_event {
    struct queued_event *next;
    struct arena arena;
    struct event event;
};

static struct bytes copy_bytes(struct arena *a, struct bytes b)
{
    return (struct bytes){.data = b.size ? arena_copy(a, b.data, b.size) : NULL, .size = b.size};
}

static const char *copy_name(struct arena *a, const char *s)
{
    return s ? arena_strdup(a, s) : NULL;
}

static void copy_request(struct arena *a, struct request *r)
{
    r->method = copy_name(a, r->method);
    r->path = copy_name(a, r->path);
    r->query = copy_name(a, r->query);
    r->trace_id = copy_name(a, r->trace_id);
    r->accept = copy_name(a, r->accept);
    r->content_type = copy_name(a, r->content_type);
    r->if_none_match = copy_name(a, r->if_none_match);
    r->peer.unit = copy_name(a, r->peer.unit);
    r->peer.name = copy_name(a, r->peer.name);
    r->body = copy_bytes(a, r->body);
}

static void copy_response(struct arena *a, struct response *r)
{
    r->content_type = copy_name(a, r->content_type);
    r->etag = copy_name(a, r->etag);
    r->text = copy_name(a, r->text);
    r->body = copy_bytes(a, r->body);
}

static void copy_container(struct arena *a, struct container_status *c)
{
    c->guid = copy_name(a, c->guid);
    c->text = copy_name(a, c->text);
    c->note = copy_bytes(a, c->note);
}

static void copy_verb(struct arena *a, struct verb_answer *v)
{
    v->guid = copy_name(a, v->guid);
    v->text = copy_name(a, v->text);
    if (v->container_count) {
        struct container_status *list =
            arena_copy(a, v->containers, v->container_count * sizeof(*list));
        for (size_t i = 0; i < v->container_count; i++) {
            copy_container(a, &list[i]);
        }
        v->containers = list;
    }
    if (v->usage_count) {
        struct container_usage *list = arena_copy(a, v->usages, v->usage_count * sizeof(*list));
        for (size_t i = 0; i < v->usage_count; i++) {
            list[i].guid = copy_name(a, list[i].guid);
        }
        v->usages = list;
    }
}

static void copy_resolved(struct arena *a, struct resolved *r)
{
    r->fault = copy_name(a, r->fault);
    r->needs = copy_name(a, r->needs);
    r->commit = copy_name(a, r->commit);
    r->version = copy_name(a, r->version);
    Board__ComponentRecord **components =
        ARENA_ARRAY(a, r->component_count, Board__ComponentRecord *);
    for (size_t i = 0; i < r->component_count; i++) {
        components[i] = (Board__ComponentRecord *)message_copy(a, &r->components[i]->base);
    }
    r->components = components;
    r->index = r->index ? (Board__IndexRecord *)message_copy(a, &r->index->base) : NULL;
    const char **versions = ARENA_ARRAY(a, r->version_count, const char *);
    for (size_t i = 0; i < r->version_count; i++) {
        versions[i] = arena_strdup(a, r->versions[i]);
    }
    r->versions = versions;
}

static void event_copy(struct arena *a, struct event *to, const struct event *ev)
{
    *to = *ev;
    switch (ev->kind) {
    case EVENT_REQUEST:
        copy_request(a, &to->request);
        break;
    case EVENT_RESPONSE:
        copy_response(a, &to->response);
        break;
    case EVENT_STREAM:
        to->stream.text = copy_name(a, ev->stream.text);
        to->stream.data = copy_bytes(a, ev->stream.data);
        break;
    case EVENT_STORE:
        to->store.text = copy_name(a, ev->store.text);
        to->store.message = message_copy(a, ev->store.message);
        break;
    case EVENT_WATCH:
        to->watch.text = copy_name(a, ev->watch.text);
        to->watch.response =
            (const Etcd__WatchResponse *)message_copy(a, (const void *)ev->watch.response);
        break;
    case EVENT_VERB:
        copy_verb(a, &to->verb);
        break;
    case EVENT_CONTAINER:
        copy_container(a, &to->container);
        break;
    case EVENT_PROBED:
        to->probed.guid = copy_name(a, ev->probed.guid);
        to->probed.text = copy_name(a, ev->probed.text);
        break;
    case EVENT_INCARNATION:
        to->incarnation.text = copy_name(a, ev->incarnation.text);
        break;
    case EVENT_EVACUATION:
        to->evacuation.text = copy_name(a, ev->evacuation.text);
        break;
    case EVENT_RESOLVED:
        copy_resolved(a, &to->resolved);
        break;
    case EVENT_LAUNCHED:
        to->launched.text = copy_name(a, ev->launched.text);
        break;
    case EVENT_START:
    case EVENT_TIMER:
    case EVENT_HANGUP:
    case EVENT_STOP:
    case EVENT_KIND_COUNT:
        break;
    }
}

void event_queue_init(struct event_queue *q)
{
    *q = (struct event_queue){.end = &q->first};
}

void event_queue_done(struct event_queue *q)
{
    struct event *ev;
    struct queued_event *e;
    while ((e = event_queue_pop(q, &ev))) {
        queued_free(e);
    }
}

void event_queue_push(struct event_queue *q, const struct event *ev)
{
    struct queued_event *e = mem_zeroed(sizeof(*e));
    arena_init(&e->arena);
    event_copy(&e->arena, &e->event, ev);
    *q->end = e;
    q->end = &e->next;
    q->count++;
}

struct queued_event *event_queue_pop(struct event_queue *q, struct event **ret_event)
{
    struct queued_event *e = q->first;
    if (!e) {
        return NULL;
    }
    q->first = e->next;
    q->count--;
    if (!q->first) {
        q->end = &q->first;
    }
    *ret_event = &e->event;
    return e;
}

void queued_free(struct queued_event *e)
{
    if (e) {
        arena_done(&e->arena);
        free(e);
    }
}
