#include "rep/unit/agent_relations.h"

#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"

#include <string.h>

struct agent_step agent_step_of(int row, enum agent_act act, const char *why)
{
    return (struct agent_step){.row = row, .act = act, .why = why, .look_again_ns = NEVER_NS};
}

struct agent_step agent_wait(int row, const char *why)
{
    return agent_step_of(row, AGENT_WAIT, why);
}

/* ---- Row 4 ----------------------------------------------------------------------------------- */

static const Board__RelationEnd *end_of(const Board__RelationRecord *r, const char *service,
                                        const char *guid)
{
    for (size_t i = 0; i < r->n_ends; i++) {
        if (strcmp(r->ends[i]->service, service) == 0 &&
            (!guid || strcmp(r->ends[i]->service_guid, guid) == 0)) {
            return r->ends[i];
        }
    }
    return NULL;
}

static bool is_alive_relation(const Board__RelationRecord *r)
{
    return lifecycle_state(&relation_lifecycle, r->state) == RELATION_ALIVE;
}

static bool is_container_relation(const Board__RelationRecord *r)
{
    return r->scope == BOARD__ENDPOINT__SCOPE__CONTAINER;
}

static bool is_joined_to(const struct agent_facts *f, const char *principal)
{
    bool joined = false;
    for (size_t i = 0; i < f->relation_count && !joined; i++) {
        const Board__RelationRecord *r = f->relations[i].record;
        joined = is_alive_relation(r) && is_container_relation(r) && end_of(r, principal, NULL);
    }
    return joined;
}

const char *agent_reason(const struct agent_facts *f)
{
    if (f->service &&
        lifecycle_state(&unit_service_lifecycle, f->service->state) == UNIT_SERVICE_DYING) {
        return "its service is Dying";
    }
    if (!*f->unit->principal) {
        return NULL;
    }
    if (!f->principal || lifecycle_state(&unit_lifecycle, f->principal->state) != UNIT_ALIVE) {
        return "its principal is not Alive";
    }
    return is_joined_to(f, f->principal->service)
               ? NULL
               : "no Alive relation joins its service with its principal's";
}

/* ---- Row 13 ---------------------------------------------------------------------------------- */

static bool is_member(const struct agent_facts *f, uint32_t relation)
{
    bool member = false;
    for (size_t i = 0; i < f->sight.relation_count; i++) {
        member = member || f->sight.relations[i].number == relation;
    }
    return member;
}

/* Those in whose scope it sits: a subordinate does not enter a relation with a principal's service
 * that is not its principal's. */
static bool implements(const struct agent_facts *f, const Board__RelationRecord *r)
{
    bool sits = !is_container_relation(r) || !*f->unit->principal ||
                end_of(r, f->principal->service, f->principal->service_guid);
    return is_alive_relation(r) && sits && end_of(r, f->unit->service, f->unit->service_guid);
}

/* A principal that enters brings a subordinate of the other service, if it has none. */
static bool brings(const struct agent_facts *f, const struct agent_relation *r)
{
    return is_container_relation(r->record) && !*f->unit->principal &&
           (!r->other || r->other->subordinate);
}

static const struct agent_child *child_of(const struct agent_facts *f,
                                          const struct agent_relation *r)
{
    for (size_t i = 0; i < f->child_count && r->other; i++) {
        if (strcmp(f->children[i].name.service, r->other->name) == 0) {
            return &f->children[i];
        }
    }
    return NULL;
}

struct agent_cause agent_cause_of(const struct agent_facts *f, const struct agent_relation *r)
{
    bool with_child = brings(f, r);
    const struct agent_child *child = with_child ? child_of(f, r) : NULL;
    struct agent_cause c = {
        .unit = f->revision, .relation = r->revision, .incarnation = f->incarnation};
    c.child = child ? child->revision : 0;
    c.service = with_child ? r->other_revision : 0;
    c.number = with_child && !child && r->has_number ? r->number + 1 : 0;
    return c;
}

static bool is_refused_still(const struct agent_facts *f, const struct agent_relation *r)
{
    struct agent_cause now = agent_cause_of(f, r);
    return r->was_refused && now.unit == r->refused.unit && now.relation == r->refused.relation &&
           now.child == r->refused.child && now.service == r->refused.service &&
           now.number == r->refused.number && now.incarnation == r->refused.incarnation;
}

static struct agent_step enter(const struct agent_relation *r)
{
    struct agent_step s =
        agent_step_of(13, AGENT_ENTER, "it is Alive, and its service has an end there");
    s.relation = r->record->number;
    s.relation_guid = r->record->guid;
    return s;
}

/* 1. Refused, and nothing that it was judged by is another: for good.
 * 2. It brings no subordinate, or has it already: enter.
 * 3. The subordinate that it has takes its leave: not yet.
 * 4. The other service is not known, or not Alive; or it has as many as it may: not now.
 * 5. A number for a new one, then enter with it. */
static struct agent_step try_enter(const struct agent_facts *f, const struct agent_relation *r)
{
    const struct agent_child *child = brings(f, r) ? child_of(f, r) : NULL;
    if (is_refused_still(f, r)) { /* 1 */
        return agent_wait(13, "a relation cannot be entered: the board refused it");
    }
    if (!brings(f, r) || (child && child->alive)) { /* 2 */
        return enter(r);
    }
    if (child) { /* 3 */
        return agent_wait(13, "a relation cannot be entered yet: its subordinate has to go first");
    }
    if (!r->other ||
        lifecycle_state(&unit_service_lifecycle, r->other->state) != UNIT_SERVICE_ALIVE) { /* 4 */
        return agent_wait(13,
                          "a relation cannot be entered: its service is not Alive, or not known");
    }
    if (f->child_count == AGENT_CHILDREN_MAX) { /* 4 */
        return agent_wait(13, "a relation cannot be entered: the unit has 8 subordinates");
    }
    struct agent_step s = enter(r);
    if (!r->has_number) { /* 5 */
        s = agent_step_of(13, AGENT_NUMBERS, "a subordinate is to be made");
        s.service = r->other->name;
        return s;
    }
    s.brings_child = true;
    s.child = (struct unit_name){r->other->name, r->number};
    return s;
}

/* The first that can be entered; else the first that waits. */
struct agent_step agent_enter_next(const struct agent_facts *f)
{
    struct agent_step first = agent_wait(13, "nothing is to be done");
    bool full = f->sight.relation_count >= HOOK_RELATIONS_MAX, held = false;
    for (size_t i = 0; i < f->relation_count; i++) {
        const struct agent_relation *r = &f->relations[i];
        if (is_member(f, r->record->number) || !implements(f, r->record)) {
            continue;
        }
        struct agent_step s =
            full ? agent_wait(13, "a relation cannot be entered: it is in 64") : try_enter(f, r);
        if (s.act != AGENT_WAIT) {
            return s;
        }
        first = held ? first : s;
        held = true;
    }
    return first;
}
