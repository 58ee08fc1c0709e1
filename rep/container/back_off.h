/* How long what failed is left alone. */
#ifndef REP_CONTAINER_BACK_OFF_H
#define REP_CONTAINER_BACK_OFF_H

#include "common/base/random.h"

/* 100 ms, 200 ms ... 5 s after that many failures, and up to a quarter more by chance. */
int64_t back_off_ns(struct random *random, unsigned failures);

#endif
