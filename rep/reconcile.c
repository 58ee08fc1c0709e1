#include "rep/reconcile.h"

#include "common/model/keys.h"
#include "rep/cell_task.h"
#include "rep/inside.h"
#include "rep/launch.h"
#include "rep/note.h"
#include "rep/output.h"

#include <assert.h>
#include <signal.h>
#include <string.h>

bool reconcile_must_wait(struct rep *r, struct container *c)
{
    if (r->now.mono_ns < c->retry_ns) {
        container_due(c, c->retry_ns);
        return true;
    }
    return false;
}

/* A move needs a session; without one the opening of the next looks at everything again. */
void reconcile_want_move(struct rep *r, struct container *c, enum harmony_action action)
{
    if (r->session.open && !reconcile_must_wait(r, c)) {
        moves_add(r, c, action);
    }
}

void reconcile_stop(struct container *c, enum container_end end, const char *why,
                    struct effects *out)
{
    assert(end != END_ITS_OWN);
    if (container_stop_asked(c)) {
        c->end = c->end == END_DISOWNED ? END_DISOWNED : end;
        return;
    }
    c->end = end;
    c->signals = 0;
    c->table->version++;
    container_touch(c);
    if (container_may_tell(c, out)) { /* at an evacuation's limit all are asked */
        effects_log(out, LOG_INFO_LEVEL, "stop asked", "%s state=%s why=\"%s\"",
                    container_words(c, out->arena), phase_name(c->phase), why);
    }
}

void reconcile_delete(struct container *c, const char *why, struct effects *out)
{
    if (c->deleting) {
        return;
    }
    c->deleting = true;
    container_touch(c);
    if (container_may_tell(c, out)) {
        effects_log(out, LOG_INFO_LEVEL, "container to be deleted", "%s state=%s why=\"%s\"",
                    container_words(c, out->arena), phase_name(c->phase), why);
    }
}

static enum harmony_container side_of(const struct container *c)
{
    switch (c->phase) {
    case PHASE_RESERVED:
        return WITH_RESERVED;
    case PHASE_INITIALIZING:
    case PHASE_CREATED:
        return WITH_STARTING;
    case PHASE_RUNNING:
        return WITH_RUNNING;
    default:
        return container_stop_asked(c) ? WITH_SHUTDOWN : WITH_CRASHED;
    }
}

/* Nothing had called for a look, and yet there is something to do: what should have told was missed. */
static void note_late(const char *what, const char *name, enum harmony_action action,
                      struct effects *out)
{
    effects_log(out, LOG_WARN_LEVEL, "a full pass found what no news had told", "%s=%s action=%s", what,
                name, harmony_action_name(action));
}

/* Carries out what the table said of it; to go on is the caller's. */
static void act(struct rep *r, struct container *c, struct harmony h, struct effects *out)
{
    bool known = c->failures > 0 || container_stop_asked(c); /* and is to be tried again */
    if (c->late && !known && !r->drain.on && (harmony_is_move(h.action) || h.action == HARMONY_STOP ||
                                    h.action == HARMONY_DELETE)) {
        note_late("instance_guid", container_guid(c), h.action, out);
    }
    c->late = false;
    if (h.action == HARMONY_STOP) {
        reconcile_stop(c, END_SHUTDOWN, h.why, out);
    } else if (h.action == HARMONY_DELETE && c->phase == PHASE_RUNNING) {
        /* As Diego's rep: stopped first, so that it may end in good order. */
        reconcile_stop(c, END_DISOWNED, h.why, out);
    } else if (h.action == HARMONY_DELETE) {
        reconcile_delete(c, h.why, out);
    } else if (h.action == HARMONY_KEEP && c->start_wanted) {
        reconcile_want_move(r, c, HARMONY_START);
    } else if (harmony_is_move(h.action)) {
        reconcile_want_move(r, c, h.action);
    }
}

/* The table's word for this container. Before the feed brought its first snapshot an unseen record
 * says nothing: wait for it. */
static struct harmony judge(struct rep *r, struct container *c)
{
    enum harmony_record record =
        knowledge_of(&r->knowledge, NULL, c->about->key, container_guid(c), NULL);
    if (record == RECORD_IS_UNSEEN && r->follower.revision == 0) {
        return (struct harmony){0, HARMONY_NOTHING, "the board is not known yet"};
    }
    if (!r->drain.on) {
        return harmonise(side_of(c), record);
    }
    struct harmony h = harmonise_evacuating(side_of(c), record);
    if (h.action == HARMONY_EVACUATE_RUNNING && harmony_record_is_own(record) &&
        r->now.mono_ns < c->kept_until_ns) {
        container_due(c, c->kept_until_ns);
        h.action = HARMONY_NOTHING; /* bbs said so a moment ago */
    }
    return h;
}

bool reconcile_may_launch(struct rep *r, struct container *c)
{
    struct harmony h = judge(r, c);
    return !container_stop_asked(c) && !c->deleting && h.action == HARMONY_GO_ON;
}

static void reserved(struct rep *r, struct container *c, struct effects *out)
{
    if (container_stop_asked(c)) {
        rep_container_gone(r, c, "stop asked before it began", out);
    } else if (r->drain.on) {
        rep_container_gone(r, c, "the cell is being emptied", out);
    } else if (r->now.mono_ns >= c->reserved_until_ns) {
        rep_container_gone(r, c, "the reservation was not used in time", out);
    } else {
        container_due(c, c->reserved_until_ns);
        reconcile_want_move(r, c, HARMONY_CLAIM);
    }
}

static void starting(struct rep *r, struct container *c, struct effects *out)
{
    struct harmony h = judge(r, c);
    if (h.action == HARMONY_STOP) {
        act(r, c, h, out);
    }
    if (container_stop_asked(c) && !c->uncertain) {
        container_complete(c, PHASE_NEWS_ENDED, "stopped before it ran", out);
    } else if (h.action == HARMONY_GO_ON) {
        if (c->uncertain) {
            listing_want(r);
        } else if (!reconcile_must_wait(r, c)) {
            launch_continue(r, c, out);
        }
    } else {
        act(r, c, h, out);
    }
    if (c->uncertain) {
        listing_want(r);
    }
}

/* TERM, after the grace KILL, and KILL again: a listing tells if its end was missed. */
void reconcile_signal(struct rep *r, struct container *c, struct effects *out)
{
    if (c->signals > 0 && r->now.mono_ns < c->kill_ns) {
        container_due(c, c->kill_ns);
        return;
    }
    rep_verb(r, c, OP_SIGNAL, out)->signal = c->signals == 0 ? SIGTERM : SIGKILL;
    if (c->signals > 0) {
        listing_want(r);
    }
    c->signals++;
    c->kill_ns = r->now.mono_ns + r->config.stop_grace_ns;
    container_due(c, c->kill_ns);
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
    rep_verb(r, c, OP_NOTE, out)->note = note_pack(out->arena, c->about);
    return true;
}

static void running(struct rep *r, struct container *c, struct effects *out)
{
    if (!container_stop_asked(c)) {
        act(r, c, judge(r, c), out);
    }
    if (container_stop_asked(c)) {
        reconcile_signal(r, c, out);
    }
}

static void completed(struct rep *r, struct container *c, struct effects *out)
{
    if (c->end == END_DISOWNED) {
        reconcile_delete(c, "another instance has its place", out);
        return;
    }
    struct harmony h = judge(r, c);
    bool crashed = h.action == HARMONY_CRASH && !r->drain.on;
    if (!crashed || !host_ports_doubt(r, c, out)) {
        act(r, c, h, out);
    }
}

static void removal(struct rep *r, struct container *c, struct effects *out)
{
    if (!c->made) {
        rep_container_gone(r, c, "nothing is left to delete", out);
    } else if (!reconcile_must_wait(r, c)) {
        const Models__ActualLRPKey *key = c->about->key;
        rep_verb(r, c, OP_REMOVE, out)->label =
            key ? output_label(out->arena, key->process_guid, key->index)
                : arena_strdup(out->arena, c->about->task->guid);
    }
}

static void look_at(struct rep *r, struct container *c, struct effects *out)
{
    rep_give_memory(r, c);
    starts_judge(r, c);
    if (c->op != OP_NONE) {
        return; /* its end brings it here again */
    }
    if (!c->deleting && container_is_task(c)) {
        if (!cell_task_look_at(r, c, out)) {
            return;
        }
    } else if (!c->deleting) {
        switch (c->phase) {
        case PHASE_RESERVED:
            reserved(r, c, out);
            return;
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
    }
    if (c->deleting && c->op == OP_NONE) {
        removal(r, c, out);
    }
}

void reconcile_moved(struct container *c, enum harmony_action action, struct effects *out)
{
    c->failures = 0;
    c->retry_ns = 0;
    if (action == HARMONY_CLAIM && c->phase == PHASE_RESERVED) {
        container_move(c, PHASE_NEWS_CLAIMED, "claimed", out);
    } else if (action == HARMONY_CRASH) {
        reconcile_delete(c, "its crash is recorded", out);
    } else if (action == HARMONY_REMOVE) {
        reconcile_delete(c, "its record is removed", out);
    } else if (action == HARMONY_EVACUATE_CLAIMED || action == HARMONY_EVACUATE_CRASHED ||
               action == HARMONY_EVACUATE_STOPPED) {
        reconcile_delete(c, "the board knows that it is not here any more", out);
    }
}

void reconcile_evacuated(struct rep *r, struct container *c, bool keep, struct effects *out)
{
    c->failures = 0;
    c->retry_ns = 0;
    if (keep) {
        c->kept_until_ns = r->now.mono_ns + EVACUATION_INTERVAL_NS;
        container_due(c, c->kept_until_ns);
    } else if (c->phase == PHASE_RUNNING && !container_stop_asked(c)) {
        act(r, c, (struct harmony){0, HARMONY_DELETE, "another has its place, or nobody wants it"},
            out);
    }
}

void reconcile_refused(struct rep *r, struct container *c, enum harmony_action action,
                       Models__Error__Type type, struct effects *out)
{
    enum harmony_record record =
        knowledge_of(&r->knowledge, NULL, c->about->key, container_guid(c), NULL);
    struct harmony h = r->drain.on
                           ? harmonise_evacuating_refused(side_of(c), record, action, type)
                           : harmonise_refused(side_of(c), record, action, type);
    effects_log(out, LOG_INFO_LEVEL, "move refused",
                "instance_guid=%s move=%s error=%d row=%d then=%s why=\"%s\"", container_guid(c),
                harmony_action_name(action), (int)type, h.row, harmony_action_name(h.action),
                h.why);
    if (h.action == HARMONY_GO_ON && c->phase == PHASE_RESERVED) {
        container_move(c, PHASE_NEWS_CLAIMED, "claimed", out);
    } else if (harmony_is_rest(h.action)) {
        c->start_wanted |= action == HARMONY_START;
        rep_retry_later(r, c);
    } else {
        act(r, c, h, out);
    }
}

/* ---- The pass over everything ---------------------------------------------------------------- */

static struct harmony judge_stray(const struct rep *r, const Models__ActualLRP *record)
{
    if (!record || !record->actual_lrp_key || !record->actual_lrp_instance_key ||
        strcmp(record->actual_lrp_instance_key->cell_id, r->config.cell_id) != 0 ||
        container_find(&r->containers, record->actual_lrp_instance_key->instance_guid)) {
        return (struct harmony){0, HARMONY_NOTHING, "it has a container, or is not this cell's"};
    }
    const char *guid = record->actual_lrp_instance_key->instance_guid;
    return harmonise(WITHOUT, harmony_record_of(record, guid, r->config.cell_id));
}

bool reconcile_is_stray(const struct rep *r, const char *key)
{
    struct arena scratch;
    arena_init(&scratch);
    bool is = key_type(key) == RECORD_TASK
                  ? cell_task_stray_move(r, &scratch, key) != NULL
                  : harmony_is_move(judge_stray(r, knowledge_at(&r->knowledge, &scratch, key)).action);
    arena_done(&scratch);
    return is;
}

void reconcile_record(struct rep *r, const char *key, struct effects *out)
{
    if (!r->follower.current || !r->session.open || !listing_is_good(r)) {
        return; /* what is missing comes with a pass over everything */
    }
    if (key_type(key) == RECORD_TASK) {
        r->pass_ns = earlier_ns(r->pass_ns, cell_task_stray(r, key, out));
        return;
    }
    struct arena scratch; /* a pass looks at all there are */
    arena_init(&scratch);
    struct harmony h = judge_stray(r, knowledge_at(&r->knowledge, &scratch, key));
    arena_done(&scratch);
    if (harmony_is_move(h.action)) {
        if (r->passing_late && !moves_know_stray(r, key)) {
            note_late("record", key, h.action, out);
        }
        r->pass_ns = earlier_ns(r->pass_ns, moves_add_stray(r, key, h.action));
    }
}

void reconcile_all(struct rep *r)
{
    r->pass_wanted = r->pass_called = true;
}

void reconcile_all_again(struct rep *r)
{
    r->pass_wanted = true;
}

static void pass(struct rep *r, struct effects *out)
{
    /* As the feed became current, and as the session was opened, a pass was called for. */
    bool late = !r->pass_called && !r->drain.on && r->follower.current && r->session.open;
    r->pass_wanted = r->pass_called = false;
    r->pass_ns = r->now.mono_ns + drain_interval_ns(r);
    knowledge_trim(&r->knowledge);
    moves_trim(r);
    MAP_EACH(&r->containers.by_guid, n)
    {
        struct container *c = map_value(n);
        if (!c->queued) {
            container_touch(c);
            c->late = late;
        }
    }
    r->passing_late = late;
    MAP_EACH(&r->follower.records, n)
    {
        reconcile_record(r, map_key(n), out);
    }
    r->passing_late = false;
}

void reconcile(struct rep *r, struct effects *out)
{
    if (r->pass_wanted || r->now.mono_ns >= r->pass_ns) {
        pass(r, out);
    }
    int64_t due_ns = containers_wake(&r->containers, r->now.mono_ns);
    size_t before = out->arena->used;
    for (int i = 0;
         i < RECONCILE_A_STEP_MAX && out->arena->used - before < RECONCILE_BYTES_ENOUGH; i++) {
        struct container *c = containers_next(&r->containers);
        if (!c) {
            break;
        }
        look_at(r, c, out);
    }
    moves_flush(r, out);
    containers_tell_rest(&r->containers, out);
    due_ns = earlier_ns(due_ns, containers_wake(&r->containers, r->now.mono_ns));
    effects_due(out, earlier_ns(due_ns, r->pass_ns));
    if (!TAILQ_EMPTY(&r->containers.queue) || r->pass_wanted) {
        effects_due(out, r->now.mono_ns);
    }
}
