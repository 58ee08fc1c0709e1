/* Clients who run jobs of the systems of deploys.c, through any bbs: with a command and an
 * environment of their own, with secrets, the same run twice, and with an id of another one. They
 * cancel some, and look for others. A container of a job ends by itself after a while, well or not;
 * one job can be placed nowhere. */
#include "test/sim/model/containers.h"
#include "test/sim/swarm/system_asks.h"

#include <stdio.h>
#include <string.h>

#define PACE_NS (4 * SECOND_NS) /* between two requests, at most */

enum {
    RUNS_OPEN_MAX = 3,
    RUNS_NAMED_MAX = 32, /* whose ids are drawn again */
};

struct job_runs_work {
    struct system_asks asks;
    bool healed;
    struct named_run {
        unsigned system;
        const char *id, *body; /* of its request */
    } runs[RUNS_NAMED_MAX];
    unsigned run_count;
};

static uint64_t below(struct job_runs_work *o, uint64_t bound)
{
    return random_below(&o->asks.work->random, bound);
}

static void begin(struct workload *w)
{
    struct job_runs_work *o = w->own = ARENA_NEW(&w->swarm->arena, struct job_runs_work);
    o->asks = (struct system_asks){w, "runner", DONE_RUNS_ASKED, 0};
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* What stands at the paths by turns: the jobs, services, nothing. */
static const char *body_of(struct job_runs_work *o, const char *id)
{
    static const char *const paths[] = {"/k", "/k", "/k", "/k", "/k/out", "/j", "/a", "/zz"};
    static const char *const commands[] = {"", ",\"command\":[\"/bin/other\",\"7\"]"};
    static const char *const environments[] = {
        "", ",\"environment\":{\"VARIANT\":\"77\",\"MORE\":\"\"}",
        ",\"environment\":{\"SECRET\":{\"$secret_ref\":\"/a:key\"}}"};
    return arena_printf(&o->asks.work->swarm->arena, "{\"id\":\"%s\",\"path\":\"%s\"%s%s}", id,
                        paths[below(o, sizeof(paths) / sizeof(paths[0]))], commands[below(o, 2)],
                        environments[below(o, 3)]);
}

static void post(struct job_runs_work *o, unsigned system, const char *body)
{
    system_asks_send(&o->asks, "POST", system_asks_path(&o->asks, system, "/jobs"), body);
}

static void run_one(struct job_runs_work *o)
{
    char id[GUID_BYTES];
    struct arena *a = &o->asks.work->swarm->arena;
    unsigned at = o->run_count < RUNS_NAMED_MAX ? o->run_count++
                                                : (unsigned)below(o, RUNS_NAMED_MAX);
    struct named_run *r = &o->runs[at];
    random_guid(&o->asks.work->random, id);
    r->system = (unsigned)below(o, SYSTEMS_MOST);
    r->id = arena_strdup(a, id);
    r->body = body_of(o, r->id);
    post(o, r->system, r->body);
    if (below(o, 100) < 20) { /* at the same time */
        post(o, r->system, r->body);
    }
}

static void ask_something(struct job_runs_work *o)
{
    uint64_t whim = below(o, 100);
    if (whim < 60 || o->run_count == 0) {
        run_one(o);
        return;
    }
    const struct named_run *r = &o->runs[below(o, o->run_count)];
    const char *one = arena_printf(&o->asks.work->swarm->arena, "/jobs/%s", r->id);
    if (whim < 75) {
        post(o, r->system, r->body);
    } else if (whim < 80) {
        post(o, r->system, body_of(o, r->id));
    } else {
        system_asks_send(&o->asks, whim < 95 ? "DELETE" : "GET",
                         system_asks_path(&o->asks, r->system, one), "");
    }
}

/* ---- What they run --------------------------------------------------------------------------- */

/* One container of a job ends. */
static void end_one(struct job_runs_work *o, int code)
{
    struct swarm *s = o->asks.work->swarm;
    unsigned from = (unsigned)below(o, s->cluster->options.cells);
    for (unsigned i = 0; i < s->cluster->options.cells; i++) {
        struct node *cell = s->cluster->cells[(from + i) % s->cluster->options.cells];
        const char *guid;
        for (int n = 0; (guid = model_containers_guid(node_containers(cell), n)); n++) {
            bool job = task_known(&s->checkers, guid) && strchr(guid, '_'); /* shop_k-.. */
            if (job && world_end_container(s->world, cell, n, code)) {
                return;
            }
        }
    }
}

static void step(struct workload *w)
{
    struct job_runs_work *o = w->own;
    if (o->healed) {
        w->due_ns = NEVER_NS;
        return;
    }
    if (below(o, 100) < 40) {
        end_one(o, below(o, 100) < 70 ? 0 : 1);
    }
    if (o->asks.open < RUNS_OPEN_MAX) {
        ask_something(o);
    }
    w->due_ns = world_now(w->swarm->world) + 1 + (int64_t)below(o, PACE_NS);
}

/* ---- Healed ---------------------------------------------------------------------------------- */

static void heal(struct workload *w)
{
    ((struct job_runs_work *)w->own)->healed = true;
}

static void settle(struct workload *w)
{
    end_one(w->own, 0);
}

static void rest(struct workload *w, struct buf *ret_why)
{
    if (((struct job_runs_work *)w->own)->asks.open > 0) {
        buf_append_string(ret_why, "who runs jobs waits for an answer; ");
    }
}

const struct workload_ops job_runs_workload = {
    .begin = begin, .step = step, .heal = heal, .settle = settle, .rest = rest};
