#include "converger/unit_passes.h"

#include "common/lifecycle/machine.h"
#include "common/lifecycle/relation.h"
#include "common/lifecycle/unit.h"
#include "common/lifecycle/unit_service.h"

#include <assert.h>
#include <string.h>

/* Its cell has no record, is LOST, or has another identity. */
static bool is_absent(const struct unit_end_sight *s)
{
    return !s->cell_known || !s->cell_present || !s->cell_same;
}

/* A LOST cell has not left. */
static bool is_left(const struct unit_end_sight *s)
{
    return !s->leave || !s->cell_known || !s->cell_same;
}

static bool is_abandoned(const struct unit_end_sight *s)
{
    return s->service_dying && !s->waits && is_absent(s);
}

static bool is_unread(const struct unit_end_sight *s)
{
    return !s->read && s->stood;
}

static bool is_leaked(const struct unit_end_sight *s)
{
    return !s->held && s->stood;
}

static const struct {
    const char *name;
    enum record_type kind;
    int state;
    const char *move;
    bool (*due)(const struct unit_end_sight *s);
} rows[] = {
#define UNIT_PASS(name, kind, state, move, due) {#name, RECORD_##kind, state, move, is_##due},
#include "converger/units.def"
#undef UNIT_PASS
};

struct unit_repair unit_passes_run(const struct unit_end_sight *s)
{
    assert(s->kind < RECORD_UNKNOWN && s->state >= -1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].kind == s->kind && rows[i].state == s->state && rows[i].due(s)) {
            return (struct unit_repair){
                .pass = rows[i].name, .move = rows[i].move, .leak = rows[i].due == is_leaked};
        }
    }
    return (struct unit_repair){.pass = NULL};
}

bool unit_kind_rests(enum record_type kind)
{
    return kind != RECORD_MACHINE && kind != RECORD_UNIT;
}
