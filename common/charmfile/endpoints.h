/* Which ends of two unit services make a relation, and whether a charm still has an end
 * (docs/units.md, Ends that fit). Pure. */
#pragma once

#include "common/charmfile/charm.h"

/* Two ends fit if one provides the interface that the other requires, and both have one scope;
 * CHARM_IMPLICIT is of either. If it is container scope, the relation has it: then one service is
 * subordinate, and the other is not. */

/* A service, as somebody names an end of a relation: "web", or "web:db". */
struct charm_end {
    const char *service;
    const struct charm *charm;
    const char *endpoint; /* "" = it was left out: whichever fits */
};

/* The relation that two ends make. */
struct charm_fit {
    struct charm_endpoint ends[2]; /* of the services, in their order */
    bool container;
};

/* The relation that they mean. Where an end is left out and several fit, those win that a charm
 * says itself, before CHARM_IMPLICIT. -ERR_INVALID says why there is none, or which there are. A
 * service has no relation to itself; those of its peers are made with it. */
int charm_ends_fit(struct arena *a, const struct charm_end ends[2], struct charm_fit *ret_fit,
                   struct err *err);

/* Whether the charm has this end of a relation that stands: of that name, role and interface. One
 * of container scope does not take a relation of global scope. NULL if so; else why not, a sentence
 * in the arena: an upgrade to this charm would drop an end in use. */
const char *charm_lacks_end(struct arena *a, const struct charm *c,
                            const struct charm_endpoint *end, bool container);
