/* Runs the swarm of the edge: each seed a whole life of a centre and its sites, with faults at both
 * ends and of the links, then healed (docs/edge.md).
 *   test_swarm_edge                  the first seeds, as part of every check
 *   test_swarm_edge --seeds A-B      these
 *   test_swarm_edge --minutes M      as many as fit, from a seed drawn from the clock
 *   test_swarm_edge --seed N [--trace]   one, with its trace
 *   ... --first                      it ends at the first seed that fails
 *   ... --processes 1                as test_swarm has it: there is one
 * A seed that fails, or ends the process, is told at once; in the former case the others are run
 * all the same. */
#include "test/sim/swarm_edge/swarm_edge.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SEEDS_DEFAULT = 60 };
#define HOUR_NS 3.6e12

struct edge_total {
    unsigned seeds, failed;
    unsigned done[EDGE_COUNTS], seen[SEEN_COUNT], faults[FAULT_COUNT];
    int64_t virtual_ns, cut_ns;
};

struct edge_task {
    unsigned long long from, to;
    double minutes; /* 0 = up to `to` */
    bool trace, first;
};

static volatile unsigned long long seed_now;

/* For whoever looks at a process that an assertion ended. */
static void tell_seed(int signal_number)
{
    char text[80];
    int size = snprintf(text, sizeof(text), "seed %llu: the process died\n", seed_now);
    if (write(STDOUT_FILENO, text, (size_t)size) < 0) {
        _exit(1);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void add_counts(unsigned *to, const unsigned *from, int count)
{
    for (int i = 0; i < count; i++) {
        to[i] += from[i];
    }
}

static void run_one(uint64_t seed, bool trace, struct edge_total *t)
{
    struct edge_result r;
    seed_now = seed;
    edge_swarm_run(seed, trace, &r);
    t->seeds++;
    t->failed += r.base.failed;
    t->virtual_ns += r.base.virtual_ns;
    t->cut_ns += r.cut_ns;
    add_counts(t->done, r.done, EDGE_COUNTS);
    add_counts(t->seen, r.base.seen, SEEN_COUNT);
    add_counts(t->faults, r.base.faults, FAULT_COUNT);
    if (trace) {
        fputs(buf_string(&r.base.trace), stdout);
    }
    if (r.base.failed) {
        printf("seed %llu: %s\n  again: test_swarm_edge --seed %llu --trace\n",
               (unsigned long long)seed, buf_string(&r.base.reason), (unsigned long long)seed);
    }
    fflush(stdout);
    edge_result_done(&r);
}

static void print_counts(const struct edge_total *t, double seconds)
{
    printf("%u seeds in %.1f s, %.1f h of virtual time, links cut for %.1f h: %u failed\n",
           t->seeds, seconds, (double)t->virtual_ns / HOUR_NS, (double)t->cut_ns / HOUR_NS,
           t->failed);
    const char *between = "done: ";
#define COUNT(id, text) printf("%s" text " %u", between, t->done[EDGE_##id]), between = ", ";
#include "test/sim/swarm_edge/counts.def"
    between = "\nseen: ";
#define SHOWN(id, text)                                                                            \
    if (t->seen[SEEN_##id]) {                                                                      \
        printf("%s" text " %u", between, t->seen[SEEN_##id]), between = ", ";                      \
    }
#define COUNT(id, text) SHOWN(id, text)
#define MOVES(id, text) SHOWN(id, text)
#include "test/sim/checkers/checkers.def"
    between = "\nfaults: ";
#define FAULT(id, name, ...)                                                                       \
    printf("%s" name " %u", between, t->faults[FAULT_##id]), between = ", ";
#include "test/sim/swarm/faults.def"
    printf("\n");
}

static bool parse(int argc, char **argv, struct edge_task *t)
{
    bool good = true;
    for (int i = 1; i < argc && good; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--trace") == 0) {
            t->trace = true;
            continue;
        }
        if (strcmp(argv[i], "--first") == 0) {
            t->first = true;
            continue;
        }
        if (strcmp(argv[i], "--seeds") == 0) {
            good = sscanf(value, "%llu-%llu", &t->from, &t->to) == 2 && t->from <= t->to;
        } else if (strcmp(argv[i], "--seed") == 0) {
            good = sscanf(value, "%llu", &t->from) == 1;
            t->to = t->from;
        } else if (strcmp(argv[i], "--minutes") == 0) {
            t->minutes = strtod(value, NULL);
            t->from = (unsigned long long)time(NULL) * 1000;
            good = t->minutes > 0;
        } else {
            good = strcmp(argv[i], "--processes") == 0 && strcmp(value, "1") == 0;
        }
        i++;
    }
    return good;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct edge_task task = {.from = 1, .to = SEEDS_DEFAULT};
    if (!parse(argc, argv, &task)) {
        fprintf(stderr,
                "usage: test_swarm_edge [--seeds A-B | --minutes M | --seed N [--trace]]\n");
        return 2;
    }
    signal(SIGABRT, tell_seed);
    signal(SIGSEGV, tell_seed);
    static struct edge_total total;
    double begun = seconds_now();
    for (unsigned long long seed = task.from;; seed++) {
        bool enough = task.minutes > 0 ? seconds_now() - begun > task.minutes * 60 : seed > task.to;
        bool over = enough || (task.first && total.failed);
        if (over) {
            break;
        }
        run_one(seed, task.trace, &total);
    }
    print_counts(&total, seconds_now() - begun);
    return total.failed ? 1 : 0;
}
