#include "rep/drain/drain.h"

#include "common/model/record.h"
#include "common/model/settings.h"
#include "rep/container/back_off.h"
#include "rep/inside.h"

#include <assert.h>
#include <string.h>

enum { ANSWER_DECODED_MAX = 4 * 1024 * 1024 };

static void begin(struct rep *r, int64_t limit_ns, const char *why, struct effects *out)
{
    struct drain *d = &r->drain;
    assert(!d->on && limit_ns >= 0);
    d->on = true;
    d->until_ns = r->now.mono_ns + limit_ns;
    d->until_wall_ns = r->now.wall_ns + limit_ns;
    d->empty_ns = NEVER_NS;
    r->containers.version++; /* /state shows it */
    pass_call(&r->pass);
    effects_log(out, LOG_INFO_LEVEL, "evacuation begins", "containers=%zu limit_s=%lld why=\"%s\"",
                r->containers.by_guid.count, (long long)(limit_ns / SECOND_NS), why);
    drain_keep(r, out);
}

void drain_begin(struct rep *r, const char *why, struct effects *out)
{
    if (!r->drain.on) {
        begin(r, r->config.evacuation_ns, why, out);
        incarnation_tell(r);
    }
}

/* Until what was stopped is sent SIGKILL, whatever the setting drain was. */
static int64_t stop_takes_at_most_ns(const struct rep *r)
{
    return setting_row_named("drain")->most * SECOND_NS + r->config.stop_grace_ns;
}

static int64_t left_ns(int64_t until_ns, int64_t now_ns)
{
    return until_ns > now_ns ? until_ns - now_ns : 0;
}

/* The monotonic clock has gone on since it was kept, and the rep before this one knew of it. */
static bool clock_goes_on(const struct rep *r, const struct kept_evacuation *said)
{
    return said->handed_on && *r->config.boot_id && strcmp(r->config.boot_id, said->boot_id) == 0;
}

/* Otherwise the wall clock may have jumped since, or the evacuation may be long over. */
static int64_t resumed_left_ns(const struct rep *r, const struct kept_evacuation *said,
                               bool goes_on)
{
    int64_t limit_ns = r->config.evacuation_ns;
    if (goes_on) {
        return earlier_ns(left_ns(said->until_mono_ns, r->now.mono_ns), limit_ns);
    }
    int64_t said_ns = left_ns(said->until_wall_ns, r->now.wall_ns);
    return earlier_ns(said_ns > EVACUATION_RESUMED_NS ? said_ns : EVACUATION_RESUMED_NS, limit_ns);
}

static void resume(struct rep *r, const struct kept_evacuation *said, struct effects *out)
{
    int64_t limit_ns = resumed_left_ns(r, said, clock_goes_on(r, said));
    begin(r, limit_ns, "an earlier rep of this cell had begun", out);
}

/* A rep that had lived would have ended by now, whatever was left: nobody goes on with it. */
static bool is_past(const struct rep *r, const struct kept_evacuation *said)
{
    int64_t since_ns = clock_goes_on(r, said) ? r->now.mono_ns - said->until_mono_ns
                                              : r->now.wall_ns - said->until_wall_ns;
    return since_ns >= stop_takes_at_most_ns(r) + EVACUATION_HEARD_NS + EVACUATION_DELETED_NS;
}

void drain_start(struct rep *r, struct effects *out)
{
    const struct kept_evacuation *said = &r->config.evacuation;
    drain_kept_init(r);
    if (said->on && is_past(r, said)) {
        effects_log(out, LOG_WARN_LEVEL, "an earlier rep's evacuation is over",
                    "cell_id=%s so=\"this cell takes part\"", r->config.cell_id);
        drain_drop(r, out);
    } else if (said->on) {
        resume(r, said, out);
    }
}

int64_t drain_interval_ns(const struct rep *r)
{
    int64_t interval_ns = r->config.reconcile_interval_ns;
    return r->drain.on ? earlier_ns(interval_ns, EVACUATION_INTERVAL_NS) : interval_ns;
}

/* ---- The limit ------------------------------------------------------------------------------- */

/* Routers may still send something to it: what is left is deleted after that. */
static void stop(struct rep *r, struct container *c, struct effects *out)
{
    container_stop(c, END_SHUTDOWN, "the evacuation's limit", out);
    if (c->drained_ns > r->drain.over_ns) {
        r->drain.over_ns = c->drained_ns;
    }
}

static void stop_all(struct rep *r, struct effects *out)
{
    assert(r->drain.on && !r->drain.over);
    r->drain.over = true;
    r->drain.over_ns = r->now.mono_ns;
    effects_log(out, LOG_WARN_LEVEL, "evacuation reached its limit", "containers=%zu units=\"%s\"",
                r->containers.by_guid.count, cell_units_text(&r->units, out->arena));
    MAP_EACH(&r->containers.by_guid, n)
    {
        struct container *c = map_value(n);
        if (c->phase != PHASE_COMPLETED) { /* what ended by itself is reported as it ended */
            stop(r, c, out);
        }
    }
    effects_due(out, r->now.mono_ns); /* to act on it */
}

static void delete_all(struct rep *r, struct effects *out)
{
    assert(r->drain.over && !r->drain.abandoned);
    r->drain.abandoned = true;
    MAP_EACH(&r->containers.by_guid, n)
    {
        struct container *c = map_value(n);
        c->keep_note = c->keep_note || (c->kind->kept && c->made);
        container_delete(c, "the evacuation ends", out);
    }
    effects_due(out, r->now.mono_ns);
}

/* Counted from the last SIGTERM; while the driver has not told what there is to stop, from the
 * limit. */
static int64_t delete_ns(const struct rep *r)
{
    const struct drain *d = &r->drain;
    return (d->over ? d->over_ns : d->until_ns) + r->config.stop_grace_ns +
           EVACUATION_HEARD_NS;
}

static int64_t end_ns(const struct rep *r)
{
    return delete_ns(r) + EVACUATION_DELETED_NS;
}

/* Before anything is asked of bbs about it: its stop would wait for the answer. */
void drain_adopted(struct rep *r, struct container *c, struct effects *out)
{
    const struct drain *d = &r->drain;
    if (d->abandoned) {
        container_delete(c, "the evacuation ends", out);
    } else if (d->on && r->now.mono_ns >= d->until_ns && c->phase != PHASE_COMPLETED) {
        stop(r, c, out);
    }
}

/* ---- The end --------------------------------------------------------------------------------- */

static void end(struct rep *r, int code, const char *text, struct effects *out)
{
    assert(!r->ended && r->drain.on);
    effects_log(out, LOG_INFO_LEVEL, "evacuation ends", "containers=%zu text=\"%s\"",
                r->containers.by_guid.count, text);
    effects_exit(out, code, text);
    r->ended = true;
}

/* Why it did not go, or NULL: it is gone, or is another incarnation's now. */
static const char *not_gone(const struct response *response, struct arena *a)
{
    const char *why;
    const Board__CellResponse *answer = (const Board__CellResponse *)boards_answer(
        a, response, &board__cell_response__descriptor, ANSWER_DECODED_MAX, &why);
    if (!answer) {
        return why;
    }
    return answer->error && answer->error->type != MODELS__ERROR__TYPE__ResourceConflict
               ? answer->error->message
               : NULL;
}

static void left(void *context, const struct response *response, struct effects *out)
{
    struct rep *r = context;
    struct drain *d = &r->drain;
    assert(d->leaving && d->leave_id);
    d->leave_id = 0;
    const char *why = not_gone(response, out->arena);
    if (why) {
        boards_failed(&r->boards, d->leave_url);
        d->failures++;
        d->retry_ns = r->now.mono_ns + back_off_ns(&r->random, d->failures);
        effects_log(out, LOG_WARN_LEVEL, "the cell's record did not go", "url=%s why=\"%s\"",
                    d->leave_url, why);
        return;
    }
    end(r, 0, "evacuated", out);
}

/* From now on the cell must not be taken for a living one again. */
static void leave(struct rep *r, struct effects *out)
{
    struct drain *d = &r->drain;
    assert(!d->leave_id);
    if (!d->leaving) {
        d->leaving = true;
        heartbeat_sender_stop(&r->heartbeat_sender);
    }
    d->leave_url = boards_url(&r->boards);
    d->leave_id = incarnation_call(r, true, out);
    assert(d->leave_id);
    askers_add(&r->askers, d->leave_id, left, r);
}

/* Of what is followed of units it is the units alone; a setting is nobody's. A rejected task's
 * record still names the cell (behaviour.md 13.3), and is none of its own. */
static bool is_of_cell(const char *key, const struct followed *f)
{
    ProtobufCMessage *m;
    SCOPED_ARENA(scratch);
    if (key_type(key) != RECORD_TASK) {
        return key_type(key) == RECORD_ACTUAL || key_type(key) == RECORD_UNIT;
    }
    return record_decode(&scratch, RECORD_TASK, blob_bytes(f->record), &m, NULL) < 0 ||
           ((const Models__Task *)m)->state == MODELS__TASK__STATE__Running;
}

/* What is on its way would make the record again if it came after the leave. */
static bool nothing_on_board(const struct rep *r)
{
    if (!r->incarnation.open || r->incarnation.tell || r->incarnation.call_id ||
        !r->feed_client.current) {
        return false;
    }
    MAP_EACH(&r->feed_client.records, n)
    {
        if (is_of_cell(map_key(n), map_value(n))) {
            return false;
        }
    }
    return true;
}

/* What is due by now and has not come waits for an event. */
static void due_unless_past(const struct rep *r, int64_t due_ns, struct effects *out)
{
    if (r->now.mono_ns < due_ns) {
        effects_due(out, due_ns);
    }
}

/* Nobody moves its units: until the limit they may end, each by its last hooks, also one whose
 * container is not there now. */
static bool has_units_yet(const struct rep *r, struct arena *a)
{
    return r->now.mono_ns < r->drain.until_ns && *cell_units_text(&r->units, a);
}

static void look_for_end(struct rep *r, struct effects *out)
{
    struct drain *d = &r->drain;
    if (r->containers.by_guid.count > 0 || !r->listing.adopted || has_units_yet(r, out->arena)) {
        d->empty_ns = NEVER_NS;
        due_unless_past(r, end_ns(r), out);
        if (r->now.mono_ns >= end_ns(r) && drain_drop(r, out)) {
            end(r, EXIT_NOT_EMPTY, "the evacuation's limit: containers are left", out);
        }
        return;
    }
    d->empty_ns = earlier_ns(d->empty_ns, r->now.mono_ns);
    int64_t last_ns = earlier_ns(d->empty_ns + EVACUATION_LEAVE_NS, end_ns(r));
    due_unless_past(r, last_ns, out);
    bool last = r->now.mono_ns >= last_ns;
    const char *units = last ? cell_units_text(&r->units, out->arena) : "";
    if (last && *units && drain_drop(r, out)) {
        end(r, EXIT_NOT_EMPTY,
            arena_printf(out->arena, "the evacuation's limit: units stay with their machine: %s",
                         units),
            out);
    } else if (last && drain_drop(r, out)) {
        end(r, 0, "evacuated; the board was not notified: the cell will be lost", out);
    } else if (!last && !d->leave_id && (d->leaving || nothing_on_board(r))) {
        if (r->now.mono_ns < d->retry_ns) {
            effects_due(out, d->retry_ns);
        } else if (drain_drop(r, out)) {
            leave(r, out);
        }
    }
}

void drain_step(struct rep *r, struct effects *out)
{
    struct drain *d = &r->drain;
    if (!d->on) {
        return;
    }
    bool known = r->listing.adopted; /* what there is to stop; the listing's answer is an event */
    if (!d->over && known && r->now.mono_ns >= d->until_ns) {
        stop_all(r, out);
    }
    if (d->over && !d->abandoned && r->now.mono_ns >= delete_ns(r)) {
        delete_all(r, out);
    }
    if (!d->abandoned) {
        effects_due(out, d->over ? delete_ns(r) : known ? d->until_ns : NEVER_NS);
    }
    look_for_end(r, out);
}
