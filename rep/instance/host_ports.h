/* Host ports of instances: allotted from the cell's range, which other programs of the machine may
 * use as well. The driver tries each by a bind before a container is made with it (driver.h); the
 * rep passes over a port that somebody else holds, and reports it once. An instance that ends
 * because somebody took its port in between is not to blame: the rep gives its record back. */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/event.h"
#include "models/desired_lrp.pb-c.h"

#include <stdbool.h>

struct container;
struct rep;

/* Ports of one search for free ones (VERB_PORTS). */
enum { PORTS_A_SEARCH = 64 };

/* An end so soon after its start may come from a port that was not free. Of what an earlier rep
 * started, so soon after it was adopted: when it started is not known. */
#define PORT_DOUBT_NS (60 * SECOND_NS)

/* So many instances a minute are given back for a port that is held; further ones count as crashed,
 * so that something which takes every port of the range makes no endless round. */
enum { PORT_RETURNS_MAX = 8 };
#define PORT_RETURNS_NS (60 * SECOND_NS)

struct port_returns {
    int64_t since_ns;
    unsigned count;
};

/* One host port for each desired port, into `ports`; an earlier try's are given back first. False,
 * and none taken, when there are not enough: then c->ports_wanted says whether a search may find
 * some, or the range is used up. */
bool host_ports_allot(struct rep *r, struct container *c, const Models__DesiredLRP *lrp,
                      struct port_pair *ports);

/* PREPARE is through: what the driver said of its ports. True when it failed for them: others are
 * searched for, and it is tried again. */
bool host_ports_prepared(struct rep *r, struct container *c, const struct verb_answer *answer,
                         struct effects *out);

/* c->ports_wanted: asks the driver for free ones. False when the range is used up: it has failed.
 * */
bool host_ports_search(struct rep *r, struct container *c, struct effects *out);

/* None is free for it: it has failed. Where others hold some that is no crash of the app's. */
void host_ports_none(struct rep *r, struct container *c, struct effects *out);

/* The end of a VERB_PORTS for this container, of a search or of a doubt. */
void host_ports_answer(struct rep *r, struct container *c, const struct verb_answer *answer,
                       struct effects *out);

/* Its process has ended by itself, and badly: whether that may be because of a port is asked before
 * bbs hears of a crash. True: it is under way. */
bool host_ports_doubt(struct rep *r, struct container *c, struct effects *out);
