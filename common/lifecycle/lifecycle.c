#include "common/lifecycle/lifecycle.h"

#include <assert.h>
#include <string.h>

int lifecycle_transition(const struct lifecycle *l, int from, enum actor actor, int trigger,
                         uint32_t true_guards)
{
    assert(from >= -1 && from < (int)l->state_count); /* -1: a newer version's */
    assert(trigger >= 0 && (size_t)trigger < l->trigger_count);
    for (size_t i = 0; i < l->row_count; i++) {
        const struct lifecycle_row *r = &l->rows[i];
        if (r->from == from && (r->actors & actor) && r->trigger == trigger &&
            (r->guards & ~true_guards) == 0) {
                assert(r->to >= 0 && (size_t)r->to < l->state_count);
            return r->to;
        }
    }
    return -1;
}

bool lifecycle_permits(const struct lifecycle *l, enum actor actor, int trigger)
{
    assert(trigger >= 0 && (size_t)trigger < l->trigger_count);
    for (size_t i = 0; i < l->row_count; i++) {
        if ((l->rows[i].actors & actor) && l->rows[i].trigger == trigger) {
            return true;
        }
    }
    return false;
}

bool lifecycle_leads(const struct lifecycle *l, int from, enum actor actor, int trigger, int to)
{
    assert(from >= -1 && from < (int)l->state_count);
    assert(to >= 0 && (size_t)to < l->state_count);
    for (size_t i = 0; i < l->row_count; i++) {
        const struct lifecycle_row *r = &l->rows[i];
        if (r->from == from && (r->actors & actor) && r->trigger == trigger && r->to == to) {
            return true;
        }
    }
    return false;
}

static int find(const char *const *names, size_t count, const char *name)
{
    assert(name);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int lifecycle_state(const struct lifecycle *l, const char *name)
{
    return find(l->states, l->state_count, name);
}

int lifecycle_trigger(const struct lifecycle *l, const char *name)
{
    return find(l->triggers, l->trigger_count, name);
}
