#include "rep/instance/instance.h"

#include "common/model/record.h"
#include "rep/container/back_off.h"
#include "rep/container/note.h"
#include "rep/container/operation.h"
#include "rep/inside.h"

#include <assert.h>

/* ---- What it is called ----------------------------------------------------------------------- */

static const char *words(const struct container *c, struct arena *a)
{
    return arena_printf(a, "instance_guid=%s", container_guid(c));
}

static const char *origin(const struct container *c, struct arena *a)
{
    return arena_printf(a, "process_guid=%s index=%d", c->about->key->process_guid,
                        (int)c->about->key->index);
}

static const char *label(const struct container *c, struct arena *a)
{
    return note_label(a, c->about->key->process_guid, c->about->key->index);
}

/* ---- The next step --------------------------------------------------------------------------- */

/* Carries out what the table said of it; to go on is the caller's. */
static void act(struct rep *r, struct container *c, struct harmony h, struct effects *out)
{
    bool known = c->failures > 0 || container_stop_asked(c); /* and is to be tried again */
    bool acts = harmony_is_move(h.action) || h.action == HARMONY_STOP || h.action == HARMONY_DELETE;
    if (c->late && acts && !known && !r->drain.on) {
        moves_tell_late("instance_guid", container_guid(c), h.action, out);
    }
    c->late = false;
    if (h.action == HARMONY_STOP) {
        container_stop(c, END_SHUTDOWN, h.why, out);
    } else if (h.action == HARMONY_DELETE) {
        container_abandon(c, h.why, out);
    } else if (h.action == HARMONY_KEEP &&
               (c->start_wanted || instance_is_told_otherwise(r, c))) {
        moves_want(r, c, HARMONY_START);
    } else if (harmony_is_move(h.action)) {
        moves_want(r, c, h.action);
    }
}

static const char *reserved(struct rep *r, struct container *c)
{
    if (container_stop_asked(c)) {
        return "stop asked before it began";
    }
    if (r->drain.on) {
        return "the cell is being emptied";
    }
    if (r->now.mono_ns >= c->reserved_until_ns) {
        return "the reservation was not used in time";
    }
    container_due(c, c->reserved_until_ns);
    moves_want(r, c, HARMONY_CLAIM);
    return NULL;
}

static void starting(struct rep *r, struct container *c, struct effects *out)
{
    struct harmony h = instance_judge(r, c);
    if (h.action == HARMONY_STOP) {
        act(r, c, h, out);
    }
    if (container_stop_asked(c) && container_has_begun(c)) {
        operation_signal(r, c, out); /* its record stays until it has ended */
    } else if (container_stop_asked(c) && !c->uncertain) {
        container_complete(c, PHASE_TRIGGER_ENDED, "stopped before it ran", out);
    } else if (h.action == HARMONY_GO_ON && checks_failed(c)) {
        operation_signal(r, c, out);
    } else if (h.action == HARMONY_GO_ON) {
        if (c->uncertain) {
            listing_want(&r->listing);
        } else if (!operation_must_wait(r, c)) {
            launch_continue(r, c, out);
        }
    } else {
        act(r, c, h, out);
    }
    if (c->uncertain) {
        listing_want(&r->listing);
    }
}

/* What changed is noted before anybody hears of it; when that fails, they hear of it nevertheless,
 * and it is tried again. True: it is under way. */
static bool note(struct rep *r, struct container *c, struct effects *out)
{
    if (!c->note_wanted || container_stop_asked(c) || c->uncertain) {
        return false;
    }
    if (r->now.mono_ns < c->note_retry_ns) {
        container_due(c, c->note_retry_ns);
        return false;
    }
    c->note_wanted = false;
    operation_verb(r, c, OP_NOTE, out)->note = note_pack(out->arena, c->about);
    return true;
}

/* Of what is ended for its checks nothing is told before its end: the crash says it all. */
static void running(struct rep *r, struct container *c, struct effects *out)
{
    if (!container_stop_asked(c) && !checks_failed(c)) {
        act(r, c, instance_judge(r, c), out);
    }
    if (container_stop_asked(c) || checks_failed(c)) {
        operation_signal(r, c, out);
    }
}

static void completed(struct rep *r, struct container *c, struct effects *out)
{
    assert(c->phase == PHASE_COMPLETED);
    if (c->end == END_DISOWNED) {
        container_delete(c, "another instance has its place", out);
        return;
    }
    struct harmony h = instance_judge(r, c);
    bool crashed = h.action == HARMONY_CRASH && !r->drain.on;
    if (!crashed || !host_ports_doubt(r, c, out)) {
        act(r, c, h, out);
    }
}

static const char *look_at(struct rep *r, struct container *c, struct effects *out)
{
    assert(c->op == OP_NONE && !c->about->task);
    switch (c->phase) {
    case PHASE_RESERVED:
        return reserved(r, c);
    case PHASE_INITIALIZING:
        starting(r, c, out);
        break;
    case PHASE_CREATED:
        if (!note(r, c, out)) {
            starting(r, c, out);
        }
        break;
    case PHASE_RUNNING:
        if (!note(r, c, out)) {
            running(r, c, out);
        }
        break;
    default:
        completed(r, c, out);
    }
    return NULL;
}

/* ---- The driver ------------------------------------------------------------------------------ */

/* A note that was not written is tried again. If the rep restarts before, the converger finds that
 * it shows what it did, and asks again. */
static void verb(struct rep *r, struct container *c, const struct verb_answer *answer,
                 struct effects *out)
{
    if (answer->verb == VERB_PREPARE || answer->verb == VERB_START) {
        launch_verb(r, c, answer, out);
    } else if (answer->verb == VERB_PORTS) {
        host_ports_answer(r, c, answer, out);
    } else if (answer->verb == VERB_NOTE && answer->outcome != VERB_DONE) {
        effects_log(out, LOG_WARN_LEVEL, "note not written", "%s why=\"%s\"",
                    words(c, out->arena), answer->text);
        c->note_wanted = true;
        c->note_failures++;
        c->note_retry_ns = r->now.mono_ns + back_off_ns(&r->random, c->note_failures);
        container_due(c, c->note_retry_ns);
    }
}

static void adopted(struct container *c, const struct container_status *s, struct effects *out)
{
    if (s->state == CONTAINER_PREPARED) {
        container_delete(c, "prepared by an earlier rep and never started", out);
    }
}

/* ---- Its record ------------------------------------------------------------------------------ */

/* Its containers are looked at, or that it has none. */
static void on_record(struct rep *r, const char *key, const struct followed *record,
                      struct effects *out)
{
    ProtobufCMessage *m;
    if (record_decode(out->arena, RECORD_ACTUAL, blob_bytes(record->record), &m, NULL) < 0) {
        return; /* a later version's: left alone */
    }
    const Models__ActualLRP *lrp = (const Models__ActualLRP *)m;
    struct container *c = NULL;
    if (lrp->actual_lrp_instance_key) {
        c = container_find(&r->containers, lrp->actual_lrp_instance_key->instance_guid);
    }
    if (c) {
        container_touch(c);
    } else {
        moves_look_at_stray(r, key, out);
    }
    if (lrp->actual_lrp_key) {
        c = container_of_index(&r->containers, lrp->actual_lrp_key->process_guid,
                               lrp->actual_lrp_key->index);
    }
    if (c) {
        container_touch(c);
    }
}

/* It may still be ours: the "No Container" rows. */
static const char *record_key(const struct rep *r, const struct container *c, struct arena *a)
{
    const Models__ActualLRP *record = NULL;
    knowledge_of(&r->knowledge, a, c->about->key, container_guid(c), &record);
    const Models__ActualLRPKey *key = record ? record->actual_lrp_key : NULL;
    return key ? key_actual(a, key->process_guid, key->index, (int)record->presence) : NULL;
}

static void moved(struct container *c, enum harmony_action action, struct effects *out)
{
    if (action == HARMONY_CLAIM && c->phase == PHASE_RESERVED) {
        container_transition(c, PHASE_TRIGGER_CLAIMED, "claimed", out);
    } else if (action == HARMONY_CRASH) {
        container_delete(c, "its crash is recorded", out);
    } else if (action == HARMONY_REMOVE) {
        container_delete(c, "its record is removed", out);
    } else if (action == HARMONY_EVACUATE_CLAIMED || action == HARMONY_EVACUATE_CRASHED ||
               action == HARMONY_EVACUATE_STOPPED) {
        container_delete(c, "the board knows that it is not here any more", out);
    }
}

/* The container is kept, or goes. */
static void evacuated(struct rep *r, struct container *c, bool keep, struct effects *out)
{
    if (keep) {
        c->kept_until_ns = r->now.mono_ns + EVACUATION_INTERVAL_NS;
        container_due(c, c->kept_until_ns);
    } else if (c->phase == PHASE_RUNNING && !container_stop_asked(c)) {
        act(r, c, (struct harmony){0, HARMONY_DELETE, "another has its place, or nobody wants it"},
            out);
    }
}

static void refused(struct rep *r, struct container *c, enum harmony_action action,
                    const Models__Error *error, struct effects *out)
{
    Models__Error__Type type = error ? error->type : MODELS__ERROR__TYPE__UnknownError;
    struct harmony h = instance_judge_refused(r, c, action, type);
    effects_log(out, LOG_INFO_LEVEL, "move refused",
                "instance_guid=%s move=%s error=%d row=%d then=%s why=\"%s\"", container_guid(c),
                harmony_action_name(action), (int)type, h.row, harmony_action_name(h.action),
                h.why);
    if (h.action == HARMONY_GO_ON && c->phase == PHASE_RESERVED) {
        container_transition(c, PHASE_TRIGGER_CLAIMED, "claimed", out);
    } else if (harmony_is_rest(h.action)) {
        c->start_wanted |= action == HARMONY_START;
        operation_retry_later(r, c);
    } else {
        act(r, c, h, out);
    }
}

static void settled(struct rep *r, struct container *c, const struct move_order *o,
                    const Board__MoveResult *result, struct effects *out)
{
    assert(harmony_is_move(o->action));
    instance_learn(r, out->arena, c->about->key, o, result);
    if (result->outcome == BOARD__MOVE_RESULT__OUTCOME__REFUSED) {
        refused(r, c, o->action, result->error, out);
        return;
    }
    c->failures = 0;
    c->retry_ns = 0;
    if (o->action == HARMONY_EVACUATE_RUNNING) {
        evacuated(r, c, result->keep_container, out);
    } else {
        moved(c, o->action, out);
    }
}

/* ---- What the cell tells of it --------------------------------------------------------------- */

static const char *state_name(const struct container *c)
{
    if (container_is_starting(c)) {
        return "CLAIMED";
    }
    if (c->phase == PHASE_RUNNING) {
        return "RUNNING";
    }
    return container_stop_asked(c) ? "SHUTDOWN" : "CRASHED";
}

static void state(const struct container *c, struct arena *a, Cell__CellState *s)
{
    const Rep__Note *about = c->about;
    Cell__LRP *to = arena_message(a, &cell__lrp__descriptor);
    to->instance_guid = about->instance_guid;
    to->process_guid = about->key->process_guid;
    to->index = about->key->index;
    to->domain = about->key->domain;
    to->n_placementtags = about->n_placement_tags;
    to->placementtags = about->placement_tags;
    to->rootfs = about->root_fs;
    to->memorymb = about->memory_mb;
    to->diskmb = about->disk_mb;
    to->maxpids = about->max_pids;
    to->state = (char *)state_name(c);
    to->definition_id = about->definition_id;
    assert(s->n_lrps + s->n_tasks < c->table->by_guid.count);
    s->lrps[s->n_lrps++] = to;
}

static void measured(const struct container *c, struct arena *a, Cell__ContainerMetrics *figures,
                     Cell__CellMetrics *all)
{
    Cell__LRPMetrics *m = arena_message(a, &cell__lrpmetrics__descriptor);
    m->instance_guid = c->about->instance_guid;
    m->process_guid = c->about->key->process_guid;
    m->index = c->about->key->index;
    m->metrics = figures;
    all->lrps[all->n_lrps++] = m;
}

const struct container_kind instance_kind = {
    .has_index = true,
    .has_proxy = true,
    .words = words,
    .origin = origin,
    .label = label,
    .look_at = look_at,
    .verb = verb,
    .adopted = adopted,
    .record = on_record,
    .record_key = record_key,
    .move = instance_move,
    .settled = settled,
    .stray = instance_stray,
    .stray_move = instance_stray_move,
    .stray_settled = instance_stray_settled,
    .state = state,
    .measured = measured,
};
