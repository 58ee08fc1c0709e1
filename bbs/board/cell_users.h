/* What is on a cell: who takes it whole, or gives it back, asks whether anything is. Pure. */
#pragma once

#include "bbs/board/view.h"

/* Whether an instance, a task or a unit is on the cell. What is not there yet is compared as well:
 * the decision fails while anything of these kinds changes on the board, and is to be tried again.
 */
bool cell_is_used(struct view *v, const char *cell_id);
