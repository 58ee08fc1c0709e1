#include "bbs/board/move_family.h"

#include "bbs/board/errors.h"

#include <assert.h>
#include <string.h>

const struct move_row *move_row_named(const struct move_family *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++) {
        if (strcmp(f->rows[i].name, name) == 0) {
            return &f->rows[i];
        }
    }
    return NULL;
}

const char *move_subject_key(struct arena *a, const struct op_input *in)
{
    return move_key(a, in->request);
}

static int trigger_of(const struct move_family *f, const struct move_row *row)
{
    int trigger = lifecycle_trigger(f->lifecycle, row->name);
    assert(trigger >= 0);
    return trigger;
}

bool move_permitted(const struct move_family *f, const struct move_row *row, enum actor actor)
{
    return lifecycle_permits(f->lifecycle, actor, trigger_of(f, row));
}

static void decide_absent(const struct move_turn *t)
{
    if (t->row->absent == ABSENT_REFUSED) {
        plan_refuse_as(t->plan, MODELS__ERROR__TYPE__ResourceNotFound);
    }
}

void move_decide(const struct move_family *f, const void *snapshot, const struct op_input *in,
                 struct plan *p)
{
    const Board__Move *m = in->request;
    struct move_turn t = {.family = f,
                          .row = move_row_named(f, m->move),
                          .snapshot = snapshot,
                          .in = in,
                          .move = m,
                          .plan = p};
    assert(t.row);
    if (!f->begin(&t)) {
        return;
    }
    if (!t.record && t.row->absent != ABSENT_MOVES) {
        decide_absent(&t);
        return;
    }
    t.guards = t.row->guards ? t.row->guards(&t) : 0;
    t.to = lifecycle_transition(f->lifecycle, t.from, in->actor, trigger_of(f, t.row), t.guards);
    if (t.to < 0) {
        t.row->refuse(&t);
    } else {
        t.row->decide(&t);
    }
}

static void check(const struct move_turn *t, int from, int to, const char *trigger)
{
    const struct lifecycle *l = t->family->lifecycle;
    assert(lifecycle_leads(l, from, t->in->actor, lifecycle_trigger(l, trigger), to));
    (void)l;
}

struct change *move_put(const struct move_turn *t, const char *key, int from, int to,
                        const ProtobufCMessage *message)
{
    check(t, from, to, t->row->name);
    t->plan->record = message;
    return plan_put(t->plan, key, t->row->name, t->in->actor, message);
}

void move_delete(const struct move_turn *t, const char *key, int from, const char *trigger)
{
    check(t, from, 0, trigger); /* 0 is `none` in every table */
    plan_delete(t->plan, key, trigger, t->in->actor);
}

void move_delete_subject(const struct move_turn *t)
{
    move_delete(t, move_subject_key(t->plan->arena, t->in), t->from, t->row->name);
}
