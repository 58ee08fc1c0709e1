/* Numbers for the subordinates that a cell makes: numbers. */
#include "bbs/units/facts.h"
#include "bbs/units/units.h"
#include "common/lifecycle/unit_service.h"

#include <assert.h>
#include <string.h>

struct numbers_snapshot {
    struct speaker by;
    const Board__UnitServiceRecord *service;
    const Board__SequenceRecord *sequence; /* NULL = no number is taken yet */
};

static const struct numbers_snapshot *turn_snapshot(const struct move_turn *t)
{
    return t->snapshot;
}

static void numbers_gather(struct view *v, const struct op_input *in, void *snapshot)
{
    struct numbers_snapshot *s = snapshot;
    struct arena *a = view_arena(v);
    speaker_gather(v, in, &s->by);
    s->service = view_message(v, move_subject_key(a, in));
    if (s->service) {
        s->sequence = view_message(v, key_sequence(a, "unit", s->service->name));
    }
}

static uint32_t numbers_guards(const struct move_turn *t)
{
    return turn_snapshot(t)->service->subordinate ? UNIT_SERVICE_IF_SUBORDINATE : 0;
}

static void refuse_numbers(const struct move_turn *t)
{
    const Board__UnitServiceRecord *s = turn_snapshot(t)->service;
    plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict, "unit service %s %s", s->name,
                s->subordinate ? "is not alive: it takes no units any more"
                               : "is no subordinate one: clients add its units");
}

/* 1. The numbers do not reach: refused.
 * 2. The cell has those below the sequence, as many as it asked for. What it does not use stays
 *    unused. */
static void take_numbers(const struct move_turn *t)
{
    const struct numbers_snapshot *s = turn_snapshot(t);
    uint32_t next = s->sequence ? s->sequence->next : 0, count = move_units(t->move)->count;
    if (count > UINT32_MAX - next) { /* 1 */
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceConflict,
                    "the numbers of unit service %s are used up", s->service->name);
        return;
    }
    struct arena *a = t->plan->arena; /* 2 */
    Board__SequenceRecord *after = arena_message(a, &board__sequence_record__descriptor);
    after->next = next + count;
    plan_put(t->plan, key_sequence(a, "unit", s->service->name), t->row->name, t->in->actor,
             &after->base);
    t->plan->record = &after->base;
    t->plan->first_number = next;
    t->plan->number_count = count;
}

/* There is none, or another has its name: ResourceNotFound. */
static bool numbers_begin(struct move_turn *t)
{
    const struct numbers_snapshot *s = turn_snapshot(t);
    t->record = s->service ? &s->service->base : NULL;
    t->from = life_of(&unit_service_lifecycle, s->service ? s->service->state : NULL);
    if (!speaker_authorised(&s->by, t->in, t->plan)) {
        return false;
    }
    if (s->service && strcmp(move_units(t->move)->guid, s->service->guid) != 0) {
        plan_refuse(t->plan, MODELS__ERROR__TYPE__ResourceNotFound,
                    "the unit service of that guid is gone: another one has its name");
        return false;
    }
    return true;
}

static const struct move_row rows[] = {
    {.name = "numbers", .guards = numbers_guards, .refuse = refuse_numbers,
     .decide = take_numbers},
};

static const struct move_family numbers_family = {
    .lifecycle = &unit_service_lifecycle,
    .rows = rows,
    .count = 1,
    .begin = numbers_begin,
};

void valid_unit_numbers(struct validation *v, const Board__Move *move)
{
    SCOPED_ARENA(a);
    uint32_t count = move_units(move)->count;
    if (!unit_service_name_is_valid(move_name(&a, move))) {
        say_field(v, "key");
    }
    if (count < 1 || count > UNIT_NUMBERS_MAX) {
        say(v, arena_printf(&a, "count is %u: it may be 1 to %d", count, UNIT_NUMBERS_MAX));
    }
}

static void numbers_decide(const void *snapshot, const struct op_input *in, struct plan *p)
{
    move_decide(&numbers_family, snapshot, in, p);
}

const struct op_row unit_numbers_row = {
    .name = "numbers of a unit service",
    .target = move_subject_key,
    .gather = numbers_gather,
    .decide = numbers_decide,
    .snapshot_size = sizeof(struct numbers_snapshot),
};
