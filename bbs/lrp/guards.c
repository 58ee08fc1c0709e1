/* The guards of actual_lrp.def, as far as they hold between a move and what was read for it: those
 * that the board alone tells (common/model/instance_guards.h) and those that the move tells. */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

#include <string.h>

/* An explicit request of this board generation let it run no more, and none since wants it again:
 * that marks it whatever its domain (S8). */
static bool is_removed(const struct move_snapshot *s)
{
    int32_t index = s->place.key.index;
    return s->removal && strcmp(s->removal->board_generation, s->by.board_generation) == 0 &&
           index >= s->removal->from_index && !index_desired(s->desired, index);
}

/* Nothing desired contradicts no definition: an emptied board must not stop containers (seed). */
static bool definition_current(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    const Board__InstanceMove *m = turn_says(t);
    if (!m->definition_id[0]) {
        return true;
    }
    const Models__DesiredLRP *desired = s->desired;
    return !is_removed(s) && (!desired || !desired->modification_tag ||
                                 strcmp(desired->modification_tag->epoch, m->definition_id) == 0);
}

struct instance_facts move_facts(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    const Models__ActualLRP *record = turn_record(t);
    return (struct instance_facts){
        .state = t->from,
        .presence = record ? (int)record->presence : 0,
        .stopping = record && record->stopping,
        .crash_count = record ? record->crash_count : 0,
        .since_ns = record ? record->since : 0,
        .seen = s->ordinary_seen, /* only CRASHED ones wait, and they are ORDINARY */
        .desired = index_desired(s->desired, turn_key(t)->index),
        .replaces = s->desired && s->desired->on_cell_loss == MODELS__ON_CELL_LOSS__REPLACE,
        .cell_present = !cell_is_absent(s->cell),
        .fresh = domain_fresh(s->domain, s->domain_seen, t->in->now),
        .ordinary_state = actual_state(s->ordinary),
        .suspect_state = actual_state(s->suspect),
    };
}

/* What the move says against the record. */
static uint32_t said_guards(const struct move_turn *t)
{
    const Models__ActualLRPInstanceKey *said = turn_says(t)->actual_lrp_instance_key;
    const Models__ActualLRP *record = turn_record(t);
    bool same = record && instance_key_equal(record->actual_lrp_instance_key, said);
    return (said ? 0 : ACTUAL_LRP_IF_NO_INSTANCE) | (same ? ACTUAL_LRP_IF_SAME_INSTANCE : 0) |
           (definition_current(t) ? ACTUAL_LRP_IF_DEFINITION_CURRENT : 0);
}

uint32_t move_guards(const struct move_turn *t)
{
    const struct instance_facts facts = move_facts(t);
    const struct crash_policy *policy = ((const struct move_snapshot *)t->snapshot)->policy;
    return said_guards(t) | instance_guards(&facts, policy, t->in->now);
}

/* It begins again from 1 after a long run. */
int32_t move_crash_count(const struct move_snapshot *s, struct moment now)
{
    const Models__ActualLRP *record = s->ordinary;
    if (!record) {
        return 1;
    }
    bool ran_long = actual_state(record) == ACTUAL_LRP_RUNNING &&
                    stood_left_ns(s->policy->reset_ns, record->since, s->ordinary_seen, now) < 0;
    return ran_long ? 1 : record->crash_count + 1;
}

uint32_t crash_guards(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    bool immediate = move_crash_count(s, t->in->now) < s->policy->immediate_below;
    return move_guards(t) | (immediate ? ACTUAL_LRP_IF_CRASH_IMMEDIATE : 0);
}

/* There is no ORDINARY record. If the index is desired the converger makes it again, and if it is
 * not, that may be because the board was emptied: our own reps end a container only because another
 * definition is desired, because what is absent from its domain is not wanted, or because its stop
 * was asked (S8). */
static bool wanted_nowhere(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    const Models__ActualLRP *target = turn_record(t);
    if (t->in->actor != ACTOR_REP || !definition_current(t) ||
        (target && target->stopping)) {
        return true;
    }
    return !index_desired(s->desired, turn_key(t)->index) &&
           domain_fresh(s->domain, s->domain_seen, t->in->now);
}

/* Somebody else's word is final for the index: it runs there, or has crashed there, or it is wanted
 * nowhere. */
static bool replaced(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    if (!s->ordinary) {
        return wanted_nowhere(t);
    }
    int state = actual_state(s->ordinary);
    return !instance_key_equal(s->ordinary->actual_lrp_instance_key,
                               turn_says(t)->actual_lrp_instance_key) &&
           (state == ACTUAL_LRP_RUNNING || state == ACTUAL_LRP_CRASHED);
}

uint32_t evacuate_guards(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    uint32_t guards = move_guards(t);
    if (s->desired && s->desired->on_evacuate == MODELS__ON_EVACUATE__STAY) {
        guards |= ACTUAL_LRP_IF_POLICY_STAYS;
    }
    return guards | (replaced(t) ? ACTUAL_LRP_IF_REPLACED : 0);
}
