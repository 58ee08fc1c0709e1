#include "test/tool/unit_author.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct author_member *unit_author_knows(struct unit_author *o, const char *relation, uint32_t unit)
{
    for (size_t i = 0; i < o->count; i++) {
        if (o->members[i].unit == unit && strcmp(o->members[i].relation, relation) == 0) {
            return &o->members[i];
        }
    }
    return NULL;
}

static bool author_knows_any(const struct unit_author *o, const char *relation)
{
    bool any = false;
    for (size_t i = 0; i < o->count; i++) {
        any = any || strcmp(o->members[i].relation, relation) == 0;
    }
    return any;
}

bool unit_author_heard_broken(const struct unit_author *o, const char *relation)
{
    bool heard = false;
    for (size_t i = 0; i < o->broken_count; i++) {
        heard = heard || strcmp(o->broken[i], relation) == 0;
    }
    return heard;
}

static const char *relation_guid(const Rep__UnitNote *j, uint32_t number)
{
    for (size_t i = 0; i < j->n_relations; i++) {
        if (j->relations[i]->number == number) {
            return j->relations[i]->guid;
        }
    }
    return "";
}

static bool is_owed_departed(const struct unit_author *o)
{
    bool owed = false;
    for (size_t i = 0; i < o->count; i++) {
        owed = owed || !o->members[i].given_up;
    }
    return owed;
}

static bool has_left(const struct unit_author *o, const char *relation)
{
    bool left = false;
    for (size_t i = 0; i < o->left_count; i++) {
        left = left || strcmp(o->left[i], relation) == 0;
    }
    return left;
}

void unit_author_gives_up(struct unit_author *o, const char *relation)
{
    if (!has_left(o, relation)) {
        assert(o->left_count < UNIT_MEMBERS_TOLD_MAX);
        snprintf(o->left[o->left_count++], GUID_BYTES, "%s", relation);
    }
    for (size_t i = 0; i < o->count; i++) {
        if (strcmp(o->members[i].relation, relation) == 0) {
            o->members[i].given_up = true;
        }
    }
}

#define LAW(condition)                                                                             \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            return #condition;                                                                     \
        }                                                                                          \
    } while (0)

const char *unit_author_refuses(struct unit_author *o, const Rep__UnitNote *j)
{
    const Rep__UnitNoteHook *h = j->hook;
    const char *relation = relation_guid(j, h->relation);
    const struct author_member *known = unit_author_knows(o, relation, h->unit);
    LAW(!o->stopped);
    LAW((h->hook == HOOK_INSTALL) == !o->installed);
    LAW(h->hook != HOOK_START || (o->configured && !o->started));
    LAW(h->hook == HOOK_INSTALL || h->hook == HOOK_CONFIG_CHANGED || h->hook == HOOK_START ||
        o->started);
    LAW(h->hook != HOOK_STOP || !is_owed_departed(o));
    LAW(h->hook < HOOK_JOINED || !unit_author_heard_broken(o, relation));
    LAW(h->hook != HOOK_JOINED || !known);
    LAW(h->hook != HOOK_CHANGED || known);
    LAW(h->hook != HOOK_DEPARTED || (known && known->changed));
    LAW(h->hook != HOOK_BROKEN || !author_knows_any(o, relation));
    return NULL;
}

static const Rep__UnitNoteRelation *relation_of(const Rep__UnitNote *j, const char *guid)
{
    const Rep__UnitNoteRelation *found = NULL;
    for (size_t i = 0; j && i < j->n_relations; i++) {
        found = strcmp(j->relations[i]->guid, guid) == 0 ? j->relations[i] : found;
    }
    return found;
}

static bool is_told_of(const Rep__UnitNote *j, const struct author_member *m)
{
    const Rep__UnitNoteRelation *r = relation_of(j, m->relation);
    bool told = false;
    for (size_t i = 0; r && i < r->n_members; i++) {
        told = told || r->members[i]->unit == m->unit;
    }
    return told;
}

void unit_author_begins_anew(struct unit_author *o, const Rep__UnitNote *j)
{
    size_t members = 0, broken = 0;
    o->installed = o->configured = o->started = false;
    o->stopped = o->stopped && j && j->stopped;
    for (size_t i = 0; i < o->count; i++) {
        if (is_told_of(j, &o->members[i])) {
            o->members[members++] = o->members[i];
        }
    }
    for (size_t i = 0; i < o->broken_count; i++) {
        const Rep__UnitNoteRelation *r = relation_of(j, o->broken[i]);
        if (r && r->broken) {
            memmove(o->broken[broken++], o->broken[i], GUID_BYTES);
        }
    }
    o->count = members;
    o->broken_count = broken;
}

void unit_author_learns(struct unit_author *o, const Rep__UnitNote *j)
{
    const Rep__UnitNoteHook *h = j->hook;
    const char *relation = relation_guid(j, h->relation);
    struct author_member *known = unit_author_knows(o, relation, h->unit);
    o->installed = o->installed || h->hook == HOOK_INSTALL;
    o->configured = o->configured || h->hook == HOOK_CONFIG_CHANGED;
    o->started = o->started || h->hook == HOOK_START;
    o->stopped = o->stopped || h->hook == HOOK_STOP;
    if (!*relation) {
        return;
    }
    if (h->hook == HOOK_JOINED && !known) {
        assert(o->count < UNIT_MEMBERS_TOLD_MAX);
        known = &o->members[o->count++];
        *known = (struct author_member){.unit = h->unit, .given_up = has_left(o, relation)};
        snprintf(known->relation, sizeof(known->relation), "%s", relation);
    } else if (h->hook == HOOK_CHANGED && known) {
        known->changed = true;
    } else if (h->hook == HOOK_DEPARTED && known) {
        *known = o->members[--o->count];
    } else if (h->hook == HOOK_BROKEN) {
        assert(o->broken_count < UNIT_MEMBERS_TOLD_MAX);
        snprintf(o->broken[o->broken_count++], GUID_BYTES, "%s", relation);
    }
}
