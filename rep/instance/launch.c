#include "rep/instance/instance.h"

#include "common/model/sealed_values.h"
#include "models/desired_lrp_requests.pb-c.h"
#include "rep/container/join.h"
#include "rep/container/note.h"
#include "rep/container/operation.h"
#include "rep/container/pull.h"
#include "rep/container/room.h"
#include "rep/container/spec.h"
#include "rep/container/steps.h"
#include "rep/inside.h"

#include <assert.h>
#include <string.h>

/* A record has at most 1 MiB (design.md 2); decoded, some times that. */
enum { DESIRED_DECODED_MAX = 16 * 1024 * 1024 };

/* ---- The DesiredLRP has come ----------------------------------------------------------------- */

static void prepare(struct rep *r, struct container *c, const Models__DesiredLRP *lrp,
                    struct effects *out)
{
    assert(c->phase == PHASE_INITIALIZING);
    const char *why = room_refuses(r, c, lrp->network, lrp->privileged, out->arena);
    if (why) {
        container_complete(c, PHASE_TRIGGER_FAILED, why, out);
        return;
    }
    struct port_pair *ports = ARENA_ARRAY(out->arena, lrp->n_ports, struct port_pair);
    bool allotted = host_ports_allot(r, c, lrp, ports);
    Rep__Note *note = spec_note(c->about, lrp, ports, allotted ? lrp->n_ports : 0);
    join_tell_network(r, note);
    container_learn(c, note);
    if (!allotted && c->ports_wanted) {
        container_touch(c);
        return;
    }
    if (!allotted) {
        host_ports_none(r, c, out);
        return;
    }
    struct container_spec *spec = ARENA_NEW(out->arena, struct container_spec);
    spec_make(out->arena, lrp, c->about, r->config.address, c->image, spec);
    if (!pull_suits(c, spec, out)) {
        return;
    }
    struct verb_call *call = operation_verb(r, c, OP_PREPARE, out);
    c->note_wanted = false;
    call->spec = spec;
    call->note = note_pack(out->arena, c->about);
    c->made = true;
}

static void fetched(struct rep *r, struct container *c, const Models__DesiredLRP *lrp,
                    struct effects *out)
{
    const char *definition_id = lrp->modification_tag ? lrp->modification_tag->epoch : "";
    struct err err;
    if (c->about->definition_id[0] != '\0' && strcmp(c->about->definition_id, definition_id) != 0) {
        container_delete(c, "its definition is not desired any more", out);
    } else if (spec_check(lrp, &err) < 0) {
        container_complete(c, PHASE_TRIGGER_FAILED, err.text, out);
    } else if (!pull_first(r, c, lrp->root_fs, lrp->image_username, lrp->image_password, out)) {
        prepare(r, c, lrp, out);
    }
}

static void fetch_failed(struct rep *r, struct container *c, const char *why, struct effects *out)
{
    boards_failed(&r->boards, c->op_url);
    operation_retry_later(r, c);
    effects_log(out, LOG_WARN_LEVEL, "desired LRP not fetched",
                "instance_guid=%s url=%s why=\"%s\"", container_guid(c), c->op_url, why);
}

static void answered(void *context, const struct response *response, struct effects *out)
{
    struct container *c = context;
    struct rep *r = c->table->rep;
    assert(c->op == OP_FETCH);
    c->op = OP_NONE;
    container_touch(c);
    if (c->phase != PHASE_INITIALIZING || !instance_may_launch(r, c)) {
        return; /* reconcile() sees to it */
    }
    const char *why = "an answer without a desired LRP";
    /* The spec's strings end up in exec(); protobuf strings with NUL are refused by the scan. */
    const Models__DesiredLRPResponse *answer = (const Models__DesiredLRPResponse *)boards_answer(
        out->arena, response, &models__desired_lrpresponse__descriptor, DESIRED_DECODED_MAX, &why);
    const Models__Error *error = answer ? answer->error : NULL;
    if (error && error->type == MODELS__ERROR__TYPE__ResourceNotFound) {
        container_delete(c, "not desired any more", out);
    } else if (error || !answer || !answer->desired_lrp) {
        fetch_failed(r, c, error ? error->message : why, out);
    } else if (sealed_values_any(&answer->desired_lrp->base)) {
        fetch_failed(r, c, "its secrets are not opened for this cell yet", out);
    } else {
        fetched(r, c, answer->desired_lrp, out);
    }
}

/* ---- The next step --------------------------------------------------------------------------- */

static void fetch(struct rep *r, struct container *c, struct effects *out)
{
    Models__DesiredLRPByProcessGuidRequest request =
        MODELS__DESIRED_LRPBY_PROCESS_GUID_REQUEST__INIT;
    request.process_guid = c->about->key->process_guid;
    assert(c->op == OP_NONE);
    c->op = OP_FETCH;
    c->op_url = boards_url(&r->boards);
    c->op_id = boards_call(&r->boards, out, "/v1/desired_lrps/get_by_process_guid.r3", "",
                           &request.base, r->now.mono_ns + BOARD_CALL_TIMEOUT_NS);
    askers_add(&r->askers, c->op_id, answered, c);
}

void launch_continue(struct rep *r, struct container *c, struct effects *out)
{
    assert(c->phase == PHASE_INITIALIZING || c->phase == PHASE_CREATED);
    if (c->steps.inside || c->checks.going || c->pull_id) {
        return; /* it is for its steps to go on, its checks to pass, or its image to come */
    }
    if (c->attempts >= LAUNCH_ATTEMPTS_MAX) {
        container_complete(c, PHASE_TRIGGER_FAILED, LAUNCH_UNANSWERED, out);
    } else if (c->phase == PHASE_INITIALIZING && c->ports_wanted) {
        host_ports_search(r, c, out);
    } else if (c->phase == PHASE_INITIALIZING) {
        fetch(r, c, out);
    } else if (!steps_bring(r, c)) {
        c->start_asked_ns = r->now.mono_ns;
        operation_verb(r, c, OP_START, out);
    }
}

/* ---- The driver has answered ----------------------------------------------------------------- */

void launch_verb(struct rep *r, struct container *c, const struct verb_answer *answer,
                 struct effects *out)
{
    bool prepare = answer->verb == VERB_PREPARE;
    assert(prepare || answer->verb == VERB_START);
    if (c->phase != (prepare ? PHASE_INITIALIZING : PHASE_CREATED)) {
        return; /* it ended meanwhile */
    }
    if (!prepare || !host_ports_prepared(r, c, answer, out)) {
        operation_launched(r, c, answer, "start", out);
    }
}
