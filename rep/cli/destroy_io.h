/* `rep destroy`: removes every container of a state directory whose rep does not run. */
#pragma once

#include "common/base/err.h"
#include "rep/driver/driver_io.h"

/* Lists the driver's containers and removes each with all it has; gives how many were removed, or
 * -code when listing failed or one could not be removed (the text names it; run it again). Blocks,
 * at most `limit_ns`. The caller holds the lock of the state directory. */
int rep_destroy(const struct driver_config *config, int64_t limit_ns, struct err *err);
