/* From room that is set aside to a container that waits for runs. */
#include "common/base/memory.h"
#include "rep/container/back_off.h"
#include "rep/container/join.h"
#include "rep/container/note.h"
#include "rep/container/operation.h"
#include "rep/container/pull.h"
#include "rep/container/room.h"
#include "rep/container/spec.h"
#include "rep/inside.h"
#include "rep/instance/host_ports.h"
#include "rep/unit/cell_unit.h"
#include "rep/unit/unit_shape.h"
#include "rep/unit/unit_tools.h"

#include <assert.h>
#include <stdlib.h>

bool unit_set_aside(struct rep *r, struct cell_unit *u, const Board__UnitRecord *unit,
                    struct effects *out)
{
    static const Board__UnitNeeds nothing = BOARD__UNIT_NEEDS__INIT;
    const Board__UnitNeeds *needs = unit->needs ? unit->needs : &nothing;
    if (!capacity_take(&r->capacity, needs->memory_mb, needs->disk_mb)) {
        return false;
    }
    Rep__UnitOf of = REP__UNIT_OF__INIT;
    of.service = unit->service;
    of.number = unit->number;
    of.service_guid = unit->service_guid;
    of.principal = unit->principal;
    of.principal_guid = unit->principal_guid;
    if (u->kept) {
        of.text = u->kept->unit->text;
        of.crash_count = u->kept->unit->crash_count;
        of.crash_reason = u->kept->unit->crash_reason;
        of.last_run = u->kept->unit->last_run;
    }
    Rep__Note note = REP__NOTE__INIT;
    note.format = NOTE_FORMAT;
    note.unit = &of;
    note.instance_guid = u->guid;
    note.incarnation = r->config.incarnation;
    note.root_fs = needs->rootfs;
    note.memory_mb = needs->memory_mb;
    note.disk_mb = needs->disk_mb;
    note.max_pids = needs->max_pids;
    struct container *c = container_add(&r->containers, note_copy(&note));
    container_transition(c, PHASE_TRIGGER_RESERVE, "room for a unit", out);
    return true;
}

void unit_make_failed(struct rep *r, struct cell_unit *u, const char *why)
{
    assert(*why);
    u->make_failures++;
    free(u->make_error);
    u->make_error = mem_text(why);
    u->make_wait.failures = u->make_failures;
    u->make_wait.retry_ns = r->now.mono_ns + back_off_ns(&r->random, u->make_failures);
    cell_unit_due(u, u->make_wait.retry_ns);
}

/* By which charm it is made is noted with it, as is what begins its journal. */
void unit_make(struct cell_unit *u, const struct agent_step *s, struct effects *out)
{
    struct container *c = cell_unit_container(u);
    SCOPED_ARENA(a);
    const Board__UnitServiceRecord *service =
        unit_knowledge_service(&u->table->knowledge, &a, u->name.service);
    assert(c && c->phase == PHASE_RESERVED && s->journal);
    if (!service) {
        return; /* the feed brings it */
    }
    Rep__UnitOf of = *c->about->unit; /* shallow, as the next */
    Rep__Note note = *c->about;
    char token[GUID_BYTES];
    random_guid(&u->table->rep->random, token);
    of.charm = service->charm;
    of.journal = s->journal;
    of.token = token;
    note.unit = &of;
    container_learn(c, note_copy(&note));
    container_transition(c, PHASE_TRIGGER_CLAIMED, s->why, out);
}

/* What its charm runs, with what was set aside for it. A subordinate has the network of its
 * principal, and what leads to that and from there. */
static Models__DesiredLRP run_of(const struct container *c, const Board__Charm *charm)
{
    Models__DesiredLRP run = *charm->run; /* shallow */
    if (*c->about->unit->principal_guid) {
        run.n_ports = run.n_egress_rules = 0;
    }
    run.memory_mb = c->about->memory_mb;
    run.disk_mb = c->about->disk_mb;
    run.max_pids = c->about->max_pids;
    return run;
}

/* `run` is what its charm runs, as it is here. The shape is the charm's, by which an agent knows
 * that a later charm asks for another container. */
static void prepare_as(struct rep *r, struct container *c, const Board__Charm *charm,
                       const Models__DesiredLRP *run, struct effects *out)
{
    assert(c->phase == PHASE_INITIALIZING && c->about->unit->journal);
    struct port_pair *ports = ARENA_ARRAY(out->arena, run->n_ports, struct port_pair);
    bool allotted = host_ports_allot(r, c, run, ports);
    Rep__UnitOf of = *c->about->unit; /* shallow, as the next */
    Rep__Note reserved = *c->about;
    of.image = c->image;
    of.shape = (char *)(uintptr_t)unit_shape(out->arena, charm->run);
    reserved.unit = &of;
    Rep__Note *note = spec_note_unit(&reserved, run, ports, allotted ? run->n_ports : 0);
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
    spec_make_unit(out->arena, run, c->about, r->config.address, c->image, spec);
    unit_tools_give(r, c->about->unit, spec, out->arena);
    if (!pull_suits(c, spec, out)) {
        return;
    }
    struct verb_call *call = operation_verb(r, c, OP_PREPARE, out);
    call->spec = spec;
    call->note = note_pack(out->arena, c->about);
    c->made = true;
}

/* The one that is noted; if that went meanwhile, the one that its service has by now. */
static const Board__Charm *charm_of(struct cell_unit *u, struct container *c, struct arena *a)
{
    struct unit_knowledge *k = &u->table->knowledge;
    const char *noted = c->about->unit->charm;
    const Board__Charm *charm = unit_knowledge_charm(k, a, u->name.service, noted);
    const Board__UnitServiceRecord *service = unit_knowledge_service(k, a, u->name.service);
    if (charm || !service) {
        return charm;
    }
    charm = unit_knowledge_charm(k, a, u->name.service, service->charm);
    if (charm) {
        Rep__UnitOf of = *c->about->unit; /* shallow, as the next */
        Rep__Note note = *c->about;
        of.charm = service->charm;
        note.unit = &of;
        container_learn(c, note_copy(&note));
    }
    return charm;
}

static void prepare(struct rep *r, struct cell_unit *u, struct container *c, struct effects *out)
{
    const Board__Charm *charm = charm_of(u, c, out->arena);
    if (!charm || !charm->run) {
        operation_retry_later(r, c); /* the feed brings it, or a newer one */
        cell_unit_due(u, c->retry_ns);
        return;
    }
    struct err err;
    Models__DesiredLRP run = run_of(c, charm);
    const char *why = NULL;
    if (spec_check_unit(&run, &err) < 0) {
        why = arena_strdup(out->arena, err.text);
    } else if (pull_first(r, c, run.root_fs, run.image_username, run.image_password, out)) {
        return;
    } else {
        why = room_refuses(r, c, run.network, run.privileged, out->arena);
    }
    if (why) {
        container_complete(c, PHASE_TRIGGER_FAILED, why, out);
    } else {
        prepare_as(r, c, charm, &run, out);
    }
}

void unit_launch(struct rep *r, struct cell_unit *u, struct effects *out)
{
    struct container *c = cell_unit_container(u);
    assert(c && (c->phase == PHASE_INITIALIZING || c->phase == PHASE_CREATED));
    if (c->op != OP_NONE || c->pull_id || c->uncertain) {
        return; /* what ends that looks again */
    }
    if (operation_must_wait(r, c)) {
        cell_unit_due(u, c->retry_ns);
    } else if (c->attempts >= LAUNCH_ATTEMPTS_MAX) {
        container_complete(c, PHASE_TRIGGER_FAILED, LAUNCH_UNANSWERED, out);
    } else if (c->phase == PHASE_CREATED) {
        c->start_asked_ns = r->now.mono_ns;
        operation_verb(r, c, OP_START, out);
    } else if (c->ports_wanted) {
        host_ports_search(r, c, out);
    } else {
        prepare(r, u, c, out);
    }
}
