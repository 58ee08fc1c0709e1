/* Who may act. Bits, so that a lifecycle row can name several. */
#ifndef COMMON_LIFECYCLE_ACTOR_H
#define COMMON_LIFECYCLE_ACTOR_H

enum actor {
    ACTOR_CLIENT = 1 << 0, /* an ordinary client: any certificate that is not one of ours */
    ACTOR_BBS = 1 << 1,
    ACTOR_REP = 1 << 2,
    ACTOR_AUCTIONEER = 1 << 3,
    ACTOR_CONVERGER = 1 << 4,
};

/* "client", "bbs", "rep", "auctioneer", "converger". */
const char *actor_name(enum actor actor);

/* From the organisational unit of a certificate; anything that is not one of ours is a client. */
enum actor actor_of_unit(const char *unit);

#endif
