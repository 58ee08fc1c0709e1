#include "test/sim/world/callback_server.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/codec/json.h"

static const struct {
    const char *name;
    struct world_outside_answer answer;
} deeds[DEED_COUNT] = {
    [DEED_OK] = {"says 200", {.status = 200}},
    [DEED_503] = {"says 503", {.status = 503}},
    [DEED_504] = {"says 504", {.status = 504}},
    [DEED_SILENT] = {"never answers", {.how = OUTSIDE_SILENT}},
    [DEED_CLOSES] = {"closes the connection", {.how = OUTSIDE_CLOSES}},
    [DEED_REFUSES] = {"is not reached", {.how = OUTSIDE_REFUSES}},
    [DEED_404] = {"says 404", {.status = 404}},
    [DEED_500] = {"says 500", {.status = 500}},
    [DEED_SLOW] = {"says 200, slowly", {.status = 200, .after_ns = CALLBACK_SLOW_NS}},
    [DEED_LATE] = {"says 200, too late", {.status = 200, .after_ns = CALLBACK_LATE_NS}},
    [DEED_MOVED] = {"is elsewhere", {.status = 307, .location = "https://cc.example/ok"}},
    [DEED_SEE] = {"shows elsewhere", {.status = 302, .location = "https://cc.example/ok"}},
    [DEED_MOVED_503] = {"is elsewhere, overloaded",
                        {.status = 307, .location = "https://cc.example/busy"}},
    [DEED_CIRCLE] = {"sends in a circle",
                     {.status = 307, .location = "https://cc.example/circle"}},
};

const char *callback_deed_name(enum callback_deed deed)
{
    return deeds[deed].name;
}

static enum callback_deed next_deed(struct callback_server *s)
{
    if (s->script_left) {
        s->script_left--;
        return *s->script++;
    }
    if (!s->random || random_below(s->random, 100) >= s->trouble) {
        return DEED_OK;
    }
    return (enum callback_deed)(1 + random_below(s->random, DEED_COUNT - 1));
}

static void note(struct callback_server *s, const char *task_guid)
{
    unsigned *count = map_get(&s->heard, task_guid);
    if (!count) {
        count = calloc(1, sizeof(*count));
        assert(count);
        map_put(&s->heard, task_guid, count);
    }
    ++*count;
}

static void hear(struct callback_server *s, struct bytes body, enum callback_deed deed)
{
    SCOPED_ARENA(a);
    struct err err;
    ProtobufCMessage *m;
    if (json_decode(&a, &models__task_callback_response__descriptor, body, CODEC_STRICT, &m,
                    &err)) {
        s->garbled = true;
        world_note(s->world, "cc", "is told nonsense: %.*s", (int)body.size,
                   (const char *)body.data);
    } else {
        const Models__TaskCallbackResponse *told = (const Models__TaskCallbackResponse *)m;
        note(s, told->task_guid);
        world_note(s->world, "cc", "is told of %s: %s%s; %s", told->task_guid,
                   told->failed ? "failed, " : "result ",
                   told->failed ? told->failure_reason : told->result, deeds[deed].name);
        if (s->on_heard) {
            s->on_heard(s->context, told);
        }
    }
}

static struct world_outside_answer serve(void *context,
                                         const struct world_outside_request *request)
{
    struct callback_server *s = context;
    if (strcmp(request->url, "https://cc.example/ok") == 0) {
        return deeds[DEED_OK].answer;
    }
    if (strcmp(request->url, "https://cc.example/busy") == 0) {
        return deeds[DEED_503].answer;
    }
    if (strcmp(request->url, "https://cc.example/circle") == 0) {
        return deeds[DEED_CIRCLE].answer;
    }
    if (strncmp(request->url, CALLBACK_URL, strlen(CALLBACK_URL)) != 0) {
        return (struct world_outside_answer){.how = OUTSIDE_REFUSES};
    }
    enum callback_deed deed = next_deed(s);
    s->deeds[deed]++;
    if (deed == DEED_REFUSES) {
        world_note(s->world, "cc", "%s", deeds[deed].name);
    } else {
        hear(s, request->body, deed);
    }
    return deeds[deed].answer;
}

void callback_server_init(struct callback_server *s, struct world *w)
{
    *s = (struct callback_server){.world = w};
    map_init(&s->heard);
    world_serve_outside(w, serve, s);
}

void callback_server_done(struct callback_server *s)
{
    map_done(&s->heard, free);
}

unsigned callback_server_heard(struct callback_server *s, const char *task_guid)
{
    const unsigned *count = map_get(&s->heard, task_guid);
    return count ? *count : 0;
}
