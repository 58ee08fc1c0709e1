#include "bbs/secret/facts.h"

#include "common/lifecycle/system.h"

#include <assert.h>
#include <string.h>

const Board__SystemRecord *secret_system_gather(struct view *v, const char *id)
{
    return *id ? view_message(v, key_system(view_arena(v), id)) : NULL;
}

size_t secrets_count(struct view *v, const char *uid)
{
    struct arena *a = view_arena(v);
    struct picked *list;
    Board__Selector selector = BOARD__SELECTOR__INIT;
    selector.type = arena_strdup(a, record_type_name(RECORD_SECRET));
    selector.key_prefix = arena_strdup(a, key_range_of(a, RECORD_SECRET, uid));
    return view_pick(v, &selector, &list);
}

/* ---- What refuses ---------------------------------------------------------------------------- */

const char *secret_system_fault(struct arena *a, const Board__SystemRecord *system, const char *id)
{
    switch (system ? lifecycle_state(&system_lifecycle, system->state) : SYSTEM_NONE) {
    case SYSTEM_NONE:
        return arena_printf(a, "there is no system %.64s: bbs systems lists those that are", id);
    case SYSTEM_STABLE:
    case SYSTEM_UPDATING:
    case SYSTEM_SCALING:
    case SYSTEM_DEGRADED:
        return NULL;
    case SYSTEM_PENDING:
        return arena_printf(a, "system %s is pending: ask again when a converger has opened it",
                            id);
    case SYSTEM_FAILED:
        return arena_printf(a, "system %s has failed (%s): delete it, and create it again", id,
                            system->message);
    case SYSTEM_DELETING:
        return arena_printf(a, "system %s is being deleted", id);
    default:
        return arena_printf(a, "system %s is in a state of a newer version", id);
    }
}

bool secret_system_refused(const Board__SystemRecord *system, const char *id, struct plan *p)
{
    const char *why = secret_system_fault(p->arena, system, id);
    if (why) {
        p->record = system ? &system->base : NULL;
        plan_refuse(p, system ? MODELS__ERROR__TYPE__ResourceConflict
                              : MODELS__ERROR__TYPE__ResourceNotFound, "%s", why);
    }
    return why != NULL;
}

const char *secret_keys_fault(struct arena *a, const struct seal *seal,
                              const Board__SystemRecord *system)
{
    assert(system);
    if (seal_newest(seal) == 0) {
        return arena_strdup(a, "this bbs has no keys: start it with --keys FILE");
    }
    if (system->data_key && !seal_has(seal, system->data_key->key)) {
        return arena_printf(a, "this bbs does not have key %u, by which the secrets of system %s "
                            "are sealed: put it into its key file", system->data_key->key,
                            system->id);
    }
    return NULL;
}

bool secret_keys_refused(const struct seal *seal, const Board__SystemRecord *system, struct plan *p)
{
    const char *why = secret_keys_fault(p->arena, seal, system);
    if (why) {
        plan_refuse(p, MODELS__ERROR__TYPE__ResourceConflict, "%s", why);
    }
    return why != NULL;
}

/* ---- The data key ---------------------------------------------------------------------------- */

void secret_put_data_key(struct plan *p, const struct op_input *in,
                         const Board__SystemRecord *system, const Board__WrappedKey *key)
{
    int from = lifecycle_state(&system_lifecycle, system->state);
    int to = lifecycle_transition(&system_lifecycle, from, in->actor, SYSTEM_TRIGGER_REWRAP, 0);
    assert(to == from && to > SYSTEM_NONE);
    (void)to;
    Board__SystemRecord *after = arena_message(p->arena, &board__system_record__descriptor);
    *after = *system;
    after->data_key = (Board__WrappedKey *)(uintptr_t)key;
    plan_put(p, key_system(p->arena, system->id), "rewrap", in->actor, &after->base);
}
