#include "bbs/units/cell_machine.h"

#include "bbs/units/facts.h"
#include "common/lifecycle/machine.h"

#include <assert.h>
#include <string.h>

static uint32_t next_number(const struct cell_machine *c)
{
    return c->sequence ? c->sequence->next : 0;
}

void cell_machine_gather(struct view *v, const char *cell_id, struct cell_machine *ret)
{
    struct arena *a = view_arena(v);
    *ret = (struct cell_machine){.cell_id = cell_id, .cell = view_message(v, key_cell(a, cell_id))};
    const Board__MachineCellRecord *entry = view_message(v, key_machine_cell(a, cell_id));
    const Board__MachineRecord *m = entry ? view_message(v, key_machine(a, entry->number)) : NULL;
    if (m && ret->cell && strcmp(m->identity, ret->cell->identity) == 0) { /* 1 */
        ret->machine = m;
        return;
    }
    ret->sequence = view_message(v, key_sequence(a, "machine", "")); /* 2 */
    ret->number_free =
        next_number(ret) < UINT32_MAX && !view_get(v, key_machine(a, next_number(ret)));
}

const Board__MachineRecord *cell_machine_put(const struct cell_machine *c,
                                             const struct op_input *in, int trigger,
                                             uint32_t guards, enum machine_use use, bool clean,
                                             struct plan *p)
{
    assert(c->cell && !c->machine && c->number_free);
    struct arena *a = p->arena;
    Board__MachineRecord *m = arena_message(a, &board__machine_record__descriptor);
    char *guid = arena_alloc(a, GUID_BYTES);
    random_guid(in->random, guid);
    m->number = next_number(c);
    m->guid = guid;
    m->state = arena_strdup(a, machine_lifecycle.states[MACHINE_ALIVE]);
    m->cell_id = arena_strdup(a, c->cell_id);
    m->identity = c->cell->identity;
    m->host_units = use == MACHINE_OF_UNITS;
    m->manage = use == MACHINE_OF_MANAGER;
    m->clean = clean;
    m->since = in->now.wall_ns;
    life_change(p, in, &machine_lifecycle, MACHINE_NONE, trigger, guards, key_machine(a, m->number),
                &m->base);
    Board__MachineCellRecord *entry = arena_message(a, &board__machine_cell_record__descriptor);
    entry->number = m->number;
    entry->cell_id = m->cell_id;
    plan_put(p, key_machine_cell(a, m->cell_id), machine_lifecycle.triggers[trigger], in->actor,
             &entry->base);
    Board__SequenceRecord *next = arena_message(a, &board__sequence_record__descriptor);
    next->next = m->number + 1;
    plan_put(p, key_sequence(a, "machine", ""), machine_lifecycle.triggers[trigger], in->actor,
             &next->base);
    return m;
}
