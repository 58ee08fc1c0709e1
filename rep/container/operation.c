#include "rep/container/operation.h"

#include "rep/container/back_off.h"
#include "rep/container/call.h"
#include "rep/container/steps.h"
#include "rep/inside.h"

#include <assert.h>
#include <signal.h>

struct verb_call *operation_verb(struct rep *r, struct container *c, enum container_op op,
                                 struct effects *out)
{
    static const struct {
        enum verb verb;
        int64_t timeout_ns;
    } verbs[] = {
        [OP_PREPARE] = {VERB_PREPARE, PREPARE_TIMEOUT_NS},
        [OP_START] = {VERB_START, START_TIMEOUT_NS},
        [OP_SIGNAL] = {VERB_SIGNAL, SIGNAL_TIMEOUT_NS},
        [OP_NOTE] = {VERB_NOTE, NOTE_TIMEOUT_NS},
        [OP_READ] = {VERB_READ, READ_TIMEOUT_NS},
        [OP_RUN] = {VERB_RUN, START_TIMEOUT_NS},
        [OP_FORGET] = {VERB_FORGET, NOTE_TIMEOUT_NS},
        [OP_PORTS] = {VERB_PORTS, PORTS_TIMEOUT_NS},
        [OP_REMOVE] = {VERB_REMOVE, REMOVE_TIMEOUT_NS},
    };
    assert(c->op == OP_NONE && op >= OP_PREPARE && op <= OP_REMOVE);
    struct verb_call *call = container_call(r, c, verbs[op].verb, verbs[op].timeout_ns, out);
    c->op = op;
    c->op_id = call->id;
    c->touched = r->next_id;
    return call;
}

void operation_retry_later(struct rep *r, struct container *c)
{
    c->failures++;
    c->retry_ns = r->now.mono_ns + back_off_ns(&r->random, c->failures);
    assert(c->retry_ns > r->now.mono_ns);
    container_due(c, c->retry_ns);
}

bool operation_must_wait(struct rep *r, struct container *c)
{
    if (r->now.mono_ns < c->retry_ns) {
        container_due(c, c->retry_ns);
        return true;
    }
    return false;
}

/* After the wait of what has routes TERM, after the grace KILL, and KILL again: a listing tells if
 * its end was missed. */
void operation_signal(struct rep *r, struct container *c, struct effects *out)
{
    assert((container_stop_asked(c) && container_has_begun(c)) || checks_failed(c));
    if (container_has_steps(c)) {
        return; /* they are cut (steps.h) */
    }
    if (container_drains(c)) {
        container_due(c, c->drained_ns);
        return;
    }
    if (c->signals > 0 && r->now.mono_ns < c->kill_ns) {
        container_due(c, c->kill_ns);
        return;
    }
    operation_verb(r, c, OP_SIGNAL, out)->signal = c->signals == 0 ? SIGTERM : SIGKILL;
    if (c->signals > 0) {
        listing_want(&r->listing);
    }
    c->signals++;
    c->kill_ns = r->now.mono_ns + r->config.stop_grace_ns;
    container_due(c, c->kill_ns);
}

void operation_launched(struct rep *r, struct container *c, const struct verb_answer *answer,
                        const char *start, struct effects *out)
{
    bool prepare = answer->verb == VERB_PREPARE;
    assert(prepare || answer->verb == VERB_START);
    if (answer->outcome == VERB_UNCERTAIN) {
        c->uncertain = c->phase == PHASE_INITIALIZING || c->phase == PHASE_CREATED;
        c->attempts++;
        listing_want(&r->listing);
    } else if (c->phase != (prepare ? PHASE_INITIALIZING : PHASE_CREATED)) {
        return; /* it ended meanwhile */
    } else if (answer->outcome == VERB_DONE && !prepare && container_has_steps(c)) {
        steps_go(c);
    } else if (answer->outcome == VERB_DONE) {
        if (prepare) {
            container_transition(c, PHASE_TRIGGER_PREPARED, "prepared", out);
        } else {
            checks_begun(r, c, "started", out);
        }
    } else {
        container_never_ran(c,
                            arena_printf(out->arena, "failed to %s container: %s",
                                         prepare ? "create" : start, answer->text),
                            out);
    }
}

void operation_remove(struct rep *r, const char *guid, struct effects *out)
{
    struct verb_call *call = &effects_add(out, EFFECT_VERB)->verb;
    *call = (struct verb_call){.id = r->next_id++,
                               .verb = VERB_REMOVE,
                               .guid = arena_strdup(out->arena, guid),
                               .deadline_ns = r->now.mono_ns + REMOVE_TIMEOUT_NS};
}
