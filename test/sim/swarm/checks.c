/* Apps with checks: their programs answer, stop answering and answer again. */
#include "models/check_definition.pb-c.h"
#include "test/sim/model/containers.h"
#include "test/sim/swarm/inside.h"

enum { PORT = 8080 };

/* ---- What is desired ------------------------------------------------------------------------- */

static Models__Check *http(struct arena *a, const char *path, uint64_t interval_ms)
{
    Models__Check *check = arena_message(a, &models__check__descriptor);
    check->http_check = arena_message(a, &models__httpcheck__descriptor);
    check->http_check->port = PORT;
    check->http_check->path = (char *)(uintptr_t)path;
    check->http_check->interval_ms = interval_ms;
    return check;
}

static Models__Check *tcp(struct arena *a, uint64_t interval_ms)
{
    Models__Check *check = arena_message(a, &models__check__descriptor);
    check->tcp_check = arena_message(a, &models__tcpcheck__descriptor);
    check->tcp_check->port = PORT;
    check->tcp_check->interval_ms = interval_ms;
    return check;
}

void checks_put(struct swarm *s, struct arena *a, const char *app, unsigned number,
                Models__DesiredLRP *lrp)
{
    unsigned kind = number + (unsigned)app[4];
    uint64_t interval_ms = 1000 * (1 + kind % 3);
    if (!s->workloads[WORKLOAD_checks].on || s->wide || kind % 4 == 3) {
        return;
    }
    Models__CheckDefinition *d = arena_message(a, &models__check_definition__descriptor);
    d->checks = ARENA_ARRAY(a, 2, Models__Check *);
    d->checks[d->n_checks++] = http(a, "/live", interval_ms);
    if (kind % 3 == 0) {
        d->checks[d->n_checks++] = tcp(a, interval_ms);
    }
    d->readiness_checks = ARENA_ARRAY(a, 1, Models__Check *);
    if (kind % 2 == 0) {
        d->readiness_checks[d->n_readiness_checks++] = http(a, "/ready", interval_ms);
    }
    lrp->check_definition = d;
    lrp->start_timeout_ms = kind % 5 == 0 ? 30000 : 0;
}

/* ---- How they answer ------------------------------------------------------------------------- */

static void change_one(struct workload *w)
{
    static const struct {
        enum probe_outcome outcome;
        int status;
    } bad[] = {{PROBE_REFUSED, 0}, {PROBE_TIMED_OUT, 0}, {PROBE_ANSWERED, 503}, {PROBE_FAILED, 0}};
    struct swarm *s = w->swarm;
    struct random *r = &w->random;
    struct node *cell = s->cluster->cells[random_below(r, s->cluster->options.cells)];
    struct model_containers *m = node_containers(cell);
    int count = model_containers_running(m);
    const char *guid = model_containers_guid(m, (int)random_below(r, (uint64_t)count + 1));
    bool readiness = random_below(r, 3) > 0, well = random_below(r, 2);
    size_t how = (size_t)random_below(r, sizeof(bad) / sizeof(bad[0]));
    if (guid) {
        s->result->done[DONE_ANSWERS] += model_containers_answer(
            m, guid, readiness, well ? PROBE_ANSWERED : bad[how].outcome,
            well ? 200 : bad[how].status);
    }
}

static void step(struct workload *w)
{
    change_one(w);
    w->due_ns = world_now(w->swarm->world) + SECOND_NS / 2 +
                (int64_t)random_below(&w->random, 4 * SECOND_NS);
}

/* All are well. */
static void settle(struct workload *w)
{
    struct swarm *s = w->swarm;
    for (unsigned i = 0; i < s->cluster->options.cells; i++) {
        struct model_containers *m = node_containers(s->cluster->cells[i]);
        const char *guid;
        for (int n = 0; (guid = model_containers_guid(m, n)); n++) {
            model_containers_answer(m, guid, false, PROBE_ANSWERED, 200);
            model_containers_answer(m, guid, true, PROBE_ANSWERED, 200);
        }
    }
}

static void heal(struct workload *w)
{
    w->due_ns = NEVER_NS;
}

const struct workload_ops checks_workload = {.step = step, .heal = heal, .settle = settle};
