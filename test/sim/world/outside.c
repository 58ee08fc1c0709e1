/* Calls to servers of users, outside of the simulated world: what they make of a request is asked
 * of whoever plays them (world.h). Redirects are followed here, as the real shell does. */
#include <assert.h>
#include <stdlib.h>

#include "test/sim/world/inside.h"

enum { REQUESTS_MAX = 10 }; /* of one call, redirects included */

/* One call, from its start to its end at the client. */
struct outside {
    struct outside *next;
    uint64_t id; /* unique in the world */
    uint64_t call_id;
    struct node *from;
    unsigned from_start;
    unsigned requests;
    const char *method, *url;
    struct bytes body;
    struct arena arena;
};

static struct outside *find(struct world *w, uint64_t id)
{
    for (struct outside *o = w->outside; o; o = o->next) {
        if (o->id == id) {
            return o;
        }
    }
    return NULL;
}

static void forget(struct world *w, struct outside *o)
{
    struct outside **at = &w->outside;
    while (*at != o) {
        at = &(*at)->next;
    }
    *at = o->next;
    arena_done(&o->arena);
    free(o);
}

void outside_free(struct world *w)
{
    while (w->outside) {
        forget(w, w->outside);
    }
}

struct end {
    uint64_t id;
    struct event event;
};

static void arrives_at_client(void *world, struct item *item)
{
    struct world *w = world;
    struct end *e = item->payload;
    struct outside *o = find(w, e->id);
    if (!o) {
        return; /* ended before, by its deadline */
    }
    struct node *client = o->from;
    bool alive = client->role && client->starts == o->from_start;
    e->event.response.id = o->call_id;
    forget(w, o);
    if (alive) {
        node_step(client, &e->event);
    }
}

static void end_at(struct outside *o, int64_t at_ns, const struct response *r)
{
    struct world *w = o->from->world;
    struct item *i = item_new(arrives_at_client);
    struct end *e = ARENA_NEW(&i->arena, struct end);
    *e = (struct end){.id = o->id, .event = {.kind = EVENT_RESPONSE, .response = *r}};
    e->event.response.content_type = e->event.response.etag = "";
    e->event.response.text = arena_strdup(&i->arena, r->text ? r->text : "");
    i->payload = e;
    i->owner = o->from;
    queue_push(&w->queue, i, at_ns > w->now_ns ? at_ns : w->now_ns);
}

static void fails(struct outside *o, int64_t after_ns, enum call_outcome outcome,
                  enum call_fault fault, const char *text)
{
    end_at(o, o->from->world->now_ns + after_ns,
           &(struct response){.outcome = outcome, .fault = fault, .text = text});
}

static void send(struct outside *o, int64_t after_ns);

/* As Go's client: the body goes along at 307 and 308 alone. */
static void follow(struct outside *o, const struct world_outside_answer *a, int64_t after_ns)
{
    if (o->requests >= REQUESTS_MAX) {
        fails(o, after_ns, CALL_UNKNOWN, CALL_FAULT_OTHER, "too many redirects");
        return;
    }
    o->url = arena_strdup(&o->arena, a->location);
    if (a->status != 307 && a->status != 308) {
        o->method = "GET";
        o->body = (struct bytes){0};
    }
    send(o, after_ns);
}

static void arrives_at_server(void *world, struct item *item)
{
    struct world *w = world;
    struct outside *o = find(w, *(uint64_t *)item->payload);
    if (!o) {
        return;
    }
    struct world_outside_answer a = {.how = OUTSIDE_REFUSES};
    if (w->serve_outside) {
        a = w->serve_outside(w->serve_context, &(struct world_outside_request){
                                                   o->from, o->method, o->url, o->body});
    }
    int64_t after_ns = a.after_ns + world_draw(w, w->options.network);
    if (world_strikes(w, w->faults.answer_lost)) {
        return; /* the deadline tells it */
    }
    switch (a.how) {
    case OUTSIDE_REFUSES:
        fails(o, after_ns, CALL_REFUSED, CALL_FAULT_OTHER, "connection refused");
        break;
    case OUTSIDE_CLOSES:
        fails(o, after_ns, CALL_UNKNOWN, CALL_FAULT_CLOSED, "the server closed the connection");
        break;
    case OUTSIDE_SILENT:
        break;
    case OUTSIDE_ANSWERS:
        if (a.location) {
            follow(o, &a, after_ns);
        } else {
            end_at(o, w->now_ns + after_ns,
                   &(struct response){.outcome = CALL_ANSWERED, .status = a.status});
        }
        break;
    }
}

static void send(struct outside *o, int64_t after_ns)
{
    struct world *w = o->from->world;
    struct item *i = item_new(arrives_at_server);
    uint64_t *id = ARENA_NEW(&i->arena, uint64_t);
    *id = o->id;
    i->payload = id;
    o->requests++;
    after_ns += world_draw(w, w->options.network);
    after_ns += world_strikes(w, w->faults.late) ? world_draw(w, w->faults.late_by) : 0;
    queue_push(&w->queue, i, w->now_ns + after_ns);
}

void outside_call(struct node *from, const struct call *call)
{
    struct world *w = from->world;
    struct outside *o = calloc(1, sizeof(*o));
    assert(o);
    arena_init(&o->arena);
    o->id = w->next_request_id++;
    o->call_id = call->id;
    o->from = from;
    o->from_start = from->starts;
    o->method = arena_strdup(&o->arena, call->method);
    o->url = arena_strdup(&o->arena, call->url);
    o->body.data = arena_copy(&o->arena, call->body.data, call->body.size);
    o->body.size = call->body.size;
    o->next = w->outside;
    w->outside = o;
    if (!world_strikes(w, w->faults.request_lost)) {
        send(o, 0);
    }
    end_at(o, call->deadline_ns,
           &(struct response){.outcome = CALL_UNKNOWN,
                              .fault = CALL_FAULT_TIMED_OUT,
                              .text = "no answer in time"});
}

void world_serve_outside(struct world *w, world_outside_server *serve, void *context)
{
    w->serve_outside = serve;
    w->serve_context = context;
}
