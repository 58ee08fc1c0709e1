/* Which records of an index a group shows (behaviour.md 10.5). Pure. */
#pragma once

#include "bbs/board/view.h"

/* Of the records of one index, in any order: the one shown as `instance` (bbs/lrp/group.h) and the
 * EVACUATING one; NULL where there is none. */
void group_choose(const struct picked *list, size_t count, const struct picked **ret_instance,
                  const struct picked **ret_evacuating);
