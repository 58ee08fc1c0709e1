/* What the agent of a unit says of it, and what a client says of its error: report, fail, resolve.
 */
#include "bbs/units/facts.h"
#include "bbs/units/units.h"
#include "common/base/message.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_status.h"

#include <assert.h>
#include <string.h>

struct status_snapshot {
    struct speaker by;
    const Board__UnitRecord *unit;
    const Board__UnitStatusRecord *status;
    int64_t revision; /* of the status */
};

static const struct status_snapshot *turn_snapshot(const struct move_turn *t)
{
    return t->snapshot;
}

static void status_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct status_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    const char *key = move_subject_key(a, in);
    struct unit_name name;
    bool known = unit_of_key(a, key, &name);
    assert(known); /* valid_status_move() */
    (void)known;
    speaker_gather(v, in, &s->by);
    s->unit = view_message(v, key_unit(a, name));
    const struct seen *seen = view_get(v, key);
    s->status = seen ? (const Board__UnitStatusRecord *)seen->message : NULL;
    s->revision = seen ? seen->mod_revision : 0;
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static bool says(const struct move_turn *t, int state)
{
    const Board__UnitStatusRecord *said = move_units(t->move)->status;
    return said && life_of(&unit_status_lifecycle, said->state) == state;
}

static bool is_resolved(const struct move_turn *t)
{
    const struct status_snapshot *s = turn_snapshot(t);
    return s->status->resolved != BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT;
}

/* The agent has done what was resolved of this error: it says so, of the record as it stands, for
 * what it says may be late, and somebody have resolved the next error by then. */
static bool did_resolution(const struct move_turn *t)
{
    const struct status_snapshot *s = turn_snapshot(t);
    const Board__UnitStatusRecord *said = move_units(t->move)->status;
    return said && is_resolved(t) && said->resolved == s->status->resolved &&
           t->move->subject->revision == s->revision;
}

static uint32_t status_guards(const struct move_turn *t)
{
    const struct status_snapshot *s = turn_snapshot(t);
    bool own = t->in->actor == ACTOR_REP && unit_is_own(s->unit, &s->by, t->in->peer_name);
    bool back =
        did_resolution(t) && strcmp(move_units(t->move)->status->state, s->status->before) == 0;
    return (own ? UNIT_STATUS_IF_OWN : 0) |
           (says(t, UNIT_STATUS_INSTALLED) ? UNIT_STATUS_IF_SAYS_INSTALLED : 0) |
           (says(t, UNIT_STATUS_STARTED) ? UNIT_STATUS_IF_SAYS_STARTED : 0) |
           (says(t, UNIT_STATUS_STOPPED) ? UNIT_STATUS_IF_SAYS_STOPPED : 0) |
           (back ? UNIT_STATUS_IF_RESOLUTION_DONE : 0) |
           (is_resolved(t) ? 0 : UNIT_STATUS_IF_UNRESOLVED);
}

/* ---- What the moves do ----------------------------------------------------------------------- */

/* As the agent says it; whose it is stays as it was. */
static Board__UnitStatusRecord *status_said(const struct move_turn *t)
{
    const struct status_snapshot *s = turn_snapshot(t);
    const Board__UnitStatusRecord *said = move_units(t->move)->status, *before = s->status;
    Board__UnitStatusRecord *after = arena_copy(t->plan->arena, said, sizeof(*after));
    after->guid = before->guid;
    after->cell_id = s->unit->cell_id;
    after->state = arena_strdup(t->plan->arena, unit_status_lifecycle.states[t->to]);
    after->stopped = before->stopped || t->to == UNIT_STATUS_STOPPED;
    after->since = before->since;
    after->resolved = BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT;
    return after;
}

static void put_status(const struct move_turn *t, Board__UnitStatusRecord *after, bool anew)
{
    const struct status_snapshot *s = turn_snapshot(t);
    if (message_equal(&after->base, &s->status->base)) {
        return;
    }
    if (anew && t->in->now.wall_ns > after->since) {
        after->since = t->in->now.wall_ns;
    }
    move_put(t, move_subject_key(t->plan->arena, t->in), t->from, t->to, &after->base);
}

/* Nothing of an error is left. What changes nothing is not written. */
static void report_status(const struct move_turn *t)
{
    Board__UnitStatusRecord *after = status_said(t);
    after->before = after->hook = after->relation = after->remote_unit = after->output =
        arena_strdup(t->plan->arena, "");
    put_status(t, after, t->to != t->from);
}

/* 1. The hook of a unit that was well has failed: what it is to come back to is noted.
 * 2. It ran again, as was resolved, and has failed again: that is unresolved.
 * 3. Something else is new of a unit in error: what was resolved stands. */
static void fail_status(const struct move_turn *t)
{
    const struct status_snapshot *s = turn_snapshot(t);
    Board__UnitStatusRecord *after = status_said(t);
    bool again = did_resolution(t);
    after->before = t->from == UNIT_STATUS_ERROR ? s->status->before : s->status->state; /* 1 */
    if (t->from == UNIT_STATUS_ERROR && !again) {
        after->resolved = s->status->resolved; /* 3 */
    }
    put_status(t, after, t->to != t->from || again); /* 2 */
}

static void resolve_status(const struct move_turn *t)
{
    const struct status_snapshot *s = turn_snapshot(t);
    Board__UnitStatusRecord *after = arena_copy(t->plan->arena, s->status, sizeof(*after));
    after->resolved = move_units(t->move)->resolved;
    put_status(t, after, false);
}

static const char *resolution_text(const struct move_turn *t)
{
    bool retry = turn_snapshot(t)->status->resolved == BOARD__UNIT_STATUS_RECORD__RESOLVED__RETRY;
    return retry ? "runs its hook again" : "takes its hook as done";
}

static void refuse_status(const struct move_turn *t, const char *why)
{
    const struct status_snapshot *s = turn_snapshot(t);
    SCOPED_ARENA(a);
    const char *name = unit_name_text(&a, unit_name_of(s->unit));
    if (t->in->actor != ACTOR_CLIENT) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "unit %s is %s: %s", name,
                    s->status->state, why);
    } else if (t->from != UNIT_STATUS_ERROR) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "unit %s is %s, not in error: %s", name, s->status->state, why);
    } else {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "unit %s is resolved already: its agent %s as soon as it hears of it", name,
                    resolution_text(t));
    }
}

/* 1. The unit is gone, or another has its name: ResourceNotFound.
 * 2. It is dead: nothing is said of it any more. */
static bool status_begin(struct move_turn *t)
{
    const struct status_snapshot *s = turn_snapshot(t);
    t->record = s->status ? &s->status->base : NULL;
    t->from = life_of(&unit_status_lifecycle, s->status ? s->status->state : NULL);
    if (!speaker_authorised(&s->by, t->in, t->plan) || !unit_is_meant(t, s->unit)) { /* 1 */
        return false;
    }
    if (life_of(&unit_lifecycle, s->unit->state) == UNIT_DEAD) { /* 2 */
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "unit %s is dead: it has no hook that could run",
                    unit_name_text(t->plan->arena, unit_name_of(s->unit)));
        return false;
    }
    return true;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void check_bytes(struct validation *v, const char *field, const char *text, size_t max)
{
    SCOPED_ARENA(a);
    size_t size = strlen(text);
    if (size > max) {
        say(v, arena_printf(&a, "%s has %zu bytes: it may have %zu", field, size, max));
    }
}

static void valid_lack(struct validation *v, const Board__UnitLack *lack)
{
    const char *const names[] = {lack ? lack->hook : "", lack ? lack->relation : "",
                                 lack ? lack->remote_unit : ""};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        check_length(v, names[i], NAME_CHARACTERS_MAX);
    }
    if (lack && lack->kind == BOARD__UNIT_LACK__KIND__NOTHING) {
        say_field(v, "status.lack.kind");
    }
}

static void valid_said(struct validation *v, const char *move, const Board__UnitStatusRecord *said)
{
    if (!said) {
        say_field(v, "status");
        return;
    }
    int state = *said->state ? lifecycle_state(&unit_status_lifecycle, said->state) : -1;
    bool fails = strcmp(move, "fail") == 0;
    if (state <= UNIT_STATUS_NONE || fails != (state == UNIT_STATUS_ERROR)) {
        say_field(v, "status.state");
    }
    if (fails && !*said->hook) {
        say_field(v, "status.hook");
    }
    check_bytes(v, "status.text", said->text, UNIT_STATUS_TEXT_MAX);
    check_bytes(v, "status.crash_reason", said->crash_reason, UNIT_STATUS_TEXT_MAX);
    check_bytes(v, "status.upgrade_error", said->upgrade_error, UNIT_STATUS_TEXT_MAX);
    check_bytes(v, "status.output", said->output, UNIT_STATUS_OUTPUT_MAX);
    const char *const names[] = {said->hook, said->relation, said->remote_unit, said->charm,
                                 said->address};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        check_length(v, names[i], NAME_CHARACTERS_MAX);
    }
    const Board__UnitHookRun *run = said->running;
    const char *const of_run[] = {run ? run->hook : "", run ? run->relation : "",
                                  run ? run->remote_unit : ""};
    for (size_t i = 0; i < sizeof(of_run) / sizeof(of_run[0]); i++) {
        check_length(v, of_run[i], NAME_CHARACTERS_MAX);
    }
    if (run && !*run->hook) {
        say_field(v, "status.running.hook");
    }
    valid_lack(v, said->lack);
    if (said->n_ports > UNIT_STATUS_PORTS_MAX) {
        say_field(v, "status.ports");
    }
}

static void valid_status_move(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    struct unit_name name;
    const Board__UnitsMove *m = move_units(move);
    if (!unit_of_key(&a, move_key(&a, move), &name) || !unit_service_name_is_valid(name.service)) {
        say_field(v, "key");
    }
    if (strcmp(move->move, "resolve") != 0) {
        valid_said(v, move->move, m->status);
    } else if (m->resolved != BOARD__UNIT_STATUS_RECORD__RESOLVED__RETRY &&
               m->resolved != BOARD__UNIT_STATUS_RECORD__RESOLVED__SKIP) {
        say(v, "resolved says neither that the hook is to run again (--retry) nor that it counts "
               "as done (--skip)");
    }
}

static void status_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&unit_status_moves, snapshot, in, p);
}

static const struct op_row status_op = {
    .name = "move of a unit's status",
    .target = move_subject_key,
    .gather = status_gather,
    .decide = status_decide,
    .snapshot_size = sizeof(struct status_snapshot),
};

#define STATUS_ROW(move, absents, refusal)                                                         \
    static void refuse_##move(const struct move_turn *t)                                           \
    {                                                                                              \
        refuse_status(t, refusal);                                                                 \
    }
#include "bbs/units/moves.def"

#define STATUS_ROW(move, absents, refusal)                                                         \
    {                                                                                              \
        .name = #move,                                                                             \
        .valid = valid_status_move,                                                                \
        .absent = ABSENT_##absents,                                                                \
        .guards = status_guards,                                                                   \
        .refuse = refuse_##move,                                                                   \
        .decide = move##_status,                                                                   \
        .op = &status_op,                                                                          \
        .op_of_rep = &status_op,                                                                   \
    },
static const struct move_row rows[] = {
#include "bbs/units/moves.def"
};

const struct move_family unit_status_moves = {
    .lifecycle = &unit_status_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = status_begin,
};
