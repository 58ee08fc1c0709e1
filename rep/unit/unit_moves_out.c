/* Moves of a unit: one at a time, its status before an act, each with a back-off of its own. */
#include "common/base/memory.h"
#include "rep/container/back_off.h"
#include "rep/inside.h"
#include "rep/unit/cell_unit.h"
#include "rep/unit/unit_moves.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static struct unit_address address_of(const struct rep *r, const struct cell_unit *u)
{
    const struct container *c = cell_unit_container(u);
    bool has = c && c->about->n_ports > 0;
    return (struct unit_address){r->config.address, has ? c->about->ports[0]->host_port : 0};
}

static uint64_t about_of(const struct agent_step *s)
{
    return s->act == AGENT_DESTROY_CHILD ? s->child.number : s->relation;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static Board__Move *assign(struct arena *a, const struct cell_unit *u)
{
    const struct container *c = cell_unit_container(u);
    Board__UnitRecord unit = BOARD__UNIT_RECORD__INIT;
    unit.service = (char *)(uintptr_t)u->name.service;
    unit.number = u->name.number;
    unit.guid = u->guid;
    return c ? unit_move_assign(a, arena_copy(a, &unit, sizeof(unit)), c->made || u->kept) : NULL;
}

/* What it asks for by now, if that is the same still. */
static Board__Move *of_agent(struct rep *r, struct arena *a, struct cell_unit *u)
{
    struct agent_facts f = cell_unit_facts(r, a, u);
    struct agent_step s = agent_next(a, &f);
    if (u->moving == UNIT_MOVE_STATUS) {
        return unit_move_of_status(a, &f, &s);
    }
    bool other_numbers = s.act == AGENT_NUMBERS && strcmp(s.service, u->numbers_of) != 0;
    if (s.act != u->asked || about_of(&s) != u->asked_about || other_numbers) {
        return NULL;
    }
    if (s.act == AGENT_ENTER) {
        u->cause = unit_knowledge_cause(&f, s.relation);
    }
    return unit_move_of_act(a, &u->table->knowledge, &f, &s, address_of(r, u));
}

/* Whoever waits for a number of that service finds it, or asks now. */
static void numbers_settled(struct cell_unit *u, const Board__MoveResult *result)
{
    struct cell_units *t = u->table;
    if (result && result->numbers) {
        unit_knowledge_numbers(&t->knowledge, u->numbers_of, result->numbers->first,
                               result->numbers->count);
    }
    MAP_EACH(&t->by_guid, n)
    {
        struct cell_unit *other = map_value(n);
        if (other->waits_numbers) {
            cell_unit_queue(other);
        }
    }
}

static Board__Move *message(struct rep *r, struct arena *a, const char *guid)
{
    struct cell_unit *u = cell_unit_find(&r->units, guid);
    assert(u && u->moving);
    Board__Move *move = u->moving == UNIT_MOVE_ASSIGN ? assign(a, u) : of_agent(r, a, u);
    if (!move) {
        bool numbers = u->moving == UNIT_MOVE_ACT && u->asked == AGENT_NUMBERS;
        u->moving = UNIT_MOVE_NONE;
        cell_unit_queue(u);
        if (numbers) {
            numbers_settled(u, NULL);
        }
        return NULL;
    }
    if (u->moving == UNIT_MOVE_ASSIGN) {
        u->offer = OFFER_ASKED;
    }
    move->incarnation = r->config.incarnation;
    return move;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void wait_later(struct rep *r, struct cell_unit *u, struct unit_wait *w)
{
    assert(w == &u->act_wait || w == &u->status_wait);
    w->failures++;
    w->retry_ns = r->now.mono_ns + back_off_ns(&r->random, w->failures);
    cell_unit_due(u, w->retry_ns);
}

/* That is final: the auctioneer places it anew. */
static void not_assigned(struct cell_unit *u)
{
    struct container *c = cell_unit_container(u);
    u->offer = OFFER_NONE;
    if (c && c->phase == PHASE_RESERVED) {
        u->drop = "it was not assigned to this cell";
        container_touch(c);
    }
}

static void refused(struct cell_unit *u, enum unit_moving moving, const Models__Error *error,
                    struct effects *out)
{
    effects_log(out, LOG_INFO_LEVEL, "move refused", "unit=%s/%u move=%s error=%d why=\"%s\"",
                u->name.service, u->name.number,
                moving == UNIT_MOVE_ASSIGN   ? "assign"
                : moving == UNIT_MOVE_STATUS ? "report"
                                             : agent_act_name(u->asked),
                error ? (int)error->type : 0, error ? error->message : "");
    if (moving == UNIT_MOVE_ASSIGN) {
        not_assigned(u);
    } else if (moving == UNIT_MOVE_ACT && u->asked == AGENT_ENTER) {
        unit_knowledge_enter_refused(&u->table->knowledge, u->name, (uint32_t)u->asked_about,
                                     u->cause);
    }
}

/* What is done and yet asked for again, the feed lacks, or it comes to nothing: not at once. */
static void settled(struct rep *r, const char *guid, const Board__MoveResult *result,
                    struct effects *out)
{
    struct cell_unit *u = cell_unit_find(&r->units, guid);
    assert(u && u->moving);
    enum unit_moving moving = u->moving;
    struct unit_wait *w = moving == UNIT_MOVE_STATUS ? &u->status_wait : &u->act_wait;
    u->moving = UNIT_MOVE_NONE;
    cell_unit_queue(u);
    if (moving == UNIT_MOVE_ACT && u->asked == AGENT_NUMBERS) {
        numbers_settled(u, result);
    }
    if (!result) {
        wait_later(r, u, w);
    } else if (result->outcome == BOARD__MOVE_RESULT__OUTCOME__REFUSED) {
        wait_later(r, u, w);
        refused(u, moving, result->error, out);
    } else {
        bool followed = !result->numbers; /* the feed does not tell of sequences */
        u->heard_revision = followed && result->revision > cell_units_feed_revision(r)
                                ? result->revision
                                : u->heard_revision;
        if (moving == UNIT_MOVE_STATUS || w->failures == 0) {
            *w = (struct unit_wait){.failures = moving != UNIT_MOVE_STATUS};
        } else {
            wait_later(r, u, w);
        }
    }
}

static const struct move_source unit_source = {message, settled};

/* ---- Wishes ---------------------------------------------------------------------------------- */

static void want(struct rep *r, struct cell_unit *u, enum unit_moving moving,
                 const struct unit_wait *w)
{
    if (u->moving || !r->incarnation.open) {
        return;
    }
    if (r->now.mono_ns < w->retry_ns) {
        cell_unit_due(u, w->retry_ns);
        return;
    }
    assert(moving != UNIT_MOVE_NONE && !u->moving);
    u->moving = moving;
    moves_want_of(r, &unit_source, u->guid);
}

/* One block at a time is enough for all that want one. */
static bool are_numbers_asked(const struct cell_units *t, const char *service)
{
    MAP_EACH(&t->by_guid, n)
    {
        const struct cell_unit *u = map_value(n);
        if (u->moving == UNIT_MOVE_ACT && u->asked == AGENT_NUMBERS &&
            strcmp(u->numbers_of, service) == 0) {
            return true;
        }
    }
    return false;
}

/* False: somebody else asks already. */
static bool want_numbers(struct cell_unit *u, const char *service)
{
    u->waits_numbers = are_numbers_asked(u->table, service);
    if (u->waits_numbers) {
        return false;
    }
    free(u->numbers_of);
    u->numbers_of = mem_text(service);
    return true;
}

void unit_want_move(struct rep *r, struct cell_unit *u, const struct agent_step *s)
{
    if (u->moving || (s->act == AGENT_NUMBERS && !want_numbers(u, s->service))) {
        return;
    }
    if (u->asked != s->act || u->asked_about != about_of(s)) {
        u->asked = s->act;
        u->asked_about = about_of(s);
        u->act_wait = (struct unit_wait){0};
    }
    want(r, u, UNIT_MOVE_ACT, &u->act_wait);
}

void unit_want_status(struct rep *r, struct cell_unit *u)
{
    want(r, u, UNIT_MOVE_STATUS, &u->status_wait);
}

void unit_want_assign(struct rep *r, struct cell_unit *u)
{
    want(r, u, UNIT_MOVE_ASSIGN, &u->act_wait);
}
