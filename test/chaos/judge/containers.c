#include "test/chaos/judge/checks.h"

#include <string.h>

bool chaos_check_was_restored(const struct history *h, int64_t since, int64_t at)
{
    for (size_t i = 0; i < h->faults_count; i++) {
        const struct befallen *f = &h->faults[i];
        if (strncmp(f->kind, "restore", 7) == 0 && f->begin > since && f->begin <= at) {
            return true;
        }
    }
    return false;
}

bool chaos_check_is_calm(const struct history *h, int64_t from, int64_t to)
{
    for (size_t i = 0; i < h->faults_count; i++) {
        const struct befallen *f = &h->faults[i];
        int64_t end = f->healthy != HISTORY_NEVER ? f->healthy : f->end ? f->end : HISTORY_NEVER;
        int64_t calm = end == HISTORY_NEVER ? end : end + CHECK_CALM_S * CHECK_S;
        if (f->begin <= to && calm >= from) {
            return false;
        }
    }
    return true;
}

/* Whether the board had released the instance of a container before `at`, so that another one might
 * begin: it was SUSPECT or EVACUATING, or the cell was LOST. */
static bool was_released(const struct board *b, const struct container *c, int64_t at)
{
    const char *cell = c->cell;
    for (size_t i = 0; i < b->count; i++) {
        const struct event *e = b->changes[i].event;
        if (b->changes[i].at > at + CHECK_S) {
            continue;
        }
        if (strcmp(e->record, "actual") == 0 && e->instance == c->instance) {
            cell = e->cell;
            if (e->presence != 0) {
                return true;
            }
        }
    }
    for (size_t i = 0; i < b->count && cell[0]; i++) {
        const struct event *e = b->changes[i].event;
        if (strcmp(e->record, "cell") == 0 && e->cell == cell && b->changes[i].at <= at + CHECK_S &&
            b->changes[i].at >= c->begun && strcmp(e->state, "LOST") == 0) {
            return true;
        }
    }
    return false;
}

static void judge_pair(const struct history *h, const struct board *b, const struct container *x,
                       const struct container *y, struct verdict *v)
{
    const struct container *old = x->begun <= y->begun ? x : y, *new = old == x ? y : x;
    struct place lines[2] = {old->place, new->place};
    if (old->seen <= new->begun || old->seen < new->first) {
        return; /* not at the same time, for sure */
    }
    if (!was_released(b, old, new->begun) && !chaos_check_was_restored(h, old->begun, new->begun)) {
        verdict_add(v, PROMISE_S1, lines, 2,
                    "%.90s/%d: %.50s was started while %.50s ran, which was neither SUSPECT nor "
                    "EVACUATING",
                    new->process, new->index, new->instance, old->instance);
    } else {
        int64_t until = old->seen < new->seen ? old->seen : new->seen;
        int64_t from = until - CHECK_RECONCILES_S * CHECK_S;
        if (from > new->first && chaos_check_is_calm(h, from, until)) {
            verdict_add(v, PROMISE_S1, lines, 2, "%.90s/%d ran twice for longer than %d s of calm",
                        new->process, new->index, CHECK_RECONCILES_S);
        }
    }
}

static bool is_of_run(const struct history *h, const struct container *c)
{
    const char *name = c->process[0] ? c->process : c->task;
    return !h->run[0] || strncmp(name, h->run, strlen(h->run)) == 0;
}

void chaos_check_containers(const struct history *h, const struct board *b, struct verdict *v)
{
    for (size_t i = 0; i < h->containers_count; i++) {
        const struct container *x = &h->containers[i];
        if (!is_of_run(h, x)) {
            continue;
        }
        v->looked[x->task[0] ? PROMISE_S3 : PROMISE_S1]++;
        for (size_t k = i + 1; k < h->containers_count; k++) {
            const struct container *y = &h->containers[k];
            if (x->task[0] && x->task == y->task) {
                verdict_add(v, PROMISE_S3, (struct place[]){x->place, y->place}, 2,
                            "task %.90s was executed twice: processes %d and %d", x->task, x->pid,
                            y->pid);
            } else if (x->process[0] && x->process == y->process && x->index == y->index) {
                judge_pair(h, b, x, y, v);
            }
        }
    }
}

/* ---- Orphans ---- */

/* Whether some record of the board bears the instance at `at`. */
static bool has_record(const struct board *b, const struct container *c, int64_t at)
{
    bool has = false;
    for (size_t i = 0; i < b->count; i++) {
        const struct change *n = b->keys[i];
        bool last = i + 1 == b->count || b->keys[i + 1]->event->key != n->event->key ||
                    b->keys[i + 1]->at > at;
        if (n->at <= at && last && n->event->what == EVENT_PUT) {
            bool task = c->task[0] && n->event->process == c->task;
            has = has || task || (n->event->instance[0] && n->event->instance == c->instance);
        }
    }
    return has;
}

/* When the last explicit request that may have ended it began; HISTORY_NEVER = there is none. */
static int64_t removed_at(const struct history *h, const struct container *c)
{
    for (size_t i = 0; i < h->calls_count; i++) {
        const struct call *call = &h->calls[i];
        if (call->op == CALL_REMOVE && call->result == CALL_OK &&
            strcmp(call->key + strcspn(call->key, "/") + 1, c->process) == 0) {
            return call->end;
        }
    }
    return HISTORY_NEVER;
}

static void judge_orphan(const struct history *h, const struct board *b, const struct container *c,
                         struct verdict *v)
{
    int64_t removed = c->process[0] ? removed_at(h, c) : HISTORY_NEVER;
    int64_t late = removed == HISTORY_NEVER ? 0 : removed + CHECK_STOP_S * CHECK_S;
    if (late) {
        v->looked[PROMISE_L3]++;
    }
    if (late && c->seen > late && chaos_check_is_calm(h, removed, late)) {
        verdict_add(v, PROMISE_L3, &c->place, 1, "%.90s/%d still ran %d s after its removal",
                    c->process, c->index, CHECK_STOP_S);
    }
    int64_t middle = c->seen - CHECK_RECONCILES_S * CHECK_S;
    if (b->count && middle > c->first && chaos_check_is_calm(h, middle, c->seen) &&
        !has_record(b, c, middle) && !has_record(b, c, c->seen)) {
        verdict_add(v, PROMISE_S13, &c->place, 1,
                    "the container of %.90s (%.50s) had no record for %d s of calm",
                    c->process[0] ? c->process : c->task, c->instance, CHECK_RECONCILES_S);
    }
}

static bool ran_then(const struct history *h, const char *instance, int64_t at)
{
    for (size_t i = 0; i < h->containers_count; i++) {
        const struct container *c = &h->containers[i];
        if (c->instance == instance && c->begun <= at && (c->gone > at)) {
            return true;
        }
    }
    return false;
}

/* The last look while the workload lasts: then it takes its apps away, and no feed tells of it. */
static int64_t last_look(const struct history *h)
{
    size_t n = h->looks_count;
    while (n && h->end && h->looks[n - 1] > h->end) {
        n--;
    }
    return n ? h->looks[n - 1] : 0;
}

/* RUNNING at the last look, and for as long before, without a container. */
static void judge_phantoms(const struct history *h, const struct board *b, struct verdict *v)
{
    int64_t at = last_look(h);
    int64_t from = at - CHECK_RECONCILES_S * CHECK_S;
    if (!at || !chaos_check_is_calm(h, from, at)) {
        return;
    }
    for (size_t i = 0; i < b->count; i++) {
        const struct change *n = b->keys[i];
        const struct event *e = n->event;
        bool last = i + 1 == b->count || b->keys[i + 1]->event->key != e->key;
        bool ours = strcmp(e->record, "actual") == 0 && h->run[0] &&
                    strncmp(e->process, h->run, strlen(h->run)) == 0 &&
                    !strstr(e->process, "-ghost");
        if (ours && last && n->at < from && e->what == EVENT_PUT &&
            strcmp(e->state, "RUNNING") == 0 && !ran_then(h, e->instance, at)) {
            verdict_add(v, PROMISE_S13, &e->place, 1,
                        "%.90s/%d is RUNNING as %.50s for %d s without a container", e->process,
                        e->index, e->instance, CHECK_RECONCILES_S);
        }
    }
}

void chaos_check_orphans(const struct history *h, const struct board *b, struct verdict *v)
{
    for (size_t i = 0; i < h->containers_count; i++) {
        if (is_of_run(h, &h->containers[i])) {
            v->looked[PROMISE_S13]++;
            judge_orphan(h, b, &h->containers[i], v);
        }
    }
    judge_phantoms(h, b, v);
}
