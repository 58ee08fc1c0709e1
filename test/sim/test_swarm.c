/* Runs the swarm: each seed a whole life of a cluster, with faults, then healed (DESIGN 9).
 *   test_swarm                  a few seeds, as part of every check
 *   test_swarm --seeds A-B      these
 *   test_swarm --minutes M      as many as fit, from a seed drawn from the clock
 *   test_swarm --seed N [--trace]   one, with its trace */
#include "test/sim/swarm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SEEDS_DEFAULT = 60, FAILURES_MAX = 20 };

struct total {
    unsigned seeds, failed;
    unsigned faults[FAULT_COUNT];
    unsigned crashes, requests, answered, lists, commits, changes, verbs;
    int64_t virtual_ns;
};

static void add(struct total *t, const struct swarm_result *r)
{
    t->seeds++;
    t->failed += r->failed;
    for (int i = 0; i < FAULT_COUNT; i++) {
        t->faults[i] += r->faults[i];
    }
    t->crashes += r->crashes;
    t->requests += r->requests;
    t->answered += r->answered;
    t->lists += r->lists;
    t->commits += r->commits;
    t->changes += r->changes;
    t->verbs += r->verbs;
    t->virtual_ns += r->virtual_ns;
}

static void run(uint64_t seed, bool trace, struct total *t)
{
    struct swarm_result r;
    swarm_run(seed, trace, &r);
    if (trace) {
        fputs(buf_string(&r.trace), stdout);
    }
    if (r.failed) {
        printf("seed %llu: %s\n  again: test_swarm --seed %llu --trace\n",
               (unsigned long long)seed, buf_string(&r.reason), (unsigned long long)seed);
    }
    add(t, &r);
    swarm_result_done(&r);
}

static void print_total(const struct total *t, double seconds)
{
    printf("%u seeds in %.1f s, %.0f h of virtual time: %u failed\n", t->seeds, seconds,
           (double)t->virtual_ns / 3.6e12, t->failed);
    printf("%u requests, %u answered, %u lists, %u crashes, %u commits, %u changes, %u verbs\n",
           t->requests, t->answered, t->lists, t->crashes, t->commits, t->changes, t->verbs);
    for (int i = 0; i < FAULT_COUNT; i++) {
        printf("%s%s %u", i ? ", " : "faults: ", swarm_fault_name((enum swarm_fault)i),
               t->faults[i]);
    }
    printf("\n");
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    unsigned long long from = 1, to = SEEDS_DEFAULT;
    double minutes = 0;
    bool trace = false, good = true;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--trace") == 0) {
            trace = true;
        } else if (strcmp(argv[i], "--seeds") == 0) {
            good = good && sscanf(value, "%llu-%llu", &from, &to) == 2 && from <= to;
            i++;
        } else if (strcmp(argv[i], "--seed") == 0) {
            good = good && sscanf(value, "%llu", &from) == 1;
            to = from;
            i++;
        } else if (strcmp(argv[i], "--minutes") == 0) {
            minutes = strtod(value, NULL);
            good = good && minutes > 0;
            from = (unsigned long long)time(NULL) * 1000;
            i++;
        } else {
            good = false;
        }
    }
    if (!good) {
        fprintf(stderr, "usage: test_swarm [--seeds A-B | --minutes M | --seed N [--trace]]\n");
        return 2;
    }
    struct total total = {0};
    double begun = seconds_now();
    for (unsigned long long seed = from; total.failed < FAILURES_MAX; seed++) {
        if (minutes > 0 ? seconds_now() - begun > minutes * 60 : seed > to) {
            break;
        }
        run(seed, trace, &total);
        fflush(stdout);
    }
    print_total(&total, seconds_now() - begun);
    return total.failed ? 1 : 0;
}
