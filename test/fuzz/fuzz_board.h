/* A bbs on a model etcd, ready, that has keys for secrets: what requests are given to. */
#pragma once

#include "test/sim/world/world.h"

#define FUZZ_BBS_URL "https://bbs-1:8889"

/* world_free() ends it. */
struct world *fuzz_world_with_bbs(void);

/* Runs the world until the request is answered; gives the status, of a gRPC call that is refused
 * minus its own. */
int fuzz_ask(struct world *w, const struct world_request *q);
