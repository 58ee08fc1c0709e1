/* What /proc says of a process, read from its texts. Pure. */
#pragma once

#include "common/base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

/* The word after "NAME=" of an environ, in place; NULL if it has none. The text ends with a NUL. */
const char *environ_word(struct bytes variables, const char *name);

/* Field 22 of a stat: clock ticks since boot when it began; -1 if it is no stat. */
int64_t stat_begun(const char *stat);

/* Field 3 of a stat is 'Z' or 'X': it has ended, and only its parent has not heard. */
bool stat_has_ended(const char *stat);

/* Whether a status is of the first process of a pid namespace below ours: the last of several
 * numbers of its line NSpid is 1. */
bool status_is_first(const char *status);
