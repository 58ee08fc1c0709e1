/* Clients who deploy services of units, relate, configure, upgrade and destroy them, add units and
 * machines, cordon and destroy these, resolve hooks in error, and force what does not go, through
 * any bbs and under any fault. When all is healed they resolve what is in error; in most seeds they
 * destroy every service, and nothing but machines and numbers is left; in the others whatever lives
 * comes to run, and to know whom it is related to. */
#include "bbs/units/facts.h"
#include "common/lifecycle/machine.h"
#include "common/lifecycle/member.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"
#include "common/lifecycle/unit_status.h"
#include "test/sim/checkers/units.h"
#include "test/sim/model/containers.h"
#include "test/sim/swarm/units_inside.h"

#include <string.h>

#define PACE_NS (1200 * MILLISECOND_NS) /* between two requests, at most */
#define AUTHORS_NS (60 * MILLISECOND_NS)
#define ASK_LIMIT_NS (10 * SECOND_NS)
#define SETTLE_EACH_NS (3 * SECOND_NS)

enum {
    ASKS_OPEN_MAX = 4,
    UNITS_MOST = 12,        /* that there may be when more are asked for */
    PERCENT_DESTROYED = 70, /* of the seeds, in the end */
    MACHINES_ASKED = 8,     /* numbers from 0 on are drawn */
};

struct units_work {
    struct workload *work;
    struct unit_authors authors;
    unsigned open;
    int64_t ask_ns, settle_ns;
    bool healed, destroyed; /* everything is to go */
};

static uint64_t below(struct units_work *o, uint64_t bound)
{
    return random_below(&o->work->random, bound);
}

static char *text(const char *s)
{
    return (char *)(uintptr_t)s;
}

static struct history *board_of(struct units_work *o)
{
    return &o->work->swarm->checkers.history;
}

/* ---- Requests -------------------------------------------------------------------------------- */

struct units_ask {
    struct units_work *own;
    const char *path;
};

/* Refusals are what they have to reckon with; that a request is malformed is not. */
static void answered(void *context, int status, struct bytes body)
{
    struct units_ask *ask = context;
    struct swarm *s = ask->own->work->swarm;
    SCOPED_ARENA(a);
    ProtobufCAllocator in = arena_protobuf(&a);
    const Board__UnitsChanged *m =
        status == 200 ? board__units_changed__unpack(&in, body.size, body.data) : NULL;
    const Models__Error *error = m ? m->error : NULL;
    ask->own->open--;
    s->result->done[DONE_UNITS_ASKED]++;
    world_note(s->world, "juju", "is answered %d: %s %s", status, ask->path,
               error ? error->message : "");
    bool well = status == 0 || status == 503 ||
                (m && (!error || error->type == MODELS__ERROR__TYPE__ResourceConflict ||
                       error->type == MODELS__ERROR__TYPE__ResourceExists ||
                       error->type == MODELS__ERROR__TYPE__ResourceNotFound));
    if (!well) {
        checkers_report(&s->checkers, "units", "%s is answered %d, %s", ask->path, status,
                        error ? error->message : "unreadable");
    }
}

static void send(struct units_work *o, const char *path, const ProtobufCMessage *m)
{
    struct swarm *s = o->work->swarm;
    struct units_ask *ask = ARENA_NEW(&s->arena, struct units_ask);
    uint64_t bbs = below(o, s->cluster->options.bbs);
    *ask = (struct units_ask){o, path};
    o->open++;
    world_send(s->world, node_url(s->cluster->bbs[bbs]), path, m, ASK_LIMIT_NS, answered, ask);
}

/* ---- What there is --------------------------------------------------------------------------- */

struct drawn {
    struct units_work *own;
    const struct past *which;
    uint64_t count;
};

static void draw_one(void *context, const struct past *p)
{
    struct drawn *d = context;
    d->which = below(d->own, ++d->count) == 0 ? p : d->which;
}

/* A record with that prefix, any of them; NULL = there is none. */
static const struct past *any(struct units_work *o, const char *prefix)
{
    struct drawn d = {.own = o};
    history_each(board_of(o), prefix, draw_one, &d);
    return d.which;
}

static void count_one(void *context, const struct past *p)
{
    (void)p;
    ++*(unsigned *)context;
}

static unsigned count_of(struct units_work *o, const char *prefix)
{
    unsigned count = 0;
    history_each(board_of(o), prefix, count_one, &count);
    return count;
}

static const Board__UnitServiceRecord *service_now(struct units_work *o, const char *name)
{
    SCOPED_ARENA(a);
    return (const Board__UnitServiceRecord *)history_now(board_of(o), key_unit_service(&a, name));
}

/* ---- What is asked for ----------------------------------------------------------------------- */

static void deploy(struct units_work *o, unsigned service)
{
    SCOPED_ARENA(a);
    Board__DeployUnitsRequest r = BOARD__DEPLOY_UNITS_REQUEST__INIT;
    r.charm = unit_charm(&a, service, (unsigned)below(o, 2));
    r.count = r.charm->subordinate ? 0 : 1 + (uint32_t)below(o, 3);
    send(o, "/v1/units/deploy", &r.base);
}

static void add_units(struct units_work *o, unsigned service)
{
    Board__AddUnitsRequest r = BOARD__ADD_UNITS_REQUEST__INIT;
    Board__UnitNeeds needs = BOARD__UNIT_NEEDS__INIT;
    uint64_t whim = below(o, 10);
    if (service >= UNIT_SERVICES - 1 || count_of(o, "unit/") >= UNITS_MOST) {
        return;
    }
    needs.unused = whim == 0;
    needs.on_machine = whim == 1;
    needs.machine = needs.on_machine ? (uint32_t)below(o, MACHINES_ASKED) : 0;
    r.service = text(unit_services[service]);
    r.count = needs.on_machine ? 1 : 1 + (uint32_t)below(o, 2);
    r.needs = whim < 2 ? &needs : NULL;
    send(o, "/v1/units/add", &r.base);
}

static void send_ends(struct units_work *o, const struct unit_relation_row *row, bool ends)
{
    Board__UnitEnd one = BOARD__UNIT_END__INIT, other = BOARD__UNIT_END__INIT;
    Board__UnitEnd *list[] = {&one, &other};
    Board__RelateUnitsRequest relate = BOARD__RELATE_UNITS_REQUEST__INIT;
    Board__UnitRelationRequest end = BOARD__UNIT_RELATION_REQUEST__INIT;
    one.service = text(row->one);
    one.endpoint = text(row->one_end);
    other.service = text(row->other);
    other.endpoint = text(row->other_end);
    relate.ends = end.ends = list;
    relate.n_ends = end.n_ends = 2;
    send(o, ends ? "/v1/units/relation/destroy" : "/v1/units/relate",
         ends ? &end.base : &relate.base);
}

static void relate(struct units_work *o)
{
    send_ends(o, &unit_relations[below(o, UNIT_RELATIONS)], false);
}

static void destroy_relation(struct units_work *o)
{
    send_ends(o, &unit_relations[below(o, UNIT_RELATIONS)], true);
}

static void destroy_unit(struct units_work *o, bool forced)
{
    SCOPED_ARENA(a);
    const struct past *p = any(o, "unit/");
    const Board__UnitRecord *u = p ? (const Board__UnitRecord *)p->message : NULL;
    Board__UnitRequest r = BOARD__UNIT_REQUEST__INIT;
    if (!u || *u->principal) {
        return; /* nobody names a subordinate */
    }
    r.unit = text(unit_name_text(&a, unit_name_of(u)));
    r.guid = below(o, 2) ? u->guid : text("");
    r.forced = forced;
    r.max_wait_ms = forced ? 1 + (int64_t)below(o, 20000) : 0;
    send(o, "/v1/units/unit/destroy", &r.base);
}

static void destroy_service(struct units_work *o, const char *name, bool forced)
{
    Board__UnitServiceRequest r = BOARD__UNIT_SERVICE_REQUEST__INIT;
    r.service = text(name);
    r.forced = forced;
    r.max_wait_ms = forced ? 1 + (int64_t)below(o, 20000) : 0;
    send(o, "/v1/units/service/destroy", &r.base);
}

static void of_a_machine(struct units_work *o, const char *path, uint32_t number, bool forced)
{
    Board__MachineRequest r = BOARD__MACHINE_REQUEST__INIT;
    r.optional_number_case = BOARD__MACHINE_REQUEST__OPTIONAL_NUMBER_NUMBER;
    r.number = number;
    r.forced = forced;
    r.max_wait_ms = forced ? 1 + (int64_t)below(o, 20000) : 0;
    send(o, path, &r.base);
}

static void add_machine(struct units_work *o)
{
    struct cluster *c = o->work->swarm->cluster;
    Board__AddMachineRequest r = BOARD__ADD_MACHINE_REQUEST__INIT;
    r.cell_id = text(node_name(c->cells[below(o, c->options.cells)]));
    send(o, "/v1/units/machine/add", &r.base);
}

static void configure(struct units_work *o, unsigned service)
{
    static const char *const greetings[] = {"hello", "ahoj", "salve"};
    Board__UnitSetting setting = BOARD__UNIT_SETTING__INIT, *list[] = {&setting};
    Board__ConfigureUnitsRequest r = BOARD__CONFIGURE_UNITS_REQUEST__INIT;
    setting.key = text("greeting");
    setting.value = text(greetings[below(o, 3)]);
    r.service = text(unit_services[service]);
    r.settings = list;
    r.n_settings = 1;
    send(o, "/v1/units/configure", &r.base);
}

static void upgrade(struct units_work *o, unsigned service)
{
    SCOPED_ARENA(a);
    Board__UpgradeUnitsRequest r = BOARD__UPGRADE_UNITS_REQUEST__INIT;
    r.service = text(unit_services[service]);
    r.charm = unit_charm(&a, service, (unsigned)below(o, 4));
    send(o, "/v1/units/upgrade", &r.base);
}

static void resolve_one(struct units_work *o, const struct past *p)
{
    SCOPED_ARENA(a);
    struct unit_name name;
    const Board__UnitStatusRecord *s = p ? (const Board__UnitStatusRecord *)p->message : NULL;
    Board__UnitRequest r = BOARD__UNIT_REQUEST__INIT;
    if (!s || !unit_of_key(&a, p->key, &name) ||
        life_of(&unit_status_lifecycle, s->state) != UNIT_STATUS_ERROR || s->resolved) {
        return;
    }
    r.unit = text(unit_name_text(&a, name));
    r.resolved = below(o, 3) ? BOARD__UNIT_STATUS_RECORD__RESOLVED__RETRY
                             : BOARD__UNIT_STATUS_RECORD__RESOLVED__SKIP;
    send(o, "/v1/units/resolve", &r.base);
}

/* What is not deployed is; so often as else something happens to it. */
static void ask_something(struct units_work *o)
{
    unsigned service = (unsigned)below(o, UNIT_SERVICES);
    uint64_t whim = below(o, 100);
    if (!service_now(o, unit_services[service])) {
        deploy(o, service);
    } else if (whim < 12) {
        add_units(o, service);
    } else if (whim < 34) {
        relate(o);
    } else if (whim < 42) {
        destroy_relation(o);
    } else if (whim < 56) {
        destroy_unit(o, whim < 44);
    } else if (whim < 60) {
        destroy_service(o, unit_services[service], whim < 57);
    } else if (whim < 66) {
        configure(o, service);
    } else if (whim < 70) {
        upgrade(o, service);
    } else if (whim < 73) {
        add_machine(o);
    } else if (whim < 76) {
        of_a_machine(o, "/v1/units/cordon", (uint32_t)below(o, MACHINES_ASKED), false);
    } else if (whim < 79) {
        of_a_machine(o, "/v1/units/uncordon", (uint32_t)below(o, MACHINES_ASKED), false);
    } else if (whim < 83) {
        of_a_machine(o, "/v1/units/machine/destroy", (uint32_t)below(o, MACHINES_ASKED), whim < 80);
    } else {
        resolve_one(o, any(o, "unit_status/"));
    }
}

static void begin(struct workload *w)
{
    struct units_work *o = w->own = ARENA_NEW(&w->swarm->arena, struct units_work);
    o->work = w;
    unit_authors_init(&o->authors, w);
    o->destroyed = below(o, 100) < PERCENT_DESTROYED;
}

static void step(struct workload *w)
{
    struct units_work *o = w->own;
    int64_t now = world_now(w->swarm->world);
    unit_authors_step(&o->authors);
    if (!o->healed && now >= o->ask_ns) {
        if (o->open < ASKS_OPEN_MAX) {
            ask_something(o);
        }
        o->ask_ns = now + 1 + (int64_t)below(o, PACE_NS);
    }
    w->due_ns = now + AUTHORS_NS;
}

/* ---- Healed ---------------------------------------------------------------------------------- */

static void heal(struct workload *w)
{
    struct units_work *o = w->own;
    o->healed = o->authors.healed = true;
    w->due_ns = 0;
}

static void resolve_each(void *context, const struct past *p)
{
    resolve_one(context, p);
}

static void uncordon_each(void *context, const struct past *p)
{
    const Board__MachineRecord *m = (const Board__MachineRecord *)p->message;
    if (m->cordoned && life_of(&machine_lifecycle, m->state) == MACHINE_ALIVE) {
        of_a_machine(context, "/v1/units/uncordon", m->number, false);
    }
}

static void recalled(void *context, int status, struct bytes body)
{
    struct units_work *o = context;
    (void)body;
    o->open--;
    world_note(o->work->swarm->world, "juju", "is answered %d: a unit is recalled", status);
}

static bool is_subordinate(const struct seen_unit *u)
{
    const char *subordinates = unit_services[UNIT_SERVICES - 1];
    size_t size = strlen(subordinates);
    return strncmp(u->key, "unit/", 5) == 0 && strncmp(u->key + 5, subordinates, size) == 0 &&
           u->key[5 + size] == '/';
}

/* Containers of principals are here. */
static bool has_principals(const struct checkers *k, struct node *cell)
{
    const char *guid;
    bool any = false;
    for (int n = 0; (guid = model_containers_made(node_containers(cell), n)); n++) {
        const struct seen_unit *u = checkers_unit(k, guid);
        any = any || (u && !is_subordinate(u));
    }
    return any;
}

/* What a restored board has forgotten is kept, until an operator says that nobody wants it. When
 * all is destroyed a subordinate goes with its principal, by itself: he ends those alone whose
 * principal was forgotten, too, after that (docs/units.md). */
static void recall_forgotten(struct units_work *o, struct node *cell)
{
    struct swarm *s = o->work->swarm;
    bool principals = has_principals(&s->checkers, cell);
    const char *guid;
    for (int n = 0; (guid = model_containers_made(node_containers(cell), n)); n++) {
        const struct seen_unit *u = checkers_unit(&s->checkers, guid);
        bool waits = u && o->destroyed && principals && is_subordinate(u);
        if (!u || waits || seen_unit_record(&s->checkers, u)) {
            continue;
        }
        SCOPED_ARENA(a);
        o->open++;
        world_send_request(
            s->world, node_url(cell),
            &(struct world_request){.method = "POST",
                                    .path = arena_printf(&a, "/v1/units/%s/recall", guid),
                                    .admin = true,
                                    .peer = {.unit = "client", .name = "admin"},
                                    .content_type = "application/octet-stream",
                                    .accept = "",
                                    .trace_id = ""},
            ASK_LIMIT_NS, recalled, o);
    }
}

static void settle(struct workload *w)
{
    struct units_work *o = w->own;
    int64_t now = world_now(w->swarm->world);
    if (now < o->settle_ns || o->open > 0) {
        return;
    }
    o->settle_ns = now + SETTLE_EACH_NS;
    history_each(board_of(o), "unit_status/", resolve_each, o);
    history_each(board_of(o), "machine/", uncordon_each, o);
    struct cluster *c = w->swarm->cluster;
    for (unsigned i = 0; i < c->options.cells && board_of(o)->restores > 0; i++) {
        recall_forgotten(o, c->cells[i]);
    }
    for (unsigned i = 0; o->destroyed && i < UNIT_SERVICES; i++) {
        const Board__UnitServiceRecord *s = service_now(o, unit_services[i]);
        if (s && life_of(&unit_service_lifecycle, s->state) == UNIT_SERVICE_ALIVE) {
            destroy_service(o, unit_services[i], false);
        }
    }
}

/* ---- At rest --------------------------------------------------------------------------------- */

struct waiting_for {
    struct units_work *own;
    struct buf *why;
    const Board__UnitRecord *unit; /* whose relations are looked at */
};

/* Whoever has started is in each relation of its service that is alive, but for those of
 * containers.
 */
static void await_membership(void *context, const struct past *p)
{
    struct waiting_for *x = context;
    SCOPED_ARENA(a);
    const Board__RelationNameRecord *named = (const Board__RelationNameRecord *)p->message;
    const Board__RelationRecord *r = (const Board__RelationRecord *)history_now(
        board_of(x->own), key_relation(&a, named->number));
    struct unit_name name = unit_name_of(x->unit);
    bool awaited = r && life_of(&relation_lifecycle, r->state) == RELATION_ALIVE &&
                   r->scope == BOARD__ENDPOINT__SCOPE__GLOBAL;
    if (awaited && !history_now(board_of(x->own), key_unit_scope(&a, name, r->number))) {
        buf_printf(x->why, "%s/%u is not in relation %u; ", name.service, name.number, r->number);
    }
}

/* Others have taken its room: it enters, and does what was resolved, when its container is there
 * again. */
static bool waits_for_room(const Board__UnitStatusRecord *s)
{
    return strstr(s->text, "no room on its cell") != NULL;
}

static void await_unit(void *context, const struct past *p)
{
    struct waiting_for *x = context;
    SCOPED_ARENA(a);
    const Board__UnitRecord *u = (const Board__UnitRecord *)p->message;
    const Board__UnitStatusRecord *s = (const Board__UnitStatusRecord *)history_now(
        board_of(x->own), key_unit_status(&a, unit_name_of(u)));
    if (s && life_of(&unit_status_lifecycle, s->state) == UNIT_STATUS_STARTED &&
        life_of(&unit_lifecycle, u->state) == UNIT_ALIVE && !waits_for_room(s)) {
        x->unit = u;
        history_each(board_of(x->own), key_range_of(&a, RECORD_UNIT_SERVICE_RELATION, u->service),
                     await_membership, x);
    } else if (s && life_of(&unit_status_lifecycle, s->state) == UNIT_STATUS_ERROR &&
               !(s->resolved && waits_for_room(s))) {
        buf_printf(x->why, "%s is in error; ", p->key);
    }
}

static void rest(struct workload *w, struct buf *ret_why)
{
    struct units_work *o = w->own;
    struct waiting_for x = {.own = o, .why = ret_why};
    if (!o->healed || o->open > 0) {
        buf_append_string(ret_why, "units are asked for; ");
    } else if (o->destroyed) {
        checkers_units_are_gone(&w->swarm->checkers, ret_why);
    } else {
        history_each(board_of(o), "unit/", await_unit, &x);
    }
}

static void done(struct workload *w)
{
    unit_authors_done(&((struct units_work *)w->own)->authors);
}

const struct workload_ops units_workload = {
    .begin = begin, .step = step, .heal = heal, .settle = settle, .rest = rest, .done = done};
