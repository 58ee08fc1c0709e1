#include "common/model/record.h"
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

const void *message_of(struct arena *a, const char *key, const struct followed *record)
{
    ProtobufCMessage *m = NULL;
    bool readable =
        record && record_decode(a, key_type(key), blob_bytes(record->record), &m, NULL) == 0;
    return readable ? m : NULL;
}

const void *message_at(const struct kept *k, struct arena *a, const char *key)
{
    return message_of(a, key, feed_client_get(&k->x->life.feed_client, key));
}

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
