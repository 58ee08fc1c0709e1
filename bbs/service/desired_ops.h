/* The ops on DesiredLRPs that changes of a service are made of: those of bbs/lrp, done inside its
 * own (bbs/board/nested.h). Pure. */
#pragma once

#include "bbs/board/nested.h"
#include "models/desired_lrp.pb-c.h"

/* A revision gets a DesiredLRP with so many instances, owned by the service. */
struct nested_op service_desire_op(struct arena *a, const Models__DesiredLRP *run,
                                   int32_t instances, const char *uid, const char *path);

/* Its DesiredLRP is changed, or goes. The update is borrowed. */
struct nested_op service_update_op(struct arena *a, const char *process_guid,
                                   Models__DesiredLRPUpdate *update);
struct nested_op service_remove_op(struct arena *a, const char *process_guid);

/* Whether it is the service's. */
bool service_owns(struct arena *a, const char *uid, const char *path,
                  const Models__DesiredLRP *desired);
