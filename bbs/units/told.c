#include "bbs/units/told.h"

#include "bbs/units/facts.h"
#include "bbs/units/unit_jobs.h"
#include "bbs/units/why.h"
#include "bbs/board/speaker.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"
#include "common/lifecycle/unit_status.h"
#include "common/model/service_owner.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* One answer while it is made: the records that it is told of, as units_why() wants them. */
struct units_telling {
    struct view *v;
    struct arena *a;
    struct map records;
    struct unit_why *why; /* of one thing after the other */
};

static void telling_begin(struct units_telling *t, struct view *v)
{
    *t = (struct units_telling){.v = v, .a = view_arena(v)};
    t->why = ARENA_NEW(t->a, struct unit_why);
    map_init(&t->records);
}

static void telling_end(struct units_telling *t)
{
    map_done(&t->records, NULL);
}

/* ---- What an explanation looks at ------------------------------------------------------------ */

static const void *load(struct units_telling *t, const char *key)
{
    const void *m = view_peek_message(t->v, key);
    if (m) {
        map_put(&t->records, key, (void *)(uintptr_t)m);
    }
    return m;
}

static void load_range(struct units_telling *t, const char *range)
{
    for (const char *key = ""; (key = units_key_after(t->v, range, key));) {
        load(t, key);
    }
}

/* Whose hooks run where one waits for its turn. */
static void load_turns(struct units_telling *t, const Board__UnitRecord *of)
{
    Board__Selector selector = BOARD__SELECTOR__INIT;
    struct picked *list;
    struct unit_name name;
    selector.type = arena_strdup(t->a, record_type_name(RECORD_UNIT_STATUS));
    selector.cell_id = of->cell_id;
    size_t count = view_pick(t->v, &selector, &list);
    for (size_t i = 0; i < count; i++) {
        const Board__UnitStatusRecord *s = view_peek_message(t->v, list[i].key);
        if (s && s->running && unit_of_key(t->a, list[i].key, &name)) {
            load(t, list[i].key);
            load(t, key_unit(t->a, name));
        }
    }
}

/* What tells how it is, and whether somebody speaks for it. */
static const Board__UnitRecord *load_unit(struct units_telling *t, struct unit_name name)
{
    const Board__UnitRecord *u = load(t, key_unit(t->a, name));
    if (u) {
        const Board__UnitStatusRecord *s = load(t, key_unit_status(t->a, name));
        load(t, key_cell(t->a, u->cell_id));
        load(t, key_job(t->a, u->guid, FORCE_UNIT_JOB));
        if (s && s->lack && s->lack->kind == BOARD__UNIT_LACK__KIND__TURN) {
            load_turns(t, u);
        }
    }
    return u;
}

static void load_children(struct units_telling *t, struct unit_name name)
{
    const char *children = key_unit_children(t->a, name);
    struct unit_name child;
    for (const char *key = ""; (key = units_key_after(t->v, children, key));) {
        const Board__UnitChildRecord *c = load(t, key);
        if (c && unit_name_parse(t->a, c->unit, &child)) {
            load_unit(t, child);
        }
    }
}

/* And what holds it. */
static void load_unit_whole(struct units_telling *t, struct unit_name name)
{
    const Board__UnitRecord *u = load_unit(t, name);
    const char *scopes = key_unit_scopes(t->a, name);
    uint32_t number;
    if (u && u->needs && u->needs->on_machine) {
        const Board__MachineRecord *m = load(t, key_machine(t->a, u->needs->machine));
        m ? load(t, key_cell(t->a, m->cell_id)) : NULL;
    }
    load_children(t, name);
    for (const char *key = ""; (key = units_key_after(t->v, scopes, key));) {
        load(t, key);
        if (number_of_key(t->a, key, &number)) {
            load(t, key_relation(t->a, number));
        }
    }
}

/* One that is alive is held by nobody, however many are in it. */
static void load_relation(struct units_telling *t, uint32_t number)
{
    const Board__RelationRecord *r = load(t, key_relation(t->a, number));
    const char *members = key_relation_members(t->a, number);
    struct member_name name;
    if (!r || life_of(&relation_lifecycle, r->state) == RELATION_ALIVE) {
        return;
    }
    for (const char *key = ""; (key = units_key_after(t->v, members, key));) {
        load(t, key);
        if (member_of_key(t->a, key, &name)) {
            load_unit(t, name.unit);
        }
    }
}

/* Nobody speaks for what is on the cell. */
static bool is_down(struct units_telling *t, const char *cell_id, const char *identity)
{
    const Board__CellRecord *cell =
        *cell_id ? view_peek_message(t->v, key_cell(t->a, cell_id)) : NULL;
    return *cell_id && (cell_is_absent(cell) || strcmp(cell->identity, identity) != 0);
}

/* Its cell is being emptied, or nobody speaks for it. */
static bool is_troubled(struct units_telling *t, const Board__UnitRecord *u)
{
    const Board__CellRecord *cell =
        *u->cell_id ? view_peek_message(t->v, key_cell(t->a, u->cell_id)) : NULL;
    return (cell && cell->evacuating) || is_down(t, u->cell_id, u->identity);
}

/* Of a service that is alive those units alone of which ailment_of() of why.c may have a word. */
static void load_ailing(struct units_telling *t, const char *units)
{
    for (const char *key = ""; (key = units_key_after(t->v, units, key));) {
        const Board__UnitRecord *u = view_peek_message(t->v, key);
        struct unit_name name = u ? unit_name_of(u) : (struct unit_name){0};
        const Board__UnitStatusRecord *s =
            u ? view_peek_message(t->v, key_unit_status(t->a, name)) : NULL;
        bool started = s && life_of(&unit_status_lifecycle, s->state) == UNIT_STATUS_STARTED;
        if (u && (!started || s->lack || s->running || *s->upgrade_error || is_troubled(t, u))) {
            load_unit_whole(t, name);
        }
    }
}

static void load_service(struct units_telling *t, const char *service)
{
    const Board__UnitServiceRecord *s = load(t, key_unit_service(t->a, service));
    const char *units = key_range_of(t->a, RECORD_UNIT, service);
    const char *relations = key_range_of(t->a, RECORD_UNIT_SERVICE_RELATION, service);
    struct unit_name name;
    uint32_t number;
    if (s && life_of(&unit_service_lifecycle, s->state) == UNIT_SERVICE_ALIVE) {
        load_ailing(t, units);
    }
    if (!s || life_of(&unit_service_lifecycle, s->state) == UNIT_SERVICE_ALIVE) {
        return;
    }
    for (const char *key = ""; (key = units_key_after(t->v, units, key));) {
        if (unit_of_key(t->a, key, &name)) {
            load_unit(t, name);
            load_children(t, name);
        }
    }
    for (const char *key = ""; (key = units_key_after(t->v, relations, key));) {
        load(t, key);
        if (number_of_key(t->a, key, &number)) {
            load_relation(t, number);
        }
    }
}

static void load_machine(struct units_telling *t, uint32_t number)
{
    const Board__MachineRecord *m = load(t, key_machine(t->a, number));
    if (m) {
        load(t, key_cell(t->a, m->cell_id));
        load(t, key_job(t->a, m->guid, FORCE_MACHINE_JOB));
        load_range(t, key_machine_units(t->a, number));
    }
}

/* ---- Holds ----------------------------------------------------------------------------------- */

static Board__UnitHold *hold_message(struct arena *a, const struct unit_hold *h)
{
    Board__UnitHold *m = arena_message(a, &board__unit_hold__descriptor);
    assert(*h->by && *h->text && *h->ends);
    m->by = arena_strdup(a, h->by);
    m->since = h->since_ns;
    m->text = arena_strdup(a, h->text);
    m->ends = arena_strdup(a, h->ends);
    return m;
}

/* The first thing that holds it; NULL if nothing does. What it looks at is loaded. */
static Board__UnitHold *first_hold(struct units_telling *t, const char *key)
{
    bool known = units_why(t->a, &t->records, key, t->why);
    return known && t->why->count > 0 ? hold_message(t->a, &t->why->holds[0]) : NULL;
}

/* ---- Entries --------------------------------------------------------------------------------- */

static Board__UnitEntry *unit_entry(struct units_telling *t, const Board__UnitRecord *u)
{
    struct unit_name name = unit_name_of(u);
    Board__UnitEntry *e = arena_message(t->a, &board__unit_entry__descriptor);
    const Board__UnitStatusRecord *status = view_peek_message(t->v, key_unit_status(t->a, name));
    e->unit = (Board__UnitRecord *)(uintptr_t)u;
    e->status = (Board__UnitStatusRecord *)(uintptr_t)status;
    e->down = is_down(t, u->cell_id, u->identity);
    bool started = status && life_of(&unit_status_lifecycle, status->state) == UNIT_STATUS_STARTED;
    if (!started || status->lack || *status->upgrade_error || is_troubled(t, u) ||
        life_of(&unit_lifecycle, u->state) != UNIT_ALIVE) {
        load_unit_whole(t, name);
        e->held = first_hold(t, key_unit(t->a, name));
    }
    return e;
}

static Board__UnitServiceEntry *service_entry(struct units_telling *t,
                                              const Board__UnitServiceRecord *s)
{
    const char *range = key_range_of(t->a, RECORD_UNIT, s->name);
    Board__UnitServiceEntry *e = arena_message(t->a, &board__unit_service_entry__descriptor);
    e->service = (Board__UnitServiceRecord *)(uintptr_t)s;
    e->units = ARENA_ARRAY(t->a, view_peek_count(t->v, range), Board__UnitEntry *);
    for (const char *key = ""; (key = units_key_after(t->v, range, key));) {
        const Board__UnitRecord *u = view_peek_message(t->v, key);
        if (u) {
            e->units[e->n_units++] = unit_entry(t, u);
        }
    }
    assert(e->n_units <= view_peek_count(t->v, range));
    load_service(t, s->name);
    e->held = first_hold(t, key_unit_service(t->a, s->name));
    return e;
}

static Board__UnitRelationEntry *relation_entry(struct units_telling *t,
                                                const Board__RelationRecord *r)
{
    Board__UnitRelationEntry *e = arena_message(t->a, &board__unit_relation_entry__descriptor);
    e->relation = (Board__RelationRecord *)(uintptr_t)r;
    e->members = (uint32_t)view_peek_count(t->v, key_relation_members(t->a, r->number));
    load_relation(t, r->number);
    e->held = first_hold(t, key_relation(t->a, r->number));
    return e;
}

static Board__MachineEntry *machine_entry(struct units_telling *t, const Board__MachineRecord *m)
{
    Board__MachineEntry *e = arena_message(t->a, &board__machine_entry__descriptor);
    e->machine = (Board__MachineRecord *)(uintptr_t)m;
    e->units = (uint32_t)view_peek_count(t->v, key_machine_units(t->a, m->number));
    e->down = is_down(t, m->cell_id, m->identity);
    load_machine(t, m->number);
    e->held = first_hold(t, key_machine(t->a, m->number));
    return e;
}

/* ---- Names that are not there ---------------------------------------------------------------- */

/* What else has the name; NULL = nothing. */
static const char *stranger(struct view *v, const char *name)
{
    struct arena *a = view_arena(v);
    struct unit_name unit;
    if (unit_service_name_is_valid(name) && view_peek(v, key_unit_service(a, name))) {
        return arena_printf(a, "a unit service: bbs units status %s", name);
    }
    if (unit_name_parse(a, name, &unit) && view_peek(v, key_unit(a, unit))) {
        return arena_printf(a, "a unit: bbs units why %s", name);
    }
    if (view_peek(v, key_service(a, SERVICE_APPS_UID, service_app_path(a, name))) ||
        view_peek(v, key_desired(a, name))) {
        return arena_printf(a, "an app: bbs ps %s", name);
    }
    return view_peek(v, key_system(a, name))
               ? arena_printf(a, "a system: bbs systems status %s", name)
               : NULL;
}

/* A client's word in an answer: no more of it than shows which one is meant, and as it can be
 * written anywhere. */
static const char *shown(struct arena *a, const char *name)
{
    enum { SHOWN = 80 };
    char *text = arena_strdup(a, name);
    for (size_t i = 0; text[i]; i++) {
        text[i] = text[i] > ' ' && text[i] < 0x7f ? text[i] : '?';
    }
    return strlen(text) > SHOWN ? arena_printf(a, "%.*s...", SHOWN, text) : text;
}

/* Something stands there that a later version has written. */
static bool is_of_later_version(struct view *v, const char *key)
{
    const char *there = view_peek(v, key) ? NULL : view_peek_key(v, key, NULL);
    return there && strcmp(there, key) == 0;
}

/* NULL: it is no name of that kind. */
static const char *key_of_noun(struct arena *a, enum units_noun noun, const char *name)
{
    struct unit_name unit;
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    bool numbered = isdigit((unsigned char)*name) && !*end && number <= UINT32_MAX;
    if (noun == NOUN_UNIT) {
        return unit_name_parse(a, name, &unit) ? key_unit(a, unit) : NULL;
    }
    return noun == NOUN_SERVICE    ? key_unit_service(a, name)
           : !numbered             ? NULL
           : noun == NOUN_RELATION ? key_relation(a, (uint32_t)number)
                                   : key_machine(a, (uint32_t)number);
}

const char *units_unknown(struct view *v, enum units_noun noun, const char *name)
{
    static const struct {
        const char *text, *list;
    } nouns[] = {
        [NOUN_UNIT] = {"unit", "bbs units"},
        [NOUN_SERVICE] = {"unit service", "bbs units"},
        [NOUN_RELATION] = {"relation", "bbs units relations"},
        [NOUN_MACHINE] = {"machine", "bbs units machines"},
    };
    assert(noun <= NOUN_MACHINE);
    if (!*name) {
        return arena_printf(view_arena(v), "which %s? its name is empty: %s lists those that are",
                            nouns[noun].text, nouns[noun].list);
    }
    const char *key = key_of_noun(view_arena(v), noun, name);
    if (key && is_of_later_version(v, key)) {
        return arena_printf(
            view_arena(v),
            "%s %s was written by a later version of the software: ask a bbs of that version",
            nouns[noun].text, shown(view_arena(v), name));
    }
    const char *other = stranger(v, name);
    name = shown(view_arena(v), name);
    return other ? arena_printf(view_arena(v), "there is no %s %s: that is %s", nouns[noun].text,
                                name, other)
                 : arena_printf(view_arena(v), "there is no %s %s: %s lists those that are",
                                nouns[noun].text, name, nouns[noun].list);
}

static Models__Error *unknown(struct view *v, enum units_noun noun, const char *name)
{
    Models__Error *e = arena_message(view_arena(v), &models__error__descriptor);
    e->type = MODELS__ERROR__TYPE__ResourceNotFound;
    e->message = arena_strdup(view_arena(v), units_unknown(v, noun, name));
    return e;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static bool is_picked(struct arena *a, const Board__UnitsRequest *r, const struct picked *p)
{
    ProtobufCMessage *m;
    if (!r->on_machine) {
        return true;
    }
    if (record_decode(a, RECORD_UNIT, blob_bytes(p->blob), &m, NULL) < 0) {
        return false;
    }
    const Board__UnitRecord *u = (const Board__UnitRecord *)m;
    return u->assigned && u->machine == r->machine;
}

size_t units_pick(struct view *v, const Board__UnitsRequest *r, struct picked **ret_list)
{
    struct arena *a = view_arena(v);
    Board__Selector selector = BOARD__SELECTOR__INIT;
    const Board__MachineRecord *machine =
        r->on_machine ? view_peek_message(v, key_machine(a, r->machine)) : NULL;
    bool none =
        r->on_machine && (!machine || (*r->cell_id && strcmp(r->cell_id, machine->cell_id) != 0));
    if (none) {
        *ret_list = NULL;
        return 0;
    }
    selector.type = arena_strdup(a, record_type_name(RECORD_UNIT));
    if (*r->service) {
        selector.key_prefix = arena_strdup(a, key_range_of(a, RECORD_UNIT, r->service));
    }
    selector.cell_id = machine ? machine->cell_id : r->cell_id;
    size_t count = view_pick(v, &selector, ret_list), kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_picked(a, r, &(*ret_list)[i])) {
            (*ret_list)[kept++] = (*ret_list)[i];
        }
    }
    assert(kept <= count);
    return kept;
}

Board__UnitsResponse *units_told(struct view *v, const Board__UnitsRequest *r)
{
    struct arena *a = view_arena(v);
    struct picked *list;
    size_t count = units_pick(v, r, &list);
    Board__UnitsResponse *to = arena_message(a, &board__units_response__descriptor);
    to->units = ARENA_ARRAY(a, count, Board__UnitEntry *);
    for (size_t i = 0; i < count; i++) {
        const Board__UnitRecord *u = view_peek_message(v, list[i].key);
        if (u) {
            const void *status = view_peek_message(v, key_unit_status(a, unit_name_of(u)));
            Board__UnitEntry *e = arena_message(a, &board__unit_entry__descriptor);
            e->unit = (Board__UnitRecord *)(uintptr_t)u;
            e->status = (Board__UnitStatusRecord *)(uintptr_t)status;
            to->units[to->n_units++] = e;
        }
    }
    return to;
}

/* ---- Status ---------------------------------------------------------------------------------- */

static void tell_services(struct units_telling *t, const Board__UnitsStatusRequest *r,
                          Board__UnitsStatus *to)
{
    const char *all = arena_printf(t->a, "%s/", record_type_name(RECORD_UNIT_SERVICE));
    size_t count = r->n_services ? r->n_services : view_peek_count(t->v, all);
    to->services = ARENA_ARRAY(t->a, count, Board__UnitServiceEntry *);
    for (size_t i = 0; i < r->n_services && !to->error; i++) {
        const Board__UnitServiceRecord *s =
            view_peek_message(t->v, key_unit_service(t->a, r->services[i]));
        if (s) {
            to->services[to->n_services++] = service_entry(t, s);
        } else {
            to->error = unknown(t->v, NOUN_SERVICE, r->services[i]);
        }
    }
    const char *key = "";
    while (r->n_services == 0 && (key = units_key_after(t->v, all, key))) {
        const Board__UnitServiceRecord *s = view_peek_message(t->v, key);
        if (s) {
            to->services[to->n_services++] = service_entry(t, s);
        }
    }
}

static bool is_named(const Board__UnitsStatusRequest *r, const char *service)
{
    bool named = false;
    for (size_t i = 0; i < r->n_services && !named; i++) {
        named = strcmp(r->services[i], service) == 0;
    }
    return named;
}

/* The next unit of these services that is a subordinate's principal, and the subordinate. */
static size_t each_beside(struct units_telling *t, const Board__UnitsStatusRequest *r,
                          const Board__UnitsStatus *of, Board__UnitEntry **ret_list)
{
    size_t count = 0;
    for (size_t i = 0; i < of->n_services; i++) {
        for (size_t k = 0; k < of->services[i]->n_units; k++) {
            const Board__UnitRecord *u = of->services[i]->units[k]->unit;
            const char *children = key_unit_children(t->a, unit_name_of(u));
            for (const char *key = ""; (key = units_key_after(t->v, children, key));) {
                const Board__UnitChildRecord *c = view_peek_message(t->v, key);
                struct unit_name name;
                const Board__UnitRecord *child = c && unit_name_parse(t->a, c->unit, &name)
                                                     ? view_peek_message(t->v, key_unit(t->a, name))
                                                     : NULL;
                if (child && !is_named(r, child->service)) {
                    count++;
                    ret_list ? ret_list[count - 1] = unit_entry(t, child) : NULL;
                }
            }
        }
    }
    return count;
}

/* Subordinates of services that were not asked for, of units of those that were. */
static void tell_beside(struct units_telling *t, const Board__UnitsStatusRequest *r,
                        Board__UnitsStatus *to)
{
    to->beside = ARENA_ARRAY(t->a, each_beside(t, r, to, NULL), Board__UnitEntry *);
    to->n_beside = each_beside(t, r, to, to->beside);
}

static bool is_of(const Board__RelationRecord *r, char *const *services, size_t count)
{
    bool of = count == 0;
    for (size_t i = 0; i < count && !of; i++) {
        for (size_t k = 0; k < r->n_ends && !of; k++) {
            of = strcmp(r->ends[k]->service, services[i]) == 0;
        }
    }
    return of;
}

static Board__UnitRelationEntry **tell_relations(struct units_telling *t, char *const *services,
                                                 size_t service_count, size_t *ret_count)
{
    const char *all = arena_printf(t->a, "%s/", record_type_name(RECORD_RELATION));
    Board__UnitRelationEntry **list =
        ARENA_ARRAY(t->a, view_peek_count(t->v, all), Board__UnitRelationEntry *);
    *ret_count = 0;
    for (const char *key = ""; (key = units_key_after(t->v, all, key));) {
        const Board__RelationRecord *r = view_peek_message(t->v, key);
        if (r && is_of(r, services, service_count)) {
            list[(*ret_count)++] = relation_entry(t, r);
        }
    }
    return list;
}

static void tell_machines(struct units_telling *t, Board__UnitsStatus *to)
{
    const char *all = arena_printf(t->a, "%s/", record_type_name(RECORD_MACHINE));
    to->machines = ARENA_ARRAY(t->a, view_peek_count(t->v, all), Board__MachineEntry *);
    for (const char *key = ""; (key = units_key_after(t->v, all, key));) {
        const Board__MachineRecord *m = view_peek_message(t->v, key);
        if (m) {
            to->machines[to->n_machines++] = machine_entry(t, m);
        }
    }
}

Board__UnitsStatus *units_status_told(struct view *v, const Board__UnitsStatusRequest *r)
{
    struct units_telling t;
    Board__UnitsStatus *to = arena_message(view_arena(v), &board__units_status__descriptor);
    telling_begin(&t, v);
    tell_services(&t, r, to);
    to->relations = tell_relations(&t, r->services, r->n_services, &to->n_relations);
    if (r->n_services == 0) {
        tell_machines(&t, to);
    } else {
        tell_beside(&t, r, to);
    }
    telling_end(&t);
    assert(to->error || r->n_services == 0 || to->n_services == r->n_services);
    return to;
}

Board__UnitServiceWhole *unit_service_told(struct view *v, const char *service)
{
    struct units_telling t;
    struct arena *a = view_arena(v);
    Board__UnitServiceWhole *to = arena_message(a, &board__unit_service_whole__descriptor);
    const Board__UnitServiceRecord *s = view_peek_message(v, key_unit_service(a, service));
    if (!s) {
        to->error = unknown(v, NOUN_SERVICE, service);
        return to;
    }
    telling_begin(&t, v);
    const Board__CharmRecord *charm = view_peek_message(v, key_charm(a, service, s->charm));
    const struct seen *config = view_peek(v, key_unit_config(a, service));
    to->service = service_entry(&t, s);
    to->charm = charm ? charm->charm : NULL;
    if (config) {
        const Board__UnitConfigRecord *c = (const Board__UnitConfigRecord *)config->message;
        to->n_settings = c->n_settings;
        to->settings = c->settings;
        to->version = config->mod_revision;
    }
    char *const one[] = {s->name};
    to->relations = tell_relations(&t, one, 1, &to->n_relations);
    telling_end(&t);
    return to;
}

/* ---- Why ------------------------------------------------------------------------------------- */

/* A number without a zero before it. */
static bool number_of(const char *text, uint32_t *ret)
{
    uint64_t n = 0;
    size_t size = strspn(text, "0123456789");
    if (size == 0 || size > 10 || text[size] || (size > 1 && *text == '0')) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        n = n * 10 + (uint64_t)(text[i] - '0');
    }
    *ret = (uint32_t)n;
    return n <= UINT32_MAX;
}

/* The key of what is named, and what explains it is loaded; NULL = no name can be such a one. */
static const char *load_named(struct units_telling *t, const Board__UnitsWhyRequest *r,
                              enum units_noun *ret_noun)
{
    struct unit_name unit;
    uint32_t number = 0;
    bool numbered = number_of(r->name, &number);
    *ret_noun = r->machine ? NOUN_MACHINE : numbered ? NOUN_RELATION : NOUN_SERVICE;
    if (r->machine) {
        load_machine(t, number);
        return numbered ? key_machine(t->a, number) : NULL;
    }
    if (numbered) {
        load_relation(t, number);
        return key_relation(t->a, number);
    }
    if (unit_name_parse(t->a, r->name, &unit)) {
        *ret_noun = NOUN_UNIT;
        load_unit_whole(t, unit);
        return key_unit(t->a, unit);
    }
    load_service(t, r->name);
    return key_unit_service(t->a, r->name);
}

Board__UnitsWhy *units_why_told(struct view *v, const Board__UnitsWhyRequest *r)
{
    struct units_telling t;
    enum units_noun noun;
    Board__UnitsWhy *to = arena_message(view_arena(v), &board__units_why__descriptor);
    telling_begin(&t, v);
    const char *key = load_named(&t, r, &noun);
    if (!key || !units_why(t.a, &t.records, key, t.why)) {
        to->error = unknown(v, noun, r->name);
    } else {
        to->subject = arena_strdup(t.a, t.why->subject);
        to->done = t.why->done;
        to->more = t.why->more;
        to->unplaced = t.why->unplaced;
        assert(*to->subject && (!to->done || t.why->count == 0));
        to->holds = ARENA_ARRAY(t.a, t.why->count, Board__UnitHold *);
        for (size_t i = 0; i < t.why->count; i++) {
            to->holds[to->n_holds++] = hold_message(t.a, &t.why->holds[i]);
        }
    }
    telling_end(&t);
    return to;
}
