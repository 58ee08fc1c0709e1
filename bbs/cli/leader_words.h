/* What is said of a leader that is missed. Pure. */
#pragma once

#include "common/base/arena.h"

#include <stdbool.h>

/* Why nothing that waits for the leader of this role goes on, a sentence in the arena: none leads,
 * or who leads does not answer, as `silence` says (NULL = it does). NULL = nothing lacks, or nobody
 * can tell, for not all records of leaders were seen (`complete`). */
const char *leader_lack_text(struct arena *a, const char *role, bool leads, bool complete,
                             const char *silence);
