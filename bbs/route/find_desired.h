/* Which DesiredLRPs a list is about (behaviour.md 8.5). */
#ifndef BBS_ROUTE_FIND_DESIRED_H
#define BBS_ROUTE_FIND_DESIRED_H

#include "bbs/board/view.h"
#include "models/desired_lrp_requests.pb-c.h"

/* The encoded scheduling parts of those in `domain` ("" = any) and among the request's
 * process_guids (none = any), each once. Gives their number; the array lives in the view's arena,
 * the blobs are borrowed until the step returns. */
size_t find_desired(struct view *v, const Models__DesiredLRPsRequest *r, const char *domain,
                    struct blob ***ret_list);

/* A scheduling part decoded into `scratch`, NULL when this version cannot read it. */
Models__DesiredLRP *found_desired(struct arena *scratch, struct blob *scheduling);

#endif
