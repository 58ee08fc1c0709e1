/* What Locket's readers see (rep-auctioneer.md 1 and 6): the presences of our cells, the locks of
 * our roles, and the locks and presences of outside owners. Nothing here is stored for them: a
 * cell's presence is its incarnation, a role's lock is its leader's. Only peeks. Pure. */
#pragma once

#include "bbs/board/view.h"
#include "models/locket.pb-c.h"

#include "board.pb-c.h"

/* Who bears the name now; NULL = nobody. A cell goes before an outside owner, and a lock that is
 * over is nobody's, whether the converger has taken it away or not. */
Models__Resource *resource_named(struct view *v, const char *name, struct moment now);

/* All of this type: ours first, each kind in the order of its keys. Gives their number. */
size_t resources_of(struct view *v, Models__TypeCode type, struct moment now,
                    Models__Resource ***ret_list);

/* The cells that outside owners claim to be: their presences whose value is the JSON of one
 * (behaviour.md 15), each cell_id once. Left out are other values, and those that bear the name of
 * a cell of ours, lost or not. They are shown and nothing else: no move takes one for a cell. Gives
 * their number. */
size_t outside_cells(struct view *v, struct moment now, Models__CellPresence ***ret_list);
