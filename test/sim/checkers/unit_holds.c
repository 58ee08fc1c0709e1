/* V12: what is not as it should be is held by something, all that holds it is named, and what is
 * named holds it; at each look, of the board as it stands. */
#include "test/sim/checkers/units.h"

#include "bbs/units/facts.h"
#include "bbs/units/why.h"
#include "common/lifecycle/machine.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"
#include "common/lifecycle/unit_status.h"

#include <string.h>

struct holds_seen {
    struct checkers *k;
    struct arena *arena;
    struct map records; /* messages by their keys */
    struct unit_why why;
};

static void take_record(void *context, const struct past *p)
{
    struct holds_seen *h = context;
    map_put(&h->records, p->key, (void *)(uintptr_t)p->message);
}

static bool is_named(const struct holds_seen *h, const char *key)
{
    for (size_t i = 0; i < h->why.count; i++) {
        if (strcmp(h->why.holds[i].by, key) == 0) {
            return true;
        }
    }
    return false;
}

static bool says(const struct holds_seen *h, const char *text)
{
    for (size_t i = 0; i < h->why.count; i++) {
        if (strstr(h->why.holds[i].text, text)) {
            return true;
        }
    }
    return false;
}

/* ---- What holds, by the records alone -------------------------------------------------------- */

/* The keys below a prefix are all named; how many there are. */
static size_t demand_below(struct holds_seen *h, const char *key, const char *prefix)
{
    size_t count = 0;
    for (struct map_node *n = map_from(&h->records, prefix);
         n && strncmp(map_key(n), prefix, strlen(prefix)) == 0; n = map_next(n)) {
        count++;
        if (!is_named(h, map_key(n))) {
            checkers_report(h->k, "V12", "%s is held by %s, and why does not name it", key,
                            map_key(n));
        }
    }
    return count;
}

static bool is_absent(struct holds_seen *h, const char *cell_id, const char *identity)
{
    const Board__CellRecord *c = map_get(&h->records, key_cell(h->arena, cell_id));
    return !c || cell_is_absent(c) || strcmp(c->identity, identity) != 0;
}

static bool is_emptied(struct holds_seen *h, const char *cell_id)
{
    const Board__CellRecord *c = map_get(&h->records, key_cell(h->arena, cell_id));
    return c && c->evacuating;
}

/* It is as it should be, as far as this one sees. */
static bool unit_is_done(struct holds_seen *h, const Board__UnitRecord *u,
                         const Board__UnitStatusRecord *s)
{
    return life_of(&unit_lifecycle, u->state) == UNIT_ALIVE && *u->cell_id && s &&
           life_of(&unit_status_lifecycle, s->state) == UNIT_STATUS_STARTED && !s->running &&
           !s->lack && !*s->upgrade_error && s->crash_count == 0 &&
           !is_absent(h, u->cell_id, u->identity) && !is_emptied(h, u->cell_id);
}

/* What a unit lacks on its cell while somebody speaks for that, in words that its kind has. */
static bool lack_is_untold(struct holds_seen *h, const Board__UnitRecord *u,
                           const Board__UnitStatusRecord *s)
{
    static const char *const words[] = {"", "no room", "could not be made", "of its principal",
                                        "waits for its turn"};
    bool lacks = *u->cell_id && s && s->lack && life_of(&unit_lifecycle, u->state) != UNIT_DEAD &&
                 !is_absent(h, u->cell_id, u->identity);
    return lacks && (!says(h, words[s->lack->kind]) || !says(h, s->lack->hook));
}

static bool demand_of_unit(struct holds_seen *h, const char *key, const void *record)
{
    const Board__UnitRecord *u = record;
    struct unit_name name = unit_name_of(u);
    const Board__UnitStatusRecord *s = map_get(&h->records, key_unit_status(h->arena, name));
    bool dying = life_of(&unit_lifecycle, u->state) == UNIT_DYING;
    if (dying) {
        demand_below(h, key, key_unit_scopes(h->arena, name));
        demand_below(h, key, key_unit_children(h->arena, name));
    }
    bool stuck = life_of(&unit_lifecycle, u->state) != UNIT_DEAD && *u->cell_id && s &&
                 life_of(&unit_status_lifecycle, s->state) == UNIT_STATUS_ERROR;
    if (stuck && !says(h, s->hook)) {
        checkers_report(h->k, "V12", "%s is in error with hook %s, and why does not say it", key,
                        s->hook);
    }
    if (lack_is_untold(h, u, s)) {
        checkers_report(h->k, "V12", "%s lacks what is no. %d, and why does not say it", key,
                        (int)s->lack->kind);
    }
    if (dying && *u->cell_id && is_absent(h, u->cell_id, u->identity) && !says(h, u->cell_id)) {
        checkers_report(h->k, "V12", "nobody speaks for %s, and why does not say it", key);
    }
    return unit_is_done(h, u, s);
}

static bool demand_of_relation(struct holds_seen *h, const char *key, const void *record)
{
    const Board__RelationRecord *r = record;
    bool alive = life_of(&relation_lifecycle, r->state) == RELATION_ALIVE;
    if (!alive) {
        demand_below(h, key, key_relation_members(h->arena, r->number));
    }
    return alive;
}

/* The subordinates of a dying service's units, each named. */
static void demand_children(struct holds_seen *h, const char *key, const char *units)
{
    for (struct map_node *n = map_from(&h->records, units);
         n && strncmp(map_key(n), units, strlen(units)) == 0; n = map_next(n)) {
        demand_below(h, key, key_unit_children(h->arena, unit_name_of(map_value(n))));
    }
}

static bool is_in_error(const Board__UnitStatusRecord *s)
{
    return life_of(&unit_status_lifecycle, s->state) == UNIT_STATUS_ERROR;
}

/* What an operator has to know of, of a unit whose service is alive: in error, down, without a
 * machine, at an older charm, on a cell that is being emptied, in a hook for a while. */
static bool unit_ails(struct holds_seen *h, const Board__UnitRecord *u)
{
    const Board__UnitStatusRecord *s =
        map_get(&h->records, key_unit_status(h->arena, unit_name_of(u)));
    bool failed = s && is_in_error(s) && s->resolved == BOARD__UNIT_STATUS_RECORD__RESOLVED__NOT;
    bool placed = *u->cell_id, alive = life_of(&unit_lifecycle, u->state) == UNIT_ALIVE;
    return life_of(&unit_lifecycle, u->state) != UNIT_DEAD &&
           (failed || (placed && s && s->lack) ||
            (placed && is_absent(h, u->cell_id, u->identity)) ||
            (placed && s && s->running && !is_in_error(s)) ||
            (alive && ((s && *s->upgrade_error) || !placed || is_emptied(h, u->cell_id))));
}

/* None ails; or it is said of how many. The first one is named, whichever way it is told. */
static bool demand_of_units(struct holds_seen *h, const char *key, const char *units)
{
    size_t count = 0;
    for (struct map_node *n = map_from(&h->records, units);
         n && strncmp(map_key(n), units, strlen(units)) == 0; n = map_next(n)) {
        if (!unit_ails(h, map_value(n))) {
            continue;
        }
        const char *name = unit_name_text(h->arena, unit_name_of(map_value(n)));
        if (count++ == 0 && !says(h, arena_printf(h->arena, "%s (", name))) {
            checkers_report(h->k, "V12",
                            "%s has unit %s, which is not well, and why does not "
                            "name it",
                            key, name);
        }
    }
    return count == 0;
}

static bool demand_of_service(struct holds_seen *h, const char *key, const void *record)
{
    const Board__UnitServiceRecord *s = record;
    const char *units = key_range_of(h->arena, RECORD_UNIT, s->name);
    if (life_of(&unit_service_lifecycle, s->state) == UNIT_SERVICE_ALIVE) {
        return demand_of_units(h, key, units);
    }
    demand_below(h, key, units);
    demand_children(h, key, units);
    demand_below(h, key, key_range_of(h->arena, RECORD_UNIT_SERVICE_RELATION, s->name));
    return false;
}

static bool demand_of_machine(struct holds_seen *h, const char *key, const void *record)
{
    const Board__MachineRecord *m = record;
    const Board__CellRecord *c = map_get(&h->records, key_cell(h->arena, m->cell_id));
    bool absent = is_absent(h, m->cell_id, m->identity);
    if (life_of(&machine_lifecycle, m->state) != MACHINE_ALIVE) {
        return false;
    }
    bool well = !absent && !c->evacuating;
    if (!well && !says(h, m->cell_id)) {
        checkers_report(h->k, "V12",
                        "cell %s of %s is not as it should be, and why does not "
                        "say it",
                        m->cell_id, key);
    }
    return well;
}

static const struct holds_row {
    const char *prefix;
    bool (*demand)(struct holds_seen *h, const char *key, const void *record);
} rows[] = {{"machine/", demand_of_machine},
            {"relation/", demand_of_relation},
            {"unit/", demand_of_unit},
            {"unit_service/", demand_of_service}};

/* ---- What why says --------------------------------------------------------------------------- */

/* No record has since when a cell is being emptied, or has left, when a hook was resolved, and when
 * a command ended. */
static bool may_be_timeless(const struct unit_hold *w)
{
    static const char *const words[] = {"is being emptied", "has left", " runs again",
                                        " is skipped", "its command has ended"};
    bool may = false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !may; i++) {
        may = strstr(w->text, words[i]);
    }
    return may;
}

/* Each hold is there, says since when, and what ends it. */
static void demand_truth(struct holds_seen *h, const char *key)
{
    for (size_t i = 0; i < h->why.count; i++) {
        const struct unit_hold *w = &h->why.holds[i];
        if (!map_get(&h->records, w->by)) {
            checkers_report(h->k, "V12", "%s is held by %s, says why, which is not there", key,
                            w->by);
        } else if (!*w->text || !*w->ends || (w->since_ns == 0 && !may_be_timeless(w))) {
            checkers_report(h->k, "V12", "%s: \"%s\", since %lld: \"%s\": that is no answer", key,
                            w->text, (long long)w->since_ns, w->ends);
        }
    }
}

static void explain(struct holds_seen *h, const struct holds_row *row, const char *key,
                    const void *record)
{
    if (!units_why(h->arena, &h->records, key, &h->why)) {
        checkers_report(h->k, "V12", "%s is there, and why knows nothing of it", key);
        return;
    }
    bool done = row->demand(h, key, record);
    h->k->seen[SEEN_UNIT_HOLDS] += h->why.count;
    if (!done && h->why.count == 0) {
        checkers_report(h->k, "V12", "%s is not as it should be, and held by nothing", key);
    } else if (done && !h->why.done) {
        checkers_report(h->k, "V12", "%s is as it should be, and why says that %s", key,
                        h->why.count ? h->why.holds[0].text : "it is not");
    }
    demand_truth(h, key);
}

static void take_records(struct holds_seen *h)
{
    static const char *const kinds[] = {"cell/",
                                        "machine/",
                                        "machine_cell/",
                                        "machine_unit/",
                                        "relation/",
                                        "relation_member/",
                                        "unit/",
                                        "unit_child/",
                                        "unit_scope/",
                                        "unit_service/",
                                        "unit_service_relation/",
                                        "unit_status/"};
    map_init(&h->records);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        history_each(&h->k->history, kinds[i], take_record, h);
    }
}

void say_unit_holds(struct checkers *k, const char *key, struct buf *ret_text)
{
    SCOPED_ARENA(a);
    struct holds_seen h = {.k = k, .arena = &a};
    take_records(&h);
    if (units_why(&a, &h.records, key, &h.why)) {
        for (size_t i = 0; i < h.why.count; i++) {
            buf_printf(ret_text, "%s: %s, ", h.why.holds[i].by, h.why.holds[i].text);
        }
    }
    map_done(&h.records, NULL);
}

void check_unit_holds(struct checkers *k)
{
    if (!k->units.count) {
        return;
    }
    SCOPED_ARENA(a);
    struct holds_seen h = {.k = k, .arena = &a};
    take_records(&h);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *prefix = rows[i].prefix;
        for (struct map_node *n = map_from(&h.records, prefix);
             n && strncmp(map_key(n), prefix, strlen(prefix)) == 0; n = map_next(n)) {
            explain(&h, &rows[i], map_key(n), map_value(n));
        }
    }
    map_done(&h.records, NULL);
}
