#include "bbs/units/facts.h"

#include "common/charmfile/charm.h"
#include "common/lifecycle/member.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"
#include "common/lifecycle/unit_status.h"

#include <assert.h>
#include <string.h>

int life_of(const struct lifecycle *l, const char *state)
{
    return state ? lifecycle_state(l, state) : 0;
}

int life_change(struct plan *p, const struct op_input *in, const struct lifecycle *l, int from,
                int trigger, uint32_t guards, const char *key, const ProtobufCMessage *message)
{
    int to = lifecycle_transition(l, from, in->actor, trigger, guards);
    assert(to >= 0 && (to == 0) == !message);
    if (message) {
        plan_put(p, key, l->triggers[trigger], in->actor, message);
    } else {
        plan_delete(p, key, l->triggers[trigger], in->actor);
    }
    return to;
}

void units_plan_check(const struct plan *p)
{
    assert(p->change_count <= UNITS_RECORDS_MAX);
    (void)p;
}

/* ---- Units ----------------------------------------------------------------------------------- */

struct unit_name unit_name_of(const Board__UnitRecord *unit)
{
    return (struct unit_name){unit->service, unit->number};
}

bool unit_is_own(const Board__UnitRecord *unit, const struct speaker *by, const char *peer_name)
{
    return by->cell && *unit->cell_id && strcmp(unit->cell_id, peer_name) == 0 &&
           strcmp(unit->identity, by->cell->identity) == 0;
}

bool unit_is_meant(const struct move_turn *t, const Board__UnitRecord *unit)
{
    const char *guid = move_units(t->move)->guid;
    bool said = *guid || t->in->actor == ACTOR_REP;
    if (!unit) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceNotFound,
                    "there is no such unit: bbs units lists those that are");
    } else if (said && strcmp(guid, unit->guid) != 0) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceNotFound,
                    "the unit of that guid is gone: another one has its name");
        return false;
    }
    return unit;
}

Board__UnitRecord *unit_in_life(struct arena *a, const Board__UnitRecord *before, int life,
                                struct moment now)
{
    assert(life > UNIT_NONE && life < UNIT_STATE_COUNT);
    Board__UnitRecord *after = arena_copy(a, before, sizeof(*after));
    after->state = after->place = arena_strdup(a, unit_lifecycle.states[life]);
    after->since = now.wall_ns > before->since ? now.wall_ns : before->since;
    return after;
}

void unit_depart_put(struct plan *p, const struct op_input *in, const char *key,
                     const Board__RelationMemberRecord *member)
{
    if (!member || life_of(&member_lifecycle, member->state) != MEMBER_JOINED) {
        return;
    }
    Board__RelationMemberRecord *after = arena_copy(p->arena, member, sizeof(*after));
    after->state = arena_strdup(p->arena, member_lifecycle.states[MEMBER_DEPARTING]);
    int to = life_change(p, in, &member_lifecycle, MEMBER_JOINED, MEMBER_TRIGGER_DEPART,
                         MEMBER_IF_UNIT_DYING, key, &after->base);
    assert(to == MEMBER_DEPARTING);
    (void)to;
}

void unit_status_put_pending(struct plan *p, const struct op_input *in, struct unit_name name,
                             const Board__UnitRecord *unit)
{
    struct arena *a = p->arena;
    Board__UnitStatusRecord *status = arena_message(a, &board__unit_status_record__descriptor);
    status->guid = unit->guid;
    status->state = arena_strdup(a, unit_status_lifecycle.states[UNIT_STATUS_PENDING]);
    status->cell_id = unit->cell_id;
    status->since = unit->since;
    life_change(p, in, &unit_status_lifecycle, UNIT_STATUS_NONE, UNIT_STATUS_TRIGGER_BEGIN, 0,
                key_unit_status(a, name), &status->base);
}

const char *unit_settings_list_fault(struct arena *a, Board__UnitSetting *const *list, size_t count)
{
    struct charm_value *values = ARENA_ARRAY(a, count, struct charm_value);
    for (size_t i = 0; i < count; i++) {
        values[i] = (struct charm_value){list[i]->key, list[i]->value};
    }
    const char *fault = charm_values_fault(a, values, count);
    for (size_t i = 1; i < count && !fault; i++) {
        int order = strcmp(values[i - 1].key, values[i].key);
        fault = order == 0  ? arena_printf(a, "the key %s stands twice", values[i].key)
                : order > 0 ? arena_printf(a, "the key %s stands behind %s: keys are in byte order",
                                           values[i].key, values[i - 1].key)
                            : NULL;
    }
    return fault;
}

bool unit_service_refused(const Board__UnitServiceRecord *s, const char *name, const char *what,
                          struct plan *p)
{
    if (!s) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceNotFound,
                    "there is no unit service %s: bbs units lists those that are", name);
    } else if (life_of(&unit_service_lifecycle, s->state) != UNIT_SERVICE_ALIVE) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "unit service %s is %s: %s", name,
                    s->state, what);
    }
    return p->verdict == PLAN_REFUSE;
}
