/* bbs units destroy-...: each name is tried, and what failed is told at the end. */
#include "bbs/cli/units/unit_words.h"
#include "bbs/cli/units/units_io.h"
#include "common/cli/cli_io.h"

#include <stdio.h>

/* How one of them is asked for: 0, or why not. */
struct units_end {
    bool forced, leave;
    int64_t max_wait_ms;
};
typedef int units_end_one(struct session *s, const char *name, const struct units_end *how,
                          struct err *err);

/* Found gone where an earlier try of ours may have done it. */
static int end_call(struct session *s, const char *path, const ProtobufCMessage *request,
                    struct err *err)
{
    int r = units_change(s, path, request, err);
    return r == -ERR_NOT_FOUND && cli_client_may_have_done(s->client) ? 0 : r;
}

static int end_unit(struct session *s, const char *name, const struct units_end *how,
                    struct err *err)
{
    Board__UnitRequest request = BOARD__UNIT_REQUEST__INIT;
    request.unit = arena_strdup(&s->arena, name);
    request.forced = how->forced;
    request.max_wait_ms = how->max_wait_ms;
    return end_call(s, "unit/destroy", &request.base, err);
}

static int end_service(struct session *s, const char *name, const struct units_end *how,
                       struct err *err)
{
    Board__UnitServiceRequest request = BOARD__UNIT_SERVICE_REQUEST__INIT;
    request.service = arena_strdup(&s->arena, name);
    request.forced = how->forced;
    request.max_wait_ms = how->max_wait_ms;
    return end_call(s, "service/destroy", &request.base, err);
}

static int end_machine(struct session *s, const char *name, const struct units_end *how,
                       struct err *err)
{
    Board__MachineRequest request = BOARD__MACHINE_REQUEST__INIT;
    request.optional_number_case = BOARD__MACHINE_REQUEST__OPTIONAL_NUMBER_NUMBER;
    request.leave = how->leave;
    request.forced = how->forced;
    request.max_wait_ms = how->max_wait_ms;
    int r = machine_number_read(name, &request.number, err);
    return r < 0 ? r : end_call(s, "machine/destroy", &request.base, err);
}

/* `more`: of `bbs units why`, for what is called `name`. */
static int end_all(struct session *s, const struct invocation *call, units_end_one *end,
                   const struct units_end *how, const char *more, struct err *err)
{
    size_t failed = 0;
    for (size_t i = 0; i < call->argument_count && session_goes_on(s); i++) {
        const char *name = call->arguments[i];
        int r = end(s, name, how, err);
        failed += r < 0;
        const char *sentence =
            arena_printf(&s->arena,
                         "is destroyed, or will be: bbs units why %s%s tells what it "
                         "waits for",
                         name, more);
        const char *shown = *more && !s->json ? arena_printf(&s->arena, "machine %s", name) : name;
        r = r < 0 ? r : units_done(s, shown, "destroyed", sentence, err);
        session_count(s, name, r, err);
    }
    if (failed > 0 && call->argument_count > 1) {
        fprintf(stderr, "bbs: %s\n", units_destroyed_text(&s->arena, call->argument_count, failed));
    }
    return session_end(s, err);
}

static int destroy_units(struct session *s, const struct invocation *call, struct err *err)
{
    struct units_end how = {.leave = false};
    int r = units_force_read(call, &how.forced, &how.max_wait_ms, err);
    return r < 0 ? r : end_all(s, call, end_unit, &how, "", err);
}

static int destroy_services(struct session *s, const struct invocation *call, struct err *err)
{
    struct units_end how = {.leave = false};
    int r = units_force_read(call, &how.forced, &how.max_wait_ms, err);
    return r < 0 ? r : end_all(s, call, end_service, &how, "", err);
}

static int destroy_machines(struct session *s, const struct invocation *call, struct err *err)
{
    struct units_end how = {.leave = cli_switch(call, "leave")};
    int r = units_force_read(call, &how.forced, &how.max_wait_ms, err);
    return r < 0 ? r : end_all(s, call, end_machine, &how, " --machine", err);
}

static int destroy_relation(struct session *s, const struct invocation *call, struct err *err)
{
    Board__UnitRelationRequest request = BOARD__UNIT_RELATION_REQUEST__INIT;
    const char *name = arena_printf(&s->arena, "%s %s", call->arguments[0], call->arguments[1]);
    request.n_ends = 2;
    request.ends = ARENA_ARRAY(&s->arena, 2, Board__UnitEnd *);
    for (size_t i = 0; i < 2; i++) {
        request.ends[i] = unit_end_read(&s->arena, call->arguments[i]);
    }
    int r = end_call(s, "relation/destroy", &request.base, err);
    return r < 0
               ? r
               : units_done(s, name, "destroyed",
                            "is no relation any more, when the last of its units has left it", err);
}

SESSION_RUN(bbs_units_destroy_unit_run, destroy_units)
SESSION_RUN(bbs_units_destroy_service_run, destroy_services)
SESSION_RUN(bbs_units_destroy_machine_run, destroy_machines)
SESSION_RUN(bbs_units_destroy_relation_run, destroy_relation)
