#include "test/chaos/judge/report.h"

#include "common/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double s(int64_t ns)
{
    return (double)ns / 1e9;
}

static const char *targets_of(const struct befallen *f, char *to, size_t size)
{
    size_t used = 0;
    to[0] = 0;
    for (int i = 0; i < f->target_count && used + 2 < size; i++) {
        used += (size_t)snprintf(to + used, size - used, "%s%s", i ? "," : "", f->targets[i]);
    }
    return f->target_count ? to : "everybody";
}

static void tell_fault(const struct history *h, const struct recovery *r, struct buf *out)
{
    const struct befallen *f = r->fault;
    char targets[128];
    buf_printf(out, "%5d  %-16s %-32s %8.1f s  ", f->number, f->kind,
               targets_of(f, targets, sizeof(targets)), s(f->begin - h->first));
    if (!f->was_there) {
        buf_printf(out, "NOT THERE: %.60s\n", f->probe);
        return;
    }
    buf_printf(out, "%5.1f s of %2.0f s%s  lost %lu of %lu (five), %lu of %lu%s%s\n",
               s(r->worst_ns), s(r->bound_ns), f->bound_from_end ? " from its end" : "",
               (unsigned long)r->lost, (unsigned long)r->sent, (unsigned long)r->all_lost,
               (unsigned long)r->all_sent, r->worst_ns > r->bound_ns ? "  TOO LATE: " : "",
               r->worst_ns > r->bound_ns ? r->what : "");
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void tell_kind(const struct history *h, const struct recovery *all, const char *kind,
                      struct buf *out)
{
    int64_t *times = mem_array(h->faults_count + 1, sizeof(*times)), bound = 0;
    size_t count = 0;
    uint64_t lost = 0, sent = 0, occupied = 0;
    for (size_t i = 0; i < h->faults_count; i++) {
        if (all[i].fault->kind == kind && all[i].fault->was_there) {
            occupied += all[i].fault->occupied;
            times[count++] = all[i].worst_ns;
            bound = all[i].bound_ns > bound ? all[i].bound_ns : bound;
            lost += all[i].lost, sent += all[i].sent;
        }
    }
    qsort(times, count, sizeof(*times), by_number);
    if (count) {
        buf_printf(out, "%-18s %5zu  %8lu  %6.1f s  %6.1f s  %6.0f s   %lu of %lu\n", kind, count,
                   (unsigned long)occupied, s(times[count / 2]), s(times[count - 1]), s(bound),
                   (unsigned long)lost, (unsigned long)sent);
    }
    free(times);
}

static void tell_kinds(const struct history *h, const struct recovery *all, struct buf *out)
{
    buf_printf(out, "\n%-18s %5s  %8s  %8s  %8s  %8s   requests lost by the app of 5\n", "kind",
               "count", "occupied", "median", "worst", "bound");
    for (size_t i = 0; i < h->faults_count; i++) {
        size_t k = 0;
        while (k < i && h->faults[k].kind != h->faults[i].kind) {
            k++;
        }
        if (k == i) {
            tell_kind(h, all, h->faults[i].kind, out);
        }
    }
}

void report_text(const struct history *h, const struct verdict *v,
                 const struct recovery *recoveries, double seconds, struct buf *out)
{
    buf_append_string(out, "fault  kind             who                              after       "
                           "worst recovery, and its bound\n");
    for (size_t i = 0; i < h->faults_count; i++) {
        tell_fault(h, &recoveries[i], out);
    }
    tell_kinds(h, recoveries, out);
    buf_append_string(out, "\n");
    for (int i = 0; i < PROMISES; i++) {
        buf_printf(out, "%-8s %-64s %9ld looked at, %d violated\n", promise_names[i],
                   promise_texts[i], (long)v->looked[i], v->found[i]);
    }
    buf_printf(out,
               "\nhistory: %lu lines, %.1f MB, %.0f s; %zu calls, %zu events, %zu requests, "
               "%zu containers; judged in %.1f s\n",
               (unsigned long)h->lines, (double)h->bytes / 1e6, s(h->last - h->first),
               h->calls_count, h->events_count, h->visits_count, h->containers_count, seconds);
    if (v->undecided) {
        buf_printf(out, "undecided: the calls on %d records, whose search reached its bound\n",
                   v->undecided);
    }
    if (v->violations.size) {
        buf_append_string(out, "\n");
        buf_append(out, v->violations.data, v->violations.size);
    }
}

/* ---- By time ---- */

void report_table(const struct history *h, const struct board *b, const struct recovery *recoveries,
                  struct buf *out)
{
    buf_append_string(out, "    from s      to s  fault  kind              who\n");
    for (size_t i = 0; i < h->faults_count; i++) {
        const struct befallen *f = &h->faults[i];
        char targets[128];
        buf_printf(out, "%10.1f %9.1f  %5d  %-16s  %s; well again after %.1f s (%s)\n",
                   s(f->begin - h->first), s((f->end ? f->end : h->last) - h->first), f->number,
                   f->kind, targets_of(f, targets, sizeof(targets)), s(recoveries[i].worst_ns),
                   recoveries[i].what[0] ? recoveries[i].what : "nothing broke");
    }
    buf_append_string(out, "\n    at s  cells and leaders\n");
    for (size_t i = 0; i < b->count; i++) {
        const struct event *e = b->changes[i].event;
        if (strcmp(e->record, "cell") == 0 || strcmp(e->record, "lead") == 0) {
            buf_printf(out, "%8.1f  %s %s\n", s(b->changes[i].at - h->first), e->key,
                       e->what == EVENT_GONE ? "gone"
                       : e->state[0]         ? e->state
                                             : "taken");
        }
    }
}
