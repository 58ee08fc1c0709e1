/* Who may act. Bits, so that a lifecycle row can name several. */
#pragma once

#include <stdint.h>

enum actor {
    ACTOR_CLIENT = 1 << 0, /* an ordinary client */
    ACTOR_BBS = 1 << 1,
    ACTOR_REP = 1 << 2,
    ACTOR_AUCTIONEER = 1 << 3,
    ACTOR_CONVERGER = 1 << 4,
    ACTOR_STRANGER = 1 << 5, /* any other certificate of the CA, etcd's too: may only read, so that
                                no lifecycle row names it */
    ACTOR_OPERATOR = 1 << 6, /* may change how the cluster works, and all that a client may */
    ACTOR_CRM = 1 << 7,      /* of a site, at the centre: sees and moves what is its own, and calls
                                nothing that does not name it */
    ACTOR_SITE = 1 << 8,     /* the same program at its own site (docs/edge.md, Two certificates) */
};

/* A set of actors: who may take a row of a lifecycle, who may call a route. */
typedef uint16_t actor_set;

enum {
    ACTORS_MAX = 16,
    ACTORS_LEADERS = ACTOR_AUCTIONEER | ACTOR_CONVERGER | ACTOR_SITE,
    ACTORS_ASKING = ACTOR_CLIENT | ACTOR_SITE, /* for what is to run */
    ACTORS_OURS = ACTOR_REP | ACTORS_LEADERS, /* those that move records by name */
    ACTORS_ANYBODY = UINT16_MAX & ~ACTOR_CRM, /* for what changes nothing */
};

/* "client", "bbs", "rep", "auctioneer", "converger", "stranger", "operator", "crm", "site". */
const char *actor_name(enum actor actor);

/* From the organisational unit of a certificate, byte for byte; "" = it has none. */
enum actor actor_of_unit(const char *unit);

/* As whom this caller acts where `callers` may: as himself; an operator, where he is not named, as
 * a client. 0 = he may not. */
actor_set actor_among(enum actor caller, actor_set callers);
