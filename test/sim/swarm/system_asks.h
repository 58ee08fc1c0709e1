/* Requests of clients about systems, of the workloads that draw them: each goes to some bbs, and
 * its answer must be one that such a request may have. */
#pragma once

#include "test/sim/swarm/inside.h"

enum { SYSTEMS_MOST = 3 };

/* Every definition has these jobs (definitions.h): no cell can run the second one. */
#define SYSTEM_JOBS "/k:1= /k/out:2!="

struct system_asks {
    struct workload *work;
    const char *who;       /* in the trace */
    enum swarm_done count; /* of answers */
    unsigned open;         /* not answered yet */
};

/* "/v1/systems/shop<rest>", of the system of this number; in the swarm's arena. */
const char *system_asks_path(const struct system_asks *x, unsigned system, const char *rest);

/* Sends it, to a bbs that is drawn. `body` is JSON, "" = none. An answer other than done, not
 * found, refused or unavailable is reported. */
void system_asks_send(struct system_asks *x, const char *method, const char *path,
                      const char *body);

/* "/s/api" as it stands in a path of a URL. */
const char *system_asks_escaped(struct arena *a, const char *place);
