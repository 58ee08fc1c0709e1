#include "test/decide/unit_cells.h"

#include "bbs/units/facts.h"
#include "bbs/units/units.h"
#include "common/base/memory.h"
#include "common/base/message.h"
#include "common/lifecycle/unit.h"
#include "common/model/record.h"
#include "test/tool/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t draw(struct unit_cells *c, uint64_t below)
{
    return random_below(&c->w->random, below);
}

static bool chance(struct unit_cells *c, unsigned percent)
{
    return !c->calm && draw(c, 100) < percent;
}

void unit_cells_init(struct unit_cells *c, struct unit_world *w)
{
    memset(c, 0, sizeof(*c));
    c->w = w;
    for (unsigned i = 0; i < UNIT_CELLS; i++) {
        snprintf(c->cells[i].id, sizeof(c->cells[i].id), "c%u", i + 1);
        unit_cell_begin(c, &c->cells[i]);
    }
}

void unit_cells_done(struct unit_cells *c)
{
    for (unsigned i = 0; i < UNIT_CELLS; i++) {
        unit_cell_end(&c->cells[i]);
    }
    for (size_t i = 0; i < c->agent_count; i++) {
        free(c->agents[i].journal);
    }
    for (size_t i = 0; i < c->turn_count; i++) {
        unit_turn_done(&c->turns[i].turn);
    }
    map_done(&c->stamps, free);
    map_done(&c->failed, NULL);
}

/* ---- Agents ---------------------------------------------------------------------------------- */

static struct unit_agent_model *agent_of(struct unit_cells *c, const char *guid)
{
    for (size_t i = 0; i < c->agent_count; i++) {
        if (strcmp(c->agents[i].guid, guid) == 0) {
            return &c->agents[i];
        }
    }
    return NULL;
}

/* One for each unit of the cell. */
static void notice(struct unit_cells *c, unsigned cell)
{
    SCOPED_ARENA(a);
    struct unit_known *list;
    size_t count = unit_knowledge_units(&c->cells[cell].k, &a, &list);
    for (size_t i = 0; i < count; i++) {
        if (agent_of(c, list[i].guid)) {
            continue;
        }
        assert_true(c->agent_count < UNIT_AGENTS_MAX);
        struct unit_agent_model *m = &c->agents[c->agent_count++];
        *m = (struct unit_agent_model){.cell = cell, .name.number = list[i].name.number};
        m->name.service = arena_strdup(&c->w->arena, list[i].name.service);
        snprintf(m->guid, sizeof(m->guid), "%s", list[i].guid);
        snprintf(m->principal, sizeof(m->principal), "%s",
                 unit_knowledge_unit(&c->cells[cell].k, &a, m->name)->principal_guid);
    }
}

static Rep__UnitNote *journal_of(struct arena *a, const struct unit_agent_model *m)
{
    Rep__UnitNote *j = NULL;
    struct err err;
    if (m->journal && journal_read(a, (struct bytes){m->journal, m->journal_size}, &j, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return j;
}

static void keep_journal(struct arena *a, struct unit_agent_model *m, const Rep__UnitNote *j)
{
    struct bytes packed = message_packed(a, &j->base);
    free(m->journal);
    m->journal = mem_array(packed.size + 1, 1);
    memcpy(m->journal, packed.data, packed.size);
    m->journal_size = packed.size;
}

/* The principal, as a text, whose group it is of. */
static const char *group_of(struct unit_cells *c, struct arena *a, const struct unit_agent_model *m)
{
    const Board__UnitRecord *u = unit_knowledge_unit(&c->cells[m->cell].k, a, m->name);
    return u && *u->principal ? u->principal : unit_name_text(a, m->name);
}

static bool group_runs(struct unit_cells *c, struct arena *a, const struct unit_agent_model *m)
{
    const char *group = group_of(c, a, m);
    for (size_t i = 0; i < c->agent_count; i++) {
        const struct unit_agent_model *o = &c->agents[i];
        if (o != m && o->run == AGENT_RUN_GOES && o->cell == m->cell &&
            strcmp(group_of(c, a, o), group) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_files(const struct unit_agent_model *m)
{
    return m->container != AGENT_CONTAINER_NONE && !m->gone;
}

static bool is_shared(struct unit_cells *c, const struct unit_agent_model *m)
{
    bool shared = false;
    for (size_t i = 0; i < c->agent_count; i++) {
        shared =
            shared || (strcmp(c->agents[i].principal, m->guid) == 0 && has_files(&c->agents[i]));
    }
    return shared;
}

static enum agent_principal principal_of(struct unit_cells *c, const struct unit_agent_model *m,
                                         const struct agent_facts *f)
{
    const struct unit_agent_model *p = agent_of(c, m->principal);
    return !*m->principal                            ? AGENT_PRINCIPAL_UP
           : p && p->container == AGENT_CONTAINER_UP ? AGENT_PRINCIPAL_UP
           : !f->principal || (p && p->without)      ? AGENT_PRINCIPAL_GONE
                                                     : AGENT_PRINCIPAL_DOWN;
}

static struct agent_facts facts_of(struct unit_cells *c, struct arena *a,
                                   struct unit_agent_model *m)
{
    struct agent_facts f = {.identity = "I",
                            .now_ns = 1,
                            .room = m->room,
                            .room_lacking = m->lacking,
                            .container = m->container,
                            .make_failures = m->make_failures,
                            .make_error = m->make_failures ? "no image" : "",
                            .group_busy = group_runs(c, a, m),
                            .run = m->run,
                            .run_text = "so it ended",
                            .run_limit_ns = 2,
                            .token = "t",
                            .text = "",
                            .address = ""};
    const Rep__UnitNote *j = m->container == AGENT_CONTAINER_NONE ? NULL : journal_of(a, m);
    unit_knowledge_facts(&c->cells[m->cell].k, a, m->name, m->guid, j, &f);
    f.gone = m->gone;
    f.shared = is_shared(c, m);
    f.principal_container = principal_of(c, m, &f);
    if (f.confirmed && m->restarted && f.journal && f.sight.relation_count <= HOOK_RELATIONS_MAX) {
        m->restarted = false;
        if (f.unit && strcmp(f.unit->guid, m->guid) == 0) {
            keep_journal(a, m, journal_adopt(a, f.journal, &f.sight, true));
            f.journal = journal_of(a, m);
        }
    }
    return f;
}

/* ---- Laws of hooks -----------------------------------------------------------------------------
 */

/* As the board has it. One whose agent has never reported may have gone at once, alive, and the
 * cell has not heard of it. */
static int last_life(struct unit_cells *c, struct arena *a, const struct unit_agent_model *m)
{
    const char *key = key_unit(a, m->name);
    for (size_t i = c->w->log_count; i > 0; i--) {
        const struct unit_world_entry *e = &c->w->log[i - 1];
        const Board__UnitRecord *u = (const Board__UnitRecord *)(e->after ? e->after : e->before);
        if (strcmp(e->key, key) == 0 && strcmp(u->guid, m->guid) == 0) {
            return life_of(&unit_lifecycle, u->state);
        }
    }
    return UNIT_NONE;
}

/* The hook that the journal notes begins. */
static void hold_begin(struct unit_cells *c, struct arena *a, struct unit_agent_model *m)
{
    const Rep__UnitNote *j = journal_of(a, m);
    const char *who = arena_printf(a, "seed %u: unit %s/%u", (unsigned)c->w->seed, m->name.service,
                                   m->name.number);
    int life = last_life(c, a, m);
    bool may = life == UNIT_DYING || (life == UNIT_ALIVE && j->hook->hook != HOOK_STOP);
    if (!may || m->container != AGENT_CONTAINER_UP || m->run == AGENT_RUN_GOES ||
        group_runs(c, a, m)) {
        fail_msg("%s, life %d: hook %s may not begin, or another one runs: V10", who, life,
                 hook_name((enum unit_hook)j->hook->hook));
    }
    const char *broken = unit_author_refuses(&m->author, j);
    if (broken) {
        fail_msg("%s, hook %s of relation %u about %u: V10, %s", who,
                 hook_name((enum unit_hook)j->hook->hook), j->hook->relation, j->hook->unit,
                 broken);
    }
}

/* A scope is left when broken has run, unless its container cannot be had or nobody hears. */
static void hold_leave(struct unit_cells *c, struct unit_agent_model *m,
                       const struct agent_facts *f, uint32_t relation)
{
    for (size_t i = 0; i < f->sight.relation_count; i++) {
        const struct sight_relation *r = &f->sight.relations[i];
        bool up = m->container == AGENT_CONTAINER_UP;
        if (r->number == relation && !up) {
            c->gave_up++;
            unit_author_gives_up(&m->author, r->guid);
        }
        if (r->number == relation && !r->silent && up &&
            !unit_author_heard_broken(&m->author, r->guid)) {
            fail_msg("seed %u: unit %s/%u leaves relation %u, whose broken it owes: V10",
                     (unsigned)c->w->seed, m->name.service, m->name.number, relation);
        }
    }
}

/* ---- What hooks set ----------------------------------------------------------------------------
 */

/* What its hook, which goes, sets. */
static void hook_sets(struct unit_cells *c, struct arena *a, struct unit_agent_model *m)
{
    Rep__UnitNote *j = journal_of(a, m);
    struct err err;
    for (size_t i = 0; i < j->n_relations && draw(c, 2); i++) {
        Rep__UnitNote *after;
        const char *key = arena_printf(a, "k%u", (unsigned)m->run_number);
        if (journal_set(a, j, j->relations[i]->number, key, "v", &after, &err) == 0) {
            keep_journal(a, m, after);
            j = after;
        }
    }
}

static void hook_failed(struct unit_cells *c, struct arena *a, const struct unit_agent_model *m)
{
    map_put(&c->failed, arena_printf(a, "k%u", (unsigned)m->run_number), c);
}

static void hold_settings(struct unit_cells *c, const char *key, const ProtobufCMessage *message)
{
    const Board__RelationSettingsRecord *r = (const Board__RelationSettingsRecord *)message;
    for (size_t i = 0; message && i < r->n_settings; i++) {
        if (map_get(&c->failed, r->settings[i]->key)) {
            fail_msg("seed %u: %s has %s of a hook that failed: V15", (unsigned)c->w->seed, key,
                     r->settings[i]->key);
        }
    }
}

/* ---- Moves ----------------------------------------------------------------------------------- */

static const struct move_family *family_of(const Board__Move *m)
{
    switch (move_kind(m)) {
    case RECORD_UNIT:
        return &unit_moves;
    case RECORD_UNIT_STATUS:
        return &unit_status_moves;
    case RECORD_UNIT_SERVICE:
        return &unit_service_moves;
    default:
        return &member_moves;
    }
}

static struct unit_cell_turn *make_move(struct unit_cells *c, unsigned cell, const char *guid,
                                        const Board__Move *move)
{
    assert_true(c->turn_count < UNIT_CELL_TURNS);
    struct unit_cell_turn *t = &c->turns[c->turn_count++];
    *t = (struct unit_cell_turn){.cell = cell};
    snprintf(t->guid, sizeof(t->guid), "%s", guid);
    unit_turn_init(&t->turn, (unsigned)draw(c, UNIT_WORLD_BBS));
    struct bytes packed = message_packed(&t->turn.arena, &move->base);
    ProtobufCAllocator in = arena_protobuf(&t->turn.arena);
    Board__Move *m = board__move__unpack(&in, packed.size, packed.data);
    m->incarnation = 1;
    const struct move_family *family = family_of(m);
    const struct move_row *row = move_row_named(family, m->move);
    struct validation v = {0};
    assert_true(move_well_formed(&t->turn.arena, m) && row);
    row->valid(&v, m);
    assert_true(validation_ok(&v));
    validation_done(&v);
    assert_true(move_permitted(family, row, ACTOR_REP));
    t->turn.actor = ACTOR_REP;
    t->turn.peer = arena_strdup(&t->turn.arena, c->cells[cell].id);
    t->turn.op = row->op;
    t->turn.request = &m->base;
    unit_world_decide(c->w, &t->turn);
    return t;
}

static void forget_turn(struct unit_cells *c, size_t at)
{
    struct unit_cell_turn *t = &c->turns[at];
    struct unit_agent_model *m = t->orphan ? NULL : agent_of(c, t->guid);
    if (m) {
        m->busy = false;
    }
    unit_turn_done(&t->turn);
    c->turns[at] = c->turns[--c->turn_count];
}

/* The agent hears what became of it. */
static void answer(struct unit_cells *c, struct unit_cell_turn *t)
{
    struct unit_knowledge *k = &c->cells[t->cell].k;
    const struct plan *p = &t->turn.plan.plan;
    bool refused = p->verdict == PLAN_REFUSE;
    c->refused += refused;
    if (t->orphan) {
        return;
    }
    if (refused && t->enters) {
        unit_knowledge_enter_refused(k, t->unit, t->relation, t->cause);
    }
    if (p->verdict == PLAN_COMMIT && t->takes_numbers) {
        unit_knowledge_numbers(k, t->service, p->first_number, p->number_count);
    }
}

/* 1. It is lost on its way, or its answer is.
 * 2. What was not decided on the board as it stands is decided again, as a bbs does it that finds
 *    its copy behind. */
static void settle_turn(struct unit_cells *c, size_t at)
{
    struct unit_cell_turn *t = &c->turns[at];
    if (chance(c, 8)) { /* 1 */
        forget_turn(c, at);
        return;
    }
    if (t->turn.plan.plan.verdict != PLAN_COMMIT ||
        !laid_passes(c->w->store, &t->turn.plan.reads)) {
        unit_world_hear(c->w, t->turn.bbs, SIZE_MAX);
        unit_world_decide(c->w, &t->turn); /* 2 */
    }
    size_t first = c->w->log_count;
    assert_true(unit_world_commit(c->w, &t->turn));
    for (size_t i = first; i < c->w->log_count; i++) {
        const struct unit_world_entry *e = &c->w->log[i];
        if (key_type(e->key) == RECORD_RELATION_SETTINGS) {
            hold_settings(c, e->key, e->after);
        }
    }
    if (!chance(c, 8)) { /* 1 */
        answer(c, t);
    }
    forget_turn(c, at);
}

/* ---- Acts ------------------------------------------------------------------------------------ */

static void container_goes(struct unit_agent_model *m)
{
    m->container = AGENT_CONTAINER_NONE;
    m->gone = false;
    m->run = AGENT_RUN_NONE;
    free(m->journal);
    m->journal = NULL;
    m->journal_size = 0;
    m->author = (struct unit_author){.count = 0};
}

static void agent_moves(struct unit_cells *c, struct arena *a, struct unit_agent_model *m,
                        const struct agent_facts *f, const struct agent_step *s)
{
    const Board__Move *move = unit_move_of_act(a, &c->cells[m->cell].k, f, s,
                                               (struct unit_address){c->cells[m->cell].id, 80});
    if (s->act == AGENT_LEAVE) {
        hold_leave(c, m, f, s->relation);
    }
    if (!move && s->act == AGENT_PUBLISH) {
        keep_journal(a, m, journal_published(a, f->journal, s->relation));
    }
    if (!move) {
        return;
    }
    struct unit_cell_turn *t = make_move(c, m->cell, m->guid, move);
    m->busy = true;
    t->enters = s->act == AGENT_ENTER;
    t->unit = m->name;
    t->relation = s->relation;
    t->cause = t->enters ? unit_knowledge_cause(f, s->relation) : (struct agent_cause){0};
    t->takes_numbers = s->act == AGENT_NUMBERS;
    t->service = t->takes_numbers ? arena_strdup(&t->turn.arena, s->service) : "";
}

static void begin_hook(struct unit_cells *c, struct arena *a, struct unit_agent_model *m)
{
    hold_begin(c, a, m);
    m->run = AGENT_RUN_GOES;
    m->run_number = ++c->runs;
    hook_sets(c, a, m);
}

/* Its journal is left. */
static void take_down(struct unit_cells *c, struct arena *a, struct unit_agent_model *m)
{
    if (m->run != AGENT_RUN_NONE && m->run != AGENT_RUN_GOOD) {
        hook_failed(c, a, m);
    }
    m->run = m->run == AGENT_RUN_GOES ? AGENT_RUN_LOST : m->run;
    m->container = AGENT_CONTAINER_DOWN;
    m->gone = true;
}

static void act(struct unit_cells *c, struct arena *a, struct unit_agent_model *m,
                const struct agent_facts *f, const struct agent_step *s)
{
    Rep__UnitNote *before = journal_of(a, m);
    c->acts[s->act]++;
    if (s->journal) {
        keep_journal(a, m, s->journal);
    }
    switch (s->act) {
    case AGENT_RECALL:
        m->container = AGENT_CONTAINER_ENDING;
        break;
    case AGENT_SET_ASIDE:
        m->lacking = chance(c, 20);
        m->room = !m->lacking;
        break;
    case AGENT_MAKE:
        if (f->principal_container != AGENT_PRINCIPAL_UP || f->shared) {
            fail_msg("seed %u: the container of %s/%u is made without its principal's, or under "
                     "those of subordinates: V10",
                     (unsigned)c->w->seed, m->name.service, m->name.number);
        }
        m->container = AGENT_CONTAINER_MAKING;
        m->gone = false;
        break;
    case AGENT_REMAKE:
        take_down(c, a, m);
        break;
    case AGENT_NOTE:
        m->run = AGENT_RUN_NONE;
        break;
    case AGENT_END:
        c->ends[m->run == AGENT_RUN_GOOD ? 0 : m->run == AGENT_RUN_BAD ? 1 : 2]++;
        if (m->run == AGENT_RUN_GOOD) {
            unit_author_learns(&m->author, before);
        }
        m->run = AGENT_RUN_NONE;
        break;
    case AGENT_ACCEPT:
        unit_author_learns(&m->author, before);
        break;
    case AGENT_EXECUTE:
        begin_hook(c, a, m);
        break;
    case AGENT_CUT:
        m->run = AGENT_RUN_BAD;
        hook_failed(c, a, m);
        break;
    default:
        agent_moves(c, a, m, f, s);
    }
}

/* Its next thing: by the table, and what it reports beside that. */
static void agent_steps(struct unit_cells *c, struct unit_agent_model *m)
{
    SCOPED_ARENA(a);
    struct agent_facts f = facts_of(c, &a, m);
    if (m->busy) {
        return;
    }
    struct agent_step s = agent_next(&a, &f);
    m->without = s.without;
    snprintf(m->why, sizeof(m->why), "row %d, %s: %s%s", s.row, agent_act_name(s.act), s.why,
             s.status ? ", and reports" : "");
    const Board__Move *report = unit_move_of_status(&a, &f, &s);
    if (report && (s.act == AGENT_WAIT || s.act == AGENT_REPORT || draw(c, 2))) {
        make_move(c, m->cell, m->guid, report);
        m->busy = true;
        c->acts[AGENT_REPORT]++;
    } else if (s.act != AGENT_WAIT) {
        act(c, &a, m, &f, &s);
    }
}

/* ---- What happens to them -------------------------------------------------------------------- */

static void hook_ends(struct unit_cells *c, struct unit_agent_model *m)
{
    SCOPED_ARENA(a);
    m->run = chance(c, 12) ? AGENT_RUN_BAD : chance(c, 8) ? AGENT_RUN_LOST : AGENT_RUN_GOOD;
    if (m->run != AGENT_RUN_GOOD) {
        hook_failed(c, &a, m);
    }
}

static void make_ends(struct unit_cells *c, struct unit_agent_model *m)
{
    bool well = !chance(c, 20);
    m->make_failures = well ? 0 : m->make_failures + (m->make_failures < AGENT_MAKES_MAX);
    if (well) {
        m->container = AGENT_CONTAINER_UP;
    } else if (draw(c, 2)) {
        m->container = AGENT_CONTAINER_DOWN;
    } else {
        container_goes(m);
    }
}

/* With its disk, or without. */
static void container_dies(struct unit_cells *c, struct unit_agent_model *m)
{
    SCOPED_ARENA(a);
    if (m->run != AGENT_RUN_NONE && m->run != AGENT_RUN_GOOD) {
        hook_failed(c, &a, m);
    }
    c->deaths++;
    if (draw(c, 3) == 0) {
        container_goes(m);
        return;
    }
    if (m->run == AGENT_RUN_GOES) {
        m->run = AGENT_RUN_LOST;
    }
    m->container = AGENT_CONTAINER_DOWN;
}

static void driver_steps(struct unit_cells *c, struct unit_agent_model *m)
{
    m->lacking = m->lacking && draw(c, 3);
    if (m->container == AGENT_CONTAINER_ENDING) {
        container_goes(m);
    } else if (m->container == AGENT_CONTAINER_MAKING) {
        make_ends(c, m);
    } else if (m->run == AGENT_RUN_GOES) {
        hook_ends(c, m);
    } else if (m->container == AGENT_CONTAINER_UP && chance(c, 3)) {
        container_dies(c, m);
    }
}

/* All that it knows is gone; moves on their way may land yet. */
static void rep_dies(struct unit_cells *c, unsigned cell)
{
    c->deaths++;
    unit_cell_end(&c->cells[cell]);
    unit_cell_begin(c, &c->cells[cell]);
    for (size_t i = 0; i < c->turn_count; i++) {
        c->turns[i].orphan = c->turns[i].orphan || c->turns[i].cell == cell;
    }
    for (size_t i = 0; i < c->agent_count; i++) {
        struct unit_agent_model *m = &c->agents[i];
        if (m->cell == cell) {
            m->busy = false;
            m->room = m->container != AGENT_CONTAINER_NONE;
            m->lacking = false;
            m->make_failures = 0;
            m->without = false;
            m->restarted = true;
        }
    }
}

/* Nothing of it is left. */
static void forget_agents(struct unit_cells *c)
{
    for (size_t i = 0; i < c->agent_count;) {
        SCOPED_ARENA(a);
        struct unit_agent_model *m = &c->agents[i];
        struct unit_name name;
        bool there = unit_knowledge_find(&c->cells[m->cell].k, &a, m->guid, &name);
        if (!there && !m->busy && m->container == AGENT_CONTAINER_NONE) {
            *m = c->agents[--c->agent_count];
        } else {
            i++;
        }
    }
}

/* The auctioneer has given the unit to this cell. */
static void place(struct unit_cells *c)
{
    SCOPED_ARENA(a);
    const char **keys;
    size_t count = laid_keys(c->w->store, &a, "unit/", &keys);
    const Board__UnitRecord *u =
        count ? (const Board__UnitRecord *)laid_message(c->w->store, &a, keys[draw(c, count)])
              : NULL;
    if (u && !u->assigned && !*u->principal && life_of(&unit_lifecycle, u->state) == UNIT_ALIVE &&
        c->turn_count < UNIT_CELL_TURNS) {
        make_move(c, (unsigned)draw(c, UNIT_CELLS), "", unit_move_assign(&a, u, false));
    }
}

static void something_happens(struct unit_cells *c)
{
    if (chance(c, 2)) {
        rep_dies(c, (unsigned)draw(c, UNIT_CELLS));
    } else if (draw(c, 8) == 0) {
        place(c);
    } else if (c->agent_count) {
        driver_steps(c, &c->agents[draw(c, c->agent_count)]);
    }
}

void unit_cells_step(struct unit_cells *c)
{
    uint64_t drawn = draw(c, 100);
    unsigned cell = (unsigned)draw(c, UNIT_CELLS);
    unit_cells_stamp(c);
    if (drawn < 25) {
        unit_cell_hear(c, &c->cells[cell], 1 + (size_t)draw(c, 8));
        unit_cell_follow(c, &c->cells[cell]);
        notice(c, cell);
        forget_agents(c);
    } else if (drawn < 50 && c->turn_count) {
        settle_turn(c, (size_t)draw(c, c->turn_count));
    } else if (drawn < 70) {
        something_happens(c);
    } else if (c->agent_count && c->turn_count < UNIT_CELL_TURNS) {
        agent_steps(c, &c->agents[draw(c, c->agent_count)]);
    }
}

/* ---- At rest --------------------------------------------------------------------------------- */

bool unit_cells_at_rest(struct unit_cells *c)
{
    SCOPED_ARENA(a);
    bool rest = c->turn_count == 0;
    for (unsigned i = 0; i < UNIT_CELLS && rest; i++) {
        rest = c->cells[i].heard == c->w->log_count && c->cells[i].k.waiting.count == 0;
    }
    for (size_t i = 0; i < c->agent_count && rest; i++) {
        struct unit_agent_model *m = &c->agents[i];
        struct agent_facts f = facts_of(c, &a, m);
        struct agent_step s = agent_next(&a, &f);
        rest = f.confirmed && s.act == AGENT_WAIT && !s.status && m->run == AGENT_RUN_NONE &&
               (m->container == AGENT_CONTAINER_UP || m->container == AGENT_CONTAINER_NONE);
    }
    return rest;
}

static void told_all(struct unit_cells *c, struct arena *a, const struct unit_agent_model *m,
                     const char *member_key)
{
    struct member_name own;
    bool named = member_of_key(a, member_key, &own);
    assert_true(named);
    const Board__RelationRecord *r =
        (const Board__RelationRecord *)laid_message(c->w->store, a, key_relation(a, own.relation));
    const char **keys;
    size_t count =
        laid_keys(c->w->store, a,
                  arena_printf(a, "relation_member/%010u/%s/", own.relation, own.principal), &keys);
    bool silent = own.role == BOARD__ENDPOINT__ROLE__PROVIDER &&
                  r->ends[1]->endpoint->role == BOARD__ENDPOINT__ROLE__PROVIDER &&
                  strcmp(r->ends[1]->endpoint->name, "juju-info") == 0;
    for (size_t i = 0; i < count && !silent; i++) {
        struct member_name o;
        assert_true(member_of_key(a, keys[i], &o));
        bool sees = own.role == BOARD__ENDPOINT__ROLE__PEER ? o.unit.number != own.unit.number
                                                            : o.role != own.role;
        const struct author_member *known =
            unit_author_knows((struct unit_author *)&m->author, r->guid, o.unit.number);
        const Rep__UnitNote *j = journal_of(a, m);
        if (sees && (!known || !known->changed)) {
            fail_msg("seed %u: unit %s/%u was not told of %s/%u in relation %u",
                     (unsigned)c->w->seed, m->name.service, m->name.number, o.unit.service,
                     o.unit.number, own.relation);
        }
        const struct unit_stamp *s = map_get(&c->stamps, key_relation_settings(a, &o));
        for (size_t n = 0; sees && n < j->n_relations; n++) {
            for (size_t k = 0;
                 j->relations[n]->number == own.relation && k < j->relations[n]->n_members; k++) {
                const Rep__UnitNoteMember *t = j->relations[n]->members[k];
                assert_true(t->unit != o.unit.number || (int64_t)t->version == s->modified);
            }
        }
    }
}

void unit_cells_all_told(struct unit_cells *c)
{
    SCOPED_ARENA(a);
    unit_cells_stamp(c);
    for (size_t i = 0; i < c->agent_count; i++) {
        struct unit_agent_model *m = &c->agents[i];
        const char **keys;
        size_t count = laid_keys(c->w->store, &a, key_unit_scopes(&a, m->name), &keys);
        for (size_t n = 0; n < count && m->container == AGENT_CONTAINER_UP; n++) {
            const Board__UnitScopeRecord *s =
                (const Board__UnitScopeRecord *)laid_message(c->w->store, &a, keys[n]);
            told_all(c, &a, m, s->member);
        }
    }
}

const char *unit_cells_text(struct unit_cells *c, struct arena *a)
{
    const char *text = arena_printf(a, "%zu moves under way", c->turn_count);
    for (size_t i = 0; i < c->agent_count; i++) {
        const struct unit_agent_model *m = &c->agents[i];
        text = arena_printf(a, "%s\n%s/%u on %s, container %d, hook %d, %s", text, m->name.service,
                            m->name.number, c->cells[m->cell].id, (int)m->container, (int)m->run,
                            m->why);
    }
    return text;
}
