/* The life of a role of which one leads and others stand by: it begins unless the configuration is
 * wrong, is elected and deposed, and when asked to stop gives the lock back before it ends (DESIGN
 * 6). Pure: embedded in a role, driven by its events. */
#ifndef COMMON_CLIENT_DUTY_H
#define COMMON_CLIENT_DUTY_H

#include "common/client/leader.h"

/* The board's answer to the lock given back is waited for so long. */
#define DUTY_STOP_WAIT_NS (1 * SECOND_NS)
enum { DUTY_EXIT_USAGE = 2 };

struct duty {
    struct leader *leader; /* the role's; set before the first step */
    bool ended;            /* EFFECT_EXIT was given */
    bool unusable;         /* the configuration is wrong: why */
    struct err unusable_why;
    int64_t stop_ns; /* ends at the latest; NEVER_NS = not asked to */
};

void duty_init(struct duty *d, struct leader *leader);

/* The configuration is wrong: the first step ends the role with code 2 and this text. */
void duty_refuse(struct duty *d, const struct err *why);

/* First in each step. False: the role has ended and does nothing. */
bool duty_begin(struct duty *d, struct effects *out);

/* After the role's follower: the leader's own step, and what it says is logged. */
enum leader_change duty_lead(struct duty *d, const struct event *ev, struct effects *out);

/* Last in each step: ends when the lock is given back, or the wait has been long enough. */
void duty_end(struct duty *d, const struct event *ev, struct effects *out);

#endif
