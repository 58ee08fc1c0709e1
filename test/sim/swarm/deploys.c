/* Clients who create systems, deploy versions, paths, files and builds of them, undo, pause, abort
 * and tear down, and delete systems, through any bbs and under any fault. Some versions have
 * services whose instances crash, or that need secrets, which are set and unset meanwhile: in most
 * seeds all are set at first, and some unset while a deploy that needs them begins. When all
 * is healed they resume what they paused, and confirm what a restore has brought back. */
#include "test/sim/model/containers.h"
#include "test/sim/swarm/system_asks.h"
#include "test/sim/world/definitions.h"

#include "models/actual_lrp.pb-c.h"

#include <stdio.h>
#include <string.h>

#define PACE_NS (2500 * MILLISECOND_NS) /* between two requests, at most */
#define UNSET_NS (60 * MILLISECOND_NS)  /* a secret is unset so long behind a deploy, at most */
#define CRASHES_NS (500 * MILLISECOND_NS)

enum {
    VERSIONS_MOST = 6,
    COMPONENTS_MOST = 12,
    REQUESTS_OPEN_MAX = 4,
    DEPLOYS_NAMED_MAX = 64, /* whose ids are drawn again */
    TEXT_BYTES = 400,
    PERCENT_TWICE = 10, /* of requests, with the same id */
    PERCENT_KEYED = 60, /* of seeds, in which what a service may need is set at first, */
    PERCENT_UNSET = 30, /* and one of it unset under so many deploys */
    BELOW_VERSION = 35, /* of 100 deploys, so many are of a version, and then of a path */
    BELOW_PATH = 70,
    PERCENT_BESIDE = 40, /* of deploys of a path, with another one at the same time */
    PATHS = 8,
    PATH_A = 0, /* look-alikes among them */
    PATH_AB = 1,
};

/* Where components may be: inner systems come with them. /a and /ab are look-alikes. */
static const char *const places[COMPONENTS_MOST] = {
    "/a", "/ab", "/s/api", "/s/cart", "/s/t/x", "/s/t/xy", "/b", "/b2", "/c/d", "/c/e", "/w", "/j"};
static const char *const paths_deployed[PATHS] = {
    [PATH_A] = "/a", [PATH_AB] = "/ab", "/s", "/s/t", "/s/api", "/c", "/b", "/zz"};

struct deploys_work {
    struct workload *work;
    struct system_asks asks;
    struct definitions definitions;
    char texts[VERSIONS_MOST + 1][TEXT_BYTES]; /* of 1.0.0, 1.1.0, ...; the last moves */
    unsigned systems, versions, components;
    unsigned drawn;    /* ids so far */
    bool keyed;        /* what a service may need is set before the first deploy */
    unsigned keys;     /* such secrets that are not set yet: of each place in each system */
    const char *unset; /* one that is unset under a deploy, and then set again; NULL = none */
    bool is_unset;     /* that has been done */
    bool deployed[SYSTEMS_MOST];
    struct {
        unsigned system;
        char id[40];
    } deploys[DEPLOYS_NAMED_MAX];
    unsigned deploy_count;
    unsigned version; /* of the last deploy of one: of texts */
    uint64_t path;    /* of the last deploy of one: of paths_deployed */
    bool healed;
    bool pooled;         /* definitions have node pools: */
    struct random aside; /* what is drawn of them */
    int64_t crashes_ns;
};

static uint64_t below(struct deploys_work *o, uint64_t bound)
{
    return random_below(&o->work->random, bound);
}

/* ---- Definitions ----------------------------------------------------------------------------- */

/* Most run well; there are such as no cell can take, that crash, that are never ready, and that may
 * be more than all cells have room for. */
static const char *how_it_runs(unsigned percent)
{
    static const struct {
        unsigned below;
        const char *how;
    } rows[] = {{4, "~"},   {6, "!"},   {8, "^"},    {11, "%"},  {12, "*30"},
                {30, "*2"}, {36, "*4"}, {90, ""}, {100, "?key"}};
    size_t i = 0;
    while (percent >= rows[i].below) {
        i++;
    }
    return rows[i].how;
}

static void pools_seed(struct random *r, uint64_t seed)
{
    random_seed(r, (uint64_t[2]){seed, seed ^ 0x706f6f6c73});
}

const char *deploys_cell_types(uint64_t seed)
{
    enum { PERCENT = 30 };
    struct random aside;
    pools_seed(&aside, seed);
    bool pooled = random_below(&aside, 100) < PERCENT && workload_drawn(WORKLOAD_deploys, seed);
    return pooled ? "small large small small large small" : NULL;
}

/* Where this component is to run; "" = on shared cells. */
static const char *draw_pool(struct deploys_work *o, bool job)
{
    uint64_t whim = o->pooled ? random_below(&o->aside, 100) : 99;
    return whim < 40 ? "@/:m" : whim < 50 && !job ? "&small" : "";
}

static void draw_text(struct deploys_work *o, char *ret)
{
    size_t size = (size_t)snprintf(ret, TEXT_BYTES, SYSTEM_JOBS);
    for (unsigned i = 0; i < o->components; i++) {
        const char *how = how_it_runs((unsigned)below(o, 100));
        bool job = strcmp(places[i], "/j") == 0;
        if (below(o, 100) < 75) {
            size += (size_t)snprintf(ret + size, TEXT_BYTES - size, " %s:%u%s%s", places[i],
                                     (unsigned)below(o, 3), job ? "=" : how, draw_pool(o, job));
        }
    }
    if (o->pooled) {
        const char *type = random_below(&o->aside, 100) < 75 ? "small" : "large";
        snprintf(ret + size, TEXT_BYTES - size, " /:m#%s+%u", type,
                 (unsigned)random_below(&o->aside, 3));
    }
}

static void begin(struct workload *w)
{
    static const char *const names[VERSIONS_MOST] = {"1.0.0", "1.1.0", "1.2.0",
                                                     "2.0.0", "2.0.1", "3.0.0"};
    struct deploys_work *o = w->own = ARENA_NEW(&w->swarm->arena, struct deploys_work);
    uint64_t seed = w->swarm->cluster->options.world.seed;
    struct random keyed;
    random_seed(&keyed, (uint64_t[2]){seed, seed ^ 0x6b65796564});
    o->work = w;
    o->pooled = w->swarm->cluster->options.types != NULL;
    pools_seed(&o->aside, ~w->swarm->cluster->options.world.seed);
    o->asks = (struct system_asks){w, "deployer", DONE_DEPLOYS_ASKED, 0};
    o->systems = 1 + (unsigned)below(o, SYSTEMS_MOST);
    o->versions = 2 + (unsigned)below(o, VERSIONS_MOST - 1);
    o->components = 2 + (unsigned)below(o, COMPONENTS_MOST - 1);
    o->keyed = random_below(&keyed, 100) < PERCENT_KEYED;
    o->keys = o->keyed ? o->systems * o->components : 0;
    definitions_init(&o->definitions, w->swarm->world);
    for (unsigned i = 0; i < o->versions; i++) {
        draw_text(o, o->texts[i]);
        definitions_put(&o->definitions, names[i], o->texts[i]);
    }
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void send(struct deploys_work *o, const char *method, const char *path, const char *body)
{
    system_asks_send(&o->asks, method, path, body);
}

static const char *path_of(struct deploys_work *o, unsigned system, const char *rest)
{
    return system_asks_path(&o->asks, system, rest);
}

static const char *new_id(struct deploys_work *o)
{
    char id[GUID_BYTES];
    random_guid(&o->work->random, id);
    return arena_strdup(&o->work->swarm->arena, id);
}

static void create(struct deploys_work *o, unsigned system)
{
    struct arena *a = &o->work->swarm->arena;
    const char *id = strrchr(path_of(o, system, ""), '/') + 1;
    send(o, "POST", "/v1/systems",
         arena_printf(a, "{\"id\":\"%s\",\"definitionUrl\":\"" DEFINITIONS_URL "\"}", id));
}

/* Of a deploy that was asked for, any system's; NULL = none was. */
static const char *some_deploy(struct deploys_work *o, unsigned *ret_system)
{
    if (o->deploy_count == 0) {
        return NULL;
    }
    uint64_t which = below(o, o->deploy_count);
    *ret_system = o->deploys[which].system;
    return o->deploys[which].id;
}

static void remember(struct deploys_work *o, unsigned system, const char *id)
{
    unsigned at = o->deploy_count < DEPLOYS_NAMED_MAX ? o->deploy_count++
                                                      : (unsigned)below(o, DEPLOYS_NAMED_MAX);
    o->deploys[at].system = system;
    snprintf(o->deploys[at].id, sizeof(o->deploys[at].id), "%s", id);
}

/* The path of a deploy beside the last one: of look-alikes the other one, for neither stands in the
 * other's way; else the one that was drawn. */
static uint64_t path_beside(const struct deploys_work *o, uint64_t drawn)
{
    return o->path == PATH_A ? PATH_AB : o->path == PATH_AB ? PATH_A : drawn;
}

/* What is deployed, as a member of the JSON. */
static const char *draw_target(struct deploys_work *o, unsigned system, uint64_t whim, bool beside)
{
    static const char *const versions[] = {"1.0.0", "1.1.0", "1.2.0", "2.0.0",
                                           "2.0.1", "3.0.0", "9.9.9"};
    struct arena *a = &o->work->swarm->arena;
    unsigned other = 0;
    const char *id = some_deploy(o, &other);
    if (whim < BELOW_VERSION) {
        uint64_t drawn = below(o, o->versions + (whim == 0));
        o->version = drawn < VERSIONS_MOST ? (unsigned)drawn : 0;
        return arena_printf(a, "\"version\":\"%s\"", versions[drawn]);
    }
    if (whim < BELOW_PATH) {
        uint64_t drawn = below(o, PATHS);
        o->path = beside ? path_beside(o, drawn) : drawn;
        if (below(o, 2)) {
            draw_text(o, o->texts[VERSIONS_MOST]);
        }
        definitions_move(&o->definitions, below(o, 3) ? o->texts[VERSIONS_MOST] : NULL);
        return arena_printf(a, "\"path\":\"%s\"", paths_deployed[o->path]);
    }
    if (whim < 80 || !id || other != system) {
        char text[TEXT_BYTES];
        draw_text(o, text);
        return arena_printf(a, "\"definition\":\"%s\"", text);
    }
    return arena_printf(a, whim < 90 ? "\"undo\":\"%s\"" : "\"buildId\":\"%s\"", id);
}

static const char *secret_path(struct deploys_work *o, unsigned system, unsigned place)
{
    struct arena *a = &o->work->swarm->arena;
    const char *name = system_asks_escaped(a, places[place]);
    return path_of(o, system, arena_printf(a, "/secrets/%s%%3Akey", name));
}

static void set_secret(struct deploys_work *o, const char *path)
{
    send(o, "PATCH", path,
         arena_printf(&o->work->swarm->arena, "{\"value\":\"" SECRET_MARK "%u\"}",
                      (unsigned)below(o, 3)));
}

/* A place whose service needs its secret, if one does. */
static unsigned needing(struct deploys_work *o, const char *text)
{
    unsigned first = (unsigned)below(o, o->components);
    for (unsigned n = 0; n < o->components; n++) {
        unsigned i = (first + n) % o->components;
        char at[40];
        snprintf(at, sizeof(at), " %s:", places[i]);
        const char *found = strstr(text, at);
        if (found && found[strlen(at)] && found[strlen(at) + 1] == '?') {
            return i;
        }
    }
    return first;
}

static void deploy_one(struct deploys_work *o, unsigned system, uint64_t whim, bool beside)
{
    const char *id = new_id(o), *target = draw_target(o, system, whim, beside);
    bool reverts = below(o, 100) < 40;
    remember(o, system, id);
    const char *body = arena_printf(&o->work->swarm->arena, "{\"id\":\"%s\",%s%s}", id, target,
                                    reverts ? ",\"rollbackOnFailure\":true" : "");
    send(o, "POST", path_of(o, system, "/deploys"), body);
    if (below(o, 100) < PERCENT_TWICE) {
        send(o, "POST", path_of(o, system, "/deploys"), body);
    }
    const char *text = strstr(target, "\"version\"") ? o->texts[o->version] : target;
    if (o->keyed && below(o, 100) < PERCENT_UNSET) {
        o->unset = secret_path(o, system, needing(o, text));
        o->is_unset = false;
    }
}

/* Paths are deployed of what stands: so a version comes first. */
static void deploy(struct deploys_work *o, unsigned system)
{
    uint64_t whim = o->deployed[system] ? below(o, 100) : 1 + below(o, BELOW_VERSION - 1);
    o->deployed[system] = true;
    deploy_one(o, system, whim, false);
    if (whim >= BELOW_VERSION && whim < BELOW_PATH && below(o, 100) < PERCENT_BESIDE) {
        deploy_one(o, system, whim, true);
    }
}

static void change(struct deploys_work *o, const char *how)
{
    unsigned system = 0;
    const char *id = some_deploy(o, &system);
    if (id) {
        send(o, "POST",
             path_of(o, system, arena_printf(&o->work->swarm->arena, "/deploys/%s/%s", id, how)),
             "");
    }
}

/* What a service may need (draw_text): one that is unset fails the next deploy of it. */
static void change_secret(struct deploys_work *o, unsigned system)
{
    const char *path = secret_path(o, system, (unsigned)below(o, o->components));
    if (below(o, 100) < 15) {
        send(o, "DELETE", path, "");
    } else {
        set_secret(o, path);
    }
}

static void ask_something(struct deploys_work *o)
{
    unsigned system = (unsigned)below(o, o->systems);
    uint64_t whim = below(o, 100);
    struct arena *a = &o->work->swarm->arena;
    if (below(o, 100) < 20) {
        change_secret(o, system);
    } else if (whim < 15) {
        create(o, system);
    } else if (whim < 65) {
        deploy(o, system);
    } else if (whim < 72) {
        change(o, "abort");
    } else if (whim < 78) {
        change(o, "pause");
    } else if (whim < 86) {
        change(o, "resume");
    } else if (whim < 92) {
        send(o, "POST", path_of(o, system, "/teardowns"),
             arena_printf(a, "{\"id\":\"%s\"}", new_id(o)));
    } else if (whim < 95) {
        send(o, "POST", path_of(o, system, "/builds"),
             arena_printf(a, "{\"id\":\"%s\",\"version\":\"1.1.0\"}", new_id(o)));
    } else if (whim < 97) {
        send(o, "POST", path_of(o, system, "/confirm"), "");
    } else {
        send(o, "DELETE", path_of(o, system, ""), "");
    }
}

/* ---- Instances that crash, or are not ready -------------------------------------------------- */

/* The container of this instance ends. */
static void end_instance(struct swarm *s, const Models__ActualLRP *r)
{
    int cell = checkers_cell_named(&s->checkers, r->actual_lrp_instance_key->cell_id);
    const char *guid;
    if (cell < 0) {
        return;
    }
    struct model_containers *m = node_containers(s->cluster->cells[cell]);
    for (int n = 0; (guid = model_containers_guid(m, n)); n++) {
        if (strcmp(guid, r->actual_lrp_instance_key->instance_guid) == 0) {
            world_end_container(s->world, s->cluster->cells[cell], n, 1);
            return;
        }
    }
}

static bool has_tag(const Models__ActualLRP *r, const char *value)
{
    bool has = false;
    for (size_t i = 0; i < r->n_metric_tags; i++) {
        has = has || strcmp(r->metric_tags[i]->value, value) == 0;
    }
    return has;
}

static void answer_readiness(struct swarm *s, const Models__ActualLRP *r, bool well)
{
    int cell = checkers_cell_named(&s->checkers, r->actual_lrp_instance_key->cell_id);
    if (cell >= 0) {
        model_containers_answer(node_containers(s->cluster->cells[cell]),
                                r->actual_lrp_instance_key->instance_guid, true,
                                well ? PROBE_ANSWERED : PROBE_REFUSED, well ? 200 : 0);
    }
}

/* Once all is healed those become ready that were not: a service that failed comes to run. */
static void misbehave_one(void *context, const struct past *p)
{
    struct deploys_work *o = context;
    const Models__ActualLRP *r = (const Models__ActualLRP *)p->message;
    if (!r->actual_lrp_instance_key) {
        return;
    }
    if (has_tag(r, "crash") && strcmp(r->state, "RUNNING") == 0) {
        end_instance(o->work->swarm, r);
    } else if (has_tag(r, "unready")) {
        answer_readiness(o->work->swarm, r, o->healed);
    }
}

static void misbehave(struct deploys_work *o)
{
    struct swarm *s = o->work->swarm;
    int64_t now = world_now(s->world);
    if (now >= o->crashes_ns) {
        history_each(&s->checkers.history, "actual/", misbehave_one, o);
        o->crashes_ns = now + CRASHES_NS;
    }
}

static void unset_or_set(struct deploys_work *o)
{
    if (!o->is_unset) {
        send(o, "DELETE", o->unset, "");
        o->is_unset = true;
    } else {
        set_secret(o, o->unset);
        o->unset = NULL;
    }
}

static void step(struct workload *w)
{
    struct deploys_work *o = w->own;
    misbehave(o);
    if (o->healed) {
        w->due_ns = o->crashes_ns;
        return;
    }
    if (o->deploy_count == 0 && o->drawn < o->systems) {
        create(o, o->drawn++);
    } else if (o->asks.open < REQUESTS_OPEN_MAX && o->keys) {
        o->keys--;
        set_secret(o, secret_path(o, o->keys % o->systems, o->keys / o->systems));
    } else if (o->asks.open < REQUESTS_OPEN_MAX && o->unset) {
        unset_or_set(o);
    } else if (o->asks.open < REQUESTS_OPEN_MAX) {
        ask_something(o);
    }
    bool under = o->unset && !o->is_unset;
    w->due_ns = world_now(w->swarm->world) + 1 + (int64_t)below(o, under ? UNSET_NS : PACE_NS);
}

/* ---- Healed ---------------------------------------------------------------------------------- */

static void heal(struct workload *w)
{
    struct deploys_work *o = w->own;
    o->healed = true;
    w->due_ns = 0;
}

/* Of what is looked at, what somebody has to do yet. */
struct settling {
    struct deploys_work *own;
    const char *path;       /* NULL = nothing */
    const char *generation; /* of the board, that is in force */
};

static void note_generation(void *context, const struct past *p)
{
    ((struct settling *)context)->generation =
        ((const Board__BoardGenerationRecord *)p->message)->id;
}

static void note_paused(void *context, const struct past *p)
{
    struct settling *s = context;
    const Board__DeployRecord *d = (const Board__DeployRecord *)p->message;
    struct arena *a = &s->own->work->swarm->arena;
    if (d->paused && strcmp(d->state, "in progress") == 0) {
        s->path = arena_printf(a, "/v1/systems/%s/deploys/%s/resume", d->system, d->id);
    }
}

static void note_unconfirmed(void *context, const struct past *p)
{
    struct settling *s = context;
    const Board__SystemRecord *r = (const Board__SystemRecord *)p->message;
    if (s->generation && strcmp(r->board_generation, s->generation) != 0) {
        s->path = arena_printf(&s->own->work->swarm->arena, "/v1/systems/%s/confirm", r->id);
    }
}

static void settle(struct workload *w)
{
    struct deploys_work *o = w->own;
    struct settling s = {o, NULL, NULL};
    if (o->asks.open > 0) {
        return;
    }
    history_each(&w->swarm->checkers.history, "epoch/", note_generation, &s);
    history_each(&w->swarm->checkers.history, "deploy/", note_paused, &s);
    history_each(&w->swarm->checkers.history, "system/", note_unconfirmed, &s);
    if (s.path) {
        send(o, "POST", s.path, "");
    }
}

static void rest(struct workload *w, struct buf *ret_why)
{
    if (((struct deploys_work *)w->own)->asks.open > 0) {
        buf_append_string(ret_why, "a deployer waits for an answer; ");
    }
}

static void done(struct workload *w)
{
    definitions_done(&((struct deploys_work *)w->own)->definitions);
}

const struct workload_ops deploys_workload = {
    .begin = begin, .step = step, .heal = heal, .settle = settle, .rest = rest, .done = done};
