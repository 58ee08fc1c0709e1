/* A list of few DesiredLRPs (bbs/lists.h): their run parts are fetched by their keys, some at a time, at
 * the revision of the scheduling parts, so that the list is the board at one instant. One that turns out
 * to be heavy takes a place among the long ones; where none is free it lets go of all that it has, and
 * waits for one. */
#ifndef BBS_ROUTE_SHORT_LIST_H
#define BBS_ROUTE_SHORT_LIST_H

#include "bbs/inside.h"

/* Answers what was asked with these scheduling parts, in the order of their keys, joined with their run
 * parts; all of it is copied or counted. The place, which it may have (NULL = none), is taken over. */
void short_list_start(struct bbs *b, const struct list_wait *asked, struct list_place *place,
                      const struct picked *list, size_t count, int64_t revision,
                      struct effects *out);

#endif
