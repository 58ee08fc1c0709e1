/* What a bbs does beside bare etcd on the same machine in the same run: desire in bulk, desire one
 * instance a call, claim and start. The ratios are the result; the absolute numbers are the
 * machine's, and this client takes its part of the processors.
 *   test_bench_bbs [--rounds N] [--width N]      one width only: to look at it with a profiler
 * Started by test/bench/test_cluster: nothing else may act on the board meanwhile. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test/bench/bench_figures.h"
#include "test/bench/bench_io.h"
#include "test/bench/bench_requests.h"

enum {
    BULK_INSTANCES = 1000,
    BULKS = 10,
    ROUNDS_MAX = 100,
    UNITS_ALONE = 400, /* of a load with one client; others take UNITS_WIDE */
    UNITS_WIDE = 2000,
    BATCHES = 200, /* transactions of BENCH_RECORDS records */
};

static const int widths[] = {1, 16, 64};
enum { WIDTHS = sizeof(widths) / sizeof(widths[0]) };

/* What a load is about: processes of one round, `instances` each. */
struct subject {
    const char *kind;
    int width, round, instances;
};

static const char *process_guid(const struct subject *s, struct arena *a, int process)
{
    return arena_printf(a, "bench-%d-%s%d-%d-%d", (int)getpid(), s->kind, s->width, s->round,
                        process);
}

static const ProtobufCMessage *desire(void *context, struct arena *a, int unit, int step,
                                      const char **ret_path)
{
    const struct subject *s = context;
    struct bench_process p = {process_guid(s, a, unit), s->instances, 32};
    return bench_desire(a, &p, ret_path);
}

/* A unit is an instance: claimed in its first step, started in its second. */
static const ProtobufCMessage *claim_and_start(void *context, struct arena *a, int unit, int step,
                                               const char **ret_path)
{
    const struct subject *s = context;
    const char *process = process_guid(s, a, unit / s->instances);
    const char *instance = arena_printf(a, "guid-%d-%d-%d", s->width, s->round, unit);
    int32_t index = unit % s->instances;
    return step == 0 ? bench_claim(a, process, index, instance, ret_path)
                     : bench_start(a, process, index, instance, ret_path);
}

struct figures {
    struct samples bulk, single[WIDTHS], batch[WIDTHS], desire[WIDTHS], pairs[WIDTHS];
    struct samples desire_p50[WIDTHS], pairs_p99[WIDTHS];
    struct samples desire_group[WIDTHS], pairs_group[WIDTHS]; /* ops a transaction */
    int failures;
};

/* A load, and how many of its ops travelled together. */
static struct bench_result grouped_load(struct bench *b, int width, int units, int steps,
                                        bench_request *request, struct subject *s,
                                        struct samples *group)
{
    struct bench_counts before = bench_count(b);
    struct bench_result r = bench_load(b, width, units, steps, request, s);
    struct bench_counts after = bench_count(b);
    bench_add(group, (after.ops - before.ops) / (after.transactions - before.transactions));
    return r;
}

static void measure_width(struct bench *b, struct etcd_bench *e, struct figures *f, int round,
                          int w)
{
    int width = widths[w], units = width == 1 ? UNITS_ALONE : UNITS_WIDE;
    struct subject one = {"one", width, round, 1}, pair = {"pair", width, round, BULK_INSTANCES};
    struct bench_result r = etcd_bench_load(e, width, units, 1);
    bench_add(&f->single[w], r.per_second);
    f->failures += r.failures;

    r = grouped_load(b, width, units, 1, desire, &one, &f->desire_group[w]);
    bench_add(&f->desire[w], r.per_second);
    bench_add(&f->desire_p50[w], r.p50_ms);
    f->failures += r.failures;

    r = etcd_bench_load(e, width, BATCHES, BENCH_RECORDS);
    bench_add(&f->batch[w], r.per_second);
    f->failures += r.failures;

    /* Processes of its own for each width, so that every pair is the first of its instance. */
    f->failures += bench_load(b, 1, units / BULK_INSTANCES + 1, 1, desire, &pair).failures;
    r = grouped_load(b, width, units, 2, claim_and_start, &pair, &f->pairs_group[w]);
    bench_add(&f->pairs[w], r.per_second);
    bench_add(&f->pairs_p99[w], r.p99_ms);
    f->failures += r.failures;
}

static bool is_wanted(int w, int only)
{
    return only == 0 || widths[w] == only;
}

static void measure_round(struct bench *b, struct etcd_bench *e, struct figures *f, int round,
                          int only)
{
    struct subject bulk = {"bulk", 1, round, BULK_INSTANCES};
    struct bench_result r = bench_load(b, 1, BULKS, 1, desire, &bulk);
    bench_add(&f->bulk, r.per_second * BULK_INSTANCES);
    f->failures += r.failures;
    for (int w = 0; w < WIDTHS; w++) {
        if (!is_wanted(w, only)) {
            continue;
        }
        measure_width(b, e, f, round, w);
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

static void print(struct figures *f, int only)
{
    bench_row("desire of 1,000 instances a call", bench_median(&f->bulk), "instances/s",
              bench_median(&f->batch[0]), "etcd, records/s in 64-record txns, 1 in flight");
    for (int w = 0; w < WIDTHS; w++) {
        if (!is_wanted(w, only)) {
            continue;
        }
        double single = bench_median(&f->single[w]), batch = bench_median(&f->batch[w]);
        double desires = bench_median(&f->desire[w]), pairs = bench_median(&f->pairs[w]);
        row("desire of one instance a call", widths[w], desires, "calls/s", single,
            "single-record txns/s");
        row("desire of one instance a call", widths[w], desires, "calls/s", batch,
            "records/s in 64-record txns");
        row("desire of one instance a call, p50", widths[w], bench_median(&f->desire_p50[w]), "ms",
            1e3 * widths[w] / single, "a single-record txn, mean ms");
        row("desire of one instance a call, group", widths[w], bench_median(&f->desire_group[w]),
            "ops/txn", 1, "single-record txns");
        row("claim + start", widths[w], pairs, "pairs/s", single, "single-record txns/s");
        row("claim + start", widths[w], pairs, "pairs/s", batch, "records/s in 64-record txns");
        row("claim + start, group", widths[w], bench_median(&f->pairs_group[w]), "ops/txn", 1,
            "single-record txns");
        row("claim + start, p99 of a pair", widths[w], bench_median(&f->pairs_p99[w]), "ms",
            2e3 * widths[w] / single, "two single-record txns, mean ms");
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"rounds", required_argument, NULL, 'r'}, {"width", required_argument, NULL, 'w'}, {0}};
    static struct figures f;
    int rounds = 3, only = 0, c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        *(c == 'w' ? &only : &rounds) = c == '?' ? 0 : atoi(optarg);
    }
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "bench: 1 to %d rounds\n", ROUNDS_MAX);
        return 2;
    }
    struct bench *b = bench_new();
    struct etcd_bench *e = etcd_bench_new();
    for (int round = 0; round < rounds; round++) {
        measure_round(b, e, &f, round, only);
    }
    etcd_bench_free(e);
    bench_free(b);
    if (f.failures) { /* which are quick, so that the rest means nothing */
        fprintf(stderr, "bench: %d calls failed\n", f.failures);
        return 1;
    }
    print(&f, only);
    return 0;
}
