/* A unit's agent in every order of events of a small world: a principal in a relation of container
 * scope, its subordinate, one unit at the other end, and whatever fails. At each step the rules
 * hold of what the agent does; and from each state in which the unit is on its way out the agent
 * comes to the end, or waits for somebody who resolves a hook. */
#include "rep/unit/agent.h"

#include "common/base/message.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_agent.h"
#include "common/lifecycle/unit_service.h"
#include "common/lifecycle/unit_status.h"
#include "test/tool/cmocka.h"
#include "test/tool/frontier.h"

#include <string.h>

enum { RELATION = 1, CHILD = 5, JOURNAL_BYTES = 400, STATUS_BYTES = 300, STEPS_MAX = 80 };

/* A sanitized agent is ten times as slow, and has smaller worlds. */
#ifdef __SANITIZE_ADDRESS__
enum { DEATHS = 1, DEATHS_BESIDE = 0 };
#else
enum { DEATHS = 2, DEATHS_BESIDE = 1 };
#endif

/* What is tried beside the unit's own way. */
struct bounds {
    uint8_t arrivals; /* of the remote unit */
    uint8_t bad;      /* hooks that end badly, or whose end is lost */
    uint8_t deaths;   /* of the rep, the container, the host */
    uint8_t makes;    /* that fail */
    uint8_t lacks;    /* there is no room */
    uint8_t forced;   /* a client forces it, and its name is taken again */
};

/* All of one moment. */
struct model {
    uint8_t life, service; /* UNIT_..., UNIT_SERVICE_... */
    uint8_t namesake;      /* another guid has the name */
    uint8_t relation;      /* RELATION_...; NONE = it is gone */
    uint8_t entered, departing;
    uint8_t remote;               /* the version of its settings; 0 = it is not there */
    uint8_t child;                /* UNIT_... */
    uint8_t container, run, kept; /* AGENT_CONTAINER_..., AGENT_RUN_...; the journal outlives it */
    uint8_t room, lacking, failures, numbered;
    uint8_t arrivals, bad, deaths, makes, lacks, forced; /* so many came */
    /* What the author of the hooks knows. */
    uint8_t knows_remote, knows_broken, knows_stop;
    uint16_t status_size, journal_size;
    uint8_t status[STATUS_BYTES], journal[JOURNAL_BYTES];
};

struct world {
    struct bounds bounds;
    struct frontier frontier;
    size_t ends;
};

/* ---- Facts ----------------------------------------------------------------------------------- */

/* What the facts of a moment point to. */
struct moment_laid {
    struct agent_facts f;
    Board__UnitRecord unit;
    Board__UnitServiceRecord service, other;
    Board__RelationRecord relation;
    Board__RelationEnd ends[2], *end_list[2];
    Board__Endpoint endpoints[2];
    struct agent_relation list;
    struct sight_relation seen;
    struct sight_member member;
    struct agent_child child;
};

static char *word(struct arena *a, const char *s)
{
    return arena_strdup(a, s);
}

static void lay_records(struct arena *a, const struct model *m, struct moment_laid *l)
{
    board__unit_record__init(&l->unit);
    board__unit_service_record__init(&l->service);
    board__unit_service_record__init(&l->other);
    board__relation_record__init(&l->relation);
    l->unit.service = word(a, "web");
    l->unit.service_guid = word(a, "web-guid");
    l->unit.guid = word(a, m->namesake ? "another" : "guid");
    l->unit.cell_id = word(a, "cell");
    l->unit.identity = word(a, "id");
    l->unit.state = word(a, unit_lifecycle.states[m->namesake ? UNIT_ALIVE : m->life]);
    l->service.state = word(a, unit_service_lifecycle.states[m->service]);
    l->other.name = word(a, "logger");
    l->other.subordinate = true;
    l->other.state = word(a, "alive");
    l->relation.number = RELATION;
    l->relation.guid = word(a, "r");
    l->relation.state = word(a, relation_lifecycle.states[m->relation]);
    l->relation.scope = BOARD__ENDPOINT__SCOPE__CONTAINER;
    l->relation.ends = l->end_list;
    l->relation.n_ends = 2;
    for (size_t i = 0; i < 2; i++) {
        board__relation_end__init(&l->ends[i]);
        board__endpoint__init(&l->endpoints[i]);
        l->end_list[i] = &l->ends[i];
        l->ends[i].service = word(a, i ? "logger" : "web");
        l->ends[i].service_guid = word(a, i ? "logger-guid" : "web-guid");
        l->ends[i].endpoint = &l->endpoints[i];
        l->endpoints[i].name = word(a, "log");
    }
}

static Rep__UnitNote *journal_of(struct arena *a, const struct model *m)
{
    Rep__UnitNote *j = NULL;
    struct err err;
    if (m->journal_size &&
        journal_read(a, (struct bytes){m->journal, m->journal_size}, &j, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return j;
}

static Board__UnitStatusRecord *status_of(struct arena *a, const struct model *m)
{
    ProtobufCAllocator in = arena_protobuf(a);
    Board__UnitStatusRecord *s = board__unit_status_record__unpack(&in, m->status_size, m->status);
    assert_non_null(s);
    return s;
}

static void lay(struct arena *a, const struct model *m, struct moment_laid *l)
{
    memset(l, 0, sizeof(*l));
    lay_records(a, m, l);
    l->list = (struct agent_relation){.record = &l->relation,
                                      .revision = 1,
                                      .other = &l->other,
                                      .other_revision = 1,
                                      .has_number = m->numbered,
                                      .number = CHILD};
    l->member = (struct sight_member){CHILD, m->remote, false};
    l->seen = (struct sight_relation){.number = RELATION,
                                      .guid = "r",
                                      .alive = m->relation == RELATION_ALIVE,
                                      .members = &l->member,
                                      .member_count = m->remote > 0};
    l->child = (struct agent_child){{"logger", CHILD}, m->child == UNIT_ALIVE, 1, "c"};
    l->f = (struct agent_facts){.cell_id = "cell",
                                .identity = "id",
                                .guid = "guid",
                                .now_ns = 1,
                                .confirmed = true,
                                .unit = m->life == UNIT_NONE && !m->namesake ? NULL : &l->unit,
                                .revision = 1,
                                .status = m->life == UNIT_NONE ? NULL : status_of(a, m),
                                .service = &l->service,
                                .sight = {.epoch = "e",
                                          .charm = "c",
                                          .config_version = 1,
                                          .relations = &l->seen,
                                          .relation_count = m->entered},
                                .relations = &l->list,
                                .relation_count = m->relation != RELATION_NONE,
                                .children = &l->child,
                                .child_count = m->child != UNIT_NONE,
                                .room = m->room,
                                .room_lacking = m->lacking,
                                .container = (enum agent_container)m->container,
                                .make_failures = m->failures,
                                .make_error = "x",
                                .journal =
                                    m->container == AGENT_CONTAINER_NONE ? NULL : journal_of(a, m),
                                .run = (enum agent_run)m->run,
                                .run_text = "",
                                .run_limit_ns = 2,
                                .token = "t",
                                .text = "",
                                .address = ""};
}

static void keep_journal(struct arena *a, struct model *m, const Rep__UnitNote *j)
{
    struct bytes packed = message_packed(a, &j->base);
    assert_true(packed.size <= JOURNAL_BYTES);
    memset(m->journal, 0, sizeof(m->journal));
    memcpy(m->journal, packed.data, packed.size);
    m->journal_size = (uint16_t)packed.size;
}

static void keep_status(struct arena *a, struct model *m, const Board__UnitStatusRecord *s)
{
    struct bytes packed = message_packed(a, &s->base);
    assert_true(packed.size <= STATUS_BYTES);
    memset(m->status, 0, sizeof(m->status));
    memcpy(m->status, packed.data, packed.size);
    m->status_size = (uint16_t)packed.size;
}

/* ---- What others do -------------------------------------------------------------------------- */

static int state_of(struct arena *a, const struct model *m)
{
    struct moment_laid l;
    lay(a, m, &l);
    return agent_state(a, &l.f);
}

static bool leads(int from, int to)
{
    bool found = from == to;
    for (int t = 0; t < (int)unit_agent_lifecycle.trigger_count && !found; t++) {
        found = lifecycle_leads(&unit_agent_lifecycle, from, ACTOR_REP, t, to);
    }
    return found;
}

/* Its lifecycle leads from the one to the other; a hook that ends may leave a scope to be left. */
static void push(struct world *w, struct arena *a, const struct model *from, const struct model *to)
{
    int before = state_of(a, from), after = state_of(a, to);
    if (!leads(before, after) && !(leads(before, UNIT_AGENT_IDLE) && after == UNIT_AGENT_LEAVING)) {
        fail_msg("no trigger leads from %s to %s", unit_agent_lifecycle.states[before],
                 unit_agent_lifecycle.states[after]);
    }
    frontier_push(&w->frontier, to, sizeof(*to));
}

static bool is_pending(struct arena *a, const struct model *m)
{
    return strcmp(status_of(a, m)->state, "pending") == 0;
}

/* As the board does it. */
static void destroy_unit_of(struct arena *a, struct model *m)
{
    bool pending = is_pending(a, m) && !m->entered && !m->child;
    m->life = pending ? UNIT_NONE : UNIT_DYING;
}

static void leave_relation_of(struct model *m)
{
    m->entered = 0;
    m->relation = m->relation == RELATION_DYING && !m->remote ? RELATION_NONE : m->relation;
}

static void the_board_moves(struct world *w, struct arena *a, const struct model *m)
{
    struct model n = *m;
    if (m->life == UNIT_ALIVE) {
        destroy_unit_of(a, &n);
        push(w, a, m, &n);
        n = *m;
        n.service = UNIT_SERVICE_DYING;
        push(w, a, m, &n);
        n = *m;
    }
    if (m->relation == RELATION_ALIVE) {
        n.relation = m->entered || m->remote ? RELATION_DYING : RELATION_NONE;
        push(w, a, m, &n);
        n = *m;
    }
    if (m->life == UNIT_DYING && m->forced < w->bounds.forced) {
        n.forced++;
        n.life = n.child = UNIT_NONE;
        n.remote = 0;
        leave_relation_of(&n);
        push(w, a, m, &n);
        n.namesake = 1;
        push(w, a, m, &n);
    }
}

/* The unit at the other end is the subordinate; it comes, changes and goes. */
static void the_child_moves(struct world *w, struct arena *a, const struct model *m)
{
    struct model n = *m;
    bool more = m->arrivals < w->bounds.arrivals;
    if (m->child == UNIT_ALIVE && m->relation == RELATION_ALIVE && more) {
        n.arrivals++;
        n.remote++;
        push(w, a, m, &n);
        n = *m;
    }
    if (m->remote && (m->child != UNIT_ALIVE || m->relation == RELATION_DYING)) {
        n.remote = 0;
        n.relation = m->relation == RELATION_DYING && !m->entered ? RELATION_NONE : m->relation;
        push(w, a, m, &n);
        n = *m;
    }
    if (m->child == UNIT_ALIVE && m->relation != RELATION_ALIVE) {
        n.child = UNIT_DYING; /* it has a reason */
        push(w, a, m, &n);
    } else if (m->child == UNIT_DYING && !m->remote) {
        n.child = UNIT_DEAD;
        push(w, a, m, &n);
    } else if (m->child == UNIT_DEAD) {
        n.child = UNIT_NONE;
        push(w, a, m, &n);
    }
}

static void somebody_resolves(struct world *w, struct arena *a, const struct model *m)
{
    Board__UnitStatusRecord *s = m->life ? status_of(a, m) : NULL;
    if (!s || strcmp(s->state, "error") != 0 || s->resolved) {
        return;
    }
    struct model n = *m;
    s->resolved = BOARD__UNIT_STATUS_RECORD__RESOLVED__RETRY;
    keep_status(a, &n, s);
    push(w, a, m, &n);
    s->resolved = BOARD__UNIT_STATUS_RECORD__RESOLVED__SKIP;
    keep_status(a, &n, s);
    push(w, a, m, &n);
}

/* ---- What the machine does ------------------------------------------------------------------- */

/* Nothing of the container is left, nor of what its author knew. */
static void container_goes(struct model *m)
{
    m->container = AGENT_CONTAINER_NONE;
    m->run = AGENT_RUN_NONE;
    m->journal_size = 0;
    m->kept = m->knows_remote = m->knows_broken = m->knows_stop = 0;
    memset(m->journal, 0, sizeof(m->journal));
}

static void container_falls(struct model *m)
{
    m->container = AGENT_CONTAINER_DOWN;
    m->kept = 1;
    m->run = m->run == AGENT_RUN_GOES ? AGENT_RUN_LOST : m->run;
}

static void make_ends(struct model *m, bool well)
{
    assert_int_equal(m->container, AGENT_CONTAINER_MAKING);
    if (well) {
        m->container = AGENT_CONTAINER_UP;
        m->failures = 0;
    } else if (m->kept) {
        m->container = AGENT_CONTAINER_DOWN;
    } else {
        container_goes(m);
    }
    m->failures += !well && m->failures < AGENT_MAKES_MAX;
}

static void the_driver_moves(struct world *w, struct arena *a, const struct model *m)
{
    struct model n = *m;
    if (m->container == AGENT_CONTAINER_MAKING) {
        make_ends(&n, true);
        push(w, a, m, &n);
        n = *m;
        if (m->makes < w->bounds.makes) {
            n.makes++;
            make_ends(&n, false);
            push(w, a, m, &n);
        }
    } else if (m->container == AGENT_CONTAINER_ENDING) {
        container_goes(&n);
        push(w, a, m, &n);
    }
    n = *m;
    if (m->run == AGENT_RUN_GOES && m->container == AGENT_CONTAINER_UP) {
        n.run = AGENT_RUN_GOOD;
        push(w, a, m, &n);
        if (m->bad < w->bounds.bad) {
            n.bad++;
            n.run = AGENT_RUN_BAD;
            push(w, a, m, &n);
            n.run = AGENT_RUN_LOST;
            push(w, a, m, &n);
        }
    }
    n = *m;
    if (!m->room && !m->lacking && m->lacks < w->bounds.lacks) {
        n.lacks++;
        n.lacking = 1;
        push(w, a, m, &n);
    } else if (m->lacking) {
        n.lacking = 0;
        push(w, a, m, &n);
    }
}

/* The rep, with what it holds in memory; the container; the host, with its disk or without. */
static void something_dies(struct world *w, struct arena *a, const struct model *m)
{
    struct model n = *m;
    if (m->deaths == w->bounds.deaths || m->container == AGENT_CONTAINER_NONE) {
        return;
    }
    n.deaths++;
    struct model dead = n;
    container_goes(&n);
    n.room = n.numbered = n.failures = 0;
    push(w, a, m, &n);
    n = dead;
    if (m->container == AGENT_CONTAINER_UP) {
        container_falls(&n);
        push(w, a, m, &n);
        n.room = n.numbered = n.failures = 0;
        push(w, a, m, &n);
    }
    n = dead;
    struct moment_laid l;
    lay(a, m, &l);
    l.f.sight.alive = m->life == UNIT_ALIVE;
    keep_journal(a, &n, journal_adopt(a, l.f.journal, &l.f.sight, true));
    n.failures = n.numbered = 0;
    push(w, a, m, &n);
}

/* ---- What the agent does --------------------------------------------------------------------- */

#define HOLD(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("row %d, %s, hook \"%s\": " #condition, s->row, agent_act_name(s->act),       \
                     hook_name(s->hook.hook));                                                     \
        }                                                                                          \
    } while (0)

static void check_begin(const struct model *m, const struct agent_step *s)
{
    HOLD(m->container == AGENT_CONTAINER_UP && m->run == AGENT_RUN_NONE);
    HOLD(!m->knows_stop && m->life != UNIT_DEAD && m->life != UNIT_NONE);
    HOLD(s->hook.hook != HOOK_STOP || (m->life == UNIT_DYING && !m->entered));
    HOLD(s->hook.hook != HOOK_BROKEN || !m->knows_remote);
    HOLD(s->hook.hook != HOOK_DEPARTED || m->knows_remote);
}

/* What must hold of each act, by what the board and the hooks' author know. */
static void check_act(const struct model *m, const struct agent_step *s)
{
    bool moves = s->status || (s->act >= AGENT_REMOVE && s->act <= AGENT_DESTROY_CHILD) ||
                 s->act >= AGENT_PUBLISH;
    bool owed = m->knows_remote || !m->knows_broken;
    bool without = m->container == AGENT_CONTAINER_NONE || m->container == AGENT_CONTAINER_DOWN;
    HOLD(!moves || (m->life != UNIT_NONE && !m->namesake));
    HOLD(s->act != AGENT_RECALL || m->life == UNIT_DEAD || m->life == UNIT_NONE);
    HOLD(s->act != AGENT_REMOVE || (m->life == UNIT_DEAD && m->container == AGENT_CONTAINER_NONE));
    HOLD(s->act != AGENT_DIE || (m->life == UNIT_DYING && !m->entered && !m->child));
    HOLD(s->act != AGENT_DIE || m->run != AGENT_RUN_GOES);
    HOLD(s->act != AGENT_DESTROY || m->service == UNIT_SERVICE_DYING);
    HOLD(s->act != AGENT_DESTROY_CHILD || (m->life == UNIT_DYING && m->child == UNIT_ALIVE));
    HOLD(s->act != AGENT_LEAVE || !owed ||
         (without && (m->failures == AGENT_MAKES_MAX || m->lacking)));
    HOLD(s->act != AGENT_ENTER ||
         (m->life == UNIT_ALIVE && m->relation == RELATION_ALIVE && !m->entered));
    HOLD(s->act != AGENT_ENTER || s->brings_child == !m->child);
    HOLD(s->act != AGENT_ENTER || !m->child || m->child == UNIT_ALIVE);
    HOLD(s->act != AGENT_MAKE || (m->room && without));
    HOLD(s->act != AGENT_NOTE || m->run == AGENT_RUN_NONE || m->run == AGENT_RUN_LOST);
}

static void hook_has_ended(struct model *m, const Rep__UnitNote *before)
{
    switch ((enum unit_hook)before->hook->hook) {
    case HOOK_STOP:
        m->knows_stop = 1;
        break;
    case HOOK_JOINED:
        m->knows_remote = 1;
        break;
    case HOOK_DEPARTED:
        m->knows_remote = 0;
        break;
    case HOOK_BROKEN:
        m->knows_broken = 1;
        break;
    default:
        break;
    }
}

/* As the board does it: it leaves an error for what was before, if it did what was resolved. */
static void report_lands(struct arena *a, struct model *m, const struct agent_step *s)
{
    Board__UnitStatusRecord *before = status_of(a, m), *after = s->status;
    const struct lifecycle *l = &unit_status_lifecycle;
    int from = lifecycle_state(l, before->state), to = lifecycle_state(l, after->state);
    bool error = from == UNIT_STATUS_ERROR;
    bool did = after->resolved && after->resolved == before->resolved;
    HOLD(lifecycle_leads(l, from, ACTOR_REP,
                         s->fails ? UNIT_STATUS_TRIGGER_FAIL : UNIT_STATUS_TRIGGER_REPORT, to));
    HOLD(s->fails || !error || (did && strcmp(after->state, before->before) == 0));
    HOLD(!s->fails || !did); /* it would be unresolved again */
    after = arena_copy(a, after, sizeof(*after));
    after->resolved = s->fails && error ? before->resolved : 0;
    after->stopped = before->stopped || to == UNIT_STATUS_STOPPED;
    HOLD(!message_equal(&after->base, &before->base));
    keep_status(a, m, after);
}

static void act(struct arena *a, struct model *m, const struct agent_step *s)
{
    Rep__UnitNote *before = m->container == AGENT_CONTAINER_NONE ? NULL : journal_of(a, m);
    if (s->journal) {
        keep_journal(a, m, s->journal);
    }
    switch (s->act) {
    case AGENT_RECALL:
        m->container = AGENT_CONTAINER_ENDING;
        break;
    case AGENT_REMOVE:
        m->life = UNIT_NONE;
        break;
    case AGENT_DIE:
        m->life = UNIT_DEAD;
        break;
    case AGENT_DESTROY:
        destroy_unit_of(a, m);
        break;
    case AGENT_DESTROY_CHILD:
        m->child = UNIT_DYING;
        break;
    case AGENT_SET_ASIDE:
        m->room = 1;
        break;
    case AGENT_MAKE:
        m->container = AGENT_CONTAINER_MAKING;
        break;
    case AGENT_NOTE:
        m->run = AGENT_RUN_NONE;
        break;
    case AGENT_END:
        if (m->run == AGENT_RUN_GOOD) {
            hook_has_ended(m, before);
        }
        m->run = AGENT_RUN_NONE;
        break;
    case AGENT_ACCEPT:
        hook_has_ended(m, before);
        break;
    case AGENT_EXECUTE:
        check_begin(m, s);
        m->run = AGENT_RUN_GOES;
        break;
    case AGENT_LEAVE:
        leave_relation_of(m);
        m->knows_broken = 0;
        break;
    case AGENT_NUMBERS:
        m->numbered = 1;
        break;
    case AGENT_ENTER:
        m->entered = 1;
        m->child = UNIT_ALIVE;
        m->numbered = 0;
        break;
    default:
        break;
    }
}

/* With what it reports, or without, when that is refused or late. */
static void the_agent_moves(struct world *w, struct arena *a, const struct model *m)
{
    struct moment_laid l;
    lay(a, m, &l);
    struct agent_step step = agent_next(a, &l.f), *s = &step;
    struct model n = *m;
    check_act(m, s);
    HOLD(*s->why);
    if (s->act != AGENT_WAIT && s->act != AGENT_REPORT) {
        act(a, &n, s);
        push(w, a, m, &n);
    }
    if (s->status) {
        n = *m;
        report_lands(a, &n, s);
        push(w, a, m, &n);
    }
}

/* ---- It comes to the end --------------------------------------------------------------------- */

/* What the others do for a unit that waits, when nothing fails any more; false = nothing. */
static bool help(struct arena *a, struct model *m)
{
    Board__UnitStatusRecord *s = m->life ? status_of(a, m) : NULL;
    if (m->run == AGENT_RUN_GOES && m->container == AGENT_CONTAINER_UP) {
        m->run = AGENT_RUN_GOOD;
    } else if (m->container == AGENT_CONTAINER_MAKING) {
        make_ends(m, true);
    } else if (m->container == AGENT_CONTAINER_ENDING) {
        container_goes(m);
    } else if (m->child == UNIT_DYING) {
        m->remote = 0;
        m->child = UNIT_DEAD;
    } else if (m->child == UNIT_DEAD) {
        m->child = UNIT_NONE;
    } else if (s && strcmp(s->state, "error") == 0 && !s->resolved) {
        s->resolved = BOARD__UNIT_STATUS_RECORD__RESOLVED__RETRY;
        keep_status(a, m, s);
    } else {
        return false;
    }
    return true;
}

static void comes_to_the_end(const struct model *from)
{
    struct model m = *from;
    struct agent_step last = {.why = ""}, *s = &last;
    SCOPED_ARENA(a);
    for (int i = 0; i < STEPS_MAX; i++) {
        struct moment_laid l;
        arena_reset(&a);
        lay(&a, &m, &l);
        last = agent_next(&a, &l.f);
        bool waits = last.act == AGENT_WAIT, reported = last.status != NULL;
        if (m.life == UNIT_NONE && m.container == AGENT_CONTAINER_NONE) {
            return;
        }
        check_act(&m, s);
        if (reported) {
            report_lands(&a, &m, s);
        }
        if (!waits) {
            act(&a, &m, s);
        } else if (!help(&a, &m) && !reported) {
            fail_msg("it waits for ever: row %d, %s", last.row, last.why);
        }
    }
    fail_msg("it is not gone after %d steps: row %d, %s, %s", STEPS_MAX, last.row,
             agent_act_name(last.act), last.why);
}

/* ---- Worlds ---------------------------------------------------------------------------------- */

static struct model first_moment(struct arena *a)
{
    struct model m;
    Board__UnitStatusRecord s = BOARD__UNIT_STATUS_RECORD__INIT;
    memset(&m, 0, sizeof(m));
    m.life = UNIT_ALIVE;
    m.service = UNIT_SERVICE_ALIVE;
    m.relation = RELATION_ALIVE;
    s.guid = word(a, "guid");
    s.cell_id = word(a, "cell");
    s.state = word(a, "pending");
    keep_status(a, &m, &s);
    return m;
}

static void every_order(const struct bounds *bounds, size_t least)
{
    SCOPED_ARENA(a);
    struct world w = {.bounds = *bounds};
    struct model m = first_moment(&a);
    frontier_init(&w.frontier, sizeof(m));
    frontier_push(&w.frontier, &m, sizeof(m));
    while (frontier_pop(&w.frontier, &m)) {
        arena_reset(&a);
        the_board_moves(&w, &a, &m);
        the_child_moves(&w, &a, &m);
        somebody_resolves(&w, &a, &m);
        the_driver_moves(&w, &a, &m);
        something_dies(&w, &a, &m);
        the_agent_moves(&w, &a, &m);
        if (m.life != UNIT_ALIVE) {
            comes_to_the_end(&m);
            w.ends++;
        }
    }
    print_message("%zu states, %zu on the way out\n", w.frontier.states, w.ends);
    assert_true(w.frontier.states >= least && w.ends > 0);
    frontier_done(&w.frontier);
}

static void nothing_fails(void **state)
{
    (void)state;
    every_order(&(struct bounds){.arrivals = 2}, 500);
}

static void hooks_end_badly(void **state)
{
    (void)state;
    every_order(&(struct bounds){.arrivals = 1, .bad = 2}, 1000);
}

static void the_rep_the_container_or_the_host_dies(void **state)
{
    (void)state;
    every_order(&(struct bounds){.arrivals = 1, .deaths = DEATHS}, 1000);
}

static void one_dies_and_a_hook_is_in_error(void **state)
{
    (void)state;
    every_order(&(struct bounds){.bad = 1, .deaths = 1}, 1000);
}

static void it_has_no_container_or_no_room(void **state)
{
    (void)state;
    every_order(&(struct bounds){.deaths = DEATHS_BESIDE, .makes = 3, .lacks = 1}, 1000);
}

static void somebody_forces_it(void **state)
{
    (void)state;
    every_order(&(struct bounds){.arrivals = 1, .deaths = 1, .forced = 1}, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_fails),
        cmocka_unit_test(hooks_end_badly),
        cmocka_unit_test(the_rep_the_container_or_the_host_dies),
        cmocka_unit_test(one_dies_and_a_hook_is_in_error),
        cmocka_unit_test(it_has_no_container_or_no_room),
        cmocka_unit_test(somebody_forces_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
