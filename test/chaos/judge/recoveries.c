/* How long each fault left things broken: the longest time from its begin in which no call was
 * answered by any bbs, in which an index of a steady app did not answer, or in which nobody led. */
#include "test/chaos/judge/checks.h"

#include "common/base/memory.h"

#include <string.h>

enum { BOTH_BOUND_S = 20, SILENCE_MS = 1500 };

/* The next fault's begin ends the window of this one, unless they are at once. */
static int64_t window_end(const struct history *h, size_t n)
{
    const struct befallen *f = &h->faults[n];
    int64_t end = f->healthy != HISTORY_NEVER ? f->healthy : f->end;
    int64_t least = (f->end ? f->end : f->begin) + (f->bound_ms + 5000) * 1000000;
    end = end > least ? end : least;
    for (size_t i = n + 1; i < h->faults_count; i++) {
        if (h->faults[i].begin > f->end && h->faults[i].begin < end) {
            end = h->faults[i].begin;
        }
    }
    return end < h->last ? end : h->last;
}

/* Two at once are together twenty seconds (design.md 6). */
static int64_t bound_of(const struct history *h, size_t n)
{
    const struct befallen *f = &h->faults[n];
    int64_t bound = f->bound_ms * 1000000;
    for (size_t i = 0; i < h->faults_count; i++) {
        const struct befallen *o = &h->faults[i];
        int64_t o_end = o->healthy != HISTORY_NEVER ? o->healthy : o->end ? o->end : HISTORY_NEVER;
        int64_t f_end = f->end ? f->end : HISTORY_NEVER;
        if (i != n && o->begin <= f_end && f->begin <= o_end) {
            bound = bound < BOTH_BOUND_S * CHECK_S ? BOTH_BOUND_S * CHECK_S : bound;
            bound = bound < o->bound_ms * 1000000 ? o->bound_ms * 1000000 : bound;
        }
    }
    return bound;
}

/* Something was well at `last`, and then not before `next`. */
static void silent(struct recovery *r, int64_t last, int64_t next, const char *what)
{
    const struct befallen *f = r->fault;
    int64_t from = f->bound_from_end && f->heal ? f->heal : f->begin;
    if (next <= from || last >= r->window_end || next - last < SILENCE_MS * 1000000ll) {
        return;
    }
    int64_t took = next - (last > from ? last : from);
    if (took > r->worst_ns) {
        r->worst_ns = took;
        r->what = what;
    }
}

static void look_at_calls(const struct history *h, struct recovery *r)
{
    int64_t last = r->fault->begin;
    for (size_t i = 0; i < h->calls_count && h->calls[i].begin <= r->window_end; i++) {
        const struct call *c = &h->calls[i];
        if (c->result == CALL_UNKNOWN || c->end < r->fault->begin ||
            (c->result == CALL_FAILED && strcmp(c->saw, "error") == 0)) {
            continue;
        }
        silent(r, last, c->end, "calls");
        last = c->end > last ? c->end : last;
    }
    silent(r, last, r->window_end, "calls");
}

static void look_at_index(const struct history *h, struct recovery *r, const char *process,
                          int index)
{
    int64_t last = r->fault->begin;
    bool some = false;
    for (size_t i = 0; i < h->visits_count && h->visits[i].end <= r->window_end; i++) {
        const struct visit *v = &h->visits[i];
        if (v->process != process || v->index != index || !v->ok) {
            continue;
        }
        if (v->begin < r->fault->begin) {
            some = true; /* it answered before */
            continue;
        }
        if (some) {
            silent(r, last, v->end, process);
        }
        some = true;
        last = v->end;
    }
    if (some && h->visits_count) {
        silent(r, last, r->window_end, process);
    }
}

/* After the leader was befallen, until the lock is written anew. */
static void look_at_leader(const struct history *h, const struct board *b, struct recovery *r)
{
    const struct befallen *f = r->fault;
    if (strcmp(f->recovery, "leader") != 0 || f->target_count == 0) {
        return;
    }
    int64_t next = r->window_end;
    for (size_t i = 0; i < b->count; i++) {
        const struct event *e = b->changes[i].event;
        if (strcmp(e->record, "lead") == 0 && e->what == EVENT_PUT &&
            strncmp(f->targets[0], e->process, strlen(e->process)) == 0 &&
            b->changes[i].at > f->begin && b->changes[i].at < next) {
            next = b->changes[i].at;
        }
    }
    silent(r, f->begin, next, "leader");
    (void)h;
}

static void count_visits(const struct history *h, struct recovery *r)
{
    const struct steady *most = NULL;
    for (size_t i = 0; i < h->steadies_count; i++) {
        most = !most || h->steadies[i].instances > most->instances ? &h->steadies[i] : most;
    }
    for (size_t i = 0; i < h->visits_count; i++) {
        const struct visit *v = &h->visits[i];
        if (v->begin >= r->fault->begin && v->begin < r->window_end) {
            r->all_sent++;
            r->all_lost += !v->ok;
            r->sent += most && v->process == most->process;
            r->lost += most && v->process == most->process && !v->ok;
        }
    }
}

static void judge(const struct recovery *r, struct verdict *v)
{
    const struct befallen *f = r->fault;
    v->looked[PROMISE_THERE]++;
    if (!f->was_there) {
        verdict_add(v, PROMISE_THERE, &f->place, 1, "fault %d (%.40s) was not there: %.100s",
                    f->number, f->kind, f->probe);
        return;
    }
    if (!f->healed) {
        verdict_add(v, PROMISE_THERE, &f->place, 1, "fault %d (%.40s) was not healed: %.100s",
                    f->number, f->kind, f->probe);
    }
    v->looked[PROMISE_BOUND]++;
    if (r->worst_ns > r->bound_ns) {
        verdict_add(v, PROMISE_BOUND, &f->place, 1,
                    "fault %d (%.40s): %.60s took %.1f s, and has %.0f s", f->number, f->kind,
                    r->what, (double)r->worst_ns / 1e9, (double)r->bound_ns / 1e9);
    }
}

struct recovery *chaos_check_recoveries(const struct history *h, const struct board *b,
                                        struct verdict *v)
{
    struct recovery *all = mem_array(h->faults_count + 1, sizeof(*all));
    for (size_t n = 0; n < h->faults_count; n++) {
        struct recovery *r = &all[n];
        *r = (struct recovery){.fault = &h->faults[n], .what = ""};
        r->window_end = window_end(h, n);
        r->bound_ns = bound_of(h, n);
        if (r->fault->was_there) {
            look_at_calls(h, r);
            for (size_t i = 0; i < h->steadies_count; i++) {
                for (int k = 0; k < h->steadies[i].instances; k++) {
                    look_at_index(h, r, h->steadies[i].process, k);
                }
            }
            look_at_leader(h, b, r);
            count_visits(h, r);
        }
        judge(r, v);
    }
    return all;
}
