#include "rep/container/steps.h"

#include "common/base/memory.h"
#include "rep/container/back_off.h"
#include "rep/container/call.h"
#include "rep/container/operation.h"
#include "rep/inside.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { SENT_TERM = 1, SENT_KILL = 2, SAID_BEGIN = 4, SAID_END = 8 };

static void look_from_now(struct container *c)
{
    assert(container_has_steps(c));
    if (!c->steps.done) {
        c->steps.done = mem_zeroed(c->about->n_steps);
    }
    c->steps.going = true;
    container_touch(c);
}

void steps_go(struct container *c)
{
    c->steps.inside = true;
    look_from_now(c);
}

static enum steps_where where(const struct container *c)
{
    return c->steps.inside ? STEPS_INSIDE : STEPS_BEFORE;
}

/* ---- Carrying out ---------------------------------------------------------------------------- */

static struct verb_call *step_verb(struct rep *r, struct container *c, enum verb verb,
                                   uint32_t step, struct effects *out)
{
    assert(c->steps.verb_id == 0);
    int64_t timeout_ns = verb == VERB_BEGIN ? START_TIMEOUT_NS : SIGNAL_TIMEOUT_NS;
    struct verb_call *call = container_call(r, c, verb, timeout_ns, out);
    call->step = step;
    c->steps.verb_id = call->id;
    return call;
}

static void cut(struct rep *r, struct container *c, uint32_t step, enum cut_why why,
                struct effects *out)
{
    step_verb(r, c, VERB_CUT, step, out)->why = why;
}

/* The first that has not gone out. */
static bool press(struct rep *r, struct container *c, const struct steps_orders *o,
                  struct effects *out)
{
    for (size_t i = 0; i < o->signal_count; i++) {
        const struct step_signal *s = &o->signals[i];
        uint8_t mark = s->kill ? SENT_KILL : SENT_TERM;
        if (!(c->steps.done[s->step] & mark)) {
            c->steps.done[s->step] |= mark;
            step_verb(r, c, VERB_SIGNAL, s->step, out)->signal = s->kill ? SIGKILL : SIGTERM;
            return true;
        }
    }
    return false;
}

static uint8_t said(const struct step_line *l)
{
    return l->at_end ? SAID_END : SAID_BEGIN;
}

static bool say(struct rep *r, struct container *c, const struct steps_orders *o,
                struct effects *out)
{
    for (size_t i = 0; i < o->line_count; i++) {
        const struct step_line *l = &o->lines[i];
        if (!(c->steps.done[l->step] & said(l))) {
            c->steps.done[l->step] |= said(l);
            struct verb_call *call = step_verb(r, c, VERB_SAY, l->step, out);
            call->text = arena_strdup(out->arena, l->text);
            call->source = arena_strdup(out->arena, l->source);
            call->to_stderr = l->to_stderr;
            return true;
        }
    }
    return false;
}

/* Its outcome is told to nobody before its last lines are in the log. */
static void end(struct container *c, const struct steps_orders *o, struct effects *out)
{
    if (!c->steps.inside) {
        container_never_ran(c, step_facts_text(out->arena, c, o), out);
        return;
    }
    container_complete(c, PHASE_TRIGGER_ENDED, step_facts_text(out->arena, c, o), out);
    container_ended(c, !o->failed);
}

static bool must_wait(struct rep *r, struct container *c)
{
    if (r->now.mono_ns < c->steps.retry_ns) {
        container_due(c, c->steps.retry_ns);
        return true;
    }
    return false;
}

static bool is_stopped(const struct container *c)
{
    for (size_t i = 0; i < c->steps.fact_count; i++) {
        if (c->steps.facts[i].kind == FACT_CUT && c->steps.facts[i].step == 0) {
            return true;
        }
    }
    return false;
}

/* Cuts are facts before anything else happens. */
static void next_verb(struct rep *r, struct container *c, const struct steps_orders *o,
                      struct effects *out)
{
    if (o->cut_count > 0) {
        cut(r, c, o->cuts[0].step, o->cuts[0].why, out);
    } else if (o->kill && !(c->steps.done[0] & SENT_KILL)) {
        c->steps.done[0] |= SENT_KILL;
        step_verb(r, c, VERB_SIGNAL, 0, out)->signal = SIGKILL;
    } else if (!press(r, c, o, out) && !say(r, c, o, out)) {
        if (o->over) {
            end(c, o, out);
        } else if (o->start) {
            c->steps.start = true;
        } else if (o->begin_count > 0) {
            step_verb(r, c, VERB_BEGIN, o->begins[0], out);
        }
    }
}

void steps_look(struct rep *r, struct container *c, struct effects *out)
{
    if (!c->steps.going || c->steps.verb_id || must_wait(r, c) ||
        (c->phase != PHASE_CREATED && c->phase != PHASE_RUNNING)) {
        return;
    }
    struct arena scratch; /* many are looked at in one step */
    arena_init(&scratch);
    struct steps_orders o = step_facts_orders(&scratch, c, r->now.mono_ns, where(c));
    if (o.ready && !o.over && c->phase == PHASE_CREATED && !container_stop_asked(c)) {
        checks_begun(r, c, "its steps have begun", out);
    }
    bool drains = container_drains(c);
    bool stop =
        (container_has_begun(c) && container_stop_asked(c) && !drains) || checks_end_it(c);
    if (stop && !o.over && !is_stopped(c)) {
        cut(r, c, 0, CUT_STOPPED, out);
    } else {
        next_verb(r, c, &o, out);
    }
    if (drains && c->phase != PHASE_COMPLETED) {
        container_due(c, c->drained_ns);
    }
    if (o.due_ns != NEVER_NS && c->phase != PHASE_COMPLETED) {
        container_due(c, o.due_ns);
    }
    arena_done(&scratch);
}

/* What it led to, if anything, was told before it. */
bool steps_answer(struct rep *r, struct container *c, const struct verb_answer *answer,
                  struct effects *out)
{
    struct container_steps *s = &c->steps;
    if (!s->verb_id || s->verb_id != answer->id) {
        return false;
    }
    s->verb_id = 0;
    container_touch(c);
    bool asks_again = answer->verb == VERB_BEGIN || answer->verb == VERB_CUT;
    if (answer->outcome == VERB_DONE || !asks_again) {
        s->failures = 0;
        s->retry_ns = 0;
        return true;
    }
    listing_want(&r->listing); /* its first process may have ended unseen */
    s->failures++;
    s->retry_ns = r->now.mono_ns + back_off_ns(&r->random, s->failures);
    /* Once is no wonder: its container may just have ended. */
    effects_log(out, s->failures > 1 ? LOG_WARN_LEVEL : LOG_INFO_LEVEL, "step not told",
                "%s verb=%s failures=%u why=\"%s\"", c->kind->words(c, out->arena),
                answer->verb == VERB_BEGIN ? "begin" : "cut", s->failures, answer->text);
    return true;
}

/* ---- After a restart ------------------------------------------------------------------------- */

/* What was due to be said by now was said, as far as anybody knows. */
static bool take_up(struct rep *r, struct container *c)
{
    SCOPED_ARENA(scratch);
    struct steps_orders o = step_facts_orders(&scratch, c, r->now.mono_ns, where(c));
    for (size_t i = 0; i < o.line_count && c->steps.fact_count > 0; i++) {
        c->steps.done[o.lines[i].step] |= said(&o.lines[i]);
    }
    return o.ready;
}

bool steps_adopt(struct rep *r, struct container *c)
{
    steps_go(c);
    return take_up(r, c);
}

bool steps_bring(struct rep *r, struct container *c)
{
    if (!container_has_dependencies(c) || c->steps.start || c->steps.inside) {
        return false;
    }
    if (!c->steps.going) {
        look_from_now(c);
        take_up(r, c);
    }
    return true;
}
