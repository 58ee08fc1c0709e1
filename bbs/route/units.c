/* Units and relations: what clients ask for, and what anybody may see. */
#include "bbs/board/errors.h"
#include "bbs/route/answer.h"
#include "bbs/route/read.h"
#include "bbs/units/told.h"
#include "bbs/units/unit_charm.h"
#include "bbs/units/units.h"
#include "common/model/unit_name.h"

#include <assert.h>
#include <string.h>

/* ---- Answers --------------------------------------------------------------------------------- */

/* What the op was about; false: it is told otherwise. */
static bool subject_of(struct arena *a, const ProtobufCMessage *request, enum units_noun *ret_noun,
                       const char **ret_name)
{
    struct unit_name unit;
    *ret_noun = NOUN_SERVICE;
    if (request->descriptor == &board__add_units_request__descriptor) {
        *ret_name = ((const Board__AddUnitsRequest *)request)->service;
    } else if (request->descriptor == &board__configure_units_request__descriptor) {
        *ret_name = ((const Board__ConfigureUnitsRequest *)request)->service;
    } else if (request->descriptor == &board__upgrade_units_request__descriptor) {
        *ret_name = ((const Board__UpgradeUnitsRequest *)request)->service;
    } else if (request->descriptor != &board__move__descriptor) {
        return false;
    } else {
        const Board__Move *m = (const Board__Move *)request;
        const char *key = move_key(a, m);
        if (unit_of_key(a, key, &unit) && key_type(key) == RECORD_UNIT_STATUS) {
            key = key_unit(a, unit);
        }
        uint32_t number;
        if (key_type(key) == RECORD_MACHINE && number_of_key(a, key, &number)) {
            *ret_noun = NOUN_MACHINE;
            *ret_name = arena_printf(a, "%u", number);
            return true;
        }
        *ret_noun = key_type(key) == RECORD_UNIT ? NOUN_UNIT : NOUN_SERVICE;
        *ret_name = key_type(key) == RECORD_UNIT ? unit_name_text(a, unit) : move_name(a, m);
        return key_type(key) == RECORD_UNIT || key_type(key) == RECORD_UNIT_SERVICE;
    }
    return true;
}

/* Of a name that is not there the answer says what has it. */
static const char *unknown_text(const struct ask *ask, struct arena *a)
{
    enum units_noun noun;
    const char *name;
    struct unit_name unit;
    struct view *v = board_view(ask->router->board, a);
    if (!subject_of(a, (const ProtobufCMessage *)ask->in.request, &noun, &name)) {
        return NULL;
    }
    bool is_unit = noun == NOUN_UNIT && unit_name_parse(a, name, &unit);
    assert(noun != NOUN_UNIT || is_unit);
    const char *key = noun == NOUN_MACHINE ? move_key(a, ask->in.request)
                      : is_unit            ? key_unit(a, unit)
                                           : key_unit_service(a, name);
    return view_peek(v, key) ? NULL : units_unknown(v, noun, name);
}

/* A record of which clients are told in the answer. */
static bool is_told(const ProtobufCMessage *record, Board__UnitsChanged *ret)
{
    ProtobufCMessage *m = (ProtobufCMessage *)(uintptr_t)record;
    if (m && m->descriptor == &board__relation_record__descriptor) {
        ret->relation = (Board__RelationRecord *)m;
    } else if (m && m->descriptor == &board__machine_record__descriptor) {
        ret->machine = (Board__MachineRecord *)m;
    }
    assert(!ret->relation || !ret->machine);
    return ret->relation || ret->machine;
}

static void units_answer(void *context, const struct op_result *result, struct effects *out)
{
    struct ask *ask = context;
    Models__Error error;
    Board__UnitsChanged told = BOARD__UNITS_CHANGED__INIT;
    bool decided = result->end == OP_DECIDED;
    bool refused = decided && plan_error(result->plan, &error);
    const char *text = refused && error.type == MODELS__ERROR__TYPE__ResourceNotFound
                           ? unknown_text(ask, out->arena)
                           : NULL;
    if (text) {
        ask_refuse(ask, MODELS__ERROR__TYPE__ResourceNotFound, text, out);
    } else if (decided && !refused && is_told(result->plan->record, &told)) {
        ask_reply(ask, &told.base, out);
    } else {
        ask_answer(context, result, out);
    }
}

static void units_op(struct ask *ask, const struct op_row *row, struct effects *out)
{
    if (ask_valid(ask, out)) {
        board_op(ask->router->board, row, &ask->in, ask->arena, units_answer, ask, out);
    }
}

/* Answers after the last portion of the job that it opens. */
static void units_op_with_job(struct ask *ask, const struct op_row *row, struct effects *out)
{
    if (ask_valid(ask, out)) {
        ask_op_with_job(ask, row, units_answer, out);
    }
}

static void answer_failed(struct ask *ask, int r, const struct err *err, struct effects *out)
{
    ask_refuse(ask,
               r == -ERR_NOT_FOUND ? MODELS__ERROR__TYPE__ResourceNotFound
                                   : MODELS__ERROR__TYPE__InvalidRequest,
               err->text, out);
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* A charm that comes as its file is read; what is wrong with it is said of the request. */
static void take_charm_file(struct ask *ask, const char *file, Board__Charm **charm)
{
    struct err err;
    if (*file && unit_charm_read(ask->arena, file, charm, &err) < 0) {
        say(&ask->faults, err.text);
    }
}

void route_deploy_units(struct ask *ask, struct effects *out)
{
    Board__DeployUnitsRequest *r = (Board__DeployUnitsRequest *)(uintptr_t)ask->in.request;
    take_charm_file(ask, r->file, &r->charm);
    if (!ask_valid(ask, out)) {
        return;
    }
    valid_deploy_units(&ask->faults, r);
    units_op_with_job(ask, &deploy_units_row, out);
}

static void answer_no_service(void *context, struct view *v, const char *text, struct effects *out)
{
    enum units_noun noun;
    struct ask *ask = context;
    const char *name;
    (void)text;
    if (!v || !subject_of(view_arena(v), (const ProtobufCMessage *)ask->in.request, &noun, &name)) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    ask_refuse(ask, MODELS__ERROR__TYPE__ResourceNotFound, units_unknown(v, noun, name), out);
}

/* No service can have such a name: what has it is told; true, and answered then. */
static bool service_is_unnamed(struct ask *ask, const char *service, struct effects *out)
{
    bool valid = unit_service_name_is_valid(service);
    if (!valid) {
        ask_read(ask, answer_no_service, out);
    }
    return !valid;
}

void route_add_units(struct ask *ask, struct effects *out)
{
    const Board__AddUnitsRequest *r = ask->in.request;
    if (!service_is_unnamed(ask, r->service, out)) {
        valid_add_units(&ask->faults, r);
        units_op_with_job(ask, &add_units_row, out);
    }
}

void route_configure_units(struct ask *ask, struct effects *out)
{
    const Board__ConfigureUnitsRequest *r = ask->in.request;
    if (!service_is_unnamed(ask, r->service, out)) {
        valid_configure_units(&ask->faults, r);
        units_op(ask, &configure_units_row, out);
    }
}

void route_upgrade_units(struct ask *ask, struct effects *out)
{
    Board__UpgradeUnitsRequest *r = (Board__UpgradeUnitsRequest *)(uintptr_t)ask->in.request;
    take_charm_file(ask, r->file, &r->charm);
    if (ask_valid(ask, out) && !service_is_unnamed(ask, r->service, out)) {
        valid_upgrade_units(&ask->faults, r);
        units_op(ask, &upgrade_units_row, out);
    }
}

void route_add_machine(struct ask *ask, struct effects *out)
{
    valid_add_machine(&ask->faults, ask->in.request);
    units_op(ask, &add_machine_row, out);
}

/* ---- Moves ----------------------------------------------------------------------------------- */

static Board__Move *units_move(struct arena *a, const char *name, const char *key, const char *guid)
{
    Board__Move *m = move_new(a, name, key);
    m->body_case = BOARD__MOVE__BODY_UNITS;
    m->units = arena_message(a, &board__units_move__descriptor);
    m->units->guid = arena_strdup(a, guid);
    return m;
}

static void answer_no_unit(void *context, struct view *v, const char *text, struct effects *out)
{
    struct ask *ask = context;
    (void)text;
    if (!v) {
        answer_unavailable(out, ask->request_id);
        return;
    }
    const Board__UnitRequest *r = ask->in.request;
    ask_refuse(ask, MODELS__ERROR__TYPE__ResourceNotFound, units_unknown(v, NOUN_UNIT, r->unit),
               out);
}

/* No unit can have such a name: what has it is told. */
static bool unit_is_unnamed(struct ask *ask, struct unit_name *ret, struct effects *out)
{
    const Board__UnitRequest *r = ask->in.request;
    bool valid = unit_name_parse(ask->arena, r->unit, ret);
    if (!valid) {
        ask_read(ask, answer_no_unit, out);
    }
    return !valid;
}

void route_destroy_unit(struct ask *ask, struct effects *out)
{
    const Board__UnitRequest *r = ask->in.request;
    struct unit_name name;
    if (unit_is_unnamed(ask, &name, out)) {
        return;
    }
    Board__Move *m = units_move(ask->arena, "destroy", key_unit(ask->arena, name), r->guid);
    m->units->forced = r->forced;
    m->units->max_wait_ms = r->max_wait_ms;
    units_op(ask, ask_move(ask, &unit_moves, m), out);
}

void route_resolve_unit(struct ask *ask, struct effects *out)
{
    const Board__UnitRequest *r = ask->in.request;
    struct unit_name name;
    if (unit_is_unnamed(ask, &name, out)) {
        return;
    }
    Board__Move *m = units_move(ask->arena, "resolve", key_unit_status(ask->arena, name), r->guid);
    m->units->resolved = r->resolved;
    units_op(ask, ask_move(ask, &unit_status_moves, m), out);
}

void route_destroy_unit_service(struct ask *ask, struct effects *out)
{
    const Board__UnitServiceRequest *r = ask->in.request;
    Board__Move *m =
        units_move(ask->arena, "destroy", key_unit_service(ask->arena, r->service), r->guid);
    m->units->forced = r->forced;
    m->units->max_wait_ms = r->max_wait_ms;
    ask->in.request = &m->base;
    if (!service_is_unnamed(ask, r->service, out)) {
        units_op(ask, ask_move(ask, &unit_service_moves, m), out);
    }
}

static void machine_move(struct ask *ask, const char *move, struct effects *out)
{
    const Board__MachineRequest *r = ask->in.request;
    Board__Move *m = units_move(ask->arena, move, key_machine(ask->arena, r->number), r->guid);
    if (r->optional_number_case != BOARD__MACHINE_REQUEST__OPTIONAL_NUMBER_NUMBER) {
        say(&ask->faults, "number: which machine?");
    }
    m->units->leave = r->leave;
    m->units->forced = r->forced;
    m->units->max_wait_ms = r->max_wait_ms;
    units_op(ask, ask_move(ask, &machine_moves, m), out);
}

void route_cordon_machine(struct ask *ask, struct effects *out)
{
    machine_move(ask, "cordon", out);
}

void route_uncordon_machine(struct ask *ask, struct effects *out)
{
    machine_move(ask, "uncordon", out);
}

void route_destroy_machine(struct ask *ask, struct effects *out)
{
    machine_move(ask, "destroy", out);
}

/* ---- Relations: the ends that are meant are looked up first ---------------------------------- */

static void relate_meant(void *context, struct view *v, const char *text, struct effects *out)
{
    struct ask *ask = context;
    struct err err = {0};
    Board__RelateUnitsRequest *request = NULL;
    (void)text;
    int r = v ? units_ends_meant(v, ask->in.request, ask->arena, &request, &err) : 0;
    if (!v || r < 0) {
        if (v) {
            answer_failed(ask, r, &err, out);
        } else {
            answer_unavailable(out, ask->request_id);
        }
        ask_end(ask);
        return;
    }
    ask->in.request = request;
    valid_relate_units(&ask->faults, request);
    units_op(ask, &relate_units_row, out);
}

void route_relate_units(struct ask *ask, struct effects *out)
{
    board_barrier(ask->router->board, board_arena(), relate_meant, ask, out);
}

static void destroy_meant(void *context, struct view *v, const char *text, struct effects *out)
{
    struct ask *ask = context;
    struct err err = {0};
    uint32_t number = 0;
    (void)text;
    int r = v ? units_relation_meant(v, ask->in.request, &number, &err) : 0;
    if (!v || r < 0) {
        if (v) {
            answer_failed(ask, r, &err, out);
        } else {
            answer_unavailable(out, ask->request_id);
        }
        ask_end(ask);
        return;
    }
    Board__Move *m = units_move(ask->arena, "destroy", key_relation(ask->arena, number), "");
    units_op(ask, ask_move(ask, &relation_moves, m), out);
}

void route_destroy_unit_relation(struct ask *ask, struct effects *out)
{
    board_barrier(ask->router->board, board_arena(), destroy_meant, ask, out);
}

/* ---- Reads ----------------------------------------------------------------------------------- */

static size_t pick_units(struct view *v, const void *request, struct picked **ret_list)
{
    return units_pick(v, request, ret_list);
}

static void add_units(struct records *records, struct view *v, const struct picked *list,
                      size_t count, bool r2)
{
    struct arena *a = view_arena(v);
    struct unit_name name;
    (void)r2;
    for (size_t i = 0; i < count; i++) {
        bool known = unit_of_key(a, list[i].key, &name);
        const struct seen *status = known ? view_peek(v, key_unit_status(a, name)) : NULL;
        records_add_group(records, list[i].blob, status ? status->blob : NULL);
    }
}

static const ProtobufCMessage *told_units(const struct ask *ask, struct view *v)
{
    return &units_told(v, ask->in.request)->base;
}

static const ProtobufCMessage *told_status(const struct ask *ask, struct view *v)
{
    return &units_status_told(v, ask->in.request)->base;
}

static const ProtobufCMessage *told_service(const struct ask *ask, struct view *v)
{
    const Board__UnitServiceWholeRequest *r = ask->in.request;
    return &unit_service_told(v, r->service)->base;
}

static const ProtobufCMessage *told_why(const struct ask *ask, struct view *v)
{
    return &units_why_told(v, ask->in.request)->base;
}

const struct read_row read_units = {.json = told_units, .pick = pick_units, .add = add_units};
const struct read_row read_units_status = {.message = told_status};
const struct read_row read_unit_service = {.message = told_service};
const struct read_row read_units_why = {.message = told_why};
