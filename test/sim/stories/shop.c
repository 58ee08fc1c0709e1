#include "test/sim/stories/shop.h"

#include <string.h>

#define WAIT_NS (120 * SECOND_NS)
#define LOOK_NS (100 * MILLISECOND_NS)

/* ---- Asking ---------------------------------------------------------------------------------- */

void shop_send(struct shop *s, const char *method, const char *path, const char *body,
               int *ret_status)
{
    unsigned bbs = s->asked++ % s->c->options.bbs;
    *ret_status = -1;
    world_send_request(
        s->c->world, node_url(s->c->bbs[bbs]),
        &(struct world_request){.method = method,
                                .path = arena_printf(&s->arena, "/v1/systems%s", path),
                                .peer = {.unit = "client", .name = "dora"},
                                .content_type = "application/json",
                                .accept = "application/json",
                                .trace_id = "",
                                .body = bytes_of(body)},
        SETTLE_NS, note_status, ret_status);
}

int shop_ask(struct shop *s, const char *method, const char *path, const char *body)
{
    int status;
    shop_send(s, method, path, body, &status);
    while (status < 0) {
        world_step(s->c->world, world_now(s->c->world) + SECOND_NS);
    }
    return status;
}

/* "version 1.0.0 back" */
static const char *target_json(struct shop *s, const char *id, const char *target)
{
    const char *blank = strchr(target, ' '), *back = strstr(target, " back");
    assert_non_null(blank);
    const char *value =
        back ? arena_strndup(&s->arena, blank + 1, (size_t)(back - blank - 1)) : blank + 1;
    return arena_printf(&s->arena, "{\"id\":\"%s\",\"%.*s\":\"%s\"%s}", id, (int)(blank - target),
                        target, value, back ? ",\"rollbackOnFailure\":true" : "");
}

void shop_asks(struct shop *s, const char *id, const char *target)
{
    assert_int_equal(shop_ask(s, "POST", "/shop/deploys", target_json(s, id, target)), 201);
}

void shop_asks_teardown(struct shop *s, const char *id)
{
    const char *body = arena_printf(&s->arena, "{\"id\":\"%s\"}", id);
    assert_int_equal(shop_ask(s, "POST", "/shop/teardowns", body), 201);
}

void shop_change(struct shop *s, const char *id, const char *how)
{
    const char *path = arena_printf(&s->arena, "/shop/deploys/%s/%s", id, how);
    int status = shop_ask(s, "POST", path, "");
    if (status != 200) {
        fail_msg("%s %s is answered %d; it is %s", how, id, status, shop_state(s, "deploy", id));
    }
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* A record that is looked for by its id, or its path. */
struct sought {
    struct shop *s;
    const char *kind, *name;
    const char *state, *says;
};

static const char *text_in(const ProtobufCMessage *m, const char *field)
{
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(m->descriptor, field);
    return f ? *(char *const *)((const char *)m + f->offset) : "";
}

static void note_sought(void *context, enum record_type type, const ProtobufCMessage *m)
{
    struct sought *o = context;
    const char *by = type == RECORD_SERVICE ? "path" : type == RECORD_POOL ? "name" : "id";
    bool is_it = type == RECORD_SYSTEM || strcmp(text_in(m, by), o->name) == 0;
    if (is_it && strcmp(text_in(m, "uid"), "apps") != 0) {
        o->state = arena_strdup(&o->s->arena, text_in(m, "state"));
        o->says = arena_strdup(&o->s->arena, text_in(m, "message"));
    }
}

static struct sought seek(struct shop *s, const char *kind, const char *name)
{
    struct sought o = {s, kind, name, "", ""};
    cluster_each(s->c, arena_printf(&s->arena, "%s/", kind), note_sought, &o);
    return o;
}

const char *shop_state(struct shop *s, const char *kind, const char *name)
{
    return seek(s, kind, name).state;
}

const char *shop_says(struct shop *s, const char *kind, const char *name)
{
    return seek(s, kind, name).says;
}

void shop_await(struct shop *s, const char *kind, const char *name, const char *state)
{
    int64_t limit = world_now(s->c->world) + WAIT_NS;
    while (strcmp(shop_state(s, kind, name), state) != 0) {
        if (world_now(s->c->world) >= limit) {
            fail_msg("%s %s is %s (%s), and not %s", kind, name, shop_state(s, kind, name),
                     shop_says(s, kind, name), state);
        }
        world_run(s->c->world, LOOK_NS);
    }
}

void shop_ends(struct shop *s, const char *kind, const char *id, const char *state)
{
    int64_t limit = world_now(s->c->world) + WAIT_NS;
    const char *is;
    while (strcmp(is = shop_state(s, kind, id), "succeeded") != 0 && strcmp(is, "failed") != 0 &&
           world_now(s->c->world) < limit) {
        world_run(s->c->world, LOOK_NS);
    }
    if (strcmp(is, state) != 0) {
        fail_msg("%s %s is %s (%s), and not %s", kind, id, is, shop_says(s, kind, id), state);
    }
}

static void note_holds(void *context, enum record_type type, const ProtobufCMessage *m)
{
    const Board__HoldRecord *h = (const Board__HoldRecord *)m;
    (void)type;
    for (size_t i = 0; i < h->n_holds; i++) {
        buf_printf(context, "%s%s=%s", i ? " " : "", h->holds[i]->id, h->holds[i]->path);
    }
}

const char *shop_held(struct shop *s)
{
    SCOPED_BUF(out);
    cluster_each(s->c, "hold/", note_holds, &out);
    return arena_strdup(&s->arena, buf_string(&out));
}

void shop_await_held(struct shop *s, const char *held)
{
    int64_t limit = world_now(s->c->world) + WAIT_NS;
    while (strcmp(shop_held(s), held) != 0) {
        if (world_now(s->c->world) >= limit) {
            fail_msg("held is %s, and not %s", shop_held(s), held);
        }
        world_run(s->c->world, LOOK_NS);
    }
}

static void note_service(void *context, enum record_type type, const ProtobufCMessage *m)
{
    const Board__ServiceRecord *r = (const Board__ServiceRecord *)m;
    struct buf *out = context;
    (void)type;
    if (strcmp(r->uid, "apps") != 0) {
        buf_printf(out, "%s%s", out->size ? " " : "", r->component);
    }
}

const char *shop_services(struct shop *s)
{
    SCOPED_BUF(out);
    cluster_each(s->c, "service/", note_service, &out);
    return arena_strdup(&s->arena, buf_string(&out));
}

/* ---- Making it ------------------------------------------------------------------------------- */

void shop_open(struct shop *s, struct cluster *c)
{
    *s = (struct shop){.c = c};
    arena_init(&s->arena);
    definitions_init(&s->definitions, c->world);
    assert_int_equal(
        shop_ask(s, "POST", "", "{\"id\":\"shop\",\"definitionUrl\":\"" DEFINITIONS_URL "\"}"),
        201);
    shop_await(s, "system", "", "stable");
}

void shop_close(struct shop *s)
{
    definitions_done(&s->definitions);
    arena_done(&s->arena);
}
