#include "common/client/liveness_report.h"

#include "common/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct voice {
    bool changed;              /* its record did, since we listen */
    int64_t changed_ns;        /* ticked time when it did last */
    struct silence_list named; /* those that it was the last to name */
};

void liveness_report_init(struct liveness_report *h)
{
    *h = (struct liveness_report){0};
    map_init(&h->voices);
    for (size_t i = 0; i < LIVENESS_REPORT_KIND_COUNT; i++) {
        map_init(&h->names[i].by_name);
        TAILQ_INIT(&h->names[i].list);
    }
}

void liveness_report_done(struct liveness_report *h)
{
    map_done(&h->voices, free);
    for (size_t i = 0; i < LIVENESS_REPORT_KIND_COUNT; i++) {
        map_done(&h->names[i].by_name, free);
        TAILQ_INIT(&h->names[i].list);
    }
}

/* ---- Who is expected ------------------------------------------------------------------------- */

static void leave_voice(struct silence *s)
{
    if (s->voice) {
        TAILQ_REMOVE(&s->voice->named, s, named);
        s->voice = NULL;
    }
}

/* Its window begins: the clock never falls, so the last of the list is the shortest silence. */
static void begin_window(struct liveness_report *h, struct silence *s)
{
    assert(s->since_ns <= h->counted_ns);
    s->since_ns = h->counted_ns;
    TAILQ_REMOVE(&s->of->list, s, link);
    TAILQ_INSERT_TAIL(&s->of->list, s, link);
}

void liveness_report_expect(struct liveness_report *h, enum liveness_report_kind kind,
                            const char *name, uint64_t incarnation)
{
    struct liveness_report_names *n = &h->names[kind];
    struct silence *s = map_get(&n->by_name, name);
    if (s && s->incarnation == incarnation) {
        return;
    }
    if (!s) {
        size_t size = strlen(name) + 1;
        s = mem_zeroed(sizeof(*s) + size);
        memcpy(s->name, name, size);
        s->of = n;
        map_put(&n->by_name, name, s);
        TAILQ_INSERT_TAIL(&n->list, s, link);
    }
    leave_voice(s);
    s->incarnation = incarnation;
    s->heard = 0;
    s->excused = false;
    begin_window(h, s);
}

void liveness_report_forget(struct liveness_report *h, enum liveness_report_kind kind,
                            const char *name)
{
    struct liveness_report_names *n = &h->names[kind];
    struct silence *s = map_remove(&n->by_name, name);
    if (s) {
        leave_voice(s);
        TAILQ_REMOVE(&n->list, s, link);
        free(s);
    }
}

/* ---- What the bbs tell ----------------------------------------------------------------------- */

static void hear(struct liveness_report *h, enum liveness_report_kind kind, struct voice *v,
                 const char *name, uint64_t incarnation)
{
    struct silence *s = map_get(&h->names[kind].by_name, name);
    if (!s || s->incarnation != incarnation) {
        return;
    }
    leave_voice(s);
    s->voice = v;
    TAILQ_INSERT_TAIL(&v->named, s, named);
    s->excused = false;
    s->heard++;
    begin_window(h, s);
}

/* A new raft term: etcd stood still for its election, and whoever writes through it did too. The
 * first one heard of says nothing. */
static void hear_raft_term(struct liveness_report *h, uint64_t term)
{
    if (term > h->raft_term) {
        if (h->raft_term) {
            liveness_report_restart(h);
        }
        h->raft_term = term;
    }
}

static struct voice *voice_of(struct liveness_report *h, const char *key)
{
    struct voice *v = map_get(&h->voices, key);
    if (!v) {
        v = mem_zeroed(sizeof(*v));
        TAILQ_INIT(&v->named);
        map_put(&h->voices, key, v);
    }
    return v;
}

void liveness_report_heartbeat(struct liveness_report *h, const char *key,
                               const Board__HeartbeatRecord *heartbeat)
{
    struct voice *v = voice_of(h, key);
    v->changed = true;
    v->changed_ns = h->ticked_ns;
    hear_raft_term(h, heartbeat->raft_term);
    for (size_t i = 0; i < heartbeat->n_cells; i++) {
        hear(h, LIVENESS_REPORT_CELL, v, heartbeat->cells[i]->cell_id,
             heartbeat->cells[i]->incarnation);
    }
    for (size_t i = 0; i < heartbeat->n_leaders; i++) {
        hear(h, LIVENESS_REPORT_LEADER, v, heartbeat->leaders[i]->role,
             (uint64_t)heartbeat->leaders[i]->term);
    }
    for (size_t i = 0; i < heartbeat->n_sites; i++) {
        hear(h, LIVENESS_REPORT_SITE, v, heartbeat->sites[i]->cloudlet,
             heartbeat->sites[i]->session);
    }
}

void liveness_report_read(struct liveness_report *h, const char *key,
                          const Board__HeartbeatRecord *heartbeat)
{
    voice_of(h, key);
    hear_raft_term(h, heartbeat->raft_term);
}

/* It may have been the only one that heard them. */
static void lose_voice(struct liveness_report *h, struct voice *v)
{
    struct silence *s;
    while ((s = TAILQ_FIRST(&v->named))) {
        leave_voice(s);
        if (!s->excused) {
            s->excused = true;
            begin_window(h, s);
        }
    }
}

void liveness_report_gone(struct liveness_report *h, const char *key)
{
    struct voice *v = map_remove(&h->voices, key);
    if (v) {
        lose_voice(h, v);
        free(v);
    }
}

void liveness_report_reset(struct liveness_report *h)
{
    MAP_EACH(&h->voices, n)
    {
        struct voice *v = map_value(n);
        while (!TAILQ_EMPTY(&v->named)) {
            leave_voice(TAILQ_FIRST(&v->named));
        }
    }
    map_done(&h->voices, free);
    h->counting = false;
    h->raft_term = 0;
    liveness_report_restart(h);
}

/* ---- What time tells ------------------------------------------------------------------------- */

void liveness_report_restart(struct liveness_report *h)
{
    h->restarted_ns = h->counted_ns;
}

static bool counts(const struct liveness_report *h, const struct voice *v)
{
    return v->changed && h->ticked_ns - v->changed_ns < LIVENESS_REPORT_BBS_COUNTS_NS;
}

void liveness_report_tick(struct liveness_report *h, int64_t now_ns, bool current)
{
    int64_t passed_ns = now_ns - h->looked_ns;
    assert(passed_ns >= 0);
    int64_t tick_ns = earlier_ns(passed_ns, LIVENESS_REPORT_TICK_MAX_NS);
    h->looked_ns = now_ns;
    h->ticked_ns += tick_ns;
    h->counting = false;
    MAP_EACH(&h->voices, n)
    {
        h->counting = h->counting || counts(h, map_value(n));
    }
    if (h->counting) {
        h->counted_ns += tick_ns;
    }
    if (passed_ns > LIVENESS_REPORT_STANDSTILL_NS || !current) {
        liveness_report_restart(h);
    }
    MAP_EACH(&h->voices, n)
    {
        if (!counts(h, map_value(n))) {
            lose_voice(h, map_value(n));
        }
    }
}

int64_t silence_ns(const struct liveness_report *h, const struct silence *s)
{
    assert(h->counted_ns >= s->since_ns && h->counted_ns >= h->restarted_ns);
    return h->counted_ns - (s->since_ns > h->restarted_ns ? s->since_ns : h->restarted_ns);
}

int64_t liveness_report_silent_ns(const struct liveness_report *h, enum liveness_report_kind kind,
                                  const char *name)
{
    const struct silence *s = liveness_report_find(h, kind, name);
    return s ? silence_ns(h, s) : 0;
}

const struct silence *liveness_report_find(const struct liveness_report *h,
                                           enum liveness_report_kind kind, const char *name)
{
    return map_get(&h->names[kind].by_name, name);
}

const struct silence *liveness_report_longest(const struct liveness_report *h,
                                              enum liveness_report_kind kind)
{
    return TAILQ_FIRST(&h->names[kind].list);
}
