/* The guards of actual_lrp.def, as far as they hold between a move and what was read for it. */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"
#include "common/model/freshness.h"

#include <string.h>

bool index_desired(const Models__DesiredLRP *desired, int32_t index)
{
    return desired && index >= 0 && index < desired->instances;
}

/* An explicit request of this epoch let it run no more, and none since wants it again: that marks it
 * whatever its domain (S8). */
static bool is_removed(const struct move_snapshot *s, const Board__Move *m)
{
    int32_t index = m->actual_lrp_key->index;
    return s->removal && strcmp(s->removal->epoch, s->by.epoch) == 0 &&
           index >= s->removal->from_index && !index_desired(s->desired, index);
}

/* Nothing desired contradicts no definition: an emptied board must not stop containers (seed). */
static bool definition_current(const struct move_snapshot *s, const Board__Move *m)
{
    if (!m->definition[0]) {
        return true;
    }
    const Models__DesiredLRP *desired = s->desired;
    return !is_removed(s, m) && (!desired || !desired->modification_tag ||
                                 strcmp(desired->modification_tag->epoch, m->definition) == 0);
}

static uint32_t presence_guards(const Models__ActualLRP *record)
{
    switch (record->presence) {
    case MODELS__ACTUAL_LRP__PRESENCE__EVACUATING:
        return ACTUAL_LRP_IF_DISPLACED | ACTUAL_LRP_IF_EVACUATING;
    case MODELS__ACTUAL_LRP__PRESENCE__SUSPECT:
        return ACTUAL_LRP_IF_DISPLACED | ACTUAL_LRP_IF_SUSPECT;
    default:
        return 0;
    }
}

uint32_t instance_guards(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    const Models__ActualLRP *record = turn_record(t);
    const Board__Move *m = t->move;
    bool desired = index_desired(s->desired, m->actual_lrp_key->index);
    uint32_t guards = desired ? ACTUAL_LRP_IF_INDEX_DESIRED : ACTUAL_LRP_IF_INDEX_UNDESIRED;
    guards |= m->actual_lrp_instance_key ? 0 : ACTUAL_LRP_IF_NO_INSTANCE;
    guards |= definition_current(s, m) ? ACTUAL_LRP_IF_DEFINITION_CURRENT : 0;
    if (!record) {
        return guards;
    }
    if (instance_key_equal(record->actual_lrp_instance_key, m->actual_lrp_instance_key)) {
        guards |= ACTUAL_LRP_IF_SAME_INSTANCE;
    }
    if (record->stopping) {
        guards |= desired ? ACTUAL_LRP_IF_STOPPING_DESIRED : ACTUAL_LRP_IF_STOPPING_FOR_GOOD;
    }
    return guards | presence_guards(record);
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
    return instance_guards(t) | (immediate ? ACTUAL_LRP_IF_CRASH_IMMEDIATE : 0);
}

uint32_t restart_guards(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    int64_t wait_ns = crash_wait_ns(s->policy, s->ordinary->crash_count);
    bool due = wait_ns != NEVER_NS &&
               stood_left_ns(wait_ns, s->ordinary->since, s->ordinary_seen, t->in->now) <= 0;
    return instance_guards(t) | (due ? ACTUAL_LRP_IF_CRASH_DUE : 0);
}

uint32_t loss_guards(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    uint32_t guards = instance_guards(t);
    guards |= cell_is_absent(s->cell) ? ACTUAL_LRP_IF_CELL_ABSENT : ACTUAL_LRP_IF_CELL_PRESENT;
    if (domain_fresh(s->domain, s->domain_seen, t->in->now)) {
        guards |= ACTUAL_LRP_IF_DOMAIN_FRESH;
    }
    if (s->desired && s->desired->on_cell_loss == MODELS__ON_CELL_LOSS__REPLACE) {
        guards |= ACTUAL_LRP_IF_POLICY_REPLACES;
    }
    guards |= actual_state(s->ordinary) == ACTUAL_LRP_RUNNING ? ACTUAL_LRP_IF_ORDINARY_RUNS : 0;
    guards |= actual_state(s->suspect) == ACTUAL_LRP_RUNNING ? ACTUAL_LRP_IF_SUSPECT_RUNS : 0;
    return guards;
}

/* There is no ORDINARY record. If the index is desired the converger makes it again, and if it is
 * not, that may be because the board was emptied: our own reps end a container only because another
 * definition is desired, because what is absent from its domain is not wanted, or because its stop
 * was asked (S8). */
static bool wanted_nowhere(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    const Models__ActualLRP *target = turn_record(t);
    if (t->in->actor != ACTOR_REP || !definition_current(s, t->move) ||
        (target && target->stopping)) {
        return true;
    }
    return !index_desired(s->desired, t->move->actual_lrp_key->index) &&
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
                               t->move->actual_lrp_instance_key) &&
           (state == ACTUAL_LRP_RUNNING || state == ACTUAL_LRP_CRASHED);
}

uint32_t evacuate_guards(const struct move_turn *t)
{
    const struct move_snapshot *s = t->snapshot;
    uint32_t guards = instance_guards(t);
    if (s->desired && s->desired->on_evacuate == MODELS__ON_EVACUATE__STAY) {
        guards |= ACTUAL_LRP_IF_POLICY_STAYS;
    }
    return guards | (replaced(t) ? ACTUAL_LRP_IF_REPLACED : 0);
}
