/* The ladder of hook_next(), docs/units.md, Hooks. The first rule that applies is done.
 *  1. A hook runs: wait. One is in error: wait until it is resolved, then run it again, or accept
 *     it. One of a relation in which the unit is not any more is accepted: what it could ask about
 *     is gone.
 *  2. stop has run: nothing comes any more, and a relation that a restored board has brought back
 * is left.
 *  3. Dying, never installed and in no scope: nothing is owed.
 *  4. install, config-changed, start.
 *  5. The changed that follows a joined.
 *  6. Of a relation that is not Alive, of each when the unit is Dying: departed of each member that
 *     was told of, broken, leave; of a silent one, leave.
 *  7. Dying: stop.
 *  8. upgrade, and config-changed after it.
 *  9. departed, then joined, then changed; of each by relation, then unit.
 * 10. config-changed. */
#include "rep/unit/hook.h"

#include <assert.h>
#include <string.h>

const char *hook_name(enum unit_hook hook)
{
    static const char *const names[HOOK_KIND_COUNT] = {
        "",       "install", "start",    "stop",  "upgrade", "config-changed",
        "joined", "changed", "departed", "broken"};
    assert(hook < HOOK_KIND_COUNT);
    return names[hook];
}

static struct hook_step run(const struct hook_world *w, enum unit_hook hook)
{
    return (struct hook_step){
        HOOK_RUN, {hook, 0, 0}, hook == HOOK_CONFIG_CHANGED ? w->config_version : 0};
}

static struct hook_step run_of(enum unit_hook hook, const struct hook_relation *r,
                               const struct hook_member *m)
{
    return (struct hook_step){
        HOOK_RUN, {hook, r->number, m ? m->unit : 0}, hook == HOOK_CHANGED ? m->version : 0};
}

/* The version with which a hook begins, now. */
static uint64_t version_of(const struct hook_world *w, const struct hook_subject *s)
{
    uint64_t version = s->hook == HOOK_CONFIG_CHANGED ? w->config_version : 0;
    for (size_t i = 0; i < w->relation_count && s->hook == HOOK_CHANGED; i++) {
        const struct hook_relation *r = &w->relations[i];
        for (size_t k = 0; k < r->member_count && r->number == s->relation; k++) {
            version = r->members[k].unit == s->unit ? r->members[k].version : version;
        }
    }
    return version;
}

/* Whether the unit is in the relation that the hook is about; true where it is about none. */
static bool is_in_its_relation(const struct hook_world *w, const struct hook_subject *s)
{
    bool in = s->hook < HOOK_JOINED;
    for (size_t i = 0; i < w->relation_count; i++) {
        in = in || w->relations[i].number == s->relation;
    }
    return in;
}

/* Rule 1. */
static struct hook_step after_current(const struct hook_world *w)
{
    assert(w->current.hook);
    if (!w->error || w->resolution == HOOK_UNRESOLVED) {
        return (struct hook_step){.act = HOOK_WAIT};
    }
    return w->resolution == HOOK_RETRY && is_in_its_relation(w, &w->current)
               ? (struct hook_step){HOOK_RUN, w->current, version_of(w, &w->current)}
               : (struct hook_step){HOOK_ACCEPT, w->current, 0};
}

/* Rule 4; HOOK_NONE = all have run. */
static enum unit_hook of_the_start(const struct hook_world *w)
{
    return !w->installed    ? HOOK_INSTALL
           : !w->configured ? HOOK_CONFIG_CHANGED
           : !w->started    ? HOOK_START
                            : HOOK_NONE;
}

static size_t told_of(const struct hook_relation *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->member_count; i++) {
        count += r->members[i].told;
    }
    return count;
}

static size_t told_in_all(const struct hook_world *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->relation_count; i++) {
        count += told_of(&w->relations[i]);
    }
    return count;
}

/* What of rule 9 is due of a member. */
static enum unit_hook due(const struct hook_member *m)
{
    return m->told && !m->present                     ? HOOK_DEPARTED
           : !m->told && m->present                   ? HOOK_JOINED
           : m->told && m->version != m->told_version ? HOOK_CHANGED
                                                      : HOOK_NONE;
}

/* Rule 5. */
static bool owed_changed(const struct hook_world *w, struct hook_step *ret)
{
    for (size_t i = 0; i < w->relation_count; i++) {
        const struct hook_relation *r = &w->relations[i];
        for (size_t k = 0; k < r->member_count; k++) {
            if (r->members[k].owes_changed) {
                assert(r->members[k].told && !r->silent);
                *ret = run_of(HOOK_CHANGED, r, &r->members[k]);
                return true;
            }
        }
    }
    return false;
}

/* Rule 6, of one relation. */
static struct hook_step end_relation(const struct hook_relation *r)
{
    for (size_t k = 0; k < r->member_count && !r->silent; k++) {
        if (r->members[k].told) {
            assert(!r->broken); /* which runs when nobody is known */
            return run_of(HOOK_DEPARTED, r, &r->members[k]);
        }
    }
    return r->broken || r->silent ? (struct hook_step){HOOK_LEAVE, {HOOK_NONE, r->number, 0}, 0}
                                  : run_of(HOOK_BROKEN, r, NULL);
}

/* Rule 9, of one kind. */
static bool of_members(const struct hook_world *w, enum unit_hook hook, struct hook_step *ret)
{
    bool full = hook == HOOK_JOINED && told_in_all(w) >= HOOK_UNIT_TOLD_MAX;
    for (size_t i = 0; i < w->relation_count && !full; i++) {
        const struct hook_relation *r = &w->relations[i];
        if (r->silent || (hook == HOOK_JOINED && told_of(r) >= HOOK_SCOPE_TOLD_MAX)) {
            continue;
        }
        for (size_t k = 0; k < r->member_count; k++) {
            if (due(&r->members[k]) == hook) {
                *ret = run_of(hook, r, &r->members[k]);
                return true;
            }
        }
    }
    return false;
}

struct hook_step hook_next(const struct hook_world *w)
{
    struct hook_step step = {.act = HOOK_WAIT};
    assert(w->relation_count <= HOOK_RELATIONS_MAX);
    assert(w->installed || !w->started);
    if (w->current.hook) { /* 1 */
        return after_current(w);
    }
    if (w->stopped && w->relation_count > 0) { /* 2 */
        return (struct hook_step){HOOK_LEAVE, {HOOK_NONE, w->relations[0].number, 0}, 0};
    }
    bool undeployed = !w->alive && !w->installed && w->relation_count == 0;
    if (w->stopped || undeployed) { /* 2, 3 */
        return step;
    }
    if (of_the_start(w)) { /* 4 */
        return run(w, of_the_start(w));
    }
    if (owed_changed(w, &step)) { /* 5 */
        return step;
    }
    for (size_t i = 0; i < w->relation_count; i++) { /* 6 */
        if (!w->alive || !w->relations[i].alive) {
            return end_relation(&w->relations[i]);
        }
    }
    if (!w->alive) { /* 7 */
        return run(w, HOOK_STOP);
    }
    if (strcmp(w->charm, w->charm_told) != 0) { /* 8 */
        return run(w, HOOK_UPGRADE);
    }
    if (w->config_owed) { /* 8 */
        return run(w, HOOK_CONFIG_CHANGED);
    }
    if (of_members(w, HOOK_DEPARTED, &step) || of_members(w, HOOK_JOINED, &step) ||
        of_members(w, HOOK_CHANGED, &step)) { /* 9 */
        return step;
    }
    return w->config_again || w->config_version != w->config_told ? run(w, HOOK_CONFIG_CHANGED)
                                                                  : step; /* 10 */
}

size_t hook_untold(const struct hook_world *w)
{
    size_t told_all = told_in_all(w), waiting = 0;
    size_t room = told_all < HOOK_UNIT_TOLD_MAX ? HOOK_UNIT_TOLD_MAX - told_all : 0;
    for (size_t i = 0; i < w->relation_count; i++) {
        const struct hook_relation *r = &w->relations[i];
        size_t told = told_of(r),
               here = told < HOOK_SCOPE_TOLD_MAX ? HOOK_SCOPE_TOLD_MAX - told : 0;
        for (size_t k = 0; k < r->member_count && !r->silent; k++) {
            bool joins = !r->members[k].told && r->members[k].present;
            waiting += joins && (here == 0 || room == 0);
            here -= joins && here > 0;
            room -= joins && room > 0;
        }
    }
    return waiting;
}
