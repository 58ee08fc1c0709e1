/* How long the rep leaves alone what has failed. */
#pragma once

#include "common/base/random.h"

/* 100 ms, 200 ms ... 5 s after that many failures, and up to a quarter more by chance. */
int64_t back_off_ns(struct random *random, unsigned failures);
