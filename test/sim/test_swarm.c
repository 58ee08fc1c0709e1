/* Runs the swarm: each seed a whole life of a cluster, with faults, then healed (DESIGN 9).
 *   test_swarm                  the first 1,000 seeds, as part of every check
 *   test_swarm --seeds A-B      these
 *   test_swarm --minutes M      as many as fit, from a seed drawn from the clock
 *   test_swarm --seed N [--trace]   one, with its trace
 *   ... --first                 ends at the first seed that fails
 * Two processes share the seeds, unless --processes N says otherwise or there is one seed alone. */
#include "test/sim/swarm.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SEEDS_DEFAULT = 1000, FAILURES_MAX = 20, PROCESSES_DEFAULT = 2, PROCESSES_MAX = 16 };

struct total {
    unsigned seeds, failed;
    unsigned faults[FAULT_COUNT];
    unsigned crashes, requests, answered, lists, commits, changes, verbs;
    unsigned locked, locks_lost;
    unsigned tasks, tasks_run, callbacks;
    unsigned lost_cells, brakes, suspects, evacuated, emptied;
    unsigned streams, events;
    int64_t virtual_ns;
};

static void sum(struct total *t, const struct total *r)
{
    t->seeds += r->seeds;
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
    t->lost_cells += r->lost_cells;
    t->brakes += r->brakes;
    t->suspects += r->suspects;
    t->locked += r->locked;
    t->locks_lost += r->locks_lost;
    t->tasks += r->tasks;
    t->tasks_run += r->tasks_run;
    t->callbacks += r->callbacks;
    t->evacuated += r->evacuated;
    t->emptied += r->emptied;
    t->streams += r->streams;
    t->events += r->events;
    t->virtual_ns += r->virtual_ns;
}

static void add(struct total *t, const struct swarm_result *r)
{
    struct total one = {
        .seeds = 1,
        .failed = r->failed,
        .crashes = r->crashes,
        .requests = r->requests,
        .answered = r->answered,
        .lists = r->lists,
        .commits = r->commits,
        .changes = r->changes,
        .verbs = r->verbs,
        .lost_cells = r->lost_cells,
        .brakes = r->brakes,
        .suspects = r->suspects,
        .locked = r->locked,
        .locks_lost = r->locks_lost,
        .tasks = r->tasks,
        .tasks_run = r->tasks_run,
        .callbacks = r->callbacks,
        .evacuated = r->evacuated,
        .emptied = r->emptied,
        .streams = r->streams,
        .events = r->events,
        .virtual_ns = r->virtual_ns,
    };
    memcpy(one.faults, r->faults, sizeof(one.faults));
    sum(t, &one);
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
    printf("moves among them: lose %u, brake %u, suspect %u, evacuate %u, leave %u\n",
           t->lost_cells, t->brakes, t->suspects, t->evacuated, t->emptied);
    printf("locks of outside owners: %u times granted, %u times lost\n", t->locked, t->locks_lost);
    printf("tasks: %u, executed %u, callbacks heard %u\n", t->tasks, t->tasks_run, t->callbacks);
    printf("event streams: %u followed, %u events heard\n", t->streams, t->events);
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

struct task {
    unsigned long long from, to;
    double minutes; /* 0 = up to `to` */
    unsigned processes;
    unsigned failures_max; /* of one process */
    bool trace;
    unsigned long long *now; /* the seed that each process is at, seen by all */
};

/* Every n-th seed, from the first. */
static void run_some(const struct task *task, unsigned first, struct total *t)
{
    double begun = seconds_now();
    for (unsigned long long seed = task->from + first; t->failed < task->failures_max;
         seed += task->processes) {
        if (task->minutes > 0 ? seconds_now() - begun > task->minutes * 60 : seed > task->to) {
            break;
        }
        task->now[first] = seed;
        run(seed, task->trace, t);
        fflush(stdout);
    }
}

/* In a process of its own, which writes its total into the pipe. */
static int begin_child(const struct task *task, unsigned number)
{
    int ends[2];
    if (pipe(ends) < 0) {
        perror("pipe");
        exit(1);
    }
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(1);
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever ends the first ends all */
        struct total t = {0};
        run_some(task, number, &t);
        bool told = write(ends[1], &t, sizeof(t)) == (ssize_t)sizeof(t);
        exit(told && !t.failed ? 0 : 1);
    }
    close(ends[1]);
    return ends[0];
}

/* False when one of them died. */
static bool run_all(const struct task *task, struct total *t)
{
    int pipes[PROCESSES_MAX];
    bool whole = true;
    for (unsigned i = 0; i < task->processes; i++) {
        pipes[i] = begin_child(task, i);
    }
    for (unsigned i = 0; i < task->processes; i++) {
        struct total part = {0};
        if (read(pipes[i], &part, sizeof(part)) != (ssize_t)sizeof(part)) {
            printf("seed %llu: the process died\n  again: test_swarm --seed %llu --trace\n",
                   task->now[i], task->now[i]);
            whole = false;
        }
        sum(t, &part);
        close(pipes[i]);
    }
    while (wait(NULL) > 0) {
    }
    return whole;
}

static bool parse(int argc, char **argv, struct task *t)
{
    bool good = true;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--trace") == 0) {
            t->trace = true;
            continue;
        }
        if (strcmp(argv[i], "--first") == 0) {
            t->failures_max = 1;
            continue;
        }
        if (strcmp(argv[i], "--seeds") == 0) {
            good = good && sscanf(value, "%llu-%llu", &t->from, &t->to) == 2 && t->from <= t->to;
        } else if (strcmp(argv[i], "--seed") == 0) {
            good = good && sscanf(value, "%llu", &t->from) == 1;
            t->to = t->from;
        } else if (strcmp(argv[i], "--minutes") == 0) {
            t->minutes = strtod(value, NULL);
            good = good && t->minutes > 0;
            t->from = (unsigned long long)time(NULL) * 1000;
        } else if (strcmp(argv[i], "--processes") == 0) {
            t->processes = (unsigned)strtoul(value, NULL, 10);
            good = good && t->processes >= 1 && t->processes <= PROCESSES_MAX;
        } else {
            return false;
        }
        i++;
    }
    return good;
}

int main(int argc, char **argv)
{
    struct task task = {.from = 1,
                        .to = SEEDS_DEFAULT,
                        .processes = PROCESSES_DEFAULT,
                        .failures_max = FAILURES_MAX};
    if (!parse(argc, argv, &task)) {
        fprintf(stderr, "usage: test_swarm [--seeds A-B | --minutes M | --seed N [--trace]] "
                        "[--first] [--processes N]\n");
        return 2;
    }
    if (task.from == task.to || task.trace) {
        task.processes = 1;
    }
    task.now = mmap(NULL, PROCESSES_MAX * sizeof(*task.now), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (task.now == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    struct total total = {0};
    double begun = seconds_now();
    bool whole = run_all(&task, &total);
    print_total(&total, seconds_now() - begun);
    return total.failed || !whole ? 1 : 0;
}
