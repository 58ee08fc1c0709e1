#include "test/chaos/judge/checks.h"

#include <string.h>

#define IS(text, word) (strcmp(text, word) == 0)

/* ---- S2, S10 ---- */

static void judge_attempts(const struct history *h, struct verdict *v)
{
    for (size_t i = 0; i < h->attempts_count; i++) {
        const struct attempt *a = &h->attempts[i];
        v->looked[PROMISE_S2]++;
        if (!IS(a->result, "refused") && !IS(a->result, "unknown")) {
            verdict_add(v, PROMISE_S2, &a->place, 1, "a move of somebody %.40s was %.40s", a->probe,
                        a->result);
        }
    }
}

static void judge_term(const struct change *c, struct verdict *v)
{
    const struct event *e = c->event, *before = c->before ? c->before->event : NULL;
    v->looked[PROMISE_S2]++;
    if (before && before->what == EVENT_PUT && e->what == EVENT_PUT && e->made <= before->made) {
        verdict_add(v, PROMISE_S2, (struct place[]){before->place, e->place}, 2,
                    "the lock of the %.40s was written again within a term", e->process);
    }
}

/* ---- S12, S4: from a state to the next ---- */

struct step {
    const char *from, *to;
};

/* Of the ORDINARY record of an instance, and of a task: the steps that no row of their lifecycles
 * has. "" is: no record. */
static const struct step instance_never[] = {
    {"RUNNING", "CLAIMED"}, {"CRASHED", "CLAIMED"}, {"", "CLAIMED"}, {NULL, NULL}};
static const struct step task_never[] = {
    {"", "Running"},          {"", "Completed"},        {"", "Resolving"},
    {"Pending", "Resolving"}, {"Pending", ""},          {"Running", "Resolving"},
    {"Running", ""},          {"Completed", "Pending"}, {"Completed", "Running"},
    {"Resolving", "Pending"}, {"Resolving", "Running"}, {NULL, NULL}};

static const char *state_of(const struct change *c)
{
    return c->event->what == EVENT_GONE ? "" : c->event->state;
}

/* Whether some stream told each change between the two, or one after the other did. */
static bool was_watched(const struct history *h, const struct event *from, const struct event *to)
{
    int64_t known = from->revision; /* all up to it, and of it itself nothing that came later */
    for (bool more = true; more && known < to->revision;) {
        more = false;
        for (size_t i = 0; i < h->stretches_count; i++) {
            const struct stretch *s = &h->stretches[i];
            bool joins = s->first < known || (known == from->revision && s->first <= known);
            if (s->generation == to->generation && joins && s->last > known) {
                known = s->last;
                more = true;
            }
        }
    }
    return known >= to->revision;
}

/* With nothing known before, it is not judged, nor with a gap between: while no bbs told anything
 * the record may have gone through several states. */
static void judge_step(const struct history *h, const struct change *c, const struct step *never,
                       struct verdict *v)
{
    if (c->before && h->stretches_count && !was_watched(h, c->before->event, c->event)) {
        return;
    }
    v->looked[PROMISE_S12]++;
    for (; c->before && never->from; never++) {
        if (IS(state_of(c->before), never->from) && IS(state_of(c), never->to)) {
            verdict_add(v, PROMISE_S12, (struct place[]){c->before->event->place, c->event->place},
                        2, "%.100s went from %s to %s", c->event->key,
                        never->from[0] ? never->from : "none", never->to[0] ? never->to : "none");
        }
    }
}

static bool is_over(const char *state)
{
    return IS(state, "Completed") || IS(state, "Resolving");
}

static void judge_outcome(const struct change *c, struct verdict *v)
{
    const struct event *e = c->event, *before = c->before ? c->before->event : NULL;
    if (before && e->what == EVENT_PUT && before->what == EVENT_PUT && is_over(e->state) &&
        is_over(before->state)) {
        v->looked[PROMISE_S4]++;
        if (e->result != before->result) {
            verdict_add(v, PROMISE_S4, (struct place[]){before->place, e->place}, 2,
                        "task %.80s ended with \"%.40s\", and then with \"%.40s\"", e->process,
                        before->result, e->result);
        }
    }
}

/* ---- S8 ---- */

/* An explicit request about the process, which may have taken effect by `at`. */
static bool was_asked(const struct history *h, const char *process, int64_t at)
{
    for (size_t i = 0; i < h->calls_count && h->calls[i].begin <= at; i++) {
        const struct call *c = &h->calls[i];
        bool ends = c->op == CALL_REMOVE || c->op == CALL_UPDATE ||
                    (c->op == CALL_OTHER && strncmp(c->key, "ghost/", 6) == 0 && h->rest &&
                     c->begin >= h->rest);
        if (ends && strcmp(c->key + strcspn(c->key, "/") + 1, process) == 0) {
            return true;
        }
    }
    return false;
}

static void judge_stop(const struct history *h, const struct change *c, struct verdict *v)
{
    const struct event *e = c->event, *before = c->before ? c->before->event : NULL;
    bool ours = h->run[0] && strncmp(e->process, h->run, strlen(h->run)) == 0;
    bool ran = before && before->what == EVENT_PUT && before->instance[0] && !before->stopping;
    bool stops = e->what == EVENT_GONE || e->stopping;
    if (!ours || e->presence != 0 || e->domain != h->stale_domain) {
        return;
    }
    v->looked[PROMISE_S8]++;
    if (ran && stops && !was_asked(h, e->process, c->at)) {
        verdict_add(v, PROMISE_S8, (struct place[]){before->place, e->place}, 2,
                    "%.90s/%d was stopped: nobody asked for it, and its domain %.40s is not fresh",
                    e->process, e->index, e->domain);
    }
}

/* ---- S9 ---- */

static void judge_stretch(const struct board *b, const struct stretch *s, struct verdict *v)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct change *c = &b->changes[i];
        const struct event *e = c->event;
        if (e->generation != s->generation || e->revision <= s->first || e->revision >= s->last) {
            continue;
        }
        v->looked[PROMISE_S9]++;
        if (!(c->told >> s->bbs & 1)) {
            verdict_add(v, PROMISE_S9, (struct place[]){e->place, s->place}, 2,
                        "a stream left out revision %ld of %.100s, and told of no gap",
                        (long)e->revision, e->key);
        }
    }
}

/* After a break a stream goes on where it was: at most its last revision comes again. */
static void judge_rise(const struct history *h, struct verdict *v)
{
    struct {
        int64_t revision;
        int reset;
        struct place place;
    } last[64] = {{0}};
    for (size_t i = 0; i < h->events_count; i++) {
        const struct event *e = &h->events[i];
        if (e->what == EVENT_SNAPSHOT) {
            continue;
        }
        v->looked[PROMISE_S9]++;
        if (last[e->bbs].reset == e->reset && e->revision < last[e->bbs].revision) {
            verdict_add(v, PROMISE_S9, (struct place[]){last[e->bbs].place, e->place}, 2,
                        "a stream fell from revision %ld to %ld", (long)last[e->bbs].revision,
                        (long)e->revision);
        }
        last[e->bbs].revision = e->revision;
        last[e->bbs].reset = e->reset;
        last[e->bbs].place = e->place;
    }
}

void chaos_check_board(const struct history *h, const struct board *b, struct verdict *v)
{
    judge_attempts(h, v);
    judge_rise(h, v);
    for (size_t i = 0; i < h->stretches_count; i++) {
        judge_stretch(b, &h->stretches[i], v);
    }
    for (size_t i = 0; i < b->count; i++) {
        const struct change *c = &b->changes[i];
        if (IS(c->event->record, "lead")) {
            judge_term(c, v);
        } else if (IS(c->event->record, "task")) {
            judge_step(h, c, task_never, v);
            judge_outcome(c, v);
        } else if (IS(c->event->record, "actual")) {
            if (c->event->presence == 0) {
                judge_step(h, c, instance_never, v);
            }
            judge_stop(h, c, v);
        }
    }
}

/* ---- L1 ---- */

static int running(const struct history *h, const struct board *b, const char *process, int64_t at)
{
    int count = 0;
    for (size_t i = 0; i < b->count; i++) {
        const struct change *n = b->keys[i];
        bool last = i + 1 == b->count || b->keys[i + 1]->event->key != n->event->key ||
                    b->keys[i + 1]->at > at;
        bool ours = IS(n->event->record, "actual") && n->event->process == process;
        if (ours && n->at <= at && last && n->event->what == EVENT_PUT && n->event->presence == 0 &&
            IS(n->event->state, "RUNNING") && !n->event->stopping) {
            count++;
        }
    }
    (void)h;
    return count;
}

void chaos_check_rest(const struct history *h, const struct board *b, struct verdict *v)
{
    if (!h->rest || !h->end || b->count == 0) {
        return; /* it was ended before it came to rest */
    }
    for (size_t i = 0; i < h->steadies_count; i++) {
        const struct steady *s = &h->steadies[i];
        int found = running(h, b, s->process, h->end);
        v->looked[PROMISE_L1]++;
        if (found != s->instances) {
            verdict_add(v, PROMISE_L1, NULL, 0,
                        "%.90s has %d of its %d instances RUNNING at the end", s->process, found,
                        s->instances);
        }
    }
}
