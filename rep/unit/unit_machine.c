/* The rep as the agent of its machine (docs/units.md, The machine): one that is dying is dead when
 * nothing of any unit is left on the cell. */
#include "common/model/moves.h"
#include "rep/container/back_off.h"
#include "rep/inside.h"
#include "rep/unit/cell_unit.h"

#include <assert.h>
#include <string.h>

#define THE_MACHINE "machine" /* of this cell; a name for the log and for its order */

static const Board__MachineRecord *dying(struct rep *r, struct arena *a)
{
    const Board__MachineRecord *m = unit_knowledge_machine(&r->units.knowledge, a);
    bool own = m && strcmp(m->identity, r->config.identity) == 0 &&
               strcmp(m->cell_id, r->config.cell_id) == 0;
    return own && strcmp(m->state, "dying") == 0 ? m : NULL;
}

/* NULL: it is not dying, or something is left. */
static Board__Move *message(struct rep *r, struct arena *a, const char *name)
{
    struct unit_machine *own = &r->units.machine;
    const Board__MachineRecord *m = r->units.by_guid.count == 0 ? dying(r, a) : NULL;
    assert(own->moving && strcmp(name, THE_MACHINE) == 0);
    if (!m) {
        own->moving = false;
        return NULL;
    }
    Board__Move *move = move_new(a, "die", key_machine(a, m->number));
    move->body_case = BOARD__MOVE__BODY_UNITS;
    move->units = arena_message(a, &board__units_move__descriptor);
    move->units->guid = m->guid;
    move->incarnation = r->config.incarnation;
    return move;
}

/* What is done is not asked again before the feed tells of it. */
static void settled(struct rep *r, const char *name, const Board__MoveResult *result,
                    struct effects *out)
{
    struct unit_machine *own = &r->units.machine;
    const Models__Error *error = result ? result->error : NULL;
    bool done = result && result->outcome != BOARD__MOVE_RESULT__OUTCOME__REFUSED;
    assert(own->moving);
    own->moving = false;
    own->wait.failures++;
    own->wait.retry_ns = r->now.mono_ns + back_off_ns(&r->random, own->wait.failures);
    own->due = true;
    if (error && !done) {
        effects_log(out, LOG_INFO_LEVEL, "move refused", "%s move=die error=%d why=\"%s\"", name,
                    (int)error->type, error->message);
    }
}

static const struct move_source machine_source = {message, settled};

void unit_machine_look(struct rep *r)
{
    struct unit_machine *own = &r->units.machine;
    struct unit_knowledge *k = &r->units.knowledge;
    if (!own->due || own->moving || r->units.by_guid.count > 0) {
        return;
    }
    SCOPED_ARENA(a);
    if (!dying(r, &a)) {
        own->due = false;
        own->wait = (struct unit_wait){0};
    } else if (r->feed_client.current && r->incarnation.open && *k->board_generation) {
        if (r->now.mono_ns < own->wait.retry_ns) {
            r->units.due_ns = earlier_ns(r->units.due_ns, own->wait.retry_ns);
            return;
        }
        own->moving = true;
        moves_want_of(r, &machine_source, THE_MACHINE);
    }
}
