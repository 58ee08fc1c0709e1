#include "bbs/lrp/evacuate.h"

#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "common/lifecycle/actual_lrp.h"
#include "common/model/freshness.h"

const Models__ActualLRP *evacuate_target(const struct move_snapshot *s, const Board__Move *m)
{
    const Models__ActualLRP *records[] = {s->ordinary, s->evacuating, s->suspect};
    for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
        if (records[i] &&
            instance_key_equal(records[i]->actual_lrp_instance_key, m->actual_lrp_instance_key)) {
            return records[i];
        }
    }
    return NULL;
}

/* There is no ORDINARY record. If the index is desired the converger makes it again, and if it is
 * not, that may be because the board was emptied: our own reps end a container only because another
 * definition is desired, because what is absent from its domain is not wanted, or because its stop
 * was asked (S8). */
static bool wanted_nowhere(const struct move_snapshot *s, const struct op_input *in,
                           const Models__ActualLRP *target)
{
    const Board__Move *m = (const Board__Move *)in->request;
    if (in->actor != ACTOR_REP || !(move_guards(s, m) & ACTUAL_LRP_IF_DEFINITION_CURRENT) ||
        (target && target->stopping)) {
        return true;
    }
    return !index_desired(s->desired, m->actual_lrp_key->index) &&
           domain_fresh(s->domain, s->domain_seen, in->now);
}

/* Somebody else's word is final for the index: it runs there, or has crashed there, or it is wanted
 * nowhere. */
static bool replaced(const struct move_snapshot *s, const struct op_input *in,
                     const Models__ActualLRP *target)
{
    const Board__Move *m = (const Board__Move *)in->request;
    if (!s->ordinary) {
        return wanted_nowhere(s, in, target);
    }
    int state = actual_state(s->ordinary);
    return !instance_key_equal(s->ordinary->actual_lrp_instance_key, m->actual_lrp_instance_key) &&
           (state == ACTUAL_LRP_RUNNING || state == ACTUAL_LRP_CRASHED);
}

uint32_t evacuate_guards(const struct move_snapshot *s, const struct op_input *in,
                         const Models__ActualLRP *record)
{
    Board__Move about = *(const Board__Move *)in->request;
    about.presence = record ? record->presence : MODELS__ACTUAL_LRP__PRESENCE__EVACUATING;
    uint32_t guards = move_guards(s, &about);
    if (record && record->presence == MODELS__ACTUAL_LRP__PRESENCE__EVACUATING) {
        guards |= ACTUAL_LRP_IF_EVACUATING;
    }
    if (record && record->presence == MODELS__ACTUAL_LRP__PRESENCE__SUSPECT) {
        guards |= ACTUAL_LRP_IF_SUSPECT;
    }
    if (s->desired && s->desired->on_evacuate == MODELS__ON_EVACUATE__STAY) {
        guards |= ACTUAL_LRP_IF_POLICY_STAYS;
    }
    return guards | (replaced(s, in, record) ? ACTUAL_LRP_IF_REPLACED : 0);
}

const Models__ActualLRP *evacuate_begin(const struct move_snapshot *s, const struct op_input *in,
                                        bool keep, struct plan *p)
{
    const Board__Move *m = (const Board__Move *)in->request;
    p->keep_container = keep;
    if (!move_authorised(s, in, p)) {
        return NULL;
    }
    const Models__ActualLRP *target = evacuate_target(s, m);
    p->record = target ? &target->base : NULL;
    if (!target) {
        p->keep_container = false;
        plan_refuse_as(p, MODELS__ERROR__TYPE__ResourceNotFound);
    }
    return target;
}

void evacuate_delete(struct plan *p, const struct op_input *in, const Models__ActualLRP *target,
                     const char *name)
{
    p->record = NULL;
    p->keep_container = false;
    move_delete(p, in, target, name);
}
