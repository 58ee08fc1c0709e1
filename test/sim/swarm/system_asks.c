#include "test/sim/swarm/system_asks.h"

#include <stdio.h>
#include <string.h>

#define ASK_LIMIT_NS (10 * SECOND_NS)

/* One request. */
struct system_ask {
    struct system_asks *asks;
    char what[200];
};

static void answered(void *context, int status, struct bytes body)
{
    struct system_ask *ask = context;
    struct system_asks *x = ask->asks;
    struct swarm *s = x->work->swarm;
    x->open--;
    s->result->done[x->count]++;
    world_note(s->world, x->who, "is answered %d: %s", status, ask->what);
    bool unknown =
        status == 400 &&
        strstr(arena_strndup(&s->arena, (const char *)body.data, body.size), "INVALID_SYSTEM_ID");
    bool well = status == 0 || status == 200 || status == 201 || status == 404 || status == 409 ||
                status == 503 || unknown;
    if (!well) {
        checkers_report(&s->checkers, "systems", "%s is answered %d: %.*s", ask->what, status,
                        (int)body.size, (const char *)body.data);
    }
}

void system_asks_send(struct system_asks *x, const char *method, const char *path,
                      const char *body)
{
    struct swarm *s = x->work->swarm;
    struct system_ask *ask = ARENA_NEW(&s->arena, struct system_ask);
    uint64_t bbs = random_below(&x->work->random, s->cluster->options.bbs);
    ask->asks = x;
    snprintf(ask->what, sizeof(ask->what), "%s %s %s", method, path, body);
    x->open++;
    world_send_request(s->world, node_url(s->cluster->bbs[bbs]),
                       &(struct world_request){.method = method,
                                               .path = path,
                                               .peer = {.unit = "client", .name = "dora"},
                                               .content_type = "application/json",
                                               .accept = "application/json",
                                               .trace_id = "",
                                               .body = bytes_of(body)},
                       ASK_LIMIT_NS, answered, ask);
}

const char *system_asks_path(const struct system_asks *x, unsigned system, const char *rest)
{
    static const char *const names[SYSTEMS_MOST] = {"shop", "mall", "zoo"};
    return arena_printf(&x->work->swarm->arena, "/v1/systems/%s%s", names[system], rest);
}

const char *system_asks_escaped(struct arena *a, const char *place)
{
    const char *text = "";
    for (const char *c = place; *c; c++) {
        text = *c == '/' ? arena_printf(a, "%s%%2F", text) : arena_printf(a, "%s%c", text, *c);
    }
    return text;
}
