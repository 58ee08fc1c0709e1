/* What the decisions of the rows work with, and change the board by: below moves.def, so that they
 * do not call back to its table. */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/move.h"

#include <assert.h>

const Models__ActualLRP *record_of_presence(const struct move_snapshot *s, int presence)
{
    return presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING ? s->evacuating
           : presence == MODELS__ACTUAL_LRP__PRESENCE__SUSPECT  ? s->suspect
                                                                : s->ordinary;
}

bool index_desired(const Models__DesiredLRP *desired, int32_t index)
{
    return desired && index >= 0 && index < desired->instances;
}

const Models__ActualLRP *turn_record(const struct move_turn *t)
{
    return (const Models__ActualLRP *)t->record;
}

const Board__InstanceMove *turn_says(const struct move_turn *t)
{
    return move_instance(t->move);
}

const Models__ActualLRPKey *turn_key(const struct move_turn *t)
{
    return &((const struct move_snapshot *)t->snapshot)->place.key;
}

static const char *record_key(struct arena *a, const Models__ActualLRP *record)
{
    const Models__ActualLRPKey *key = record->actual_lrp_key;
    return key_actual(a, key->process_guid, key->index, (int)record->presence);
}

struct change *actual_put(const struct move_turn *t, Models__ActualLRP *record, int to)
{
    const Models__ActualLRP *before = record_of_presence(t->snapshot, (int)record->presence);
    actual_set_state(record, to);
    return move_put(t, record_key(t->plan->arena, record), actual_state(before), to, &record->base);
}

void actual_delete(const struct move_turn *t, const Models__ActualLRP *record)
{
    assert(record);
    t->plan->record = NULL;
    move_delete(t, record_key(t->plan->arena, record), actual_state(record), t->row->name);
}

void actual_put_new(const struct move_turn *t, int to)
{
    const Models__ActualLRPKey *key = turn_key(t);
    const Models__DesiredLRP *desired = ((const struct move_snapshot *)t->snapshot)->desired;
    assert(index_desired(desired, key->index));
    actual_put(t,
               actual_new(t->plan->arena, key->process_guid, key->index, desired->domain,
                          desired->owner, t->in->now, t->in->random),
               to);
    notice_start(t);
}

void actual_put_unclaimed(const struct move_turn *t, const Models__ActualLRP *record, int to)
{
    const struct move_snapshot *s = t->snapshot;
    assert(actual_has_instance(record));
    Models__ActualLRP *after = actual_change(t->plan->arena, record, t->in->now);
    actual_clear_instance(t->plan->arena, after);
    actual_put(t, after, to);
    if (index_desired(s->desired, after->actual_lrp_key->index)) {
        notice_start(t);
    }
}

void notice_start(const struct move_turn *t)
{
    const Models__ActualLRPKey *key = turn_key(t);
    plan_notice_start(t->plan, key->process_guid, key->index, key->index + 1);
}

void notice_stop(const struct move_turn *t, const Models__ActualLRP *record)
{
    const Models__ActualLRPInstanceKey *key = record->actual_lrp_instance_key;
    plan_notice_stop(t->plan, record->actual_lrp_key->process_guid, key->instance_guid,
                     key->cell_id);
}
