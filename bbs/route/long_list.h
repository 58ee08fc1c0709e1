/* A long list of DesiredLRPs (bbs/lists.h): all run parts are walked, a page at a time, at the revision
 * of the scheduling parts, so that the list is the board at one instant. Of each page it keeps what it
 * shows and nothing else. */
#ifndef BBS_ROUTE_LONG_LIST_H
#define BBS_ROUTE_LONG_LIST_H

#include "bbs/inside.h"

/* Answers the request with these scheduling parts, in the order of their keys, joined with their run
 * parts; all of it is copied or counted. The place is taken over. */
void long_list_start(struct bbs *b, uint64_t request_id, bool r2, struct list_place *place,
                     const struct picked *list, size_t count, int64_t revision,
                     struct effects *out);

#endif
