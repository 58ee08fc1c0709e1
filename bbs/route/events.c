/* Subscriptions to the event streams of Diego's API (behaviour.md 16.1, 16.2). The reader is made
 * behind the read barrier and before the head of the answer goes out, so whoever has the head
 * misses nothing that was acknowledged before he asked, and nothing after. */
#include "bbs/route/answer.h"
#include "bbs/route/route.h"

#include <string.h>

#define EVENT_STREAM_TYPE "text/event-stream; charset=utf-8"

struct subscription {
    struct ask *ask;
    enum stream_kind kind;
    enum stream_version version;
    const char *cell_id;
};

static void subscribe_read(void *context, struct view *v, const char *text, struct effects *out)
{
    (void)text;
    const struct subscription *s = context;
    struct cursor *cursor =
        v ? hub_reader(s->ask->router->hub, s->kind, s->version, s->cell_id) : NULL;
    if (!cursor) { /* not fresh, or too many readers */
        answer_unavailable(out, s->ask->request_id);
        return;
    }
    effects_add(out, EFFECT_REPLY)->reply = (struct reply){
        .id = s->ask->request_id,
        .status = 200,
        .content_type = EVENT_STREAM_TYPE,
        .etag = "",
        .allow = "",
        .cursor = cursor,
        .size = -1,
        .channel = hub_channel(s->kind),
    };
}

static void subscribe(struct ask *ask, enum stream_kind kind, enum stream_version version,
                      const char *cell_id, struct effects *out)
{
    struct subscription *s = ARENA_NEW(ask->arena, struct subscription);
    *s = (struct subscription){
        .ask = ask, .kind = kind, .version = version, .cell_id = cell_id};
    board_barrier(ask->router->board, ask->arena, subscribe_read, s, out);
}

/* By the cell named in the body, if there is one; no cell has so long an id. */
static void subscribe_by_cell(struct ask *ask, enum stream_kind kind, enum stream_version version,
                              struct effects *out)
{
    const char *cell_id = ((const Models__EventsByCellId *)ask->in.request)->cell_id;
    if (strlen(cell_id) > STREAM_CELL_BYTES) {
        answer_broken(out, ask->request_id);
        ask_end(ask);
        return;
    }
    subscribe(ask, kind, version, cell_id, out);
}

void route_group_events_r1(struct ask *ask, struct effects *out)
{
    subscribe_by_cell(ask, STREAM_GROUPS, STREAM_R1, out);
}

void route_group_events_r0(struct ask *ask, struct effects *out)
{
    subscribe_by_cell(ask, STREAM_GROUPS, STREAM_R0, out);
}

void route_instance_events_r1(struct ask *ask, struct effects *out)
{
    subscribe_by_cell(ask, STREAM_INSTANCES, STREAM_R1, out);
}

void route_instance_events_r0(struct ask *ask, struct effects *out)
{
    subscribe_by_cell(ask, STREAM_INSTANCES, STREAM_R0, out);
}

void route_task_events_r1(struct ask *ask, struct effects *out)
{
    subscribe(ask, STREAM_TASKS, STREAM_R1, "", out);
}

void route_task_events_r0(struct ask *ask, struct effects *out)
{
    subscribe(ask, STREAM_TASKS, STREAM_R0, "", out);
}
