/* The workloads of a seed: workloads.def. */
#include "test/sim/swarm/inside.h"

#include <string.h>

#define WORKLOAD(name, ...) extern const struct workload_ops name##_workload;
#include "test/sim/swarm/workloads.def"

static const struct {
    const struct workload_ops *ops;
    unsigned percent;
    uint64_t seed, salt;
    int64_t settles_ns;
} rows[WORKLOAD_COUNT] = {
#define WORKLOAD(name, percent, seed, salt, settles_s, says)                                       \
    {&name##_workload, percent, seed, salt, (settles_s) * SECOND_NS},
#include "test/sim/swarm/workloads.def"
};

/* Calls this of all that have it. */
#define EACH(s, function, ...)                                                                     \
    for (int i = 0; i < WORKLOAD_COUNT; i++) {                                                     \
        if ((s)->workloads[i].on && rows[i].ops->function) {                                       \
            rows[i].ops->function(&(s)->workloads[i] __VA_OPT__(, ) __VA_ARGS__);                  \
        }                                                                                          \
    }

/* The first draw hangs on the second number alone. */
static bool draw(struct random *r, int workload, uint64_t seed)
{
    uint64_t first = rows[workload].seed ? rows[workload].seed : seed;
    random_seed(r, (uint64_t[2]){first, seed ^ rows[workload].salt});
    return rows[workload].percent == 100 || random_below(r, 100) < rows[workload].percent;
}

bool workload_drawn(int workload, uint64_t seed)
{
    struct random aside;
    return draw(&aside, workload, seed);
}

int swarm_does(const char *workload, uint64_t seed)
{
    static const char *const names[] = {
#define WORKLOAD(name, ...) #name,
#include "test/sim/swarm/workloads.def"
    };
    for (int i = 0; i < WORKLOAD_COUNT; i++) {
        if (strcmp(names[i], workload) == 0) {
            return workload_drawn(i, seed);
        }
    }
    return -1;
}

void workloads_begin(struct swarm *s, uint64_t seed)
{
    for (int i = 0; i < WORKLOAD_COUNT; i++) {
        struct workload *w = &s->workloads[i];
        *w = (struct workload){.swarm = s};
        w->on = draw(&w->random, i, seed);
    }
    EACH(s, begin)
}

int64_t workloads_due_ns(const struct swarm *s)
{
    int64_t due_ns = NEVER_NS;
    for (int i = 0; i < WORKLOAD_COUNT; i++) {
        bool steps = s->workloads[i].on && rows[i].ops->step;
        due_ns = steps ? earlier_ns(due_ns, s->workloads[i].due_ns) : due_ns;
    }
    return due_ns;
}

void workloads_step(struct swarm *s)
{
    for (int i = 0; i < WORKLOAD_COUNT; i++) {
        struct workload *w = &s->workloads[i];
        if (w->on && rows[i].ops->step && w->due_ns <= world_now(s->world)) {
            rows[i].ops->step(w);
        }
    }
}

bool workloads_last(const struct swarm *s)
{
    bool last = false;
    for (int i = 0; i < WORKLOAD_COUNT; i++) {
        last = last || (s->workloads[i].on && rows[i].ops->lasts &&
                        rows[i].ops->lasts(&s->workloads[i]));
    }
    return last;
}

void workloads_heal(struct swarm *s)
{
    EACH(s, heal)
}

void workloads_settle(struct swarm *s)
{
    EACH(s, settle)
}

void workloads_rest(struct swarm *s, struct buf *ret_why)
{
    EACH(s, rest, ret_why)
}

int64_t workloads_settle_ns(const struct swarm *s)
{
    int64_t most_ns = 0;
    for (int i = 0; i < WORKLOAD_COUNT; i++) {
        int64_t settles_ns = s->workloads[i].on ? rows[i].settles_ns : 0;
        most_ns = settles_ns > most_ns ? settles_ns : most_ns;
    }
    return most_ns;
}

void workloads_streamed(struct swarm *s, struct node *n, uint64_t call_id, int64_t revision)
{
    EACH(s, streamed, n, call_id, revision)
}

void workloads_done(struct swarm *s)
{
    EACH(s, done)
}
