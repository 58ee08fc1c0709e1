#include "converger/inside.h"

#define KEEPER(name, kinds) extern const struct keeper name##_keeper;
#include "converger/keepers.def"
#undef KEEPER

const struct keeper_row keeper_rows[KEEPER_COUNT] = {
#define KEEPER(name, kinds) {&name##_keeper, kinds},
#include "converger/keepers.def"
#undef KEEPER
};
_Static_assert(RECORD_TYPE_COUNT <= 64, "kinds are a bit each");

void converger_plan(struct converger *x, struct arena *a, Converge__Plan *ret)
{
    struct plan_shown s = {.plan = ret, .arena = a};
    converge__plan__init(ret);
    ret->leads = x->life.leader.leads;
    ret->current = x->life.feed_client.current;
    EACH_KEEPER(x, plan, &s)
}

void converger_show(struct converger *x, Converge__ConvergerState *ret, struct arena *a)
{
    EACH_KEEPER(x, show, ret, a)
}
