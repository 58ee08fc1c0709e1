/* bbs units add-relation, resolved, add-machine, cordon, uncordon. */
#include "bbs/cli/units/unit_words.h"
#include "bbs/cli/units/units_io.h"
#include "common/cli/cli_io.h"
#include "common/model/unit_name.h"

static int relate(struct session *s, const struct invocation *call, struct err *err)
{
    Board__RelateUnitsRequest request = BOARD__RELATE_UNITS_REQUEST__INIT;
    ProtobufCMessage *m;
    request.n_ends = 2;
    request.ends = ARENA_ARRAY(&s->arena, 2, Board__UnitEnd *);
    for (size_t i = 0; i < 2; i++) {
        request.ends[i] = unit_end_read(&s->arena, call->arguments[i]);
    }
    int r = units_call(s, "relate", &request.base, &board__units_changed__descriptor, &m, err);
    if (r == -ERR_EXISTS && cli_client_may_have_done(s->client)) {
        return units_done(s, call->arguments[0], "related", "is related", err);
    }
    if (r < 0) {
        return r;
    }
    const Board__RelationRecord *relation = ((const Board__UnitsChanged *)m)->relation;
    if (!relation) {
        return err_set(err, ERR_UNKNOWN, "the bbs did not say which relation it made");
    }
    return units_done(s, relation_canonical(&s->arena, relation->ends, relation->n_ends), "related",
                      arena_printf(&s->arena, "is relation %u", relation->number), err);
}

static int resolved(struct session *s, const struct invocation *call, struct err *err)
{
    Board__UnitRequest request = BOARD__UNIT_REQUEST__INIT;
    const char *unit = call->arguments[0];
    bool retry = cli_switch(call, "retry"), skip = cli_switch(call, "skip");
    if (retry == skip) {
        return err_set(err, ERR_INVALID,
                       "%.80s: give --retry, and its hook runs again, or --skip, and it counts as "
                       "done%s",
                       unit, retry ? "; not both" : "");
    }
    request.unit = arena_strdup(&s->arena, unit);
    request.resolved = retry ? BOARD__UNIT_STATUS_RECORD__RESOLVED__RETRY
                             : BOARD__UNIT_STATUS_RECORD__RESOLVED__SKIP;
    int r = units_change(s, "resolve", &request.base, err);
    return r < 0 ? r
                 : units_done(s, unit, "resolved",
                              retry ? "runs its hook again" : "takes its hook as done", err);
}

/* ---- Machines -------------------------------------------------------------------------------- */

static int add_machine(struct session *s, const struct invocation *call, struct err *err)
{
    Board__AddMachineRequest request = BOARD__ADD_MACHINE_REQUEST__INIT;
    ProtobufCMessage *m;
    request.cell_id = arena_strdup(&s->arena, call->arguments[0]);
    request.manage = cli_switch(call, "manager");
    int r = units_call(s, "machine/add", &request.base, &board__units_changed__descriptor, &m, err);
    if (r == -ERR_EXISTS && cli_client_may_have_done(s->client)) {
        return units_done(s, request.cell_id, "added", "is a machine", err);
    }
    const Board__MachineRecord *machine = r < 0 ? NULL : ((const Board__UnitsChanged *)m)->machine;
    if (r == 0 && !machine) {
        return err_set(err, ERR_UNKNOWN, "the bbs did not say which machine it made");
    }
    return r < 0 ? r
                 : units_done(s, request.cell_id, "added",
                              arena_printf(&s->arena, "is machine %u", machine->number), err);
}

static int set_cordoned(struct session *s, const struct invocation *call, const char *verb,
                        const char *result, const char *sentence, struct err *err)
{
    Board__MachineRequest request = BOARD__MACHINE_REQUEST__INIT;
    request.optional_number_case = BOARD__MACHINE_REQUEST__OPTIONAL_NUMBER_NUMBER;
    int r = machine_number_read(call->arguments[0], &request.number, err);
    r = r < 0 ? r : units_change(s, verb, &request.base, err);
    const char *name = arena_printf(&s->arena, "machine %u", request.number);
    return r < 0 ? r : units_done(s, name, result, sentence, err);
}

static int cordon(struct session *s, const struct invocation *call, struct err *err)
{
    return set_cordoned(s, call, "cordon", "cordoned", "takes no units any more", err);
}

static int uncordon(struct session *s, const struct invocation *call, struct err *err)
{
    return set_cordoned(s, call, "uncordon", "uncordoned", "takes units", err);
}

SESSION_RUN(bbs_units_relate_run, relate)
SESSION_RUN(bbs_units_resolved_run, resolved)
SESSION_RUN(bbs_units_add_machine_run, add_machine)
SESSION_RUN(bbs_units_cordon_run, cordon)
SESSION_RUN(bbs_units_uncordon_run, uncordon)
