#include "bbs/cli/units/unit_tree.h"

#include "common/base/map.h"
#include "common/cli/table.h"
#include "common/model/unit_name.h"

#include <assert.h>
#include <string.h>

#define ALIVE "alive"

/* ---- Cells ----------------------------------------------------------------------------------- */

static const char *life_text(const char *state)
{
    return strcmp(state, ALIVE) == 0 ? "" : state;
}

const char *unit_state_text(struct arena *a, const Board__UnitEntry *e)
{
    const char *life = life_text(e->unit->state);
    const char *status = !e->unit->assigned && !*e->unit->principal ? "unassigned"
                         : e->status                                ? e->status->state
                                                                    : "unknown";
    const char *how = e->down ? arena_printf(a, "down (%s)", status) : status;
    return *life ? arena_printf(a, "%s, %s", life, how) : how;
}

static const char *address_text(struct arena *a, const Board__UnitStatusRecord *s)
{
    if (!s || !*s->address) {
        return "";
    }
    return s->n_ports > 0 ? arena_printf(a, "%s:%u", s->address, s->ports[0]->host_port)
                          : s->address;
}

static const char *hold_text(const Board__UnitHold *h)
{
    return h ? h->text : "";
}

static const char *name_of(struct arena *a, const Board__UnitRecord *u)
{
    return unit_name_text(a, (struct unit_name){u->service, u->number});
}

static const char *ends_text(struct arena *a, const Board__RelationRecord *r)
{
    return relation_canonical(a, r->ends, r->n_ends);
}

/* ---- The tree -------------------------------------------------------------------------------- */

struct units_tree {
    struct arena *a;
    struct table table;
    struct map principals; /* name -> entry: those that are shown */
    struct map children;   /* "<principal> <name>" -> entry */
};

static void note_units(struct units_tree *t, Board__UnitEntry *const *units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Board__UnitEntry *e = units[i];
        const char *name = name_of(t->a, e->unit);
        if (*e->unit->principal) {
            map_put(&t->children, arena_printf(t->a, "%s %s", e->unit->principal, name), e);
        } else {
            map_put(&t->principals, name, e);
        }
    }
}

/* What a unit says that nothing holds: the hook that it runs, its own words, how its command ended.
 */
static const char *said_text(struct arena *a, const Board__UnitStatusRecord *s)
{
    const char *text = !s           ? ""
                       : s->running ? arena_printf(a, "its hook %s runs%s%s", s->running->hook,
                                                   *s->text ? ": " : "", s->text)
                                    : s->text;
    if (!s || s->crash_count <= 0) {
        return text;
    }
    const char *times = s->crash_count == 1 ? "once" : arena_printf(a, "%d times", s->crash_count);
    return arena_printf(a, "%s%sits command has ended %s%s%s", text, *text ? "; " : "", times,
                        *s->crash_reason ? ": " : "", s->crash_reason);
}

/* A subordinate is on its principal's machine. */
static void add_unit(struct units_tree *t, const Board__UnitEntry *e, const char *indent)
{
    bool placed = e->unit->assigned || *e->unit->principal;
    table_add(&t->table, (const char *[]){
                             arena_printf(t->a, "%s%s", indent, name_of(t->a, e->unit)),
                             unit_state_text(t->a, e),
                             placed ? arena_printf(t->a, "%u", e->unit->machine) : "",
                             address_text(t->a, e->status),
                             e->held ? hold_text(e->held) : said_text(t->a, e->status),
                         });
}

/* A subordinate stands below its principal, or below its service where that is not shown. */
static void add_units(struct units_tree *t, const Board__UnitServiceEntry *s)
{
    for (size_t i = 0; i < s->n_units; i++) {
        const Board__UnitEntry *e = s->units[i];
        if (*e->unit->principal && map_get(&t->principals, e->unit->principal)) {
            continue;
        }
        add_unit(t, e, "  ");
        const char *below = arena_printf(t->a, "%s ", name_of(t->a, e->unit));
        for (struct map_node *n = map_from(&t->children, below);
             n && strncmp(map_key(n), below, strlen(below)) == 0; n = map_next(n)) {
            add_unit(t, map_value(n), "    ");
        }
    }
}

/* "db -> store:kv", as the service sees it; of peers "ring (peers)". */
static const char *relation_seen(struct arena *a, const Board__RelationRecord *r, size_t own)
{
    assert(own < r->n_ends);
    const Board__RelationEnd *here = r->ends[own], *there = r->ends[r->n_ends - 1 - own];
    return r->n_ends == 1 ? arena_printf(a, "%s (peers)", here->endpoint->name)
                          : arena_printf(a, "%s -> %s:%s", here->endpoint->name, there->service,
                                         there->endpoint->name);
}

static void add_relations(struct units_tree *t, const Board__UnitsStatus *status,
                          const char *service)
{
    for (size_t i = 0; i < status->n_relations; i++) {
        const Board__UnitRelationEntry *e = status->relations[i];
        for (size_t k = 0; k < e->relation->n_ends; k++) {
            if (strcmp(e->relation->ends[k]->service, service) != 0) {
                continue;
            }
            table_add(
                &t->table,
                (const char *[]){arena_printf(t->a, "  %s", relation_seen(t->a, e->relation, k)),
                                 life_text(e->relation->state), "", "", hold_text(e->held)});
        }
    }
}

void units_tree(struct arena *a, const Board__UnitsStatus *status, bool terminal, unsigned width,
                struct buf *out)
{
    struct units_tree t = {.a = a};
    map_init(&t.principals);
    map_init(&t.children);
    table_init(&t.table, a, 5, (const char *[]){"NAME", "STATE", "MACHINE", "ADDRESS:PORT", "WHY"});
    t.table.terminal = terminal;
    t.table.width = width;
    for (size_t i = 0; i < status->n_services; i++) {
        note_units(&t, status->services[i]->units, status->services[i]->n_units);
    }
    note_units(&t, status->beside, status->n_beside);
    for (size_t i = 0; i < status->n_services; i++) {
        const Board__UnitServiceEntry *s = status->services[i];
        table_add(&t.table, (const char *[]){s->service->name, life_text(s->service->state), "", "",
                                             hold_text(s->held)});
        add_units(&t, s);
        add_relations(&t, status, s->service->name);
    }
    table_print(&t.table, out);
    map_done(&t.principals, NULL);
    map_done(&t.children, NULL);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static const char *machine_state(struct arena *a, const Board__MachineEntry *e)
{
    const Board__MachineRecord *m = e->machine;
    const char *life = life_text(m->state);
    const char *how = e->down       ? "down"
                      : m->manage   ? "manager"
                      : m->cordoned ? "cordoned"
                      : *life       ? ""
                                    : "open";
    return *life && *how ? arena_printf(a, "%s, %s", life, how) : *life ? life : how;
}

void unit_machines_table(struct arena *a, Board__MachineEntry *const *list, size_t count,
                         int64_t now_ns, unsigned width, struct buf *out)
{
    struct table t;
    table_init(&t, a, 6, (const char *[]){"MACHINE", "CELL", "STATE", "FOR", "UNITS", "WHY"});
    t.width = width;
    for (size_t i = 0; i < count; i++) {
        const Board__MachineEntry *e = list[i];
        table_add(&t,
                  (const char *[]){arena_printf(a, "%u", e->machine->number), e->machine->cell_id,
                                   machine_state(a, e), age_text(a, now_ns - e->machine->since),
                                   arena_printf(a, "%u", e->units), hold_text(e->held)});
    }
    table_print(&t, out);
}

void unit_relations_table(struct arena *a, Board__UnitRelationEntry *const *list, size_t count,
                          int64_t now_ns, unsigned width, struct buf *out)
{
    struct table t;
    table_init(&t, a, 7,
               (const char *[]){"RELATION", "ENDS", "SCOPE", "STATE", "FOR", "MEMBERS", "WHY"});
    t.width = width;
    for (size_t i = 0; i < count; i++) {
        const Board__UnitRelationEntry *e = list[i];
        const Board__RelationRecord *r = e->relation;
        table_add(&t, (const char *[]){arena_printf(a, "%u", r->number), ends_text(a, r),
                                       r->scope == BOARD__ENDPOINT__SCOPE__CONTAINER ? "container"
                                                                                     : "global",
                                       r->state, age_text(a, now_ns - r->since),
                                       arena_printf(a, "%u", e->members), hold_text(e->held)});
    }
    table_print(&t, out);
}

void unit_config_table(struct arena *a, const Board__UnitServiceWhole *whole, struct buf *out)
{
    struct table t;
    table_init(&t, a, 3, (const char *[]){"KEY", "VALUE", "FROM"});
    for (size_t i = 0; whole->charm && i < whole->charm->n_config; i++) {
        const Board__UnitSetting *option = whole->charm->config[i], *set = NULL;
        for (size_t k = 0; k < whole->n_settings && !set; k++) {
            bool same = strcmp(whole->settings[k]->key, option->key) == 0;
            set = same ? whole->settings[k] : NULL;
        }
        table_add(&t, (const char *[]){option->key, set ? set->value : option->value,
                                       set ? "set" : "default"});
    }
    table_print(&t, out);
}

/* ---- Why ------------------------------------------------------------------------------------- */

void unit_why_show(struct arena *a, const Board__UnitsWhy *why, int64_t now_ns, struct buf *out)
{
    printable_append(out, why->subject);
    if (why->done) {
        buf_append_string(out, ": nothing holds it\n");
        return;
    }
    buf_append_string(out, why->n_holds ? "\n"
                                        : ": held by nothing, and not done: this is a fault of the "
                                          "cluster, please report it\n");
    for (size_t i = 0; i < why->n_holds; i++) {
        const Board__UnitHold *h = why->holds[i];
        buf_append_string(out, "  ");
        printable_append(out, h->text);
        buf_printf(out, "%s%s\n", h->since ? ", for " : "",
                   h->since ? age_text(a, now_ns - h->since) : "");
        buf_append_string(out, "    ends with: ");
        printable_append(out, h->ends);
        buf_append_string(out, "\n");
    }
    if (why->more) {
        buf_printf(out, "  and %llu more\n", (unsigned long long)why->more);
    }
}
