#include "test/bench/bench_figures.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

void bench_add(struct samples *s, double value)
{
    assert(s->count < BENCH_SAMPLES);
    s->list[s->count++] = value;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double bench_percentile(struct samples *s, int percent)
{
    if (s->count == 0) {
        return 0;
    }
    qsort(s->list, s->count, sizeof(s->list[0]), by_value);
    /* The least rank whose share is at least `percent`. */
    size_t rank = (s->count * (size_t)percent + 99) / 100;
    return s->list[rank > 0 ? rank - 1 : 0];
}

double bench_median(struct samples *s)
{
    return bench_percentile(s, 50);
}

void bench_row(const char *figure, double value, const char *unit, double baseline,
               const char *beside)
{
    printf("%-46s %10.1f %-12s %10.1f %8.3f  %s\n", figure, value, unit, baseline,
           baseline > 0 ? value / baseline : 0, beside);
    fflush(stdout);
}
