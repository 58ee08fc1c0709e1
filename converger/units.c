#include "converger/units.h"

#include "common/base/memory.h"
#include "common/lifecycle/machine.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"
#include "common/model/moves.h"
#include "common/model/record.h"
#include "common/model/unit_name.h"
#include "converger/inside.h"
#include "converger/unit_mirrors.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Records looked at in one step. */
enum { UNIT_LOOKS_MAX = 1024 };

struct charm_runs {
    size_t count;
};

static void init(void *state, const struct converger_config *config)
{
    struct units_keeper *k = state;
    (void)config;
    map_init(&k->by_key);
    map_init(&k->runs);
    map_init(&k->by_status);
    work_init(&k->work);
}

/* ---- Which charms units run ------------------------------------------------------------------ */

static void run_no_more(struct units_keeper *k, const char *status_key)
{
    char *charm = map_remove(&k->by_status, status_key);
    struct charm_runs *runs = charm ? map_get(&k->runs, charm) : NULL;
    assert(!charm == !runs && (!runs || runs->count > 0));
    if (runs && --runs->count == 0) {
        free(map_remove(&k->runs, charm));
    }
    free(charm);
}

static void on_status(struct units_keeper *k, const char *key, const struct followed *record)
{
    SCOPED_ARENA(a);
    struct unit_name name;
    const Board__UnitStatusRecord *status = record ? message_of(&a, key, record) : NULL;
    run_no_more(k, key);
    if (!status || !*status->charm || !unit_of_key(&a, key, &name)) {
        return;
    }
    char *charm = mem_text(key_charm(&a, name.service, status->charm));
    struct charm_runs *runs = map_get(&k->runs, charm);
    if (!runs) {
        runs = mem_zeroed(sizeof(*runs));
        map_put(&k->runs, charm, runs);
    }
    runs->count++;
    map_put(&k->by_status, key, charm);
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void drop(struct units_keeper *k, struct kept_unit *one)
{
    assert(one->item.name == one->key);
    cell_leave(&k->kept.x->cache, &one->on);
    work_drop(&k->work, &one->item);
    map_remove(&k->by_key, one->key);
    free(one);
}

/* The cell that a machine or a unit is on; "" = none. */
static const char *cell_of(enum record_type type, const void *message)
{
    if (!message || unit_kind_rests(type)) {
        return "";
    }
    return type == RECORD_MACHINE ? ((const Board__MachineRecord *)message)->cell_id
                                  : ((const Board__UnitRecord *)message)->cell_id;
}

static void on_kept(struct units_keeper *k, const char *key, const struct followed *record)
{
    SCOPED_ARENA(a);
    struct kept_unit *one = map_get(&k->by_key, key);
    if (!record) {
        if (one) {
            drop(k, one);
        }
        return;
    }
    one = map_named(&k->by_key, key, offsetof(struct kept_unit, key));
    if (!one->item.name) {
        work_item_init(&one->item, one->key);
    }
    cell_leave(&k->kept.x->cache, &one->on);
    one->on.names = key_type(key) == RECORD_MACHINE;
    cell_use(&k->kept.x->cache, KEEPER_units, &one->on,
             cell_of(key_type(key), message_of(&a, key, record)));
    if (!unit_kind_rests(key_type(key))) {
        work_touch(&k->work, &one->item);
    }
}

/* Whether its agents are there changes what is decided about its machine and its units. */
static void on_cell(struct units_keeper *k, const char *key)
{
    const struct cached_cell *cell = cache_cell_at(&k->kept.x->cache, key);
    struct cell_user *u;
    if (!cell) {
        return;
    }
    LIST_FOREACH(u, &cell->users[KEEPER_units], link)
    {
        work_touch(&k->work, &CELL_USER_OF(u, struct kept_unit, on)->item);
    }
}

/* Its units may be abandoned by now. */
static void on_service(struct units_keeper *k, const char *key)
{
    SCOPED_ARENA(a);
    const char *units = key_range_of(&a, RECORD_UNIT, key_component(&a, key, 1));
    for (struct map_node *n = map_from(&k->by_key, units);
         n && strncmp(map_key(n), units, strlen(units)) == 0; n = map_next(n)) {
        work_touch(&k->work, &((struct kept_unit *)map_value(n))->item);
    }
}

static void change(void *state, const char *key, const struct followed *record)
{
    switch (key_type(key)) {
    case RECORD_CELL:
        on_cell(state, key);
        return;
    case RECORD_UNIT_STATUS:
        on_status(state, key, record);
        return;
    case RECORD_UNIT_SERVICE:
        on_service(state, key);
        on_kept(state, key, record);
        return;
    case RECORD_MACHINE:
    case RECORD_UNIT:
    case RECORD_RELATION:
    case RECORD_CHARM:
        on_kept(state, key, record);
        return;
    default: /* what holds a relation or a service is looked up */
        return;
    }
}

static void touch_all(struct units_keeper *k, bool full)
{
    MAP_EACH(&k->by_key, n)
    {
        struct kept_unit *one = map_value(n);
        if (full || !unit_kind_rests(key_type(one->key))) {
            one->full = one->full || full;
            work_touch(&k->work, &one->item);
        }
    }
}

static void current(void *state)
{
    touch_all(state, false);
}

static void reset(void *state)
{
    struct units_keeper *k = state;
    MAP_EACH(&k->by_key, n)
    {
        drop(k, map_value(n));
    }
    map_done(&k->by_status, free);
    map_done(&k->runs, free);
    map_init(&k->by_status);
    map_init(&k->runs);
}

static void done(void *state)
{
    struct units_keeper *k = state;
    reset(k);
    map_done(&k->by_key, NULL);
    map_done(&k->by_status, NULL);
    map_done(&k->runs, NULL);
    work_done(&k->work);
}

/* ---- What is decided by ---------------------------------------------------------------------- */

/* A record of the board begins with it. */
static bool is_any(const struct units_keeper *k, const char *prefix)
{
    assert(*prefix);
    const struct map *records = &k->kept.x->life.feed_client.records;
    struct map_node *n = map_from(records, prefix);
    return n && strncmp(map_key(n), prefix, strlen(prefix)) == 0;
}

/* A cell whose record this version cannot read is there. */
static void see_cell(const struct units_keeper *k, struct arena *a, const char *cell_id,
                     const char *identity, struct unit_end_sight *s)
{
    const char *key = *cell_id ? key_cell(a, cell_id) : NULL;
    s->cell_known = key && feed_client_get(&k->kept.x->life.feed_client, key);
    const Board__CellRecord *cell = s->cell_known ? message_at(&k->kept, a, key) : NULL;
    s->cell_present = !cell || cell->state == BOARD__CELL_RECORD__STATE__PRESENT;
    s->cell_same = !cell || strcmp(cell->identity, identity) == 0;
}

static void see_machine(const struct units_keeper *k, struct arena *a,
                        const Board__MachineRecord *m, struct unit_end_sight *s)
{
    s->state = lifecycle_state(&machine_lifecycle, m->state);
    s->leave = m->leave;
    see_cell(k, a, m->cell_id, m->identity, s);
}

static const Board__UnitServiceRecord *service_of(const struct units_keeper *k, struct arena *a,
                                                  const char *name)
{
    return message_at(&k->kept, a, key_unit_service(a, name));
}

static void see_unit(const struct units_keeper *k, struct arena *a, const Board__UnitRecord *u,
                     struct unit_end_sight *s)
{
    const Board__UnitServiceRecord *of = service_of(k, a, u->service);
    s->state = lifecycle_state(&unit_lifecycle, u->state);
    s->waits = !*u->cell_id;
    s->service_dying = of && strcmp(of->guid, u->service_guid) == 0 &&
                       lifecycle_state(&unit_service_lifecycle, of->state) == UNIT_SERVICE_DYING;
    see_cell(k, a, u->cell_id, u->identity, s);
}

/* Of a service that is gone, or goes, a job sweeps the charms. */
static void see_charm(const struct units_keeper *k, struct arena *a, const Board__CharmRecord *c,
                      struct unit_end_sight *s)
{
    const Board__UnitServiceRecord *of = service_of(k, a, c->service);
    bool alive = of && lifecycle_state(&unit_service_lifecycle, of->state) == UNIT_SERVICE_ALIVE;
    s->state = CHARM_STATE;
    s->read = !alive || strcmp(of->charm, c->digest) == 0 ||
              map_get(&k->runs, key_charm(a, c->service, c->digest));
}

static void see_service(const struct units_keeper *k, struct arena *a,
                        const Board__UnitServiceRecord *of, struct unit_end_sight *s)
{
    s->state = lifecycle_state(&unit_service_lifecycle, of->state);
    s->held = is_any(k, key_range_of(a, RECORD_UNIT, of->name)) ||
              is_any(k, key_range_of(a, RECORD_UNIT_SERVICE_RELATION, of->name));
}

/* NULL: it is gone, or of a newer version, which nobody ends. */
static const void *see(const struct units_keeper *k, struct arena *a, const struct kept_unit *one,
                       struct unit_end_sight *s)
{
    const struct followed *record = feed_client_get(&k->kept.x->life.feed_client, one->key);
    const void *m = message_of(a, one->key, record);
    assert(s && one->key[0]);
    *s = (struct unit_end_sight){.kind = key_type(one->key), .state = -1};
    if (!m) {
        return NULL;
    }
    s->stood = one->stood_revision == record->mod_revision;
    if (s->kind == RECORD_MACHINE) {
        see_machine(k, a, m, s);
    } else if (s->kind == RECORD_UNIT) {
        see_unit(k, a, m, s);
    } else if (s->kind == RECORD_CHARM) {
        see_charm(k, a, m, s);
    } else if (s->kind == RECORD_UNIT_SERVICE) {
        see_service(k, a, m, s);
    } else {
        const Board__RelationRecord *r = m;
        s->state = lifecycle_state(&relation_lifecycle, r->state);
        s->held = is_any(k, key_relation_members(a, r->number));
    }
    return m;
}

/* The move of a repair, about this record. */
static Board__Move *move_of(const struct units_keeper *k, struct arena *a, const char *key,
                            const void *record, const struct unit_repair *repair)
{
    const Board__CharmRecord *charm = key_type(key) == RECORD_CHARM ? record : NULL;
    const char *subject = charm ? key_unit_service(a, charm->service) : key;
    assert(record && repair->pass);
    Board__Move *m = move_new(a, repair->move, subject);
    m->body_case = BOARD__MOVE__BODY_UNITS;
    m->units = arena_message(a, &board__units_move__descriptor);
    if (charm) {
        m->units->charm = charm->digest;
        m->units->guid = service_of(k, a, charm->service)->guid;
    } else if (key_type(key) == RECORD_UNIT) {
        m->units->guid = ((const Board__UnitRecord *)record)->guid;
    } else if (key_type(key) == RECORD_MACHINE) {
        m->units->guid = ((const Board__MachineRecord *)record)->guid;
    } else if (key_type(key) == RECORD_UNIT_SERVICE) {
        m->units->guid = ((const Board__UnitServiceRecord *)record)->guid;
    } else {
        m->units->guid = ((const Board__RelationRecord *)record)->guid;
    }
    return m;
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* What no pass may end yet stood so, if this is a full pass and nothing holds it. */
static void note_stood(struct units_keeper *k, struct kept_unit *one,
                       const struct unit_end_sight *s)
{
    struct unit_end_sight later = *s;
    assert(s->kind == key_type(one->key));
    later.stood = true;
    const struct followed *record = feed_client_get(&k->kept.x->life.feed_client, one->key);
    if (one->full || !unit_passes_run(&later).pass) {
        one->stood_revision = record && unit_passes_run(&later).pass ? record->mod_revision : 0;
    }
    one->full = false;
}

static void look_at(struct units_keeper *k, struct kept_unit *one, struct effects *out)
{
    struct unit_end_sight s;
    struct arena *a = out->arena;
    const void *record = see(k, a, one, &s);
    struct unit_repair repair = unit_passes_run(&s);
    note_stood(k, one, &s);
    if (!record || !repair.pass) {
        return;
    }
    assert(one->item.moving == 0);
    if (repair.leak) {
        k->leaks++;
        effects_log(out, LOG_ERROR_LEVEL, "what is dying is held by nothing: a fault, it is ended",
                    "key=%s", one->key);
    }
    mover_add(&k->kept.x->mover, &k->kept.owner, one->key,
              move_of(k, a, one->key, record, &repair));
    work_moving(&k->work, &one->item);
    work_clear_due(&k->work, &one->item);
}

static bool has_room(const struct units_keeper *k)
{
    return k->work.moving_count < UNITS_MOVING_MAX && mover_room(&k->kept.x->mover, 1);
}

static void look(void *state, bool all, struct effects *out)
{
    struct units_keeper *k = state;
    int64_t now_ns = k->kept.x->life.now.mono_ns;
    if (all) {
        touch_all(k, true);
    }
    struct work_item *due;
    while ((due = work_wake(&k->work, now_ns))) {
        work_touch(&k->work, due);
    }
    int looks = 0;
    struct kept_unit *one;
    while (has_room(k) && looks < UNIT_LOOKS_MAX &&
           (one = (struct kept_unit *)work_next(&k->work))) {
        look_at(k, one, out);
        looks++;
    }
    assert(looks <= UNIT_LOOKS_MAX && k->work.moving_count <= UNITS_MOVING_MAX);
    bool more = looks == UNIT_LOOKS_MAX && has_room(k);
    effects_due(out, more ? now_ns : work_wake_ns(&k->work));
}

static void settled(void *state, const char *key, enum move_end end)
{
    struct units_keeper *k = state;
    struct kept_unit *one = map_get(&k->by_key, key);
    if (one) {
        work_settled(&k->work, &one->item, work_again_ns(end, k->kept.x->life.now.mono_ns));
    }
}

/* ---- What is shown --------------------------------------------------------------------------- */

static bool show_lacking(void *context, const char *key, const char *counterpart)
{
    struct plan_shown *ret = context;
    plan_tell(ret, "mirror", arena_printf(ret->arena, "%s without %s", key, counterpart));
    return !ret->plan->more;
}

static void plan(void *state, struct plan_shown *ret)
{
    struct units_keeper *k = state;
    MAP_EACH(&k->by_key, n)
    {
        const struct kept_unit *one = map_value(n);
        struct unit_end_sight s;
        const void *record = see(k, ret->arena, one, &s);
        struct unit_repair repair = unit_passes_run(&s);
        if (record && repair.pass && !ret->plan->more) {
            plan_show(ret, repair.pass, move_of(k, ret->arena, one->key, record, &repair));
        }
    }
    unit_mirrors_each(&(struct unit_mirrors){.arena = ret->arena,
                                             .board = &k->kept.x->life.feed_client,
                                             .lacks = show_lacking,
                                             .context = ret});
}

static void show(void *state, Converge__ConvergerState *ret, struct arena *a)
{
    (void)a;
    const struct units_keeper *k = state;
    ret->units_waiting = k->work.waiting_count;
    ret->unit_leaks = k->leaks;
}

const struct keeper units_keeper = {.state_size = sizeof(struct units_keeper),
                                    .init = init,
                                    .done = done,
                                    .reset = reset,
                                    .change = change,
                                    .current = current,
                                    .look = look,
                                    .settled = settled,
                                    .plan = plan,
                                    .show = show};
