#include "converger/service_view.h"

#include "common/base/memory.h"
#include "common/lifecycle/actual_lrp.h"

#include <assert.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define WAKE_NS (1 * SECOND_NS)

void seats_init(struct seats *s)
{
    *s = (struct seats){.next_ns = NEVER_NS};
}

void seats_done(struct seats *s)
{
    free(s->list);
    seats_init(s);
}

/* ---- Of one seat ----------------------------------------------------------------------------- */

static bool is_routable(const Models__ActualLRP *m)
{
    return m->optional_routable_case == MODELS__ACTUAL_LRP__OPTIONAL_ROUTABLE__NOT_SET ||
           m->routable;
}

/* An instance that was ready goes on to be ready since then. */
static void learn(struct seat_record *r, int presence, const Models__ActualLRP *m,
                  struct sighting seen)
{
    const struct seat_record was = *r;
    int state = lifecycle_state(&actual_lrp_lifecycle, m->state);
    *r = (struct seat_record){.is = true,
                              .stopping = m->stopping,
                              .crashed = state == ACTUAL_LRP_CRASHED,
                              .running = state == ACTUAL_LRP_RUNNING,
                              .crash_count = m->crash_count,
                              .since_ns = m->since,
                              .known_ns = seen.since_ns,
                              .seen = seen};
    r->ready = r->running && is_routable(m) && presence != MODELS__ACTUAL_LRP__PRESENCE__SUSPECT;
    r->stamp_ns = m->routable_since > m->since ? m->routable_since : m->since;
    if (was.ready && r->ready && was.stamp_ns == r->stamp_ns) {
        r->seen = was.seen;
    }
    if (was.running && r->running && was.since_ns == r->since_ns) {
        r->known_ns = was.known_ns;
    }
}

static void wake_in(struct seat *seat, int64_t left_ns, struct moment now)
{
    if (left_ns > 0) {
        seat->ready_ns = earlier_ns(seat->ready_ns, now.mono_ns + left_ns);
    }
}

/* In how long it is ready: for people; for sure; perhaps. */
static void judge_record(struct seat *seat, const struct seat_record *r,
                         const struct seat_rules *rules, struct moment now)
{
    if (!r->is || !r->ready || r->stopping) {
        return;
    }
    int64_t shown_ns = stood_left_ns(rules->ready_ns, r->stamp_ns, r->seen, now);
    int64_t sure_ns = surely_left_ns(rules->ready_ns, r->seen, now);
    seat->available = seat->available || shown_ns <= 0;
    /* Written no sooner than `after_ns`; 0 = nothing is known. */
    int64_t costly_ns = r->seen.after_ns == 0 ? 0 : r->seen.after_ns + rules->ready_ns;
    seat->sure = seat->sure || sure_ns <= 0;
    seat->costly_ns = earlier_ns(seat->costly_ns, seat->available || seat->sure ? 0 : costly_ns);
    wake_in(seat, shown_ns, now);
    wake_in(seat, sure_ns, now);
}

static void judge(struct seat *seat, int32_t index, const struct seat_rules *rules,
                  struct moment now)
{
    bool any = false, kept = false;
    seat->available = seat->sure = seat->spent = false;
    seat->ready_ns = seat->costly_ns = NEVER_NS;
    for (size_t i = 0; i < SEAT_PRESENCES; i++) {
        any = any || seat->of[i].is;
        kept = kept || (seat->of[i].is && !seat->of[i].stopping);
    }
    seat->live = kept && index < rules->desired;
    seat->terminating = any && !seat->live;
    for (size_t i = 0; i < SEAT_PRESENCES && seat->live; i++) {
        const struct seat_record *r = &seat->of[i];
        judge_record(seat, r, rules, now);
        seat->spent = seat->spent || (r->crashed && rules->policy &&
                                      crash_wait_ns(rules->policy, r->crash_count) == NEVER_NS);
    }
    seat->waiting = seat->live && seat->ready_ns != NEVER_NS && !(seat->available && seat->sure);
    assert(!(seat->live && seat->terminating));
}

/* ---- Of all ---------------------------------------------------------------------------------- */

static void count(struct seats *s, const struct seat *seat, int32_t by)
{
    s->counts.live += by * seat->live;
    s->counts.terminating += by * seat->terminating;
    s->counts.available += by * seat->available;
    s->counts.sure += by * seat->sure;
    s->counts.spent += by * seat->spent;
    s->counts.waiting += by * seat->waiting;
    assert(s->counts.available <= s->counts.live && s->counts.sure <= s->counts.live);
}

static void judge_seat(struct seats *s, int32_t index, struct moment now)
{
    struct seat *seat = &s->list[index];
    count(s, seat, -1);
    judge(seat, index, &s->rules, now);
    count(s, seat, 1);
    if (seat->waiting) {
        s->next_ns = earlier_ns(s->next_ns, seat->ready_ns);
    }
}

static void judge_all(struct seats *s, struct moment now)
{
    s->next_ns = NEVER_NS;
    for (size_t i = 0; i < s->size; i++) {
        judge_seat(s, (int32_t)i, now);
    }
}

static void make_room(struct seats *s, int32_t index)
{
    if ((size_t)index < s->size) {
        return;
    }
    size_t size = (size_t)index + 1 > s->size * 2 ? (size_t)index + 1 : s->size * 2;
    struct seat *list = mem_array(size, sizeof(*list));
    if (s->size > 0) {
        memcpy(list, s->list, s->size * sizeof(*list));
    }
    free(s->list);
    s->list = list;
    s->size = size;
}

/* What people are told when the service fails: the last one outlives its record. */
static void note_crash(struct seats *s, int32_t index, const Models__ActualLRP *m)
{
    if (m->crash_reason[0]) {
        snprintf(s->crash, sizeof(s->crash), "/%d crashed %d time%s: %.100s", (int)index,
                 (int)m->crash_count, m->crash_count == 1 ? "" : "s", m->crash_reason);
    }
}

void seats_change(struct seats *s, int32_t index, int presence, const Models__ActualLRP *record,
                  struct sighting seen, struct moment now)
{
    if (index < 0 || index > SEAT_INDEX_MAX || presence < 0 || presence >= SEAT_PRESENCES ||
        (!record && (size_t)index >= s->size)) {
        return;
    }
    make_room(s, index);
    struct seat *seat = &s->list[index];
    struct seat_record *r = &seat->of[presence];
    s->counts.records += (record != NULL) - r->is;
    if (record) {
        learn(r, presence, record, seen);
        note_crash(s, index, record);
    } else {
        *r = (struct seat_record){0};
    }
    judge_seat(s, index, now);
    assert(s->counts.records >= 0);
}

void seats_rule(struct seats *s, struct seat_rules rules, struct moment now)
{
    bool same = s->rules.desired == rules.desired && s->rules.ready_ns == rules.ready_ns &&
                s->rules.policy == rules.policy;
    s->rules = rules;
    if (!same) {
        judge_all(s, now);
    }
}

void seats_wake(struct seats *s, struct moment now, bool all)
{
    s->now_ns = now.mono_ns;
    if (all || s->next_ns <= now.mono_ns) {
        judge_all(s, now);
        if (s->next_ns != NEVER_NS && s->next_ns < now.mono_ns + WAKE_NS) {
            s->next_ns = now.mono_ns + WAKE_NS;
        }
    }
}

const struct seat *seats_at(const struct seats *s, int32_t index)
{
    return index >= 0 && (size_t)index < s->size ? &s->list[index] : NULL;
}

bool seats_costly(const void *of, int32_t index)
{
    const struct seats *s = of;
    const struct seat *seat = seats_at(s, index);
    return seat && seat->live && s->now_ns >= seat->costly_ns;
}

/* ---- Restarts -------------------------------------------------------------------------------- */

static bool is_older(const struct seat *seat, struct seat_restart restart)
{
    const struct seat_record *r = &seat->of[MODELS__ACTUAL_LRP__PRESENCE__ORDINARY];
    return r->is && r->running && !r->stopping &&
           (r->since_ns < restart.at_ns || r->known_ns < restart.known_ns);
}

int32_t seats_to_retire(const struct seats *s, struct seat_restart restart)
{
    for (size_t i = 0; i < s->size; i++) {
        const struct seat *seat = &s->list[i];
        if (seat->live && seat->retired_for != restart.at_ns && is_older(seat, restart)) {
            return (int32_t)i;
        }
    }
    return -1;
}

void seats_retired(struct seats *s, int32_t index, struct seat_restart restart)
{
    assert(index >= 0 && (size_t)index < s->size);
    s->list[index].retired_for = restart.at_ns;
}
