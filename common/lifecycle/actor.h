/* Who may act. Bits, so that a lifecycle row can name several. */
#ifndef COMMON_LIFECYCLE_ACTOR_H
#define COMMON_LIFECYCLE_ACTOR_H

enum actor {
    ACTOR_CLIENT = 1 << 0, /* an ordinary client */
    ACTOR_BBS = 1 << 1,
    ACTOR_REP = 1 << 2,
    ACTOR_AUCTIONEER = 1 << 3,
    ACTOR_CONVERGER = 1 << 4,
    ACTOR_STRANGER = 1 << 5, /* any other certificate of the CA, etcd's too: may only read, so that no
                                lifecycle row names it */
};

/* "client", "bbs", "rep", "auctioneer", "converger", "stranger". */
const char *actor_name(enum actor actor);

/* From the organisational unit of a certificate, byte for byte; "" = it has none. */
enum actor actor_of_unit(const char *unit);

#endif
