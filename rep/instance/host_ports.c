#include "rep/instance/host_ports.h"

#include "rep/container/note.h"
#include "rep/container/operation.h"
#include "rep/container/room.h"
#include "rep/inside.h"

#include <assert.h>

/* What was passed over is tried again, once for each container: it may be free by now. */
static bool try_all_again(struct rep *r, struct container *c)
{
    if (c->ports_retried || !capacity_ports_retry(&r->capacity)) {
        return false;
    }
    c->ports_retried = true;
    return true;
}

bool host_ports_allot(struct rep *r, struct container *c, const Models__DesiredLRP *lrp,
                      struct port_pair *ports)
{
    room_give_ports(r, c);
    for (size_t i = 0; i < lrp->n_ports; i++) {
        uint16_t port = capacity_port_take(&r->capacity);
        if (port == 0) {
            while (i-- > 0) {
                capacity_port_give(&r->capacity, ports[i].host_port);
            }
            c->ports_wanted = try_all_again(r, c);
            return false;
        }
        ports[i] = (struct port_pair){lrp->ports[i], port};
    }
    return true;
}

static void note_taken(struct rep *r, const struct verb_answer *answer, struct effects *out)
{
    for (size_t i = 0; i < answer->taken_count; i++) {
        if (capacity_port_hold(&r->capacity, answer->taken[i])) {
            effects_log(out, LOG_WARN_LEVEL, "host port is held by another process",
                        "port=%u range=%u-%u then=\"it is passed over\"", answer->taken[i],
                        (unsigned)r->config.port_low, (unsigned)r->config.port_high);
        }
    }
}

/* They are not its own any more. */
static void forget(struct rep *r, struct container *c)
{
    Rep__Note without = *c->about; /* shallow: copied deeply, and the original stays whole */
    without.n_ports = 0;
    room_give_ports(r, c);
    container_learn(c, note_copy(&without));
}

bool host_ports_prepared(struct rep *r, struct container *c, const struct verb_answer *answer,
                         struct effects *out)
{
    assert(answer->verb == VERB_PREPARE);
    if (answer->outcome == VERB_DONE) {
        for (size_t i = 0; i < c->about->n_ports; i++) {
            capacity_port_free(&r->capacity, c->about->ports[i]->host_port);
        }
    }
    if (answer->outcome != VERB_FAILED || answer->taken_count == 0) {
        return false;
    }
    note_taken(r, answer, out);
    forget(r, c);
    c->ports_wanted = true;
    return true;
}

static struct verb_call *ask(struct rep *r, struct container *c, uint32_t *ports, size_t count,
                             struct effects *out)
{
    assert(count > 0);
    struct verb_call *call = operation_verb(r, c, OP_PORTS, out);
    call->ports = ports;
    call->port_count = c->ports_asked = count;
    return call;
}

/* Whether the minute's returns are not used up. */
static bool may_return(struct rep *r)
{
    struct port_returns *p = &r->port_returns;
    if (p->count == 0 || r->now.mono_ns - p->since_ns >= PORT_RETURNS_NS) {
        *p = (struct port_returns){.since_ns = r->now.mono_ns};
    }
    return p->count++ < PORT_RETURNS_MAX;
}

/* Nobody is notified of a crash: the container goes, and its record, which then has none here, is
 * given back (harmonise.c, rows 30 and 31) and placed again. */
static void give_back(struct rep *r, struct container *c, const char *why, struct effects *out)
{
    if (!container_stop_asked(c) && !r->drain.on && may_return(r)) {
        container_delete(c, why, out);
    }
}

void host_ports_none(struct rep *r, struct container *c, struct effects *out)
{
    const char *why = arena_printf(out->arena, "no host port is free in %u-%u",
                                   (unsigned)r->config.port_low, (unsigned)r->config.port_high);
    container_complete(c, PHASE_TRIGGER_FAILED, why, out);
    if (capacity_ports_held(&r->capacity)) {
        give_back(r, c, why, out);
    }
}

bool host_ports_search(struct rep *r, struct container *c, struct effects *out)
{
    uint32_t *ports = ARENA_ARRAY(out->arena, PORTS_A_SEARCH, uint32_t);
    size_t count = capacity_ports_next(&r->capacity, ports, PORTS_A_SEARCH);
    if (count == 0 && try_all_again(r, c)) {
        count = capacity_ports_next(&r->capacity, ports, PORTS_A_SEARCH);
    }
    if (count == 0) {
        c->ports_wanted = false;
        host_ports_none(r, c, out);
        return false;
    }
    ask(r, c, ports, count, out);
    return true;
}

void host_ports_answer(struct rep *r, struct container *c, const struct verb_answer *answer,
                       struct effects *out)
{
    assert(answer->taken_count <= c->ports_asked);
    note_taken(r, answer, out);
    if (c->phase == PHASE_COMPLETED) {
        if (answer->taken_count > 0) {
            give_back(r, c,
                      arena_printf(out->arena, "its host port %u is held by another process: %s",
                                   answer->taken[0], c->exit_text),
                      out);
        }
        return;
    }
    /* All of them held: the next ones. An answer that tells nothing does not hold it up, for
     * PREPARE tries them itself. */
    c->ports_wanted = answer->taken_count > 0 && answer->taken_count == c->ports_asked;
}

bool host_ports_doubt(struct rep *r, struct container *c, struct effects *out)
{
    bool soon = c->start_asked_ns && r->now.mono_ns - c->start_asked_ns < PORT_DOUBT_NS;
    if (!c->ports_doubted || !soon) {
        return false;
    }
    c->ports_doubted = false; /* asked once */
    uint32_t *ports = ARENA_ARRAY(out->arena, c->about->n_ports, uint32_t);
    for (size_t i = 0; i < c->about->n_ports; i++) {
        ports[i] = c->about->ports[i]->host_port;
    }
    ask(r, c, ports, c->about->n_ports, out);
    return true;
}
