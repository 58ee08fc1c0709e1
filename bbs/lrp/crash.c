/* crash: the process ended unasked (behaviour.md 10.3, 10.4; seed: RepCrashDance). */
#include "bbs/lrp/actual.h"
#include "bbs/lrp/errors.h"
#include "bbs/lrp/move.h"
#include "common/lifecycle/actual_lrp.h"

/* It begins anew after a long run. */
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

Models__ActualLRP *move_crashed(struct plan *p, const struct move_snapshot *s,
                                const struct op_input *in, int to)
{
    const Board__Move *m = (const Board__Move *)in->request;
    const Models__ActualLRPKey *key = m->actual_lrp_key;
    Models__ActualLRP *after =
        s->ordinary ? actual_change(p->arena, s->ordinary, in->now)
                    : actual_new(p->arena, key->process_guid, key->index, key->domain,
                                 s->desired->owner, in->now, in->random);
    actual_clear_instance(p->arena, after);
    actual_set_state(after, to);
    after->crash_count = move_crash_count(s, in->now);
    after->crash_reason = actual_cut_text(p->arena, m->error_message);
    return after;
}

static void drop(struct plan *p, const struct op_input *in, const Models__ActualLRP *record)
{
    p->record = NULL;
    move_delete(p, in, record, "crash");
}

static void record_crash(const struct move_snapshot *s, const struct op_input *in, int to,
                         struct plan *p)
{
    const Board__Move *m = (const Board__Move *)in->request;
    const Models__ActualLRPKey *key = m->actual_lrp_key;
    move_put(p, in, move_crashed(p, s, in, to), "crash")->text = m->error_message;
    if (to != ACTUAL_LRP_UNCLAIMED) {
        return;
    }
    if (s->desired) {
        plan_notice_start(p, key->process_guid, key->index, key->index + 1); /* 5 */
    } else if (in->actor == ACTOR_CLIENT) {
        plan_answer_error(p, MODELS__ERROR__TYPE__ResourceNotFound); /* 6 */
    }
}

/* 1. The instance is the SUSPECT one: its record goes, nothing is counted (behaviour.md 12).
 * 2. No ORDINARY record: recorded for our own rep while the index is desired (DESIGN 5), otherwise
 *    ResourceNotFound.
 * 3. The lifecycle forbids it (another's, CRASHED or UNCLAIMED already): ActualLRPCannotBeCrashed.
 * 4. Marked stopping and not desired any more: the end that was asked for; the record goes.
 * 5. A count below the immediate ones: UNCLAIMED, and the auctioneer is asked; else CRASHED.
 * 6. To be restarted but not desired any more: recorded, and an ordinary client is told
 *    ResourceNotFound. */
void crash_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    const struct move_snapshot *s = snapshot;
    const Board__Move *m = (const Board__Move *)in->request;
    if (!move_authorised(s, in, p)) {
        return;
    }
    bool suspect = move_of_suspect(s, m);
    const Models__ActualLRP *record = suspect ? s->suspect : s->ordinary;
    uint32_t guards = suspect ? ACTUAL_LRP_IF_SAME_INSTANCE | ACTUAL_LRP_IF_SUSPECT
                              : move_guards(s, m);
    if (!suspect && move_crash_count(s, in->now) < s->policy->immediate_below) {
        guards |= ACTUAL_LRP_IF_CRASH_IMMEDIATE;
    }
    p->record = record ? &record->base : NULL;
    int to = lifecycle_move(&actual_lrp_lifecycle, actual_state(record), in->actor,
                            ACTUAL_LRP_NEWS_CRASH, guards);
    if (to < 0) { /* 2, 3 */
        plan_refuse_as(p, record ? MODELS__ERROR__TYPE__ActualLRPCannotBeCrashed
                                 : MODELS__ERROR__TYPE__ResourceNotFound);
    } else if (to == ACTUAL_LRP_NONE) { /* 1, 4 */
        drop(p, in, record);
    } else {
        record_crash(s, in, to, p);
    }
}
