/* Which DesiredLRPs a list is about (behaviour.md 8.5). */
#ifndef BBS_ROUTE_FIND_DESIRED_H
#define BBS_ROUTE_FIND_DESIRED_H

#include "bbs/board/view.h"
#include "models/desired_lrp_requests.pb-c.h"

/* The scheduling parts of those in `domain` ("" = any) and among the request's process_guids (none =
 * any), each once, in the order of their keys, not decoded. Gives their number; the array lives in the
 * view's arena. */
size_t find_desired(struct view *v, const Models__DesiredLRPsRequest *r, const char *domain,
                    struct picked **ret_list);

#endif
