#include "auctioneer/machines.h"

#include "common/base/memory.h"
#include "common/lifecycle/machine.h"
#include "common/model/keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct known_machine {
    struct machine_sight sight;
    char identity[];
};

void machines_init(struct machines *m)
{
    map_init(&m->by_key);
    map_init(&m->by_cell);
}

void machines_done(struct machines *m)
{
    map_done(&m->by_key, free);
    map_done(&m->by_cell, free);
}

void machines_reset(struct machines *m)
{
    machines_done(m);
    machines_init(m);
}

struct machine_sight machine_sight_of(const Board__MachineRecord *record)
{
    bool alive = strcmp(record->state, machine_lifecycle.states[MACHINE_ALIVE]) == 0;
    return (struct machine_sight){.is = true,
                                  .number = record->number,
                                  .open = alive && record->host_units && !record->cordoned,
                                  .clean = record->clean};
}

bool machines_put(struct machines *m, const char *key, const Board__MachineRecord *record)
{
    struct known_machine *now = mem_zeroed(sizeof(*now) + strlen(record->identity) + 1);
    strcpy(now->identity, record->identity);
    now->sight = machine_sight_of(record);
    assert(key_type(key) == RECORD_MACHINE && now->sight.is);
    struct known_machine *before = map_put(&m->by_key, key, now);
    bool opened = now->sight.open && !(before && before->sight.open);
    free(before);
    return opened;
}

bool machines_gone(struct machines *m, const char *key)
{
    assert(key_type(key) == RECORD_MACHINE);
    struct known_machine *before = map_remove(&m->by_key, key);
    free(before);
    return before != NULL;
}

void machines_cell_put(struct machines *m, const Board__MachineCellRecord *record)
{
    SCOPED_ARENA(a);
    assert(*record->cell_id);
    free(map_put(&m->by_cell, record->cell_id, mem_text(key_machine(&a, record->number))));
}

void machines_cell_gone(struct machines *m, const char *cell_id)
{
    free(map_remove(&m->by_cell, cell_id));
}

struct machine_sight machines_see(const struct machines *m, const char *cell_id,
                                  const char *identity)
{
    const char *key = map_get(&m->by_cell, cell_id);
    const struct known_machine *known = key ? map_get(&m->by_key, key) : NULL;
    if (!known || strcmp(known->identity, identity) != 0) {
        return (struct machine_sight){.is = false}; /* 1 */
    }
    return known->sight; /* 2 */
}
