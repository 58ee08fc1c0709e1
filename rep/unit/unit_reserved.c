/* What a struct unit_knowledge remembers of moves: numbers that were taken, enters that were
 * refused. */
#include "common/base/memory.h"
#include "rep/unit/unit_knowledge.h"
#include "rep/unit/unit_records.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- Numbers --------------------------------------------------------------------------------- */

void unit_knowledge_numbers(struct unit_knowledge *k, const char *service, uint32_t first,
                            uint32_t count)
{
    struct unit_numbers *n = map_get(&k->numbers, service);
    if (!n) {
        n = mem_zeroed(sizeof(*n));
        map_put(&k->numbers, service, n);
    }
    for (uint32_t i = count; i > 0 && k->numbers_kept < UNIT_NUMBERS_KEPT_MAX; i--) {
        if (n->count == n->capacity) {
            n->capacity = n->capacity ? 2 * n->capacity : 8;
            n->list = mem_resized(n->list, n->capacity, sizeof(*n->list));
        }
        n->list[n->count++] = first + (i - 1);
        k->numbers_kept++;
    }
}

bool unit_number_of(struct unit_knowledge *k, struct unit_name principal, const char *service,
                    uint32_t *ret)
{
    SCOPED_ARENA(a);
    const char *key = unit_reserved_key(&a, principal, service);
    uint32_t *has = map_get(&k->reserved, key);
    struct unit_numbers *n = map_get(&k->numbers, service);
    if (!has && n && n->count) {
        has = mem_zeroed(sizeof(*has));
        *has = n->list[--n->count];
        assert(k->numbers_kept > 0);
        k->numbers_kept--;
        map_put(&k->reserved, key, has);
    }
    if (n && n->count == 0) {
        map_remove(&k->numbers, service);
        free(n->list);
        free(n);
    }
    *ret = has ? *has : 0;
    return has;
}

/* The service is at an end of that container relation, and is subordinate. */
static bool joins(const Board__RelationRecord *r, const char *service)
{
    bool joined = false;
    for (size_t i = 0; i < r->n_ends; i++) {
        joined = joined || strcmp(r->ends[i]->service, service) == 0;
    }
    return joined && r->scope == BOARD__ENDPOINT__SCOPE__CONTAINER;
}

/* Principals here of that service that have neither a subordinate nor a number for one. */
static uint32_t principals_without(const struct unit_knowledge *k, struct arena *a,
                                   const char *principals, const char *service, uint32_t most)
{
    const char *prefix = key_range_of(a, RECORD_UNIT, principals);
    uint32_t count = 0;
    for (struct map_node *n = map_from(&k->records, prefix);
         n && count < most && unit_key_begins(map_key(n), prefix); n = map_next(n)) {
        struct unit_name name;
        const Board__UnitRecord *u = (const Board__UnitRecord *)unit_record(k, a, map_key(n));
        count += u && unit_of_key(a, map_key(n), &name) && !*u->principal &&
                 strcmp(u->state, "alive") == 0 &&
                 !map_get(&k->records, key_unit_child(a, name, service)) &&
                 !map_get(&k->reserved, unit_reserved_key(a, name, service));
    }
    return count;
}

uint32_t unit_knowledge_numbers_due(const struct unit_knowledge *k, const char *service)
{
    enum { AT_ONCE = 64 }; /* as bbs takes them: bbs/units/units.h */
    SCOPED_ARENA(a);
    uint32_t due = 0;
    for (struct map_node *n = map_from(&k->records, "relation/");
         n && due < AT_ONCE && unit_key_begins(map_key(n), "relation/"); n = map_next(n)) {
        const Board__RelationRecord *r =
            (const Board__RelationRecord *)unit_record(k, &a, map_key(n));
        for (size_t i = 0; r && joins(r, service) && i < r->n_ends; i++) {
            if (strcmp(r->ends[i]->service, service) != 0) {
                due += principals_without(k, &a, r->ends[i]->service, service, AT_ONCE - due);
            }
        }
    }
    assert(due <= AT_ONCE);
    return due ? due : 1;
}

/* ---- Refusals -------------------------------------------------------------------------------- */

struct agent_cause unit_knowledge_cause(const struct agent_facts *f, uint32_t relation)
{
    for (size_t i = 0; i < f->relation_count; i++) {
        if (f->relations[i].record->number == relation) {
            return agent_cause_of(f, &f->relations[i]);
        }
    }
    return (struct agent_cause){.unit = f->revision};
}

/* Nobody has this number any more: it may be what was refused. */
static void forget_number(struct unit_knowledge *k, struct arena *a, struct unit_name name,
                          uint32_t relation)
{
    const Board__RelationRecord *r =
        (const Board__RelationRecord *)unit_record(k, a, key_relation(a, relation));
    for (size_t i = 0; r && i < r->n_ends; i++) {
        free(map_remove(&k->reserved, unit_reserved_key(a, name, r->ends[i]->service)));
    }
}

/* 1. The first time the number goes, for it may be why. 2. If nothing but the number was another
 * one since, it is not why: it is kept, and nothing is tried again. */
void unit_knowledge_enter_refused(struct unit_knowledge *k, struct unit_name name,
                                  uint32_t relation, struct agent_cause cause)
{
    SCOPED_ARENA(a);
    const struct agent_cause *before = map_get(&k->refused, unit_refused_key(&a, name, relation));
    bool same = before && before->unit == cause.unit && before->relation == cause.relation &&
                before->child == cause.child && before->service == cause.service &&
                before->incarnation == cause.incarnation;
    if (cause.number && !same) { /* 1 */
        forget_number(k, &a, name, relation);
    }
    struct agent_cause *c = mem_zeroed(sizeof(*c)); /* 2 */
    *c = cause;
    if (k->refused.count >= UNIT_REFUSED_MAX) {
        map_done(&k->refused, free);
    }
    free(map_put(&k->refused, unit_refused_key(&a, name, relation), c));
    assert(k->refused.count <= UNIT_REFUSED_MAX);
}
