#include "test/unit/drive.h"

#include <string.h>

void drive_init(struct drive *d, void (*step)(void *, const struct event *, struct effects *),
                void *target)
{
    *d = (struct drive){
        .step = step,
        .target = target,
        .now = {.mono_ns = 1000 * SECOND_NS, .wall_ns = 1700000000 * SECOND_NS},
    };
    arena_init(&d->arena);
    effects_init(&d->out, &d->arena);
}

void drive_done(struct drive *d)
{
    arena_done(&d->arena);
}

static void forget(struct drive *d)
{
    arena_done(&d->arena); /* so that the sanitizer sees whoever kept something of the last step */
    int64_t due_ns = d->out.due_ns;
    effects_init(&d->out, &d->arena);
    d->out.due_ns = due_ns;
}

/* One step, whose effects are added to those at hand. */
static void deliver(struct drive *d, struct event ev)
{
    ev.now = d->now;
    ev.entropy[0] = (uint64_t)d->now.mono_ns * 0x9e3779b97f4a7c15u;
    ev.entropy[1] = ~ev.entropy[0];
    struct effects out;
    effects_init(&out, &d->arena);
    d->step(d->target, &ev, &out);
    for (size_t i = 0; i < out.count; i++) {
        *effects_add(&d->out, out.list[i].kind) = out.list[i];
    }
    d->out.due_ns = out.due_ns;
}

void drive_event(struct drive *d, struct event ev)
{
    forget(d);
    deliver(d, ev);
}

void drive_start(struct drive *d)
{
    drive_event(d, (struct event){.kind = EVENT_START});
}

void drive_timer(struct drive *d)
{
    drive_event(d, (struct event){.kind = EVENT_TIMER});
}

void drive_sleep(struct drive *d, int64_t ms)
{
    d->now.mono_ns += ms * MILLISECOND_NS;
    d->now.wall_ns += ms * MILLISECOND_NS;
}

void drive_advance(struct drive *d, int64_t ms)
{
    int64_t end = d->now.mono_ns + ms * MILLISECOND_NS;
    forget(d);
    while (d->out.due_ns <= end) {
        /* A due time that has passed already still takes a nanosecond: no endless loop. */
        int64_t step = d->out.due_ns > d->now.mono_ns ? d->out.due_ns - d->now.mono_ns : 1;
        d->now.mono_ns += step;
        d->now.wall_ns += step;
        deliver(d, (struct event){.kind = EVENT_TIMER});
    }
    if (d->now.mono_ns < end) {
        d->now.wall_ns += end - d->now.mono_ns;
        d->now.mono_ns = end;
    }
}

void drive_response(struct drive *d, uint64_t id, int status, const char *etag, struct bytes body)
{
    drive_event(d, (struct event){.kind = EVENT_RESPONSE,
                                  .response = {.id = id,
                                               .outcome = CALL_ANSWERED,
                                               .status = status,
                                               .content_type = "",
                                               .etag = etag,
                                               .body = body,
                                               .text = ""}});
}

void drive_answer(struct drive *d, uint64_t id, const ProtobufCMessage *m)
{
    SCOPED_BUF(body);
    buf_message(&body, m);
    drive_response(d, id, 200, "", buf_bytes(&body));
}

void drive_unanswered(struct drive *d, uint64_t id, enum call_outcome outcome)
{
    drive_event(d, (struct event){.kind = EVENT_RESPONSE,
                                  .response = {.id = id,
                                               .outcome = outcome,
                                               .content_type = "",
                                               .etag = "",
                                               .text = "no answer"}});
}

void drive_stream(struct drive *d, uint64_t id, struct bytes data)
{
    drive_event(d, (struct event){.kind = EVENT_STREAM,
                                  .stream = {.id = id, .status = 200, .data = data, .text = ""}});
}

void drive_closed(struct drive *d, uint64_t id)
{
    drive_event(d, (struct event){.kind = EVENT_STREAM,
                                  .stream = {.id = id, .closed = true, .text = "closed by peer"}});
}

const struct effect *drive_effect(const struct drive *d, enum effect_kind kind, size_t n)
{
    for (size_t i = 0; i < d->out.count; i++) {
        if (d->out.list[i].kind == kind && n-- == 0) {
            return &d->out.list[i];
        }
    }
    return NULL;
}

const struct call *drive_call(const struct drive *d, const char *part, size_t n)
{
    for (size_t i = 0; i < d->out.count; i++) {
        const struct effect *e = &d->out.list[i];
        bool call = e->kind == EFFECT_CALL || e->kind == EFFECT_SUBSCRIBE;
        if (call && strstr(e->call.url, part) && n-- == 0) {
            return &e->call;
        }
    }
    return NULL;
}
