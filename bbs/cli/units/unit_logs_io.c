/* bbs units logs: what a unit's command and hooks write. */
#include "bbs/cli/logs_io.h"
#include "bbs/cli/units/units_io.h"
#include "common/cli/cli_io.h"
#include "common/model/unit_name.h"

#include <string.h>

const struct cli_option bbs_unit_logs_options[] = {
    {.name = "follow", .letter = 'f', .help = "go on as they write, until it ends, or Ctrl-C"},
    {.name = "lines", .value = "N", .help = "the last so many of each stream; 100 without --since"},
    {.name = "tail", .value = "N", .help = "the last so many of stdout and stderr together"},
    {.name = "since",
     .value = "T",
     .help = "only lines from then on: a time in UTC (2026-01-02T03:04:05Z), or how long "
             "ago (10m)"},
    {.name = "source", .value = "S", .help = "only lines of this source"},
    {.name = "stream", .value = "stdout|stderr", .help = "only this one of both"},
    {.name = "times", .letter = 't', .help = "when the cell read each line (UTC)"},
    {.name = "raw",
     .help = "give a terminal their control characters, too; else those are shown as \\u001b"},
    {0},
};

static int find(struct session *s, const char *name, const Board__UnitRecord **ret, struct err *err)
{
    Board__UnitServiceWholeRequest request = BOARD__UNIT_SERVICE_WHOLE_REQUEST__INIT;
    struct unit_name unit;
    ProtobufCMessage *m;
    if (!unit_name_parse(&s->arena, name, &unit)) {
        return err_set(err, ERR_INVALID, "\"%.80s\" is no unit: say web/3", name);
    }
    request.service = (char *)(uintptr_t)unit.service;
    int r = units_call(s, "get", &request.base, &board__unit_service_whole__descriptor, &m, err);
    if (r < 0) {
        return r;
    }
    const Board__UnitServiceWhole *whole = (const Board__UnitServiceWhole *)m;
    for (size_t i = 0; i < whole->service->n_units; i++) {
        const Board__UnitRecord *u = whole->service->units[i]->unit;
        if (u->number == unit.number) {
            *ret = u;
            return 0;
        }
    }
    return err_set(err, ERR_NOT_FOUND, "there is no unit %.80s: bbs units lists those that are",
                   name);
}

static int show(struct logs *l, struct err *err)
{
    const Board__UnitRecord *u = NULL;
    int r = find(l->s, l->name, &u, err);
    if (r == 0 && !*u->cell_id) {
        return err_set(err, ERR_NOT_FOUND, "%.80s waits for a machine: bbs units why %.80s",
                       l->name, l->name);
    }
    r = r < 0 ? r
              : logs_of_one(l,
                            (struct log_source){.label = l->name,
                                                .instance_guid = u->guid,
                                                .cell_id = u->cell_id,
                                                .index = -1},
                            err);
    return r == -ERR_NOT_FOUND && !strstr(err->text, "bbs units")
               ? err_set(err, ERR_NOT_FOUND,
                         "%.80s has no container, or has not written yet: bbs units why %.80s",
                         l->name, l->name)
               : r;
}

int bbs_units_logs_run(const struct invocation *call, struct err *err)
{
    struct session s;
    struct logs l = {.s = &s, .call = call, .name = call->arguments[0]};
    int r = session_open(call, &s, err);
    r = r < 0 ? r : logs_options_read(&l, err);
    r = r < 0 ? r : logs_get_cells(&l, err);
    r = r < 0 ? r : show(&l, err);
    session_close(&s);
    return r;
}
