/* How the auction decides, from its settings (design.md 5, Score and Availability zones). Pure. */
#pragma once

#include "auctioneer/auctioneer.h"
#include "auctioneer/schedule.h"
#include "common/base/err.h"

enum { ZONES_REPORTED_MAX = 64 };

/* What it gives lives in the arena. ERR_INVALID with a sentence that says what is wrong; `ret` is
 * usable even then. */
int rules_init(struct arena *a, const struct auctioneer_config *config, struct schedule_rules *ret,
               struct err *err);
