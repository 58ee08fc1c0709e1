/* Tasks through their whole life, and each step of it alone, beside bare etcd in the same run. All
 * steps are taken by an ordinary client, so that what is measured is the bbs and etcd; what a cell
 * adds is in test_bench_start. What a life takes of the processors, of the bbs and of its etcd,
 * says most on a loaded machine: there it is the rates that are somebody else's. test_bench_tasks
 * [--rounds N] Started by test/bench/test_cluster, with the process ids in BENCH_BBS_PID,
 * BENCH_BBS_ETCD_PID and BENCH_ETCD_PID: nothing else may act on the board meanwhile. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test/bench/bench_figures.h"
#include "test/bench/bench_io.h"
#include "test/bench/bench_requests.h"

enum { ROUNDS_MAX = 100, UNITS_ALONE = 200, UNITS_WIDE = 1000 };

static const int widths[] = {1, 16, 64};
enum { WIDTHS = sizeof(widths) / sizeof(widths[0]) };

struct subject {
    const char *kind;
    int width, round;
    int step; /* the one step of the load; -1 = each unit takes all of them */
};

static const ProtobufCMessage *request(void *context, struct arena *a, int unit, int step,
                                       const char **ret_path)
{
    const struct subject *s = context;
    const char *guid = arena_printf(a, "bench-%d-%s%d-%d-%d", (int)getpid(), s->kind, s->width,
                                    s->round, unit);
    enum bench_task_step taken = s->step < 0 ? (enum bench_task_step)step
                                             : (enum bench_task_step)s->step;
    return bench_task(a, guid, taken, ret_path);
}

struct figures {
    struct samples etcd[WIDTHS], life[WIDTHS], life_p99[WIDTHS];
    struct samples step[WIDTHS][BENCH_TASK_STEPS];
    struct samples group[WIDTHS]; /* ops a transaction, of whole lives */
    /* Processor time in microseconds: of the bbs and its etcd a life, of bare etcd a transaction.
     */
    struct samples bbs_us[WIDTHS], bbs_etcd_us[WIDTHS], etcd_us[WIDTHS];
    int failures;
};

/* Of the process whose id stands in this variable of the environment. */
static double processor_us(const char *variable)
{
    return bench_processor_us(atoi(bench_needed(variable)));
}

static void measure_etcd(struct etcd_bench *e, struct figures *f, int w, int units)
{
    double before = processor_us("BENCH_ETCD_PID");
    struct bench_result r = etcd_bench_load(e, widths[w], units, 1);
    bench_add(&f->etcd_us[w], (processor_us("BENCH_ETCD_PID") - before) / units);
    bench_add(&f->etcd[w], r.per_second);
    f->failures += r.failures;
}

static void measure_life(struct bench *b, struct figures *f, int w, int units, int round)
{
    struct subject life = {"life", widths[w], round, -1};
    struct bench_counts count = bench_count(b);
    double bbs_us = processor_us("BENCH_BBS_PID"), etcd_us = processor_us("BENCH_BBS_ETCD_PID");
    struct bench_result r = bench_load(b, widths[w], units, BENCH_TASK_STEPS, request, &life);
    bench_add(&f->bbs_us[w], (processor_us("BENCH_BBS_PID") - bbs_us) / units);
    bench_add(&f->bbs_etcd_us[w], (processor_us("BENCH_BBS_ETCD_PID") - etcd_us) / units);
    struct bench_counts after = bench_count(b);
    bench_add(&f->group[w], (after.ops - count.ops) / (after.transactions - count.transactions));
    bench_add(&f->life[w], r.per_second);
    bench_add(&f->life_p99[w], r.p99_ms);
    f->failures += r.failures;
}

static void measure(struct bench *b, struct etcd_bench *e, struct figures *f, int round)
{
    for (int w = 0; w < WIDTHS; w++) {
        int width = widths[w], units = width == 1 ? UNITS_ALONE : UNITS_WIDE;
        measure_etcd(e, f, w, units);
        measure_life(b, f, w, units, round);
        for (int step = 0; step < BENCH_TASK_STEPS; step++) {
            struct subject alone = {"step", width, round, step};
            struct bench_result r = bench_load(b, width, units, 1, request, &alone);
            bench_add(&f->step[w][step], r.per_second);
            f->failures += r.failures;
        }
    }
}

static void row(const char *what, int width, double value, const char *unit, double baseline,
                const char *beside)
{
    char figure[80], text[80];
    snprintf(figure, sizeof(figure), "%s, %d client%s", what, width, width == 1 ? "" : "s");
    snprintf(text, sizeof(text), "etcd, %s, %d in flight", beside, width);
    bench_row(figure, value, unit, baseline, text);
}

static void print(struct figures *f)
{
    for (int w = 0; w < WIDTHS; w++) {
        double etcd = bench_median(&f->etcd[w]);
        row("a task's whole life, 5 steps", widths[w], bench_median(&f->life[w]), "tasks/s",
            etcd / BENCH_TASK_STEPS, "five single-record txns");
        row("a task's whole life, p99", widths[w], bench_median(&f->life_p99[w]), "ms",
            BENCH_TASK_STEPS * 1e3 * widths[w] / etcd, "five single-record txns, mean ms");
        row("a task's whole life, group", widths[w], bench_median(&f->group[w]), "ops/txn", 1,
            "single-record txns");
        double etcd_us = BENCH_TASK_STEPS * bench_median(&f->etcd_us[w]);
        row("a task's life, the bbs computes", widths[w], bench_median(&f->bbs_us[w]), "us",
            etcd_us, "five single-record txns, us");
        row("a task's life, its etcd computes", widths[w], bench_median(&f->bbs_etcd_us[w]), "us",
            etcd_us, "five single-record txns, us");
        for (int step = 0; step < BENCH_TASK_STEPS; step++) {
            char what[40];
            snprintf(what, sizeof(what), "task, %s",
                     bench_task_step_name((enum bench_task_step)step));
            row(what, widths[w], bench_median(&f->step[w][step]), "calls/s", etcd,
                "single-record txns/s");
        }
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"rounds", required_argument, NULL, 'r'}, {0}};
    static struct figures f;
    int rounds = 3, c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        rounds = c == '?' ? 0 : atoi(optarg);
    }
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "bench: 1 to %d rounds\n", ROUNDS_MAX);
        return 2;
    }
    struct bench *b = bench_new();
    struct etcd_bench *e = etcd_bench_new();
    for (int round = 0; round < rounds; round++) {
        measure(b, e, &f, round);
    }
    etcd_bench_free(e);
    bench_free(b);
    if (f.failures) {
        fprintf(stderr, "bench: %d calls failed\n", f.failures);
        return 1;
    }
    print(&f);
    return 0;
}
