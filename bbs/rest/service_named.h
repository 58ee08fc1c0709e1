/* Services as paths of the API name them. Nothing is noted in the read set. */
#pragma once

#include "bbs/board/view.h"
#include "models/actual_lrp.pb-c.h"

/* By its id, or by its path; NULL = there is none. */
const Board__ServiceRecord *service_named(struct view *v, const char *uid, const char *name);

/* Its instances with a container, in the view's arena: each has its key and instance key. Gives
 * their number. */
size_t service_instances(struct view *v, const Board__ServiceRecord *s,
                         Models__ActualLRP ***ret_list);
