/* Which machine a cell is, and that it becomes one: by hand, or with its first unit. Pure. */
#pragma once

#include "bbs/board/op.h"

#include "board.pb-c.h"

/* The machine that a cell is, or may become. */
struct cell_machine {
    const char *cell_id;
    const Board__CellRecord *cell;         /* NULL = it has no record */
    const Board__MachineRecord *machine;   /* of the cell's identity; NULL = it is none yet */
    const Board__SequenceRecord *sequence; /* then: NULL = the first machine of all */
    bool number_free;                      /* likewise: the next number may be taken */
};

/* 1. The cell is a machine, of its identity.
 * 2. It is none, or the state directory is another one by now: it may be a new machine, by the next
 *    number. That the number is free is compared. */
void cell_machine_gather(struct view *v, const char *cell_id, struct cell_machine *ret);

/* It becomes one: the record, which machine the cell is, and the sequence. */
enum machine_use { MACHINE_OF_UNITS, MACHINE_OF_MANAGER };
const Board__MachineRecord *cell_machine_put(const struct cell_machine *c,
                                             const struct op_input *in, int trigger,
                                             uint32_t guards, enum machine_use use, bool clean,
                                             struct plan *p);
