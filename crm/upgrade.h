/* An upgrade of the CRM itself, by two processes (docs/edge.md, Cloudlets). v1 has a program
 * started that starts v2, `COMMAND start VERSION`; v2 opens its session, of which v1 hears, and
 * ends. A v2 that does not come is stopped, `COMMAND stop VERSION`, and v1 goes on, also when v2
 * came while it was being stopped. v2 has a v1 that does not end stopped likewise. Pure: embedded
 * in the role. */
#pragma once

#include "common/contract/effect.h"
#include "common/contract/event.h"

#include "board.pb-c.h"

#include <stdbool.h>

/* v2 has opened its session within this time after its start; v1 has ended within this time after
 * that. */
#define UPGRADE_COMES_NS (120 * SECOND_NS)
#define UPGRADE_ENDS_NS (10 * SECOND_NS)

enum { UPGRADE_WHY_BYTES = LAUNCH_LINE_BYTES + 256 };

enum upgrade_stage {
    UPGRADE_NONE,     /* nothing was begun for `request` */
    UPGRADE_STARTING, /* the program starts v2 */
    UPGRADE_AWAITED,  /* v2 is to come until `due_ns` */
    UPGRADE_STOPPING, /* the program stops v2, which did not come */
    UPGRADE_FAILED,   /* `why` is to be said */
    UPGRADE_STOPPED,  /* the same, of a v2 that was stopped */
};

struct upgrade {
    const char *command; /* "" = there is none */
    uint64_t *next_id;   /* of launches */

    enum upgrade_stage stage;
    uint64_t request;   /* the cloudlet's, that it is about */
    uint64_t launch_id; /* of the program that runs; 0 = none */
    int64_t due_ns;
    char why[UPGRADE_WHY_BYTES];

    /* Of v2: */
    int64_t waits_since_ns; /* for v1 to end; 0 = it does not */
    bool told_to_end;       /* v1 is stopped, or was */
};

/* What is so in this step; borrowed. */
struct upgrade_facts {
    const Board__CloudletRecord *cloudlet; /* NULL = none, or the centre cannot be heard */
    const Board__CloudletInfoRecord *info;
    const char *version; /* of this process */
    bool own_session;    /* the board's is this process's */
    bool former_session; /* it was, and is kept beside that of a v2 that has come */
    bool leads;          /* at the site */
};

/* Give it every event. Adds its effects and its due time to `out`. */
void upgrade_step(struct upgrade *u, const struct event *ev, const struct upgrade_facts *facts,
                  struct effects *out);

/* Why the upgrade that is under way failed, to be said as `fail`; "" = it has not. */
const char *upgrade_failed(const struct upgrade *u, const struct upgrade_facts *facts);

/* v2 came when v1 had begun to stop it: nobody else may be left, so v1 stays, and says that the
 * upgrade failed. */
bool upgrade_takes_back(const struct upgrade *u, const struct upgrade_facts *facts);
