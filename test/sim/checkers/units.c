/* The laws of units after every commit (test/tool/unit_laws.h), and V9, V11, V14. */
#include "test/sim/checkers/units.h"

#include "common/lifecycle/machine.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"
#include "common/lifecycle/unit_status.h"
#include "bbs/units/facts.h"
#include "test/sim/model/containers.h"
#include "test/tool/unit_laws.h"

#include <string.h>

struct seen_unit *checkers_unit(const struct checkers *k, const char *guid)
{
    return guid ? map_get(&k->units, guid) : NULL;
}

bool unit_known(const struct checkers *k, const char *guid)
{
    return checkers_unit(k, guid) != NULL;
}

unsigned units_held(const struct checkers *k, struct node *cell)
{
    const struct model_containers *m = node_containers(cell);
    const char *guid;
    unsigned count = 0;
    for (int n = 0; (guid = model_containers_made(m, n)); n++) {
        count += unit_known(k, guid) && model_containers_state(m, guid) != CONTAINER_EXITED;
    }
    return count;
}

const Board__UnitRecord *seen_unit_record(const struct checkers *k, const struct seen_unit *u)
{
    const Board__UnitRecord *r = (const Board__UnitRecord *)history_now(&k->history, u->key);
    return r && strcmp(r->guid, u->guid) == 0 ? r : NULL;
}

/* ---- The laws -------------------------------------------------------------------------------- */

static const ProtobufCMessage *law_get(void *checkers, struct arena *a, const char *key)
{
    (void)a;
    return history_now(&((struct checkers *)checkers)->history, key);
}

struct key_list {
    struct arena *arena;
    const char **list;
    size_t count, capacity;
};

static void take_key(void *context, const struct past *p)
{
    struct key_list *l = context;
    if (l->count == l->capacity) {
        l->capacity = l->capacity ? 2 * l->capacity : 16;
        const char **longer = ARENA_ARRAY(l->arena, l->capacity, const char *);
        for (size_t i = 0; i < l->count; i++) {
            longer[i] = l->list[i];
        }
        l->list = longer;
    }
    l->list[l->count++] = p->key;
}

static size_t law_keys(void *checkers, struct arena *a, const char *prefix, const char ***ret)
{
    struct key_list l = {.arena = a};
    history_each(&((struct checkers *)checkers)->history, prefix, take_key, &l);
    *ret = l.list;
    return l.count;
}

static void law_broken(void *checkers, const char *law, const char *key, const char *what)
{
    checkers_report(checkers, law, "%s: %s", key, what);
}

static bool is_of_units(enum record_type type)
{
    switch (type) {
    case RECORD_MACHINE:
    case RECORD_MACHINE_CELL:
    case RECORD_MACHINE_UNIT:
    case RECORD_RELATION:
    case RECORD_RELATION_KEY:
    case RECORD_RELATION_MEMBER:
    case RECORD_RELATION_SETTINGS:
    case RECORD_UNIT:
    case RECORD_UNIT_CHILD:
    case RECORD_UNIT_CONFIG:
    case RECORD_UNIT_SCOPE:
    case RECORD_UNIT_SERVICE:
    case RECORD_UNIT_SERVICE_RELATION:
    case RECORD_UNIT_STATUS:
        return true;
    default:
        return false;
    }
}

/* Who is where, and who is gone. */
static void note_unit(struct checkers *k, const struct past *p)
{
    const Board__UnitRecord *is = (const Board__UnitRecord *)p->message;
    const struct past *before = p->before;
    const Board__UnitRecord *was = before ? (const Board__UnitRecord *)before->message : NULL;
    const char *guid = is ? is->guid : was ? was->guid : "";
    struct seen_unit *u = checkers_unit(k, guid);
    if (!u && is) {
        u = ARENA_NEW(&k->history.arena, struct seen_unit);
        u->guid = guid;
        u->key = p->key;
        map_put(&k->units, guid, u);
    }
    if (!u) {
        return;
    }
    int cell = is && *is->cell_id ? checkers_cell_named(k, is->cell_id) : -1;
    bool ends = !is || life_of(&unit_lifecycle, is->state) == UNIT_DEAD;
    u->cells |= cell >= 0 ? UINT64_C(1) << cell : 0;
    u->ended_by_rep = u->ended
                          ? u->ended_by_rep
                          : ends && p->cause && strcmp(p->cause->actor, actor_name(ACTOR_REP)) == 0;
    u->ended = ends;
}

void check_unit_laws(struct checkers *k, const struct passage *p, const struct world_commit *commit)
{
    SCOPED_ARENA(a);
    struct unit_law_change *changes = ARENA_ARRAY(&a, p->count, struct unit_law_change);
    struct unit_law_board board = {k, law_get, law_keys, law_broken};
    size_t count = 0;
    (void)commit;
    for (size_t i = 0; i < p->count; i++) {
        const struct past *c = p->list[i];
        if (is_of_units(c->type)) {
            changes[count++] =
                (struct unit_law_change){c->key, c->before ? c->before->message : NULL, c->message};
        }
        if (c->type == RECORD_UNIT) {
            note_unit(k, c);
        }
    }
    k->seen[SEEN_UNIT_COMMITS] += count > 0;
    if (count > 0) {
        unit_laws_hold(&board, changes, count);
    }
}

/* ---- Containers (V9) ------------------------------------------------------------------------- */

void check_unit_verb(struct checkers *k, struct node *cell, const struct verb_call *call)
{
    struct seen_unit *u = checkers_unit(k, call->guid);
    if (u && call->verb == VERB_PREPARE && !(u->cells & UINT64_C(1) << checkers_cell(k, cell))) {
        checkers_report(k, "V9", "%s makes a container of %s, which the board never gave it",
                        node_name(cell), u->key);
    }
}

/* The cells that have a container of it, whatever its state. */
static unsigned cells_with(struct checkers *k, const char *guid)
{
    unsigned count = 0;
    for (unsigned i = 0; i < k->cluster->options.cells; i++) {
        count += model_containers_state(node_containers(k->cluster->cells[i]), guid) >= 0;
    }
    return count;
}

/* A hole: a board that was restored may have placed a unit anew; the former cell recalls it. */
void check_unit_containers(struct checkers *k)
{
    MAP_EACH(&k->units, n)
    {
        const struct seen_unit *u = map_value(n);
        if (k->history.restores == 0 && cells_with(k, u->guid) > 1) {
            checkers_report(k, "V9", "%s has containers on several cells", u->key);
        }
    }
}

/* ---- At rest (V9, V11) ----------------------------------------------------------------------- */

/* A hole: containers of another past, of which no record says anything, are kept until somebody
 * says that they are not wanted (docs/units.md). */
static void rest_of_container(struct checkers *k, unsigned cell, const char *guid, struct buf *why)
{
    const struct seen_unit *u = checkers_unit(k, guid);
    const Board__UnitRecord *r = u ? seen_unit_record(k, u) : NULL;
    if (u && k->history.restores == 0 && (!r || checkers_cell_named(k, r->cell_id) != (int)cell)) {
        buf_printf(why, "cell-%u has a container of %s, which is not its unit (V9); ", cell + 1,
                   u->key);
    }
}

struct resting {
    struct checkers *k;
    struct buf *why;
    bool roomless;
};

/* A hole: a unit stays on its cell, where others may have taken its room when its container ended.
 * It waits, and holds what it is in. */
static void note_roomless(void *context, const struct past *p)
{
    const Board__UnitStatusRecord *s = (const Board__UnitStatusRecord *)p->message;
    ((struct resting *)context)->roomless |= strstr(s->text, "no room on its cell") != NULL;
}

static void say_rests(struct resting *r, const char *key, const char *state)
{
    if (r->roomless) {
        return;
    }
    buf_printf(r->why, "%s is %s (V11): ", key, state);
    say_unit_holds(r->k, key, r->why);
}

static void rest_of_life(void *context, const struct past *p)
{
    struct resting *r = context;
    const Board__UnitRecord *u = (const Board__UnitRecord *)p->message;
    int life = life_of(&unit_lifecycle, u->state);
    SCOPED_ARENA(a);
    const Board__UnitStatusRecord *s = (const Board__UnitStatusRecord *)history_now(
        &r->k->history, key_unit_status(&a, unit_name_of(u)));
    if (life != UNIT_ALIVE) {
        say_rests(r, p->key, u->state);
    } else if (u->assigned && s &&
               life_of(&unit_status_lifecycle, s->state) != UNIT_STATUS_STARTED && !*s->text) {
        say_rests(r, p->key, s->state);
    }
}

#define DYING_RESTS(name, type, lifecycle, alive)                                                  \
    static void name(void *context, const struct past *p)                                          \
    {                                                                                              \
        struct resting *r = context;                                                               \
        const Board__##type *m = (const Board__##type *)p->message;                                \
        if (life_of(&lifecycle, m->state) != (alive)) {                                            \
            say_rests(r, p->key, m->state);                                                        \
        }                                                                                          \
    }
DYING_RESTS(rest_of_service, UnitServiceRecord, unit_service_lifecycle, UNIT_SERVICE_ALIVE)
DYING_RESTS(rest_of_relation, RelationRecord, relation_lifecycle, RELATION_ALIVE)

void check_units_rest(struct checkers *k, struct buf *ret_why)
{
    struct resting r = {k, ret_why, false};
    const char *guid;
    history_each(&k->history, "unit_status/", note_roomless, &r);
    history_each(&k->history, "unit/", rest_of_life, &r);
    history_each(&k->history, "unit_service/", rest_of_service, &r);
    history_each(&k->history, "relation/", rest_of_relation, &r);
    for (unsigned i = 0; i < k->cluster->options.cells; i++) {
        const struct model_containers *m = node_containers(k->cluster->cells[i]);
        for (int n = 0; (guid = model_containers_made(m, n)); n++) {
            rest_of_container(k, i, guid, ret_why);
        }
    }
}

struct emptiness {
    struct checkers *k;
    struct buf *why;
};

static size_t empty_keys(void *context, struct arena *a, const char *prefix, const char ***ret)
{
    return law_keys(((struct emptiness *)context)->k, a, prefix, ret);
}

static const ProtobufCMessage *empty_get(void *context, struct arena *a, const char *key)
{
    return law_get(((struct emptiness *)context)->k, a, key);
}

static void empty_broken(void *context, const char *law, const char *key, const char *what)
{
    (void)what;
    buf_printf(((struct emptiness *)context)->why, "%s is left (%s); ", key, law);
}

void checkers_units_are_gone(struct checkers *k, struct buf *ret_why)
{
    struct emptiness e = {k, ret_why};
    struct unit_law_board board = {&e, empty_get, empty_keys, empty_broken};
    unit_laws_empty(&board);
}

/* ---- Leaks (V14) ----------------------------------------------------------------------------- */

void check_unit_leaks(struct checkers *k, struct node *n, const struct log_line *line)
{
    if (strstr(line->message, "held by nothing")) {
        checkers_report(k, "V14", "%s: %s, %s", node_name(n), line->message, line->data);
    }
}

/* ---- A restore ------------------------------------------------------------------------------- */

/* What was assigned since is another past's. */
void forget_units(struct checkers *k)
{
    MAP_EACH(&k->units, n)
    {
        struct seen_unit *u = map_value(n);
        u->lenient = true;
        u->ended = !seen_unit_record(k, u);
        u->ended_by_rep = false;
    }
}

void units_done(struct checkers *k)
{
    map_done(&k->units, NULL);
    map_done(&k->unit_runs, NULL);
}
