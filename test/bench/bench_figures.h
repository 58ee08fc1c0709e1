/* What benchmarks make of their samples: medians, percentiles, and rows of one table in which each
 * figure stands beside its baseline from the same run. */
#pragma once

#include <stddef.h>

/* Most samples of a figure; bench_add() asserts it. */
enum { BENCH_SAMPLES = 8192 };

struct samples {
    double list[BENCH_SAMPLES];
    size_t count;
};

/* Appends. */
void bench_add(struct samples *s, double value);

/* The value that `percent` of the samples do not exceed (50 = the median). Sorts; 0 without any. */
double bench_percentile(struct samples *s, int percent);
double bench_median(struct samples *s);

/* One row: figure, value, baseline, value / baseline, what the baseline is. */
void bench_row(const char *figure, double value, const char *unit, double baseline,
               const char *beside);
