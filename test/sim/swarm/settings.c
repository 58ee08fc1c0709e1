/* An operator who changes settings while everything runs and faults befall it, through any bbs, and
 * asks for what is not to be had. When all is healed he unsets them all; in the end every bbs says
 * so, and every converger and rep that follows the board goes by that. */
#include "common/codec/scan.h"
#include "common/model/setting_record.h"
#include "converger/inside.h"
#include "rep/inside.h"
#include "test/sim/swarm/inside.h"

#include <string.h>

#define ASK_LIMIT_NS (5 * SECOND_NS)

/* Of a setting's name for a request; none is that of a setting. */
static const char NO_NAME[] = "nothing";

struct settings_work {
    struct workload *work;
    bool asks; /* an answer is awaited */
    bool client; /* it was asked by an ordinary client: he may not */
    bool wrong; /* the value, or the name */
    bool healed;
};

static void answered(void *context, int status, struct bytes body)
{
    struct settings_work *o = context;
    struct swarm *s = o->work->swarm;
    struct arena a;
    ProtobufCMessage *m;
    o->asks = false;
    world_note(s->world, "operator", "is answered %d", status);
    if (status == 0 || status == 503) {
        return;
    }
    arena_init(&a);
    bool decoded = status == 200 && scan_and_unpack(&a, &board__setting_response__descriptor, body,
                                                    1 << 16, &m, NULL) == 0;
    const Models__Error *error = decoded ? ((const Board__SettingResponse *)m)->error : NULL;
    bool well = o->client  ? status == 403
                : o->wrong ? error && error->type == MODELS__ERROR__TYPE__InvalidRequest
                           : decoded && !error;
    if (!well) {
        checkers_report(&s->checkers, "settings", "%s who asks for %s is answered %d, %s",
                        o->client ? "a client" : "an operator",
                        o->wrong ? "what cannot be" : "a setting", status,
                        error ? error->message : decoded ? "well" : "unreadable");
    }
    arena_done(&a);
}

static void send(struct settings_work *o, const char *path, const ProtobufCMessage *m)
{
    struct swarm *s = o->work->swarm;
    struct buf body;
    uint64_t bbs = random_below(&o->work->random, s->cluster->options.bbs);
    o->asks = true;
    buf_init(&body);
    buf_message(&body, m);
    world_send_request(s->world, node_url(s->cluster->bbs[bbs]),
                       &(struct world_request){
                           .method = "POST",
                           .path = path,
                           .peer = {.unit = o->client ? "client" : "operator", .name = "ops"},
                           .content_type = "application/x-protobuf",
                           .accept = "application/x-protobuf",
                           .trace_id = "",
                           .body = buf_bytes(&body)},
                       ASK_LIMIT_NS, answered, o);
    buf_done(&body);
}

static void unset(struct settings_work *o, const char *name)
{
    Board__UnsetSettingRequest request = BOARD__UNSET_SETTING_REQUEST__INIT;
    request.name = (char *)(uintptr_t)name;
    o->wrong = false;
    send(o, "/v1/board/settings/unset", &request.base);
}

/* Near its default at most: a cell must be lost, and a task fail, while somebody looks. */
static int64_t draw_value(struct random *r, const struct setting_row *row)
{
    int64_t most = row->preset * 2 < row->most ? row->preset * 2 : row->most;
    return row->least + (int64_t)random_below(r, (uint64_t)(most - row->least + 1));
}

static void set(struct settings_work *o, const struct setting_row *row)
{
    struct random *r = &o->work->random;
    Board__SetSettingRequest request = BOARD__SET_SETTING_REQUEST__INIT;
    uint64_t whim = random_below(r, 100);
    request.name = (char *)(uintptr_t)(whim < 5 ? NO_NAME : row->name);
    request.value = whim >= 5 && whim < 15 ? row->most + 1 + (int64_t)random_below(r, 100)
                                           : draw_value(r, row);
    o->wrong = whim < 15;
    send(o, "/v1/board/settings/set", &request.base);
}

static void begin(struct workload *w)
{
    struct settings_work *o = w->own = ARENA_NEW(&w->swarm->arena, struct settings_work);
    o->work = w;
}

static bool is_of_sites(const struct setting_row *row)
{
    return strncmp(row->name, "edge.", 5) == 0;
}

/* None of a centre of sites: here is none. */
static const struct setting_row *draw_row(struct random *r)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < setting_row_count; i++) {
        count += !is_of_sites(&setting_rows[i]);
    }
    size_t left = random_below(r, count);
    while (is_of_sites(&setting_rows[at]) || left-- > 0) {
        at++;
    }
    return &setting_rows[at];
}

static void step(struct workload *w)
{
    struct settings_work *o = w->own;
    const struct setting_row *row = draw_row(&w->random);
    w->due_ns = world_now(w->swarm->world) +
                (1 + (int64_t)random_below(&w->random, 8)) * SECOND_NS;
    if (o->asks || o->healed) {
        return;
    }
    o->client = random_below(&w->random, 100) < 10;
    if (random_below(&w->random, 100) < 25) {
        unset(o, row->name);
    } else {
        set(o, row);
    }
}

/* ---- Healed ---------------------------------------------------------------------------------- */

static void heal(struct workload *w)
{
    ((struct settings_work *)w->own)->healed = true;
}

/* A name that is still set; NULL = none. */
static void note_set(void *context, const struct past *p)
{
    *(const char **)context = ((const Board__SettingRecord *)p->message)->name;
}

static void settle(struct workload *w)
{
    struct settings_work *o = w->own;
    const char *name = NULL;
    history_each(&w->swarm->checkers.history, "setting/", note_set, &name);
    if (name && !o->asks) {
        o->client = false;
        unset(o, name);
    }
}

/* If it follows the board. */
static bool goes_by(const struct role *role, const struct settings *in_force)
{
    if (strcmp(role->ops->name, "converger") == 0) {
        const struct converger *x = (const struct converger *)role;
        return !x->life.feed_client.current ||
               memcmp(&x->settings, in_force, sizeof(*in_force)) == 0;
    }
    const struct rep *r = (const struct rep *)role;
    return strcmp(role->ops->name, "rep") != 0 || !r->feed_client.current ||
           (r->drain_ns == in_force->drain_ns &&
            memcmp(&r->crash, &in_force->crash, sizeof(r->crash)) == 0);
}

static void rest(struct workload *w, struct buf *ret_why)
{
    struct swarm *s = w->swarm;
    const struct settings *in_force = &s->checkers.settings;
    if (memcmp(in_force, &SETTINGS_DEFAULT, sizeof(*in_force)) != 0) {
        buf_append_string(ret_why, "settings are not unset yet; ");
    }
    for (unsigned i = 0; i < s->node_count; i++) {
        const struct role *role = node_up(s->nodes[i]) ? node_role(s->nodes[i]) : NULL;
        if (role && !goes_by(role, in_force)) {
            buf_printf(ret_why, "%s goes by other settings than the board has; ",
                       node_name(s->nodes[i]));
        }
    }
}

const struct workload_ops settings_workload = {
    .begin = begin, .step = step, .heal = heal, .settle = settle, .rest = rest};
