#include "rep/listing.h"

#include "rep/container/back_off.h"
#include "rep/container/note.h"
#include "rep/container/operation.h"
#include "rep/container/room.h"
#include "rep/container/steps.h"
#include "rep/inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How long the driver may take to list. */
#define LIST_TIMEOUT_NS (10 * SECOND_NS)

void listing_step(struct rep *r, struct effects *out)
{
    struct listing *l = &r->listing;
    if (l->verb_id) {
        return;
    }
    int64_t at_ns = l->next_ns;
    if (l->wanted && l->failures == 0) {
        at_ns = earlier_ns(at_ns, l->asked_ns + LISTING_GAP_NS);
    }
    if (r->now.mono_ns < at_ns) {
        effects_due(out, at_ns);
        return;
    }
    l->wanted = false;
    l->asked_ns = r->now.mono_ns;
    l->verb_id = r->next_id++;
    struct verb_call *call = &effects_add(out, EFFECT_VERB)->verb;
    *call = (struct verb_call){
        .id = l->verb_id, .verb = VERB_LIST, .deadline_ns = r->now.mono_ns + LIST_TIMEOUT_NS};
}

/* ---- A container that the rep does not know -------------------------------------------------- */

static void remove_unknown(struct rep *r, const struct container_status *s, const char *why,
                           struct effects *out)
{
    if (out->count >= EFFECTS_MAX / 2) {
        listing_want(&r->listing); /* enough for this step: the next listing names it again */
        return;
    }
    effects_log(out, LOG_ERROR_LEVEL, "container without a readable note is removed",
                "container=%s why=\"%s\"", s->guid,
                why); /* an instance's or a task's: who can tell */
    operation_remove(r, s->guid, out);
}

/* Its start may be an earlier rep's, with nobody left to end one that hangs. */
static void found_starting(struct rep *r, struct container *c, struct effects *out)
{
    if (!c->starting_until_ns) {
        c->starting_until_ns = r->now.mono_ns + START_TIMEOUT_NS;
    }
    if (r->now.mono_ns < c->starting_until_ns || c->phase == PHASE_RUNNING) {
        listing_want(&r->listing);
    } else {
        container_complete(c, PHASE_TRIGGER_FAILED, LAUNCH_UNANSWERED, out);
    }
}

/* Whose steps had not all begun, or who was not healthy yet, is starting still. */
static void adopt_running(struct rep *r, struct container *c, const struct container_status *s,
                          struct effects *out)
{
    step_facts_learn(c, s);
    bool runs = !container_has_steps(c) || steps_adopt(r, c);
    runs = runs && checks_adopt(r, c, out);
    container_transition(
        c, runs ? PHASE_TRIGGER_ADOPTED_RUNNING : PHASE_TRIGGER_ADOPTED_STARTING, "adopted", out);
}

/* The note alone: whoever had it goes on from it. */
static void adopt_kept(struct rep *r, const struct container_status *s, Rep__Note *note,
                       struct effects *out)
{
    const struct container_kind *kind = container_kind_of(&r->containers, note);
    if (kind->found_kept) {
        kind->found_kept(r, note);
    } else {
        remove_unknown(r, s, "a note that nobody keeps", out);
    }
    rep__note__free_unpacked(note, NULL);
}

static void adopt(struct rep *r, const struct container_status *s, struct effects *out)
{
    Rep__Note *note;
    struct err err;
    if (note_read(s->note, s->guid, &note, &err) < 0) {
        remove_unknown(r, s, err.text, out);
        return;
    }
    if (s->state == CONTAINER_KEPT) {
        adopt_kept(r, s, note, out);
        return;
    }
    struct container *c = container_add(&r->containers, note);
    room_adopt(r, c);
    container_addressed(c, s->address);
    c->made = true;
    c->start_judged = true;
    c->start_asked_ns = r->now.mono_ns; /* at the latest */
    c->touched = r->next_id;
    if (c->kind->found) {
        c->kind->found(c, s->state);
    }
    switch (s->state) {
    case CONTAINER_PREPARED:
        step_facts_learn(c, s);
        container_transition(c, PHASE_TRIGGER_ADOPTED_PREPARED, "adopted", out);
        break;
    case CONTAINER_STARTING:
        container_transition(c, PHASE_TRIGGER_ADOPTED_STARTING, "adopted", out);
        c->uncertain = true;
        found_starting(r, c, out);
        break;
    case CONTAINER_RUNNING:
        adopt_running(r, c, s, out);
        break;
    case CONTAINER_EXITED:
        container_exited(c, PHASE_TRIGGER_ADOPTED_ENDED, s, out);
        break;
    case CONTAINER_KEPT:
        break; /* above */
    }
    c->kind->adopted(c, s, out);
    drain_adopted(r, c, out);
}

/* ---- A container that the rep knows ---------------------------------------------------------- */

/* What the listing says of the container was true after all that the rep did with it. */
static bool rested(const struct container *c, uint64_t listing_id)
{
    bool idle = c->op == OP_NONE || c->op == OP_MOVE || c->op == OP_FETCH;
    return idle && c->pull_id == 0 && c->touched <= listing_id;
}

static bool is_alive(const struct container *c)
{
    return c->phase == PHASE_INITIALIZING || c->phase == PHASE_CREATED || c->phase == PHASE_RUNNING;
}

static void found_running(struct container *c, struct effects *out)
{
    c->uncertain = false;
    if (container_has_steps(c) && c->phase != PHASE_RUNNING) {
        if (c->phase == PHASE_INITIALIZING) {
            container_transition(c, PHASE_TRIGGER_PREPARED, "listed as running", out);
        }
        steps_go(c);
        return;
    }
    if (c->phase == PHASE_INITIALIZING) {
        container_transition(c, PHASE_TRIGGER_PREPARED, "listed as running", out);
    }
    if (c->phase == PHASE_CREATED) {
        checks_begun(c->table->rep, c, "listed as running", out);
    }
}

/* Its end, of which the driver's event should have come. */
static void note_late(struct container *c, struct effects *out)
{
    if (!c->uncertain && c->phase == PHASE_RUNNING && container_may_tell(c, out)) {
        effects_log(out, LOG_WARN_LEVEL, "a listing found an end that no event had reported",
                    "instance_guid=%s", container_guid(c));
    }
}

static void missing(struct container *c, struct effects *out)
{
    container_touch(c);
    if (c->phase == PHASE_INITIALIZING) {
        c->uncertain = false; /* PREPARE left nothing behind: once more */
    } else {
        c->process_gone = true;
        container_complete(c, PHASE_TRIGGER_ENDED, "the container disappeared", out);
    }
}

static void found(struct rep *r, struct container *c, const struct container_status *s,
                  struct effects *out)
{
    container_touch(c);
    container_addressed(c, s->address);
    step_facts_learn(c, s); /* it is touched already */
    if (s->state != CONTAINER_STARTING) {
        c->starting_until_ns = 0;
    }
    switch (s->state) {
    case CONTAINER_PREPARED:
        if (c->phase == PHASE_INITIALIZING && c->uncertain) {
            container_transition(c, PHASE_TRIGGER_PREPARED, "listed as prepared", out);
        }
        c->uncertain = false;
        break;
    case CONTAINER_STARTING:
        found_starting(r, c, out);
        break;
    case CONTAINER_RUNNING:
        found_running(c, out);
        break;
    case CONTAINER_EXITED:
        note_late(c, out);
        container_exited(c, PHASE_TRIGGER_ENDED, s, out);
        break;
    case CONTAINER_KEPT:
        missing(c, out);
        break;
    }
}

static int status_compare(const void *guid, const void *status)
{
    return strcmp(guid, ((const struct container_status *)status)->guid);
}

static void judge_known(struct rep *r, const struct verb_answer *answer, struct effects *out)
{
    MAP_EACH(&r->containers.by_guid, n)
    {
        struct container *c = map_value(n);
        if (!c->made || c->deleting || !is_alive(c) || !rested(c, answer->id)) {
            continue;
        }
        const struct container_status *s = NULL;
        if (answer->container_count > 0) {
            s = bsearch(container_guid(c), answer->containers, answer->container_count, sizeof(*s),
                        status_compare);
        }
        if (s) {
            found(r, c, s, out);
        } else {
            note_late(c, out);
            missing(c, out);
        }
    }
}

/* A container that this rep just had removed may still be in an older listing: then the next one
 * tells who is really unknown. */
static void adopt_unknown(struct rep *r, const struct verb_answer *answer, struct effects *out)
{
    if (r->listing.removed_id > answer->id) {
        listing_want(&r->listing);
        return;
    }
    for (size_t i = 0; i < answer->container_count; i++) {
        const struct container_status *s = &answer->containers[i];
        if (!container_find(&r->containers, s->guid)) {
            adopt(r, s, out);
        }
    }
}

void listing_answer(struct rep *r, const struct verb_answer *answer, struct effects *out)
{
    struct listing *l = &r->listing;
    if (answer->id != l->verb_id) {
        return;
    }
    l->verb_id = 0;
    assert(answer->verb == VERB_LIST);
    if (answer->outcome != VERB_DONE) {
        l->failures++;
        l->next_ns = r->now.mono_ns + back_off_ns(&r->random, l->failures);
        r->containers.version++;
        effects_log(out, LOG_WARN_LEVEL, "containers not listed", "failures=%u why=\"%s\"",
                    l->failures, answer->text);
        return;
    }
    bool was_good = listing_is_good(l);
    l->failures = 0;
    l->next_ns = r->now.mono_ns + r->config.reconcile_interval_ns;
    judge_known(r, answer, out);
    adopt_unknown(r, answer, out);
    if (!l->adopted) {
        l->adopted = true;
        r->containers.version++;
        effects_log(out, LOG_INFO_LEVEL, "adoption ended", "containers=%zu",
                    r->containers.by_guid.count);
    }
    if (was_good) {
        pass_again(&r->pass);
    } else {
        pass_call(&r->pass); /* what waited for a listing */
    }
}
