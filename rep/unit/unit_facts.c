/* What an agent, and the tools of a hook, look at: out of the records that are held. */
#include "common/charmfile/charm.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/model/unit_settings.h"
#include "rep/unit/unit_knowledge.h"
#include "rep/unit/unit_records.h"

#include <assert.h>
#include <string.h>

/* ---- Records by name ------------------------------------------------------------------------- */

const Board__UnitRecord *unit_knowledge_unit(const struct unit_knowledge *k, struct arena *a,
                                             struct unit_name name)
{
    return (const Board__UnitRecord *)unit_record(k, a, key_unit(a, name));
}

const Board__UnitStatusRecord *unit_knowledge_status(const struct unit_knowledge *k,
                                                     struct arena *a, struct unit_name name)
{
    return (const Board__UnitStatusRecord *)unit_record(k, a, key_unit_status(a, name));
}

const Board__MachineRecord *unit_knowledge_machine(const struct unit_knowledge *k, struct arena *a)
{
    const Board__MachineCellRecord *c =
        (const Board__MachineCellRecord *)unit_record(k, a, key_machine_cell(a, k->cell_id));
    return c ? (const Board__MachineRecord *)unit_record(k, a, key_machine(a, c->number)) : NULL;
}

const Board__UnitServiceRecord *unit_knowledge_service(const struct unit_knowledge *k,
                                                       struct arena *a, const char *service)
{
    return (const Board__UnitServiceRecord *)unit_record(k, a, key_unit_service(a, service));
}

const Board__RelationRecord *unit_knowledge_relation(const struct unit_knowledge *k,
                                                     struct arena *a, uint32_t number)
{
    return (const Board__RelationRecord *)unit_record(k, a, key_relation(a, number));
}

const Board__Charm *unit_knowledge_charm(const struct unit_knowledge *k, struct arena *a,
                                         const char *service, const char *digest)
{
    const Board__CharmRecord *r =
        (const Board__CharmRecord *)unit_record(k, a, key_charm(a, service, digest));
    return r ? r->charm : NULL;
}

const struct unit_outline *unit_knowledge_outline(const struct unit_knowledge *k, struct arena *a,
                                                  const char *service, const char *digest)
{
    return map_get(&k->outlines, key_charm(a, service, digest));
}

size_t unit_knowledge_config(const struct unit_knowledge *k, struct arena *a, const char *service,
                             const Board__Charm *charm, Board__UnitSetting ***ret_list)
{
    const Board__UnitConfigRecord *c =
        (const Board__UnitConfigRecord *)unit_record(k, a, key_unit_config(a, service));
    *ret_list = ARENA_ARRAY(a, charm->n_config, Board__UnitSetting *);
    for (size_t i = 0; i < charm->n_config; i++) {
        Board__UnitSetting *s = arena_copy(a, charm->config[i], sizeof(*s));
        const char *set = c ? unit_setting(c->settings, c->n_settings, s->key) : NULL;
        s->value = set ? arena_strdup(a, set) : s->value;
        (*ret_list)[i] = s;
    }
    return charm->n_config;
}

const Board__UnitRecord *unit_knowledge_of_guid(const struct unit_knowledge *k, struct arena *a,
                                                const char *text, const char *guid)
{
    struct unit_name name;
    const Board__UnitRecord *u =
        unit_name_parse(a, text, &name) ? unit_knowledge_unit(k, a, name) : NULL;
    return u && strcmp(u->guid, guid) == 0 ? u : NULL;
}

static const Board__UnitServiceRecord *service_of_guid(const struct unit_knowledge *k,
                                                       struct arena *a, const char *service,
                                                       const char *guid)
{
    const Board__UnitServiceRecord *s = unit_knowledge_service(k, a, service);
    return s && strcmp(s->guid, guid) == 0 ? s : NULL;
}

static struct map_node *first_of(const struct unit_knowledge *k, const char *prefix)
{
    struct map_node *n = map_from(&k->records, prefix);
    return n && unit_key_begins(map_key(n), prefix) ? n : NULL;
}

static struct map_node *next_of(struct map_node *n, const char *prefix)
{
    n = map_next(n);
    return n && unit_key_begins(map_key(n), prefix) ? n : NULL;
}

/* ---- Memberships ----------------------------------------------------------------------------- */

static const Board__RelationEnd *end_in_role(const Board__RelationRecord *r, int role)
{
    for (size_t i = 0; r && i < r->n_ends; i++) {
        if ((int)r->ends[i]->endpoint->role == role) {
            return r->ends[i];
        }
    }
    return NULL;
}

/* Providers see requirers, and these them; peers see peers. */
static int role_seen(int role)
{
    return role == BOARD__ENDPOINT__ROLE__REQUIRER   ? BOARD__ENDPOINT__ROLE__PROVIDER
           : role == BOARD__ENDPOINT__ROLE__PROVIDER ? BOARD__ENDPOINT__ROLE__REQUIRER
                                                     : role;
}

/* The key that its members would have, but for the number. */
static const char *side_of(struct arena *a, const struct member_name *own,
                           const Board__RelationEnd *end, int role)
{
    struct member_name m = {own->relation, own->principal, role, {end->service, 0}};
    const char *key = key_relation_member(a, &m);
    return strchr(arena_strndup(a, key, key_parent_size(key)), '/') + 1;
}

static bool is_silent(const Board__RelationEnd *own)
{
    return own && own->endpoint->role == BOARD__ENDPOINT__ROLE__PROVIDER &&
           strcmp(own->endpoint->name, CHARM_IMPLICIT) == 0;
}

static void see_peers(struct arena *a, const struct unit_side *side, uint32_t self,
                      struct sight_relation *seen)
{
    struct sight_member *list = ARENA_ARRAY(a, side->count, struct sight_member);
    for (size_t i = 0; i < side->count; i++) {
        if (side->members[i].unit != self) {
            list[seen->member_count++] = side->members[i];
        }
    }
    seen->members = list;
}

static void see_relation(const struct unit_knowledge *k, struct arena *a,
                         const Board__UnitScopeRecord *scope, const struct member_name *own,
                         struct sight_relation *seen)
{
    const Board__RelationRecord *r = unit_knowledge_relation(k, a, own->relation);
    bool same = r && strcmp(r->guid, scope->relation_guid) == 0;
    int role = role_seen(own->role);
    const Board__RelationEnd *end = same ? end_in_role(r, role) : NULL;
    const struct unit_side *side = end ? map_get(&k->sides, side_of(a, own, end, role)) : NULL;
    *seen = (struct sight_relation){
        .number = own->relation,
        .guid = scope->relation_guid,
        .alive = same && lifecycle_state(&relation_lifecycle, r->state) == RELATION_ALIVE,
        .silent = same && is_silent(end_in_role(r, own->role))};
    if (side && role == own->role) {
        see_peers(a, side, own->unit.number, seen);
    } else if (side) {
        seen->members = side->members;
        seen->member_count = side->count;
    }
}

static void see_relations(const struct unit_knowledge *k, struct arena *a, struct unit_name name,
                          struct unit_sight *sight)
{
    const char *prefix = key_unit_scopes(a, name);
    struct sight_relation *list = ARENA_ARRAY(a, HOOK_RELATIONS_MAX, struct sight_relation);
    size_t count = 0;
    for (struct map_node *n = first_of(k, prefix); n && count < HOOK_RELATIONS_MAX;
         n = next_of(n, prefix)) {
        struct member_name own;
        const Board__UnitScopeRecord *s =
            (const Board__UnitScopeRecord *)unit_record(k, a, map_key(n));
        if (s && member_of_key(a, s->member, &own)) {
            see_relation(k, a, s, &own, &list[count++]);
        }
    }
    assert(count <= HOOK_RELATIONS_MAX);
    sight->relations = list;
    sight->relation_count = count;
}

/* ---- Subordinates, and relations to enter ---------------------------------------------------- */

static void see_children(const struct unit_knowledge *k, struct arena *a, struct unit_name name,
                         struct agent_facts *f)
{
    const char *prefix = key_unit_children(a, name);
    struct agent_child *list = ARENA_ARRAY(a, AGENT_CHILDREN_MAX, struct agent_child);
    f->child_count = 0;
    for (struct map_node *n = first_of(k, prefix); n && f->child_count < AGENT_CHILDREN_MAX;
         n = next_of(n, prefix)) {
        const Board__UnitChildRecord *c =
            (const Board__UnitChildRecord *)unit_record(k, a, map_key(n));
        struct agent_child *child = &list[f->child_count];
        if (!c || !unit_name_parse(a, c->unit, &child->name)) {
            continue;
        }
        const Board__UnitRecord *u = unit_knowledge_of_guid(k, a, c->unit, c->guid);
        child->guid = c->guid;
        child->alive = u && lifecycle_state(&unit_lifecycle, u->state) == UNIT_ALIVE;
        child->revision = unit_record_revision(k, key_unit(a, child->name));
        f->child_count++;
    }
    f->children = list;
}

static bool has_child_of(const struct agent_facts *f, const char *service)
{
    for (size_t i = 0; i < f->child_count; i++) {
        if (strcmp(f->children[i].name.service, service) == 0) {
            return true;
        }
    }
    return false;
}

/* The end that is not the unit's; NULL of peers. */
static const Board__RelationEnd *other_end(const Board__RelationRecord *r, const char *service)
{
    for (size_t i = 0; i < r->n_ends; i++) {
        if (strcmp(r->ends[i]->service, service) != 0) {
            return r->ends[i];
        }
    }
    return NULL;
}

/* Of a container relation: what a principal brings. */
static void see_other(struct unit_knowledge *k, struct arena *a, struct unit_name name,
                      const struct agent_facts *f, struct agent_relation *r)
{
    const Board__RelationEnd *other = other_end(r->record, name.service);
    if (!other || r->record->scope != BOARD__ENDPOINT__SCOPE__CONTAINER) {
        return;
    }
    r->other = service_of_guid(k, a, other->service, other->service_guid);
    if (r->other) {
        r->other_revision = unit_record_revision(k, key_unit_service(a, other->service));
    }
    if (f->unit && !*f->unit->principal && r->other && r->other->subordinate &&
        !has_child_of(f, other->service)) {
        r->has_number = unit_number_of(k, name, other->service, &r->number);
    }
}

static void see_service_relations(struct unit_knowledge *k, struct arena *a, struct unit_name name,
                                  struct agent_facts *f)
{
    const char *prefix = key_range_of(a, RECORD_UNIT_SERVICE_RELATION, name.service);
    size_t all = 0;
    for (struct map_node *n = first_of(k, prefix); n; n = next_of(n, prefix)) {
        all++;
    }
    struct agent_relation *list = ARENA_ARRAY(a, all, struct agent_relation);
    f->relation_count = 0;
    for (struct map_node *n = first_of(k, prefix); n; n = next_of(n, prefix)) {
        uint32_t number;
        struct agent_relation *r = &list[f->relation_count];
        r->record =
            number_of_key(a, map_key(n), &number) ? unit_knowledge_relation(k, a, number) : NULL;
        if (!r->record) {
            continue;
        }
        const struct agent_cause *refused = map_get(&k->refused, unit_refused_key(a, name, number));
        r->revision = unit_record_revision(k, key_relation(a, number));
        r->was_refused = refused != NULL;
        r->refused = refused ? *refused : (struct agent_cause){0};
        see_other(k, a, name, f, r);
        f->relation_count++;
    }
    f->relations = list;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

/* The service of the unit, as its guid has it; without it nothing of it is another one. */
static void see_service(const struct unit_knowledge *k, struct arena *a, struct unit_name name,
                        struct agent_facts *f)
{
    f->service = f->unit ? service_of_guid(k, a, name.service, f->unit->service_guid) : NULL;
    f->sight.charm = f->service ? f->service->charm : f->journal ? f->journal->charm : "";
    f->sight.config_version = unit_record_revision(k, key_unit_config(a, name.service));
}

void unit_knowledge_facts(struct unit_knowledge *k, struct arena *a, struct unit_name name,
                          const char *guid, const Rep__UnitNote *journal, struct agent_facts *f)
{
    f->cell_id = k->cell_id;
    f->guid = guid;
    f->journal = journal;
    f->confirmed = unit_knowledge_known(k, name);
    f->unit = unit_knowledge_unit(k, a, name);
    f->revision = unit_record_revision(k, key_unit(a, name));
    f->status = unit_knowledge_status(k, a, name);
    f->status_revision = unit_record_revision(k, key_unit_status(a, name));
    f->principal = f->unit && *f->unit->principal
                       ? unit_knowledge_of_guid(k, a, f->unit->principal, f->unit->principal_guid)
                       : NULL;
    assert(!f->confirmed || *k->board_generation);
    f->sight.epoch = k->board_generation;
    f->sight.alive = f->unit && lifecycle_state(&unit_lifecycle, f->unit->state) == UNIT_ALIVE;
    see_service(k, a, name, f);
    see_relations(k, a, name, &f->sight);
    see_children(k, a, name, f);
    see_service_relations(k, a, name, f);
}

/* ---- What the tools see ---------------------------------------------------------------------- */

static bool was_told(const Rep__UnitNote *j, uint32_t relation, uint32_t unit)
{
    for (size_t i = 0; j && i < j->n_relations; i++) {
        const Rep__UnitNoteRelation *r = j->relations[i];
        for (size_t n = 0; r->number == relation && n < r->n_members; n++) {
            if (r->members[n]->unit == unit) {
                return true;
            }
        }
    }
    return false;
}

static size_t told_of(const Rep__UnitNote *j, uint32_t relation)
{
    for (size_t i = 0; j && i < j->n_relations; i++) {
        if (j->relations[i]->number == relation) {
            return j->relations[i]->n_members;
        }
    }
    return 0;
}

/* The hook that the journal notes is about that member, and is one of these two. */
static bool is_about(const Rep__UnitNote *j, const struct member_name *member, enum unit_hook one,
                     enum unit_hook other)
{
    const Rep__UnitNoteHook *h = j ? j->hook : NULL;
    bool same = h && h->relation == member->relation && h->unit == member->unit.number;
    return same && (h->hook == (uint32_t)one || h->hook == (uint32_t)other);
}

static bool has_entered(const struct unit_knowledge *k, struct arena *a,
                        const struct member_name *name)
{
    const Board__RelationMemberRecord *m =
        (const Board__RelationMemberRecord *)unit_record(k, a, key_relation_member(a, name));
    return m && strcmp(m->state, "departing") != 0;
}

/* 1. The one that has joined or changed, whatever became of it since: the hook is about it.
 * 2. Not the one that departs.
 * 3. Where the unit, or the relation, ends: those whose departed has not run.
 * 4. Those that are there, and not departing. */
static bool is_listed(const struct unit_knowledge *k, struct arena *a,
                      const struct member_name *name, const Rep__UnitNote *j, bool ends)
{
    bool departs = is_about(j, name, HOOK_DEPARTED, HOOK_DEPARTED);
    if (is_about(j, name, HOOK_JOINED, HOOK_CHANGED)) { /* 1 */
        return true;
    }
    return !departs && (ends ? was_told(j, name->relation, name->unit.number) /* 2, 3 */
                             : has_entered(k, a, name));                      /* 4 */
}

/* Those that it sees, and what those told that have left; none is left out that it was told of, or
 * that its hook is about. */
static void show_members(const struct unit_knowledge *k, struct arena *a,
                         const struct member_name *own, const Board__RelationEnd *end,
                         const Rep__UnitNote *j, bool ends, struct tool_relation *t)
{
    int role = role_seen(own->role);
    const char *prefix = arena_printf(a, "relation_settings/%s", side_of(a, own, end, role));
    struct tool_member *list = ARENA_ARRAY(a, HOOK_SCOPE_TOLD_MAX, struct tool_member);
    size_t told = told_of(j, own->relation), others = 0;
    bool joins = j && j->hook && j->hook->hook == HOOK_JOINED && j->hook->relation == own->relation;
    size_t kept = told + (joins && told < HOOK_SCOPE_TOLD_MAX);
    assert(told <= HOOK_SCOPE_TOLD_MAX);
    for (struct map_node *n = first_of(k, prefix); n && t->member_count < HOOK_SCOPE_TOLD_MAX;
         n = next_of(n, prefix)) {
        struct member_name name;
        const Board__RelationSettingsRecord *s;
        if (!member_of_key(a, map_key(n), &name) || unit_name_equal(name.unit, own->unit)) {
            continue;
        }
        bool known = was_told(j, own->relation, name.unit.number) ||
                     is_about(j, &name, HOOK_JOINED, HOOK_JOINED);
        others += !known;
        if (!known && others > HOOK_SCOPE_TOLD_MAX - kept) {
            continue;
        }
        s = (const Board__RelationSettingsRecord *)unit_record(k, a, map_key(n));
        if (s) {
            list[t->member_count++] =
                (struct tool_member){unit_name_text(a, name.unit), is_listed(k, a, &name, j, ends),
                                     s->settings, s->n_settings};
        }
    }
    assert(t->member_count <= HOOK_SCOPE_TOLD_MAX);
    t->members = list;
}

static void show_relation(const struct unit_knowledge *k, struct arena *a,
                          const struct member_name *own, const Rep__UnitNote *j, bool dying,
                          struct tool_relation *t)
{
    const Board__RelationRecord *r = unit_knowledge_relation(k, a, own->relation);
    const Board__RelationEnd *mine = end_in_role(r, own->role);
    const Board__RelationEnd *seen = end_in_role(r, role_seen(own->role));
    const Board__RelationSettingsRecord *s =
        (const Board__RelationSettingsRecord *)unit_record(k, a, key_relation_settings(a, own));
    *t = (struct tool_relation){.number = own->relation,
                                .endpoint = mine ? mine->endpoint->name : "",
                                .own = s ? s->settings : NULL,
                                .own_count = s ? s->n_settings : 0};
    bool ends = dying || !r || lifecycle_state(&relation_lifecycle, r->state) != RELATION_ALIVE;
    if (seen) {
        show_members(k, a, own, seen, j, ends, t);
    }
}

static void show_relations(const struct unit_knowledge *k, struct arena *a, struct unit_name name,
                           const Rep__UnitNote *j, bool dying, struct tool_world *w)
{
    const char *prefix = key_unit_scopes(a, name);
    struct tool_relation *list = ARENA_ARRAY(a, HOOK_RELATIONS_MAX, struct tool_relation);
    w->relation_count = 0;
    for (struct map_node *n = first_of(k, prefix); n && w->relation_count < HOOK_RELATIONS_MAX;
         n = next_of(n, prefix)) {
        struct member_name own;
        const Board__UnitScopeRecord *s =
            (const Board__UnitScopeRecord *)unit_record(k, a, map_key(n));
        if (s && member_of_key(a, s->member, &own)) {
            show_relation(k, a, &own, j, dying, &list[w->relation_count++]);
        }
    }
    w->relations = list;
}

void unit_knowledge_tools(const struct unit_knowledge *k, struct arena *a, struct unit_name name,
                          const char *charm_digest, const Rep__UnitNote *journal,
                          struct tool_world *w)
{
    const Board__UnitRecord *u = unit_knowledge_unit(k, a, name);
    const Board__Charm *charm = unit_knowledge_charm(k, a, name.service, charm_digest);
    Board__UnitSetting **config = NULL;
    bool placed = u && (u->assigned || *u->principal);
    w->unit = unit_name_text(a, name);
    w->principal = u ? u->principal : "";
    w->machine = placed ? arena_printf(a, "%u", u->machine) : "";
    w->charm = charm;
    w->config_count = charm ? unit_knowledge_config(k, a, name.service, charm, &config) : 0;
    w->config = config;
    bool dying = u && lifecycle_state(&unit_lifecycle, u->state) != UNIT_ALIVE;
    show_relations(k, a, name, journal, dying, w);
}
