#include "rep/container/join.h"

#include "rep/container/note.h"
#include "rep/inside.h"

#include <assert.h>
#include <string.h>

#define JOIN_PROPERTY "join"
#define INSTANCE_WORD "instance:"
#define REFUSED "failed to create container: "

static const char *property(const Models__Network *network)
{
    for (size_t i = 0; network && i < network->n_properties; i++) {
        if (strcmp(network->properties[i]->key, JOIN_PROPERTY) == 0) {
            return network->properties[i]->value;
        }
    }
    return NULL;
}

const char *join_wanted(const Models__Network *network)
{
    const char *value = property(network);
    size_t size = strlen(INSTANCE_WORD);
    return value && strncmp(value, INSTANCE_WORD, size) == 0 && value[size] ? value + size : NULL;
}

int join_check(const Models__Network *network, size_t ports, size_t egress_rules, struct err *err)
{
    const char *value = property(network);
    if (!value) {
        return 0;
    }
    if (!join_wanted(network)) {
        return err_set(err, ERR_INVALID,
                       REFUSED "the network's property join is not instance:GUID but \"%.100s\"",
                       value);
    }
    if (ports > 0 || egress_rules > 0) {
        return err_set(err, ERR_INVALID,
                       REFUSED "it joins the network of another instance, and has %s of its own",
                       ports > 0 ? "ports" : "egress rules");
    }
    return 0;
}

/* The container that has the network: one that joined itself has that of whom it joined. */
static const char *root_of(const Rep__Note *about)
{
    return about->joined[0] ? about->joined : about->instance_guid;
}

/* Why these two cannot share; NULL: they can. Who has no range of ids on a cell that has some is
 * privileged, or was made when there were none. */
static const char *unlike(const struct rep *r, const struct container *of, bool privileged)
{
    if (r->config.own_network && !of->about->own_network) {
        return "has the network of the machine";
    }
    if (privileged && of->about->ids_first > 0) {
        return "is not privileged as it is";
    }
    if (!privileged && of->about->ids_first == 0 && r->ids.count > 0) {
        return "has no range of user ids to share";
    }
    return NULL;
}

/* With the machine's network there is nothing to be shared but that: each has ids of its own. */
static void share(struct rep *r, struct container *c, const struct container *of)
{
    Rep__Note note = *c->about; /* shallow: copied deeply, and both originals stay whole */
    note.joined = (char *)(uintptr_t)root_of(of->about);
    note.own_network = of->about->own_network;
    note.ports = of->about->ports;
    note.n_ports = of->about->n_ports;
    if (note.own_network) {
        note.ids_first = of->about->ids_first;
        id_ranges_adopt(&r->ids, note.ids_first);
    }
    container_learn(c, note_copy(&note));
}

/* `of`: NULL = it is not here. `what` it is called: "instance GUID". */
static const char *refuses(struct rep *r, struct container *c, const struct container *of,
                           const char *what, bool privileged, struct arena *a)
{
    if (!of || of->phase != PHASE_RUNNING) {
        return arena_printf(a, REFUSED "%s, whose network it is to join, does not run "
                               "on this cell", what);
    }
    const char *why = unlike(r, of, privileged);
    if (why) {
        return arena_printf(a, REFUSED "%s, whose network it is to join, %s", what, why);
    }
    if (!c->about->joined[0]) {
        share(r, c, of);
    }
    assert(strcmp(c->about->joined, root_of(of->about)) == 0);
    return NULL;
}

const char *join_refuses(struct rep *r, struct container *c, const char *guid, bool privileged,
                         struct arena *a)
{
    const struct container *of = container_find(&r->containers, guid);
    return refuses(r, c, of && of->about->key ? of : NULL,
                   arena_printf(a, "instance %.64s", guid), privileged, a);
}

const char *join_principal_refuses(struct rep *r, struct container *c, bool privileged,
                                   struct arena *a)
{
    const Rep__UnitOf *unit = c->about->unit;
    assert(unit && *unit->principal_guid);
    const struct container *of = container_find(&r->containers, unit->principal_guid);
    return refuses(r, c, of && of->about->unit ? of : NULL,
                   arena_printf(a, "its principal %.80s", unit->principal), privileged, a);
}

void join_tell_network(const struct rep *r, Rep__Note *note)
{
    if (!note->joined[0]) {
        note->own_network = r->config.own_network;
    }
}

bool join_is_shared(const struct rep *r, const struct container *c)
{
    const char *root = root_of(c->about);
    MAP_EACH(&r->containers.by_guid, n) {
        const struct container *other = map_value(n);
        if (other != c && strcmp(root_of(other->about), root) == 0) {
            return true;
        }
    }
    return false;
}
