/* expire: the converger takes away a domain that nobody upserted in time (behaviour.md 7, 14.1). */
#include "bbs/domain/domain.h"
#include "common/lifecycle/domain.h"

static void valid_expire(struct validation *v, const Board__Move *move)
{
    if (!move->subject->key[0]) {
        say_field(v, "domain");
    }
}

static void expire_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct domain_snapshot *s = snapshot;
    s->domain = view_message(v, move_subject_key(view_arena(v), in));
    s->seen = view_domain_seen(v, move_subject_key(view_arena(v), in));
    speaker_gather(v, in, &s->by);
}

static bool expire_begin(struct move_turn *t)
{
    const struct domain_snapshot *s = t->snapshot;
    t->record = s->domain ? &s->domain->base : NULL;
    t->from = s->domain ? DOMAIN_KNOWN : DOMAIN_NONE;
    return speaker_authorised(&s->by, t->in, t->plan);
}

static uint32_t expire_guards(const struct move_turn *t)
{
    const struct domain_snapshot *s = t->snapshot;
    return domain_over(s->domain, s->seen.at, t->in->now) ? DOMAIN_IF_EXPIRED : 0;
}

static void expire_refuse(const struct move_turn *t)
{
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "domain %s has not expired",
                ((const Board__DomainRecord *)t->record)->domain);
}

static void decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&domain_moves, snapshot, in, p);
}

static const struct op_row expire_op = {
    .name = "expire",
    .target = move_subject_key,
    .gather = expire_gather,
    .decide = decide,
    .snapshot_size = sizeof(struct domain_snapshot),
};

static const struct move_row rows[] = {
    {.name = "expire",
     .valid = valid_expire,
     .absent = ABSENT_NOTHING,
     .guards = expire_guards,
     .refuse = expire_refuse,
     .decide = move_delete_subject,
     .op = &expire_op,
     .op_of_rep = &expire_op},
};

const struct move_family domain_moves = {
    .lifecycle = &domain_lifecycle,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .begin = expire_begin,
};
