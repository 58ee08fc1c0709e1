/* Lists of 1,000, 10,000 and 100,000 RUNNING instances, then of as many definitions of 3 KiB, whole
 * and as scheduling infos: time to the first and to the last byte, bytes, and what the bbs's memory
 * grows by meanwhile, beside one Range of as many records of bare etcd.
 * test_bench_lists [--rounds N] [--most N] Started by test/bench/test_cluster, with the process id
 * of the bbs in BENCH_BBS_PID: nothing else may act on the board meanwhile. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/actual_lrp_requests.pb-c.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "test/bench/bench_figures.h"
#include "test/bench/bench_io.h"
#include "test/bench/bench_requests.h"

enum { ROUNDS_MAX = 100, PROCESS_INSTANCES = 1000, WIDTH = 64, ENVIRONMENT = 30 };

static const int sizes[] = {1000, 10000, 100000};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static const char *process_guid(struct arena *a, int process)
{
    return arena_printf(a, "bench-%d-list-%d", (int)getpid(), process);
}

static const ProtobufCMessage *desire(void *context, struct arena *a, int unit, int step,
                                      const char **ret_path)
{
    const int *first = context;
    struct bench_process p = {process_guid(a, *first + unit), PROCESS_INSTANCES, 32};
    return bench_desire(a, &p, ret_path);
}

static const ProtobufCMessage *start(void *context, struct arena *a, int unit, int step,
                                     const char **ret_path)
{
    const int *first = context;
    return bench_start(a, process_guid(a, *first + unit / PROCESS_INSTANCES),
                       unit % PROCESS_INSTANCES,
                       arena_printf(a, "2f3b64a0-6d5e-4a4f-9d0f-%08d", unit), ret_path);
}

static const ProtobufCMessage *define(void *context, struct arena *a, int unit, int step,
                                      const char **ret_path)
{
    const int *first = context;
    (void)step;
    struct bench_process p = {process_guid(a, *first + unit), 0, 32, ENVIRONMENT};
    return bench_desire(a, &p, ret_path);
}

static void needed(struct bench_result result)
{
    if (result.failures) {
        fprintf(stderr, "bench: %d calls failed\n", result.failures);
        exit(1);
    }
}

/* From `have` to `want` RUNNING instances. */
static void grow(struct bench *b, int have, int want)
{
    int first = have / PROCESS_INSTANCES, more = (want - have) / PROCESS_INSTANCES;
    needed(bench_load(b, 1, more, 1, desire, &first));
    needed(bench_load(b, WIDTH, want - have, 1, start, &first));
}

/* From `have` to `want` definitions; those of the instances count. */
static void grow_definitions(struct bench *b, int have, int want)
{
    needed(bench_load(b, WIDTH, want - have, 1, define, &have));
}

/* A value of /proc/PID/status in KiB. */
static double status_kib(const char *pid, const char *name)
{
    char path[64], line[256];
    double value = 0;
    snprintf(path, sizeof(path), "/proc/%s/status", pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            value = strtod(line + strlen(name) + 1, NULL);
        }
    }
    if (f) {
        fclose(f);
    }
    return value;
}

/* The kernel forgets the greatest size that the process has had. */
static void forget_peak(const char *pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%s/clear_refs", pid);
    FILE *f = fopen(path, "w");
    if (f) {
        fputs("5", f);
        fclose(f);
    }
}

static const Models__ActualLRPsRequest all_actual = MODELS__ACTUAL_LRPS_REQUEST__INIT;
static const Models__DesiredLRPsRequest all_desired = MODELS__DESIRED_LRPS_REQUEST__INIT;

struct list {
    const char *what, *path;
    const ProtobufCMessage *all;
};

static const struct list instances = {"instances", "/v1/actual_lrps/list", &all_actual.base};
static const struct list definitions[] = {
    {"definitions, r3", "/v1/desired_lrps/list.r3", &all_desired.base},
    {"definitions, r2", "/v1/desired_lrps/list.r2", &all_desired.base},
    {"scheduling infos", "/v1/desired_lrp_scheduling_infos/list", &all_desired.base},
};

static void row(const struct list *l, const char *what, int size, double value, const char *unit,
                double baseline, const char *beside)
{
    char figure[80];
    snprintf(figure, sizeof(figure), "list of %d %s, %s", size, l->what, what);
    bench_row(figure, value, unit, baseline, beside);
}

static void measure(struct etcd_bench *e, const struct list *l, int size, int rounds)
{
    static struct samples first, last, grown, range;
    const char *pid = bench_needed("BENCH_BBS_PID");
    double bytes = 0, range_bytes = 0;
    first.count = last.count = grown.count = range.count = 0;
    if (etcd_bench_load(e, 16, (size + BENCH_RECORDS - 1) / BENCH_RECORDS, BENCH_RECORDS)
            .failures) {
        exit(1);
    }
    for (int i = 0; i < rounds; i++) {
        forget_peak(pid);
        double before = status_kib(pid, "VmRSS");
        struct bench_answer answer = bench_read(l->path, l->all);
        bench_add(&grown, status_kib(pid, "VmHWM") - before);
        bench_add(&first, answer.first_ms);
        bench_add(&last, answer.last_ms);
        bytes = answer.bytes;
        answer = etcd_bench_range(e);
        bench_add(&range, answer.last_ms);
        range_bytes = answer.bytes;
    }
    const char *whole = "etcd, one Range, whole";
    double etcd_ms = bench_median(&range);
    row(l, "to the first byte", size, bench_median(&first), "ms", etcd_ms, whole);
    row(l, "to the last byte", size, bench_median(&last), "ms", etcd_ms, whole);
    row(l, "bytes", size, bytes / 1024, "KiB", range_bytes / 1024, "etcd, keys and values");
    row(l, "memory grown", size, bench_median(&grown), "KiB", bytes / 1024, "the list itself");
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"rounds", required_argument, NULL, 'r'}, {"most", required_argument, NULL, 'm'}, {0}};
    int rounds = 5, most = sizes[SIZES - 1], have = 0, c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        *(c == 'm' ? &most : &rounds) = c == '?' ? 0 : atoi(optarg);
    }
    if (rounds < 1 || rounds > ROUNDS_MAX || most < 1) {
        fprintf(stderr, "bench: 1 to %d rounds\n", ROUNDS_MAX);
        return 2;
    }
    struct bench *b = bench_new();
    struct etcd_bench *e = etcd_bench_new();
    for (int i = 0; i < SIZES && sizes[i] <= most; i++) {
        grow(b, have, sizes[i]);
        have = sizes[i];
        measure(e, &instances, sizes[i], rounds);
    }
    have /= PROCESS_INSTANCES;
    for (int i = 0; i < SIZES && sizes[i] <= most; i++) {
        grow_definitions(b, have, sizes[i]);
        have = sizes[i];
        for (size_t k = 0; k < sizeof(definitions) / sizeof(definitions[0]); k++) {
            measure(e, &definitions[k], sizes[i], rounds);
        }
    }
    etcd_bench_free(e);
    bench_free(b);
    return 0;
}
