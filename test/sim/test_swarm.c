/* Runs the swarm: each seed a whole life of a cluster, with faults, then healed (design.md 9).
 *   test_swarm                  the first 1,000 seeds, as part of every check
 *   test_swarm --seeds A-B      these
 *   test_swarm --minutes M      as many as fit, from a seed drawn from the clock
 *   test_swarm --seed N [--trace]   one, with its trace
 *   test_swarm --list           the workloads, faults and checkers
 *   ... --doing WORKLOAD        only those of them in which somebody does that
 *   ... --first                 each process ends at its first seed that fails
 * Two processes share the seeds, unless --processes N says otherwise or there is one seed alone. A
 * seed that fails, or ends its process, is told at once and once more at the end; the others are
 * run all the same. How far it is goes to stderr each minute. */
#include "test/sim/swarm/swarm.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    SEEDS_DEFAULT = 1000,
    FAILURES_MAX = 100, /* after so many a process has shown enough */
    FAILURE_TEXT_MAX = 400,
    PROCESSES_DEFAULT = 2,
    PROCESSES_MAX = 16,
    PROGRESS_S = 60, /* between two lines about how far it is */
};
#define HOUR_NS 3.6e12

struct total {
    unsigned seeds, failed;
    unsigned done[DONE_COUNT], seen[SEEN_COUNT], faults[FAULT_COUNT];
    int64_t virtual_ns;
};

static void add_counts(unsigned *to, const unsigned *from, int count)
{
    for (int i = 0; i < count; i++) {
        to[i] += from[i];
    }
}

static void sum(struct total *t, const struct total *r)
{
    t->seeds += r->seeds;
    t->failed += r->failed;
    add_counts(t->done, r->done, DONE_COUNT);
    add_counts(t->seen, r->seen, SEEN_COUNT);
    add_counts(t->faults, r->faults, FAULT_COUNT);
    t->virtual_ns += r->virtual_ns;
}

static void add(struct total *t, const struct swarm_result *r)
{
    struct total one = {.seeds = 1, .failed = r->failed, .virtual_ns = r->virtual_ns};
    memcpy(one.done, r->done, sizeof(one.done));
    memcpy(one.seen, r->seen, sizeof(one.seen));
    memcpy(one.faults, r->faults, sizeof(one.faults));
    sum(t, &one);
}

static void tell_failure(unsigned long long seed, const char *reason)
{
    printf("seed %llu: %s\n  again: test_swarm --seed %llu --trace\n", seed, reason, seed);
    fflush(stdout);
}

static void print_total(const struct total *t, double seconds)
{
    printf("%u seeds in %.1f s, %.1f h of virtual time: %u failed\n", t->seeds, seconds,
           (double)t->virtual_ns / HOUR_NS, t->failed);
    const char *between = "done: ";
#define COUNT(id, text) printf("%s" text " %u", between, t->done[DONE_##id]), between = ", ";
#include "test/sim/swarm/workloads.def"
    between = "\nseen: ";
#define COUNT(id, text) printf("%s" text " %u", between, t->seen[SEEN_##id]), between = ", ";
#define MOVES(id, text) COUNT(id, text)
#include "test/sim/checkers/checkers.def"
    between = "\nfaults: ";
#define FAULT(id, name, ...)                                                                       \
    printf("%s" name " %u", between, t->faults[FAULT_##id]), between = ", ";
#include "test/sim/swarm/faults.def"
    printf("\n");
}

/* What is done, what befalls it, and what must hold. */
static void list(void)
{
#define WORKLOAD(name, percent, seed, salt, settles_s, says)                                       \
    printf("workload %-12s %3d %% of the seeds: %s\n", #name, percent, says);
#include "test/sim/swarm/workloads.def"
#define FAULT(id, name, percent, lasts_s, ...)                                                     \
    printf("fault    %-22s %3d %%, up to %d s\n", name, percent, lasts_s);
#include "test/sim/swarm/faults.def"
#define CHECKER(name, invariant, sees, function, says)                                             \
    printf("checker  %-12s %-11s %-8s %s\n", #name, invariant, #sees, says);
#include "test/sim/checkers/checkers.def"
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What the first process reads of the others while they run and when they have ended. */
struct part {
    unsigned long long seed; /* the one that it is at */
    bool over;               /* it has done all that it was to do */
    struct total total;
    struct failure {
        unsigned long long seed;
        char reason[FAILURE_TEXT_MAX];
    } failures[FAILURES_MAX]; /* as many as failed */
};

struct task {
    unsigned long long from, to;
    double minutes; /* 0 = up to `to` */
    double begun;
    unsigned processes;
    unsigned failures_max; /* of one process */
    const char *workload;  /* the other seeds are passed over; NULL = none is */
    bool trace;
    struct part *parts; /* of the processes, shared by all */
};

static void note_failure(struct part *part, unsigned long long seed, const char *reason)
{
    struct failure *f = &part->failures[part->total.failed - 1];
    f->seed = seed;
    snprintf(f->reason, sizeof(f->reason), "%s", reason);
}

static void run(uint64_t seed, bool trace, struct part *part)
{
    struct swarm_result r;
    swarm_run(seed, trace, &r);
    if (trace) {
        fputs(buf_string(&r.trace), stdout);
    }
    add(&part->total, &r);
    if (r.failed) {
        tell_failure(seed, buf_string(&r.reason));
        note_failure(part, seed, buf_string(&r.reason));
    }
    swarm_result_done(&r);
}

/* Every n-th seed, from the one that its part is at. */
static void run_some(const struct task *task, struct part *part)
{
    for (; part->total.failed < task->failures_max; part->seed += task->processes) {
        if (task->minutes > 0 ? seconds_now() - task->begun > task->minutes * 60
                              : part->seed > task->to) {
            break;
        }
        if (!task->workload || swarm_does(task->workload, part->seed)) {
            run(part->seed, task->trace, part);
            fflush(stdout);
        }
    }
    part->over = true;
}

static pid_t begin_child(const struct task *task, struct part *part)
{
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(1);
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever ends the first ends all */
        run_some(task, part);
        exit(0);
    }
    return child;
}

/* Its seed ended the process: that one failed, and another process goes on after it. Gives that
 * process, or -1 when nothing is left to do. */
static pid_t after_death(const struct task *task, struct part *part)
{
    static const char reason[] = "the process died";
    tell_failure(part->seed, reason);
    part->total.seeds++;
    part->total.failed++;
    note_failure(part, part->seed, reason);
    part->seed += task->processes;
    bool enough =
        part->total.failed == task->failures_max || (task->minutes == 0 && part->seed > task->to);
    return enough ? -1 : begin_child(task, part);
}

static void sum_up(const struct task *task, struct total *ret)
{
    *ret = (struct total){0};
    for (unsigned i = 0; i < task->processes; i++) {
        sum(ret, &task->parts[i].total);
    }
}

/* For who waits for a long run; the figures may be a seed behind. */
static void tell_progress(const struct task *task)
{
    struct total t;
    sum_up(task, &t);
    double passed = seconds_now() - task->begun;
    fprintf(stderr, "%u", t.seeds);
    if (task->minutes == 0) {
        fprintf(stderr, " of %llu", task->to - task->from + 1);
    }
    fprintf(stderr, " seeds in %.0f s, %.1f h of virtual time: %u failed\n", passed,
            (double)t.virtual_ns / HOUR_NS, t.failed);
}

/* Waits until a child ends and gives it, 0 when the time is over; SIGCHLD is blocked. */
static pid_t wait_for_one(double seconds, const sigset_t *child_ends)
{
    pid_t ended = waitpid(-1, NULL, WNOHANG);
    if (ended == 0 && seconds > 0) {
        struct timespec patience = {.tv_sec = (time_t)seconds,
                                    .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
        sigtimedwait(child_ends, NULL, &patience);
        ended = waitpid(-1, NULL, WNOHANG);
    }
    return ended < 0 ? 0 : ended;
}

static void run_all(const struct task *task)
{
    sigset_t child_ends;
    sigemptyset(&child_ends);
    sigaddset(&child_ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ends, NULL);
    pid_t children[PROCESSES_MAX];
    unsigned left = task->processes;
    for (unsigned i = 0; i < task->processes; i++) {
        task->parts[i].seed = task->from + i;
        children[i] = begin_child(task, &task->parts[i]);
    }
    double tell_at = task->begun + PROGRESS_S;
    while (left > 0) {
        pid_t ended = wait_for_one(tell_at - seconds_now(), &child_ends);
        for (unsigned i = 0; i < task->processes; i++) {
            if (ended > 0 && children[i] == ended) {
                struct part *part = &task->parts[i];
                children[i] = part->over ? -1 : after_death(task, part);
                left -= children[i] < 0;
            }
        }
        if (seconds_now() >= tell_at) {
            tell_progress(task);
            tell_at += PROGRESS_S;
        }
    }
}

static int failure_order(const void *a, const void *b)
{
    const struct failure *left = *(const struct failure *const *)a;
    const struct failure *right = *(const struct failure *const *)b;
    return (left->seed > right->seed) - (left->seed < right->seed);
}

/* All that failed, in the order of their seeds. */
static void list_failures(const struct task *task)
{
    static const struct failure *list[PROCESSES_MAX * FAILURES_MAX];
    size_t count = 0;
    for (unsigned i = 0; i < task->processes; i++) {
        const struct part *part = &task->parts[i];
        for (unsigned k = 0; k < part->total.failed; k++) {
            list[count++] = &part->failures[k];
        }
        if (part->total.failed == FAILURES_MAX) {
            printf("a process gave up after %d failures, before seed %llu\n", FAILURES_MAX,
                   part->seed);
        }
    }
    qsort(list, count, sizeof(list[0]), failure_order);
    for (size_t i = 0; i < count; i++) {
        printf("failed: seed %llu: %s\n", list[i]->seed, list[i]->reason);
    }
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
        } else if (strcmp(argv[i], "--doing") == 0) {
            t->workload = value;
            good = good && swarm_does(value, 1) >= 0;
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
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        list();
        return 0;
    }
    if (!parse(argc, argv, &task)) {
        fprintf(stderr, "usage: test_swarm [--seeds A-B | --minutes M | --seed N [--trace]] "
                        "[--doing WORKLOAD] [--first] [--processes N]\n"
                        "       test_swarm --list\n");
        return 2;
    }
    if (task.from == task.to || task.trace) {
        task.processes = 1;
    }
    task.parts = mmap(NULL, PROCESSES_MAX * sizeof(*task.parts), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (task.parts == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    task.begun = seconds_now();
    run_all(&task);
    struct total total;
    sum_up(&task, &total);
    print_total(&total, seconds_now() - task.begun);
    list_failures(&task);
    return total.failed ? 1 : 0;
}
